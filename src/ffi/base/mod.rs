//! Results, strings, versions and hooks: the basis of all other headers.
//!
//! Every header follows the same rules.
//!
//! Results. A function that can fail returns a hob_result. hob_last_error() then has a sentence that says what is wrong
//! and what to do. After a failure nothing has changed, unless the function says otherwise. Pointers must not be NULL,
//! unless it says that they may.
//!
//! ```c
//! hob_profile *profile = NULL;
//! if (hob_profile_create(NULL, &profile) != HOB_RESULT_OK) fprintf(stderr, "%s\n", hob_last_error());
//! ```
//!
//! Names. Functions of a handle are `hob_<handle>_<verb>`. `get_` and `set_` are for properties; a getter writes its
//! answer to `out_` parameters. A noun as a name also means a getter: hob_goblin_choice returns its answer,
//! hob_goblin_choices writes it.
//!
//! Handles. `hob_x_create` makes a handle, `hob_x_destroy` destroys it; destroying NULL is allowed. A destroyed handle,
//! or a handle of another type, usually gives HOB_RESULT_INVALID_ARGUMENT; do not rely on that. Ids such as
//! hob_setting_id name parts of a handle: all zero is no id, and the id of a removed part gives HOB_RESULT_NOT_FOUND.
//!
//! A function that returns a value directly returns 0 or an empty text on failure; hob_last_error has the reason.
//!
//! Threads. Each function says which calls on one handle may run at the same time:
//! - Shared: the function takes the handle as const. Shared calls may run on several threads at once.
//! - Exclusive: the handle is not const. No other call on it may run, except those marked "any".
//! - Any: on any thread at any time, also during an exclusive call.
//!
//! A shared or exclusive call during another thread's exclusive call returns HOB_RESULT_BUSY and does nothing. An
//! exclusive call that starts while a shared call runs is not detected: its behaviour is undefined. Different handles
//! are independent. The library starts no thread unless an executor (executor.h) is told to.
//!
//! Ownership:
//!
//! | what | rule |
//! |---|---|
//! | text, arrays and structs passed in | read during the call; what is kept is copied |
//! | `out_` parameters | written only on success; the required size also if the buffer is too small |
//! | buffers | the caller's. Pass NULL for the required size, then a buffer; with one, `out_size` may be NULL |
//! | views that are given out | the function says how long they are valid |
//! | `user_data` with a `release` | the library's after success: it calls `release(user_data)` once; else the caller's |
//! | `user_data` without one | the caller's |
//!
//! Structs. The first field, `struct_size`, is sizeof the struct; it tells the library which header the caller was
//! compiled with. It is the only field that must always be set: the others may be zero, unless a field or a function
//! says otherwise. Array elements have a stride instead. Structs with neither, such as hob_str, hob_fingerprint and
//! ids, never change. In a struct of parameters 0 means the default, unless the field says that 0 is a value.
//! HOB_X_INIT sets all defaults. It is a call, so in C it cannot initialise a static variable. To set no limit, use
//! HUGE_VAL (double) or the largest value of the field's integer type.
//!
//! A struct of an older header is accepted; the fields that it lacks have their defaults. A struct_size below the
//! struct's first released size gives HOB_RESULT_INVALID_ARGUMENT. A struct of a newer header is accepted if the fields
//! that this library does not know are 0; otherwise the result is HOB_RESULT_UNSUPPORTED. A `reserved` field that is
//! not 0 gives the same. In answers the library sets those fields to 0. Pass sizeof the element as a stride; a stride
//! of 0 means the element's size in its first release.
//!
//! Callbacks. They use the C calling convention (cdecl). They run on the thread that made the call, unless their
//! documentation says otherwise, and in its floating-point environment. They must return on that thread. No exception,
//! of C++ or of a managed language, may leave them, and no longjmp: the handle would stay busy for ever.
//!
//! Inside a callback, const functions on the same handle work, and destroy takes effect when the running call returns.
//! All others return HOB_RESULT_BUSY, unless the callback's documentation says otherwise. In this header's hooks, call
//! no function on the running call's handle: if that call is exclusive, they return HOB_RESULT_BUSY.
//!
//! Processes and signals. Threads and locks of the library do not survive a fork. A child of fork() may use only
//! handles that it creates itself, and must not destroy those of the parent. No function may be called from a signal
//! handler.
//!
//! Panics. An internal error never leaves the library: the call returns HOB_RESULT_PANIC. If it was an exclusive call,
//! its handle is poisoned: it still answers const calls from its last good state.

// Ordered by dependency: a file imports only files above it.
pub mod result;
pub mod argument;
pub mod out;
pub mod array;
pub mod text;
pub mod structs;
pub mod float;
pub mod guard;
pub mod user_data;
#[cfg(any(feature = "goblin", feature = "balance"))]
pub mod recording;
#[cfg(any(feature = "graph", feature = "perception"))]
pub mod value;
pub mod handle;
#[cfg(feature = "host-allocator")]
mod forwarding;
#[cfg(feature = "host-allocator")]
mod reserve;

pub mod library;
pub mod hooks;
pub mod allocator;
