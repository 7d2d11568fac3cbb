//! The public API as data: `abi/hobgoblin-api.json`, for generators of bindings. docs/api-json.md describes the file.
//!
//! [`Document`] is its schema. [`document`] makes one of the headers; a binding's generator reads one from the file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde::{Deserialize, Serialize};

use super::api::{Api, Function, Parameter, Place, Struct, Type};
use super::api_table::{Null, length_of, null, role, threads};
use super::cpp::root;

/// The path of the file in the repository.
pub const PATH: &str = "abi/hobgoblin-api.json";
/// Rises when a reader of an older schema would misread the file.
const SCHEMA: u32 = 1;
const POINTER: usize = 8;
/// Longest line that several values share.
const WIDTH: usize = 120;

/// The file.
#[derive(Serialize, Deserialize)]
pub struct Document {
    pub schema: u32,
    pub library: String,
    pub version: Version,
    pub abi_version: u32,
    /// Size of a pointer and of size_t, for which sizes and offsets hold.
    pub pointer_size: usize,
    pub headers: Vec<Header>,
    pub constants: Vec<Constant>,
    pub enums: Vec<Enum>,
    pub handles: Vec<Handle>,
    pub unions: Vec<Record>,
    pub structs: Vec<Record>,
    pub callbacks: Vec<Callback>,
    pub functions: Vec<Call>,
}

#[derive(Serialize, Deserialize)]
pub struct Version {
    pub text: String,
    pub major: u32,
    pub minor: u32,
    pub patch: u32,
    /// The result of hob_version().
    pub number: u32,
}

#[derive(Serialize, Deserialize)]
pub struct Header {
    pub name: String,
    pub file: String,
    pub summary: String,
}

/// Where a declaration is, and its promise.
#[derive(Serialize, Deserialize, Clone)]
pub struct At {
    pub header: String,
    pub section: String,
    pub stability: Stability,
}

#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Stability {
    Stable,
    Experimental,
}

#[derive(Serialize, Deserialize)]
pub struct Constant {
    pub name: String,
    #[serde(flatten)]
    pub at: At,
    #[serde(rename = "type")]
    pub of: String,
    /// Decimal, as a string: 64 bits do not fit the numbers of every JSON reader.
    pub value: String,
    pub doc: String,
}

#[derive(Serialize, Deserialize)]
pub struct Enum {
    pub name: String,
    #[serde(flatten)]
    pub at: At,
    #[serde(rename = "type")]
    pub of: String,
    pub values: Vec<Value>,
    pub doc: String,
}

#[derive(Serialize, Deserialize)]
pub struct Value {
    pub name: String,
    pub value: u32,
    pub doc: String,
}

#[derive(Serialize, Deserialize)]
pub struct Handle {
    pub name: String,
    #[serde(flatten)]
    pub at: At,
    pub doc: String,
}

/// A struct or a union.
#[derive(Serialize, Deserialize)]
pub struct Record {
    pub name: String,
    #[serde(flatten)]
    pub at: At,
    pub size: usize,
    pub alignment: usize,
    /// Whether the first field is struct_size.
    pub versioned: bool,
    /// Name of the function that sets the defaults.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub init: Option<String>,
    pub fields: Vec<Field>,
    pub doc: String,
}

#[derive(Serialize, Deserialize)]
pub struct Field {
    pub name: String,
    #[serde(rename = "type")]
    pub of: Shape,
    pub offset: usize,
    pub size: usize,
    /// The field is a stride: the struct's initialiser in C sets it to the size of this type.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stride_of: Option<String>,
    pub doc: String,
}

/// A type.
#[derive(Serialize, Deserialize, Clone)]
pub struct Shape {
    /// As in C, without a declared name.
    pub c: String,
    pub kind: Kind,
    /// Name of the type without pointers; for a callback, its name in `callbacks`.
    pub name: String,
    /// Levels of pointers.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub pointers: usize,
    /// Whether the innermost pointee is const.
    #[serde(rename = "const", skip_serializing_if = "is_false", default)]
    pub is_const: bool,
    /// Number of elements of an array.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub array: Option<usize>,
}

#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Void,
    Char,
    Integer,
    Real,
    Enum,
    Handle,
    Struct,
    Union,
    Callback,
}

#[derive(Serialize, Deserialize)]
pub struct Callback {
    pub name: String,
    /// `struct.field`, or `function.parameter`; for a parameter of a callback `callback.parameter`.
    pub of: String,
    #[serde(flatten)]
    pub at: At,
    pub parameters: Vec<Argument>,
    pub result: Shape,
    pub doc: String,
}

