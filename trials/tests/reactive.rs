//! A suite of others over the C interface of graphs: `reactive-framework-test-suite` of npm. Its cases check values, and how
//! often functions run. The adapter is in `trials/reactive`, and docs/reactive_suite.md explains the results.
//!
//! Without Node.js 18 or newer the tests are skipped, unless CI or HOB_REQUIRE_ALL is set.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use hobgoblin_tests::cpp::{files, harness_library, is_installed, root, run, scratch, skip};
use serde_json::Value;

const EVALUATORS: [&str; 5] = ["lazy", "auto", "list", "bitset", "parallel"];

/// The sections of the suite, and their numbers of cases.
const SECTIONS: [(&str, usize); 13] = [
    ("Batching / Transaction", 20),
    ("Computed Evaluation", 13),
    ("Cycle & Infinite Loop Detection", 6),
    ("Dynamic Dependencies", 14),
    ("Effect Lifecycle", 19),
    ("Equality & Same-Value Optimization", 4),
    ("Error Handling", 10),
    ("Graph Propagation", 22),
    ("Inner Write", 29),
    ("Memory & GC", 4),
    ("Nested Effects & Ordering", 10),
    ("Stale Evaluation Order", 5),
    ("Untracked / Unsampled Reads", 7),
];

/// The section without right or wrong: which of several behaviours there is.
const ANSWERS: [(&str, &str); 16] = [
    ("#17 computed evaluation timing", "lazy"),
    ("#15 unread computed subscription", "no subscription"),
    ("#146 recompute count on multiple dep changes", "single recompute"),
    ("#29 NaN equality semantics", "Object.is"),
    ("#167 computed NaN downstream propagation", "Object.is"),
    ("#30 same-reference signal write", "skips"),
    ("#176 batch return value", "returns value"),
    ("#173 mid-propagation read isolation", "post-write"),
    ("#174 intra-run read-after-write", "post-write"),
    ("#88 effect subscription after first-run throw", "unsubscribes"),
    ("#106 effect throw isolation in flush", "continues"),
    ("#86 computed error caching", "caches error"),
    ("#107 non-Error throw caching", "caches error"),
    ("#49 inner write re-run through computed chain", "runs 2x per write"),
    ("#62 infinite loop in effect", "cycle detected"),
    ("#175 effect multi-signal write batching", "batched"),
];

/// The cases that notice when every run of a node counts as a change of its output.
const CUTOFFS: [&str; 9] = [
    "#119 batch: computed same result despite source change — no effect run",
    "#169 live pruning: effect not re-run when intermediate computed returns same",
    "#170 inner effect not triggered when computed dep resolves unchanged",
    "#192 effect not re-run when computed dep value unchanged",
    "#197 chained value-equality stops propagation across multiple writes",
    "#220 computed same object reference — no downstream propagation",
    "#27 downstream not re-evaluated unless value changed",
    "#34 pruning stops at first unchanged node",
    "#7 unchanged computed values stop propagation to downstream",
];

/// A copy of the adapter with the packages that it needs. `None`: they cannot be installed here.
static ADAPTER: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
    if !is_installed("node", "nodejs") || !is_installed("npm", "npm") {
        return None;
    }
    let version = String::from_utf8(run(Command::new("node").arg("--version")).stdout).expect("it is ASCII");
    let major = version.trim_start_matches('v').split('.').next().and_then(|major| major.parse::<u32>().ok());
    if major.is_none_or(|major| major < 18) {
        skip(&format!("Node.js is {}: 18 or newer is needed", version.trim()));
        return None;
    }
    let folder = scratch().join("reactive");
    fs::create_dir_all(&folder).expect("the target directory can be written");
    let lock = |folder: &Path| fs::read(folder.join("package-lock.json")).ok();
    let source = root().join("trials/reactive");
    let is_current = folder.join("node_modules/.package-lock.json").exists() && lock(&folder) == lock(&source);
    for file in files("trials/reactive", &["mjs", "json"]) {
        fs::copy(root().join(&file), folder.join(file.file_name().expect("it is a file"))).expect("it can be copied");
    }
    if !is_current {
        let flags = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
        let installed = Command::new("npm").args(flags).current_dir(&folder).output().expect("npm is installed");
        if !installed.status.success() {
            skip(&format!("npm cannot install packages:\n{}", String::from_utf8_lossy(&installed.stderr)));
            return None;
        }
    }
    Some(folder)
});

/// The output of a script of the adapter.
fn script(name: &str, arguments: &[&str]) -> Option<Vec<u8>> {
    static LIBRARY: LazyLock<PathBuf> = LazyLock::new(harness_library);
    let folder = ADAPTER.as_ref()?;
    Some(run(Command::new("node").current_dir(folder).arg(name).arg(&*LIBRARY).args(arguments)).stdout)
}

/// The results of all cases, with the arguments of `framework` in `adapter.mjs`.
fn results(arguments: &[&str]) -> Option<Vec<Value>> {
    let output = script("run.mjs", arguments)?;
    Some(serde_json::from_slice(&output).expect("run.mjs prints JSON"))
}

fn text<'a>(result: &'a Value, key: &str) -> &'a str {
    result[key].as_str().unwrap_or_default()
}

/// The cases that did not pass, ordered by name. Skipped cases are among them.
fn not_passed(results: &[Value]) -> Vec<&str> {
    let mut names: Vec<&str> = results
        .iter()
        .filter(|result| text(result, "outcome") != "passed")
        .map(|result| text(result, "name"))
        .collect();
    names.sort_unstable();
    names
}

#[test]
fn graphs_pass_the_suite_for_reactive_frameworks() {
    for evaluator in EVALUATORS {
        let Some(results) = results(&[evaluator]) else { return };
        assert_eq!(not_passed(&results), [""; 0], "{evaluator}");
        for (section, count) in SECTIONS {
            let found = results.iter().filter(|result| text(result, "section") == section).count();
            assert_eq!(found, count, "cases of the section {section}");
        }
        let answers: Vec<_> = results
            .iter()
            .filter(|result| result.get("answer").is_some())
            .map(|result| (text(result, "name"), text(result, "answer")))
            .collect();
        assert_eq!(answers, ANSWERS, "{evaluator}");
        eprintln!("{evaluator}: {} cases passed", results.len() - answers.len());
    }
}

/// So the graph decides what runs, not the adapter.
#[test]
fn suite_notices_a_graph_without_cutoffs() {
    let Some(results) = results(&["lazy", "never"]) else { return };
    assert_eq!(not_passed(&results), CUTOFFS);
}

#[test]
fn functions_with_changing_reads_run_only_when_they_must() {
    let Some(lazy) = script("random.mjs", &["lazy", "200"]) else { return };
    for evaluator in EVALUATORS {
        assert_eq!(script("random.mjs", &[evaluator, "200"]).as_ref(), Some(&lazy), "runs by {evaluator}");
    }
}
