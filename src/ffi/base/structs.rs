//! Reads and writes the caller's structs, for callers that were compiled with any version of the header.
//!
//! Every struct begins with `struct_size`. A struct that is shorter than the library's is completed with defaults. A
//! longer one is accepted if the part that this library does not know is zero.
//!
//! The library never forms a Rust reference to the caller's memory, but copies it bytewise. So it need not be aligned,
//! and concurrent writes by another thread of the host cannot break the library.

use std::mem::MaybeUninit;
use std::ptr;

use super::guard::guard;
use super::result::hob_result;
use crate::base::{Error, Result, error};

/// A struct that grows at its end.
///
/// # Safety
/// `#[repr(C)]`, its first field is `struct_size: u32`, and every bit pattern is a valid value (integers, floats, raw
/// pointers, `Option<extern "C" fn>`).
pub unsafe trait Versioned: Copy + 'static {
    /// Name in C.
    const NAME: &'static str;
    /// Size in the first released header, which is the smallest valid size.
    const FIRST_SIZE: usize;
    /// The value that `_init` writes, with the right `struct_size`.
    const DEFAULTS: &'static Self;
    /// A copy of [`Versioned::DEFAULTS`].
    fn defaults() -> Self {
        *Self::DEFAULTS
    }
    /// Replaces 0 by the default in every field where 0 means the default.
    fn fill_in(&mut self);
    /// Rejects a reserved field that is not 0. `what` names the parameter.
    fn check_reserved(&self, what: &str) -> Result<()>;
}

/// Bytes up to the end of a field, rounded up to the struct's alignment.
macro_rules! end_of {
    ($name:ty, $field:ident) => {{
        const fn size_of_field<T, F>(_: fn(&T) -> &F) -> usize {
            size_of::<F>()
        }
        let end = std::mem::offset_of!($name, $field) + size_of_field(|all: &$name| &all.$field);
        end.next_multiple_of(align_of::<$name>())
    }};
}
pub(crate) use end_of;

/// A field whose value may be its default.
pub trait Zero: PartialEq {
    /// The value of an unset field.
    const ZERO: Self;
}

macro_rules! zero {
    ($($ty:ty),+) => {$(
        impl Zero for $ty {
            const ZERO: Self = 0 as $ty;
        }
    )+};
}

zero!(u32, u64, usize, f64);

/// Whether the caller has not set a field.
pub fn is_zero<T: Zero>(value: &T) -> bool {
    *value == T::ZERO
}

/// The largest accepted `struct_size`. A larger one is an uninitialised field.
const LONGEST: usize = 4096;

/// Name, sizes and defaults of a struct. With them the code for all structs is compiled only once.
struct Layout {
    name: &'static str,
    first_size: usize,
    size: usize,
    defaults: *const u8,
}

/// The layout of a struct, in static memory.
trait HasLayout: Versioned {
    const LAYOUT: &'static Layout = {
        assert!(Self::FIRST_SIZE <= size_of::<Self>());
        &Layout {
            name: Self::NAME,
            first_size: Self::FIRST_SIZE,
            size: size_of::<Self>(),
            defaults: ptr::from_ref(Self::DEFAULTS).cast(),
        }
    };
}

impl<T: Versioned> HasLayout for T {}

impl Layout {
    /// # Safety
    /// As [`read_struct`].
    unsafe fn check(&self, at: *const u8, what: &str) -> Result<usize> {
        let name = self.name;
        if at.is_null() {
            return Err(error!(InvalidArgument, "{what} is NULL: pass a {name} that {}_INIT has set up", Upper(name)));
        }
        // SAFETY: not NULL, so it points to a readable u32.
        let size = unsafe { at.cast::<u32>().read_unaligned() } as usize;
        if !(self.first_size..=LONGEST).contains(&size) {
            return Err(error!(
                InvalidArgument,
                "{what}: {name}.struct_size is {size}: set up the struct with {}_INIT, or set it to sizeof({name})",
                Upper(name)
            ));
        }
        Ok(size)
    }

    /// # Safety
    /// As [`read_struct`].
    #[cold]
    #[inline(never)]
    unsafe fn check_other(&self, at: *const u8, what: &str) -> Result<()> {
        // SAFETY: as this function's.
        unsafe { self.check(at, what) }.map(|_| ())
    }

    /// # Safety
    /// As [`read_struct`]; `to` is a struct of the library's version.
    #[inline(never)]
    unsafe fn read(&self, from: *const u8, to: *mut u8, what: &str) -> Result<()> {
        // SAFETY: as this function's.
        let size = unsafe { self.check(from, what) }?;
        // SAFETY: `size` bytes are readable by this function's contract; `to` has room for the smaller of the two
        // sizes, and for the defaults of the rest.
        unsafe {
            let known = size.min(self.size);
            ptr::copy_nonoverlapping(from, to, known);
            if known < self.size {
                ptr::copy_nonoverlapping(self.defaults.add(known), to.add(known), self.size - known);
            }
        }
        for offset in self.size..size {
            // SAFETY: within the caller's `size` bytes.
            if unsafe { from.add(offset).read() } != 0 {
                return Err(error!(
                    Unsupported,
                    "{what}: {} of {size} bytes sets a field at byte {offset} that this library ({} bytes) does not know: \
                     update the library, or leave the field zero",
                    self.name,
                    self.size
                ));
            }
        }
        Ok(())
    }