#[derive(Serialize, Deserialize)]
pub struct Call {
    pub name: String,
    #[serde(flatten)]
    pub at: At,
    pub threads: Threads,
    pub must_use: bool,
    pub parameters: Vec<Argument>,
    pub result: Shape,
    pub doc: String,
}

/// Which calls on one handle may run at the same time.
#[derive(Serialize, Deserialize)]
pub struct Threads {
    /// `any`, `shared`, `exclusive`, or `alone`: see `text`.
    pub rule: String,
    pub text: String,
}

/// A parameter.
#[derive(Serialize, Deserialize)]
pub struct Argument {
    pub name: String,
    #[serde(rename = "type")]
    pub of: Shape,
    /// When a pointer may be NULL; only for functions.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub null: Option<String>,
    /// The parameter is the length or the stride of this other parameter.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub capacity_of: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub count_of: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub size_of: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stride_of: Option<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl Document {
    /// Reads the checked-in file.
    pub fn read() -> Self {
        let path = root().join(PATH);
        let text = fs::read_to_string(&path).unwrap_or_else(|why| panic!("cannot read {}: {why}", path.display()));
        Self::parse(&text)
    }

    pub fn parse(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_else(|why| panic!("{PATH} does not follow its schema: {why}"))
    }

    /// The bytes of the file. A value that fits into a line is on one line.
    pub fn text(&self) -> String {
        let pretty = serde_json::to_string_pretty(self).expect("all of it can be written as JSON");
        let (mut lines, mut starts): (Vec<String>, Vec<usize>) = (Vec::new(), Vec::new());
        for line in pretty.lines() {
            if line.ends_with(['{', '[']) {
                starts.push(lines.len());
            }
            lines.push(line.to_owned());
            if line.trim_start().starts_with(['}', ']']) {
                let start = starts.pop().expect("JSON is balanced");
                let inner: Vec<&str> = lines[start + 1..].iter().map(|line| line.trim_start()).collect();
                let joined = format!("{} {}", lines[start], inner.join(" "));
                if joined.len() <= WIDTH {
                    lines.truncate(start);
                    lines.push(joined);
                }
            }
        }
        lines.join("\n") + "\n"
    }

    pub fn find_struct(&self, name: &str) -> Option<&Record> {
        self.structs.iter().chain(&self.unions).find(|one| one.name == name)
    }
}

/// Describes the headers.
pub fn document(api: &Api) -> Document {
    Builder { api, callbacks: Vec::new() }.document()
}

struct Builder<'a> {
    api: &'a Api,
    callbacks: Vec<Callback>,
}

