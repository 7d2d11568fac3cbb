//! `#[open_enum]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, ItemEnum, Result};

pub fn open_enum(item: TokenStream) -> Result<TokenStream> {
    let item: ItemEnum = syn::parse2(item)?;
    let (name, visibility) = (&item.ident, &item.vis);
    let documentation: Vec<_> = item.attrs.iter().filter(|attribute| attribute.path().is_ident("doc")).collect();
    let mut constants = Vec::new();
    let mut numbers = Vec::new();
    for variant in &item.variants {
        let Some((_, number)) = &variant.discriminant else {
            return Err(Error::new_spanned(variant, "write the number: it is part of the ABI"));
        };
        let (label, docs) = (&variant.ident, variant.attrs.iter().filter(|a| a.path().is_ident("doc")));
        constants.push(quote! { #(#docs)* pub const #label: Self = Self(#number); });
        numbers.push(number);
    }
    let text = name.to_string();
    Ok(quote! {
        #(#documentation)*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #visibility struct #name(pub u32);

        #[allow(non_upper_case_globals)]
        impl #name {
            #(#constants)*

            /// The number, if it is one of the enum's; `what` names the argument or field.
            #[inline]
            pub fn check(self, what: &str) -> crate::base::Result<Self> {
                const KNOWN: &[u32] = &[#(#numbers),*];
                if KNOWN.contains(&self.0) {
                    return Ok(self);
                }
                Err(crate::ffi::base::argument::unknown(what, self.0, #text))
            }
        }

        // SAFETY: a number.
        unsafe impl crate::ffi::base::out::Output for #name {}
    })
}
