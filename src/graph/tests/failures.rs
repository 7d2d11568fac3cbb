//! Nodes that fail.

use super::*;

/// A node that fails for negative inputs.
fn fragile(net: &mut Net, name: &'static str, input: Id) -> Id {
    let options = NodeOptions {
        name,
        class: Class::Pure,
        inputs: &[Input::default()],
        outputs: &[Output::default()],
        ..NodeOptions::default()
    };
    let function = closure(|call| {
        if call.inputs[0].as_number() < 0.0 {
            *call.failure = Failure::format(format_args!("{} is negative", call.inputs[0].as_number()));
            return Verdict::Failed;
        }
        call.outputs[0] = call.inputs[0];
        Verdict::Done
    });
    let node = net.graph.add(&options, function).unwrap();
    net.graph.connect(input, 0, node, 0).unwrap();
    node
}

#[test]
fn failure_stops_dependants_and_has_a_path() {
    for evaluator in EVALUATORS {
        let mut net = Net::new(evaluator);
        let head = net.input("head", 1.0);
        let root = fragile(&mut net, "root", head);
        let middle = net.pure("middle", &[root], |inputs| inputs[0]);
        let last = net.pure("last", &[middle, head], |inputs| inputs[0] + inputs[1]);
        let other = net.pure("other", &[head], |inputs| inputs[0]);
        net.sink(last);
        net.sink(other);
        net.evaluate();
        net.set(head, -1.0);
        let summary = net.evaluate();
        assert_eq!((summary.evaluated, summary.broken), (3, 3), "{evaluator:?}: the head, the root and the other");
        assert_eq!(net.number(other), -1.0, "{evaluator:?}: the rest of the graph stands");
        assert_eq!(net.number(last), 2.0, "the last good value");
        let (failed, message) = net.graph.failure(last).unwrap().unwrap();
        assert_eq!((failed, message.as_str()), (root, "-1 is negative"));
        let path: Vec<Id> = net.graph.failure_path(last).unwrap().collect();
        assert_eq!(path, [last, middle, root]);
        assert_eq!(
            net.graph.why_text(last).unwrap().as_str(),
            "\"last\" did not run: \"root\" failed, on which it depends"
        );
        assert_eq!(net.evaluate().evaluated, 0, "{evaluator:?}: a failed node does not run again without a change");
        net.set(head, 1.0);
        assert_eq!(net.evaluate().evaluated, 5, "{evaluator:?}: all run again, although their values are as before");
        assert_eq!((net.graph.failure(last).unwrap().is_none(), net.number(last)), (true, 2.0));
    }
}

#[test]
fn input_that_holds_reads_the_last_good_value() {
    for evaluator in EVALUATORS {
        let mut net = Net::new(evaluator);
        let head = net.input("head", -1.0);
        let root = fragile(&mut net, "root", head);
        let options = NodeOptions {
            class: Class::Pure,
            is_sink: true,
            inputs: &[Input { hold: true, ..Input::default() }],
            outputs: &[Output::default()],
            ..NodeOptions::default()
        };
        let function = closure(|call| {
            call.outputs[0] = call.inputs[0];
            Verdict::Done
        });
        let last = net.graph.add(&options, function).unwrap();
        net.graph.connect(root, 0, last, 0).unwrap();
        assert_eq!(net.evaluate().broken, 2, "{evaluator:?}: there is no good value yet");
        net.set(head, 4.0);
        assert_eq!(net.evaluate().broken, 0);
        net.set(head, -4.0);
        assert_eq!((net.evaluate().broken, net.number(last)), (1, 4.0), "{evaluator:?}");
    }
}

/// A node has two outputs. When it recovers, one has changed, and a reader of the other one holds its value.
#[test]
fn recovery_runs_no_reader_that_holds_an_unchanged_output() {
    for (evaluator, is_behind) in EVALUATORS.into_iter().flat_map(|evaluator| [(evaluator, false), (evaluator, true)]) {
        let mut net = Net::new(evaluator);
        let head = net.input("head", 1.0);
        let two = NodeOptions {
            class: Class::Pure,
            inputs: &[Input::default()],
            outputs: &[Output::default(); 2],
            ..NodeOptions::default()
        };
        let mut last = head;
        // The node itself fails, or one before it.
        for fails in if is_behind { vec![true, false] } else { vec![true] } {
            let function = closure(move |call| {
                if fails && call.inputs[0].as_number() < 0.0 {
                    return Verdict::Failed;
                }
                (call.outputs[0], call.outputs[1]) = (call.inputs[0], Value::number(5.0));
                Verdict::Done
            });
            let node = net.graph.add(&two, function).unwrap();
            net.graph.connect(last, 0, node, 0).unwrap();
            last = node;
        }
        let [holds, reads] = [true, false].map(|hold| {
            let inputs = [Input { hold, ..Input::default() }];
            let options = NodeOptions { is_sink: true, inputs: &inputs, outputs: &[Output::default()], ..two };
            let function = closure(|call| {
                call.outputs[0] = call.inputs[0];
                Verdict::Done
            });
            let node = net.graph.add(&options, function).unwrap();
            net.graph.connect(last, 1, node, 0).unwrap();
            node
        });
        net.evaluate();
        net.set(head, -1.0);
        assert_eq!(net.evaluate().broken, if is_behind { 3 } else { 2 });
        net.set(head, 3.0);
        assert_eq!(net.evaluate().broken, 0);
        assert_eq!((net.runs(holds), net.runs(reads)), (1, 2), "{evaluator:?}");
    }
}

