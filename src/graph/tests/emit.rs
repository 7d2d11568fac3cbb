//! Graphs as C source, compiled and compared.

use std::fmt::Write as _;
use std::process::Command;
use std::sync::atomic::Ordering::Relaxed;

use super::model::{Pair, Random};
use super::*;
use crate::base::Code;

/// The function of all nodes of a random graph, as in the model.
const FORMULA: &str = r#"
#include <stdio.h>
typedef struct formula_data { uint64_t salt, is_volatile, may_fail, lazy; } formula_data;
static uint64_t tick;
hob_verdict formula(void *user_data, hob_node_call *call) {
    const formula_data *data = user_data;
    uint64_t sum = data->salt;
    for (uint32_t i = 0; i < call->input_count; ++i)
        if (!(data->lazy >> i & 1)) sum += (i + 1) * call->inputs[i].words[0];
    if (data->is_volatile) sum += tick;
    if (data->lazy) {
        uint32_t lazy[64], count = 0;
        for (uint32_t i = 0; i < 64; ++i) if (data->lazy >> i & 1) lazy[count++] = i;
        for (uint64_t rest = sum % 3; rest > 0; --rest) {
            const uint32_t at = lazy[sum / 3 % count];
            if (!(call->available >> at & 1)) { call->need = (uint64_t)1 << at; return HOB_VERDICT_NEED; }
            sum += 1 + call->inputs[at].words[0];
        }
    }
    if (data->may_fail && sum % 5 == 0) {
        snprintf(call->message, call->message_capacity, "%d", (int)sum);
        return HOB_VERDICT_FAILED;
    }
    call->outputs[0].words[0] = sum % 4; call->outputs[0].words[1] = 0;
    call->outputs[1].words[0] = sum / 4 % 2; call->outputs[1].words[1] = 0;
    return HOB_VERDICT_DONE;
}
"#;

/// Runs a program of C. `None` without a compiler.
fn run(name: &str, source: &str) -> Option<String> {
    let folder = std::env::temp_dir().join(format!("hob_emit_{}_{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (file, program) = (folder.join("emitted.c"), folder.join("emitted"));
    std::fs::write(&file, source).unwrap();
    let include = concat!(env!("CARGO_MANIFEST_DIR"), "/include");
    let flags =
        ["-std=c99", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-fsanitize=undefined", "-I", include];
    let compiled = Command::new("cc").args(flags).arg("-o").args([&program, &file]).output().ok()?;
    assert!(compiled.status.success(), "{}\n{source}", String::from_utf8_lossy(&compiled.stderr));
    let output = Command::new(&program).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::remove_dir_all(&folder).unwrap();
    Some(String::from_utf8(output.stdout).unwrap())
}

/// The program that evaluates an emitted graph in some frames, and prints the sinks of each.
fn program(pair: &Pair, emitted: &Emitted, frames: u64) -> String {
    let mut text =
        format!("{}\n{FORMULA}\nint main(void) {{\n    static patch g;\n    patch_init(&g);\n", emitted.source);
    let by_id = |id: &Id| pair.model.nodes.values().find(|node| node.id == *id).unwrap();
    for (number, id) in emitted.nodes.iter().enumerate() {
        if let Some(formula) = by_id(id).formula {
            let (is_volatile, may_fail) = (u8::from(formula.is_volatile), u8::from(formula.may_fail));
            let data = format!("{{{}, {is_volatile}, {may_fail}, {}}}", formula.salt, formula.lazy);
            writeln!(text, "    formula_data data_{number} = {data}; g.user_data[{number}] = &data_{number};").unwrap();
        }
    }
    writeln!(text, "    for (tick = 0; tick < {frames}; ++tick) {{\n        patch_evaluate(&g);").unwrap();
    for (number, id) in emitted.nodes.iter().enumerate().filter(|(_, id)| by_id(id).is_sink) {
        let first = pair.graph.structure.node(id.index1 - 1).first_output;
        writeln!(text, "        printf(\"%d %d\\n\", g.is_good[{number}], (int)g.outputs[{first}].words[0]);").unwrap();
    }
    text + "    }\n    return 0;\n}\n"
}

#[test]
fn emitted_source_gives_the_values_of_the_graph() {
    const FRAMES: u64 = 6;
    for seed in 0..20 {
        let mut pair = Pair::with_owned(&mut Random(seed), 0);
        for frame in 0..3 {
            pair.tick.store(frame, Relaxed);
            pair.model.evaluate(frame);
            pair.graph.evaluate(&Executor::inline(), Evaluation::default()).unwrap();
        }
        let emitted = pair.graph.emit("patch").unwrap();
        let Some(printed) = run(&seed.to_string(), &program(&pair, &emitted, FRAMES)) else {
            return crate::testing::skip("there is no C compiler");
        };
        let mut expected = String::new();
        for frame in 0..FRAMES {
            pair.model.evaluate(frame);
            for id in &emitted.nodes {
                let node = pair.model.nodes.values().find(|node| node.id == *id).unwrap();
                if node.is_sink {
                    writeln!(expected, "{} {}", u8::from(!node.is_broken), node.values[0]).unwrap();
                }
            }
        }
        assert_eq!(printed, expected, "seed {seed}\n{}", emitted.source);
    }
}

#[test]
fn graph_that_c_cannot_express_is_refused() {
    let mut graph: Graph<Closure> = Graph::new().unwrap();
    let options = NodeOptions {
        name: "blur",
        kind: "two words",
        class: Class::Pure,
        is_sink: true,
        outputs: &[Output { is_owned: true, ..Output::default() }],
        ..NodeOptions::default()
    };
    let node = graph.add(&options, closure(|_| Verdict::Done)).unwrap();
    let refused = graph.emit("patch").map(|_| ()).unwrap_err();
    assert!(refused.sentence().contains("the type of \"blur\" is \"two words\""), "{refused}");
    graph.remove(node).unwrap();
    graph.add(&NodeOptions { kind: "blur", ..options }, closure(|_| Verdict::Done)).unwrap();
    assert_eq!(graph.emit("patch").map(|_| ()).unwrap_err().code(), Code::Unsupported);
    for prefix in ["", "1a", "a b", "é", "a-b"] {
        assert_eq!(graph.emit(prefix).map(|_| ()).unwrap_err().code(), Code::InvalidArgument);
    }
}