    /// # Safety
    /// As [`init_struct`].
    unsafe fn init(&self, to: *mut u8, size: u32) -> Result<()> {
        let name = self.name;
        if to.is_null() {
            return Err(error!(InvalidArgument, "{name}_init: the struct is NULL"));
        }
        if !(self.first_size..=LONGEST).contains(&(size as usize)) {
            return Err(error!(InvalidArgument, "{name}_init: size {size} is not sizeof({name}): pass sizeof({name})"));
        }
        // SAFETY: `size` bytes at `to` are writable, and the tail that the library does not know is zeroed, so that it
        // is accepted later; the first field is a u32.
        unsafe {
            ptr::write_bytes(to, 0, size as usize);
            ptr::copy_nonoverlapping(self.defaults, to, self.size.min(size as usize));
            to.cast::<u32>().write_unaligned(size);
        }
        Ok(())
    }
}

/// Copies the caller's struct over the defaults. `what` names the parameter.
///
/// # Safety
/// `from` is NULL or points to a readable `u32` that, if it holds a plausible size, is followed by that many bytes.
pub unsafe fn read_struct<T: Versioned>(from: *const T, what: &str) -> Result<T> {
    let mut value = MaybeUninit::<T>::uninit();
    // SAFETY: as this function's. A struct of this library's own version, the usual one, is copied without a call.
    // `read` writes all of another one. Any bytes are a valid `T`.
    let mut value = unsafe {
        if !from.is_null() && from.cast::<u32>().read_unaligned() as usize == size_of::<T>() {
            ptr::copy_nonoverlapping(from.cast::<u8>(), value.as_mut_ptr().cast::<u8>(), size_of::<T>());
        } else {
            T::LAYOUT.read(from.cast(), value.as_mut_ptr().cast(), what)?;
        }
        value.assume_init()
    };
    value.check_reserved(what)?;
    value.fill_in();
    Ok(value)
}

/// Checks that an answer can be written to `at`, before the work for it is done. `what` names the parameter.
///
/// # Safety
/// As [`read_struct`].
#[inline]
pub unsafe fn check_struct<T: Versioned>(at: *const T, what: &str) -> Result<()> {
    // SAFETY: as this function's. A struct of this library's own version, the usual one, takes no call.
    if !at.is_null() && unsafe { at.cast::<u32>().read_unaligned() } as usize == size_of::<T>() {
        return Ok(());
    }
    // SAFETY: as this function's.
    unsafe { T::LAYOUT.check_other(at.cast(), what) }
}

/// Bytes of a struct that is written without a call.
const MOST_MOVED: usize = 64;

/// Copies as much of `value` as fits into the caller's struct, and sets fields that this library does not know to 0.
/// The caller's `struct_size` is unchanged. No other function writes an answer into a caller's struct.
///
/// # Safety
/// [`check_struct`] has accepted the place, which is writable.
#[inline]
pub unsafe fn write_struct<T: Versioned>(to: *mut T, value: &T) {
    let known = size_of::<T>();
    // SAFETY: as this function's.
    unsafe {
        if known <= MOST_MOVED && to.cast::<u32>().read_unaligned() as usize == known {
            // The usual case: a short copy of known length is a few moves.
            let head = size_of::<u32>();
            let from = ptr::from_ref(value).cast::<u8>();
            ptr::copy_nonoverlapping(from.add(head), to.cast::<u8>().add(head), known - head);
        } else {
            write_other(to.cast(), ptr::from_ref(value).cast(), known);
        }
    }
}

/// Writes a struct of `known` bytes into the caller's struct of any size.
///
/// # Safety
/// As [`write_struct`].
#[inline(never)]
unsafe fn write_other(to: *mut u8, from: *const u8, known: usize) {
    let head = size_of::<u32>();
    // SAFETY: as this function's: as many bytes are writable as the caller's size says. A size that shrank after the
    // check makes the copy shorter.
    unsafe {
        let size = (to.cast::<u32>().read_unaligned() as usize).min(LONGEST);
        ptr::copy_nonoverlapping(from.add(head), to.add(head), size.min(known).saturating_sub(head));
        if size > known {
            ptr::write_bytes(to.add(known), 0, size - known);
        }
    }
}

/// A reserved field that is not 0.
#[cold]
#[inline(never)]
pub fn not_zero(what: &str, name: &str, field: &str) -> Error {
    error!(Unsupported, "{what}: {name}.{field} is not 0: it is reserved in this version, set it to 0")
}

/// `hob_x` as `HOB_X`.
struct Upper(&'static str);

impl std::fmt::Display for Upper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        use std::fmt::Write as _;
        self.0.chars().try_for_each(|c| f.write_char(c.to_ascii_uppercase()))
    }
}

/// Fills the caller's struct with defaults. `size` is the caller's `sizeof`.
///
/// # Safety
/// `to` is NULL or points to `size` writable bytes.
#[inline]
pub unsafe fn init_struct<T: Versioned>(to: *mut T, size: u32) -> hob_result {
    // SAFETY: as this function's.
    unsafe { init(to.cast(), size, T::LAYOUT) }
}

/// # Safety
/// As [`init_struct`].
#[inline(never)]
unsafe fn init(to: *mut u8, size: u32, layout: &'static Layout) -> hob_result {
    if !to.is_null() && size as usize == layout.size {
        // The usual case needs no guard, which would take most of the call's time: nothing here fails or panics.
        // SAFETY: as this function's. The defaults have this size as their `struct_size`.
        unsafe { ptr::copy_nonoverlapping(layout.defaults, to, layout.size) };
        return hob_result::Ok;
    }
    // SAFETY: as this function's.
    guard(|| unsafe { layout.init(to, size) })
}
