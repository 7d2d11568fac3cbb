//! Graphs as text.

use std::sync::LazyLock;

use super::*;
use crate::base::Code;
use crate::testing::allocator::with_failure;

/// A graph with each kind of pin, node and link.
fn varied() -> Graph<Closure> {
    let mut graph = Graph::new().unwrap();
    let outputs = [
        Output::default(),
        Output { cutoff: Cutoff::Epsilon(0.125), ..Output::default() },
        Output { cutoff: Cutoff::Generation, ..Output::default() },
        Output { cutoff: Cutoff::Callback, is_owned: true, ..Output::default() },
        Output { cutoff: Cutoff::Never, ..Output::default() },
    ];
    let inputs = [
        Input { lazy: true, hold: true, default: Value([1, u64::MAX]) },
        Input { default: Value::number(-0.5), ..Input::default() },
        Input::default(),
    ];
    let classes = [Class::Volatile, Class::Pure, Class::Constant, Class::Effect];
    let mut nodes = Vec::new();
    for (class, name) in classes.into_iter().zip(["Time \"now\"", "", "line\nbreak \\", "é"]) {
        let options =
            NodeOptions { name, kind: "any", class, is_sink: name.is_empty(), inputs: &inputs, outputs: &outputs };
        nodes.push(graph.add(&options, closure(|_| Verdict::Done)).unwrap());
    }
    let options = NodeOptions { class: Class::Input, outputs: &outputs[..2], ..NodeOptions::default() };
    let user = graph.add(&options, None).unwrap();
    graph.set_input(user, 1, Value([7, 9])).unwrap();
    graph.connect(nodes[0], 4, nodes[1], 0).unwrap();
    graph.connect(nodes[1], 1, nodes[3], 1).unwrap();
    graph.connect(user, 1, nodes[2], 2).unwrap();
    graph.connect_feedback(nodes[3], 0, nodes[0], 2).unwrap();
    graph.remove(nodes[2]).unwrap();
    graph
}

fn json(graph: &Graph<Closure>) -> String {
    let mut text = vec![0; graph.json_size()];
    assert_eq!(graph.to_json(&mut text).unwrap(), text.len());
    String::from_utf8(text).unwrap()
}

fn load(text: &str) -> Result<Loaded<Closure>> {
    // Allocated once, because tests let allocations fail.
    static NOTHING: LazyLock<Closure> = LazyLock::new(|| closure(|_| Verdict::Done).unwrap());
    LazyLock::force(&NOTHING);
    Graph::load(text.as_bytes(), |_| Ok(NOTHING.clone()))
}

#[test]
fn text_is_json_and_loads_as_the_same_graph() {
    let graph = varied();
    let text = json(&graph);
    let parsed: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(parsed["nodes"].as_array().unwrap().len(), 4);
    assert_eq!(parsed["links"].as_array().unwrap().len(), 3);
    let mut loaded = load(&text).unwrap();
    assert_eq!((loaded.graph.len(), loaded.graph.links()), (4, 3));
    // Ids are new: the third node was removed. Otherwise the text is the same.
    let again = json(&loaded.graph);
    let renumbered =
        text.replace(", \"generation\": 1", "").replace("\"id\": 4", "\"id\": 3").replace("\"id\": 5", "\"id\": 4");
    let renumbered = renumbered.replace("\"from\": 4", "\"from\": 3").replace("\"to\": 4", "\"to\": 3");
    assert_eq!(again, renumbered);
    assert_eq!(json(&load(&again).unwrap().graph), again);
    assert_eq!(loaded.nodes.iter().map(|(id, _)| id.index1).collect::<Vec<_>>(), [1, 2, 4, 5]);
    loaded.graph.evaluate(&Executor::inline(), Evaluation::default()).unwrap();
    // A parser of others may write it in another order and form.
    let rewritten = serde_json::to_string_pretty(&parsed).unwrap();
    let error = load(&rewritten).map(|_| ()).map_err(|why| why.code());
    assert!(matches!(error, Ok(()) | Err(Code::Malformed)));
}

#[test]
fn an_infinite_epsilon_is_loaded_as_one() {
    let mut graph: Graph<Closure> = Graph::new().unwrap();
    let outputs = [Output { cutoff: Cutoff::Epsilon(f64::INFINITY), ..Output::default() }];
    let options = NodeOptions { class: Class::Input, outputs: &outputs, ..NodeOptions::default() };
    graph.add(&options, None).unwrap();
    let text = json(&graph);
    let parsed: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(parsed["nodes"][0]["outputs"][0]["epsilon"], f64::MAX);
    assert_eq!(json(&load(&text).unwrap().graph), text);
}

