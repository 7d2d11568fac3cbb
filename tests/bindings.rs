//! The API as data (`abi/hobgoblin-api.json`) and the raw C# layer that is generated from it (`bindings/csharp/Native`).
//! `UPDATE=1 cargo test -p hobgoblin-tests --test bindings` writes both.
//!
//! The C++ compiler compares the data with the headers. Reflection, on Mono and on CoreCLR, compares the compiled layer
//! with the data.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hobgoblin_tests::api::Api;
use hobgoblin_tests::api_json::{self, Argument, Document, Kind, Record, Shape};
use hobgoblin_tests::cpp::{compiler, harness_library, output, root, run};
use hobgoblin_tests::csharp::{self, Runtime};
use hobgoblin_tests::csharp_native;
use hobgoblin_tests::layouts::Headers;

/// Compares a file with its generated text, or writes it.
fn check(path: &Path, text: &str, stale: &mut Vec<String>) {
    let full = root().join(path);
    if fs::read_to_string(&full).ok().as_deref() == Some(text) {
        return;
    }
    if std::env::var_os("UPDATE").is_some() {
        let folder = full.parent().expect("a file is in a folder");
        fs::create_dir_all(folder).and_then(|()| fs::write(&full, text)).expect("the repository can be written");
    } else {
        stale.push(path.display().to_string());
    }
}

#[test]
fn api_json_and_raw_csharp_layer_are_up_to_date() {
    let text = api_json::document(&Api::read()).text();
    let mut stale = Vec::new();
    check(Path::new(api_json::PATH), &text, &mut stale);
    // The generator reads the checked-in file, nothing else.
    let files = csharp_native::generate(&Document::read());
    for (name, text) in &files {
        check(&Path::new(csharp_native::FOLDER).join(name), text, &mut stale);
    }
    let list = fs::read_dir(root().join(csharp_native::FOLDER)).expect("the layer is checked in");
    for entry in list {
        let name = entry.expect("an entry can be read").file_name().to_string_lossy().into_owned();
        if !files.contains_key(&name) {
            stale.push(format!("{name} belongs to no header"));
        }
    }
    assert!(
        stale.is_empty(),
        "{stale:?} differ from the headers: UPDATE=1 cargo test -p hobgoblin-tests --test bindings"
    );
}

#[test]
fn api_json_has_every_declaration_with_a_doc() {
    let document = api_json::document(&Api::read());
    let text = document.text();
    assert!(Document::parse(&text).text() == text, "a reader of the file loses something");
    let mut missing: Vec<&str> = Vec::new();
    let mut see = |name, doc: &str| missing.extend(doc.is_empty().then_some(name));
    document.enums.iter().for_each(|one| see(one.name.as_str(), &one.doc));
    document.enums.iter().flat_map(|one| &one.values).for_each(|one| see(&one.name, &one.doc));
    document.handles.iter().for_each(|one| see(&one.name, &one.doc));
    document.functions.iter().for_each(|one| see(&one.name, &one.doc));
    for one in document.structs.iter().chain(&document.unions) {
        see(&one.name, &one.doc);
        one.fields.iter().for_each(|field| see(&field.name, &field.doc));
    }
    assert!(missing.is_empty(), "{missing:?} have no doc");
    for function in &document.functions {
        assert!(!function.threads.text.is_empty(), "{} says nothing about threads", function.name);
    }
    // Each macro with a number that a header defines, and each declaration that the compiler can see.
    let text: String = document
        .headers
        .iter()
        .map(|header| fs::read_to_string(root().join("include").join(&header.file)).expect("a header can be read"))
        .collect();
    let code: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.starts_with("//")).collect();
    let count = |what: &dyn Fn(&str) -> bool| code.iter().filter(|line| what(line)).count();
    let is_number = |word: &str| word.starts_with(|letter: char| letter.is_ascii_digit()) || word.ends_with("_MAX");
    let is_macro = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.len() == 3 && words[0] == "#define" && is_number(words[2])
    };
    assert_eq!(document.constants.len(), count(&is_macro), "constants");
    assert_eq!(document.enums.len(), count(&|line| line.starts_with("typedef enum ")), "enums");
    assert_eq!(document.unions.len(), count(&|line| line.starts_with("typedef union ")), "unions");
    let is_struct = |line: &str| line.starts_with("typedef struct ") && line.ends_with('{');
    assert_eq!(document.structs.len(), count(&is_struct), "structs");
    let is_handle = |line: &str| {
        let name = line.strip_prefix("typedef struct ").and_then(|rest| rest.split(' ').next()).unwrap_or_default();
        line.ends_with(&format!(" {name};")) && !text.contains(&format!("typedef struct {name} {{"))
    };
    assert_eq!(document.handles.len(), count(&is_handle), "handles");
}

