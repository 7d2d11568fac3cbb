//! Graph evaluation against a hand-written loop over function pointers: `cargo bench -p hobgoblin-bench --bench graph`.

use std::ffi::c_void;
use std::hint::black_box;
use std::process::ExitCode;

use hobgoblin::base::Id;
use hobgoblin::executor::Executor;
use hobgoblin::graph::{
    Call, Class, Evaluation, Evaluator, Function, Graph, Input, NodeOptions, Output, Value, Verdict,
};
use hobgoblin_bench::options;
use hobgoblin_bench::timing::{median, quantile};

/// A node as a host has it: a function pointer and user data.
#[derive(Clone, Copy)]
struct Host {
    run: extern "C" fn(*mut c_void, *const Value, *mut Value) -> u32,
    user_data: *mut c_void,
}

// SAFETY: the functions of this file use no user data.
unsafe impl Send for Host {}
// SAFETY: as above.
unsafe impl Sync for Host {}

impl Function for Host {
    fn evaluate(&self, call: &mut Call<'_>) -> Verdict {
        match (self.run)(self.user_data, call.inputs.as_ptr(), call.outputs.as_mut_ptr()) {
            0 => Verdict::Done,
            _ => Verdict::Failed,
        }
    }
}

extern "C" fn plus_one(_: *mut c_void, inputs: *const Value, outputs: *mut Value) -> u32 {
    // SAFETY: the node has one input and one output.
    unsafe { (*outputs).0[0] = (*inputs).0[0] + 1 };
    0
}

extern "C" fn mix_two(_: *mut c_void, inputs: *const Value, outputs: *mut Value) -> u32 {
    // SAFETY: the node has two inputs and one output.
    unsafe { (*outputs).0[0] = (*inputs).0[0].rotate_left(1) ^ (*inputs.add(1)).0[0].wrapping_add(1) };
    0
}

/// The hand-written loop: calls each function with the values that it reads, and stores its value.
struct Floor {
    nodes: Vec<(Host, [u32; 2], u32)>,
    values: Vec<Value>,
}

impl Floor {
    fn run(&mut self) {
        for (at, (host, inputs, count)) in self.nodes.iter().enumerate() {
            let mut read = [Value::default(); 2];
            for at in 0..*count as usize {
                read[at] = self.values[inputs[at] as usize];
            }
            let mut written = Value::default();
            if (host.run)(host.user_data, read.as_ptr(), &mut written) != 0 {
                return;
            }
            self.values[at + 1] = written;
        }
    }
}

/// A graph of nodes with one or two inputs, by the numbers of the nodes that they read; 0 is the head.
struct Shape {
    name: &'static str,
    inputs: Vec<Vec<u32>>,
}

fn chain(count: u32) -> Shape {
    Shape { name: "chain of 16,384", inputs: (0..count).map(|at| vec![at]).collect() }
}

fn levels(name: &'static str, width: u32) -> Shape {
    let node = |at: u32| match at / width {
        0 => vec![0],
        level => vec![(level - 1) * width + at % width + 1, (level - 1) * width + (at + 1) % width + 1],
    };
    Shape { name, inputs: (0..width * width).map(node).collect() }
}

impl Shape {
    fn floor(&self) -> Floor {
        let node = |inputs: &Vec<u32>| {
            let run = if inputs.len() == 1 { plus_one } else { mix_two };
            let read = [inputs[0], inputs.get(1).copied().unwrap_or(0)];
            (Host { run, user_data: std::ptr::null_mut() }, read, inputs.len() as u32)
        };
        Floor { nodes: self.inputs.iter().map(node).collect(), values: vec![Value::default(); self.inputs.len() + 1] }
    }

    fn graph(&self) -> (Graph<Host>, Id) {
        let mut graph = Graph::new().unwrap();
        let outputs = [Output::default()];
        let head = NodeOptions { class: Class::Input, outputs: &outputs, ..NodeOptions::default() };
        let mut ids = vec![graph.add(&head, None).unwrap()];
        let mut is_read = vec![false; self.inputs.len() + 1];
        for inputs in &self.inputs {
            let pins = [Input::default(); 2];
            let options = NodeOptions {
                class: Class::Pure,
                inputs: &pins[..inputs.len()],
                outputs: &outputs,
                ..NodeOptions::default()
            };
            let run = if inputs.len() == 1 { plus_one } else { mix_two };
            let node = graph.add(&options, Some(Host { run, user_data: std::ptr::null_mut() })).unwrap();
            for (at, &input) in inputs.iter().enumerate() {
                is_read[input as usize] = true;
                graph.connect(ids[input as usize], 0, node, at).unwrap();
            }
            ids.push(node);
        }
        for (&id, _) in ids.iter().zip(&is_read).filter(|(_, is_read)| !**is_read) {
            graph.set_sink(id, true).unwrap();
        }
        (graph, ids[0])
    }
}

