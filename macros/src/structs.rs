//! `#[versioned]` and `#[element]`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Error, Expr, Field, Fields, Ident, ItemStruct, LitInt, Result, Token};

struct Released {
    size: LitInt,
    last: Ident,
}

impl Parse for Released {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        label(input, "size")?;
        let size = input.parse()?;
        input.parse::<Token![,]>()?;
        label(input, "last")?;
        Ok(Self { size, last: input.parse()? })
    }
}

fn label(input: ParseStream<'_>, wanted: &str) -> Result<()> {
    let found: Ident = input.parse()?;
    if found != wanted {
        return Err(Error::new(found.span(), "expected `size = BYTES, last = field`"));
    }
    input.parse::<Token![=]>()?;
    Ok(())
}

impl Released {
    /// The size in the first released header. On 64-bit machines it is the literal, checked against the layout. On
    /// others it is computed from the layout.
    fn first_size(&self) -> TokenStream {
        let Self { size, last } = self;
        quote! {
            const FIRST_SIZE: usize = {
                let end = crate::ffi::base::structs::end_of!(Self, #last);
                if size_of::<usize>() == 8 {
                    assert!(end == #size, "the released size differs from the size of the released fields");
                }
                end
            };
        }
    }
}

/// The initial value of a field, and whether 0 means this value too.
enum Start {
    Zero,
    Default(Expr),
    Initial(Expr),
}

/// Removes the library's attribute from a field.
fn start_of(field: &mut Field) -> Result<Start> {
    let mut start = Start::Zero;
    let mut kept = Vec::new();
    for attribute in std::mem::take(&mut field.attrs) {
        if attribute.path().is_ident("default") {
            start = Start::Default(attribute.parse_args()?);
        } else if attribute.path().is_ident("initial") {
            start = Start::Initial(attribute.parse_args()?);
        } else {
            kept.push(attribute);
        }
    }
    field.attrs = kept;
    Ok(start)
}

/// The fields' initial values, and the code that replaces 0 by a default.
fn starts(item: &mut ItemStruct) -> Result<(Vec<TokenStream>, Vec<TokenStream>)> {
    let Fields::Named(fields) = &mut item.fields else {
        return Err(Error::new_spanned(item, "the struct needs named fields"));
    };
    let (mut values, mut zeros) = (Vec::new(), Vec::new());
    for field in &mut fields.named {
        let start = start_of(field)?;
        let Some(name) = field.ident.clone() else { continue };
        match start {
            _ if name == "struct_size" => values.push(quote! { #name: size_of::<Self>() as u32 }),
            Start::Zero => {}
            Start::Initial(value) => values.push(quote! { #name: #value }),
            Start::Default(value) => {
                values.push(quote! { #name: #value });
                zeros.push(quote! {
                    if crate::ffi::base::structs::is_zero(&self.#name) {
                        self.#name = #value;
                    }
                });
            }
        }
    }
    Ok((values, zeros))
}

/// Checks that the reserved fields are 0, so that a later version can give them a meaning.
fn reserved(item: &ItemStruct) -> (bool, TokenStream) {
    let names = item.fields.iter().filter_map(|field| field.ident.as_ref());
    let names: Vec<_> = names.filter(|name| name.to_string().starts_with("reserved")).collect();
    let text = item.ident.to_string();
    let checks = quote! {
        #(if self.#names != 0 {
            return Err(crate::ffi::base::structs::not_zero(what, #text, stringify!(#names)));
        })*
    };
    (!names.is_empty(), checks)
}

/// Appends a field that no header has. It is for the test that old programs run with a library whose structs have
/// grown.
fn append_field(item: &mut ItemStruct) {
    if let Fields::Named(fields) = &mut item.fields {
        fields.named.push(syn::parse_quote! {
            /// Not in any header: see the feature.
            #[cfg(feature = "appended-fields")]
            pub appended: u64
        });
    }
}

pub fn versioned(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let released: Released = syn::parse2(attribute)?;
    let mut item: ItemStruct = syn::parse2(item)?;
    let first = item.fields.iter().next().and_then(|field| field.ident.as_ref());
    if first.is_none_or(|first| first != "struct_size") {
        return Err(Error::new_spanned(&item.ident, "the first field must be `struct_size: u32`"));
    }
    let (values, zeros) = starts(&mut item)?;
    let (_, reserved) = reserved(&item);
    append_field(&mut item);
    let (name, first_size) = (&item.ident, released.first_size());
    let (text, init) = (name.to_string(), format_ident!("{}_init", name));
    Ok(quote! {
        #item

        // SAFETY: `#[repr(C)]` with `struct_size` first. Every bit pattern of the fields is valid, as the attribute's
        // users promise: integers, floats, raw pointers, optional functions, and arrays and structs of those.
        unsafe impl crate::ffi::base::structs::Versioned for #name {
            const NAME: &'static str = #text;
            #first_size

            #[allow(clippy::needless_update, reason = "some structs set every field")]
            const DEFAULTS: &'static Self = &{
                // SAFETY: every bit pattern is a value.
                let zero = unsafe { std::mem::zeroed::<Self>() };
                Self { #(#values,)* ..zero }
            };

            fn fill_in(&mut self) {
                #(#zeros)*
            }

            #[allow(unused_variables, reason = "most structs have no reserved field")]
            fn check_reserved(&self, what: &str) -> crate::base::Result<()> {
                #reserved
                Ok(())
            }
        }

        // SAFETY: read by the size that the caller states.
        unsafe impl crate::ffi::base::argument::Argument for #name {
            type Taken<'a> = Self;

            unsafe fn take<'a>(pointer: *const Self, what: &'static str) -> crate::base::Result<Self::Taken<'a>> {
                // SAFETY: by the contract of `take`.
                unsafe { crate::ffi::base::structs::read_struct(pointer, what) }
            }
        }

        // SAFETY: written by the size that the caller states.
        unsafe impl crate::ffi::base::out::Output for #name {
            unsafe fn check(place: *const Self, what: &'static str) -> crate::base::Result<()> {
                // SAFETY: by the contract of `check`.
                unsafe { crate::ffi::base::structs::check_struct(place, what) }
            }

            unsafe fn put(place: *mut Self, value: &Self) {
                // SAFETY: by the contract of `put`.
                unsafe { crate::ffi::base::structs::write_struct(place, value) }
            }
        }

        // Compared with the layout in every build.
        const _: usize = <#name as crate::ffi::base::structs::Versioned>::FIRST_SIZE;

        /// The header's generator writes its declaration.
        #[doc(hidden)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn #init(value: *mut #name, size: u32) -> crate::ffi::base::result::hob_result {
            // SAFETY: the header asks for `size` writable bytes.
            unsafe { crate::ffi::base::structs::init_struct(value, size) }
        }
    })
}

pub fn element(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let released: Released = syn::parse2(attribute)?;
    let item: ItemStruct = syn::parse2(item)?;
    let (has_reserved, reserved) = reserved(&item);
    let (name, first_size) = (&item.ident, released.first_size());
    let text = name.to_string();
    Ok(quote! {
        #item

        // SAFETY: `#[repr(C)]`, and every bit pattern of the fields is valid, as the attribute's users promise.
        unsafe impl crate::ffi::base::array::Element for #name {
            const NAME: &'static str = #text;
            #first_size
            const HAS_RESERVED: bool = #has_reserved;

            #[allow(unused_variables, reason = "some elements have no reserved field")]
            fn check_reserved(&self, what: &str) -> crate::base::Result<()> {
                #reserved
                Ok(())
            }
        }

        // Compared with the layout in every build.
        const _: usize = <#name as crate::ffi::base::array::Element>::FIRST_SIZE;

        // SAFETY: plain data.
        unsafe impl crate::ffi::base::out::Output for #name {}
    })
}
