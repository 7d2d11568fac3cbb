//! Background tasks on the heap. Out of memory is an error result.

use super::Context;
use crate::base::{Result, try_box_with};

/// Work for the background queue. It is dropped after it has run, or with the executor if it never ran.
pub type Task = Box<dyn FnOnce(&Context<'_>) + Send>;

/// Box the closure that `make` returns as a [`Task`]. Without memory for it, `make` is not called.
pub fn try_task<F: FnOnce(&Context<'_>) + Send + 'static>(make: impl FnOnce() -> F) -> Result<Task> {
    Ok(try_box_with(make)?)
}
