//! Generates the raw C# layer, `bindings/csharp/Native/`, of `abi/hobgoblin-api.json` alone.
//!
//! Names are those of C. A pointer is a pointer, a callback is an IntPtr with a delegate type beside it, and every
//! struct is blittable. The hand-written layer above it is in `bindings/csharp/`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::api_json::{Argument, Callback, Document, Kind, Record, Shape, Stability};

/// The folder in the repository.
pub const FOLDER: &str = "bindings/csharp/Native";

/// The files of the layer, by name: one for each header.
pub fn generate(document: &Document) -> BTreeMap<String, String> {
    let files = document.headers.iter().map(|header| {
        let mut file = File { document, header: &header.name, out: String::new() };
        file.write(&header.summary);
        (format!("{}.cs", header.name), file.out)
    });
    files.collect()
}

struct File<'a> {
    document: &'a Document,
    header: &'a str,
    out: String,
}

impl File<'_> {
    fn write(&mut self, summary: &str) {
        let header = self.header;
        let _ = writeln!(
            self.out,
            "// hobgoblin/{header}.h: {summary}\n// Generated from abi/hobgoblin-api.json; do not edit. MIT OR Apache-2.0.\n\n\
             using System;\nusing System.Runtime.InteropServices;\n\nnamespace Hobgoblin.Interop\n{{"
        );
        self.constants();
        self.enums();
        self.handles();
        let document = self.document;
        for one in document.unions.iter().filter(|one| one.at.header == header) {
            self.record(one, true);
        }
        for one in document.structs.iter().filter(|one| one.at.header == header) {
            self.record(one, false);
        }
        for one in document.callbacks.iter().filter(|one| one.at.header == header) {
            self.callback(one);
        }
        self.functions();
        self.out = self.out.trim_end().to_owned() + "\n}\n";
    }

    fn constants(&mut self) {
        let (document, header) = (self.document, self.header);
        let here: Vec<_> = document.constants.iter().filter(|one| one.at.header == header).collect();
        let is_base = document.headers.first().is_some_and(|first| first.name == header);
        if here.is_empty() && !is_base {
            return;
        }
        self.line(4, "/// <summary>The numeric macros of the headers.</summary>");
        self.line(4, "public static partial class Constants\n    {");
        if is_base {
            self.line(8, "/// <summary>The version of the headers, as hob_version() returns it.</summary>");
            self.line(8, &format!("public const uint HOB_VERSION = {};\n", document.version.number));
        }
        for one in here {
            let (of, suffix) = if one.of == "uint64_t" { ("ulong", "UL") } else { ("uint", "") };
            let doc = if one.doc.is_empty() { "Part of HOB_VERSION." } else { &one.doc };
            self.doc(8, doc, one.at.stability);
            self.line(8, &format!("public const {of} {} = {}{suffix};\n", one.name, one.value));
        }
        self.end(4);
    }

    fn enums(&mut self) {
        let (document, header) = (self.document, self.header);
        for one in document.enums.iter().filter(|one| one.at.header == header) {
            self.doc(4, &one.doc, one.at.stability);
            self.line(4, &format!("public enum {} : uint\n    {{", one.name));
            for value in &one.values {
                self.doc(8, &value.doc, Stability::Stable);
                self.line(8, &format!("{} = {},\n", value.name, value.value));
            }
            self.end(4);
        }
    }

    fn handles(&mut self) {
        let (document, header) = (self.document, self.header);
        for one in document.handles.iter().filter(|one| one.at.header == header) {
            self.doc(4, &one.doc, one.at.stability);
            self.line(4, &format!("public struct {}\n    {{\n    }}\n", one.name));
        }
    }

    fn record(&mut self, one: &Record, is_union: bool) {
        self.doc(4, &one.doc, one.at.stability);
        let layout = if is_union { "Explicit" } else { "Sequential" };
        self.line(4, &format!("[StructLayout(LayoutKind.{layout})]\n    public unsafe struct {}\n    {{", one.name));
        for field in &one.fields {
            let name = identifier(&field.name);
            let of = type_name(&field.of);
            let declared = match (field.of.array, field.of.kind) {
                (None, _) => vec![format!("public {of} {name};")],
                (Some(length), Kind::Integer | Kind::Real | Kind::Char) if field.of.pointers == 0 => {
                    vec![format!("public fixed {of} {name}[{length}];")]
                }
                (Some(length), _) => (0..length).map(|index| format!("public {of} {}_{index};", field.name)).collect(),
            };
            for (index, line) in declared.iter().enumerate() {
                if index == 0 {
                    self.doc(8, &field.doc, Stability::Stable);
                } else {
                    self.line(8, &format!("/// <summary>Element {index} of {}.</summary>", field.name));
                }
                if is_union {
                    self.line(8, &format!("[FieldOffset({})]", field.offset));
                }
                self.line(8, &format!("{line}\n"));
            }
        }
        self.end(4);
    }

    fn callback(&mut self, one: &Callback) {
        self.line(4, &format!("/// <summary>The type of {}, whose C type is a pointer to it.</summary>", one.of));
        self.line(4, "[UnmanagedFunctionPointer(CallingConvention.Cdecl)]");
        let result = type_name(&one.result);
        self.line(4, &format!("public unsafe delegate {result} {}({});\n", one.name, arguments(&one.parameters)));
    }

    fn functions(&mut self) {
        let (document, header) = (self.document, self.header);
        let is_base = document.headers.first().is_some_and(|first| first.name == header);
        self.line(4, "/// <summary>The functions of the library.</summary>");
        self.line(4, "public static unsafe partial class Native\n    {");
        if is_base {
            let name = &document.library;
            let _ = write!(
                self.out,
                "#if (UNITY_IOS || UNITY_TVOS || UNITY_WEBGL) && !UNITY_EDITOR\n        \
                 /// <summary>The library is linked into the program.</summary>\n        \
                 public const string Library = \"__Internal\";\n#else\n        \
                 /// <summary>Name of the library, without a prefix and an extension.</summary>\n        \
                 public const string Library = \"{name}\";\n#endif\n\n"
            );
        }
        for one in document.functions.iter().filter(|one| one.at.header == header) {
            self.doc(8, &one.doc, one.at.stability);
            self.line(8, "[DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]");
            let (result, list) = (type_name(&one.result), arguments(&one.parameters));
            self.line(8, &format!("public static extern {result} {}({list});\n", one.name));
        }
        self.end(4);
    }

    fn line(&mut self, indent: usize, text: &str) {
        let _ = writeln!(self.out, "{:indent$}{text}", "");
    }

    /// Ends a block: without an empty line after its last member.
    fn end(&mut self, indent: usize) {
        let length = self.out.trim_end().len();
        self.out.truncate(length);
        let _ = writeln!(self.out, "\n{:indent$}}}\n", "");
    }

    /// Writes a doc comment in XML.
    fn doc(&mut self, indent: usize, doc: &str, stability: Stability) {
        for line in xml(doc, stability) {
            self.line(indent, format!("/// {line}").trim_end());
        }
    }
}

