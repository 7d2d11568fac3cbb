//! The table of the headers as C++ source, for the programs in `cpp_tests/api/`. `types.h` in that folder documents it.
//!
//! The rules use types and patterns of names, never a single function. So new functions appear in the table without a
//! change here.

use std::fmt::Write as _;

use super::api::{Api, Enum, Field, Function, Parameter, Struct, Type};

/// When a pointer parameter may be NULL, according to the function's doc.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Null {
    Never,
    /// If its size is 0.
    WhenEmpty,
    /// A buffer of the two-call protocol: NULL asks for the size.
    Protocol,
    /// The size of the two-call protocol: may be NULL if there is a buffer.
    WhenSized,
    Allowed,
}

/// The source of `table.h`.
pub fn generate(api: &Api) -> String {
    let mut out = String::from(
        "// The C API as a table. Generated from include/hobgoblin by tests/common/api_table.rs; do not edit.\n\
         #pragma once\n\n#include \"api/types.h\"\n#include \"api/world.h\"\n\nnamespace api {\n\n",
    );
    enums(&mut out, api);
    handles(&mut out, api);
    structs(&mut out, api);
    functions(&mut out, api);
    out + "}  // namespace api\n"
}

fn enums(out: &mut String, api: &Api) {
    for one in &api.enums {
        let values: Vec<String> = one.values.iter().map(|value| value.1.to_string()).collect();
        let _ = writeln!(out, "inline constexpr int64_t {}_values[] = {{{}}};", one.name, values.join(", "));
    }
    out.push_str("inline constexpr Enum enums[] = {\n");
    for one in &api.enums {
        let _ = writeln!(out, "    {{\"{0}\", {0}_values, {1}, {2}}},", one.name, one.values.len(), open_from(one));
    }
    out.push_str("};\n\n");
}

/// The first number that is free for the host's own values. -1: the enum has no such range.
fn open_from(one: &Enum) -> i64 {
    one.values.iter().find(|value| value.0.ends_with("_USER")).map_or(-1, |value| value.1)
}

fn handles(out: &mut String, api: &Api) {
    out.push_str("inline const Handle handles[] = {\n");
    for name in &api.handles {
        let exclusive = api.functions.iter().any(|function| {
            !function.name.ends_with("_destroy")
                && function
                    .parameters
                    .iter()
                    .any(|one| one.of.base == *name && one.of.pointers == 1 && !one.of.is_const)
        });
        let last_error = match api.find_function(&format!("{name}_last_error")) {
            Some(_) => format!("[](const void* at) {{ return {name}_last_error(static_cast<const {name}*>(at)); }}"),
            None => "nullptr".to_owned(),
        };
        let _ = writeln!(
            out,
            "    {{\"{name}\", {exclusive}, [](void* at) {{ {name}_destroy(static_cast<{name}*>(at)); }},\n     {last_error},\n     \
             [](World& world) -> void* {{ return world.make(Of<{name}>()); }},\n     \
             [](World& world, void* at) {{ return world.poison(static_cast<{name}*>(at)); }},\n     \
             [](World& world, void* at, void (*run)(void*), void* data) {{ return world.inside(static_cast<{name}*>(at), run, data); }}}},"
        );
    }
    out.push_str("};\n\n");
}

fn structs(out: &mut String, api: &Api) {
    for one in &api.structs {
        let _ = writeln!(out, "inline const Field {}_fields[] = {{", one.name);
        for field in &one.fields {
            field_line(out, api, one, field);
        }
        out.push_str("};\n");
    }
    out.push_str("inline const Struct structs[] = {\n");
    for one in &api.structs {
        let name = &one.name;
        let given = api.functions.iter().flat_map(|function| &function.parameters);
        let mut given = given.filter(|it| it.of.base == *name);
        let is_given = given.any(|it| it.of.pointers == 0 || it.of.is_const && it.of.pointers == 1);
        let fill = if is_given && name != "hob_str" {
            format!("[](World& world, void* at) {{ world.fill(*static_cast<{name}*>(at)); }}")
        } else {
            "nullptr".to_owned()
        };
        let init = match api.find_function(&format!("{name}_init")) {
            Some(_) => format!("[](void* at, uint32_t size) {{ return {name}_init(static_cast<{name}*>(at), size); }}"),
            None => "nullptr".to_owned(),
        };
        let _ = writeln!(
            out,
            "    {{\"{name}\", sizeof({name}), {}, {}, {}, {name}_fields, {}, {init},\n     {fill},\n     \
             [](World& world, void* at) {{ world.done(*static_cast<{name}*>(at)); }}}},",
            one.is_versioned(),
            one.is_id(),
            keeps_state(one),
            one.fields.len()
        );
    }
    out.push_str("};\n\n");
}

