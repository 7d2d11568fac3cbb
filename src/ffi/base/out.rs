//! Answers in the caller's memory. Nothing is written before the call has succeeded.

use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::ptr;

use super::argument::{null, wrong_stride};
use super::array::Element;
use crate::base::{Error, Result, error};

/// A value that is returned in the caller's memory.
///
/// # Safety
/// Plain data. `check` accepts only places that `put` may write to.
pub unsafe trait Output: Copy {
    /// Checks that the answer can be written to a place. `what` names the parameter.
    ///
    /// # Safety
    /// `place` is not NULL, and writable for the size of the caller's version of the type.
    unsafe fn check(_place: *const Self, _what: &'static str) -> Result<()> {
        Ok(())
    }

    /// Write the answer.
    ///
    /// # Safety
    /// `check` has accepted the place.
    unsafe fn put(place: *mut Self, value: &Self) {
        // SAFETY: by this function's contract; the place need not be aligned.
        unsafe { place.write_unaligned(*value) };
    }
}

macro_rules! plain {
    ($($ty:ty),+) => {$(
        // SAFETY: a number.
        unsafe impl Output for $ty {}
    )+};
}

plain!(u8, u16, u32, u64, usize, f64);

// SAFETY: a pointer.
unsafe impl<T> Output for *mut T {}

/// The place of an answer.
pub struct Out<T: Output>(*mut T);

impl<T: Output> Out<T> {
    /// The place, which must not be NULL. `what` names the parameter.
    ///
    /// # Safety
    /// `place` is NULL or writable until [`Out::write`].
    pub unsafe fn new(place: *mut T, what: &'static str) -> Result<Self> {
        // SAFETY: by this function's contract.
        unsafe { Self::optional(place, what) }?.ok_or_else(|| null(what, "a pointer for the result"))
    }

    /// The place, which may be NULL.
    ///
    /// # Safety
    /// As [`Out::new`].
    pub unsafe fn optional(place: *mut T, what: &'static str) -> Result<Option<Self>> {
        if place.is_null() {
            return Ok(None);
        }
        // SAFETY: by this function's contract.
        unsafe { T::check(place, what) }?;
        Ok(Some(Self(place)))
    }

    /// Write the answer.
    pub fn write(self, value: T) {
        // SAFETY: the constructors have checked the place.
        unsafe { T::put(self.0, &value) };
    }
}

/// Writes an answer that the caller may have omitted.
pub fn write_if<T: Output>(out: Option<Out<T>>, value: T) {
    if let Some(out) = out {
        out.write(value);
    }
}

/// The caller's buffer for bytes, by the two-call protocol. The required size is always written. With a NULL buffer
/// only the size is written. A buffer that is too small is not written to.
pub struct OutBuffer {
    start: *mut c_char,
    capacity: usize,
    out_size: *mut usize,
}

impl OutBuffer {
    /// # Safety
    /// `start` is NULL or `capacity` writable bytes; `out_size` is NULL or writable.
    pub unsafe fn new(start: *mut c_char, capacity: usize, out_size: *mut usize) -> Self {
        Self { start, capacity, out_size }
    }

    /// Fills in `needed` bytes with `write`.
    pub fn fill(self, needed: usize, write: impl FnOnce(&mut [u8]) -> Result<usize>) -> Result<()> {
        self.place(needed)?.map_or(Ok(()), |bytes| write(bytes).map(|_| ()))
    }

    /// The place of `needed` bytes, unless only the size is asked for.
    #[inline(never)]
    fn place<'a>(self, needed: usize) -> Result<Option<&'a mut [u8]>> {
        // SAFETY: by the contract of `new`.
        let out_size = unsafe { Out::optional(self.out_size, "out_size") }?;
        if self.start.is_null() && out_size.is_none() {
            return Err(error!(InvalidArgument, "buffer and out_size are both NULL: pass at least one of them"));
        }
        write_if(out_size, needed);
        if self.start.is_null() {
            return Ok(None);
        }
        if self.capacity < needed {
            let capacity = self.capacity;
            return Err(error!(
                BufferTooSmall,
                "the buffer has {capacity} bytes, {needed} are needed: pass a larger one"
            ));
        }
        // SAFETY: the caller's bytes may be uninitialised, so they are zeroed before the slice is formed. `needed` is
        // at most `capacity`.
        Ok(Some(unsafe {
            ptr::write_bytes(self.start, 0, needed);
            std::slice::from_raw_parts_mut(self.start.cast::<u8>(), needed)
        }))
    }

