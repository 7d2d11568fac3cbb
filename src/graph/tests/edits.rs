//! Edits: cycles, the order of nodes, removal, feedback, and evaluations that stop.

use super::model::Random;
use super::*;
use crate::base::Code;
use crate::executor::Background;

fn first(inputs: &[f64]) -> f64 {
    inputs[0]
}

/// A net of nodes that take any number of inputs, by letters.
fn letters(count: usize, inputs: usize) -> (Net, Vec<Id>) {
    let mut net = Net::new(Evaluator::Lazy);
    let names = ["A", "B", "C", "D", "E", "F", "G", "H"];
    let pins = vec![Input::default(); inputs];
    let nodes = names[..count].iter().map(|&name| {
        let outputs = [Output::default()];
        let options =
            NodeOptions { name, class: Class::Pure, inputs: &pins, outputs: &outputs, ..NodeOptions::default() };
        net.graph.add(&options, closure(|_| Verdict::Done)).unwrap()
    });
    let nodes = nodes.collect();
    (net, nodes)
}

/// Applies edits such as "AB" (link), "-AB" (unlink), "!AB" (a link that is refused); input 0 reads A, 1 B, and so on.
fn apply(net: &mut Net, nodes: &[Id], edits: &str) {
    for edit in edits.split(' ') {
        let letters: Vec<usize> =
            edit.bytes().filter(u8::is_ascii_uppercase).map(|at| usize::from(at - b'A')).collect();
        let (from, to) = (letters[0], letters[1]);
        match edit.as_bytes()[0] {
            b'-' => net.graph.disconnect(nodes[to], from).unwrap(),
            b'!' => {
                let links = net.graph.links();
                let refused = net.graph.connect(nodes[from], 0, nodes[to], from).unwrap_err();
                assert_eq!(refused.code(), Code::InvalidArgument, "{edit} of {edits}");
                assert_eq!(net.graph.links(), links);
            }
            _ => net.graph.connect(nodes[from], 0, nodes[to], from).unwrap(),
        }
        for (to, &node) in nodes.iter().enumerate() {
            let to_label = net.graph.order.label(node.index1 - 1);
            for input in net.graph.structure.node(node.index1 - 1).inputs() {
                let source = net.graph.structure.source_node(input);
                assert!(
                    source == structure::NONE || net.graph.order.label(source) < to_label,
                    "{edit} of {edits}: a source of node {to} is behind it"
                );
            }
        }
    }
}

#[test]
fn order_survives_edits_that_reorder_and_refuses_cycles() {
    let cases = [
        ("AB BC CD", "links that agree"),
        ("DC CB BA", "links against the order of creation"),
        ("AB CD BC", "two chains that join"),
        ("CD AB DA", "two chains that change places"),
        ("AB BC !CA", "a cycle of three"),
        ("!AA", "a loop"),
        ("AB BC CD DE EF !FA !FB !FE", "cycles of any length"),
        ("AB BC -AB CA", "a cycle that a removal prevents"),
        ("AB BC CD !DA -BC DA", "a link that is possible after another is removed"),
        ("AB AC BD CD DE !EA !EB -BD !EC -CD EA", "all paths must be removed"),
        ("EA FB GC AB BC CD DH !HE -CD HE", "a long reordering"),
        ("HG GF FE ED DC CB BA AH", "the last link closes a ring"),
    ];
    for (at, (edits, about)) in cases.into_iter().enumerate() {
        let (mut net, nodes) = letters(8, 8);
        let edits = if at == 11 { "HG GF FE ED DC CB BA !AH" } else { edits };
        apply(&mut net, &nodes, edits);
        assert!(net.graph.links() < 12, "{about}");
    }
}

/// The nodes that a node depends on, itself included, by links from a node to another.
fn ancestors(links: &[(usize, usize)], node: usize) -> Vec<usize> {
    let mut found = vec![node];
    let mut at = 0;
    while let Some(&node) = found.get(at) {
        at += 1;
        for &(from, _) in links.iter().filter(|&&(_, to)| to == node) {
            if !found.contains(&from) {
                found.push(from);
            }
        }
    }
    found
}