impl Builder<'_> {
    fn document(mut self) -> Document {
        let api = self.api;
        let constants = api.macros.iter().map(|one| Constant {
            name: one.name.clone(),
            at: at(&one.place, one.place.is_experimental()),
            of: if one.value > u64::from(u32::MAX) { "uint64_t" } else { "uint32_t" }.to_owned(),
            value: one.value.to_string(),
            doc: one.doc.clone(),
        });
        let constants = constants.collect();
        let handles = api.handle_docs.iter().filter(|one| api.is_handle(&one.name)).map(|one| Handle {
            name: one.name.clone(),
            at: at(&one.place, one.place.is_experimental()),
            doc: one.doc.clone(),
        });
        let handles = handles.collect();
        let (unions, structs): (Vec<_>, Vec<_>) = api.structs.iter().partition(|one| one.is_union);
        let unions = unions.into_iter().map(|one| self.record(one)).collect();
        let structs = structs.into_iter().map(|one| self.record(one)).collect();
        let functions = api.functions.iter().map(|one| self.function(one)).collect();
        let names: BTreeSet<&str> = self.callbacks.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names.len(), self.callbacks.len(), "two callbacks have the same name");
        Document {
            schema: SCHEMA,
            library: "hobgoblin".to_owned(),
            version: version(api),
            abi_version: u32::try_from(api.constants["HOB_ABI_VERSION"]).expect("it is small"),
            pointer_size: POINTER,
            headers: headers(api),
            constants,
            enums: enums(api),
            handles,
            unions,
            structs,
            callbacks: self.callbacks,
            functions,
        }
    }

    fn record(&mut self, one: &Struct) -> Record {
        let at = at(&one.place, one.place.is_experimental());
        let (mut size, mut alignment, mut fields) = (0, 1, Vec::new());
        for field in &one.fields {
            let place = format!("{}.{}", one.name, field.name);
            let (field_size, field_alignment) = layout(self.api, &field.of, field.array);
            let offset = if one.is_union { 0 } else { up_to(size, field_alignment) };
            size = size.max(offset + field_size);
            alignment = alignment.max(field_alignment);
            let of = Shape { array: field.array, ..self.shape(&field.of, &place, &at, &field.doc) };
            let (name, doc, stride_of) = (field.name.clone(), field.doc.clone(), field.stride_of.clone());
            fields.push(Field { name, of, offset, size: field_size, stride_of, doc });
        }
        let init = format!("{}_init", one.name);
        Record {
            name: one.name.clone(),
            at,
            size: up_to(size, alignment),
            alignment,
            versioned: one.is_versioned(),
            init: self.api.find_function(&init).map(|_| init),
            fields,
            doc: one.doc.clone(),
        }
    }

    fn function(&mut self, one: &Function) -> Call {
        let at = at(&one.place, one.is_experimental);
        let mut parameters = self.arguments(&one.parameters, &one.name, &at, &one.doc);
        for (number, argument) in parameters.iter_mut().enumerate() {
            let parameter = &one.parameters[number];
            let is_pointer = parameter.of.pointers > 0 || parameter.of.callback.is_some();
            argument.null = is_pointer.then(|| null_name(null(one, number)).to_owned());
            let other = usize::try_from(length_of(one, number)).ok();
            let other = other.map(|other| one.parameters[other].name.clone());
            match role(&parameter.of, &parameter.name) {
                "capacity" => argument.capacity_of = other,
                "count" => argument.count_of = other,
                "size" => argument.size_of = other,
                "stride" => argument.stride_of = other,
                _ => {}
            }
        }
        let initialised = one.name.strip_suffix("_init").filter(|_| one.doc.is_empty());
        let (rule, text, doc) = match initialised {
            Some(of) => {
                let doc = format!("Sets the defaults of a {of}.\n`size` is sizeof({of}). Threads: any.");
                ("any", "any.", doc)
            }
            None => (threads(one), one.threads(), one.doc.clone()),
        };
        Call {
            name: one.name.clone(),
            threads: Threads { rule: rule.to_owned(), text: text.split_whitespace().collect::<Vec<_>>().join(" ") },
            must_use: one.is_must_use,
            parameters,
            result: self.shape(&one.result, &format!("{}.result", one.name), &at, ""),
            at,
            doc,
        }
    }

    fn arguments(&mut self, list: &[Parameter], of: &str, at: &At, doc: &str) -> Vec<Argument> {
        let argument = |one: &Parameter| Argument {
            name: one.name.clone(),
            of: self.shape(&one.of, &format!("{of}.{}", one.name), at, doc),
            null: None,
            capacity_of: None,
            count_of: None,
            size_of: None,
            stride_of: None,
        };
        list.iter().map(argument).collect()
    }

    /// Describes a type. `place` is the declaration that has it, which names a callback.
    fn shape(&mut self, of: &Type, place: &str, at: &At, doc: &str) -> Shape {
        let api = self.api;
        let stars = "*".repeat(of.pointers);
        let base = format!("{}{}", if of.is_const { "const " } else { "" }, of.base);
        let plain = if of.pointers > 0 { format!("{base} {stars}") } else { base };
        let Some(parameters) = &of.callback else {
            let (name, pointers, is_const) = (of.base.clone(), of.pointers, of.is_const);
            return Shape { c: plain, kind: kind(api, &of.base), name, pointers, is_const, array: None };
        };
        let name = format!("{}_fn", place.trim_end_matches("_fn").replace('.', "_"));
        let index = self.callbacks.len();
        let result = Type { callback: None, ..of.clone() };
        let result = self.shape(&result, "", at, "");
        let callback = Callback {
            name: name.clone(),
            of: place.to_owned(),
            at: at.clone(),
            parameters: self.arguments(parameters, &name, at, ""),
            result,
            doc: doc.to_owned(),
        };
        // Before the callbacks among its parameters.
        self.callbacks.insert(index, callback);
        let types: Vec<String> = self.callbacks[index].parameters.iter().map(declaration).collect();
        let types = if types.is_empty() { "void".to_owned() } else { types.join(", ") };
        let c = format!("{plain}{}(*)({types})", if of.pointers > 0 { "" } else { " " });
        Shape { c, kind: Kind::Callback, name, pointers: 0, is_const: false, array: None }
    }
}

/// A parameter in C.
pub fn declaration(one: &Argument) -> String {
    let (c, name) = (&one.of.c, &one.name);
    match one.of.kind {
        Kind::Callback => c.replacen("(*)", &format!("(*{name})"), 1),
        _ if one.of.pointers > 0 => format!("{c}{name}"),
        _ => format!("{c} {name}"),
    }
}

