//! Taking results over, lookups and consensus: in the Rust core, in a tree of maps, and through C.

use std::collections::HashMap;
use std::ffi::c_void;
use std::hint::black_box;
use std::ptr::{null, null_mut};

use hobgoblin::executor::Executor;
use hobgoblin::perception::frames::{Hints, Options as FrameOptions};
use hobgoblin::perception::image::{Format, Rect, Shape, View};
use hobgoblin::perception::{Choice, Options, Perception};
use hobgoblin_bench::c_calls::{Row, library, time};
use hobgoblin_bench::timing::{least_of, quantile, thread_nanoseconds};
use libloading::Library;

use crate::report::{at_most, figure, title};
use crate::spin;

const SIDE: u32 = 512;
const SHAPE: Shape = Shape::new(Format::Gray8, SIDE, SIDE);
const COUNT: usize = 2000;

/// Regions of 8×8 that share no pixel.
fn region(at: usize) -> Rect {
    Rect::new(at as u32 % 64 * 8, at as u32 / 64 * 8, 8, 8)
}

/// Nanoseconds of each call: the first quartile of the rounds.
fn each(rounds: usize, mut prepare: impl FnMut(), mut work: impl FnMut()) -> f64 {
    let mut samples = vec![];
    for _ in 0..rounds {
        prepare();
        samples.push(thread_nanoseconds(&mut work) / COUNT as f64);
    }
    quantile(&samples, 0.25)
}

fn print_core(rounds: usize) {
    let pixels = vec![7; (SIDE * SIDE) as usize];
    let view = View::new(SHAPE, &pixels, SIDE as usize, &[], 0).expect("the frame has all pixels");
    let frames = FrameOptions { history: 2, ..FrameOptions::default() };
    let options = Options { frames, graft: Choice::Always, prefetch: Choice::Never, ..Options::default() };
    let mut perception = Perception::new(options).expect("valid options");
    let (id, _) = spin::add(&mut perception, 1);
    let ids: Vec<_> = (0..COUNT).map(|at| spin::add_pipeline(&mut perception, id, region(at), &[at as u32])).collect();
    let perception = std::cell::RefCell::new(perception);
    let begin = || {
        let mut all = perception.borrow_mut();
        all.begin_frame(&view, &Hints::default(), &Executor::inline()).expect("the frame fits");
    };
    let ask = |frames: u32| {
        let mut all = perception.borrow_mut();
        ids.iter().for_each(|&id| _ = black_box(all.query(black_box(id), frames)));
    };
    (0..4).for_each(|_| {
        begin();
        ask(1);
    });
    let first = each(rounds, begin, || ask(1));
    let again = each(rounds, || (), || ask(1));
    let agreed = each(rounds, || (), || ask(3));
    at_most("core: graft of a branch (the first query of a frame less the next)", first - again, 1.0, " ns");
    at_most("core: lookup", again, 5.0, " ns");
    at_most("core: consensus of 3 frames", agreed, 5.0, " ns");
    let executor = Executor::inline();
    let profile = |prefetch| {
        let options = Options { graft: Choice::Always, prefetch, ..Options::default() };
        let mut perception = Perception::new(options).expect("valid options");
        let (id, _) = spin::add(&mut perception, 1);
        let ids: Vec<_> =
            (0..COUNT).map(|at| spin::add_pipeline(&mut perception, id, region(at), &[at as u32])).collect();
        let mut samples = vec![];
        for round in 0..rounds + 40 {
            let begin = || perception.begin_frame(&view, &Hints::default(), &executor).expect("the frame fits");
            let duration = thread_nanoseconds(begin) / COUNT as f64;
            ids.iter().for_each(|&id| _ = black_box(perception.query(id, 1)));
            if round >= 40 {
                samples.push(duration);
            }
        }
        quantile(&samples, 0.25)
    };
    let (without, with) = (profile(Choice::Never), profile(Choice::Measured));
    figure("core: a frame with prefetch less one without, of a pipeline", with - without, " ns");
}

/// A node of a tree of maps, as the seed has them.
#[derive(Default)]
struct Node {
    children: HashMap<u32, Node>,
    value: [u64; 2],
}