/// A C++ program that compiles only if the headers are as the document says.
fn probe(document: &Document) -> String {
    let mut out = String::from("#include <hobgoblin/hobgoblin.h>\n#include <cstddef>\n#include <type_traits>\n\n");
    let mut same = |of: &str, value: &str| {
        let _ = writeln!(out, "static_assert({of} == {value}, \"\");");
    };
    for one in &document.constants {
        same(&one.name, &one.value);
    }
    same("HOB_VERSION", &document.version.number.to_string());
    same("HOB_ABI_VERSION", &document.abi_version.to_string());
    same("sizeof(void *)", &document.pointer_size.to_string());
    for one in &document.enums {
        same(&format!("sizeof({})", one.name), "4");
        for value in &one.values {
            same(&value.name, &value.value.to_string());
        }
    }
    let records = || document.structs.iter().chain(&document.unions);
    for one in records() {
        let name = &one.name;
        same(&format!("sizeof({name})"), &one.size.to_string());
        same(&format!("alignof({name})"), &one.alignment.to_string());
        for field in &one.fields {
            same(&format!("offsetof({name}, {})", field.name), &field.offset.to_string());
            same(&format!("sizeof({name}::{})", field.name), &field.size.to_string());
        }
    }
    let mut is = |of: &str, expected: &str| {
        let _ = writeln!(out, "static_assert(std::is_same<decltype({of}), {expected}>::value, \"\");");
    };
    for field in records().flat_map(|one| one.fields.iter().map(move |field| (&one.name, field))) {
        let (of, field) = field;
        let array = field.of.array.map_or_else(String::new, |length| format!("[{length}]"));
        is(&format!("{of}::{}", field.name), &format!("{}{array}", field.of.c));
    }
    for one in &document.functions {
        let types: Vec<&str> = one.parameters.iter().map(|one| one.of.c.as_str()).collect();
        is(&format!("&{}", one.name), &format!("{} (*)({})", one.result.c, types.join(", ")));
    }
    out
}

/// Compiles the probe of a document.
fn compile_probe(document: &Document, tool: &cc::Tool, name: &str) -> Output {
    let folder = output().join("bindings");
    fs::create_dir_all(&folder).expect("the target directory can be written");
    let source = folder.join(format!("{name}.cpp"));
    fs::write(&source, probe(document)).expect("the target directory can be written");
    let mut compile = tool.to_command();
    compile.current_dir(root()).args(["-w", "-fsyntax-only"]).arg(source);
    compile.output().expect("the compiler can be run")
}

type Change<'a> = &'a dyn Fn(&mut Document);

#[test]
fn compiler_finds_the_api_json_right_and_changed_ones_wrong() {
    let Some(tool) = compiler() else { return };
    let text = fs::read_to_string(root().join(api_json::PATH)).expect("it is checked in");
    let found = compile_probe(&Document::parse(&text), &tool, "right");
    assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
    let changes: [(&str, Change); 7] = [
        ("a constant", &|it| it.constants[7].value += "1"),
        ("a value of an enum", &|it| it.enums[1].values[0].value += 9),
        ("an offset", &|it| it.structs[3].fields[1].offset += 4),
        ("a size", &|it| it.structs[9].size += 8),
        ("the type of a field", &|it| it.structs[5].fields[0].of.c = "int32_t".to_owned()),
        ("swapped parameters", &|it| with_two(it).parameters.swap(0, 1)),
        ("a pointer to const", &|it| {
            let shape = &mut with_two(it).parameters[0].of;
            shape.c = if shape.is_const { shape.c.replace("const ", "") } else { format!("const {}", shape.c) };
        }),
    ];
    for (what, change) in changes {
        let mut document = Document::parse(&text);
        change(&mut document);
        let found = compile_probe(&document, &tool, "wrong");
        assert!(!found.status.success(), "the compiler does not see {what} changed");
    }
}

