//! Generates the C headers from the Rust sources. The headers are checked in, and every run compares them. `UPDATE=1
//! cargo test --test headers` rewrites them.
//!
//! cbindgen translates the declarations. This file puts them into the order of the sources. A header has the folder's
//! `//!` text, then sections (`// == Title ==`) of types and functions in the order of the source.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use hobgoblin_tests::cpp::root;

/// A header: its folder in `src/ffi`, and its includes.
struct Topic {
    name: &'static str,
    includes: &'static [&'static str],
    before: &'static str,
    after: &'static str,
}

const TOPICS: &[Topic] = &[
    Topic { name: "base", includes: &["<stddef.h>", "<stdint.h>"], before: BASE_BEFORE, after: BASE_AFTER },
    topic("executor", &["\"base.h\""]),
    topic("balance", &["\"base.h\""]),
    topic("knapsack", &["\"base.h\""]),
    topic("profile", &["\"base.h\""]),
    topic("goblin", &["\"base.h\"", "\"profile.h\""]),
    topic("fingerprint", &["\"base.h\""]),
    topic("store", &["\"base.h\""]),
    topic("program_cache", &["\"base.h\"", "\"executor.h\"", "\"fingerprint.h\"", "\"store.h\""]),
    topic("pipeline", &["\"base.h\"", "\"executor.h\"", "\"fingerprint.h\"", "\"store.h\""]),
    topic("graph", &["\"base.h\"", "\"executor.h\""]),
    topic("perception", &["\"base.h\"", "\"executor.h\""]),
];

const fn topic(name: &'static str, includes: &'static [&'static str]) -> Topic {
    Topic { name, includes, before: "", after: "" }
}

const BASE_BEFORE: &str = r#"
/* Define HOB_STATIC when linking the static library on Windows. */
#if defined(_WIN32) && !defined(HOB_STATIC)
#define HOB_IMPORT __declspec(dllimport)
#else
#define HOB_IMPORT
#endif

/// Marks stable functions: from 1.0 on they and their types never change.
/// Until then CHANGELOG.md lists the changes.
#define HOB_API HOB_IMPORT
/// Marks experimental functions: they and their types may change at any release.
#define HOB_EXPERIMENTAL_API HOB_IMPORT

/// Marks functions whose result must be used.
#if defined(__cplusplus) && __cplusplus >= 201703L
#define HOB_NODISCARD [[nodiscard]]
#elif defined(__GNUC__)
#define HOB_NODISCARD __attribute__((warn_unused_result))
#else
#define HOB_NODISCARD
#endif

/// The header's major version.
/// hob_version() returns the library's.
#define HOB_VERSION_MAJOR @MAJOR@
/// The header's minor version.
#define HOB_VERSION_MINOR @MINOR@
/// The header's patch version.
#define HOB_VERSION_PATCH @PATCH@
/// Packs a version into a number, in ascending order.
#define HOB_MAKE_VERSION(major, minor, patch) \
    (((uint32_t)(major) << 22) | ((uint32_t)(minor) << 12) | (uint32_t)(patch))
/// The header's version, as HOB_MAKE_VERSION.
#define HOB_VERSION HOB_MAKE_VERSION(HOB_VERSION_MAJOR, HOB_VERSION_MINOR, HOB_VERSION_PATCH)
"#;

const BASE_AFTER: &str = r#"
/* Enums must have 32 bits: compile without -fshort-enums. */
typedef char hob_enums_have_32_bits[sizeof(hob_result) == 4 ? 1 : -1];

/// Makes a hob_str of `size` bytes at `data`.
static inline hob_str hob_str_of(const char *data, size_t size) {
    hob_str text;
    text.data = data;
    text.len = size;
    return text;
}

/// Makes a hob_str of text that ends in NUL; NULL: an empty one.
static inline hob_str hob_str_from(const char *text) {
    return hob_str_of(text, text ? SIZE_MAX : 0);
}

/// A hob_str of a string literal, as an initialiser: for variables, fields and static tables.
#define HOB_STR_INIT(literal) {"" literal, sizeof(literal) - 1}

/// A hob_str of a string literal, as an expression: for arguments and assignments.
/// In C++ also for static tables.
#if defined(__cplusplus)
#define HOB_STR(literal) hob_str HOB_STR_INIT(literal)
#else
#define HOB_STR(literal) ((hob_str)HOB_STR_INIT(literal))
#endif

/// Makes a hob_value of a number.
static inline hob_value hob_value_of_number(double number) {
    hob_value value = {{0, 0}};
    value.number = number;
    return value;
}

/// Makes a hob_value of a pointer.
static inline hob_value hob_value_of_pointer(void *pointer) {
    hob_value value = {{0, 0}};
    value.pointer = pointer;
    return value;
}
"#;

/// A source file of a header.
struct Source {
    text: String,
}

/// A part of a header, and its place in the source.
struct Item {
    place: (usize, usize),
    text: String,
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|why| panic!("cannot read {}: {why}", path.display()))
}