/// The lines of a doc comment: a summary of its first sentences, then remarks.
fn xml(doc: &str, stability: Stability) -> Vec<String> {
    let lines: Vec<&str> = doc.lines().collect();
    let is_end = |line: &&str| line.ends_with(['.', ':']) || line.is_empty();
    let count = lines.iter().position(is_end).map_or(lines.len(), |last| last + 1);
    let (summary, rest) = lines.split_at(count);
    let mut is_code = false;
    let mut marked = |line: &str| {
        let escaped = line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let mut parts = escaped.split('`');
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            is_code = !is_code;
            text += if is_code { "<c>" } else { "</c>" };
            text += part;
        }
        text
    };
    let experimental = if stability == Stability::Experimental { "Experimental: " } else { "" };
    let mut out: Vec<String> = summary.iter().map(|line| marked(line)).collect();
    if let Some(first) = out.first_mut() {
        *first = format!("<summary>{experimental}{first}");
    }
    if let Some(last) = out.last_mut() {
        *last += "</summary>";
    }
    let mut remarks: Vec<String> = Vec::new();
    let mut is_example = false;
    for line in rest {
        let example = line.strip_prefix("    ");
        match example {
            Some(code) => {
                if !is_example {
                    remarks.push("<code>".to_owned());
                }
                // A backtick in code is itself.
                remarks.push(code.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"));
                is_example = true;
            }
            None if line.is_empty() && is_example => remarks.push(String::new()),
            None => {
                if is_example {
                    end_code(&mut remarks);
                    is_example = false;
                }
                remarks.push(if line.is_empty() { "<para/>".to_owned() } else { marked(line) });
            }
        }
    }
    if is_example {
        end_code(&mut remarks);
    }
    if remarks.first().is_some_and(|line| line == "<para/>") {
        remarks.remove(0);
    }
    if !remarks.is_empty() {
        out.push("<remarks>".to_owned());
        out.extend(remarks);
        out.push("</remarks>".to_owned());
    }
    out
}

/// Ends an example: the empty lines after it are between it and the next paragraph.
fn end_code(remarks: &mut Vec<String>) {
    while remarks.last().is_some_and(String::is_empty) {
        remarks.pop();
    }
    remarks.push("</code>".to_owned());
}

fn arguments(list: &[Argument]) -> String {
    let argument = |one: &Argument| format!("{} {}", type_name(&one.of), identifier(&one.name));
    list.iter().map(argument).collect::<Vec<_>>().join(", ")
}

/// The C# type of a value, or of an element of an array.
pub fn type_name(of: &Shape) -> String {
    let base = match (of.kind, of.name.as_str()) {
        (Kind::Callback, _) => "IntPtr",
        (Kind::Void, _) => "void",
        (Kind::Char, _) | (_, "uint8_t") => "byte",
        (_, "int8_t") => "sbyte",
        (_, "uint16_t") => "ushort",
        (_, "int16_t") => "short",
        (_, "uint32_t") => "uint",
        (_, "int32_t") => "int",
        (_, "uint64_t") => "ulong",
        (_, "int64_t") => "long",
        (_, "size_t" | "uintptr_t") => "UIntPtr",
        (_, "ptrdiff_t" | "intptr_t") => "IntPtr",
        (Kind::Integer, other) => panic!("{other} has no C# type: add it to tests/common/csharp_native.rs"),
        (_, name) => name,
    };
    format!("{base}{}", "*".repeat(of.pointers))
}

const KEYWORDS: &str = "abstract as base bool break byte case catch char checked class const continue decimal default delegate do double \
    else enum event explicit extern false finally fixed float for foreach goto if implicit in int interface internal \
    is lock long namespace new null object operator out override params private protected public readonly ref return \
    sbyte sealed short sizeof stackalloc static string struct switch this throw true try typeof uint ulong unchecked \
    unsafe ushort using virtual void volatile while";

/// A name that may be a keyword of C#.
pub fn identifier(name: &str) -> String {
    if KEYWORDS.split(' ').any(|word| word == name) { format!("@{name}") } else { name.to_owned() }
}
