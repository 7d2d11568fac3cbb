//! `#[entry]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, Expr, FnArg, Ident, ItemFn, Pat, Result, ReturnType, Token, Type, parenthesized};

#[derive(Clone, Copy, PartialEq)]
enum Access {
    Any,
    Shared,
    Exclusive,
    Published,
    Handle,
    Destroy,
}

struct Attribute {
    access: Access,
    nullable: Vec<Ident>,
    otherwise: Option<Expr>,
    inside: Option<Expr>,
    quick: Option<Expr>,
    is_coded: bool,
    is_hot: bool,
    has_integers_only: bool,
}

impl Parse for Attribute {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let access: Ident = input.parse()?;
        let access = match access.to_string().as_str() {
            "any" => Access::Any,
            "shared" => Access::Shared,
            "exclusive" => Access::Exclusive,
            "published" => Access::Published,
            "handle" => Access::Handle,
            "destroy" => Access::Destroy,
            _ => {
                let known = "expected any, shared, exclusive, published, handle or destroy";
                return Err(Error::new(access.span(), known));
            }
        };
        let (nullable, otherwise, inside, quick) = Default::default();
        let mut found = Self {
            access,
            nullable,
            otherwise,
            inside,
            quick,
            is_coded: false,
            is_hot: false,
            has_integers_only: false,
        };
        while input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
            let word: Ident = input.parse()?;
            if word == "nullable" {
                let list;
                parenthesized!(list in input);
                found.nullable.extend(Punctuated::<Ident, Token![,]>::parse_terminated(&list)?);
            } else if word == "or" {
                input.parse::<Token![=]>()?;
                found.otherwise = Some(input.parse()?);
            } else if word == "inside" {
                input.parse::<Token![=]>()?;
                found.inside = Some(input.parse()?);
            } else if word == "quick" {
                input.parse::<Token![=]>()?;
                found.quick = Some(input.parse()?);
            } else if word == "coded" {
                found.is_coded = true;
            } else if word == "hot" {
                found.is_hot = true;
            } else if word == "integers" {
                found.has_integers_only = true;
            } else if word != "experimental" {
                return Err(Error::new(
                    word.span(),
                    "expected nullable(…), or = …, inside = …, quick = …, coded, hot, integers or experimental",
                ));
            }
        }
        if found.has_integers_only && !(found.is_hot && matches!(found.access, Access::Exclusive | Access::Shared)) {
            return Err(input.error("integers is for hot calls that are exclusive or shared"));
        }
        Ok(found)
    }
}

/// A parameter of the C function.
struct Parameter {
    name: Ident,
    ty: Type,
}

impl Parameter {
    fn is_named(&self, ending: &str) -> bool {
        self.name.to_string().ends_with(ending)
    }

    fn is(&self, name: &str) -> bool {
        matches!(&self.ty, Type::Path(path) if path.path.is_ident(name))
    }

    fn is_count(&self) -> bool {
        self.is("u32") || self.is("usize")
    }

    /// The type that it points to, and whether the pointer is `*mut`.
    fn pointee(&self) -> Option<(&Type, bool)> {
        match &self.ty {
            Type::Ptr(pointer) => Some((&pointer.elem, pointer.mutability.is_some())),
            _ => None,
        }
    }

    fn points_to(&self, name: &str, mutable: bool) -> bool {
        self.pointee().is_some_and(|(to, is_mutable)| {
            is_mutable == mutable && matches!(to, Type::Path(path) if path.path.is_ident(name))
        })
    }
}

fn parameters(item: &ItemFn) -> Result<Vec<Parameter>> {
    let one = |argument: &FnArg| match argument {
        FnArg::Typed(typed) => match &*typed.pat {
            Pat::Ident(pattern) => Ok(Parameter { name: pattern.ident.clone(), ty: (*typed.ty).clone() }),
            other => Err(Error::new_spanned(other, "name the parameter: the header shows its name")),
        },
        FnArg::Receiver(receiver) => Err(Error::new_spanned(receiver, "a C function has no self")),
    };
    item.sig.inputs.iter().map(one).collect()
}