/// The files of a topic: its `mod.rs`, then its modules in the order of their declarations.
fn sources(topic: &Topic) -> Vec<Source> {
    let folder = root().join("src/ffi").join(topic.name);
    let first = read(&folder.join("mod.rs"));
    let declared: Vec<PathBuf> = first
        .lines()
        .filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';'))
        .map(|name| folder.join(format!("{name}.rs")))
        .collect();
    std::iter::once(first).chain(declared.iter().map(|path| read(path))).map(|text| Source { text }).collect()
}

/// The attribute that begins at `start`, up to its closing bracket.
fn attribute(text: &str, start: usize) -> &str {
    let mut depth = 0;
    for (at, byte) in text[start..].bytes().enumerate() {
        depth += i32::from(byte == b'[') - i32::from(byte == b']');
        if depth == 0 && byte == b']' {
            return &text[start..=start + at];
        }
    }
    panic!("an attribute is not closed: {}", &text[start..(start + 60).min(text.len())]);
}

/// The text with each `#[entry(…)]` in a form for cbindgen, and the names of the experimental functions.
fn for_cbindgen(text: &str) -> (String, Vec<String>) {
    let (mut plain, mut experimental, mut rest) = (String::new(), Vec::new(), text);
    while let Some(start) = rest.find("#[entry(") {
        let found = attribute(rest, start);
        let after = &rest[start + found.len()..];
        if found.contains("experimental") {
            let name = after.split("extern \"C\" fn ").nth(1).and_then(|rest| rest.split('(').next());
            experimental.push(name.expect("an entry is a function").to_owned());
        }
        plain += &rest[..start];
        plain += "#[unsafe(no_mangle)]";
        rest = after;
    }
    (plain + rest, experimental)
}

/// Structs with an `_init` function, in order, and whether they are in an experimental section.
fn versioned(sources: &[Source]) -> Vec<(String, bool)> {
    let text: String = sources.iter().map(|source| source.text.as_str()).collect();
    let name = |rest: &str| rest.split("pub struct ").nth(1)?.split([' ', '{']).next().map(str::to_owned);
    let is_experimental = |at: usize| {
        let title = text[..at].rsplit("// == ").next().unwrap_or_default();
        title.starts_with("Experimental:")
    };
    text.match_indices("#[versioned(").filter_map(|(at, _)| Some((name(&text[at..])?, is_experimental(at)))).collect()
}

/// cbindgen's translation of the sources, block by block.
fn translate(topic: &Topic, sources: &[Source]) -> (Vec<String>, Vec<String>) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("headers-{}", std::process::id()));
    let mut config =
        cbindgen::Config::from_file(root().join("cbindgen.toml")).expect("cbindgen.toml is there and well formed");
    fs::create_dir_all(&folder).expect("the temporary folder can be created");
    let (mut builder, mut experimental) = (cbindgen::Builder::new(), Vec::new());
    for (number, source) in sources.iter().enumerate() {
        let (text, some) = for_cbindgen(&source.text);
        experimental.extend(some);
        config.export.include.extend(names_after(&source.text, "pub enum "));
        config.export.include.extend(names_after(&source.text, "pub struct hob_").iter().map(|n| format!("hob_{n}")));
        config.export.include.extend(names_after(&source.text, "pub union "));
        let path = folder.join(format!("{}-{number}.rs", topic.name));
        fs::write(&path, text).expect("the temporary file can be written");
        builder = builder.with_src(path);
    }
    let bindings = builder.with_config(config).generate().expect("the sources parse");
    let mut generated = Vec::new();
    bindings.write(&mut generated);
    fs::remove_dir_all(&folder).ok();
    let generated = String::from_utf8(generated).expect("cbindgen writes UTF-8");
    let blocks = generated.split("\n\n").map(str::trim).filter(|block| is_declaration(block)).map(str::to_owned);
    (blocks.collect(), experimental)
}

fn names_after(text: &str, before: &str) -> Vec<String> {
    let name = |line: &str| Some(line.strip_prefix(before)?.split([' ', '{', '(', ';']).next()?.to_owned());
    text.lines().filter_map(name).collect()
}

