//! The cost of a guarded call across the shared library, compared with an unguarded call.
//!
//! The benchmark builds the library as for a package and loads it at run time: `cargo bench -p hobgoblin-bench --bench
//! boundary`. `--check` fails unless an empty guarded call takes at most 15 ns or as long as four unguarded ones.

use std::ffi::c_void;

use hobgoblin_bench::c_calls::{Row, library, time};
use libloading::{Library, Symbol};

const MOST_NS: f64 = 15.0;
const MOST_UNGUARDED_CALLS: f64 = 4.0;

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

        let mut rows = [
            Row::new("unguarded: hob_abi_version", move || _ = std::hint::black_box(version())),
            Row::new("shared: hob_profile_task_count", move || _ = std::hint::black_box(tasks(profile))),
            Row::new("any thread: hob_goblin_choice", move || _ = std::hint::black_box(choice(goblin, setting))),
            Row::new("exclusive: hob_goblin_set_switch_scale", move || _ = std::hint::black_box(scale(goblin, 1.0))),
        ];
        time(&mut rows);
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
