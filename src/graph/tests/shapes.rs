//! Public shapes of reactive benchmarks (Kairo and others): values, and exact counts of runs.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use super::*;

/// Runs a check on each evaluator, and the parallel one on 1, 2, 4 and 8 threads.
fn each(check: impl Fn(&mut Net)) {
    for evaluator in EVALUATORS {
        check(&mut Net::new(evaluator));
        let mut guesses = Net::new(evaluator);
        guesses.graph.guess.is_fixed = true;
        check(&mut guesses);
    }
    for threads in [1, 2, 8] {
        check(&mut Net::with_threads(Evaluator::Parallel, threads));
    }
}

fn plus_one(net: &mut Net, input: Id) -> Id {
    net.pure("+1", &[input], |inputs| inputs[0] + 1.0)
}

#[test]
fn deep_chain_runs_once_per_write() {
    each(|net| {
        let head = net.input("head", 0.0);
        let mut last = head;
        for _ in 0..50 {
            last = plus_one(net, last);
        }
        let effect = net.add("effect", Class::Effect, &[last], |inputs| inputs[0]);
        net.evaluate();
        for i in 1..50 {
            net.set(head, f64::from(i));
            assert_eq!(net.evaluate().evaluated, 52, "the head, 50 nodes and the effect");
            assert_eq!(net.number(effect), f64::from(50 + i));
        }
        assert_eq!(net.evaluate().evaluated, 0);
    });
}

#[test]
fn broad_graph_runs_each_branch_once() {
    each(|net| {
        let head = net.input("head", 0.0);
        let mut effects = Vec::new();
        for i in 0..50 {
            let sum = net.pure("+i", &[head], move |inputs| inputs[0] + f64::from(i));
            let next = plus_one(net, sum);
            effects.push(net.add("effect", Class::Effect, &[next], |inputs| inputs[0]));
        }
        net.evaluate();
        for i in 1..50 {
            net.set(head, f64::from(i));
            assert_eq!(net.evaluate().evaluated, 151);
            for (at, &effect) in effects.iter().enumerate() {
                assert_eq!(net.number(effect), f64::from(i) + at as f64 + 1.0);
            }
        }
    });
}

#[test]
fn diamond_and_triangle_join_without_glitches() {
    each(|net| {
        let head = net.input("head", 0.0);
        let branches: Vec<Id> = (0..5).map(|_| plus_one(net, head)).collect();
        let sum = net.pure("sum", &branches, |inputs| inputs.iter().sum());
        let effect = net.add("effect", Class::Effect, &[sum], |inputs| inputs[0]);
        let mut links = vec![head];
        for _ in 0..10 {
            links.push(plus_one(net, links[links.len() - 1]));
        }
        let triangle = net.pure("triangle", &links, |inputs| inputs.iter().sum());
        let second = net.add("effect", Class::Effect, &[triangle], |inputs| inputs[0]);
        net.evaluate();
        for i in 1..100 {
            net.set(head, f64::from(i));
            assert_eq!(net.evaluate().evaluated, 1 + 7 + 12);
            assert_eq!(net.number(effect), f64::from(5 * (i + 1)));
            assert_eq!(net.number(second), f64::from(11 * i + 55));
        }
    });
}

/// The value of the multiplexer stands for the numbers of all heads, so each node that takes one of them runs.
#[test]
fn multiplexer_runs_the_nodes_that_split_it_and_one_branch_behind_them() {
    each(|net| {
        let heads: Vec<Id> = (0..100).map(|_| net.input("head", 0.0)).collect();
        let numbers = Arc::new(Mutex::new(Vec::new()));
        let (written, writes) = (numbers.clone(), AtomicU64::new(0));
        let all = net.pure("mux", &heads, move |inputs| {
            *written.lock().unwrap() = inputs.to_vec();
            writes.fetch_add(1, Relaxed) as f64
        });
        let effects: Vec<Id> = (0..100)
            .map(|at| {
                let numbers = numbers.clone();
                let split = net.pure("split", &[all], move |_| numbers.lock().unwrap()[at]);
                let next = plus_one(net, split);
                net.add("effect", Class::Effect, &[next], |inputs| inputs[0])
            })
            .collect();
        net.evaluate();
        for factor in 1..3 {
            for (at, (&head, &effect)) in heads.iter().zip(&effects).enumerate() {
                let number = f64::from(factor) * (1.0 + at as f64);
                net.set(head, number);
                assert_eq!(net.evaluate().evaluated, 1 + 1 + 100 + 1 + 1);
                assert_eq!(net.number(effect), number + 1.0);
            }
        }
    });
}

#[test]
fn node_with_a_hundred_inputs_runs_once_per_written_head() {
    each(|net| {
        let heads: Vec<Id> = (0..100).map(|_| net.input("head", 0.0)).collect();
        let all = net.pure("sum", &heads, |inputs| {
            inputs.iter().enumerate().map(|(at, input)| input * f64::from(1 + at as i32)).sum()
        });
        let next = plus_one(net, all);
        let effect = net.add("effect", Class::Effect, &[next], |inputs| inputs[0]);
        net.evaluate();
        for (at, &head) in heads.iter().enumerate() {
            net.set(head, 1.0);
            assert_eq!(net.evaluate().evaluated, 4);
            assert_eq!(net.number(effect), (0..=at).map(|at| at as f64 + 1.0).sum::<f64>() + 1.0);
        }
    });
}

