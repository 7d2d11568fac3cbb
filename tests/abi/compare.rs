//! Finds changes that break clients of the previous headers.
//!
//! The stable tier may only get additions: fields at the end of versioned structs and of elements with a stride, values
//! of enums, and functions. Experimental functions, and types that only they use, may change.

use std::collections::BTreeSet;

use hobgoblin_tests::api::{Api, Enum, Function, Parameter, Struct, Type};
use hobgoblin_tests::layouts::Headers;

/// One message for each change that breaks a client of `previous`.
pub fn incompatible_changes(previous: &Headers, current: &Headers) -> Vec<String> {
    let mut found = Vec::new();
    for function in previous.api.functions.iter().filter(|function| !function.is_experimental) {
        compare_function(function, &current.api, &mut found);
    }
    let stable = stable_types(&previous.api);
    for one in previous.api.structs.iter().filter(|one| stable.contains(&one.name)) {
        compare_struct(one, previous, current, &mut found);
    }
    for one in previous.api.enums.iter().filter(|one| stable.contains(&one.name)) {
        compare_enum(one, &current.api, &mut found);
    }
    for name in previous.api.handles.iter().filter(|name| stable.contains(*name)) {
        if !current.api.handles.contains(name) {
            found.push(format!("{name} is no opaque type any more"));
        }
    }
    for (name, of) in previous.api.aliases.iter().filter(|(name, _)| stable.contains(*name)) {
        if current.api.aliases.get(name).is_none_or(|now| !is_same(of, now)) {
            found.push(format!("{name} is another type"));
        }
    }
    let versions = |name: &str| name.starts_with("HOB_VERSION") || name == "HOB_ABI_VERSION";
    for (name, value) in previous.api.constants.iter().filter(|(name, _)| !versions(name)) {
        match current.api.constants.get(name) {
            Some(now) if now == value => {}
            Some(now) => found.push(format!("{name} was {value} and is {now}")),
            None => found.push(format!("{name} was removed")),
        }
    }
    found
}

/// Names of all types that stable functions use, directly or indirectly.
fn stable_types(api: &Api) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut open = Vec::new();
    for function in api.functions.iter().filter(|function| !function.is_experimental) {
        names(&function.result, &mut open);
        function.parameters.iter().for_each(|parameter| names(&parameter.of, &mut open));
    }
    while let Some(name) = open.pop() {
        if !reached.insert(name.clone()) {
            continue;
        }
        if let Some(one) = api.find_struct(&name) {
            one.fields.iter().for_each(|field| names(&field.of, &mut open));
        }
        if let Some(of) = api.aliases.get(&name) {
            names(of, &mut open);
        }
    }
    // If hosts can add values to an enum, the parameter is an integer and only its doc names the enum.
    reached.extend(api.enums.iter().map(|one| one.name.clone()));
    reached
}

fn names(of: &Type, into: &mut Vec<String>) {
    into.push(of.base.clone());
    for parameter in of.callback.iter().flatten() {
        names(&parameter.of, into);
    }
}

/// Whether two types are the same. The names of a callback's parameters do not matter.
fn is_same(one: &Type, other: &Type) -> bool {
    (&one.base, one.is_const, one.pointers) == (&other.base, other.is_const, other.pointers)
        && match (&one.callback, &other.callback) {
            (None, None) => true,
            (Some(one), Some(other)) => are_same(one, other),
            _ => false,
        }
}

fn are_same(one: &[Parameter], other: &[Parameter]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(&one.of, &other.of))
}

fn compare_function(function: &Function, current: &Api, found: &mut Vec<String>) {
    let name = &function.name;
    let Some(now) = current.find_function(name) else {
        found.push(format!("{name} was removed"));
        return;
    };
    if now.is_experimental {
        found.push(format!("{name} was stable and is experimental"));
    }
    if !is_same(&function.result, &now.result) {
        found.push(format!("{name} returns another type"));
    }
    if !are_same(&function.parameters, &now.parameters) {
        found.push(format!("{name} has other parameters"));
    } else if are_swapped(&function.parameters, &now.parameters) {
        found.push(format!("{name} has its parameters in another order"));
    }
}