fn print_maps(rounds: usize) {
    let tree = || {
        let mut root = Node::default();
        for at in 0..COUNT as u32 {
            let mut branch = Node { value: [at.into(), 0], ..Node::default() };
            branch.children.insert(0, Node { value: [at.into(), 1], ..Node::default() });
            root.children.insert(at, branch);
        }
        root
    };
    let mut history = [tree(), tree(), tree()];
    let mut next = Node::default();
    next.children.reserve(COUNT);
    let mut is_moved = false;
    let graft = each(
        rounds,
        || (),
        || {
            let [first, ..] = &mut history;
            let (from, to) = if is_moved { (&mut next, first) } else { (first, &mut next) };
            is_moved = !is_moved;
            for at in 0..COUNT as u32 {
                if let Some(branch) = from.children.remove(&at) {
                    to.children.insert(at, branch);
                }
            }
        },
    );
    if is_moved {
        std::mem::swap(&mut history[0], &mut next);
    }
    let find = |root: &Node, at: u32| root.children[&at].children[&0].value;
    let lookup = each(rounds, || (), || (0..COUNT as u32).for_each(|at| _ = black_box(find(&history[0], at))));
    let agreed = each(
        rounds,
        || (),
        || {
            for at in 0..COUNT as u32 {
                let value = find(&history[0], at);
                black_box(history[1..].iter().all(|root| find(root, at) == value));
            }
        },
    );
    figure("tree of maps: move a branch to the next frame's tree", graft, " ns");
    figure("tree of maps: lookup", lookup, " ns");
    figure("tree of maps: consensus of 3 frames", agreed, " ns");
}

/// As in `perception.h`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Identity {
    index1: u32,
    generation: u32,
}

#[repr(C)]
struct CognitionDesc {
    struct_size: u32,
    flags: u32,
    name: [usize; 2],
    perceive: extern "C" fn(*mut c_void, *mut c_void) -> u32,
    user_data: [usize; 4],
    rest: [u32; 6],
}

#[repr(C)]
struct StepDesc {
    cognition: Identity,
    region: [u32; 4],
    parameters: [usize; 2],
    tolerance: [u32; 2],
}

#[repr(C)]
struct PipelineDesc {
    struct_size: u32,
    prefetch: u32,
    names: [usize; 4],
    inputs: usize,
    counts: [u32; 2],
    steps: *const StepDesc,
    stride: usize,
}

