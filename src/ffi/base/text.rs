//! Text arguments.

use std::ffi::{CStr, c_char};
use std::marker::PhantomData;

use super::array::Element;
use super::out::Output;
use crate::base::{Result, error};

/// Text that is passed in: UTF-8, `len` bytes, no NUL needed.
/// With `len` SIZE_MAX, `data` ends in NUL. `data` may be NULL when `len` is 0. The library copies what it keeps. See
/// HOB_STR and hob_str_of.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_str {
    /// The first byte.
    pub data: *const c_char,
    /// Bytes, without a NUL; SIZE_MAX: `data` ends in NUL.
    pub len: usize,
}

// SAFETY: a pointer and a number.
unsafe impl Output for hob_str {}

// SAFETY: `#[repr(C)]`, a pointer and a number.
unsafe impl Element for hob_str {
    const NAME: &'static str = "hob_str";
    const FIRST_SIZE: usize = 2 * size_of::<usize>();
}

impl hob_str {
    /// The empty text.
    pub const EMPTY: Self = Self { data: std::ptr::null(), len: 0 };

    /// A view of a text.
    pub fn from(text: &str) -> Self {
        Self { data: text.as_ptr().cast(), len: text.len() }
    }

    /// The text as an argument or a field with the name `what`.
    ///
    /// # Safety
    /// `data` and `len` meet the type's documentation during `'a`.
    pub unsafe fn argument<'a>(self, what: &'static str) -> Str<'a> {
        Str { text: self, what, life: PhantomData }
    }
}

/// A text in the caller's memory, which is valid during `'a`.
#[derive(Clone, Copy)]
pub struct Str<'a> {
    text: hob_str,
    what: &'static str,
    life: PhantomData<&'a [u8]>,
}

impl<'a> Str<'a> {
    /// The text, after a check.
    #[inline]
    pub fn text(self) -> Result<&'a str> {
        if self.text.len == 0 { Ok("") } else { self.checked() }
    }

    #[inline(never)]
    fn checked(self) -> Result<&'a str> {
        let what = self.what;
        std::str::from_utf8(self.bytes()?)
            .map_err(|why| error!(InvalidArgument, "{what} is not UTF-8: byte {} is invalid", why.valid_up_to()))
    }

    /// The bytes, without a check.
    #[inline(never)]
    pub fn bytes(self) -> Result<&'a [u8]> {
        let (hob_str { data, len }, what) = (self.text, self.what);
        if data.is_null() {
            if len == 0 {
                return Ok(&[]);
            }
            return Err(error!(InvalidArgument, "{what} is NULL with a length of {len}: pass the text, or length 0"));
        }
        if len != usize::MAX && len > isize::MAX as usize {
            return Err(error!(InvalidArgument, "{what} has an impossible length of {len} bytes"));
        }
        // SAFETY: by the contract of `argument`.
        Ok(unsafe {
            if len == usize::MAX {
                CStr::from_ptr(data).to_bytes()
            } else {
                std::slice::from_raw_parts(data.cast::<u8>(), len)
            }
        })
    }
}