#[test]
fn order_agrees_with_random_links_and_refuses_exactly_the_cycles() {
    const NODES: usize = 12;
    let (mut refused, mut accepted) = (0, 0);
    for seed in 0..60 {
        let mut random = Random(seed);
        let mut net = Net::new(Evaluator::Lazy);
        let pins = vec![Input::default(); NODES];
        let names: Vec<String> = (0..NODES).map(|at| format!("n{at}")).collect();
        let add = |net: &mut Net, name: &str| {
            let outputs = [Output::default()];
            let options =
                NodeOptions { name, class: Class::Pure, inputs: &pins, outputs: &outputs, ..NodeOptions::default() };
            net.graph.add(&options, closure(|_| Verdict::Done)).unwrap()
        };
        let mut nodes: Vec<Id> = names.iter().map(|name| add(&mut net, name)).collect();
        let mut links: Vec<(usize, usize)> = Vec::new();
        for step in 0..400 {
            if random.below(100) == 0 {
                net.graph.order.use_labels_up();
            }
            let (from, to) = (random.below(NODES), random.below(NODES));
            let is_linked = links.contains(&(from, to));
            if random.below(40) == 0 {
                net.graph.remove(nodes[to]).unwrap();
                nodes[to] = add(&mut net, &names[to]);
                links.retain(|link| link.0 != to && link.1 != to);
            } else if is_linked {
                net.graph.disconnect(nodes[to], from).unwrap();
                links.retain(|link| *link != (from, to));
            } else {
                let closes_cycle = ancestors(&links, from).contains(&to);
                match net.graph.connect(nodes[from], 0, nodes[to], from) {
                    Ok(()) => {
                        assert!(!closes_cycle, "seed {seed}, step {step}");
                        links.push((from, to));
                        accepted += 1;
                    }
                    Err(error) => {
                        assert!(closes_cycle, "seed {seed}, step {step}: {error}");
                        check_cycle(&links, (from, to), error.sentence());
                        refused += 1;
                    }
                }
            }
            for &(from, to) in &links {
                let label = |at: usize| net.graph.order.label(nodes[at].index1 - 1);
                assert!(label(from) < label(to), "seed {seed}, step {step}: {from} is not before {to}");
            }
        }
    }
    assert!(refused > 1000 && accepted > 1000, "{refused} {accepted}");
}

/// The sentence names a path of links from the target of a refused link to its source.
fn check_cycle(links: &[(usize, usize)], (from, to): (usize, usize), sentence: &str) {
    let path: Vec<usize> =
        sentence.split('"').skip(1).step_by(2).map(|name| name[1..].parse().expect("it is a name")).collect();
    assert_eq!((path[0], path[path.len() - 2], path[path.len() - 1]), (to, from, to), "{sentence}");
    for pair in path[..path.len() - 1].windows(2) {
        assert!(links.contains(&(pair[0], pair[1])), "{sentence}: {links:?}");
    }
}

#[test]
fn node_in_the_middle_of_a_chain_is_linked_without_a_look_at_what_depends_on_it() {
    let mut net = Net::new(Evaluator::Lazy);
    let head = net.input("head", 0.0);
    let mut chain = vec![head];
    for _ in 0..10_000 {
        let node = net.pure("+1", &[chain[chain.len() - 1]], first);
        chain.push(node);
    }
    for at in (1..9_999).step_by(100) {
        let before = net.graph.order_work();
        let node = net.pure("between", &[chain[at]], first);
        net.graph.connect(node, 0, chain[at + 1], 0).unwrap();
        assert!(net.graph.order_work() - before <= 3, "{} nodes", net.graph.order_work() - before);
    }
}

#[test]
fn refused_link_names_the_cycle_and_keeps_the_link_before() {
    let (mut net, nodes) = letters(4, 4);
    apply(&mut net, &nodes, "AB BC CD");
    net.graph.connect(nodes[3], 0, nodes[3], 1).unwrap_err();
    net.graph.disconnect(nodes[1], 0).unwrap();
    net.graph.connect(nodes[0], 0, nodes[1], 2).unwrap();
    // Input 2 of B reads A; D would close a cycle.
    let refused = net.graph.connect(nodes[3], 0, nodes[1], 2).unwrap_err();
    assert!(refused.sentence().contains("\"B\" -> \"C\" -> \"D\" -> \"B\""), "{refused}");
    net.graph.disconnect(nodes[1], 2).expect("A is still linked");
}

#[test]
fn building_from_either_end_looks_at_no_other_node() {
    for is_reversed in [false, true] {
        let mut net = Net::new(Evaluator::Lazy);
        let pins = [Input::default()];
        let outputs = [Output::default()];
        let options = NodeOptions { class: Class::Pure, inputs: &pins, outputs: &outputs, ..NodeOptions::default() };
        let mut last = net.graph.add(&options, closure(|_| Verdict::Done)).unwrap();
        for _ in 0..10_000 {
            let node = net.graph.add(&options, closure(|_| Verdict::Done)).unwrap();
            match is_reversed {
                true => net.graph.connect(node, 0, last, 0).unwrap(),
                false => net.graph.connect(last, 0, node, 0).unwrap(),
            }
            last = node;
        }
        assert_eq!(net.graph.order_work(), 0);
    }
}