/// Whether the same names are in another order. Compilers do not report swapped parameters of one type.
fn are_swapped(one: &[Parameter], other: &[Parameter]) -> bool {
    let names = |list: &[Parameter]| list.iter().map(|parameter| parameter.name.clone()).collect::<Vec<_>>();
    let (before, after) = (names(one), names(other));
    before != after && before.iter().collect::<BTreeSet<_>>() == after.iter().collect::<BTreeSet<_>>()
}

fn compare_struct(one: &Struct, previous: &Headers, current: &Headers, found: &mut Vec<String>) {
    let name = &one.name;
    let Some(now) = current.api.find_struct(name) else {
        found.push(format!("{name} was removed"));
        return;
    };
    let (before, after) = (&previous.layouts[name], &current.layouts[name]);
    for (index, field) in one.fields.iter().enumerate() {
        let is_it = now.fields.get(index).is_some_and(|now| now.name == field.name);
        if !is_it {
            found.push(format!("{name}.{} was removed, renamed or moved", field.name));
            return;
        }
        let kept = &now.fields[index];
        if !is_same(&field.of, &kept.of) || field.array != kept.array {
            found.push(format!("{name}.{} has another type", field.name));
        } else if before.fields[index] != after.fields[index] {
            let ((offset, size), (new_offset, new_size)) = (before.fields[index], after.fields[index]);
            found.push(format!(
                "{name}.{} was {size} bytes at {offset} and is {new_size} bytes at {new_offset}",
                field.name
            ));
        }
    }
    let appended = &now.fields[one.fields.len()..];
    if let Some(field) = appended.first()
        && after.fields[one.fields.len()].0 < before.size
    {
        found
            .push(format!("{name}.{} fills padding that the previous header counts as part of the struct", field.name));
    }
    if appended.is_empty() && before.size != after.size {
        found.push(format!("{name} was {} bytes and is {}", before.size, after.size));
    } else if !appended.is_empty()
        && let Err(why) = can_grow(one, &previous.api)
    {
        found.push(format!("{name} has grown by {}, and {why}", appended[0].name));
    }
}

/// Checks that old and new clients and libraries can find the end of a struct. The error is the reason.
fn can_grow(one: &Struct, api: &Api) -> Result<(), String> {
    let mut uses = Vec::new();
    for function in &api.functions {
        uses_in(&function.parameters, &function.name, &mut uses);
        uses.push((function.result.clone(), false, function.name.clone()));
    }
    for holder in &api.structs {
        for (index, field) in holder.fields.iter().enumerate() {
            let has_stride = holder.fields.get(index + 1).is_some_and(|next| next.name.ends_with("stride"));
            let place = format!("{}.{}", holder.name, field.name);
            uses.push((field.of.clone(), has_stride, place.clone()));
            uses_in(field.of.callback.as_deref().unwrap_or_default(), &place, &mut uses);
        }
    }
    for (of, has_stride, place) in uses.iter().filter(|(of, ..)| of.base == one.name) {
        if of.pointers == 0 {
            return Err(format!("{place} has it by value"));
        }
        if !one.is_versioned() && !has_stride {
            return Err(format!("{place} has neither its struct_size nor a stride"));
        }
    }
    Ok(())
}

/// The types of parameters, and whether a stride follows.
fn uses_in(parameters: &[Parameter], place: &str, uses: &mut Vec<(Type, bool, String)>) {
    for (index, parameter) in parameters.iter().enumerate() {
        let has_stride = parameters.get(index + 1).is_some_and(|next| next.name.ends_with("stride"));
        uses.push((parameter.of.clone(), has_stride, place.to_owned()));
        uses_in(parameter.of.callback.as_deref().unwrap_or_default(), place, uses);
    }
}

fn compare_enum(one: &Enum, current: &Api, found: &mut Vec<String>) {
    let Some(now) = current.find_enum(&one.name) else {
        found.push(format!("{} was removed", one.name));
        return;
    };
    for (name, value) in &one.values {
        match now.values.iter().find(|(now, _)| now == name) {
            Some((_, now)) if now == value => {}
            Some((_, now)) => found.push(format!("{name} was {value} and is {now}")),
            None => found.push(format!("{name} was removed")),
        }
    }
}
