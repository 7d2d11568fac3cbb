//! Background tasks on the heap. Out of memory is an error result.

use std::alloc::Layout;

use super::Context;
use crate::base::{Error, Result};

/// Work for the background queue. It is dropped after it has run, or with the executor if it never ran.
pub type Task = Box<dyn FnOnce(&Context<'_>) + Send>;

/// Box the closure that `make` returns as a [`Task`]. Without memory for it, `make` is not called.
pub fn try_task<F: FnOnce(&Context<'_>) + Send + 'static>(make: impl FnOnce() -> F) -> Result<Task> {
    Ok(try_box(make)?)
}

/// Box the value that `make` returns. Without memory for it, `make` is not called.
pub fn try_box<T>(make: impl FnOnce() -> T) -> Result<Box<T>> {
    let layout = Layout::new::<T>();
    if layout.size() == 0 {
        return Ok(Box::new(make()));
    }
    // SAFETY: the layout is not empty. The memory is written before a box is formed of it, and the box frees it with
    // the same layout. If `make` panics, the memory leaks, with no other effect.
    unsafe {
        let place = std::alloc::alloc(layout).cast::<T>();
        if place.is_null() {
            return Err(Error::OUT_OF_MEMORY);
        }
        place.write(make());
        Ok(Box::from_raw(place))
    }
}
