//! The cost of a guarded call across the shared library, compared with an unguarded call.
//!
//! The benchmark builds the library as for a package and loads it at run time: `cargo bench -p hobgoblin-bench --bench
//! boundary`. `--check` fails unless an empty guarded call takes at most 15 ns or as long as four unguarded ones.

use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use libloading::{Library, Symbol};

const ROUNDS: usize = 200;
const CALLS: u32 = 20_000;
const MOST_NS: f64 = 15.0;
const MOST_UNGUARDED_CALLS: f64 = 4.0;

/// The packaged shared library.
fn library() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is in a folder of the project");
    let target = root.join("target/boundary");
    let status = Command::new(env!("CARGO"))
        .current_dir(root)
        .args(["rustc", "-q", "-p", "hobgoblin", "--release", "--crate-type", "cdylib"])
        .args(["--features", "host-allocator,no-backtrace", "--target-dir"])
        .arg(&target)
        .status();
    assert!(status.expect("cargo runs").success(), "the library does not build");
    target.join("release").join(libloading::library_filename("hobgoblin"))
}

/// A kind of call, and the nanoseconds that it took in each round.
struct Row<'a> {
    name: &'static str,
    call: Box<dyn FnMut() + 'a>,
    nanoseconds: Vec<f64>,
}

impl Row<'_> {
    fn round(&mut self) {
        let start = Instant::now();
        for _ in 0..CALLS {
            (self.call)();
        }
        self.nanoseconds.push(start.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS));
    }

    /// First quartile. Slower rounds include other work of the machine.
    fn quartile(&mut self) -> f64 {
        self.nanoseconds.sort_by(f64::total_cmp);
        self.nanoseconds[self.nanoseconds.len() / 4]
    }
}

type Make = unsafe extern "C" fn(*const c_void, *mut *mut c_void) -> u32;
type Init = unsafe extern "C" fn(*mut c_void, u32) -> u32;
type Destroy = unsafe extern "C" fn(*mut c_void);

fn main() {
    let is_check = std::env::args().any(|argument| argument == "--check");
    let path = library();
    // SAFETY: this is the library that was just built; its functions are used as the headers declare them.
    unsafe {
        let library = Library::new(&path).expect("the library loads");
        let get = |name: &str| -> *const c_void {
            let symbol: Symbol<'_, *const c_void> = library.get(name.as_bytes()).expect("the headers declare it");
            *symbol
        };
        macro_rules! function {
            ($name:literal, $ty:ty) => {
                std::mem::transmute::<*const c_void, $ty>(get($name))
            };
        }
        let version = function!("hob_abi_version", extern "C" fn() -> u32);
        let create = function!("hob_profile_create", Make);
        let destroy = function!("hob_profile_destroy", Destroy);
        let tasks = function!("hob_profile_task_count", extern "C" fn(*const c_void) -> u32);
        let make_goblin = function!("hob_goblin_create", Make);
        let destroy_goblin = function!("hob_goblin_destroy", Destroy);
        let init_desc = function!("hob_goblin_desc_init", Init);
        let choice = function!("hob_goblin_choice", extern "C" fn(*const c_void, u64) -> u32);
        let scale = function!("hob_goblin_set_switch_scale", extern "C" fn(*mut c_void, f64) -> u32);
        let add = function!("hob_goblin_add_fixed_burden", extern "C" fn(*mut c_void, [usize; 2], *mut u64) -> u32);

        let (mut profile, mut goblin, mut setting) = (std::ptr::null_mut(), std::ptr::null_mut(), 0);
        assert_eq!(create(std::ptr::null(), &raw mut profile), 0);
        let mut desc = [0u64; 64];
        assert_eq!(init_desc(desc.as_mut_ptr().cast(), 112), 0);
        desc[1] = 16.6f64.to_bits();
        assert_eq!(make_goblin(desc.as_ptr().cast(), &raw mut goblin), 0);
        assert_eq!(add(goblin, ["rest".as_ptr() as usize, 4], &raw mut setting), 0);

        let row = |name, call| Row { name, call, nanoseconds: Vec::new() };
        let mut rows = [
            row(
                "unguarded: hob_abi_version",
                Box::new(move || _ = std::hint::black_box(version())) as Box<dyn FnMut()>,
            ),
            row("shared: hob_profile_task_count", Box::new(move || _ = std::hint::black_box(tasks(profile)))),
            row("any thread: hob_goblin_choice", Box::new(move || _ = std::hint::black_box(choice(goblin, setting)))),
            row(
                "exclusive: hob_goblin_set_switch_scale",
                Box::new(move || _ = std::hint::black_box(scale(goblin, 1.0))),
            ),
        ];
        for _ in 0..ROUNDS {
            rows.iter_mut().for_each(Row::round);
        }
        let [unguarded, rest @ ..] = &mut rows;
        let floor = unguarded.quartile();
        println!("{:<44} {floor:6.1} ns", unguarded.name);
        for row in rest.iter_mut() {
            let nanoseconds = row.quartile();
            println!("{:<44} {nanoseconds:6.1} ns, {:.1} x an unguarded call", row.name, nanoseconds / floor);
        }
        let guarded = rest[0].quartile();
        let holds = guarded <= MOST_NS || guarded <= MOST_UNGUARDED_CALLS * floor;
        println!(
            "an empty guarded call: at most {MOST_NS} ns or {MOST_UNGUARDED_CALLS} x: {}",
            if holds { "holds" } else { "does not hold" }
        );
        destroy_goblin(goblin);
        destroy(profile);
        assert!(holds || !is_check, "an empty guarded call takes too long");
    }
}
