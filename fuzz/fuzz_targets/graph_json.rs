//! Loads any bytes as a graph. Loading ends with an error, or with a graph whose text loads as the same graph again. All
//! evaluators give it the same values and counts, and so does a baked copy. It can be drawn and written as C, or that is
//! refused.
#![no_main]

use hobgoblin::base::{Error, Id};
use hobgoblin::executor::Executor;
use hobgoblin::graph::{Baked, Call, Evaluation, Evaluator, Function, Graph, Held, Loaded, Value, Verdict};
use libfuzzer_sys::fuzz_target;

/// A function of the inputs, which asks for lazy inputs and fails now and then.
struct Mixed(u64);

impl Function for Mixed {
    fn evaluate(&self, call: &mut Call<'_>) -> Verdict {
        let read = |at: usize| at >= 64 || call.available & (1 << at) != 0 || self.0 & (1 << at) == 0;
        let inputs = call.inputs.iter().enumerate().filter(|(at, _)| read(*at));
        let sum = inputs.fold(self.0, |sum, (_, input)| (sum ^ input.0[0]).wrapping_mul(0x9e37_79b9).wrapping_add(1));
        let wanted = self.0 & !call.available & (1 << (sum % 64));
        if wanted != 0 {
            return Verdict::Need(wanted);
        }
        if sum % 7 == 3 {
            return Verdict::Failed;
        }
        // The second word is a generation: equal ones mean equal data.
        let number = 1 + (sum >> 8) % 5;
        call.outputs.fill(Value([number, number]));
        call.held = Held { bytes: sum % 100, cost_ns: 1.0 };
        Verdict::Done
    }
}

fn load(text: &[u8]) -> Result<Loaded<Mixed>, Error> {
    Graph::load(text, |node| {
        let lazy = node.options.inputs.iter().take(64).enumerate().filter(|(_, input)| input.lazy);
        Ok(Mixed(lazy.map(|(at, _)| 1 << at).sum()))
    })
}

fn written(graph: &Graph<Mixed>) -> Vec<u8> {
    let mut text = vec![0; graph.json_size()];
    graph.to_json(&mut text).expect("it has that size");
    text
}

/// The runs, the value and the failure of each node after some frames.
fn states(graph: &mut Graph<Mixed>, nodes: &[(Id, Id)], evaluator: Evaluator) -> Vec<(u64, Option<Value>, bool)> {
    for _ in 0..3 {
        graph.evaluate(&Executor::inline(), Evaluation { evaluator, ..Evaluation::default() }).expect("there is memory");
    }
    let state = |&(_, node): &(Id, Id)| {
        let failure = graph.failure(node).expect("it was loaded");
        (graph.runs(node).expect("it was loaded"), graph.value(node, 0).ok(), failure.is_some())
    };
    nodes.iter().map(state).collect()
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(first) = load(bytes) else { return };
    let text = written(&first.graph);
    let evaluators = [Evaluator::Lazy, Evaluator::List, Evaluator::Bitset, Evaluator::Parallel];
    let all = evaluators.map(|evaluator| {
        let Loaded { mut graph, nodes } = load(&text).expect("the library has written it");
        assert_eq!(written(&graph), text);
        states(&mut graph, &nodes, evaluator)
    });
    all[1..].iter().for_each(|states| assert_eq!(*states, all[0]));
    let Loaded { mut graph, nodes } = load(&text).expect("it was loaded before");
    graph.set_memory_limit(50).expect("there is memory");
    let limited = states(&mut graph, &nodes, Evaluator::Auto);
    for ((_, value, is_broken), (_, plain, is_broken_without)) in limited.iter().zip(&all[0]) {
        // A node that fails has no last good value once that was released.
        assert!(is_broken == is_broken_without && (*is_broken || value.is_none() || value == plain));
    }
    let mut picture = vec![0; graph.dot_size()];
    graph.to_dot(&mut picture).expect("it has that size");
    _ = graph.emit("patch");
    let Baked { graph: mut baked, kept, .. } =
        graph.bake(|_| false, |node| Ok(Mixed(node.0))).expect("it is up to date");
    states(&mut baked, &kept, Evaluator::Bitset);
});
