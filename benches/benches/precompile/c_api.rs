//! The calls of a frame through the C API, as a host makes them.

use std::ffi::c_void;
use std::hint::black_box;
use std::ptr::null_mut;

use hobgoblin::pipeline::{DescriptionRef, PipelineKey, PipelineKind, Schema, Seen, ShaderHash, ShaderRef};
use hobgoblin_bench::random::Random;
use hobgoblin_bench::timing::least_of;

const PIPELINES: usize = 35_000;
const DRAWS: usize = 20_000;
const RUNS: usize = 50;

/// As in `base.h`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Str(*const u8, usize);

/// As in `pipeline.h`.
#[repr(C)]
struct LibraryDesc {
    struct_size: u32,
    api: u32,
    project: Str,
    format: Str,
    version: Str,
    directory: Str,
    recording: Str,
    environment: *const c_void,
    executor: *const c_void,
    file_io: *const c_void,
    secret: Str,
    user_data: *mut c_void,
    compile: Option<extern "C" fn(*mut c_void, *const c_void) -> u32>,
    rest: [u64; 12],
}

#[repr(C)]
struct PipelineDesc {
    struct_size: u32,
    kind: u32,
    schema: u32,
    state_size: u32,
    state: *const u8,
    shaders: *const ShaderOfC,
    shader_stride: usize,
    shader_count: usize,
}

#[repr(C)]
struct ShaderOfC {
    stage: u32,
    hash: [u8; 20],
}

unsafe extern "C" {
    fn hob_pipeline_library_desc_init(desc: *mut LibraryDesc, size: u32) -> u32;
    fn hob_pipeline_library_create(desc: *const LibraryDesc, out: *mut *mut c_void) -> u32;
    fn hob_pipeline_library_destroy(library: *mut c_void);
    fn hob_pipeline_library_add(library: *const c_void, desc: *const PipelineDesc, us: u64, out: *mut c_void) -> u32;
    fn hob_pipeline_library_use(library: *const c_void, key: *const [u8; 32]) -> u32;
    fn hob_pipeline_library_begin_frame(library: *const c_void, budget_us: u64) -> u32;
    fn hob_profile_create(desc: *const c_void, out: *mut *mut c_void) -> u32;
    fn hob_profile_destroy(profile: *mut c_void);
    fn hob_profile_task_count(profile: *const c_void) -> u32;
}

const READY: u32 = 4;

extern "C" fn compile(_: *mut c_void, _: *const c_void) -> u32 {
    0
}

/// A library whose pipelines are all ready, and their keys.
struct Library(*mut c_void, Vec<PipelineKey>);

impl Library {
    fn new() -> Self {
        let text = |text: &'static str| Str(text.as_ptr(), text.len());
        let mut library = null_mut();
        // SAFETY: init writes the whole struct; all memory that it points to lives through the calls, here and below.
        unsafe {
            let mut desc = std::mem::zeroed::<LibraryDesc>();
            assert_eq!(hob_pipeline_library_desc_init(&raw mut desc, size_of::<LibraryDesc>() as u32), 0);
            (desc.project, desc.format) = (text("game"), text("spirv"));
            desc.compile = Some(compile);
            assert_eq!(hob_pipeline_library_create(&raw const desc, &raw mut library), 0);
        }
        let mut keys = Vec::new();
        for number in 0..PIPELINES {
            let state = number.to_le_bytes();
            let shader = ShaderOfC { stage: 0, hash: [1; 20] };
            let desc = PipelineDesc {
                struct_size: size_of::<PipelineDesc>() as u32,
                kind: 0,
                schema: 1,
                state_size: state.len() as u32,
                state: state.as_ptr(),
                shaders: &raw const shader,
                shader_stride: size_of::<ShaderOfC>(),
                shader_count: 1,
            };
            // SAFETY: as above; the library is alive.
            assert_eq!(unsafe { hob_pipeline_library_add(library, &raw const desc, 1, null_mut()) }, 0);
            let shaders = [ShaderRef { stage: 0, hash: ShaderHash([1; 20]) }];
            let description =
                DescriptionRef { kind: PipelineKind::Graphics, schema: Schema(1), state: &state, shaders: &shaders };
            keys.push(description.key());
        }
        Self(library, keys)
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: this handle is ours, and not used afterwards.
        unsafe { hob_pipeline_library_destroy(self.0) }
    }
}

/// Print the table.
pub fn print() {
    let library = Library::new();
    let mut random = Random(7);
    let draws: Vec<PipelineKey> = (0..DRAWS).map(|_| library.1[random.below(PIPELINES)]).collect();
    let seen = Seen::default();
    library.1.iter().for_each(|key| _ = seen.insert(key).expect("memory"));
    let each = |call: &dyn Fn(&PipelineKey)| {
        1e3 / DRAWS as f64 * least_of(RUNS, || draws.iter().for_each(|key| call(black_box(key))))
    };
    // SAFETY: the handle is alive.
    let used = each(&|key| assert_eq!(unsafe { hob_pipeline_library_use(library.0, &raw const key.0) }, READY));
    let found = each(&|key| _ = black_box(seen.find(key)));
    let mut profile = null_mut();
    // SAFETY: the header allows no desc.
    assert_eq!(unsafe { hob_profile_create(std::ptr::null(), &raw mut profile) }, 0);
    // SAFETY: the handle is alive.
    let empty = each(&|_| _ = black_box(unsafe { hob_profile_task_count(black_box(profile)) }));
    // SAFETY: this handle is ours, and not used afterwards.
    unsafe { hob_profile_destroy(profile) };
    // SAFETY: the handle is alive.
    let idle = each(&|_| _ = black_box(unsafe { hob_pipeline_library_begin_frame(library.0, u64::MAX) }));
    println!("through C with {PIPELINES} pipelines, in nanoseconds");
    println!(
        "use {used:.1}   an empty call {empty:.1} and a look-up {found:.1}: {:.2} x   begin_frame with nothing to do {idle:.1}",
        used / (empty + found)
    );
}