/// A function with two parameters, the first of them a handle.
fn with_two(document: &mut Document) -> &mut api_json::Call {
    let is_it = |one: &&mut api_json::Call| {
        one.parameters.len() == 2
            && one.parameters[0].of.kind == Kind::Handle
            && one.parameters[0].of.c != one.parameters[1].of.c
    };
    document.functions.iter_mut().find(is_it).expect("there are many")
}

/// The lines that tests/csharp/Describe.cs must print, in the types of C.
fn expected(document: &Document) -> BTreeSet<String> {
    let mut lines = BTreeSet::from([format!("constant HOB_VERSION uint32_t {}", document.version.number)]);
    for one in &document.constants {
        lines.insert(format!("constant {} {} {}", one.name, one.of, one.value));
    }
    for one in &document.enums {
        lines.insert(format!("enum {} {}", one.name, one.of));
        lines.extend(one.values.iter().map(|value| format!("value {} {} {}", one.name, value.name, value.value)));
    }
    lines.extend(document.handles.iter().map(|one| format!("handle {}", one.name)));
    for one in &document.structs {
        lines.insert(format!("struct {} {}", one.name, one.size));
        fields(one, &mut lines);
    }
    for one in &document.unions {
        lines.insert(format!("union {} {}", one.name, one.size));
        fields(one, &mut lines);
    }
    for one in &document.callbacks {
        lines.insert(format!("callback {} Cdecl {}", one.name, signature(&one.result, &one.parameters)));
    }
    for one in &document.functions {
        let signature = signature(&one.result, &one.parameters);
        lines.insert(format!("function {0} hobgoblin {0} Cdecl {signature}", one.name));
    }
    lines
}

fn fields(one: &Record, lines: &mut BTreeSet<String>) {
    for field in &one.fields {
        let (of, name, offset, size) = (type_name(&field.of), &field.name, field.offset, field.size);
        let mut line = |offset: usize, size: usize, of: &str, name: &str| {
            lines.insert(format!("field {} {offset} {size} {of} {name}", one.name));
        };
        match field.of.array {
            None => line(offset, size, &of, name),
            Some(length) if matches!(field.of.kind, Kind::Struct | Kind::Union) => {
                let size = size / length;
                (0..length).for_each(|index| line(offset + index * size, size, &of, &format!("{name}_{index}")));
            }
            Some(length) => line(offset, size, &format!("{of}[{length}]"), name),
        }
    }
}

fn signature(result: &Shape, parameters: &[Argument]) -> String {
    let parameters: Vec<String> = parameters.iter().map(|one| format!("{} {}", type_name(&one.of), one.name)).collect();
    format!("{}({})", type_name(result), parameters.join(", "))
}

/// A type without const. C# has no type for C's char, and one for callbacks and numbers of a pointer's size.
fn type_name(of: &Shape) -> String {
    let name = match (of.kind, of.name.as_str()) {
        (Kind::Callback, _) | (_, "ptrdiff_t") => "intptr_t",
        (Kind::Char, _) => "uint8_t",
        (_, name) => name,
    };
    format!("{name}{}", "*".repeat(of.pointers))
}

/// Compiles the raw layer, and the program that describes it. `None`: mcs is missing.
fn assemblies(name: &str, sources: &[PathBuf]) -> Option<(PathBuf, PathBuf)> {
    if !csharp::is_available() {
        return None;
    }
    let folder = output().join("bindings").join(name);
    let (layer, program) = (folder.join("Raw.dll"), folder.join("Describe.exe"));
    csharp::compile(sources, &layer, &[]);
    csharp::compile(&[PathBuf::from("tests/csharp/Describe.cs")], &program, &[]);
    Some((layer, program))
}

