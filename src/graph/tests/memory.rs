//! Memory: failed allocations, allocations per frame, and values that the graph owns.

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use super::*;
use crate::base::Code;
use crate::testing::allocator::{allocations, with_failure};

fn grid(net: &mut Net, count: usize) -> (Id, Vec<Id>) {
    let head = net.input("head", 0.0);
    let mut nodes = vec![head];
    for at in 0..count {
        let inputs = [nodes[at / 2], nodes[at]];
        nodes.push(net.pure("node", &inputs, |inputs| inputs[0] + inputs[1]));
    }
    net.sink(nodes[count]);
    (head, nodes)
}

#[test]
fn memory_of_threads_counts_after_the_levels_of_a_plan_are_forgotten() {
    let mut net = Net::new(Evaluator::Parallel);
    grid(&mut net, 500);
    net.evaluate();
    let used = net.graph.threads.memory_used();
    net.graph.threads.forget_levels();
    assert_eq!(net.graph.threads.memory_used(), used);
}

#[test]
fn evaluation_does_not_allocate_once_warm() {
    for evaluator in EVALUATORS {
        let mut net = Net::new(evaluator);
        let (head, nodes) = grid(&mut net, 200);
        let part = net.pure("part", &[head], |inputs| inputs[0]);
        let choice = net.choice("choice", nodes[3], &[part], |number| (number > 2.0).then_some(0));
        net.sink(choice);
        for number in 0..6 {
            net.set(head, f64::from(number));
            net.evaluate();
        }
        let graph = &mut net.graph;
        let executor = &net.executor;
        // The closures of the test allocate. So one counted evaluation runs no node, and the others run inputs alone.
        let evaluation = Evaluation { evaluator, ..Evaluation::default() };
        assert_eq!(allocations(|| _ = graph.evaluate(executor, evaluation).unwrap()), 0, "{evaluator:?}");
        let inputs: Vec<Id> = (0..64)
            .map(|_| {
                let options = NodeOptions {
                    class: Class::Input,
                    is_sink: true,
                    outputs: &[Output::default()],
                    ..NodeOptions::default()
                };
                graph.add(&options, None).unwrap()
            })
            .collect();
        for _ in 0..6 {
            graph.evaluate(executor, evaluation).unwrap();
        }
        let count = allocations(|| {
            for number in 1..20 {
                for &input in &inputs {
                    graph.set_input(input, 0, Value::number(f64::from(number))).unwrap();
                }
                assert_eq!(graph.evaluate(executor, evaluation).unwrap().evaluated, 64);
            }
        });
        assert_eq!(count, 0, "{evaluator:?}");
    }
}

#[test]
fn failed_allocation_changes_nothing() {
    let lazy = [Input { lazy: true, ..Input::default() }, Input::default()];
    let options = NodeOptions {
        name: "node",
        kind: "type",
        class: Class::Pure,
        is_sink: true,
        inputs: &lazy,
        outputs: &[Output { cutoff: Cutoff::Never, ..Output::default() }],
    };
    let function = || {
        closure(|call| {
            call.outputs[0] = call.inputs[1];
            Verdict::Done
        })
    };
    let mut failures = 0;
    for evaluator in EVALUATORS {
        let mut net = Net::new(evaluator);
        let head = net.input("head", 1.0);
        for round in 0..40 {
            for count in 0.. {
                let function = function();
                let before = (net.graph.len(), net.graph.links(), net.graph.sinks.len());
                match with_failure(count, || net.graph.add(&options, function)) {
                    Ok(node) => {
                        net.graph.connect(head, 0, node, 1).unwrap();
                        break;
                    }
                    Err(why) => {
                        failures += 1;
                        assert_eq!(why.code(), Code::OutOfMemory);
                        assert_eq!((net.graph.len(), net.graph.links(), net.graph.sinks.len()), before);
                    }
                }
            }
            let evaluation = Evaluation { evaluator, ..Evaluation::default() };
            for count in 0.. {
                match with_failure(count, || net.graph.evaluate(&net.executor, evaluation)) {
                    Ok(summary) if summary.evaluated > 0 => break,
                    Ok(summary) => assert_eq!(summary.evaluated, 0),
                    Err(why) => assert_eq!(why.code(), Code::OutOfMemory),
                }
                failures += 1;
                assert!(count < 100, "{evaluator:?}, round {round}");
            }
        }
    }
    assert!(failures > 1000, "{failures}");
}

#[test]
fn graph_evaluates_after_a_node_could_not_be_added() {
    let inputs = [Input::default(); 300];
    let outputs = [Output::default()];
    let options = NodeOptions { class: Class::Pure, inputs: &inputs, outputs: &outputs, ..NodeOptions::default() };
    for evaluator in EVALUATORS {
        let mut net = Net::new(evaluator);
        let head = net.input("head", 1.0);
        let sum = net.pure("sum", &[head, head, head], |inputs| inputs.iter().sum());
        net.sink(sum);
        net.evaluate();
        let mut number = 1.0;
        for count in 0.. {
            let function = closure(|_| Verdict::Done);
            let is_added = with_failure(count, || net.graph.add(&options, function)).is_ok();
            number += 1.0;
            net.set(head, number);
            net.evaluate();
            assert_eq!(net.number(sum), 3.0 * number, "{evaluator:?}: after {count} allocations");
            if is_added {
                break;
            }
        }
    }
}

static LIVE: AtomicI64 = AtomicI64::new(0);
static MADE: AtomicI64 = AtomicI64::new(0);

/// Makes a new handle in each run, and counts those that live.
struct Owner;

impl Function for Owner {
    fn evaluate(&self, call: &mut Call<'_>) -> Verdict {
        LIVE.fetch_add(1, Relaxed);
        call.outputs[0] = Value([MADE.fetch_add(1, Relaxed) as u64 + 1, call.inputs[0].0[0]]);
        Verdict::Done
    }

    fn is_equal(&self, _output: usize, old: Value, new: Value) -> bool {
        old.0[1] == new.0[1]
    }

    fn release(&self, _output: usize, _value: Value) {
        LIVE.fetch_sub(1, Relaxed);
    }
}

#[test]
fn handles_are_released_once() {
    let mut graph: Graph<Owner> = Graph::new().unwrap();
    let input = NodeOptions { class: Class::Input, outputs: &[Output::default()], ..NodeOptions::default() };
    let head = graph.add(&input, None).unwrap();
    let output = Output { is_owned: true, cutoff: Cutoff::Callback, ..Output::default() };
    let options = NodeOptions {
        class: Class::Pure,
        is_sink: true,
        inputs: &[Input::default()],
        outputs: &[output],
        ..NodeOptions::default()
    };
    let nodes: Vec<Id> = (0..10).map(|_| graph.add(&options, Some(Owner)).unwrap()).collect();
    for &node in &nodes {
        graph.connect(head, 0, node, 0).unwrap();
    }
    assert_eq!(LIVE.load(Relaxed), 0);
    for number in 0..20 {
        graph.set_input(head, 0, Value([number / 2, 0])).unwrap();
        for &node in &nodes {
            graph.invalidate(node).unwrap();
        }
        graph.evaluate(&Executor::inline(), Evaluation::default()).unwrap();
        assert_eq!(LIVE.load(Relaxed), 10, "equal handles are released at once, others in exchange");
    }
    graph.remove(nodes[3]).unwrap();
    assert_eq!(LIVE.load(Relaxed), 9);
    drop(graph);
    assert_eq!(LIVE.load(Relaxed), 0);
}