fn evaluate(graph: &mut Graph<Host>, evaluator: Evaluator) -> u64 {
    let evaluation = Evaluation { evaluator, ..Evaluation::default() };
    graph.evaluate(&Executor::inline(), evaluation).unwrap().evaluated
}

/// Processor time of this thread in nanoseconds: other programs of the machine do not count.
fn now() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

fn nanoseconds(work: impl FnOnce()) -> f64 {
    let start = now();
    work();
    now() - start
}

fn static_rows(rounds: usize) {
    println!(
        "{:<20} {:>9} {:>9} {:>9} {:>9}   ns per node; ratio to the loop",
        "all nodes run", "loop", "list", "bitset", "lazy"
    );
    for shape in [chain(1 << 14), levels("levels, 128 x 128", 128), levels("levels, 316 x 316", 316)] {
        let count = shape.inputs.len() as f64;
        let mut floor = shape.floor();
        let (mut graph, head) = shape.graph();
        let mut samples: [Vec<f64>; 4] = Default::default();
        let mut number = 0;
        for _ in 0..rounds {
            floor.values[0].0[0] += 1;
            samples[0].push(nanoseconds(|| floor.run()) / count);
            black_box(&floor.values);
            for (at, evaluator) in [Evaluator::List, Evaluator::Bitset, Evaluator::Lazy].into_iter().enumerate() {
                number += 1;
                graph.set_input(head, 0, Value([number, 0])).unwrap();
                let mut evaluated = 0;
                samples[at + 1].push(nanoseconds(|| evaluated = evaluate(&mut graph, evaluator)) / count);
                assert_eq!(evaluated as usize, shape.inputs.len() + 1);
            }
        }
        let loop_time = median(&samples[0]);
        print!("{:<20} {loop_time:>9.2}", shape.name);
        for of_evaluator in &samples[1..] {
            print!(" {:>9.2}", median(of_evaluator));
        }
        println!(
            "   {:.2} {:.2} {:.2}",
            median(&samples[1]) / loop_time,
            median(&samples[2]) / loop_time,
            median(&samples[3]) / loop_time
        );
    }
}

fn incremental_rows(rounds: usize) {
    println!("\n{:<20} {:>9} {:>9}   ns per node that ran", "one input changed", "bitset", "lazy");
    let deep = Shape { name: "deep, 50", inputs: (0..50).map(|at| vec![at]).collect() };
    let broad =
        Shape { name: "broad, 50", inputs: (0..150).map(|at| vec![if at < 50 { 0 } else { at - 49 }]).collect() };
    for shape in [deep, broad] {
        let (mut graph, head) = shape.graph();
        print!("{:<20}", shape.name);
        let mut number = 0;
        for evaluator in [Evaluator::Bitset, Evaluator::Lazy] {
            let mut samples = Vec::new();
            for _ in 0..rounds {
                let mut evaluated = 0;
                let time = nanoseconds(|| {
                    for _ in 0..100 {
                        number += 1;
                        graph.set_input(head, 0, Value([number, 0])).unwrap();
                        evaluated += evaluate(&mut graph, evaluator);
                    }
                });
                samples.push(time / evaluated as f64);
            }
            print!(" {:>9.2}", quantile(&samples, 0.25));
        }
        println!();
    }
}

fn build_rows(rounds: usize) {
    let shape = levels("levels, 128 x 128", 128);
    let edges: usize = shape.inputs.iter().map(Vec::len).sum();
    let count = (shape.inputs.len() + edges) as f64;
    let (mut build, mut first) = (Vec::new(), Vec::new());
    for _ in 0..rounds.min(30) {
        let start = now();
        let (mut graph, _) = shape.graph();
        build.push((now() - start) / count);
        first.push(nanoseconds(|| _ = black_box(evaluate(&mut graph, Evaluator::Bitset))) / count);
    }
    println!(
        "\n128 x 128, ns per node and edge: build {:.1}, plan and first run {:.1}",
        median(&build),
        median(&first)
    );
    let (mut graph, _) = levels("", 387).graph();
    evaluate(&mut graph, Evaluator::Bitset);
    let samples: Vec<f64> =
        (0..1000).map(|_| nanoseconds(|| _ = black_box(evaluate(&mut graph, Evaluator::Bitset)))).collect();
    println!("nothing changed, {} nodes: {:.0} ns a frame", graph.len(), median(&samples));
}

fn main() -> ExitCode {
    let help =
        "Graph evaluation against a hand-written loop over function pointers.\n\n--rounds N   rounds, default 200\n";
    options::run(
        help,
        200usize,
        |rounds, option, operand| match option {
            "--rounds" => operand.parsed().map(|number| *rounds = number).map(|()| true),
            _ => Ok(false),
        },
        |&rounds| {
            static_rows(rounds);
            incremental_rows(rounds);
            build_rows(rounds);
            Ok(())
        },
    )
}