/// The lines that the program prints on a runtime.
fn described(runtime: &Runtime, program: &Path, layer: &Path) -> BTreeSet<String> {
    let mut command = runtime.command(program, Path::new("/nowhere/libhobgoblin.so"));
    let output = run(command.arg(layer));
    String::from_utf8(output.stdout).expect("names are ASCII").lines().map(str::to_owned).collect()
}

fn differences(expected: &BTreeSet<String>, found: &BTreeSet<String>) -> Vec<String> {
    let missing = expected.difference(found).map(|line| format!("expected: {line}"));
    missing.chain(found.difference(expected).map(|line| format!("found:    {line}"))).collect()
}

fn layer_matches(runtime: &Runtime, name: &str) {
    let Some((layer, program)) = assemblies(name, &csharp::sources(csharp_native::FOLDER)) else { return };
    let found = described(runtime, &program, &layer);
    let differences = differences(&expected(&Document::read()), &found);
    assert!(differences.is_empty(), "the compiled layer differs from the headers:\n{}", differences.join("\n"));
    // Sizes and offsets of the C++ compiler itself.
    if let Some(tool) = compiler() {
        let headers = Headers::read(root(), &tool, name);
        for one in &headers.api.structs {
            let size = headers.layouts[&one.name].size;
            let kind = if one.is_union { "union" } else { "struct" };
            assert!(found.contains(&format!("{kind} {} {size}", one.name)), "{} has {size} bytes in C++", one.name);
        }
    }
    let library = harness_library();
    let output = runtime.command(&program, &library).arg(&layer).arg("--link").output().expect("it can be run");
    let missing = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the library lacks functions of the layer:\n{missing}");
}

#[test]
fn raw_layer_on_mono_matches_the_headers_and_the_library() {
    layer_matches(&Runtime::Mono, "mono");
}

#[test]
fn raw_layer_on_coreclr_matches_the_headers_and_the_library() {
    let Some(runtime) = Runtime::coreclr() else { return };
    layer_matches(&runtime, "coreclr");
}

#[test]
fn coreclr_compiles_every_method_of_the_classes() {
    let Some(runtime) = Runtime::coreclr() else { return };
    // mcs compiles against the classes of .NET Framework. With those of CoreCLR that is .NET Standard 2.0, nearly.
    let Some((classes, program)) = assemblies("prepared", &csharp::classes()) else { return };
    let output = run(runtime.command(&program, Path::new("/nowhere/libhobgoblin.so")).arg(classes).arg("--prepare"));
    print!("{}", String::from_utf8_lossy(&output.stdout));
}

/// Changes of the layer's text that must be noticed: the file, the text, the text instead, and what a line must say.
const CHANGES: &[(&str, &str, &str, &str)] = &[
    ("base.cs", "HOB_ABI_VERSION = 1;", "HOB_ABI_VERSION = 2;", "constant HOB_ABI_VERSION"),
    ("base.cs", "HOB_RESULT_BUSY = 7,", "HOB_RESULT_BUSY = 17,", "HOB_RESULT_BUSY"),
    ("base.cs", "enum hob_log_level : uint", "enum hob_log_level : int", "enum hob_log_level"),
    ("base.cs", "public UIntPtr len;", "public uint len;", "field hob_str 8"),
    ("base.cs", "public byte* data;", "", "struct hob_str"),
    ("base.cs", "public fixed byte bytes[16];", "public fixed byte bytes[24];", "union hob_value"),
    ("base.cs", "size, UIntPtr alignment);", "alignment, UIntPtr size);", "callback hob_allocator_hook_"),
    ("executor.cs", "public IntPtr finish;", "public bool finish;", "Boolean finish"),
    ("executor.cs", "uint blocks, IntPtr body", "IntPtr body, uint blocks", "function hob_executor_parallel_for"),
    ("executor.cs", "CallingConvention.Cdecl)]", "CallingConvention.StdCall)]", "StdCall"),
    ("goblin.cs", "CallingConvention.Cdecl, Exact", "CallingConvention.StdCall, Exact", "StdCall"),
    ("goblin.cs", "extern hob_result hob_goblin_update(", "extern void hob_goblin_update(", "hob_goblin_update"),
    ("goblin.cs", "extern hob_result hob_goblin_update(", "extern hob_result hob_goblin_updat(", "hob_goblin_updat "),
    ("goblin.cs", "public hob_lane_desc lanes_7;", "", "lanes_7"),
    ("goblin.cs", "double patience;", "float patience;", "patience"),
    ("goblin.cs", "(hob_goblin* goblin, hob_decision* out_decision)", "(hob_goblin* goblin)", "hob_goblin_update"),
];

