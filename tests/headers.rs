//! The headers are what the Rust says. Generated here, checked in, compared on every run: `UPDATE=1 cargo test --test
//! headers` writes them anew.

use std::fs;
use std::path::{Path, PathBuf};

/// A topic header: the ffi files it comes from, what it includes, and what stands before and after the generated part.
struct Topic {
    name: &'static str,
    /// Files beside the one of its name, in the order in which they follow it.
    more: &'static [&'static str],
    about: &'static str,
    includes: &'static [&'static str],
    /// Structs with an `_init` function, for which there is an `_INIT` macro.
    inits: &'static [&'static str],
    before: &'static str,
}

const TOPICS: &[Topic] = &[
    Topic {
        name: "base",
        more: &[],
        about: "Results, strings, versions and hooks: what every other header stands on.",
        includes: &["<stddef.h>", "<stdint.h>"],
        inits: &["hob_log_hook", "hob_clock_hook", "hob_zone_hook", "hob_file_hook", "hob_allocator_hook"],
        before: BASE_BEFORE,
    },
    Topic {
        name: "executor",
        more: &[],
        about: "Who does the work: the calling thread, a pool, the host's job system; and what works in the background.",
        includes: &["\"base.h\""],
        inits: &["hob_executor_desc", "hob_executor_statistics"],
        before: "",
    },
    Topic {
        name: "knapsack",
        more: &[],
        about: "The multiple-choice knapsack alone: one option of each setting, greatest value, inside a capacity.",
        includes: &["\"base.h\""],
        inits: &["hob_knapsack_desc", "hob_knapsack_solve_desc", "hob_knapsack_solution", "hob_knapsack_usage"],
        before: "",
    },
    Topic {
        name: "profile",
        more: &[],
        about: "What things have been found to cost: kept, merged, carried to another machine.",
        includes: &["\"base.h\""],
        inits: &["hob_profile_desc", "hob_estimate"],
        before: "",
    },
    Topic {
        name: "goblin",
        more: &["setting", "frame", "control", "product", "strategy", "record"],
        about: "Settings in, choices out, every frame: the goblin keeps a frame inside its budget.",
        includes: &["\"base.h\"", "\"profile.h\""],
        inits: &[
            "hob_goblin_desc",
            "hob_goblin_statistics",
            "hob_setting_desc",
            "hob_decision",
            "hob_reason",
            "hob_product_desc",
            "hob_strategy_desc",
            "hob_replay_report",
        ],
        before: "",
    },
    Topic {
        name: "fingerprint",
        more: &[],
        about: "Names for what is cached: of shader programs, and of the environments they are built for.",
        includes: &["\"base.h\""],
        inits: &["hob_program_key_desc", "hob_environment"],
        before: "",
    },
    Topic {
        name: "store",
        more: &[],
        about: "The files that caches are kept in, where they are not the operating system's.",
        includes: &["\"base.h\""],
        inits: &["hob_file_io"],
        before: "",
    },
    Topic {
        name: "program_cache",
        more: &["state", "statistics", "why", "bundle", "manager", "blob"],
        about: "Program binaries in memory and on the disk, so that nothing is compiled twice.",
        includes: &["\"base.h\"", "\"executor.h\"", "\"fingerprint.h\"", "\"store.h\""],
        inits: &[
            "hob_program_cache_desc",
            "hob_program",
            "hob_blob",
            "hob_program_cache_statistics",
            "hob_histogram",
            "hob_program_miss",
            "hob_program_driver",
            "hob_program_link_desc",
            "hob_program_linked",
        ],
        before: "",
    },
];

const BASE_BEFORE: &str = r#"
/* Define HOB_STATIC when linking the static library on Windows. */
#if defined(_WIN32) && !defined(HOB_STATIC)
#define HOB_IMPORT __declspec(dllimport)
#else
#define HOB_IMPORT
#endif

/* Stable functions. Until 1.0 every function may still change. */
#define HOB_API HOB_IMPORT
/* Functions that may change at any release. */
#define HOB_EXPERIMENTAL_API HOB_IMPORT

#if defined(__cplusplus) && __cplusplus >= 201703L
#define HOB_NODISCARD [[nodiscard]]
#elif defined(__GNUC__)
#define HOB_NODISCARD __attribute__((warn_unused_result))
#else
#define HOB_NODISCARD
#endif

/* The header's version; hob_version() is the library's. */
#define HOB_VERSION_MAJOR @MAJOR@
#define HOB_VERSION_MINOR @MINOR@
#define HOB_VERSION_PATCH @PATCH@
#define HOB_MAKE_VERSION(major, minor, patch) \
    (((uint32_t)(major) << 22) | ((uint32_t)(minor) << 12) | (uint32_t)(patch))
#define HOB_VERSION HOB_MAKE_VERSION(HOB_VERSION_MAJOR, HOB_VERSION_MINOR, HOB_VERSION_PATCH)
"#;

const BASE_AFTER: &str = r#"
/// A hob_str of `size` bytes at `data`.
static inline hob_str hob_str_of(const char *data, size_t size) {
    hob_str text;
    text.data = data;
    text.len = size;
    return text;
}

