//! Work for the background lane, put on the heap so that running out of memory is a result.

use std::alloc::Layout;

use super::Context;
use crate::base::{Error, Result};

/// Work for the background lane. What it owns is dropped when it has run, or when the executor goes before it could.
pub type Task = Box<dyn FnOnce(&Context<'_>) + Send>;

/// What `make` makes as a [`Task`]; it is made once there is memory for it, and otherwise not at all.
pub fn try_task<F: FnOnce(&Context<'_>) + Send + 'static>(make: impl FnOnce() -> F) -> Result<Task> {
    Ok(try_box(make)?)
}

/// What `make` makes, in a box; it is made once there is memory for it.
pub fn try_box<T>(make: impl FnOnce() -> T) -> Result<Box<T>> {
    let layout = Layout::new::<T>();
    if layout.size() == 0 {
        return Ok(Box::new(make()));
    }
    // SAFETY: the layout is not empty; the place is written before a box is formed of it, and a box frees it by the same
    // layout. Should `make` panic, the memory is lost and nothing else.
    unsafe {
        let place = std::alloc::alloc(layout).cast::<T>();
        if place.is_null() {
            return Err(Error::OUT_OF_MEMORY);
        }
        place.write(make());
        Ok(Box::from_raw(place))
    }
}