#[test]
fn node_that_asks_for_what_it_has_fails() {
    for evaluator in EVALUATORS {
        let mut net = Net::new(evaluator);
        let options = NodeOptions {
            class: Class::Pure,
            is_sink: true,
            inputs: &[Input { lazy: true, ..Input::default() }, Input::default()],
            outputs: &[],
            ..NodeOptions::default()
        };
        for mask in [0, 1, 2, 3, u64::MAX] {
            let node = net.graph.add(&options, closure(move |_| Verdict::Need(mask))).unwrap();
            let summary = net.evaluate();
            assert_eq!((summary.broken, summary.requests), (1, mask & 1), "{evaluator:?}, {mask}");
            let (_, message) = net.graph.failure(node).unwrap().unwrap();
            assert_eq!(message.as_str(), "it asked for inputs that are not lazy, or that it has");
            net.graph.remove(node).unwrap();
        }
        assert_eq!(net.evaluate().broken, 0);
    }
}

#[test]
fn many_failures_keep_their_messages() {
    let mut net = Net::new(Evaluator::Bitset);
    let heads: Vec<Id> = (0..100).map(|_| net.input("head", 0.0)).collect();
    let nodes: Vec<Id> = heads.iter().map(|&head| fragile(&mut net, "node", head)).collect();
    for &node in &nodes {
        net.sink(node);
    }
    for round in 1..20 {
        for (at, &head) in heads.iter().enumerate() {
            net.set(head, if at % round == 0 { -(at as f64) - 1.0 } else { 1.0 });
        }
        net.evaluate();
        for (at, &node) in nodes.iter().enumerate() {
            let message = net.graph.failure(node).unwrap().map(|(_, message)| message.as_str().to_owned());
            assert_eq!(message, (at % round == 0).then(|| format!("-{} is negative", at + 1)));
        }
    }
}

#[test]
fn node_without_a_sink_has_no_failure_after_its_source_has_recovered() {
    for evaluator in EVALUATORS {
        let mut net = Net::new(evaluator);
        let head = net.input("head", 1.0);
        let root = fragile(&mut net, "root", head);
        let reader = net.pure("reader", &[root], |inputs| inputs[0]);
        net.sink(root);
        net.sink(reader);
        net.evaluate();
        net.set(head, -1.0);
        net.evaluate();
        net.graph.set_sink(reader, false).unwrap();
        net.evaluate();
        assert_eq!(net.graph.failure(reader).unwrap().unwrap().0, root, "{evaluator:?}: its source still fails");
        net.set(head, 1.0);
        net.evaluate();
        assert!(net.graph.failure(reader).unwrap().is_none(), "{evaluator:?}");
        assert_eq!(net.graph.failure_path(reader).unwrap().count(), 0, "{evaluator:?}");
        net.sink(reader);
        assert_eq!((net.evaluate().broken, net.number(reader)), (0, 1.0), "{evaluator:?}");
    }
}

#[test]
fn nodes_that_do_not_run_take_nothing_of_the_limit() {
    for evaluator in EVALUATORS {
        let mut net = Net::new(evaluator);
        net.graph.threads.split_everything();
        let head = net.input("head", 1.0);
        let root = fragile(&mut net, "root", head);
        let readers: Vec<Id> =
            ["a", "b", "c"].into_iter().map(|name| net.pure(name, &[root], |inputs| inputs[0])).collect();
        readers.into_iter().for_each(|reader| _ = net.sink(reader));
        (1..9).for_each(|number| {
            net.set(head, f64::from(number));
            net.evaluate();
        });
        net.graph.state.set_durations(100_000);
        net.set(head, -1.0);
        let evaluation = Evaluation { evaluator, node_limit: 4, ..Evaluation::default() };
        let summary = net.graph.evaluate(&net.executor, evaluation).unwrap();
        assert_eq!((summary.evaluated, summary.broken, summary.is_complete), (2, 4, true), "{evaluator:?}");
    }
}