fn is_declaration(block: &str) -> bool {
    let is_of_cpp = |line: &str| {
        line.starts_with("#ifdef __cplusplus")
            || line.starts_with("#endif")
            || line.contains("extern \"C\"")
            || line == "}"
            || line.starts_with("}  //")
            || line.is_empty()
    };
    !block.lines().all(is_of_cpp)
}

/// The name that a block declares.
fn name_of(block: &str) -> String {
    let code: Vec<&str> = block.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let last = code.last().copied().unwrap_or_default();
    if let Some(define) = code[0].strip_prefix("#define ") {
        return define.split([' ', '(']).next().unwrap_or_default().to_owned();
    }
    if code[0].starts_with("typedef") {
        let name = last.trim_end_matches(';').rsplit([' ', '}']).next();
        return name.unwrap_or_default().to_owned();
    }
    let before = code.iter().find_map(|line| line.split_once('(').map(|(before, _)| before)).unwrap_or(code[0]);
    before.rsplit([' ', '*']).next().unwrap_or_default().to_owned()
}

/// The place where the sources declare a name.
fn find(name: &str, sources: &[Source]) -> Option<(usize, usize)> {
    let forms = [
        format!("pub struct {name} "),
        format!("pub enum {name} "),
        format!("pub union {name} "),
        format!("extern \"C\" fn {name}("),
        format!("pub const {name}:"),
    ];
    let in_source = |source: &Source| forms.iter().find_map(|form| source.text.find(form));
    sources.iter().enumerate().find_map(|(number, source)| Some((number, in_source(source)?)))
}

fn place_of(name: &str, sources: &[Source]) -> (usize, usize) {
    find(name, sources).unwrap_or_else(|| panic!("{name} is in no source of the header"))
}

/// Titles of sections: `// == Title ==`, with the `//` lines that follow.
fn sections(sources: &[Source]) -> Vec<Item> {
    let mut found = Vec::new();
    for (number, source) in sources.iter().enumerate() {
        for (at, _) in source.text.match_indices("\n// == ") {
            let mut lines = source.text[at..].trim_start().lines();
            let title = lines.next().unwrap_or_default();
            let title = title.trim_start_matches("// == ").trim_end_matches(" ==");
            let mut text = format!("// ---- {title} {}", "-".repeat(111usize.saturating_sub(title.len())));
            for line in lines.take_while(|line| line.starts_with("//") && !line.starts_with("///")) {
                text += &format!("\n{line}");
            }
            found.push(Item { place: (number, at), text });
        }
    }
    found
}

/// A declaration in the header's form.
fn polished(block: &str, name: &str, experimental: &[String], is_later: impl Fn(&str) -> bool) -> String {
    let mut text = String::new();
    for line in block.lines() {
        let is_doc = line.trim_start().starts_with("///");
        let line = if is_doc || line.starts_with("typedef") { line.to_owned() } else { without_tags(line, &is_later) };
        text += &line;
        text.push('\n');
    }
    if let Some(code) = text.find("HOB_API") {
        let returned = text[code + "HOB_API".len()..].trim_start();
        // An ignored result is a mistake, and so is a handle that is never destroyed. The standard attribute must come
        // before `__declspec`, or it would apply to the type.
        if name.contains("_create") || !(returned.starts_with("hob_result ") || returned.starts_with("void ")) {
            text.insert_str(code, "HOB_NODISCARD ");
        }
    }
    text = text.replace(" 4294967295\n", " UINT32_MAX\n").replace(" 18446744073709551615ull\n", " UINT64_MAX\n");
    if experimental.iter().any(|one| one == name) {
        text = text.replace("HOB_API", "HOB_EXPERIMENTAL_API");
    }
    if text.lines().any(|line| line.starts_with("HOB_")) {
        text = laid_out(&text);
    }
    text.trim_end().to_owned()
}

/// The line, without `struct` before types that are declared above it.
fn without_tags(line: &str, is_later: &impl Fn(&str) -> bool) -> String {
    let (mut text, mut rest) = (String::new(), line);
    let tagged = |text: &str| ["struct hob_", "enum hob_", "union hob_"].iter().filter_map(|tag| text.find(tag)).min();
    while let Some(at) = tagged(rest) {
        let (tag, after) = rest[at..].split_once(' ').expect("a space follows the tag");
        let name: String = after.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect();
        text += &rest[..at];
        if is_later(&name) {
            text += &format!("{tag} ");
        }
        text += &name;
        rest = &after[name.len()..];
    }
    text + rest
}