/// Whether the library keeps state in the struct between calls, which must be released.
fn keeps_state(one: &Struct) -> bool {
    one.fields.iter().any(|field| field.of.base == "void" && field.doc.contains("library's"))
}

fn field_line(out: &mut String, api: &Api, of: &Struct, field: &Field) {
    let name = &field.name;
    let kind = kind(api, &field.of, name, &of.at);
    let as_enum = enum_of(api, &field.of, &field.doc, name);
    let kind = if as_enum.is_some() && kind == "integer" { "enumeration" } else { kind };
    let role = role(&field.of, name);
    let _ = writeln!(
        out,
        "    {{\"{name}\", offsetof({0}, {name}), sizeof({0}::{name}), {1}, Kind::{kind}, {2}, Role::{role}}},",
        of.name,
        field.array.unwrap_or(1),
        as_enum.unwrap_or_else(|| index(api, &field.of, name))
    );
}

fn functions(out: &mut String, api: &Api) {
    for function in &api.functions {
        if function.parameters.is_empty() {
            continue;
        }
        let _ = writeln!(out, "inline const Param {}_params[] = {{", function.name);
        for (number, parameter) in function.parameters.iter().enumerate() {
            param_line(out, api, function, number, parameter);
        }
        out.push_str("};\n");
    }
    out.push_str("inline const Function functions[] = {\n");
    for function in &api.functions {
        let (name, count) = (&function.name, function.parameters.len());
        let params = if count > 0 { format!("{name}_params") } else { "nullptr".to_owned() };
        let _ = writeln!(
            out,
            "    {{\"{name}\", \"{}\", Threads::{}, Returns::{}, {params}, {count}, [](const Arg* args) {{ return call({name}, args); }}}},",
            function.at,
            threads(function),
            returns(api, function)
        );
    }
    out.push_str("};\n\n");
}

fn param_line(out: &mut String, api: &Api, function: &Function, number: usize, parameter: &Parameter) {
    let (name, of) = (&parameter.name, &parameter.of);
    assert!(!name.is_empty(), "{}: parameter {number} of {} has no name", function.at, function.name);
    let mut kind = kind(api, of, name, &function.at);
    let as_enum = enum_of(api, of, &function.doc, name);
    if as_enum.is_some() && kind == "integer" {
        kind = "enumeration";
    }
    let role = role(of, name);
    let as_handle = handle_behind_void(api, of, name);
    if as_handle.is_some() {
        kind = "handle";
    } else if kind == "memory" && !of.is_const && !has_length(function, number) {
        kind = "user_data";
    }
    let callback = if of.callback.is_some() {
        format!("nothing<Argument<decltype(&{}), {number}>>()", function.name)
    } else {
        "nullptr".to_owned()
    };
    let _ = writeln!(
        out,
        "    {{\"{name}\", \"{}\", Kind::{kind}, {}, {}, Null::{:?}, sizeof(Pointee<Argument<decltype(&{}), {number}>>), Role::{role}, {}, {callback}}},",
        of.base,
        as_handle.or(as_enum).unwrap_or_else(|| index(api, of, name)),
        of.is_const || as_handle.is_some(),
        null(function, number),
        function.name,
        length_of(function, number)
    );
}

