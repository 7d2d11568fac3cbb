//! The graphs of "Graph Evaluation (Again)", with the orders and counts that it states.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::*;

/// Counts frames.
fn time(net: &mut Net) -> Id {
    let frame = AtomicU32::new(0);
    net.add("Time", Class::Volatile, &[], move |_| f64::from(frame.fetch_add(1, Relaxed) + 1))
}

fn basic(evaluator: Evaluator) -> Net {
    let mut net = Net::new(evaluator);
    let sum = |inputs: &[f64]| inputs.iter().sum();
    let time = time(&mut net);
    let node1 = net.pure("Node1", &[time], sum);
    let node2 = net.pure("Node2", &[time], sum);
    let node5 = net.pure("Node5", &[time], sum);
    let node9 = net.pure("Node9", &[node2, node5], sum);
    let node12 = net.pure("Node12", &[node1, node2, node9], sum);
    let last = net.pure("NodeFinal", &[node12], sum);
    net.sink(last);
    net
}

#[test]
fn list_evaluator_runs_the_reversed_preorder_without_repeats() {
    let mut net = basic(Evaluator::List);
    for _ in 0..3 {
        assert_eq!(net.ran(), ["Time", "Node5", "Node2", "Node9", "Node1", "Node12", "NodeFinal"]);
    }
}

#[test]
fn lazy_evaluator_visits_inputs_in_their_order() {
    let mut net = basic(Evaluator::Lazy);
    for _ in 0..3 {
        assert_eq!(net.ran(), ["Time", "Node1", "Node2", "Node5", "Node9", "Node12", "NodeFinal"]);
    }
}

#[test]
fn lazy_pin_is_evaluated_only_while_its_condition_holds() {
    for evaluator in EVALUATORS {
        let mut net = Net::new(evaluator);
        let time = time(&mut net);
        let generator = net.pure("Generator1", &[time], |inputs| inputs[0] * 10.0);
        let data = net.pure("LargeData", &[generator], |inputs| inputs[0] + 1.0);
        let user = net.input("UserInput", 0.0);
        let first = net.pure("Condition1", &[user], |inputs| f64::from(inputs[0] > 0.5));
        let second = net.add("Condition2", Class::Constant, &[], |_| 1.0);
        let apply = net.pure("And", &[first, second], |inputs| inputs[0] * inputs[1]);
        let builder = net.choice("Builder", apply, &[data], |apply| (apply > 0.0).then_some(0));
        net.sink(builder);
        for _ in 0..5 {
            net.evaluate();
        }
        assert_eq!((net.runs(data), net.runs(generator), net.runs(time)), (0, 0, 0), "{evaluator:?}");
        net.set(user, 1.0);
        for frame in 1..=3u32 {
            net.evaluate();
            assert_eq!(net.number(builder), f64::from(frame) * 10.0 + 1.0, "{evaluator:?}");
            assert_eq!((net.runs(data), net.runs(generator)), (frame.into(), frame.into()), "{evaluator:?}");
        }
        net.set(user, 0.0);
        for _ in 0..3 {
            net.evaluate();
        }
        assert_eq!(net.number(builder), -1.0);
        assert_eq!((net.runs(data), net.runs(generator)), (3, 3), "{evaluator:?}: also not in the frame of the switch");
    }
}

#[test]
fn switch_runs_one_of_its_parts() {
    for evaluator in EVALUATORS {
        let mut net = Net::new(evaluator);
        let time = time(&mut net);
        let parts = [net.pure("Part1", &[time], |inputs| inputs[0]), net.pure("Part2", &[time], |inputs| -inputs[0])];
        let value = net.input("SwitchValue", 0.0);
        let switch = net.choice("Switch", value, &parts, |value| Some(value as usize));
        net.sink(switch);
        net.evaluate();
        net.evaluate();
        assert_eq!((net.runs(parts[0]), net.runs(parts[1]), net.number(switch)), (2, 0, 2.0), "{evaluator:?}");
        net.set(value, 1.0);
        net.evaluate();
        assert_eq!((net.runs(parts[0]), net.runs(parts[1]), net.number(switch)), (2, 1, -3.0), "{evaluator:?}");
    }
}

