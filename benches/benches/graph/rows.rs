//! Rows of the table on one thread: all nodes, one input changed, building.

use std::hint::black_box;

use hobgoblin::base::Id;
use hobgoblin::executor::Executor;
use hobgoblin::graph::{self, Call, Class, Evaluation, Function, Input, NodeOptions, Output, Value, Verdict};
use hobgoblin_bench::timing::{median, ratio, thread_nanoseconds};

use crate::c_api::{Api, Evaluator, Graph};
use crate::peers::{Incremental, Salsa};
use crate::shapes::{Floor, Op, Shape, Tables, chain, levels, reactive};

/// A graph or a loop that is compared: its name, and what sets a head to this number and makes a frame.
type Contender<'a> = (&'static str, Box<dyn FnMut(u64) + 'a>);

/// Nanoseconds of a frame, by contender and round. All take turns; `batch` frames are timed together.
fn race(contenders: &mut [Contender<'_>], rounds: usize, batch: u64) -> Vec<Vec<f64>> {
    let mut samples = vec![Vec::new(); contenders.len()];
    let mut number = 1;
    for round in 0..rounds + 2 {
        for turn in 0..contenders.len() {
            let at = (round + turn) % contenders.len();
            let time = thread_nanoseconds(|| (number..number + batch).for_each(|number| contenders[at].1(number)));
            // The first rounds fill caches, and make plans.
            if round >= 2 {
                samples[at].push(time / batch as f64);
            }
        }
        number += batch;
    }
    samples
}

fn print_heads(title: &str, names: impl Iterator<Item = &'static str>) {
    print!("\n{title:<22}");
    names.for_each(|name| print!(" {name:>17}"));
    println!();
}

/// Prints medians per `unit`, and ratios to the contender `to`.
fn print_row(name: &str, samples: &[Vec<f64>], unit: f64, to: usize) {
    print!("{name:<22}");
    for of_one in samples {
        match of_one.is_empty() {
            true => print!(" {:>17}", "-"),
            false => print!(" {:>8.2} {:>6.2} x", median(of_one) / unit, ratio(of_one, &samples[to])),
        }
    }
    println!();
}

/// The node of the Rust core. Its row shows the cost of the C API.
#[derive(Clone, Copy)]
struct Host(Op);

impl Function for Host {
    #[inline]
    fn evaluate(&self, call: &mut Call<'_>) -> Verdict {
        static NO_TABLES: Tables = Tables::new();
        call.outputs[0].0[0] = self.0.apply(&NO_TABLES, call.inputs.iter().map(|input| input.0[0]));
        Verdict::Done
    }
}

fn core_graph(shape: &Shape) -> (graph::Graph<Host>, Id) {
    let mut graph = graph::Graph::new().expect("memory");
    let outputs = [Output::default()];
    let head = NodeOptions { class: Class::Input, outputs: &outputs, ..NodeOptions::default() };
    let mut ids = vec![graph.add(&head, None).expect("memory")];
    for (op, inputs) in &shape.nodes {
        let pins = vec![Input::default(); inputs.len()];
        let options = NodeOptions { class: Class::Pure, inputs: &pins, outputs: &outputs, ..NodeOptions::default() };
        let node = graph.add(&options, Some(Host(*op))).expect("memory");
        for (at, &input) in inputs.iter().enumerate() {
            graph.connect(ids[input as usize], 0, node, at).expect("no cycle");
        }
        ids.push(node);
    }
    for sink in shape.sinks() {
        graph.set_sink(ids[sink as usize], true).expect("it exists");
    }
    (graph, ids[0])
}

fn big_shapes() -> [Shape; 3] {
    [chain("chain of 16,384", 1 << 14), levels("levels, 128 x 128", 128), levels("levels, 316 x 316", 316)]
}

/// The head changes, and all nodes run.
pub fn all_nodes(api: &Api, rounds: usize) {
    let names = ["loop", "bitset", "list", "lazy", "bitset, Rust core", "incremental", "salsa"];
    print_heads("all nodes run", names.into_iter());
    for shape in big_shapes() {
        let floor = Floor::new(&shape);
        let mut contenders: Vec<Contender<'_>> = vec![(names[0], Box::new(|number| floor.frame(0, number)))];
        for (name, evaluator) in
            [(names[1], Evaluator::Bitset), (names[2], Evaluator::List), (names[3], Evaluator::Lazy)]
        {
            let (mut graph, nodes) = Graph::of(api, &shape, &0);
            let runs = shape.runs;
            let frame = move |number| {
                graph.set_input(nodes[0], number);
                assert_eq!(graph.evaluate(evaluator, None).runs, runs);
            };
            contenders.push((name, Box::new(frame)));
        }
        let (mut core, head) = core_graph(&shape);
        let evaluation = Evaluation { evaluator: graph::Evaluator::Bitset, ..Evaluation::default() };
        let core_frame = move |number| {
            core.set_input(head, 0, Value([number, 0])).expect("it exists");
            black_box(core.evaluate(&Executor::inline(), evaluation).expect("memory"));
        };
        contenders.push((names[4], Box::new(core_frame)));
        let incremental = Incremental::new(&shape);
        contenders.push((names[5], Box::new(move |number| incremental.frame(number))));
        let (name, unit) = (shape.name, shape.nodes.len() as f64);
        // Its recursion needs a stack as deep as the graph.
        if !name.starts_with("chain") {
            let mut salsa = Salsa::new(shape.clone());
            contenders.push((names[6], Box::new(move |number| salsa.frame(number))));
        }
        // A few frames each, so that the caches are warm for most of them.
        let batch = if unit < 50_000.0 { 4 } else { 1 };
        print_row(name, &race(&mut contenders, rounds, batch), unit, 0);
    }
    println!("ns per node; x: ratio to the loop. Target of bitset: at most 3 x");
}

/// One head changes.
pub fn one_input(api: &Api, rounds: usize) {
    let names = ["auto", "lazy", "incremental", "salsa", "loop"];
    print_heads("one input changed", names.into_iter());
    for shape in reactive() {
        check(api, &shape);
        let heads = shape.heads as usize;
        let mut contenders: Vec<Contender<'_>> = Vec::new();
        let (mut auto, nodes) = Graph::of(api, &shape, &0);
        let frame = move |number| {
            auto.set_input(nodes[number as usize % heads], number);
            auto.frame(None);
        };
        contenders.push((names[0], Box::new(frame)));
        let (mut lazy, nodes) = Graph::of(api, &shape, &0);
        let frame = move |number| {
            lazy.set_input(nodes[number as usize % heads], number);
            lazy.evaluate(Evaluator::Lazy, None);
        };
        contenders.push((names[1], Box::new(frame)));
        let incremental = Incremental::new(&shape);
        contenders.push((names[2], Box::new(move |number| incremental.frame(number))));
        let mut salsa = Salsa::new(shape.clone());
        contenders.push((names[3], Box::new(move |number| salsa.frame(number))));
        let floor = Floor::new(&shape);
        contenders.push((names[4], Box::new(move |number| floor.frame(number as usize % heads, number))));
        print_row(shape.name, &race(&mut contenders, rounds, 100), shape.runs as f64, 0);
    }
    println!(
        "ns per node that ran, the head included; x: ratio to auto. Loop: the calls of these nodes alone. Target of auto: at \
         most 15 ns, for empty nodes"
    );
}

/// Nothing changes, and all nodes run, because they are volatile.
pub fn volatile(api: &Api, rounds: usize) {
    let names = ["auto", "list", "lazy"];
    print_heads("volatile nodes", names.into_iter());
    for (name, count) in [("chain of 8", 8u64), ("chain of 1,024", 1024)] {
        let evaluators = [Evaluator::Auto, Evaluator::List, Evaluator::Lazy];
        let contender = |(name, evaluator): (&'static str, Evaluator)| -> Contender<'_> {
            let mut graph = Graph::new(api);
            let mut last = graph.add_input();
            for _ in 0..count {
                let node = graph.add_volatile(Op::PlusOne, 1);
                graph.connect(last, node, 0);
                last = node;
            }
            graph.set_sink(last);
            graph.evaluate(evaluator, None);
            (name, Box::new(move |_| assert_eq!(graph.evaluate(evaluator, None).runs, count)))
        };
        let mut contenders: Vec<Contender<'_>> = names.into_iter().zip(evaluators).map(contender).collect();
        print_row(name, &race(&mut contenders, rounds, 20), count as f64, 0);
    }
    println!("ns per node; x: ratio to auto");
}

/// All contenders have the same values, and ours the expected number of runs.
fn check(api: &Api, shape: &Shape) {
    let (mut graph, nodes) = Graph::of(api, shape, &0);
    let (incremental, mut salsa) = (Incremental::new(shape), Salsa::new(shape.clone()));
    graph.frame(None);
    for number in 1..10 {
        graph.set_input(nodes[number as usize % shape.heads as usize], number);
        assert_eq!(graph.evaluate(Evaluator::Bitset, None).runs, shape.runs, "{}", shape.name);
        incremental.frame(number);
        salsa.frame(number);
    }
    let values: Vec<u64> = shape.sinks().into_iter().map(|sink| graph.value(nodes[sink as usize])).collect();
    assert_eq!(values, incremental.values(), "{}", shape.name);
    assert_eq!(values, salsa.values(), "{}", shape.name);
}

/// Building, the first frame, and frames without a change.
pub fn build(api: &Api, rounds: usize) {
    println!("\nbuild and first run, ns per node and link; target: at most 50 for both together");
    for shape in &big_shapes()[..2] {
        let unit = (shape.nodes.len() + shape.edges()) as f64;
        let mut samples: [Vec<f64>; 3] = Default::default();
        for _ in 0..rounds.min(30) {
            let mut graph = None;
            samples[0].push(thread_nanoseconds(|| graph = Some(Graph::of(api, shape, &0).0)) / unit);
            let mut graph = graph.expect("it is made");
            samples[1].push(thread_nanoseconds(|| _ = graph.evaluate(Evaluator::Bitset, None)) / unit);
            samples[2].push(thread_nanoseconds(|| _ = black_box(Incremental::new(shape))) / unit);
        }
        let [build, first, incremental] = samples.map(|samples| median(&samples));
        println!(
            "{:<22} build {build:.1}, plan and first run {first:.1}, together {:.1}; incremental {incremental:.1}",
            shape.name,
            build + first
        );
    }
    println!("\nnothing changed, ns per frame; target: at most 100");
    for (name, width) in [("100 nodes", 10), ("149,770 nodes", 387)] {
        let shape = levels(name, width);
        let (mut graph, _) = Graph::of(api, &shape, &0);
        let incremental = Incremental::new(&shape);
        (0..4).for_each(|_| graph.frame(None));
        let mut contenders: [Contender<'_>; 2] =
            [("auto", Box::new(|_| graph.frame(None))), ("incremental", Box::new(|_| incremental.stabilise()))];
        let samples = race(&mut contenders, rounds, 1000);
        println!("{name:<22} {:.1}; incremental {:.1}", median(&samples[0]), median(&samples[1]));
    }
}