#[repr(C)]
struct Frame {
    struct_size: u32,
    format: u32,
    pixels: *const u8,
    size: [u32; 2],
    rest: [usize; 7],
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Question {
    pipeline: Identity,
    frames: u32,
    reserved: u32,
}

extern "C" fn perceive(_: *mut c_void, _: *mut c_void) -> u32 {
    0
}

type Create = unsafe extern "C" fn(*const c_void, *mut *mut c_void) -> u32;
type Add<D, I> = unsafe extern "C" fn(*mut c_void, *const D, *mut I) -> u32;
type Begin = unsafe extern "C" fn(*mut c_void, *const Frame, *const c_void) -> u32;
type Query = unsafe extern "C" fn(*mut c_void, Identity, u32, *mut [u64; 2]) -> u32;
type SetPrefetch = unsafe extern "C" fn(*mut c_void, Identity, u32) -> u32;
type Many =
    unsafe extern "C" fn(*mut c_void, *const Question, usize, usize, *mut [u64; 4], usize, usize, *mut usize) -> u32;

/// Pipelines of a call of `hob_perception_query_many`.
const MANY: usize = 64;

fn print_c() {
    let path = library();
    // SAFETY: this is the library that was just built; its functions are used as the headers declare them, with memory
    // that lives through each call.
    unsafe {
        let library = Library::new(&path).expect("the library loads");
        macro_rules! function {
            ($name:literal, $ty:ty) => {
                *library.get::<$ty>($name).expect("the headers declare it")
            };
        }
        let profile = {
            let create = function!(b"hob_profile_create", Create);
            let mut profile = null_mut();
            assert_eq!(create(null(), &raw mut profile), 0);
            profile
        };
        let tasks = function!(b"hob_profile_task_count", extern "C" fn(*const c_void) -> u32);
        let destroy_profile = function!(b"hob_profile_destroy", extern "C" fn(*mut c_void));
        let create = function!(b"hob_perception_create", Create);
        let destroy = function!(b"hob_perception_destroy", extern "C" fn(*mut c_void));
        let add_cognition = function!(b"hob_perception_add_cognition", Add<CognitionDesc, Identity>);
        let add_pipeline = function!(b"hob_perception_add_pipeline", Add<PipelineDesc, Identity>);
        let set_prefetch = function!(b"hob_perception_set_prefetch", SetPrefetch);
        let begin = function!(b"hob_perception_begin_frame", Begin);
        let query = function!(b"hob_perception_query", Query);
        let many = function!(b"hob_perception_query_many", Many);

        let mut eye = null_mut();
        assert_eq!(create(null(), &raw mut eye), 0);
        let desc = CognitionDesc {
            struct_size: size_of::<CognitionDesc>() as u32,
            flags: 1,
            name: [0; 2],
            perceive,
            user_data: [0; 4],
            rest: [0; 6],
        };
        let mut cognition = Identity::default();
        assert_eq!(add_cognition(eye, &raw const desc, &raw mut cognition), 0);
        let pipelines: Vec<Identity> = (0..MANY)
            .map(|at| {
                let Rect { x, y, width, height } = region(at);
                let step = StepDesc { cognition, region: [x, y, width, height], parameters: [0; 2], tolerance: [0; 2] };
                let desc = PipelineDesc {
                    struct_size: size_of::<PipelineDesc>() as u32,
                    prefetch: 0,
                    names: [0; 4],
                    inputs: 0,
                    counts: [0, 1],
                    steps: &raw const step,
                    stride: size_of::<StepDesc>(),
                };
                let mut id = Identity::default();
                assert_eq!(add_pipeline(eye, &raw const desc, &raw mut id), 0);
                id
            })
            .collect();
        let pixels = vec![7_u8; (SIDE * SIDE) as usize];
        let frame = Frame {
            struct_size: size_of::<Frame>() as u32,
            format: 7,
            pixels: pixels.as_ptr(),
            size: [SIDE; 2],
            rest: [0; 7],
        };
        let questions: Vec<Question> =
            pipelines.iter().map(|&pipeline| Question { pipeline, frames: 3, reserved: 0 }).collect();
        let (mut value, mut answers, mut count) = ([0; 2], vec![[0_u64; 4]; MANY], 0);
        for _ in 0..6 {
            assert_eq!(begin(eye, &raw const frame, null()), 0);
            for &id in &pipelines {
                assert_eq!(query(eye, id, 1, &raw mut value), 0);
            }
        }
        let id = pipelines[0];
        let (out, answers_at, count_at) = (&raw mut value, answers.as_mut_ptr(), &raw mut count);
        let questions = questions.as_slice();
        let mut rows = [
            Row::new("C: shared empty call (hob_profile_task_count)", move || _ = black_box(tasks(profile))),
            Row::new("C: exclusive short call (hob_perception_set_prefetch)", move || {
                _ = black_box(set_prefetch(eye, id, 0));
            }),
            Row::new("C: hob_perception_query, 1 frame", move || _ = black_box(query(eye, id, 1, out))),
            Row::new("C: hob_perception_query, consensus of 3 frames", move || _ = black_box(query(eye, id, 3, out))),
            Row::new("C: hob_perception_query_many, 64 pipelines", move || {
                let stride = size_of::<Question>();
                _ = black_box(many(eye, questions.as_ptr(), stride, MANY, answers_at, 32, MANY, count_at));
            }),
        ];
        time(&mut rows);
        let figures: Vec<f64> = rows.iter_mut().map(Row::quartile).collect();
        rows.iter().zip(&figures).for_each(|(row, &nanoseconds)| figure(row.name, nanoseconds, " ns"));
        let [empty, exclusive, one, three, many] = figures[..] else { unreachable!("five rows") };
        at_most("C: query less the shared empty call", one - empty, 5.0, " ns");
        at_most("C: consensus less the shared empty call", three - empty, 5.0, " ns");
        figure("C: consensus less the exclusive short call", three - exclusive, " ns");
        at_most("C: query_many less an empty call, of a pipeline", (many - empty) / MANY as f64, 5.0, " ns");
        drop(rows);
        destroy(eye);
        destroy_profile(profile);
    }
}

/// Print all rows.
pub fn print(rounds: usize) {
    title(&format!("Calls: {COUNT} pipelines in the core and in maps, through C {MANY}"));
    // The clock's own cost is small beside 2000 calls.
    let clock = least_of(20, || _ = thread_nanoseconds(|| ())) * 1e3 / COUNT as f64;
    print_core(rounds);
    print_maps(rounds);
    print_c();
    figure("(the clock's share in a figure of the core)", clock, " ns");
}
