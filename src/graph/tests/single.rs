//! Evaluations of one node, and nodes that wait between evaluations.

use std::sync::atomic::AtomicBool;

use super::*;

fn evaluate_only(net: &mut Net, node: Id) -> Summary {
    let evaluation = Evaluation { only: Some(node), ..Evaluation::default() };
    net.graph.evaluate(&net.executor, evaluation).unwrap()
}

#[test]
fn one_node_is_evaluated_without_the_sinks() {
    for evaluator in EVALUATORS {
        let mut net = Net::new(evaluator);
        let input = net.input("input", 1.0);
        let shared = net.pure("shared", &[input], |v| v[0] + 1.0);
        let wanted = net.pure("wanted", &[shared], |v| v[0] * 10.0);
        let sink = net.pure("sink", &[shared], |v| v[0] * 100.0);
        net.sink(sink);
        for number in 1..6 {
            net.set(input, f64::from(number));
            let summary = evaluate_only(&mut net, wanted);
            assert!(summary.is_complete);
            assert_eq!(summary.evaluated, 3, "the input and two nodes");
            assert_eq!(net.number(wanted), f64::from(number + 1) * 10.0);
            assert_eq!(evaluate_only(&mut net, wanted).evaluated, 0);
            assert_eq!(net.runs(sink), number as u64 - 1, "the sink waits for its frame");
            assert_eq!(net.ran(), ["sink"], "the rest is up to date");
            assert_eq!(net.number(sink), f64::from(number + 1) * 100.0);
        }
    }
}

#[test]
fn evaluation_of_one_node_is_no_frame() {
    for evaluator in EVALUATORS {
        let mut net = Net::new(evaluator);
        let time = net.add("time", Class::Volatile, &[], |_| 0.0);
        let count = net.pure("count", &[time, time], |v| v[1] + 1.0);
        net.graph.connect_feedback(count, 0, count, 1).unwrap();
        net.sink(count);
        for frame in 1..6 {
            net.evaluate();
            assert_eq!(net.number(count), f64::from(frame));
            assert_eq!(evaluate_only(&mut net, count).evaluated, 0, "the time and the last frame are as before");
            assert_eq!(net.runs(time), frame as u64);
        }
    }
}

#[test]
fn removed_node_cannot_be_evaluated_alone() {
    let mut net = Net::new(Evaluator::Auto);
    let node = net.input("input", 1.0);
    net.graph.remove(node).unwrap();
    let evaluation = Evaluation { only: Some(node), ..Evaluation::default() };
    assert!(net.graph.evaluate(&net.executor, evaluation).is_err());
}

/// A node that cannot go on asks for an input without a link, and cancels the evaluation.
#[test]
fn node_that_waits_is_called_again_by_the_next_evaluation() {
    for evaluator in EVALUATORS {
        let mut net = Net::new(evaluator);
        let input = net.input("input", 1.0);
        let before = net.pure("before", &[input], |v| v[0]);
        let is_ready = Arc::new(AtomicBool::new(false));
        let pins = [Input::default(), Input { lazy: true, ..Input::default() }];
        let options =
            NodeOptions { class: Class::Pure, inputs: &pins, outputs: &[Output::default()], ..NodeOptions::default() };
        let (canceller, ready) = (net.graph.canceller(), is_ready.clone());
        let function = closure(move |call| {
            if !ready.load(Relaxed) {
                canceller.cancel();
                return Verdict::Need(2);
            }
            call.outputs[0] = call.inputs[0];
            Verdict::Done
        });
        let waiting = net.graph.add(&options, function).unwrap();
        net.graph.connect(before, 0, waiting, 0).unwrap();
        let after = net.pure("after", &[waiting], |v| v[0] + 1.0);
        net.sink(after);
        for number in 1..6 {
            net.set(input, f64::from(number));
            is_ready.store(false, Relaxed);
            let evaluation = Evaluation { evaluator, ..Evaluation::default() };
            for _ in 0..3 {
                let summary = net.graph.evaluate(&net.executor, evaluation).unwrap();
                assert!(!summary.is_complete);
                assert_eq!((net.runs(waiting), net.runs(before)), (number as u64 - 1, number as u64));
            }
            is_ready.store(true, Relaxed);
            net.evaluate();
            assert_eq!(net.number(after), f64::from(number) + 1.0);
            assert_eq!((net.runs(waiting), net.runs(after)), (number as u64, number as u64));
        }
    }
}
