//! Reading and writing the caller's structs, whatever version of the header the caller was compiled with.
//!
//! Every struct begins with `struct_size`. A shorter struct than ours is completed with defaults, a longer one is taken
//! if what we do not know of it is zero. No Rust reference to the caller's memory is ever formed: it is copied
//! bytewise, so it need not be aligned, and another thread of the host writing to it cannot break us.

use std::ptr;

use crate::base::{Result, error};

/// A struct that grows at its end.
///
/// # Safety
/// `#[repr(C)]`, its first field is `struct_size: u32`, and every bit pattern is a valid value (integers, floats, raw
/// pointers, `Option<extern "C" fn>`).
pub unsafe trait Versioned: Copy {
    /// Name in C.
    const NAME: &'static str;
    /// Size in the first released header: nobody has a shorter one.
    const FIRST_SIZE: usize;
    /// What a field that the caller does not set holds; with the right `struct_size`.
    fn defaults() -> Self;
}

/// An unset `struct_size` is random: beyond this it is not believed.
const LONGEST: usize = 4096;

/// What is the same for every struct is compiled once, with these for what is not.
#[derive(Clone, Copy)]
struct Layout {
    name: &'static str,
    first_size: usize,
    size: usize,
}

impl Layout {
    const fn of<T: Versioned>() -> Self {
        const { assert!(T::FIRST_SIZE <= size_of::<T>()) };
        Self { name: T::NAME, first_size: T::FIRST_SIZE, size: size_of::<T>() }
    }

    /// # Safety
    /// As [`read_struct`].
    #[inline(never)]
    unsafe fn check(self, at: *const u8) -> Result<usize> {
        let name = self.name;
        if at.is_null() {
            return Err(error!(InvalidArgument, "{name} is NULL: pass one that {name}_init has filled in"));
        }
        // SAFETY: not NULL, so it points to a readable u32.
        let size = unsafe { at.cast::<u32>().read_unaligned() } as usize;
        if !(self.first_size..=LONGEST).contains(&size) {
            return Err(error!(
                InvalidArgument,
                "{name}.struct_size is {size}: fill the struct in with {name}_init or {}_INIT first",
                Upper(name)
            ));
        }
        Ok(size)
    }

    /// # Safety
    /// As [`read_struct`]; `to` is a struct of ours.
    #[inline(never)]
    unsafe fn read(self, from: *const u8, to: *mut u8) -> Result<()> {
        // SAFETY: as this function's.
        let size = unsafe { self.check(from) }?;
        // SAFETY: `size` bytes are readable by this function's contract; `to` has room for the lesser of the two sizes.
        unsafe { ptr::copy_nonoverlapping(from, to, size.min(self.size)) };
        for offset in self.size..size {
            // SAFETY: within the caller's `size` bytes.
            if unsafe { from.add(offset).read() } != 0 {
                return Err(error!(
                    Unsupported,
                    "{} of {size} bytes sets a field at byte {offset} that this library ({} bytes) does not know: \
                     update the library or leave the field zero",
                    self.name,
                    self.size
                ));
            }
        }
        Ok(())
    }

    /// # Safety
    /// As [`write_struct`]; `from` is a struct of ours.
    #[inline(never)]
    unsafe fn write(self, to: *mut u8, from: *const u8) -> Result<()> {
        // SAFETY: as this function's.
        let size = unsafe { self.check(to) }?.min(self.size);
        let head = size_of::<u32>();
        // SAFETY: `size` bytes are writable by this function's contract, and `from` has as many.
        unsafe { ptr::copy_nonoverlapping(from.add(head), to.add(head), size - head) };
        Ok(())
    }

    /// # Safety
    /// As [`init_struct`]; `defaults` is a struct of ours.
    #[inline(never)]
    unsafe fn init(self, to: *mut u8, size: u32, defaults: *const u8) -> Result<()> {
        let name = self.name;
        if to.is_null() {
            return Err(error!(InvalidArgument, "{name}_init: the struct is NULL"));
        }
        if !(self.first_size..=LONGEST).contains(&(size as usize)) {
            return Err(error!(InvalidArgument, "{name}_init: size {size} is not sizeof({name})"));
        }
        // SAFETY: `size` bytes at `to` are writable, and the tail beyond what we know is zeroed so that it is accepted
        // later; the first field is a u32.
        unsafe {
            ptr::write_bytes(to, 0, size as usize);
            ptr::copy_nonoverlapping(defaults, to, self.size.min(size as usize));
            to.cast::<u32>().write_unaligned(size);
        }
        Ok(())
    }
}

/// Copy the caller's struct over the defaults.
///
/// # Safety
/// `from` is NULL or points to a readable `u32` that, if it holds a plausible size, is followed by that many bytes.
pub unsafe fn read_struct<T: Versioned>(from: *const T) -> Result<T> {
    let mut value = T::defaults();
    // SAFETY: as this function's; any bytes are a valid `T`.
    unsafe { Layout::of::<T>().read(from.cast(), (&raw mut value).cast()) }?;
    Ok(value)
}

/// Copy `value` into as much as the caller has room for; the caller's `struct_size` stays.
///
/// # Safety
/// As [`read_struct`], and writable.
pub unsafe fn write_struct<T: Versioned>(to: *mut T, value: &T) -> Result<()> {
    // SAFETY: as this function's.
    unsafe { Layout::of::<T>().write(to.cast(), ptr::from_ref(value).cast()) }
}

/// Whether `to` can be written, before work is done whose result would go there.
///
/// # Safety
/// As [`read_struct`].
pub unsafe fn checked_size<T: Versioned>(at: *const T) -> Result<usize> {
    // SAFETY: as this function's.
    unsafe { Layout::of::<T>().check(at.cast()) }
}

