//! Big graphs: blocks for other threads, memory over many edits, and cancelling.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

use super::*;
use crate::executor::Background;

/// A pure node with one output that reads these nodes.
fn add(graph: &mut Graph<Closure>, inputs: &[Id], function: &Closure) -> Id {
    let pins = vec![Input::default(); inputs.len()];
    let outputs = [Output::default()];
    let options = NodeOptions { class: Class::Pure, inputs: &pins, outputs: &outputs, ..NodeOptions::default() };
    let node = graph.add(&options, Some(function.clone())).unwrap();
    for (at, &input) in inputs.iter().enumerate() {
        graph.connect(input, 0, node, at).unwrap();
    }
    node
}

fn head(graph: &mut Graph<Closure>) -> Id {
    let outputs = [Output::default()];
    graph.add(&NodeOptions { class: Class::Input, outputs: &outputs, ..NodeOptions::default() }, None).unwrap()
}

/// Any change of an input changes its value.
fn mix(call: &mut Call<'_>) -> Verdict {
    let mixed = call.inputs.iter().fold(1, |mixed: u64, input| mixed.rotate_left(1).wrapping_mul(3) ^ input.0[0]);
    call.outputs[0] = Value([mixed, 0]);
    Verdict::Done
}

/// A graph in which node `at` reads the nodes `reads(at)`; 0 is the head. All are sinks.
fn graph_of(count: u32, reads: impl Fn(u32) -> Vec<u32>) -> (Graph<Closure>, Id) {
    let mut graph = Graph::new().unwrap();
    let function = Closure(Arc::new(mix));
    let mut nodes = vec![head(&mut graph)];
    for at in 0..count {
        let inputs: Vec<Id> = reads(at).into_iter().map(|input| nodes[input as usize]).collect();
        nodes.push(add(&mut graph, &inputs, &function));
        graph.set_sink(nodes[nodes.len() - 1], true).unwrap();
    }
    (graph, nodes[0])
}

#[test]
fn blocks_are_handed_out_for_levels_that_are_worth_a_thread() {
    const WIDTH: u32 = 128;
    // Nodes of 800 ns: a level of 100 nodes or more is cut into blocks of 13 nodes.
    let blocks = |level: u64| if level < 100 { 0 } else { level.div_ceil(13) };
    // If most nodes run, one of 16 us or more is cut into parts of 10 us, as many for each thread.
    let parts = |level: u64, ns: u64| if level * ns < 16_000 { 0 } else { (level * ns / 20_000 * 2).max(2) };
    let levels = |at: u32| match at / WIDTH {
        0 => vec![0],
        level => vec![(level - 1) * WIDTH + at % WIDTH + 1, (level - 1) * WIDTH + (at + 1) % WIDTH + 1],
    };
    let wave = |at: u32| match (at / WIDTH, at % WIDTH) {
        (0, 0) => vec![0],
        (0, _) => vec![at],
        (_, 0) => vec![at - WIDTH + 1],
        _ => vec![at, at - WIDTH + 1],
    };
    let of_wave: Vec<u64> = (1..128).chain((1..=128).rev()).collect();
    type Reads<'a> = &'a dyn Fn(u32) -> Vec<u32>;
    let shapes: [(&str, u32, Reads<'_>, Vec<u64>); 5] = [
        ("chain", 16_384, &|at| vec![at], vec![1; 16_384]),
        ("tree", 16_383, &|at| vec![at.div_ceil(2)], (0..14).map(|level| 1 << level).collect()),
        ("levels", WIDTH * WIDTH, &levels, vec![128; WIDTH as usize]),
        ("wave", WIDTH * WIDTH, &wave, of_wave),
        ("broad", 5000, &|_| vec![0], vec![5000]),
    ];
    let executor = executor(2);
    for (name, count, reads, widths) in shapes {
        let in_blocks = widths.iter().map(|&level| blocks(level)).sum();
        let in_parts = |ns| widths.iter().map(|&level| parts(level, ns)).sum();
        let of_fast = if name == "tree" { in_parts(60) } else { 0 };
        let (mut graph, head) = graph_of(count, reads);
        let evaluation = Evaluation { evaluator: Evaluator::Parallel, ..Evaluation::default() };
        graph.evaluate(&executor, evaluation).unwrap();
        // A frame decides by these durations before it measures others.
        for (frame, nanoseconds, expected) in
            [(1, 800, in_blocks), (2, 800, in_parts(800)), (3, 60, of_fast), (4, 1, 0)]
        {
            graph.state.set_durations(nanoseconds);
            graph.threads.forget_levels();
            graph.threads.pause = 0;
            graph.guess.is_fixed = frame > 1;
            let before = graph.blocks_handed_out();
            graph.set_input(head, 0, Value([frame, 0])).unwrap();
            assert_eq!(graph.evaluate(&executor, evaluation).unwrap().evaluated, u64::from(count) + 1);
            assert_eq!(graph.blocks_handed_out() - before, expected, "{name}, nodes of {nanoseconds} ns");
        }
    }
}

#[test]
fn memory_is_flat_over_ten_thousand_edits() {
    const GROUPS: usize = 50;
    const NODES: usize = 20;
    let background = Executor::new(Options { background: Background::Thread, ..Options::default() }).unwrap();
    for executor in [Executor::inline(), background] {
        let mut state = 1u64;
        let mut below = |limit: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % limit
        };
        let mut graph = Graph::new().unwrap();
        let function = Closure(Arc::new(mix));
        let mut groups: Vec<Vec<Id>> = Vec::new();
        let mut sources = Vec::new();
        for _ in 0..GROUPS {
            let mut nodes = vec![head(&mut graph)];
            for at in 1..NODES {
                let read = below(at);
                nodes.push(add(&mut graph, &[nodes[read], nodes[at - 1]], &function));
                // All are sinks, so that all plans have the same nodes.
                graph.set_sink(nodes[at], true).unwrap();
                sources.push(read);
            }
            groups.push(nodes);
        }
        let (mut inserted, mut memory, mut most_seen) = (Vec::new(), Vec::new(), 0);
        for edit in 1..=10_000 {
            let (group, reader) = (below(GROUPS), 1 + below(NODES - 1));
            let order_work = graph.order_work();
            let source = &mut sources[group * (NODES - 1) + reader - 1];
            match below(3) {
                0 if inserted.len() < 32 => {
                    let node = add(&mut graph, &[groups[group][*source]], &function);
                    graph.connect(node, 0, groups[group][reader], 0).unwrap();
                    inserted.push((group, reader, node));
                }
                1 if !inserted.is_empty() => {
                    let (group, reader, node) = inserted.swap_remove(below(inserted.len()));
                    let source = sources[group * (NODES - 1) + reader - 1];
                    graph.connect(groups[group][source], 0, groups[group][reader], 0).unwrap();
                    graph.remove(node).unwrap();
                }
                _ => {
                    *source = below(reader);
                    graph.connect(groups[group][*source], 0, groups[group][reader], 0).unwrap();
                }
            }
            let summary = graph.evaluate(&executor, Evaluation::default()).unwrap();
            // The first frame runs all nodes.
            if edit > 1 {
                most_seen = most_seen.max(summary.looked_at + summary.evaluated + graph.order_work() - order_work);
            }
            if edit == 1000 || edit == 10_000 {
                for (group, reader, node) in inserted.drain(..) {
                    let source = sources[group * (NODES - 1) + reader - 1];
                    graph.connect(groups[group][source], 0, groups[group][reader], 0).unwrap();
                    graph.remove(node).unwrap();
                }
                executor.wait_idle(std::time::Duration::MAX).ok();
                // A plan of the graph as it was before the first edit, made from all edits since.
                while graph.evaluate(&executor, Evaluation::default()).unwrap().evaluator == Evaluator::Lazy {
                    executor.wait_idle(std::time::Duration::MAX).ok();
                }
                memory.push(graph.memory_used());
            }
        }
        assert!(most_seen <= 6 * NODES as u64, "an edit looked at {most_seen} nodes and inputs of {}", graph.len());
        assert_eq!(memory[0], memory[1], "bytes after 1,000 and 10,000 edits");
    }
}