/// Writes the layer with one change.
fn changed(files: &BTreeMap<String, String>, name: &str, file: &str, from: &str, to: &str) -> Vec<PathBuf> {
    // A change that the layer cannot have any more would test nothing.
    assert!(files[file].contains(from), "{file} has no \"{from}\": change the list");
    let folder = output().join("bindings").join(name);
    fs::create_dir_all(&folder).expect("the target directory can be written");
    let write = |(name, text): (&String, &String)| {
        let path = folder.join(name);
        let text = if name == file { text.replacen(from, to, 1) } else { text.clone() };
        fs::write(&path, text).expect("the target directory can be written");
        path
    };
    files.iter().map(write).collect()
}

#[test]
fn changed_layer_is_noticed() {
    if !csharp::is_available() {
        return;
    }
    let expected = expected(&Document::read());
    let files = csharp_native::generate(&Document::read());
    let mut noticed = 0;
    for (file, from, to, line) in CHANGES {
        let sources = changed(&files, "changed", file, from, to);
        let Some((layer, program)) = assemblies("changed", &sources) else { return };
        let differences = differences(&expected, &described(&Runtime::Mono, &program, &layer));
        let is_noticed = differences.iter().any(|one| one.contains(line));
        assert!(is_noticed, "\"{to}\" in {file} instead of \"{from}\" is not noticed: {differences:?}");
        noticed += 1;
    }
    println!("{noticed} changes of the raw layer noticed");
}

#[test]
fn library_without_a_function_does_not_link() {
    let Some((layer, program)) = assemblies("unlinked", &csharp::sources(csharp_native::FOLDER)) else { return };
    let library = fake_library("unlinked", (0, 1, 0), 1, &["hob_goblin_update"]);
    let output = Runtime::Mono.command(&program, &library).arg(&layer).arg("--link").output().expect("it can be run");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && printed.lines().count() == 1, "{printed}");
    assert!(printed.starts_with("hob_goblin_update: EntryPointNotFoundException"), "{printed}");
}

/// A library whose functions note the bytes of their arguments, and that calls callbacks. The result is a pattern.
fn echo_library(name: &str) -> PathBuf {
    let document = Document::read();
    let mut source = String::from(ECHO);
    let result = |of: &Shape| match of.c.as_str() {
        "void" => (String::new(), ""),
        c => (format!("    {c} made;\n    fill(&made, sizeof made);\n"), "    return made;\n"),
    };
    for one in &document.functions {
        let parameters: Vec<String> = one.parameters.iter().map(api_json::declaration).collect();
        let _ = writeln!(source, "{} {}({}) {{", one.result.c, one.name, parameters.join(", "));
        for parameter in &one.parameters {
            let _ = writeln!(source, "    note(&{0}, sizeof {0});", parameter.name);
        }
        let (made, end) = result(&one.result);
        let _ = writeln!(source, "{made}{end}}}");
    }
    source += "int echo_callback(const char *name, void *function, void *result) {\n";
    for one in &document.callbacks {
        let parameters: Vec<String> = one.parameters.iter().map(api_json::declaration).collect();
        let _ = writeln!(source, "    if (strcmp(name, \"{}\") == 0) {{", one.name);
        for (parameter, declared) in one.parameters.iter().zip(&parameters) {
            let _ = writeln!(source, "        {declared};\n        fill(&{0}, sizeof {0});", parameter.name);
            let _ = writeln!(source, "        note(&{0}, sizeof {0});", parameter.name);
        }
        let names: Vec<&str> = one.parameters.iter().map(|one| one.name.as_str()).collect();
        let types = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
        let call = format!("(({} (*)({types}))function)({})", one.result.c, names.join(", "));
        let _ = match one.result.c.as_str() {
            "void" => writeln!(source, "        {call};\n        return 0;\n    }}"),
            c => writeln!(
                source,
                "        {c} made = {call};\n        memcpy(result, &made, sizeof made);\n        return sizeof made;\n    }}"
            ),
        };
    }
    source += "    return -1;\n}\n";
    let folder = output().join("bindings").join(name);
    fs::create_dir_all(&folder).expect("the target directory can be written");
    let (file, library) = (folder.join("echo.c"), folder.join("libhobgoblin.so"));
    fs::write(&file, source).expect("the target directory can be written");
    let mut compile = Command::new("cc");
    compile.current_dir(root()).args(["-shared", "-fPIC", "-w", "-Iinclude"]).arg(file).arg("-o").arg(&library);
    run(&mut compile);
    library
}

