//! ABI compatibility. Clients of the previous headers run on the current library, and clients of the next headers will
//! too.
//!
//! `abi/previous/include` has the previous headers (see docs/abi.md). `abi/hobgoblin.abi` is a dump of
//! the current ABI, which `UPDATE=1 cargo test --test abi` writes. A change that breaks clients needs a higher
//! HOB_ABI_VERSION and a line under "ABI" in the change log.

mod compare;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use compare::incompatible_changes;
use hobgoblin_tests::cpp::{compiler, files, harness_library, is_installed, root, run};
use hobgoblin_tests::layouts::{Headers, grown, initialised, previous, run_client, scratch, types_source};

#[test]
fn previous_clients_run_on_todays_library() {
    let Some(tool) = compiler() else { return };
    run_client("previous-today", &previous(), &tool, &harness_library());
}

#[test]
fn clients_whose_versioned_structs_have_grown_run_on_todays_library() {
    let Some(tool) = compiler() else { return };
    let today = Headers::read(root(), &tool, "today");
    let folder = grown(&today.api);
    let bigger = Headers::read(&folder, &tool, "grown");
    for name in initialised(&today.api) {
        assert!(bigger.layouts[name].size > today.layouts[name].size, "{name} has not grown");
    }
    run_client("grown", &folder, &tool, &harness_library());
}

#[test]
fn abi_client_uses_every_versioned_struct() {
    let Some(tool) = compiler() else { return };
    let today = Headers::read(root(), &tool, "used");
    let read = |path: PathBuf| fs::read_to_string(root().join(path)).expect("a source can be read");
    let client: String = files("cpp_tests/abi", &["cpp"]).into_iter().map(read).collect();
    let names = initialised(&today.api);
    assert!(names.len() > 20, "only {names:?} were found in the headers");
    let is_used = |name: &str| client.contains(&format!("Guarded<{name}> "));
    // Structs that the library presets for callbacks.
    let in_callbacks = ["hob_sample", "hob_pipeline_job", "hob_node_call", "hob_cognition_call"];
    let missing: Vec<_> = names.iter().filter(|name| !is_used(name) && !in_callbacks.contains(name)).collect();
    assert!(missing.is_empty(), "cpp_tests/abi never fills {missing:?}");
}

#[test]
fn headers_are_compatible_with_the_previous_ones() {
    let Some(tool) = compiler() else { return };
    let previous = Headers::read(&previous(), &tool, "compared-previous");
    let today = Headers::read(root(), &tool, "compared-today");
    let changes = incompatible_changes(&previous, &today);
    let (before, now) = (previous.abi_version(), today.abi_version());
    assert!(now >= before, "HOB_ABI_VERSION was {before} and is {now}");
    if changes.is_empty() {
        return;
    }
    let changes = changes.join("\n  ");
    assert!(now > before, "previous clients break; undo this, or raise HOB_ABI_VERSION above {before}:\n  {changes}");
    let log = fs::read_to_string(root().join("CHANGELOG.md")).expect("there is a change log");
    assert!(
        log.lines().any(|line| line.starts_with('#') && line.contains("ABI")),
        "CHANGELOG.md has no heading for ABI"
    );
    eprintln!("HOB_ABI_VERSION is {now} instead of {before}, for these changes:\n  {changes}");
}

#[test]
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
fn abi_dump_matches_the_headers() {
    let Some(tool) = compiler() else { return };
    if !is_installed("abidw", "abigail-tools") || !is_installed("abidiff", "abigail-tools") {
        return;
    }
    let folder = scratch("dump");
    let today = Headers::read(root(), &tool, "dump");
    fs::write(folder.join("abi_types.c"), types_source(&today.api)).expect("the target directory can be written");
    let mut c = cc::Build::new();
    c.std("c11").opt_level(0).debug(true).pic(true).cargo_metadata(false).warnings(false).out_dir(&folder);
    c.target(env!("HOB_TARGET")).host(env!("HOB_HOST"));
    let mut compile = c.get_compiler().to_command();
    // A relative path, so that the dump has no path of this machine.
    compile.current_dir(&folder).arg("-I").arg(root().join("include"));
    run(compile.args(["-shared", "abi_types.c", "-o", "libabi_types.so"]));
    let dump = folder.join("hobgoblin.abi");
    let mut abidw = Command::new("abidw");
    abidw.args(["--no-show-locs", "--no-corpus-path", "--no-comp-dir-path", "--type-id-style", "hash"]);
    run(abidw.arg("--out-file").arg(&dump).arg(folder.join("libabi_types.so")));
    let kept = root().join("abi/hobgoblin.abi");
    if std::env::var_os("UPDATE").is_some() {
        fs::create_dir_all(kept.parent().expect("it is in a folder")).expect("the folder can be made");
        fs::copy(&dump, &kept).expect("the dump can be written");
    }
    let text = fs::read_to_string(&kept).expect("abi/hobgoblin.abi is checked in");
    for place in ["filepath=", "comp-dir-path=", "='/"] {
        assert!(!text.contains(place), "abi/hobgoblin.abi names a path of a machine: {place}");
    }
    let compared = Command::new("abidiff").args(["--no-show-locs"]).args([&kept, &dump]).output();
    let compared = compared.expect("abidiff runs");
    assert!(
        compared.status.success(),
        "the ABI has changed; read this, and run `UPDATE=1 cargo test --test abi`:\n{}{}",
        String::from_utf8_lossy(&compared.stdout),
        String::from_utf8_lossy(&compared.stderr)
    );
}

