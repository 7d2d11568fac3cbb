//! `#[opaque]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Ident, ItemStruct, LitByteStr, LitStr, Path, Result, Token, Type};

struct Arguments {
    value: Type,
    tag: LitByteStr,
    published: Option<Type>,
    after: Option<Path>,
    busy: Option<LitStr>,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let value = input.parse()?;
        let (mut tag, mut published, mut after, mut busy) = (None, None, None, None);
        while input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
            let label: Ident = input.parse()?;
            input.parse::<Token![=]>()?;
            match label.to_string().as_str() {
                "tag" => tag = Some(input.parse()?),
                "published" => published = Some(input.parse()?),
                "after" => after = Some(input.parse()?),
                "busy" => busy = Some(input.parse()?),
                _ => return Err(syn::Error::new(label.span(), "expected tag, published, after or busy")),
            }
        }
        let tag = tag.ok_or_else(|| input.error("expected `tag = b\"eightchr\"`"))?;
        Ok(Self { value, tag, published, after, busy })
    }
}

pub fn expand(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let Arguments { value, tag, published, after, busy } = syn::parse2(attribute)?;
    let item: ItemStruct = syn::parse2(item)?;
    let name = &item.ident;
    let text = name.to_string();
    let published = published.map_or(quote! { () }, |published| quote! { #published });
    let busy = busy.map(|busy| quote! { const BUSY: Option<&'static str> = Some(#busy); });
    let after = after.map(|after| {
        quote! {
            fn after(held: &crate::ffi::base::handle::Held<'_, Self::Value>) {
                #after(held);
            }
        }
    });
    Ok(quote! {
        #item

        impl crate::ffi::base::handle::Opaque for #name {
            type Value = #value;
            type Published = #published;
            const NAME: &'static str = #text;
            const TAG: [u8; 8] = *#tag;
            #busy
            #after
        }

        // SAFETY: a handle is read only through its gate.
        unsafe impl crate::ffi::base::argument::Argument for #name {
            type Taken<'a> = crate::ffi::base::handle::Handle<'a, #name>;

            unsafe fn take<'a>(pointer: *const Self, what: &'static str) -> crate::base::Result<Self::Taken<'a>> {
                // SAFETY: by the contract of `take`.
                unsafe { crate::ffi::base::handle::Handle::argument(pointer.cast_mut(), what) }
            }
        }
    })
}