#[test]
fn annotated_patch_runs_five_nodes_a_frame() {
    for evaluator in EVALUATORS {
        let mut net = Net::new(evaluator);
        let time = time(&mut net);
        let constant = net.add("Constant", Class::Constant, &[], |_| 0.5);
        let sine = net.pure("Sine", &[constant], |inputs| inputs[0].sin());
        let divide = net.pure("Divide", &[time, sine], |inputs| inputs[0] / inputs[1]);
        let constant2 = net.add("Constant2", Class::Constant, &[], |_| 3.0);
        let multiply = net.pure("Multiply", &[constant2], |inputs| inputs[0] * 2.0);
        let add = net.pure("Add", &[divide, multiply], |inputs| inputs[0] + inputs[1]);
        let user = net.input("UserValue", 7.0);
        let multiply2 = net.pure("Multiply2", &[user], |inputs| inputs[0] * 4.0);
        let plus = net.pure("+", &[add, multiply2], |inputs| inputs[0] + inputs[1]);
        let last = net.pure("FinalValue", &[plus], |inputs| inputs[0]);
        net.sink(last);
        net.evaluate();
        for frame in 2..6 {
            let mut ran = net.ran();
            ran.sort_unstable();
            assert_eq!(ran, ["+", "Add", "Divide", "FinalValue", "Time"], "{evaluator:?}");
            assert_eq!(net.number(last), f64::from(frame) / 0.5f64.sin() + 6.0 + 28.0);
        }
        let runs = [constant, sine, constant2, multiply, multiply2].map(|node| net.runs(node));
        let mut baked = net.graph.bake(|_| false, |function| Ok(function.clone())).unwrap();
        let mut removed = baked.removed.clone();
        removed.sort_by_key(|id| id.index1);
        assert_eq!(removed, [constant, sine, constant2, multiply, user, multiply2]);
        let new_last = baked.kept.iter().find(|(old, _)| *old == last).unwrap().1;
        for frame in 6..9 {
            let evaluation = Evaluation { evaluator, ..Evaluation::default() };
            assert_eq!(baked.graph.evaluate(&net.executor, evaluation).unwrap().evaluated, 5, "{evaluator:?}");
            let number = baked.graph.value(new_last, 0).unwrap().as_number();
            assert_eq!(number, f64::from(frame) / 0.5f64.sin() + 6.0 + 28.0);
        }
        assert_eq!([constant, sine, constant2, multiply, multiply2].map(|node| net.runs(node)), runs);
        net.set(user, 8.0);
        let mut ran = net.ran();
        ran.sort_unstable();
        assert_eq!(ran, ["+", "Add", "Divide", "FinalValue", "Multiply2", "Time"], "{evaluator:?}: after an edit");
    }
}

#[test]
fn baked_graph_evaluates_feedback_sources_whose_readers_no_sink_needs() {
    for evaluator in EVALUATORS {
        let mut net = Net::new(evaluator);
        let time = time(&mut net);
        let source = net.pure("Source", &[time], |inputs| inputs[0]);
        let reader = net.pure("Reader", &[time], |inputs| inputs[0]);
        let last = net.pure("FinalValue", &[time], |inputs| inputs[0]);
        net.sink(last);
        net.graph.connect_feedback(source, 0, reader, 0).unwrap();
        net.evaluate();
        let mut baked = net.graph.bake(|_| false, |function| Ok(function.clone())).unwrap();
        assert_eq!(baked.removed, [reader]);
        let evaluation = Evaluation { evaluator, ..Evaluation::default() };
        for _ in 0..3 {
            let runs = net.graph.evaluate(&net.executor, evaluation).unwrap().evaluated;
            assert_eq!(runs, 3, "{evaluator:?}: time, source and final value");
            assert_eq!(baked.graph.evaluate(&net.executor, evaluation).unwrap().evaluated, runs, "{evaluator:?}");
        }
    }
}