#[test]
fn feedback_link_carries_the_value_of_the_frame_before() {
    for evaluator in EVALUATORS {
        let mut net = Net::new(evaluator);
        let pins = [Input { default: Value::number(10.0), ..Input::default() }];
        let outputs = [Output::default()];
        let options = NodeOptions {
            class: Class::Pure,
            is_sink: true,
            inputs: &pins,
            outputs: &outputs,
            ..NodeOptions::default()
        };
        let function = closure(|call| {
            call.outputs[0] = Value::number(call.inputs[0].as_number() + 1.0);
            Verdict::Done
        });
        let counter = net.graph.add(&options, function).unwrap();
        net.graph.connect_feedback(counter, 0, counter, 0).unwrap();
        let numbers: Vec<f64> = (0..4)
            .map(|_| {
                net.evaluate();
                net.number(counter)
            })
            .collect();
        assert_eq!(numbers, [1.0, 2.0, 3.0, 4.0], "{evaluator:?}: an output is 0 before its node has run");
        net.graph.disconnect(counter, 0).unwrap();
        net.evaluate();
        assert_eq!(net.number(counter), 11.0, "{evaluator:?}: the default again");
        assert_eq!(net.evaluate().evaluated, 0, "{evaluator:?}");
    }
}

#[test]
fn removed_node_leaves_defaults_and_stale_ids() {
    for evaluator in EVALUATORS {
        let mut net = Net::new(evaluator);
        let head = net.input("head", 5.0);
        let middle = net.pure("middle", &[head], first);
        let last = net.pure("last", &[middle], first);
        net.sink(last);
        net.evaluate();
        net.graph.remove(middle).unwrap();
        assert_eq!(net.ran(), ["last"]);
        assert_eq!(net.number(last), 0.0);
        assert_eq!(net.graph.value(middle, 0).unwrap_err().code(), Code::NotFound);
        assert_eq!(net.graph.remove(middle).unwrap_err().code(), Code::NotFound);
        let other = net.pure("other", &[head], first);
        assert_eq!(other.index1, middle.index1, "the position is used again");
        assert_eq!(net.graph.connect(middle, 0, last, 0).unwrap_err().code(), Code::NotFound);
        net.graph.connect(other, 0, last, 0).unwrap();
        net.evaluate();
        assert_eq!(net.number(last), 5.0);
    }
}

#[test]
fn evaluation_that_stops_goes_on_without_running_a_node_twice() {
    for evaluator in EVALUATORS {
        let mut net = Net::new(evaluator);
        let time = net.add("time", Class::Volatile, &[], |_| 1.0);
        let mut last = time;
        for _ in 0..20 {
            last = net.pure("+1", &[last], |inputs| inputs[0] + 1.0);
        }
        net.sink(last);
        let limited = Evaluation { evaluator, node_limit: 4, only: None };
        let mut evaluated = 0;
        let mut calls = 0;
        loop {
            let summary = net.graph.evaluate(&Executor::inline(), limited).unwrap();
            (evaluated, calls) = (evaluated + summary.evaluated, calls + 1);
            if summary.is_complete {
                break;
            }
        }
        assert_eq!((evaluated, net.number(last), net.runs(time)), (21, 21.0, 1), "{evaluator:?}");
        assert!(calls >= 6, "{evaluator:?}");
        assert_eq!(net.evaluate().evaluated, 1, "{evaluator:?}: a new frame, in which time has the same value");
    }
}

#[test]
fn cancelled_evaluation_starts_no_further_node_and_resumes() {
    for evaluator in EVALUATORS {
        let mut net = Net::new(evaluator);
        let canceller = net.graph.canceller();
        let head = net.input("head", 0.0);
        let stop = net.pure("stop", &[head], move |inputs| {
            canceller.cancel();
            inputs[0]
        });
        let last = net.pure("last", &[stop], first);
        net.sink(last);
        net.set(head, 3.0);
        let evaluation = Evaluation { evaluator, ..Evaluation::default() };
        let summary = net.graph.evaluate(&Executor::inline(), evaluation).unwrap();
        assert_eq!((summary.is_complete, net.runs(stop), net.runs(last)), (false, 1, 0), "{evaluator:?}");
        assert_eq!(net.graph.why(last).unwrap(), Why::Not(WhyNot::Waits));
        assert_eq!(net.ran(), ["last"], "{evaluator:?}");
        assert_eq!(net.number(last), 3.0);
    }
}

