//! Attributes for the items of the C API: functions, structs, array elements, enums and handles.
//!
//! The sources have the form of C: functions with C's parameters, `#[repr(C)]` structs and enums. cbindgen generates
//! the headers from them. These attributes add the code that C needs and that safe Rust should not repeat.
//!
//! | attribute | on | gives |
//! |---|---|---|
//! | [`macro@entry`] | a function | the guard, the handle, every argument checked and converted; the body is safe Rust |
//! | [`macro@versioned`] | a struct with `struct_size` | defaults, the released size, `_init`, reading and writing |
//! | [`macro@element`] | a struct in caller's arrays | the released size, for strides |
//! | [`macro@open_enum`] | an enum of C | a `u32` that any caller's number fits into, and its check |
//! | [`macro@opaque`] | a handle's struct | the Rust value behind it |

mod entry;
mod enums;
mod opaque;
mod structs;

use proc_macro::TokenStream;

/// Makes a C function from a safe body that returns `Result`.
///
/// `#[entry(ACCESS, …)]`. `ACCESS` is the access to the handle, which is the first parameter:
///
/// | access | the handle is bound to |
/// |---|---|
/// | `exclusive` | `&Held<Value>`: no other call runs on the handle |
/// | `shared` | `&Value`: other const calls may run |
/// | `published` | `&Published`: what is readable at any time, also during an exclusive call |
/// | `handle` | `Handle<O>`: the body decides |
/// | `destroy` | `Handle<O>`; after the body the handle is destroyed |
/// | `any` | there is no handle, or it is one argument among others |
///
/// * `nullable(a, b)` names pointer parameters that may be NULL. The body gets an `Option`.
/// * `or = value` is the result after a failure, for a function that does not return `hob_result`. Default: the type's
///   default.
/// * `inside = expression`, with `exclusive`, replaces the body if the call comes from a callback of the handle. In the
///   expression the handle is bound to `&Value`.
/// * `quick = expression`, with `exclusive`, is tried first, as a const call that costs less than an exclusive one. In it the
///   handle is bound to `&Value`, and the parameters are converted. Its value is an `Option`; after `None` the body runs.
/// * `coded`, for a function that returns `hob_result`: the body returns `Result<hob_result>`, for results of each frame that
///   must not allocate as an error does.
/// * `hot` compiles the guard into the function: for the calls of a frame that take less than a microsecond.
/// * `integers`, with `hot`: the body computes with integers only, so the guard leaves the floating-point environment alone.
/// * `experimental` puts the function into the experimental tier.
///
/// Parameters are converted by their form. In the body the name of the first one is bound to:
///
/// | parameters | in the body |
/// |---|---|
/// | `p: *const c_void, size: usize` | `&[u8]` |
/// | `p: *mut c_char, capacity: usize, out_size: *mut usize` | `OutBuffer` |
/// | `p: *const T, [p_stride: usize,] p_count: u32 or usize` | `Array<T>` |
/// | `p: *mut T, [p_stride: usize,] capacity: u32 or usize, out_count: *mut N` | `OutArray<T, N>` |
/// | `p: hob_str` | `Str` |
/// | `p: *const T` | what `T: Argument` gives |
/// | `out_p: *mut T` | `Out<T>` |
/// | anything else | itself |
#[proc_macro_attribute]
pub fn entry(attribute: TokenStream, item: TokenStream) -> TokenStream {
    entry::expand(attribute.into(), item.into()).unwrap_or_else(|why| why.to_compile_error()).into()
}

/// Declares a struct that grows at its end: `#[versioned(size = 64, last = field)]`.
///
/// `size` is the struct's size in the first released header on 64-bit machines, and `last` is its last field there.
/// Both are checked against the layout. A field's `#[default(x)]` replaces 0, and `_init` writes it. `#[initial(x)]` is
/// only written by `_init`, for fields where 0 is a value. `_init` sets other fields to 0.
#[proc_macro_attribute]
pub fn versioned(attribute: TokenStream, item: TokenStream) -> TokenStream {
    structs::versioned(attribute.into(), item.into()).unwrap_or_else(|why| why.to_compile_error()).into()
}

/// Declares an element of callers' arrays: `#[element(size = 24, last = field)]`. It is like [`macro@versioned`]
/// without `struct_size`: the stride identifies the caller's version.
#[proc_macro_attribute]
pub fn element(attribute: TokenStream, item: TokenStream) -> TokenStream {
    structs::element(attribute.into(), item.into()).unwrap_or_else(|why| why.to_compile_error()).into()
}

/// Turns an enum into a `u32` with constants, so that any number from a caller is valid, and adds `check`.
#[proc_macro_attribute]
pub fn open_enum(_attribute: TokenStream, item: TokenStream) -> TokenStream {
    enums::open_enum(item.into()).unwrap_or_else(|why| why.to_compile_error()).into()
}

/// Declares the Rust value of a handle: `#[opaque(Value, tag = b"eightchr")]`. `busy = "…"` is the reason of every
/// `HOB_RESULT_BUSY`, if one sentence fits all.
#[proc_macro_attribute]
pub fn opaque(attribute: TokenStream, item: TokenStream) -> TokenStream {
    opaque::expand(attribute.into(), item.into()).unwrap_or_else(|why| why.to_compile_error()).into()
}
