//! Names, size and stack of C source, and graphs that are refused.

use std::process::Command;

use super::emit::{compile, run};
use super::*;
use crate::base::Code;

/// A graph with one sink of each of these types, and their names.
fn graph_of(kinds: &[&str]) -> Graph<Closure> {
    let mut graph = Graph::new().unwrap();
    for kind in kinds {
        let options = NodeOptions {
            name: kind,
            kind,
            class: Class::Pure,
            is_sink: true,
            inputs: &[Input::default()],
            outputs: &[Output::default()],
        };
        graph.add(&options, closure(|_| Verdict::Done)).unwrap();
    }
    graph
}

/// Names that the source uses inside functions, or that only look like reserved ones.
const FREE_NAMES: [&str; 36] = [
    "g",
    "self",
    "node",
    "call",
    "inputs",
    "outputs",
    "last",
    "message",
    "verdict",
    "is_good",
    "need",
    "value",
    "row",
    "pin",
    "state",
    "frame",
    "path",
    "next",
    "user_data",
    "evaluate",
    "blur",
    "patches",
    "clock",
    "time",
    "signal",
    "select",
    "half",
    "level",
    "formula",
    "count",
    "hobbit",
    "null",
    "NUL",
    "init",
    "size",
    "mem",
];

const TAKEN_NAMES: [&str; 60] = [
    "",
    "1a",
    "a b",
    "a-b",
    "\u{e9}t\u{e9}",
    "a$b",
    "a\0b",
    "_x",
    "_X",
    "__x",
    "a__b",
    "__func__",
    "int",
    "restrict",
    "inline",
    "_Bool",
    "_Atomic",
    "class",
    "this",
    "asm",
    "typeof",
    "bool",
    "true",
    "nullptr",
    "static_assert",
    "alignas",
    "thread_local",
    "linux",
    "unix",
    "i386",
    "defined",
    "offsetof",
    "NULL",
    "SIZE_MAX",
    "INT32_C",
    "uint32_t",
    "size_t",
    "wchar_t",
    "ptrdiff_t",
    "memcpy",
    "memset",
    "strlen",
    "strcpy",
    "printf",
    "main",
    "abs",
    "sin",
    "sinf",
    "isnan",
    "floorl",
    "exp",
    "hob",
    "hob_value",
    "hob_graph_create",
    "hob_node_call",
    "HOB_STR",
    "HOB_RESULT_OK",
    "HOB_API",
    "lgamma_r",
    "index",
];

/// Compiles declarations and definitions in three dialects. Whether there is a compiler.
fn compiles(name: &str, source: &str) -> bool {
    [["-std=c99", "-xc"], ["-std=gnu17", "-xc"], ["-std=c++17", "-xc++"]].iter().all(|dialect| {
        let arguments = [dialect[0], dialect[1], "-fsyntax-only", "-Wno-shadow"];
        let program = compile(name, source, &arguments);
        program.map(|program| std::fs::remove_dir_all(program.parent().unwrap()).unwrap()).is_some()
    })
}

#[test]
fn names_of_emitted_source_compile_or_are_refused() {
    let mut of_prefixes = String::new();
    for prefix in FREE_NAMES {
        of_prefixes +=
            &graph_of(&["last"]).emit(&format!("{prefix}{}", if prefix == "last" { "2" } else { "" })).unwrap();
    }
    let of_types =
        graph_of(&FREE_NAMES).emit("patch").unwrap() + &Graph::<Closure>::new().unwrap().emit("empty").unwrap();
    if !compiles("prefixes", &of_prefixes) || !compiles("types", &of_types) {
        return crate::testing::skip("there is no C compiler");
    }
    for name in TAKEN_NAMES {
        let refused = graph_of(&[name]).emit("patch").unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument, "{name}");
        assert!(refused.sentence().contains("must be the name of a C function"), "{refused}");
        let refused = graph_of(&["blur"]).emit(name).unwrap_err();
        assert!(refused.sentence().contains("the prefix is"), "{refused}");
    }
    for name in ["patch", "patch_init", "patch_at_blur", "patch_x"] {
        let refused = graph_of(&[name]).emit("patch").unwrap_err();
        assert!(refused.sentence().contains("names that start with the prefix"), "{refused}");
    }
}