fn at(place: &Place, is_experimental: bool) -> At {
    let section = place.section.trim_start_matches("Experimental:").trim().to_owned();
    let stability = if is_experimental { Stability::Experimental } else { Stability::Stable };
    At { header: place.header.clone(), section, stability }
}

/// The headers in the order in which hobgoblin.h includes them.
fn headers(api: &Api) -> Vec<Header> {
    let path = root().join("include/hobgoblin/hobgoblin.h");
    let text = fs::read_to_string(&path).unwrap_or_else(|why| panic!("cannot read {}: {why}", path.display()));
    let names = text.lines().filter_map(|line| line.strip_prefix("#include \"")?.strip_suffix(".h\""));
    let summaries: BTreeMap<&str, &str> = api.headers.iter().map(|one| (one.0.as_str(), one.1.as_str())).collect();
    let header = |name: &str| Header {
        name: name.to_owned(),
        file: format!("hobgoblin/{name}.h"),
        summary: summaries.get(name).unwrap_or_else(|| panic!("there is no {name}.h")).to_string(),
    };
    names.map(header).collect()
}

fn enums(api: &Api) -> Vec<Enum> {
    let value = |((name, value), doc): (&(String, i64), &String)| Value {
        name: name.clone(),
        value: u32::try_from(*value).unwrap_or_else(|_| panic!("{name} does not fit a uint32_t")),
        doc: doc.clone(),
    };
    let describe = |one: &super::api::Enum| Enum {
        name: one.name.clone(),
        at: at(&one.place, one.place.is_experimental()),
        of: "uint32_t".to_owned(),
        values: one.values.iter().zip(&one.value_docs).map(value).collect(),
        doc: one.doc.clone(),
    };
    api.enums.iter().map(describe).collect()
}

fn version(api: &Api) -> Version {
    let part = |name: &str| u32::try_from(api.constants[&format!("HOB_VERSION_{name}")]).expect("it is small");
    let (major, minor, patch) = (part("MAJOR"), part("MINOR"), part("PATCH"));
    // HOB_MAKE_VERSION.
    let number = major << 22 | minor << 12 | patch;
    Version { text: format!("{major}.{minor}.{patch}"), major, minor, patch, number }
}

fn null_name(rule: Null) -> &'static str {
    match rule {
        Null::Never => "never",
        Null::WhenEmpty => "when_empty",
        Null::Protocol => "asks_for_size",
        Null::WhenSized => "with_buffer",
        Null::Allowed => "allowed",
    }
}

fn kind(api: &Api, base: &str) -> Kind {
    match base {
        "void" => Kind::Void,
        "char" => Kind::Char,
        "double" | "float" => Kind::Real,
        _ if api.is_handle(base) => Kind::Handle,
        _ if api.find_enum(base).is_some() => Kind::Enum,
        _ => match api.find_struct(base) {
            Some(one) if one.is_union => Kind::Union,
            Some(_) => Kind::Struct,
            None => {
                assert!(size_of_number(base) > 0, "the type {base} is unknown: add it to tests/common/api_json.rs");
                Kind::Integer
            }
        },
    }
}

/// The size of a number, 0 for other types. The alignment is the same.
fn size_of_number(name: &str) -> usize {
    match name {
        "char" | "int8_t" | "uint8_t" => 1,
        "int16_t" | "uint16_t" => 2,
        "int32_t" | "uint32_t" | "float" => 4,
        "int64_t" | "uint64_t" | "double" => 8,
        "size_t" | "ptrdiff_t" | "intptr_t" | "uintptr_t" => POINTER,
        _ => 0,
    }
}

fn up_to(size: usize, alignment: usize) -> usize {
    size.next_multiple_of(alignment)
}

/// Size and alignment of a type.
fn layout(api: &Api, of: &Type, array: Option<usize>) -> (usize, usize) {
    let (size, alignment) = if of.pointers > 0 || of.callback.is_some() {
        (POINTER, POINTER)
    } else if api.find_enum(&of.base).is_some() {
        (4, 4)
    } else if let Some(one) = api.find_struct(&of.base) {
        let (mut size, mut alignment) = (0, 1);
        for field in &one.fields {
            let (field_size, field_alignment) = layout(api, &field.of, field.array);
            size = if one.is_union { size.max(field_size) } else { up_to(size, field_alignment) + field_size };
            alignment = alignment.max(field_alignment);
        }
        (up_to(size, alignment), alignment)
    } else {
        let size = size_of_number(&of.base);
        assert!(size > 0, "the size of {of:?} is unknown");
        (size, size)
    };
    (size * array.unwrap_or(1), alignment)
}
