//! Bytes and arrays in the caller's memory.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr;

use super::argument::{null, wrong_stride};
use crate::base::{Error, Result, error, try_collect};

/// The caller's bytes.
///
/// # Safety
/// `data` is NULL or points to `size` bytes that do not change during `'a`.
pub unsafe fn bytes<'a>(data: *const c_void, size: usize, what: &str) -> Result<&'a [u8]> {
    if size == 0 {
        return Ok(&[]);
    }
    if data.is_null() || size > isize::MAX as usize {
        return Err(error!(
            InvalidArgument,
            "{what} is NULL or its size of {size} bytes is impossible: pass a valid pointer and size"
        ));
    }
    // SAFETY: by this function's contract.
    Ok(unsafe { std::slice::from_raw_parts(data.cast(), size) })
}

/// An element of an array of structs without `struct_size`. The stride identifies the caller's version.
///
/// # Safety
/// `#[repr(C)]`, and every bit pattern is a value.
pub unsafe trait Element: Copy {
    /// Name in C.
    const NAME: &'static str;
    /// Size in the first released header.
    const FIRST_SIZE: usize;
    /// Whether `check_reserved` has a field to check.
    const HAS_RESERVED: bool = false;
    /// Rejects a reserved field that is not 0. `what` names the parameter.
    fn check_reserved(&self, _what: &str) -> Result<()> {
        Ok(())
    }
}

macro_rules! numbers {
    ($($ty:ty, $name:literal);+) => {$(
        // SAFETY: a number.
        unsafe impl Element for $ty {
            const NAME: &'static str = $name;
            const FIRST_SIZE: usize = size_of::<$ty>();
        }
    )+};
}

numbers!(u16, "uint16_t"; u32, "uint32_t"; f64, "double");

/// Elements whose reserved fields are checked: more than any array of structs may have.
const MOST_CHECKED: usize = 1 << 16;

/// Why an array is refused.
#[cold]
#[inline(never)]
fn refusal(start: *const u8, stride: usize, count: usize, what: &str, name: &str, first_size: usize) -> Error {
    if start.is_null() && count > 0 {
        return null(what, "an array of the stated count");
    }
    if stride < first_size {
        return wrong_stride(what, stride, name);
    }
    error!(
        InvalidArgument,
        "{what}: {count} {name} at a stride of {stride} bytes exceed the address space: check the count and the stride"
    )
}

/// A caller's array.
pub struct Array<'a, T> {
    start: *const u8,
    stride: usize,
    /// Whether the caller left the stride to the library.
    is_packed: bool,
    count: usize,
    element: PhantomData<&'a T>,
}

impl<T: Element> Array<'_, T> {
    /// Checks and describes the array. A stride of 0 means the element's first released size.
    ///
    /// # Safety
    /// `start` is NULL or points to `count` elements, `stride` bytes apart, readable while the array is used.
    pub unsafe fn new(start: *const T, stride: usize, count: usize, what: &str) -> Result<Self> {
        let is_packed = stride == 0;
        let stride = if is_packed { T::FIRST_SIZE } else { stride };
        let bytes = count.checked_mul(stride).filter(|&bytes| bytes <= isize::MAX as usize);
        if start.is_null() && count > 0 || stride < T::FIRST_SIZE || bytes.is_none() {
            return Err(refusal(start.cast(), stride, count, what, T::NAME, T::FIRST_SIZE));
        }
        let array = Self { start: start.cast(), stride, is_packed, count, element: PhantomData };
        // The function itself rejects a larger count, without reading the elements.
        if T::HAS_RESERVED && count <= MOST_CHECKED {
            array.iter().try_for_each(|element| element.check_reserved(what))?;
        }
        Ok(array)
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Copies of the elements. Fields that a shorter element of an older header lacks are zero.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = T> + '_ {
        (0..self.count).map(|index| {
            // SAFETY: by the contract of `new` the element is readable for `stride` bytes, and every bit pattern is a
            // value.
            unsafe {
                let element = self.start.add(index * self.stride);
                // A copy of a known size is a few moves, and any other one a call.
                if self.stride >= size_of::<T>() {
                    return element.cast::<T>().read_unaligned();
                }
                let mut value = std::mem::zeroed::<T>();
                ptr::copy_nonoverlapping(element, (&raw mut value).cast::<u8>(), self.stride);
                value
            }
        })
    }

    /// The rows of a table. Each element of this array is the first of `length` adjacent ones. A stride of 0 means rows
    /// without gaps. `what` names the stride.
    ///
    /// # Safety
    /// The rows are readable while they are used.
    pub unsafe fn rows(&self, length: usize, what: &str) -> Result<impl Iterator<Item = Array<'_, T>>> {
        let (name, width, start, count) = (T::NAME, length * T::FIRST_SIZE, self.start, self.count);
        let stride = if self.is_packed { width } else { self.stride };
        if stride < width || count.checked_mul(stride).is_none_or(|bytes| bytes > isize::MAX as usize) {
            return Err(error!(
                InvalidArgument,
                "{what} is {stride}: set it to the size of a row of {length} {name}, or to 0 for rows without gaps"
            ));
        }
        Ok((0..count).map(move |row| {
            // SAFETY: by this function's contract; the offset is within an allocation's possible size.
            let start = unsafe { start.add(row * stride) };
            Array { start, stride: T::FIRST_SIZE, is_packed: true, count: length, element: PhantomData }
        }))
    }

    /// Copies of the elements, on the heap.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        try_collect(self.iter())
    }
}
