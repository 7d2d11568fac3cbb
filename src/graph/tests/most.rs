//! Evaluations that look at each node, because most nodes probably run.

use std::sync::atomic::AtomicUsize;

use super::*;

/// A graph of pairs: each reads both nodes of the pair before. Each node may end the evaluation, or fail.
struct Pairs {
    net: Net,
    head: Id,
    nodes: Vec<Id>,
    /// Number of the node that cancels the evaluation, and of the node that fails.
    cancels: Arc<AtomicUsize>,
    fails: Arc<AtomicUsize>,
}

const PAIRS: usize = 40;
const NONE: usize = usize::MAX;
/// The evaluators that look at each node, and the list, which does not.
const MOST: [Evaluator; 3] = [Evaluator::Bitset, Evaluator::Parallel, Evaluator::List];

/// `holds`: nodes of this remainder by 5 go on with the last good values of their sources.
fn pairs(evaluator: Evaluator, guesses: bool, holds: usize) -> Pairs {
    let mut net = Net::new(evaluator);
    net.graph.guess.is_fixed = guesses;
    net.graph.threads.split_everything();
    let (cancels, fails) = (Arc::new(AtomicUsize::new(NONE)), Arc::new(AtomicUsize::new(NONE)));
    let head = net.input("head", 0.0);
    let mut nodes = vec![head, head];
    for at in 2..2 * PAIRS + 2 {
        let (canceller, cancels, fails) = (net.graph.canceller(), cancels.clone(), fails.clone());
        let function = closure(move |call| {
            call.outputs[0] = Value::number(call.inputs[0].as_number() + 2.0 * call.inputs[1].as_number() + 1.0);
            if cancels.load(Relaxed) == at {
                canceller.cancel();
            }
            if fails.load(Relaxed) == at { Verdict::Failed } else { Verdict::Done }
        });
        let inputs = [Input { hold: at % 5 == holds, ..Input::default() }; 2];
        let outputs = [Output::default()];
        let options = NodeOptions { class: Class::Pure, inputs: &inputs, outputs: &outputs, ..NodeOptions::default() };
        let node = net.graph.add(&options, function).unwrap();
        let first = at - at % 2 - 2;
        for (input, source) in [nodes[first], nodes[first + at % 2]].into_iter().enumerate() {
            net.graph.connect(source, 0, node, input).unwrap();
        }
        nodes.push(node);
    }
    nodes[2 * PAIRS..].iter().for_each(|&node| net.graph.set_sink(node, true).unwrap());
    Pairs { net, head, nodes, cancels, fails }
}

impl Pairs {
    fn values(&self) -> Vec<u64> {
        self.nodes.iter().map(|&node| self.net.graph.value(node, 0).unwrap().0[0]).collect()
    }

    fn runs(&self) -> Vec<u64> {
        self.nodes.iter().map(|&node| self.net.runs(node)).collect()
    }
}

#[test]
fn cancelled_evaluation_of_most_nodes_resumes_where_it_stopped() {
    for (evaluator, at) in MOST.into_iter().flat_map(|evaluator| (2..2 * PAIRS + 2).map(move |at| (evaluator, at))) {
        let (mut one, mut other) = (pairs(evaluator, true, NONE), pairs(Evaluator::Lazy, false, NONE));
        for number in 1..4 {
            for graph in [&mut one, &mut other] {
                graph.net.set(graph.head, f64::from(number));
            }
            one.cancels.store(at, Relaxed);
            let summary = one.net.try_evaluate();
            one.cancels.store(NONE, Relaxed);
            if evaluator == Evaluator::Bitset {
                assert_eq!(summary.evaluated, at as u64, "the head is one of them");
            }
            // The other node of the last pair may be the last one.
            if !summary.is_complete {
                one.net.evaluate();
            }
            other.net.evaluate();
            assert_eq!((one.values(), one.runs()), (other.values(), other.runs()), "{evaluator:?}, node {at} cancels");
        }
    }
}

#[test]
fn failure_among_most_nodes_leaves_the_values_and_runs_of_the_lazy_evaluator() {
    for (evaluator, holds) in MOST.into_iter().flat_map(|it| [NONE, 0, 1, 2, 3].map(move |holds| (it, holds))) {
        for at in 2..2 * PAIRS + 2 {
            let mut graphs = [pairs(evaluator, true, holds), pairs(Evaluator::Lazy, false, holds)];
            for (number, fails) in [(1.0, NONE), (2.0, at), (3.0, at), (4.0, NONE), (5.0, NONE)] {
                let found = graphs.each_mut().map(|graph| {
                    graph.net.set(graph.head, number);
                    graph.fails.store(fails, Relaxed);
                    let broken = graph.net.evaluate().broken;
                    (broken, graph.values(), graph.runs())
                });
                assert_eq!(found[0], found[1], "{evaluator:?}, node {at} fails, {holds} holds");
            }
        }
    }
}

#[test]
fn guess_follows_the_nodes_that_were_touched() {
    let mut net = Net::new(Evaluator::Bitset);
    let (often, seldom) = (net.input("often", 0.0), net.input("seldom", 0.0));
    let mut last = often;
    for _ in 0..20 {
        last = net.pure("one of many", &[last], |inputs| inputs[0] + 1.0);
    }
    let (last, alone) = (net.sink(last), net.pure("alone", &[seldom], |inputs| inputs[0]));
    net.sink(alone);
    net.evaluate();
    for number in 1..9 {
        net.set(often, f64::from(number));
        assert_eq!(net.evaluate().evaluated, 21);
        let guess = net.graph.guess.touched;
        net.set(seldom, f64::from(number));
        assert_eq!(net.evaluate().evaluated, 2);
        assert_eq!(net.graph.guess.touched, guess, "few nodes say nothing about the frames of many");
        assert_eq!((net.number(last), net.number(alone)), (f64::from(number + 20), f64::from(number)));
    }
}

#[test]
fn guess_needs_two_frames_of_most_nodes_and_ends_with_one_of_few() {
    let mut guess = Guess::default();
    for _ in 0..3 {
        guess.learn(7, 10, 10);
        assert!(!guess.expects_most(7), "changes that are cut off every second time");
        guess.learn(7, 1, 10);
    }
    guess.learn(7, 10, 10);
    guess.learn(7, 10, 10);
    guess.learn(8, 1, 10);
    assert!(guess.expects_most(7) && !guess.expects_most(8));
    guess.learn(7, 1, 10);
    assert!(!guess.expects_most(7));
}

#[test]
fn frames_in_which_many_nodes_are_dirty_by_themselves_are_not_guessed() {
    let mut guess = Guess::default();
    let (few, many) = (2 << 32 | 5, 3 << 32 | 7);
    for touched in [few, many] {
        guess.learn(touched, 16, 16);
        guess.learn(touched, 16, 16);
        assert_eq!(guess.expects_most(touched), touched == few);
    }
}

#[test]
fn level_of_one_slow_node_is_not_worth_another_thread() {
    let mut net = Net::new(Evaluator::Parallel);
    let head = net.input("head", 0.0);
    let mut last = head;
    for _ in 0..4 {
        last = net.pure("node", &[last], |inputs| inputs[0] + 1.0);
    }
    net.sink(last);
    net.evaluate();
    net.graph.state.set_durations(10_000_000);
    net.graph.threads.forget_levels();
    for number in 1..4 {
        net.set(head, f64::from(number));
        net.evaluate();
        assert!(net.graph.threads.heavy.is_empty());
    }
}