#[test]
fn every_name_of_the_c_library_compiles_as_a_type_or_is_refused() {
    let headers =
        ["complex", "ctype", "fenv", "inttypes", "math", "stdio", "stdlib", "string", "time", "wchar", "wctype"];
    let headers: String = headers.iter().map(|header| format!("#include <{header}.h>\n")).collect();
    let file = std::env::temp_dir().join(format!("hob_emit_{}_library.c", std::process::id()));
    std::fs::write(&file, headers).unwrap();
    let Ok(output) = Command::new("cc").args(["-std=gnu17", "-E", "-P"]).arg(&file).output() else {
        return crate::testing::skip("there is no C compiler");
    };
    std::fs::remove_file(&file).unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut names: Vec<&str> =
        text.split(|character: char| !character.is_ascii_alphanumeric() && character != '_').collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| graph_of(&[name]).emit("patch").is_ok());
    assert!(names.contains(&"clock") && !names.contains(&"floor"), "{names:?}");
    assert!(compiles("library", &graph_of(&names).emit("patch").unwrap()));
}

#[test]
fn lazy_chain_of_20_000_nodes_needs_little_stack() {
    const NODES: u32 = 20_000;
    let mut graph: Graph<Closure> = Graph::new().unwrap();
    let mut last = None;
    for at in 0..NODES {
        let inputs = [Input { lazy: true, ..Input::default() }];
        let options = NodeOptions {
            kind: "add_one",
            class: Class::Pure,
            is_sink: at == NODES - 1,
            inputs: &inputs,
            outputs: &[Output::default()],
            ..NodeOptions::default()
        };
        let node = graph.add(&options, closure(|_| Verdict::Done)).unwrap();
        if let Some(last) = last {
            graph.connect(last, 0, node, 0).unwrap();
        }
        last = Some(node);
    }
    let source = graph.emit("chain").unwrap();
    let bytes = source.len() / NODES as usize;
    assert!(bytes < 150, "{bytes} bytes a node");
    let main = r#"
#include <stdio.h>
hob_verdict add_one(void *user_data, hob_node_call *call) {
    (void)user_data;
    if (!(call->available & 1)) { call->need = 1; return HOB_VERDICT_NEED; }
    call->outputs[0].integer = call->inputs[0].integer + 1;
    return HOB_VERDICT_DONE;
}
int main(void) {
    static chain g;
    hob_value value;
    chain_init(&g);
    for (int frame = 0; frame < 3; ++frame) chain_evaluate(&g);
    chain_get_value(&g, chain_node_count - 1, 0, &value);
    printf("%d %d\n", (int)value.integer, (int)g.runs);
    return 0;
}
"#;
    let start = std::time::Instant::now();
    let Some(program) = compile("chain", &(source + main), &["-std=c99", "-O1"]) else {
        return crate::testing::skip("there is no C compiler");
    };
    println!("{NODES} nodes: {bytes} bytes of source a node, compiled in {:?}", start.elapsed());
    assert_eq!(run(&program, 1024), "20000 0\n");
}

#[test]
fn graph_that_c_cannot_express_is_refused() {
    let refusal = |output: Output| {
        let mut graph: Graph<Closure> = Graph::new().unwrap();
        let options = NodeOptions {
            name: "blur",
            kind: "blur",
            is_sink: true,
            outputs: &[Output::default(), output],
            ..NodeOptions::default()
        };
        graph.add(&options, closure(|_| Verdict::Done)).unwrap();
        let refused = graph.emitted_nodes().unwrap_err();
        assert_eq!(graph.emit("patch").unwrap_err().sentence(), refused.sentence());
        assert_eq!(refused.code(), Code::Unsupported);
        assert!(refused.sentence().starts_with("output 1 of \"blur\""), "{refused}");
    };
    refusal(Output { is_owned: true, ..Output::default() });
    refusal(Output { cutoff: Cutoff::Callback, ..Output::default() });

    let mut graph = graph_of(&["blur", "grow"]);
    let options = Evaluation { node_limit: 1, ..Evaluation::default() };
    assert!(!graph.evaluate(&Executor::inline(), options).unwrap().is_complete);
    assert_eq!(graph.emit("patch").unwrap_err().code(), Code::InvalidArgument);
    graph.evaluate(&Executor::inline(), Evaluation::default()).unwrap();
    graph.emit("patch").unwrap();
}