#[test]
fn hostile_text_is_refused_with_its_position() {
    let node = |more: &str| format!("{{\"hobgoblin_graph\": 1, \"nodes\": [{{\"id\": 1{more}}}]");
    let two = "{\"hobgoblin_graph\": 1, \"nodes\": [{\"id\": 1, \"inputs\": [{}], \"outputs\": [{}]}], \"links\": [";
    let cases = [
        (String::new(), "expected '{'"),
        ("{}".into(), "must come first"),
        ("{\"hobgoblin_graph\": 2}".into(), "a later version cannot be read"),
        ("{\"nodes\": []}".into(), "expected a known key"),
        (node(", \"class\": \"sorcery\"") + "}", "another class"),
        (node(", \"colour\": 1") + "}", "\"colour\""),
        ("{\"hobgoblin_graph\": 1, \"nodes\": [{}]}".into(), "a node without one"),
        (node(", \"inputs\": [{\"value\": \"1\"}]") + "}", "two words"),
        (node(", \"inputs\": [{\"value\": \"+1:2\"}]") + "}", "two words"),
        (node(", \"inputs\": [{\"value\": \"1:11112222333344445\"}]") + "}", "two words"),
        (node(", \"outputs\": [{\"epsilon\": -1}]") + "}", "not below 0"),
        (node(", \"class\": \"input\", \"inputs\": [{}]") + "}", "outputs only"),
        (format!("{two}{{\"from\": 1, \"to\": 1}}]}}"), "close a cycle"),
        (format!("{two}{{\"from\": 1, \"to\": 2}}]}}"), "no such node"),
        (format!("{two}{{\"from\": 1, \"to\": 1, \"output\": 1}}]}}"), "no output 1"),
        (format!("{two}{{\"from\": 1, \"to\": 1, \"input\": 4294967295}}]}}"), "no input 4294967295"),
        (format!("{two}{{\"from\": 1, \"to\": 1, \"input\": 1.5}}]}}"), "a whole number"),
        (format!("{two}]}} and more"), "the end of the text"),
        (two.replace("\"links\"", "\"nodes\"") + "]}", "\"nodes\" again"),
        (two.replace("], \"links\": [", ", {\"id\": 1}]}"), "two nodes with the id 1"),
        (node(", \"name\": \"\", \"name\": \"\"") + "}", "\"name\" again"),
        (node("").replace('1', "0").replacen('0', "1", 1) + "}", "a node without one"),
        (node(", \"outputs\": [{\"owned\": true, \"value\": \"dead:beef\"}]") + "}", "an owned output without a value"),
        (node(", \"class\": \"input\", \"outputs\": [{\"owned\": true}]") + "}", "line 1 column 34: outputs of a node"),
        (node(&format!(", \"inputs\": [{}{{}}]", "{},".repeat(65_535))) + "}", "at most 65535 pins"),
        ("[".repeat(100_000), "expected '{'"),
    ];
    for (text, message) in cases {
        let why = load(&text).map(|_| ()).unwrap_err();
        assert!(why.sentence().contains(message), "{text:.80}: {why}");
    }
    let lazy = format!("{}, {}", "{}, ".repeat(64).trim_end_matches(", "), "{\"lazy\": true}");
    let why = load(&(node(&format!(", \"inputs\": [{lazy}]")) + "}")).map(|_| ()).unwrap_err();
    assert!(why.sentence().contains("lazy inputs must be among the first 64"), "{why}");
}

#[test]
fn every_prefix_and_every_changed_byte_is_loaded_or_refused() {
    let text = json(&varied());
    for end in 0..text.len() - 1 {
        if text.is_char_boundary(end) {
            assert!(load(&text[..end]).is_err() || text[end..].trim().is_empty());
        }
    }
    let mut bytes = text.clone().into_bytes();
    for at in 0..bytes.len() {
        let plain = bytes[at];
        for byte in [b'0', b'9', b'"', b'{', b'}', b'[', b']', b',', b':', b'-', 0, 0xFF] {
            bytes[at] = byte;
            if let Ok(mut loaded) = Graph::load(&bytes, |_| Ok(closure(|_| Verdict::Done).unwrap())) {
                loaded.graph.evaluate(&Executor::inline(), Evaluation::default()).unwrap();
            }
        }
        bytes[at] = plain;
    }
}

#[test]
fn loading_survives_each_failed_allocation() {
    let text = json(&varied());
    load(&text).unwrap();
    let mut failures = 0;
    loop {
        let outcome = with_failure(failures, || load(&text).map(|loaded| loaded.graph.len()).map_err(|why| why.code()));
        match outcome {
            Ok(nodes) => break assert_eq!(nodes, 4),
            Err(code) => assert_eq!(code, Code::OutOfMemory),
        }
        failures += 1;
    }
    assert!(failures > 20);
}

#[test]
fn host_that_does_not_know_a_type_refuses_the_text() {
    let text = json(&varied());
    let mut asked = Vec::new();
    let outcome = Graph::<Closure>::load(text.as_bytes(), |node| {
        asked.push((node.id, node.options.kind.to_owned()));
        Err(crate::base::error!(NotFound, "unknown type {}", node.options.kind))
    });
    assert_eq!(outcome.map(|_| ()).unwrap_err().sentence(), "unknown type any");
    assert_eq!(asked, [(1, "any".to_owned())]);
}

#[test]
fn picture_escapes_names_and_marks_links() {
    let graph = varied();
    let mut text = vec![0; graph.dot_size()];
    graph.to_dot(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    for line in [
        "n1 [label=\"Time \\\"now\\\"\\nvolatile, 0 runs\"];",
        "n2 [label=\"any\\npure, 0 runs\", peripheries=2];",
        "n1 -> n2 [style=dashed];",
        "n4 -> n1 [style=dotted];",
        "n2 -> n4;",
    ] {
        assert!(text.lines().any(|other| other == line), "{line}\n{text}");
    }
    assert_eq!(graph.to_dot(&mut [0; 10]).unwrap_err().code(), Code::BufferTooSmall);
}