/// A hob_str of text that ends in NUL.
static inline hob_str hob_str_from(const char *text) {
    return hob_str_of(text, text ? SIZE_MAX : 0);
}

/// A hob_str of a string literal.
#define HOB_STR(literal) hob_str_of("" literal, sizeof(literal) - 1)
"#;

fn generate(topic: &Topic) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut config =
        cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("cbindgen.toml is there and well formed");
    let more = topic.more.iter().map(|part| root.join(format!("src/ffi/{}_{part}.rs", topic.name)));
    let sources: Vec<PathBuf> = std::iter::once(root.join(format!("src/ffi/{}.rs", topic.name))).chain(more).collect();
    config.export.include =
        sources.iter().flat_map(|source| enums(&fs::read_to_string(source).expect("the source is there"))).collect();
    let builder = cbindgen::Builder::new().with_config(config);
    let builder = sources.into_iter().fold(builder, cbindgen::Builder::with_src);
    let bindings = builder.generate().expect("the sources parse");
    let mut generated = Vec::new();
    bindings.write(&mut generated);
    let generated = String::from_utf8(generated).expect("cbindgen writes UTF-8");
    // A standard attribute comes before `__declspec`, or it would belong to the type.
    let generated = generated
        .replace("HOB_API HOB_NODISCARD", "HOB_NODISCARD HOB_API")
        .replace("HOB_API\nHOB_NODISCARD\n", "HOB_NODISCARD HOB_API\n");

    let guard = format!("HOBGOBLIN_{}_H", topic.name.to_uppercase());
    let files = if topic.more.is_empty() { format!("{}.rs", topic.name) } else { format!("{}*.rs", topic.name) };
    let mut header = format!(
        "// hobgoblin/{}.h: {}\n// Generated from src/ffi/{}; do not edit. MIT OR Apache-2.0.\n\n#ifndef {guard}\n#define {guard}\n\n",
        topic.name, topic.about, files
    );
    topic.includes.iter().for_each(|include| header += &format!("#include {include}\n"));
    header += &topic
        .before
        .replace("@MAJOR@", env!("CARGO_PKG_VERSION_MAJOR"))
        .replace("@MINOR@", env!("CARGO_PKG_VERSION_MINOR"))
        .replace("@PATCH@", env!("CARGO_PKG_VERSION_PATCH"));
    header += "\n";
    header += generated.trim();
    header += "\n";
    if topic.name == "base" {
        header += BASE_AFTER;
    }
    header += &initialisers(topic, &generated);
    header += &format!("\n#endif  // {guard}\n");
    header
}

/// All enums of a source. Functions take them as integers, so cbindgen would not see that they are needed.
fn enums(source: &str) -> Vec<String> {
    let name = |line: &str| Some(line.strip_prefix("pub enum ")?.trim_end_matches([' ', '{']).to_owned());
    source.lines().filter_map(name).collect()
}

/// An `_INIT` macro a struct: its size is the caller's, its content the library's.
fn initialisers(topic: &Topic, generated: &str) -> String {
    let one = |name: &&str| {
        let (upper, strides) = (name.to_uppercase(), strides(generated, name));
        format!(
            "\n/// A {name} with defaults, of this header's size.\nstatic inline {name} {name}_default(void) {{\n    \
             {name} value;\n    (void){name}_init(&value, (uint32_t)sizeof(value));\n{strides}    return value;\n}}\n\
             #define {upper}_INIT ({name}_default())\n"
        )
    };
    topic.inits.iter().map(one).collect()
}

/// What sets the strides of a struct, which are the caller's too: a newer library's elements may be larger. Before each
/// stands of what it is the size.
fn strides(generated: &str, name: &str) -> String {
    let (before, _) = generated.split_once(&format!("\n}} {name};")).expect("the struct is in the header");
    let fields: Vec<&str> = before.rsplit("typedef struct {").next().unwrap_or(before).lines().map(str::trim).collect();
    let set = |pair: &[&str]| {
        let field = pair[1].strip_prefix("size_t ")?.strip_suffix("_stride;")?;
        let element = pair[0].split(['(', ')']).nth(1).expect("a stride says of what it is the size");
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

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("include/hobgoblin/{name}.h"))
}

fn check(name: &str, expected: &str) {
    let path = path(name);
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

#[test]
fn the_headers_are_what_the_rust_says() {
    TOPICS.iter().for_each(|topic| check(topic.name, &generate(topic)));
    check("hobgoblin", &umbrella());
}

#[test]
fn every_function_of_the_library_is_in_a_header() {
    let ffi = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ffi");
    let headers: String = TOPICS.iter().map(generate).collect();
    for file in fs::read_dir(ffi).expect("src/ffi is there") {
        let path = file.expect("it can be listed").path();
        if path.file_name().is_some_and(|name| name == "fault.rs") {
            continue;
        }
        let source = fs::read_to_string(&path).expect("it can be read");
        for line in source.lines().filter(|line| line.contains("extern \"C\" fn hob_")) {
            let name = line.split("fn ").nth(1).and_then(|rest| rest.split('(').next()).expect("a function has a name");
            assert!(headers.contains(&format!("{name}(")), "{name} of {} is in no header", path.display());
        }
    }
}