fn kind(api: &Api, of: &Type, name: &str, at: &str) -> &'static str {
    let of = api.aliases.get(&of.base).filter(|_| of.pointers == 0 && of.callback.is_none()).unwrap_or(of);
    let base = of.base.as_str();
    let is_number = is_integer(base) || matches!(base, "double" | "float") || api.find_enum(base).is_some();
    match of.pointers {
        _ if of.callback.is_some() => "callback",
        0 if api.find_enum(base).is_some() => "enumeration",
        0 if is_integer(base) || base == "char" => "integer",
        0 if matches!(base, "double" | "float") => "real",
        0 if base == "hob_str" => "string",
        0 if api.find_struct(base).is_some_and(Struct::is_id) => "id",
        0 if api.find_struct(base).is_some() => "embedded",
        1 if api.is_handle(base) => "handle",
        1 if api.find_struct(base).is_some() => "structure",
        1 if matches!(base, "void" | "char") => "memory",
        1 if is_number => "numbers",
        2 if api.is_handle(base) => "handle_out",
        _ => panic!(
            "{at}: {name} has the type {of:?}, for which tests/common/api_table.rs has no rule: add it to `kind`"
        ),
    }
}

fn is_integer(base: &str) -> bool {
    let fixed = ["int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t"];
    fixed.contains(&base) || ["size_t", "ptrdiff_t", "uintptr_t", "intptr_t"].contains(&base)
}

/// The index of the enum, struct or handle in its table. -1: another type.
fn index(api: &Api, of: &Type, _name: &str) -> i64 {
    let base = &of.base;
    let place = api.structs.iter().position(|one| one.name == *base);
    let place = place.or_else(|| api.enums.iter().position(|one| one.name == *base));
    place.or_else(|| api.handles.iter().position(|one| one == base)).map_or(-1, |place| place as i64)
}

/// The enum of an integer parameter, according to the doc: "`lane` is a hob_lane", "`priority`: a hob_priority".
fn enum_of(api: &Api, of: &Type, doc: &str, name: &str) -> Option<i64> {
    if of.base != "uint32_t" || of.pointers > 0 || of.callback.is_some() {
        return None;
    }
    let doc = doc.replace('\n', " ");
    let says = |one: &Enum| {
        let phrases = [
            format!("`{name}` is a {}", one.name),
            format!("`{name}`: a {}", one.name),
            format!("`{name}` (a {}", one.name),
        ];
        let ends = |at: usize, text: &str| !doc[at + text.len()..].starts_with('_');
        let begins = format!("A {}", one.name);
        phrases.iter().any(|text| doc.find(text.as_str()).is_some_and(|at| ends(at, text)))
            || (doc.starts_with(&begins) && ends(0, &begins))
    };
    api.enums.iter().position(says).map(|place| place as i64)
}

/// The handle behind a `void *`. `void *cache` is a hob_program_cache, because another library requires that signature.
fn handle_behind_void(api: &Api, of: &Type, name: &str) -> Option<i64> {
    if of.base != "void" || of.pointers != 1 {
        return None;
    }
    api.handles.iter().position(|handle| handle.ends_with(&format!("_{name}"))).map(|place| place as i64)
}

pub fn role(of: &Type, name: &str) -> &'static str {
    let of_number = of.pointers == 0 && of.callback.is_none() && is_integer(&of.base);
    let ends = |word: &str| name == word || name.ends_with(&format!("_{word}"));
    match () {
        () if !of_number || name == "struct_size" => "none",
        () if ends("stride") => "stride",
        () if ends("capacity") => "capacity",
        () if ends("size") => "size",
        () if ends("count") => "count",
        () => "none",
    }
}

/// Whether a parameter can be an array.
fn is_array(function: &Function, number: usize) -> bool {
    let of = &function.parameters[number].of;
    of.pointers == 1 && of.callback.is_none() && role_of(function, number + 1, number)
}

/// Whether a parameter from `from` on is the length of this parameter.
fn role_of(function: &Function, from: usize, number: usize) -> bool {
    (from..function.parameters.len()).any(|length| length_of(function, length) == number as i64)
}

fn has_length(function: &Function, number: usize) -> bool {
    is_array(function, number)
}