const BEFORE: &str = "
#define HOB_ABI_VERSION 1
#define HOB_LANE_COUNT 8
typedef enum hob_lane { HOB_LANE_GPU = 0, HOB_LANE_FRAME = 1 } hob_lane;
typedef struct hob_goblin hob_goblin;
typedef struct hob_desc { uint32_t struct_size; uint32_t flags; double limit; uint32_t last; } hob_desc;
typedef struct hob_id { uint32_t index1; uint32_t generation; } hob_id;
typedef struct hob_option { double value; } hob_option;
typedef struct hob_pair { double value; } hob_pair;
typedef struct hob_trial { uint32_t a; } hob_trial;
HOB_API int hob_desc_init(hob_desc *desc, uint32_t size);
HOB_API int hob_add(hob_goblin *goblin, hob_id id, const hob_option *options, size_t stride, uint32_t count);
HOB_API int hob_set(hob_goblin *goblin, double low, double high, void (*call)(void *user_data, hob_pair *pair));
HOB_API int hob_measure(hob_goblin *goblin, hob_lane lane);
HOB_EXPERIMENTAL_API int hob_try(hob_goblin *goblin, const hob_trial *trial);
";

/// The incompatible changes after one replacement in `BEFORE`.
fn changed(tool: &cc::Tool, number: usize, from: &str, to: &str) -> Vec<String> {
    assert!(BEFORE.contains(from), "{from}");
    let read = |name: &str, text: &str| {
        let name = format!("case-{number}-{name}");
        let folder = scratch(&name);
        let include = folder.join("include/hobgoblin");
        fs::create_dir_all(&include).expect("the target directory can be written");
        let start = "#include <stddef.h>\n#include <stdint.h>\n#define HOB_API\n#define HOB_EXPERIMENTAL_API\n";
        fs::write(include.join("hobgoblin.h"), format!("{start}{text}")).expect("it can be written");
        Headers::read(&folder, tool, &name)
    };
    incompatible_changes(&read("before", BEFORE), &read("after", &BEFORE.replace(from, to)))
}

#[test]
fn appending_is_compatible_and_every_other_change_is_reported() {
    let Some(tool) = compiler() else { return };
    let cases = [
        ("HOB_LANE_FRAME = 1", "HOB_LANE_FRAME = 1, HOB_LANE_USER = 2", ""),
        ("uint32_t last; }", "uint32_t last; uint32_t more; double appended; }", "hob_desc.more fills padding"),
        ("uint32_t last; }", "uint32_t last; double appended; }", ""),
        ("hob_option { double value; }", "hob_option { double value; double appended; }", ""),
        ("hob_trial { uint32_t a; }", "hob_trial { double b; }", ""),
        ("HOB_EXPERIMENTAL_API int hob_try(hob_goblin *goblin, const hob_trial *trial);", "", ""),
        ("HOB_EXPERIMENTAL_API int hob_try", "HOB_API int hob_try", ""),
        ("int hob_measure(", "int hob_new(void);\nHOB_API int hob_measure(", ""),
        ("hob_lane lane)", "hob_lane which)", ""),
        ("#define HOB_ABI_VERSION 1", "#define HOB_ABI_VERSION 2", ""),
        ("HOB_LANE_FRAME = 1", "HOB_LANE_FRAME = 2", "HOB_LANE_FRAME was 1 and is 2"),
        (", HOB_LANE_FRAME = 1", "", "HOB_LANE_FRAME was removed"),
        ("HOB_LANE_COUNT 8", "HOB_LANE_COUNT 9", "HOB_LANE_COUNT was 8 and is 9"),
        (
            "uint32_t flags; double limit;",
            "double limit; uint32_t flags;",
            "hob_desc.flags was removed, renamed or moved",
        ),
        ("double limit;", "uint64_t limit;", "hob_desc.limit has another type"),
        ("uint32_t flags;", "uint64_t flags;", "hob_desc.flags has another type"),
        ("double limit; uint32_t last;", "double limit;", "hob_desc.last was removed"),
        ("generation; }", "generation; uint32_t more; }", "hob_id has grown by more, and hob_add has it by value"),
        (
            "hob_pair { double value; }",
            "hob_pair { double value; double b; }",
            "hob_set has neither its struct_size nor a stride",
        ),
        ("hob_lane lane)", "uint32_t lane)", "hob_measure has other parameters"),
        ("double low, double high", "double high, double low", "hob_set has its parameters in another order"),
        ("hob_pair *pair)", "const hob_pair *pair)", "hob_set has other parameters"),
        (
            "HOB_API int hob_measure",
            "HOB_EXPERIMENTAL_API int hob_measure",
            "hob_measure was stable and is experimental",
        ),
        ("HOB_API int hob_measure", "HOB_API unsigned hob_measure", "hob_measure returns another type"),
        ("HOB_API int hob_measure(hob_goblin *goblin, hob_lane lane);", "", "hob_measure was removed"),
        (
            "typedef struct hob_goblin hob_goblin;",
            "typedef struct hob_goblin { int a; } hob_goblin;",
            "hob_goblin is no opaque type",
        ),
    ];
    for (number, (from, to, expected)) in cases.into_iter().enumerate() {
        let found = changed(&tool, number, from, to);
        let is_as_expected = match expected {
            "" => found.is_empty(),
            expected => found.iter().any(|change| change.contains(expected)),
        };
        assert!(is_as_expected, "{from:?} to {to:?} must report {expected:?}, reported {found:?}");
    }
}