#[test]
fn invalid_edits_are_refused_with_a_sentence() {
    let mut net = Net::new(Evaluator::Lazy);
    let head = net.input("head", 0.0);
    let node = net.pure("node", &[head], first);
    let codes = [
        net.graph.connect(head, 1, node, 0),
        net.graph.connect(head, 0, node, 1),
        net.graph.connect(node, 0, head, 0),
        net.graph.set_input(node, 0, Value::default()),
        net.graph.set_input(head, 1, Value::default()),
        net.graph
            .add(&NodeOptions { class: Class::Input, ..NodeOptions::default() }, closure(|_| Verdict::Done))
            .map(|_| ()),
        net.graph.add(&NodeOptions::default(), None).map(|_| ()),
    ];
    for (at, outcome) in codes.into_iter().enumerate() {
        assert_eq!(outcome.unwrap_err().code(), Code::InvalidArgument, "case {at}");
    }
    assert_eq!(net.graph.disconnect(head, 0).unwrap_err().code(), Code::InvalidArgument);
    net.graph.disconnect(node, 0).unwrap();
    assert_eq!(net.graph.disconnect(node, 0).unwrap_err().code(), Code::NotFound);
    let mut pins = vec![Input::default(); 65];
    pins[64].lazy = true;
    let too_late = NodeOptions { inputs: &pins, ..NodeOptions::default() };
    assert!(net.graph.add(&too_late, closure(|_| Verdict::Done)).unwrap_err().sentence().contains("input 64 is lazy"));
}

#[test]
fn why_explains_runs_and_rests() {
    for evaluator in EVALUATORS {
        let mut net = Net::new(evaluator);
        let head = net.input("head", 0.0);
        let other = net.input("other", 0.0);
        let time = net.add("time", Class::Volatile, &[], |_| 1.0);
        let sum = net.pure("sum", &[time, head, other], |inputs| inputs.iter().sum());
        let data = net.pure("data", &[head], first);
        let builder = net.choice("builder", other, &[data], |other| (other > 0.5).then_some(0));
        let alone = net.pure("alone", &[head], first);
        net.sink(sum);
        net.sink(builder);
        net.evaluate();
        net.set(head, 1.0);
        net.evaluate();
        let text = |net: &Net, node| net.graph.why_text(node).unwrap().as_str().to_owned();
        assert_eq!(text(&net, time), "\"time\" ran: it is volatile");
        assert_eq!(text(&net, sum), "\"sum\" ran: its input 1 changed, from \"head\"");
        assert_eq!(text(&net, alone), "\"alone\" did not run: no sink depends on it");
        assert_eq!(text(&net, data), "\"data\" did not run: input 1 of \"builder\" is lazy, and was not asked for");
        assert_eq!(text(&net, builder), "\"builder\" did not run: no input changed");
        assert_eq!(
            text(&net, head),
            "\"head\" ran: it was new, edited, set or invalidated, or a change of an earlier frame has reached it"
        );
    }
}

#[test]
fn work_after_an_edit_is_proportional_to_the_edit() {
    for evaluator in [Evaluator::Lazy, Evaluator::Auto] {
        let mut net = Net::new(evaluator);
        let head = net.input("head", 0.0);
        let mut branches = Vec::new();
        for _ in 0..1000 {
            let mut last = head;
            for _ in 0..20 {
                last = net.pure("+1", &[last], |inputs| inputs[0] + 1.0);
            }
            branches.push(net.sink(last));
        }
        for _ in 0..4 {
            net.evaluate();
        }
        for round in 0..100 {
            let extra = net.pure("extra", &[branches[round * 7]], first);
            net.sink(extra);
            let before = net.graph.order_work();
            let summary = net.evaluate();
            assert_eq!((summary.evaluator, summary.evaluated), (Evaluator::Lazy, 1));
            assert!(summary.looked_at <= 2, "{} inputs", summary.looked_at);
            assert_eq!(net.graph.order_work(), before);
            if round % 2 == 0 {
                net.graph.remove(extra).unwrap();
                assert_eq!(net.evaluate().evaluated, 0);
            }
        }
    }
}