/// A function's declaration on one line if it fits, else with its parameters wrapped below.
fn laid_out(text: &str) -> String {
    let (documentation, code): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with("///"));
    let code = code.iter().flat_map(|line| line.split_whitespace()).collect::<Vec<&str>>().join(" ");
    let mut lines = documentation.join("\n") + "\n";
    if code.len() <= WIDTH {
        return lines + &code;
    }
    let (head, parameters) = code.split_once('(').expect("a function has parameters");
    lines += &format!("{head}(\n   ");
    let mut width = 3;
    for parameter in split_parameters(parameters) {
        if width + 1 + parameter.len() > WIDTH {
            lines += "\n   ";
            width = 3;
        }
        lines += &format!(" {parameter}");
        width += 1 + parameter.len();
    }
    lines
}

/// Maximum columns of a line.
const WIDTH: usize = 120;

/// The parameters with their commas. A function pointer with its own parameters is one parameter.
fn split_parameters(text: &str) -> Vec<String> {
    let (mut all, mut one, mut depth) = (Vec::new(), String::new(), 0);
    for letter in text.chars() {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        one.push(letter);
        if letter == ',' && depth == 0 {
            all.push(std::mem::take(&mut one).trim().to_owned());
        }
    }
    all.push(one.trim().to_owned());
    all
}

/// The opening text: the folder's `//!` lines, with indented code instead of fences.
fn opening(source: &Source) -> String {
    let (mut text, mut in_code) = (String::new(), false);
    for line in source.text.lines().map_while(|line| line.strip_prefix("//!")) {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
            continue;
        }
        let line = if in_code { format!("//    {line}") } else { format!("//{line}") };
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// The version of the library: major, minor, patch.
fn library_version() -> [String; 3] {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("the manifest can be read");
    let line = manifest.lines().find_map(|line| line.strip_prefix("version = \"")).expect("the library has a version");
    let mut parts = line.trim_end_matches('"').split('.').map(str::to_owned);
    std::array::from_fn(|_| parts.next().expect("a version has three parts"))
}

fn generate(topic: &Topic) -> String {
    let sources = sources(topic);
    let (blocks, experimental) = translate(topic, &sources);
    let mut items = sections(&sources);
    let mut seen = BTreeMap::new();
    for block in &blocks {
        let name = name_of(block);
        // Constants of Rust types are not part of the C API.
        if !name.starts_with("hob_") && !name.starts_with("HOB_") {
            continue;
        }
        let place = place_of(&name, &sources);
        let is_later = |other: &str| find(other, &sources).is_some_and(|there| there > place);
        let text = polished(block, &name, &experimental, is_later);
        assert!(seen.insert(name.clone(), ()).is_none(), "{name} is there twice");
        items.push(Item { place, text });
    }
    items.sort_by_key(|item| item.place);

    let guard = format!("HOBGOBLIN_{}_H", topic.name.to_uppercase());
    let opening = opening(&sources[0]);
    let opening = opening.trim_start_matches("// ");
    let mut header = format!(
        "// hobgoblin/{}.h: {opening}//\n// Generated from src/ffi/{}; do not edit. MIT OR Apache-2.0.\n\n\
         #ifndef {guard}\n#define {guard}\n\n",
        topic.name, topic.name
    );
    topic.includes.iter().for_each(|include| header += &format!("#include {include}\n"));
    let version = library_version();
    header +=
        &topic.before.replace("@MAJOR@", &version[0]).replace("@MINOR@", &version[1]).replace("@PATCH@", &version[2]);
    header += "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
    items.iter().for_each(|item| header += &format!("\n{}\n", item.text));
    let structs = versioned(&sources);
    header += &initialisers(&structs, &blocks);
    header += "\n#ifdef __cplusplus\n}  // extern \"C\"\n#endif\n";
    header += topic.after;
    header += &format!("\n#endif  // {guard}\n");
    header
}

/// The `_init` functions, and an `_INIT` macro for each struct. The caller gives the size, the library the content.
fn initialisers(structs: &[(String, bool)], blocks: &[String]) -> String {
    if structs.is_empty() {
        return String::new();
    }
    let title = "Initialisers";
    let mut text = format!("\n// ---- {title} {}\n", "-".repeat(111 - title.len()));
    text += "//\n// HOB_X_INIT is a hob_x with the library's defaults and this header's size: `hob_x value = HOB_X_INIT;`\n\
             // hob_x_init does the same for other languages: `size` is sizeof(hob_x).\n";
    for (name, is_experimental) in structs {
        let (upper, api) = (name.to_uppercase(), if *is_experimental { "HOB_EXPERIMENTAL_API" } else { "HOB_API" });
        let strides = strides(blocks, name);
        text += &format!(
            "\n{api} hob_result {name}_init({name} *value, uint32_t size);\n\
             static inline {name} {name}_default(void) {{\n    {name} value;\n    \
             (void){name}_init(&value, (uint32_t)sizeof(value));\n{strides}    return value;\n}}\n\
             #define {upper}_INIT ({name}_default())\n"
        );
    }
    text
}

/// The lines that set a struct's strides. They are the caller's sizes, because a newer library's elements may be
/// larger. The field before a stride points to the elements.
fn strides(blocks: &[String], name: &str) -> String {
    let block = blocks.iter().find(|block| name_of(block) == name).expect("the struct is in the header");
    let fields: Vec<&str> =
        block.lines().map(str::trim).filter(|line| line.ends_with(';') && !line.starts_with("//")).collect();
    let set = |pair: &[&str]| {
        let field = pair[1].strip_prefix("size_t ")?.strip_suffix("_stride;")?;
        let element = pair[0].trim_start_matches("const ").trim_start_matches("struct ").split([' ', '*']).next()?;
        // Rows of pixels have no element, and planes of colour differences follow another stride.
        if element == "void" || !pair[0].contains('*') {
            return None;
        }
        Some(format!("    value.{field}_stride = sizeof({element});\n"))
    };
    fields.windows(2).filter_map(set).collect()
}

fn umbrella() -> String {
    let mut header = String::from(
        "// hobgoblin/hobgoblin.h: everything.\n// Generated; do not edit. MIT OR Apache-2.0.\n\n\
         #ifndef HOBGOBLIN_HOBGOBLIN_H\n#define HOBGOBLIN_HOBGOBLIN_H\n\n",
    );
    TOPICS.iter().for_each(|topic| header += &format!("#include \"{}.h\"\n", topic.name));
    header + "\n#endif  // HOBGOBLIN_HOBGOBLIN_H\n"
}

/// Checks that each comment fits into a window, as the code does.
fn check_width(name: &str, text: &str) {
    let is_wide = |line: &str| line.trim_start().starts_with("//") && line.chars().count() > WIDTH;
    let wide: Vec<_> = text.lines().filter(|line| is_wide(line)).collect();
    assert!(wide.is_empty(), "{name}: more than {WIDTH} columns, wrap it in src/ffi:\n{}", wide.join("\n"));
}

fn check(name: &str, expected: &str) {
    let path = root().join(format!("include/hobgoblin/{name}.h"));
    check_width(&path.display().to_string(), expected);
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, expected).expect("the header can be written");
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == expected,
        "{} is not what the Rust says: run `UPDATE=1 cargo test --test headers` and read the change",
        path.display()
    );
}