    /// Fills in a text without a NUL.
    pub fn text(self, text: &str) -> Result<()> {
        self.fill(text.len(), |bytes| {
            bytes.copy_from_slice(text.as_bytes());
            Ok(text.len())
        })
    }
}

/// The caller's array for answers, by the two-call protocol of [`OutBuffer`]. Elements are `stride` bytes apart.
pub struct OutArray<T, N> {
    start: *mut T,
    stride: usize,
    capacity: usize,
    out_count: *mut N,
    what: &'static str,
}

impl<T: Element, N: Output + TryFrom<usize>> OutArray<T, N> {
    /// # Safety
    /// `start` is NULL or `capacity` writable elements, `stride` bytes apart; `out_count` is NULL or writable.
    pub unsafe fn new(
        start: *mut T,
        stride: usize,
        capacity: usize,
        out_count: *mut N,
        what: &'static str,
    ) -> Result<Self> {
        if start.is_null() && out_count.is_null() {
            return Err(no_place(what));
        }
        let stride = if stride == 0 { T::FIRST_SIZE } else { stride };
        let bytes = capacity.checked_mul(stride).filter(|bytes| *bytes <= isize::MAX as usize);
        if !start.is_null() && (stride < T::FIRST_SIZE || bytes.is_none()) {
            return Err(wrong_stride(what, stride, T::NAME));
        }
        Ok(Self { start, stride, capacity, out_count, what })
    }

    /// The number of elements that it has room for.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Fills in all `elements`.
    pub fn fill(self, elements: impl ExactSizeIterator<Item = T>) -> Result<()> {
        self.fill_by_index(elements.len(), |place| {
            elements.enumerate().for_each(|(index, element)| place(index, element));
            Ok(())
        })
    }

    /// Fills in `count` elements in any order. `write` gets a function that writes the element at an index.
    pub fn fill_by_index(self, count: usize, write: impl FnOnce(&mut dyn FnMut(usize, T)) -> Result<()>) -> Result<()> {
        let Self { start, stride, capacity, out_count, what } = self;
        // SAFETY: by the contract of `new`.
        let out_count = unsafe { Out::optional(out_count, "out_count") }?;
        let number = N::try_from(count).map_err(|_| too_many(what, count))?;
        write_if(out_count, number);
        if start.is_null() {
            return Ok(());
        }
        if capacity < count {
            return Err(too_small(what, capacity, count));
        }
        // Where the compiler puts an element whose address is needed. Other elements stay in registers.
        let mut spare = MaybeUninit::<T>::uninit();
        write(&mut |index, element: T| {
            if index < count {
                // SAFETY: by the contract of `new`; `index` is below `capacity`, and a stride or less is written.
                unsafe {
                    let place = start.cast::<u8>().add(index * stride);
                    if stride >= size_of::<T>() {
                        place.cast::<T>().write_unaligned(element);
                    } else {
                        put_part(spare.write(element), place, stride);
                    }
                }
            }
        })
    }
}

/// Writes the part of an element that an older header knows. Apart, because the compiler would join it with the copy of
/// a whole one, and a copy of any size is a call.
///
/// # Safety
/// `T` has `size` bytes or more, and `to` room for them.
#[cold]
#[inline(never)]
unsafe fn put_part<T>(from: &T, to: *mut u8, size: usize) {
    // SAFETY: by this function's contract.
    unsafe { ptr::copy_nonoverlapping(ptr::from_ref(from).cast(), to, size) };
}

#[cold]
#[inline(never)]
fn no_place(what: &str) -> Error {
    error!(InvalidArgument, "{what} and its count are both NULL: pass at least one of them")
}

#[cold]
#[inline(never)]
fn too_many(what: &str, count: usize) -> Error {
    error!(LimitExceeded, "{count} {what} are too many to count")
}

#[cold]
#[inline(never)]
fn too_small(what: &str, capacity: usize, count: usize) -> Error {
    error!(BufferTooSmall, "{what} has room for {capacity}, {count} are needed: pass a larger array")
}