#[test]
fn plan_is_made_in_the_background_after_edits() {
    let background = Executor::new(Options { background: Background::Thread, ..Options::default() }).unwrap();
    for executor in [executor(1), background, Executor::inline()] {
        let mut net = Net::new(Evaluator::Auto);
        net.executor = executor;
        let head = net.input("head", 0.0);
        let mut last = net.pure("+1", &[head], |inputs| inputs[0] + 1.0);
        net.sink(last);
        for round in 1..20u32 {
            // A sink more, a link and a node each time: the copy of the background must follow.
            let next = net.pure("+1", &[last], |inputs| inputs[0] + 1.0);
            net.sink(next);
            if round % 3 == 0 {
                net.graph.remove(last).unwrap();
                net.graph.connect(head, 0, next, 0).unwrap();
            }
            last = next;
            let mut evaluators = Vec::new();
            for frame in 0..5 {
                net.set(head, f64::from(frame + 7 * round));
                evaluators.push(net.evaluate().evaluator);
                net.executor.wait_idle(std::time::Duration::MAX).ok();
            }
            assert_eq!(evaluators[..2], [Evaluator::Lazy; 2]);
            assert_eq!(evaluators[4], Evaluator::Bitset, "{evaluators:?}");
            let expected = f64::from(4 + 7 * round) + f64::from(if round < 3 { round + 1 } else { round % 3 + 1 });
            assert_eq!(net.number(last), expected, "round {round}");
        }
    }
}

#[test]
fn evaluation_makes_the_plan_itself_if_the_host_does_not_pump() {
    let mut net = Net::new(Evaluator::Auto);
    net.executor = executor(1);
    let head = net.input("head", 0.0);
    net.sink(head);
    let evaluators: Vec<Evaluator> = (0..125).map(|_| net.evaluate().evaluator).collect();
    assert_eq!((evaluators[100], evaluators[124]), (Evaluator::Lazy, Evaluator::Bitset));
}

/// Two lazy inputs read one source, and only the second is asked for. Another source of a lazy input changes as well.
#[test]
fn reason_names_an_input_that_was_read() {
    for evaluator in EVALUATORS {
        let mut net = Net::new(evaluator);
        let (condition, source, other) =
            (net.input("condition", 0.0), net.input("source", 1.0), net.input("other", 1.0));
        let choice = net.choice("choice", condition, &[source, source, other], |_| Some(1));
        net.sink(choice);
        net.sink(other);
        net.evaluate();
        net.set(other, 2.0);
        net.set(source, 2.0);
        net.evaluate();
        assert_eq!(net.number(choice), 2.0);
        assert_eq!(net.graph.why(choice).unwrap(), Why::Changed { input: 2 }, "{evaluator:?}");
    }
}

/// Only a lazy input reads the node. Whether a sink depends on that input's node decides about the reason.
#[test]
fn reason_of_a_node_that_no_sink_depends_on_is_no_sink() {
    for evaluator in EVALUATORS {
        let mut net = Net::new(evaluator);
        let (condition, source) = (net.input("condition", 0.0), net.input("source", 1.0));
        let middle = net.pure("middle", &[source], |inputs| inputs[0]);
        let choice = net.choice("choice", condition, &[middle], |_| None);
        let behind = net.pure("behind", &[choice], |inputs| inputs[0]);
        net.sink(condition);
        net.evaluate();
        assert_eq!(net.graph.why(middle).unwrap(), Why::Not(WhyNot::NoSink), "{evaluator:?}");
        net.sink(behind);
        net.evaluate();
        assert_eq!(net.graph.why(middle).unwrap(), Why::Not(WhyNot::NotAsked { node: choice, input: 1 }));
    }
}

#[test]
fn new_feedback_link_has_the_value_of_its_source_at_once() {
    for evaluator in EVALUATORS {
        let mut net = Net::new(evaluator);
        let heads = [net.input("one", 3.0), net.input("two", 8.0)];
        let sources = heads.map(|head| net.pure("source", &[head], |inputs| inputs[0]));
        let other = net.input("other", 7.0);
        let reader = net.pure("reader", &[other], |inputs| inputs[0]);
        [sources[0], sources[1], reader].into_iter().for_each(|node| _ = net.sink(node));
        net.evaluate();
        for (source, number) in [(sources[0], 3.0), (sources[1], 8.0)] {
            net.graph.connect_feedback(source, 0, reader, 0).unwrap();
            let only = Evaluation { evaluator, only: Some(reader), ..Evaluation::default() };
            assert!(net.graph.evaluate(&net.executor, only).unwrap().is_complete);
            assert_eq!(net.number(reader), number, "{evaluator:?}");
            net.evaluate();
            assert_eq!(net.number(reader), number, "{evaluator:?}");
        }
    }
}
