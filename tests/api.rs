//! Misuse of the C API: cases for every exported function, and a fuzzer. Both are generated from the table of the
//! headers.
//!
//! `cpp_tests/api/world.h` has a valid value for each type of parameter. A new function needs no other test code.

use std::path::PathBuf;
use std::process::{Command, Output};

use hobgoblin_tests::api::{Api, Function};
use hobgoblin_tests::api_table::{Null, null};
use hobgoblin_tests::cpp::{api_program, output, root, run, write_api_table};

/// Runs a program of `cpp_tests/api/` in an empty folder. `None`: there is no compiler.
fn run_program(name: &str, arguments: &[&str]) -> Option<Output> {
    let program = api_program(name)?;
    let folder = output().join(format!("{name}-files"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the target directory can be written");
    let output = run(Command::new(program).arg("--directory").arg(&folder).args(arguments));
    print!("{}", String::from_utf8_lossy(&output.stdout));
    Some(output)
}

#[test]
fn every_function_survives_every_kind_of_misuse() {
    let Some(output) = run_program("cases", &[]) else { return };
    let printed = String::from_utf8_lossy(&output.stdout);
    let covered = format!("functions covered: {} of", Api::read().functions.len());
    assert!(printed.contains(&covered), "the program did not print \"{covered}\"");
}

#[test]
fn random_calls_cause_no_fault() {
    let _ = run_program("fuzz", &["--seed", "1", "--calls", "50000", "--seconds", "20"]);
    let _ = run_program("fuzz", &["--seed", "2", "--calls", "20000", "--seconds", "20", "--threads", "4"]);
}

/// For tools/sanitize.sh and tools/fuzz_api.sh, which compile with other flags.
#[test]
fn function_table_is_written_to_a_requested_path() {
    let path = std::env::var_os("HOB_API_TABLE").map_or_else(|| output().join("table.h"), PathBuf::from);
    write_api_table(&path);
}

#[test]
fn headers_give_a_complete_table() {
    let api = Api::read();
    assert!(api.functions.len() > 100, "only {} functions", api.functions.len());
    assert!(api.structs.len() > 30 && api.enums.len() > 10 && api.handles.len() > 4);
    for function in &api.functions {
        let has_doc = !function.doc.is_empty() || function.name.ends_with("_init");
        assert!(has_doc, "{}: {} has no doc", function.at, function.name);
    }
    let text: String = [
        "base",
        "balance",
        "goblin",
        "program_cache",
        "pipeline",
        "executor",
        "knapsack",
        "profile",
        "fingerprint",
        "store",
        "graph",
        "perception",
    ]
    .map(|name| root().join(format!("include/hobgoblin/{name}.h")))
    .map(|path| std::fs::read_to_string(path).expect("a header can be read"))
    .concat();
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//") && !line.starts_with('#'));
    let declared = code.filter(|line| line.contains("HOB_API") || line.contains("HOB_EXPERIMENTAL_API")).count();
    assert_eq!(api.functions.len(), declared, "functions (left) and lines that declare one (right)");
}

fn parsed(text: &str) -> Api {
    let mut api = Api::default();
    api.add("made_up", text);
    api
}

#[test]
fn tagged_and_untagged_types_parse_alike() {
    let untagged = "typedef struct hob_a hob_a;\ntypedef struct {\n uint32_t struct_size;\n double x[4];\n} hob_b;\n\
                    typedef enum {\n /// One.\n HOB_C_ONE = 1,\n HOB_C_TWO,\n} hob_c;\n";
    let tagged = untagged.replace("struct {", "struct hob_b {").replace("enum {", "enum hob_c {");
    for text in [untagged, &tagged] {
        let api = parsed(text);
        assert_eq!(api.handles, ["hob_a"]);
        assert!(api.structs[0].name == "hob_b" && api.structs[0].is_versioned());
        assert_eq!(api.structs[0].fields[1].array, Some(4));
        assert_eq!(api.enums[0].values, [("HOB_C_ONE".to_owned(), 1), ("HOB_C_TWO".to_owned(), 2)]);
    }
    let sized = "enum hob_c\n#ifdef __cplusplus\n  : uint32_t\n#endif // __cplusplus\n {\n HOB_C_ONE = 0,\n};\n\
                 #ifndef __cplusplus\ntypedef uint32_t hob_c;\n#endif // __cplusplus\n";
    assert_eq!(parsed(sized).enums[0].name, "hob_c");
}

#[test]
#[should_panic(expected = "include/hobgoblin/made_up.h:2: expected")]
fn parser_reports_line_of_unknown_declaration() {
    let _ = parsed("\nint hob_x(void);\n");
}

fn function(doc: &str, parameters: &str) -> Function {
    let doc: String = doc.lines().map(|line| format!("/// {line}\n")).collect();
    parsed(&format!("{doc}HOB_API hob_result hob_x({parameters});\n")).functions.remove(0)
}

#[test]
fn doc_names_nullable_parameters() {
    let one = function(
        "Post `run`. `release` (may be NULL) is called\nafter `run`.",
        "void (*run)(void), void (*release)(void)",
    );
    assert_eq!((null(&one, 0), null(&one, 1)), (Null::Never, Null::Allowed));
    let two = function("`data` may be NULL when `size` is 0.", "const void *data, size_t size, double *out");
    assert_eq!((null(&two, 0), null(&two, 2)), (Null::WhenEmpty, Null::Never));
    let three = function("`*out_a` and `*out_b`; either may be NULL.", "hob_g *g, double *out_a, double *out_b");
    assert_eq!((null(&three, 0), null(&three, 1), null(&three, 2)), (Null::Never, Null::Allowed, Null::Allowed));
    let doc = "Compiles.\n`*out_a` gets the result of `x`. Both may be NULL.\n\n    hob_x(NULL, &a, &b);";
    let five = function(doc, "hob_g *g, double *out_a, double *out_b");
    assert_eq!((null(&five, 0), null(&five, 1), null(&five, 2)), (Null::Never, Null::Allowed, Null::Never));
    let six = function("Gets the desc; `tuning` is NULL.", "const hob_g *g, double *out_desc");
    assert_eq!(null(&six, 1), Null::Never);
    let four = function("Lift the strikes of a key; NULL: of all.", "const hob_g *g, const double *key");
    assert_eq!((null(&four, 0), null(&four, 1)), (Null::Never, Null::Allowed));
}