const ECHO: &str = r"
#include <hobgoblin/hobgoblin.h>
#include <string.h>

static unsigned char bytes[4096];
static size_t used;

static void note(const void *at, size_t size) {
    memcpy(bytes + used, at, size);
    used += size;
}
static void fill(void *at, size_t size) {
    for (size_t index = 0; index < size; ++index) ((unsigned char *)at)[index] = (unsigned char)(0x21 + index * 7);
}
size_t echo_take(void *out) {
    size_t size = used;
    memcpy(out, bytes, size);
    used = 0;
    return size;
}
";

#[test]
fn arguments_and_results_cross_the_layer_unchanged() {
    let Some((layer, _)) = assemblies("echo", &csharp::sources(csharp_native::FOLDER)) else { return };
    let (program, library) = (layer.with_file_name("Echo.exe"), echo_library("echo"));
    csharp::compile(&[PathBuf::from("tests/csharp/Echo.cs")], &program, &[]);
    let document = Document::read();
    let expected = format!("{} functions, {} callbacks", document.functions.len(), document.callbacks.len());
    for runtime in std::iter::once(Runtime::Mono).chain(Runtime::coreclr()) {
        let output = run(runtime.command(&program, &library).arg(&layer));
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), expected);
    }
    // Signatures that C does not have.
    let files = csharp_native::generate(&document);
    for (file, from, to, complaint) in [
        (
            "executor.cs",
            "hob_executor_pump(hob_executor* executor, ulong",
            "hob_executor_pump(hob_executor* executor, uint",
            "hob_executor_pump: arguments",
        ),
        (
            "base.cs",
            "delegate ulong hob_clock_hook_now_ns_fn(",
            "delegate uint hob_clock_hook_now_ns_fn(",
            "hob_clock_hook_now_ns_fn: its result",
        ),
        (
            "base.cs",
            "hob_log_level level, hob_str line",
            "hob_log_level level, byte* line",
            "hob_log_hook_write_fn: arguments",
        ),
        ("goblin.cs", "hob_lane lane, double burden", "hob_lane lane, float burden", "hob_goblin_measure: arguments"),
    ] {
        let Some((layer, _)) = assemblies("echo-changed", &changed(&files, "echo-changed", file, from, to)) else {
            return;
        };
        let output = Runtime::Mono.command(&program, &library).arg(&layer).output().expect("it can be run");
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(!output.status.success() && printed.contains(complaint), "\"{to}\" is not noticed: {printed}");
    }
}

/// A library of another version, without some functions. All but those of the version end the process.
fn fake_library(name: &str, version: (u32, u32, u32), abi: u32, without: &[&str]) -> PathBuf {
    let folder = output().join("bindings").join(name);
    let number = version.0 << 22 | version.1 << 12 | version.2;
    let mut source = String::from("#include <stdio.h>\n#include <stdlib.h>\n\n");
    for one in Document::read().functions.iter().filter(|one| !without.contains(&one.name.as_str())) {
        let _ = match one.name.as_str() {
            name if without == OTHERS && one.at.header == "base" && !name.ends_with("version") => {
                writeln!(source, "long {name}(void) {{ return 0; }}")
            }
            _ if without == OTHERS && one.at.header != "base" => Ok(()),
            "hob_version" => writeln!(source, "unsigned hob_version(void) {{ return {number}; }}"),
            "hob_abi_version" => writeln!(source, "unsigned hob_abi_version(void) {{ return {abi}; }}"),
            name => writeln!(source, "void {name}(void) {{ fputs(\"{name} was called\\n\", stderr); abort(); }}"),
        };
    }
    let library = folder.join("libhobgoblin.so");
    fs::create_dir_all(&folder).expect("the target directory can be written");
    fs::write(folder.join("stub.c"), source).expect("the target directory can be written");
    let mut compile = Command::new("cc");
    run(compile.current_dir(&folder).args(["-shared", "-fPIC", "stub.c", "-o"]).arg(&library));
    library
}