/// The parameter whose length or stride this parameter is. -1: this parameter is neither a length nor a stride.
pub fn length_of(function: &Function, number: usize) -> i64 {
    let (name, of) = (&function.parameters[number].name, &function.parameters[number].of);
    if role(of, name) == "none" {
        return -1;
    }
    let can_be = |place: &usize| {
        let of = &function.parameters[*place].of;
        of.pointers == 1 && of.callback.is_none()
    };
    let before: Vec<usize> = (0..number).filter(can_be).collect();
    let prefix = name.rsplit_once('_').map_or("", |(prefix, _)| prefix);
    let fits = |place: &&usize| {
        let name = function.parameters[**place].name.trim_start_matches("out_");
        !prefix.is_empty() && (name == prefix || name.trim_end_matches('s') == prefix)
    };
    before.iter().find(fits).or(before.last()).map_or(-1, |&place| place as i64)
}

pub fn threads(function: &Function) -> &'static str {
    let rule = function.threads();
    match () {
        () if rule.starts_with("any") => "any",
        () if rule.starts_with("shared") => "shared",
        () if rule.starts_with("exclusive") => "exclusive",
        () => "alone",
    }
}

fn returns(api: &Api, function: &Function) -> &'static str {
    let of = &function.result;
    match (of.base.as_str(), of.pointers) {
        ("hob_result", 0) => "result",
        ("void", 0) => "nothing",
        ("char", 1) => "text",
        ("double" | "float", 0) => "real",
        (base, 0) if is_integer(base) || api.find_enum(base).is_some() => "number",
        _ => panic!("{}: {} returns {of:?}: add a rule for that type", function.at, function.name),
    }
}

/// When a parameter may be NULL. The doc must contain the word NULL: after the parameter's name in the same sentence,
/// or right before it. It may stand alone if only one parameter can be meant.
pub fn null(function: &Function, number: usize) -> Null {
    let parameter = &function.parameters[number];
    let is_pointer = |one: &Parameter| one.of.pointers > 0 || one.of.callback.is_some();
    if !is_pointer(parameter) || parameter.name == "user_data" {
        return Null::Allowed;
    }
    // The two-call protocol.
    let has_capacity = |place: &usize| {
        role(&function.parameters[*place].of, &function.parameters[*place].name) == "capacity"
            && length_of(function, *place) == number as i64
    };
    if (number + 1..function.parameters.len()).any(|place| has_capacity(&place)) {
        return Null::Protocol;
    }
    let doc = function.prose();
    let names: Vec<&str> = function.parameters.iter().map(|one| one.name.as_str()).collect();
    // The words in backticks in a text.
    let words = |text: &str| {
        text.split('`').skip(1).step_by(2).map(|word| word.trim_start_matches('*').to_owned()).collect::<Vec<String>>()
    };
    let mut previous = Vec::new();
    for sentence in doc.split(". ") {
        let before_it = std::mem::replace(&mut previous, words(sentence));
        for (at, _) in sentence.match_indices("NULL") {
            let (before, after) = (&sentence[..at], &sentence[at + 4..]);
            if after.starts_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '_') {
                continue;
            }
            let next = after.trim_start().strip_prefix('`').and_then(|rest| rest.split('`').next());
            let several = ["either", "both", "Either", "Both"].iter().any(|word| before.contains(word));
            let earlier = match words(before) {
                none if none.is_empty() && several => before_it.clone(),
                found => found,
            };
            let pointers: Vec<&Parameter> = function.parameters.iter().filter(|one| is_pointer(one)).collect();
            let is_meant = match next {
                Some(next) if names.contains(&next) => next == parameter.name,
                _ if several => earlier.contains(&parameter.name),
                _ if !earlier.is_empty() => earlier.last() == Some(&parameter.name),
                // Without a name, NULL refers to the only pointer, or to the only one after the handle.
                _ => {
                    pointers.iter().skip(usize::from(pointers.len() > 1)).any(|one| one.name == parameter.name)
                        && pointers.len() <= 2
                }
            };
            if is_meant {
                let is_empty = (after.starts_with(" when") || after.starts_with(" if")) && after.contains(" is 0");
                return match () {
                    () if is_empty => Null::WhenEmpty,
                    () if after.starts_with(" where `") => Null::WhenSized,
                    () => Null::Allowed,
                };
            }
        }
    }
    let before = number.checked_sub(1).map(|before| &function.parameters[before]);
    if parameter.name.starts_with("out_") && before.is_some_and(|before| role(&before.of, &before.name) == "capacity") {
        return Null::WhenSized;
    }
    Null::Never
}