/// Whether to write or compare a header. `HEADERS=a,b` selects headers. Default: all.
fn is_wanted(topic: &&Topic) -> bool {
    std::env::var("HEADERS").map_or(true, |names| names.split(',').any(|name| name == topic.name))
}

#[test]
fn headers_match_the_rust_sources_and_no_comment_is_wider_than_120_columns() {
    TOPICS.iter().filter(is_wanted).for_each(|topic| check(topic.name, &generate(topic)));
    check("hobgoblin", &umbrella());
}

#[test]
fn every_exported_function_is_in_a_header() {
    let headers: String =
        TOPICS.iter().map(|topic| read(&root().join(format!("include/hobgoblin/{}.h", topic.name)))).collect();
    for topic in TOPICS {
        for source in sources(topic) {
            for name in source.text.split("extern \"C\" fn hob_").skip(1).filter_map(|rest| rest.split('(').next()) {
                assert!(headers.contains(&format!("hob_{name}(")), "hob_{name} of {} is in no header", topic.name);
            }
        }
    }
}

#[test]
fn no_comment_of_a_cpp_header_is_wider_than_120_columns() {
    let folder = fs::read_dir(root().join("include/hobgoblin")).expect("the folder of the headers is there");
    let paths = folder.map(|entry| entry.expect("the folder can be read").path());
    let mut by_hand = paths.filter(|path| path.extension().is_some_and(|extension| extension == "hpp")).peekable();
    assert!(by_hand.peek().is_some(), "there are C++ headers");
    by_hand.for_each(|path| check_width(&path.display().to_string(), &read(&path)));
}