/// For `fake_library`: it lacks all functions but those of base.h.
const OTHERS: &[&str] = &["all but base.h"];

/// Compiles the classes, and the program that uses a wrong library.
fn stale_program(name: &str) -> Option<PathBuf> {
    if !csharp::is_available() {
        return None;
    }
    let folder = output().join("bindings").join(name);
    let (classes, program) = (folder.join("Hobgoblin.dll"), folder.join("Stale.exe"));
    csharp::compile(&csharp::classes(), &classes, &[]);
    let reference = format!("-r:{}", classes.display());
    csharp::compile(&[PathBuf::from("tests/csharp/Stale.cs")], &program, &[&reference]);
    Some(program)
}

/// The first line that the program prints.
fn complaint(runtime: &Runtime, program: &Path, library: &Path) -> String {
    let output = run(runtime.command(program, library).arg("one"));
    String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned()
}

#[test]
fn stale_library_is_refused_with_both_versions() {
    let Some(program) = stale_program("stale") else { return };
    let document = Document::read();
    let (own, abi) = (&document.version.text, document.abi_version);
    let runtimes = std::iter::once(Runtime::Mono).chain(Runtime::coreclr());
    for runtime in runtimes {
        let other_abi = complaint(&runtime, &program, &fake_library("stale-abi", (9, 8, 7), abi + 1, &[]));
        let older = complaint(&runtime, &program, &fake_library("stale-older", (0, 0, 9), abi, &[]));
        for (line, version, abi) in [(&other_abi, "9.8.7", abi + 1), (&older, "0.0.9", abi)] {
            assert!(line.starts_with("HobgoblinVersionException: "), "{line}");
            assert!(line.contains(&format!("version {version} with ABI {abi}")), "the library's version: {line}");
            assert!(line.contains(&format!("version {own} with ABI {}", document.abi_version)), "the own: {line}");
            assert!(line.contains("install"), "the remedy: {line}");
        }
        let nameless = fake_library("stale-nameless", (0, 1, 0), abi, &["hob_abi_version"]);
        let line = complaint(&runtime, &program, &nameless);
        assert!(line.starts_with("HobgoblinVersionException: ") && line.contains("hob_abi_version"), "{line}");
        assert!(line.contains(own.as_str()), "{line}");
        let line = complaint(&runtime, &program, Path::new("/nowhere/libhobgoblin.so"));
        assert!(line.starts_with("HobgoblinVersionException: ") && line.contains("was not found"), "{line}");
        assert!(line.contains(own.as_str()), "{line}");
    }
}

#[test]
fn no_class_calls_a_stale_library_before_the_check() {
    let Some(program) = stale_program("unchecked") else { return };
    let library = fake_library("unchecked-library", (0, 0, 9), Document::read().abi_version, &[]);
    let output = run(Runtime::Mono.command(&program, &library).arg("all"));
    print!("{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn every_class_refuses_a_library_that_was_built_without_it() {
    let Some(program) = stale_program("roomless") else { return };
    let document = Document::read();
    let version = (document.version.major, document.version.minor, document.version.patch);
    let library = fake_library("roomless-library", version, document.abi_version, OTHERS);
    for runtime in std::iter::once(Runtime::Mono).chain(Runtime::coreclr()) {
        let output = run(runtime.command(&program, &library).arg("all"));
        print!("{}", String::from_utf8_lossy(&output.stdout));
    }
}
