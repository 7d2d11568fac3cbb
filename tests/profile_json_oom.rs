//! Reads and writes a profile's JSON while allocations fail. A failure at any allocation gives an error, never an
//! abort.
// With host-allocator the library defines the global allocator, and a program can have only one.
#![cfg(all(feature = "goblin", not(feature = "host-allocator")))]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use hobgoblin::base::Code;
use hobgoblin::profile::{Estimate, Profile};

/// The system's allocator. It fails when this thread's allowance is used up, and records this thread's peak.
struct Rationed;

thread_local! {
    static ALLOWED: Cell<usize> = const { Cell::new(usize::MAX) };
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST_HELD: Cell<isize> = const { Cell::new(0) };
}

fn hold(bytes: isize) {
    HELD.set(HELD.get() + bytes);
    MOST_HELD.set(MOST_HELD.get().max(HELD.get()));
}

// SAFETY: forwards every request to `System` unchanged, or fails it.
unsafe impl GlobalAlloc for Rationed {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(left) = ALLOWED.get().checked_sub(1) else { return std::ptr::null_mut() };
        ALLOWED.set(left);
        hold(layout.size() as isize);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        hold(-(layout.size() as isize));
        unsafe { System.dealloc(pointer, layout) }
    }
    // `realloc` is the default method, which allocates, copies and frees: one more allocation that can fail.
}

#[global_allocator]
static RATIONED: Rationed = Rationed;

/// The result of `call` with a limited number of allocations.
fn with_allowance<T>(allocations: usize, call: impl FnOnce() -> T) -> T {
    ALLOWED.set(allocations);
    let outcome = call();
    ALLOWED.set(usize::MAX);
    outcome
}

/// The result of `call`, and the peak of the bytes that it allocated.
fn most_held<T>(call: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.get();
    MOST_HELD.set(before);
    let outcome = call();
    (outcome, (MOST_HELD.get() - before) as usize)
}

/// Unordered tasks, ids with and without escapes, lists long enough to grow several times.
fn busy_json() -> String {
    let options = vec!["[30,1.5,0.25]"; 40].join(",");
    let tasks: Vec<String> = (0..20).map(|i| format!("\"t\\u0061sk\\n{}\":[{options}]", i * 7 % 20)).collect();
    format!("{{{},\"idle\":[]}}", tasks.join(","))
}

#[test]
fn reading_survives_each_failed_allocation() {
    let json = busy_json();
    let mut allowed = 0;
    let profile = loop {
        match with_allowance(allowed, || Profile::from_json(json.as_bytes())) {
            Ok(profile) => break profile,
            Err(error) => assert_eq!(error.code(), Code::OutOfMemory, "allocation {allowed}: {error}"),
        }
        allowed += 1;
    };
    assert!(allowed > 40, "each task takes two at least, but {allowed} were enough");
    assert_eq!(profile.tasks().len(), 21);
}

#[test]
fn rejection_allocates_only_its_message() {
    for json in ["", "{\"", "nonsense", "{\"\\ud83e\":[]}"] {
        let error = with_allowance(1, || Profile::from_json(json.as_bytes())).unwrap_err();
        assert_eq!(error.code(), Code::Malformed, "{json}");
        let error = with_allowance(0, || Profile::from_json(json.as_bytes())).unwrap_err();
        assert_eq!(error.code(), Code::OutOfMemory, "{json}");
    }
}

#[test]
fn writing_allocates_nothing() {
    let profile = Profile::from_json(busy_json().as_bytes()).unwrap();
    let mut buffer = vec![0; 1 << 16];
    let written = with_allowance(0, || {
        let size = profile.json_size();
        assert_eq!(profile.to_json(&mut buffer).unwrap(), size);
        size
    });
    assert_eq!(profile.to_json(&mut buffer[..written - 1]).unwrap_err().code(), Code::BufferTooSmall);
    assert_eq!(Profile::from_json(&buffer[..written]).unwrap(), profile);
}

#[test]
fn memory_is_proportional_to_the_text() {
    let many_options = format!("{{\"a\":[{}]}}", vec!["[0,0,0]"; 60_000].join(","));
    let many_tasks: Vec<String> = (0..60_000).map(|task| format!("\"{task:x}\":[]")).collect();
    let many_tasks = format!("{{{}}}", many_tasks.join(","));
    let long_id = format!("{{\"{}\":[]}}", "\\u0061".repeat(100_000));
    for json in [many_options, many_tasks, long_id] {
        let (profile, bytes) = most_held(|| Profile::from_json(json.as_bytes()).unwrap());
        assert!(bytes < 32 * json.len(), "{bytes} bytes for {} of text", json.len());
        // The profile holds no more than its content needs. Temporary memory was freed.
        let known = profile.tasks().iter().map(|task| size_of_val(task.options()) + task.id().len().max(8) * 2);
        let exact = size_of_val(profile.tasks()) + known.sum::<usize>();
        assert!(profile.memory_used() <= exact, "{} bytes held for {exact}", profile.memory_used());
    }
    assert_eq!(size_of::<Estimate>(), 24, "the factor above stands on this");
}