/// The conversion of the first parameters of `all`, and the number of parameters that it consumed. `None`: the
/// parameter is passed unchanged.
fn convert(all: &[Parameter], nullable: &[Ident]) -> Result<(Option<TokenStream>, usize)> {
    let first = &all[0];
    let name = &first.name;
    let text = name.to_string();
    let is_nullable = nullable.contains(name);
    let count_after = |at: usize| all.get(at).filter(|next| next.is_named("count") && next.is_count());
    let stride = all.get(1).filter(|next| next.is_named("stride") && next.is("usize"));

    if first.points_to("c_void", false) && all.get(1).is_some_and(|next| next.is("usize")) {
        let size = &all[1].name;
        return Ok((Some(quote! { let #name = unsafe { crate::ffi::base::array::bytes(#name, #size, #text) }?; }), 2));
    }
    if first.points_to("c_void", false) {
        return Ok((None, 1));
    }
    if first.points_to("c_char", true) && all.get(2).is_some_and(|next| next.points_to("usize", true)) {
        let (capacity, out_size) = (&all[1].name, &all[2].name);
        return Ok((
            Some(quote! { let #name = unsafe { crate::ffi::base::out::OutBuffer::new(#name, #capacity, #out_size) }; }),
            3,
        ));
    }
    if first.is("hob_str") {
        return Ok((Some(quote! { let #name = unsafe { #name.argument(#text) }; }), 1));
    }
    let Some((to, mutable)) = first.pointee() else { return Ok((None, 1)) };
    if !mutable && (stride.is_some() || count_after(1).is_some()) {
        let at = if stride.is_some() { 2 } else { 1 };
        let Some(count) = count_after(at) else { return Ok((None, 1)) };
        let (stride, count) = (stride.map(|stride| &stride.name), &count.name);
        let stride = stride.map_or(quote! { size_of::<#to>() }, |stride| quote! { #stride });
        return Ok((
            Some(quote! {
                let #name = unsafe {
                    crate::ffi::base::array::Array::<#to>::new(#name, #stride, #count as usize, #text)
                }?;
            }),
            at + 1,
        ));
    }
    if mutable {
        let at = if stride.is_some() { 2 } else { 1 };
        let is_array = all.get(at).is_some_and(|next| next.is("usize") || next.is("u32"))
            && all[at].name == "capacity"
            && all.get(at + 1).is_some_and(|next| next.is_named("count"));
        if is_array {
            let (capacity, out_count) = (&all[at].name, &all[at + 1].name);
            let stride = stride.map_or(quote! { size_of::<#to>() }, |stride| {
                let stride = &stride.name;
                quote! { #stride }
            });
            return Ok((
                Some(quote! {
                    let #name = unsafe {
                        crate::ffi::base::out::OutArray::new(#name, #stride, #capacity as usize, #out_count, #text)
                    }?;
                }),
                at + 2,
            ));
        }
        if !text.starts_with("out_") {
            return Ok((None, 1));
        }
        let make = if is_nullable {
            quote! { optional }
        } else {
            quote! { new }
        };
        return Ok((Some(quote! { let #name = unsafe { crate::ffi::base::out::Out::#make(#name, #text) }?; }), 1));
    }
    let take = quote! { <#to as crate::ffi::base::argument::Argument>::take(#name, #text) };
    let conversion = if is_nullable {
        quote! { let #name = if #name.is_null() { None } else { Some(unsafe { #take }?) }; }
    } else {
        quote! { let #name = unsafe { #take }?; }
    };
    Ok((Some(conversion), 1))
}

pub fn expand(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let Attribute { access, nullable, otherwise, inside, quick, is_coded, is_hot, has_integers_only } =
        syn::parse2(attribute)?;
    let item: ItemFn = syn::parse2(item)?;
    let all = parameters(&item)?;
    if let Some(unknown) = nullable.iter().find(|name| all.iter().all(|parameter| parameter.name != **name)) {
        return Err(Error::new(unknown.span(), "unknown parameter"));
    }
    let has_handle = access != Access::Any;
    let mut conversions = Vec::new();
    let mut at = usize::from(has_handle);
    while at < all.len() {
        let (conversion, used) = convert(&all[at..], &nullable)?;
        conversions.extend(conversion);
        at += used;
    }
    let (body, name, visibility, inputs, output) =
        (&item.block.stmts, &item.sig.ident, &item.vis, &item.sig.inputs, &item.sig.output);
    let (documentation, lints) = (
        item.attrs.iter().filter(|attribute| attribute.path().is_ident("doc")),
        item.attrs.iter().filter(|attribute| !attribute.path().is_ident("doc")),
    );
    let returns_result = matches!(output, ReturnType::Type(_, ty)
        if matches!(&**ty, Type::Path(path) if path.path.is_ident("hob_result")));
    let answer = match output {
        ReturnType::Type(_, ty) if !returns_result || is_coded => quote! { #ty },
        _ => quote! { () },
    };
    // Outside of an `unsafe` block, because the body must be safe.
    let work = quote! {
        #(#conversions)*
        #(#body)*
    };
    let handle = all.first().map(|parameter| &parameter.name);
    let opaque = all.first().and_then(Parameter::pointee).map(|(to, _)| to);
    if has_handle && opaque.is_none() {
        return Err(Error::new_spanned(&item.sig, "the first parameter is not a pointer to a handle"));
    }
    let bound = match access {
        Access::Exclusive => {
            quote! { &crate::ffi::base::handle::Held<'_, <#opaque as crate::ffi::base::handle::Opaque>::Value> }
        }
        Access::Published => quote! { &<#opaque as crate::ffi::base::handle::Opaque>::Published },
        _ => quote! { &<#opaque as crate::ffi::base::handle::Opaque>::Value },
    };
    let text = handle.map(ToString::to_string);
    let with_handle = |how: TokenStream| {
        quote! {
            let body = move |#handle: #bound| -> crate::base::Result<#answer> { #work };
            // SAFETY: the header's contract: the handle is NULL, or was created and not yet freed and reused.
            let called = unsafe { crate::ffi::base::handle::#how(#handle, #text, body) };
        }
    };
    let call = match access {
        Access::Any => {
            quote! { let called = crate::ffi::base::guard::catch::<#is_hot, _, _>(move || -> crate::base::Result<#answer> { #work }); }
        }
        Access::Handle | Access::Destroy => {
            let (null, keep, work) = if access == Access::Destroy {
                let null = quote! { if #handle.is_null() { return; } };
                (Some(null), Some(quote! { let destroyed = #handle; }), quote! { #work destroyed.destroy() })
            } else {
                (None, None, work)
            };
            quote! {
                #null
                let called = crate::ffi::base::guard::catch::<#is_hot, _, _>(move || -> crate::base::Result<#answer> {
                    let #handle = unsafe {
                        crate::ffi::base::handle::Handle::<#opaque>::argument(#handle as *mut #opaque, #text)
                    }?;
                    #keep
                    #work
                });
            }
        }
        Access::Exclusive if inside.is_some() => {
            quote! {
                let inside = move |#handle: &<#opaque as crate::ffi::base::handle::Opaque>::Value|
                    -> crate::base::Result<#answer> { #inside };
                let body = move |#handle: #bound| -> crate::base::Result<#answer> { #work };
                // SAFETY: the header's contract: the handle is NULL, or was created and not yet freed and reused.
                let called = unsafe { crate::ffi::base::handle::exclusive_or(#handle, #text, inside, body) };
            }
        }
        Access::Exclusive if quick.is_some() => {
            quote! {
                let quick = move |#handle: &<#opaque as crate::ffi::base::handle::Opaque>::Value| -> Option<#answer> {
                    // An error is the body's.
                    let quick = move || -> crate::base::Result<Option<#answer>> {
                        #(#conversions)*
                        Ok(#quick)
                    };
                    quick().unwrap_or(None)
                };
                let body = move |#handle: #bound| -> crate::base::Result<#answer> { #work };
                // SAFETY: the header's contract: the handle is NULL, or was created and not yet freed and reused.
                let called = unsafe { crate::ffi::base::handle::exclusive_after(#handle, #text, quick, body) };
            }
        }
        Access::Exclusive => with_handle(quote! { exclusive::<#is_hot, #has_integers_only, _, _, _> }),
        Access::Shared => with_handle(quote! { shared::<#is_hot, #has_integers_only, _, _, _> }),
        Access::Published => with_handle(quote! { published::<#is_hot, _, _, _> }),
    };
    let done = match (returns_result, output) {
        (true, _) if is_coded => quote! { called.unwrap_or_else(|code| code) },
        (true, _) => quote! { crate::ffi::base::guard::code(called) },
        (false, ReturnType::Default) => quote! { let _ = called; },
        (false, _) => {
            let otherwise = otherwise.map_or(quote! { Default::default() }, |value| quote! { #value });
            quote! { called.unwrap_or_else(|_| #otherwise) }
        }
    };
    Ok(quote! {
        #(#documentation)*
        #(#lints)*
        #[unsafe(no_mangle)]
        #[allow(clippy::missing_safety_doc, clippy::not_unsafe_ptr_arg_deref, reason = "C has no unsafe functions")]
        #[allow(clippy::needless_question_mark, clippy::unused_unit, reason = "one form for all")]
        #visibility unsafe extern "C" fn #name(#inputs) #output {
            // Conversions are unsafe and rely on the header's contract: every pointer is NULL or meets its parameter's
            // documentation.
            #call
            #done
        }
    })
}