/// `hob_x` as `HOB_X`.
struct Upper(&'static str);

impl std::fmt::Display for Upper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        use std::fmt::Write as _;
        self.0.chars().try_for_each(|c| f.write_char(c.to_ascii_uppercase()))
    }
}

/// Fill the caller's struct with defaults; `size` is the caller's `sizeof`.
///
/// # Safety
/// `to` is NULL or points to `size` writable bytes.
pub unsafe fn init_struct<T: Versioned>(to: *mut T, size: u32) -> Result<()> {
    let defaults = T::defaults();
    // SAFETY: as this function's.
    unsafe { Layout::of::<T>().init(to.cast(), size, (&raw const defaults).cast()) }
}

/// An element of an array of structs without `struct_size`, whose stride tells their version.
///
/// # Safety
/// As [`Versioned`], without the first field.
pub unsafe trait Element: Copy + Default {
    /// Name in C.
    const NAME: &'static str;
    /// Size in the first released header.
    const FIRST_SIZE: usize;
}

/// A caller's array.
pub struct Array<T> {
    start: *const u8,
    stride: usize,
    count: usize,
    element: std::marker::PhantomData<T>,
}

impl<T: Element> Array<T> {
    /// Describe it; the stride of a single element may be left 0.
    ///
    /// # Safety
    /// `start` is NULL or points to `count` elements, `stride` bytes apart, readable while the array is used.
    pub unsafe fn new(start: *const T, stride: usize, count: usize) -> Result<Self> {
        let name = T::NAME;
        if start.is_null() && count > 0 {
            return Err(error!(InvalidArgument, "the array of {count} {name} is NULL"));
        }
        if count > 1 && stride < T::FIRST_SIZE {
            return Err(error!(
                InvalidArgument,
                "the stride of the {name} array is {stride}: set it to sizeof({name})"
            ));
        }
        if count.checked_mul(stride).is_none_or(|bytes| bytes > isize::MAX as usize) {
            return Err(error!(InvalidArgument, "an array of {count} {name}, {stride} bytes apart, cannot exist"));
        }
        let stride = if count > 1 || stride >= T::FIRST_SIZE { stride } else { T::FIRST_SIZE };
        Ok(Self { start: start.cast(), stride, count, element: std::marker::PhantomData })
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = T> + '_ {
        (0..self.count).map(|index| {
            let mut value = T::default();
            // SAFETY: by the contract of `new` the element is readable for `stride` bytes; any bytes are a valid `T`.
            unsafe {
                let element = self.start.add(index * self.stride);
                ptr::copy_nonoverlapping(element, (&raw mut value).cast::<u8>(), self.stride.min(size_of::<T>()));
            }
            value
        })
    }
}

/// Where a function leaves its answer.
pub struct Out<T>(*mut T);

impl<T> Out<T> {
    /// Refuse NULL. `what` names the argument.
    ///
    /// # Safety
    /// `place` is NULL or writable until [`Out::write`].
    pub unsafe fn new(place: *mut T, what: &str) -> Result<Self> {
        // SAFETY: by this function's contract.
        unsafe { Self::optional(place) }
            .ok_or_else(|| error!(InvalidArgument, "{what} is NULL: pass where to write it"))
    }

    /// Where the caller may have no use for the answer.
    ///
    /// # Safety
    /// As [`Out::new`].
    pub unsafe fn optional(place: *mut T) -> Option<Self> {
        (!place.is_null()).then_some(Self(place))
    }

    pub fn write(self, value: T) {
        // SAFETY: by the contract of `new`; not dereferenced, so what stands there need not be valid.
        unsafe { self.0.write_unaligned(value) };
    }
}

/// The caller's bytes.
///
/// # Safety
/// `data` is NULL or points to `size` bytes that nobody changes during `'a`.
pub unsafe fn bytes<'a>(data: *const std::ffi::c_void, size: usize, what: &str) -> Result<&'a [u8]> {
    if size == 0 {
        return Ok(&[]);
    }
    if data.is_null() || size > isize::MAX as usize {
        return Err(error!(InvalidArgument, "{what} is NULL or its size of {size} bytes is impossible"));
    }
    // SAFETY: by this function's contract.
    Ok(unsafe { std::slice::from_raw_parts(data.cast(), size) })
}

/// Leave `needed` bytes, made by `write`, in the caller's buffer, by the two-call protocol: the size needed is always
/// written; with a NULL buffer that is all; a buffer that is too small is left alone.
///
/// # Safety
/// `buffer` is NULL or `capacity` writable bytes; `out_size` is NULL or writable.
pub unsafe fn fill(
    buffer: *mut std::ffi::c_char,
    capacity: usize,
    out_size: *mut usize,
    needed: usize,
    write: impl FnOnce(&mut [u8]) -> Result<usize>,
) -> Result<()> {
    if buffer.is_null() {
        // SAFETY: by this function's contract.
        unsafe { Out::new(out_size, "out_size") }?.write(needed);
        return Ok(());
    }
    // SAFETY: as above.
    if let Some(out) = unsafe { Out::optional(out_size) } {
        out.write(needed);
    }
    if capacity < needed {
        return Err(error!(BufferTooSmall, "the buffer has {capacity} bytes, {needed} are needed: pass a larger one"));
    }
    // SAFETY: the caller's bytes may be uninitialised, so they are written before a slice of them is formed; `needed`
    // is at most `capacity`.
    let bytes = unsafe {
        ptr::write_bytes(buffer, 0, needed);
        std::slice::from_raw_parts_mut(buffer.cast::<u8>(), needed)
    };
    write(bytes).map(|_| ())
}