/// Counts the nodes that start after a flag was raised. One of them cancels.
struct Watch {
    started: AtomicU64,
    is_cancelled: AtomicBool,
    late: AtomicU64,
    cancel_at: AtomicU64,
}

#[test]
fn at_most_one_node_per_thread_starts_after_a_cancel() {
    const MOVERS: u64 = 25_000;
    for (evaluator, threads) in EVALUATORS.map(|it| (it, 1)).into_iter().chain([(Evaluator::Parallel, 4)]) {
        let mut graph = Graph::new().unwrap();
        let canceller = graph.canceller();
        let watch = Arc::new(Watch {
            started: AtomicU64::new(0),
            is_cancelled: AtomicBool::new(false),
            late: AtomicU64::new(0),
            cancel_at: AtomicU64::new(1000),
        });
        let seen = watch.clone();
        let function = Closure(Arc::new(move |call| {
            seen.late.fetch_add(u64::from(seen.is_cancelled.load(SeqCst)), SeqCst);
            if seen.started.fetch_add(1, SeqCst) == seen.cancel_at.load(SeqCst) {
                canceller.cancel();
                seen.is_cancelled.store(true, SeqCst);
            }
            mix(call)
        }));
        // The shape of OpenUSD's testVdfScheduling_Perf: a chain of movers, each with a source of its own, and with a
        // link to a random mover before it.
        let mut movers: Vec<Id> = Vec::new();
        let mut state = 1u64;
        for at in 0..MOVERS as usize {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let mut inputs = vec![add(&mut graph, &[], &function)];
            if at > 0 {
                inputs.extend([movers[(state >> 33) as usize % at], movers[at - 1]]);
            }
            movers.push(add(&mut graph, &inputs, &function));
        }
        graph.set_sink(movers[movers.len() - 1], true).unwrap();
        let executor = if threads > 1 { executor(threads) } else { Executor::inline() };
        let evaluation = Evaluation { evaluator, ..Evaluation::default() };
        let mut ran = 0;
        for stop in [1000, 20_000, 24_990, 25_010, 40_000] {
            watch.cancel_at.store(stop, SeqCst);
            watch.is_cancelled.store(false, SeqCst);
            let summary = graph.evaluate(&executor, evaluation).unwrap();
            ran += summary.evaluated;
            assert!(!summary.is_complete, "{evaluator:?} at {stop}");
            let late = watch.late.swap(0, SeqCst);
            assert!(late < threads as u64, "{evaluator:?}: {late} nodes started after the cancel at {stop}");
        }
        watch.cancel_at.store(u64::MAX, SeqCst);
        watch.is_cancelled.store(false, SeqCst);
        let summary = graph.evaluate(&executor, evaluation).unwrap();
        assert!(summary.is_complete);
        assert_eq!(ran + summary.evaluated, 2 * MOVERS, "{evaluator:?}: each node ran once");
    }
}