#[test]
fn node_that_reads_its_source_thirty_times_runs_once() {
    each(|net| {
        let head = net.input("head", 0.0);
        let sum = net.pure("sum", &[head; 30], |inputs| inputs.iter().sum());
        let effect = net.add("effect", Class::Effect, &[sum], |inputs| inputs[0]);
        net.evaluate();
        for i in 1..20 {
            net.set(head, f64::from(i));
            assert_eq!(net.evaluate().evaluated, 3);
            assert_eq!(net.number(effect), f64::from(30 * i));
        }
    });
}

#[test]
fn dependency_that_flips_runs_one_side() {
    each(|net| {
        let head = net.input("head", 0.0);
        let double = net.pure("double", &[head], |inputs| inputs[0] * 2.0);
        let inverse = net.pure("inverse", &[head], |inputs| -inputs[0]);
        let side = net.choice("side", head, &[double, inverse], |head| Some(if head % 2.0 == 0.0 { 1 } else { 0 }));
        let effect = net.add("effect", Class::Effect, &[side], |inputs| inputs[0]);
        net.evaluate();
        for i in 1..40 {
            net.set(head, f64::from(i));
            let summary = net.evaluate();
            assert_eq!((summary.evaluated, summary.requests), (4, 1), "the head, one side, the choice and the effect");
            assert_eq!(net.number(effect), if i % 2 == 0 { -f64::from(i) } else { f64::from(2 * i) });
        }
    });
}

#[test]
fn equal_value_keeps_the_heavy_branch_from_running() {
    each(|net| {
        let head = net.input("head", 0.0);
        let first = net.pure("head", &[head], |inputs| inputs[0]);
        let zero = net.pure("zero", &[first], |inputs| inputs[0] * 0.0);
        let heavy = net.pure("heavy", &[zero], |inputs| inputs[0] + 1.0);
        let next = plus_one(net, heavy);
        let last = plus_one(net, next);
        let effect = net.add("effect", Class::Effect, &[last], |inputs| inputs[0]);
        net.evaluate();
        assert_eq!(net.number(effect), 3.0);
        for i in 1..1000 {
            net.set(head, f64::from(i));
            assert_eq!(net.evaluate().evaluated, 3);
        }
        assert_eq!((net.number(effect), net.runs(heavy)), (3.0, 1));
    });
}

#[test]
fn cell_layers_have_the_published_values() {
    // The values of "cellx" for 1,000 layers, and those for 10 computed with integers.
    each(|net| {
        for layers in [10, 1000] {
            let heads: Vec<Id> = (1..=4).map(|i| net.input("prop", f64::from(i))).collect();
            let mut cells = heads.clone();
            for _ in 0..layers {
                let [a, b, c, d] = cells[..] else { panic!("four cells") };
                cells = vec![
                    net.pure("p1", &[b], |inputs| inputs[0]),
                    net.pure("p2", &[a, c], |inputs| inputs[0] - inputs[1]),
                    net.pure("p3", &[b, d], |inputs| inputs[0] + inputs[1]),
                    net.pure("p4", &[c], |inputs| inputs[0]),
                ];
            }
            for &cell in &cells {
                net.sink(cell);
            }
            let expected = |heads: [f64; 4]| (0..layers).fold(heads, |[a, b, c, d], _| [b, a - c, b + d, c]);
            net.evaluate();
            let values: Vec<f64> = cells.iter().map(|&cell| net.number(cell)).collect();
            assert_eq!(values, expected([1.0, 2.0, 3.0, 4.0]));
            if layers == 1000 {
                assert_eq!(values, [-3.0, -6.0, -2.0, 2.0]);
            }
            for (at, &head) in heads.iter().enumerate() {
                net.set(head, f64::from(4 - at as i32));
            }
            net.evaluate();
            let values: Vec<f64> = cells.iter().map(|&cell| net.number(cell)).collect();
            assert_eq!(values, expected([4.0, 3.0, 2.0, 1.0]));
            if layers == 1000 {
                assert_eq!(values, [-2.0, -4.0, 2.0, 3.0]);
            }
            for cell in cells {
                net.graph.set_sink(cell, false).unwrap();
            }
        }
    });
}

#[test]
fn independent_sinks_run_in_the_order_in_which_they_were_made() {
    for evaluator in EVALUATORS.into_iter().filter(|evaluator| *evaluator != Evaluator::Parallel) {
        let mut net = Net::new(evaluator);
        let input = net.input("input", 0.0);
        for name in ["first", "second", "third"] {
            let sink = net.pure(name, &[input], |v| v[0]);
            net.sink(sink);
        }
        for frame in 1..6 {
            net.set(input, f64::from(frame));
            assert_eq!(net.ran(), ["first", "second", "third"], "{evaluator:?}, frame {frame}");
        }
    }
}
