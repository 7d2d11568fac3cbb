//! Facts about graphs, on every evaluator and several numbers of threads.

mod audit;
mod big;
mod dump;
mod edits;
mod emit;
mod emit_source;
mod failures;
mod memo;
mod memory;
mod model;
mod most;
mod random;
mod seed;
mod shapes;
mod single;

use std::sync::{Arc, Mutex};

use super::*;
use crate::executor::{Executor, Helpers, Options};

/// The host's part of a node, as a closure.
#[derive(Clone)]
pub struct Closure(Arc<dyn Fn(&mut Call<'_>) -> Verdict + Send + Sync>);

impl Function for Closure {
    fn evaluate(&self, call: &mut Call<'_>) -> Verdict {
        (self.0)(call)
    }
}

pub fn closure(run: impl Fn(&mut Call<'_>) -> Verdict + Send + Sync + 'static) -> Option<Closure> {
    Some(Closure(Arc::new(run)))
}

pub const EVALUATORS: [Evaluator; 5] =
    [Evaluator::Lazy, Evaluator::List, Evaluator::Bitset, Evaluator::Parallel, Evaluator::Auto];

/// An executor with this number of threads, the caller included.
pub fn executor(threads: usize) -> Executor {
    Executor::new(Options { helpers: Helpers::Pool(threads - 1), ..Options::default() }).expect("there are threads")
}

/// A graph of numbers that logs which nodes run.
pub struct Net {
    pub graph: Graph<Closure>,
    log: Arc<Mutex<Vec<&'static str>>>,
    executor: Executor,
    pub evaluator: Evaluator,
}

impl Net {
    pub fn new(evaluator: Evaluator) -> Self {
        Self::with_threads(evaluator, if evaluator == Evaluator::Parallel { 4 } else { 1 })
    }

    pub fn with_threads(evaluator: Evaluator, threads: usize) -> Self {
        let executor = if threads > 1 { executor(threads) } else { Executor::inline() };
        Self { graph: Graph::new().unwrap(), log: Arc::default(), executor, evaluator }
    }

    pub fn input(&mut self, name: &'static str, number: f64) -> Id {
        let outputs = [Output { initial: Value::number(number), ..Output::default() }];
        let options = NodeOptions { name, class: Class::Input, outputs: &outputs, ..NodeOptions::default() };
        self.graph.add(&options, None).unwrap()
    }

    pub fn set(&mut self, input: Id, number: f64) {
        self.graph.set_input(input, 0, Value::number(number)).unwrap();
    }

    /// A node with one output, which is a function of its linked inputs.
    pub fn add(
        &mut self,
        name: &'static str,
        class: Class,
        inputs: &[Id],
        run: impl Fn(&[f64]) -> f64 + Send + Sync + 'static,
    ) -> Id {
        let log = self.log.clone();
        let pins = vec![Input::default(); inputs.len()];
        let options =
            NodeOptions { name, class, inputs: &pins, outputs: &[Output::default()], ..NodeOptions::default() };
        let function = closure(move |call| {
            log.lock().unwrap().push(name);
            let numbers: Vec<f64> = call.inputs.iter().map(|input| input.as_number()).collect();
            call.outputs[0] = Value::number(run(&numbers));
            Verdict::Done
        });
        let node = self.graph.add(&options, function).unwrap();
        for (at, &input) in inputs.iter().enumerate() {
            self.graph.connect(input, 0, node, at).unwrap();
        }
        node
    }

    pub fn pure(
        &mut self,
        name: &'static str,
        inputs: &[Id],
        run: impl Fn(&[f64]) -> f64 + Send + Sync + 'static,
    ) -> Id {
        self.add(name, Class::Pure, inputs, run)
    }

    /// A node with a condition and lazy inputs. `choose` names the input that it asks for.
    pub fn choice(
        &mut self,
        name: &'static str,
        condition: Id,
        lazy: &[Id],
        choose: impl Fn(f64) -> Option<usize> + Send + Sync + 'static,
    ) -> Id {
        let log = self.log.clone();
        let mut pins = vec![Input { lazy: true, ..Input::default() }; lazy.len() + 1];
        pins[0].lazy = false;
        let options = NodeOptions {
            name,
            class: Class::Pure,
            inputs: &pins,
            outputs: &[Output::default()],
            ..NodeOptions::default()
        };
        let function = closure(move |call| {
            let number = match choose(call.inputs[0].as_number()).map(|at| at + 1) {
                None => -1.0,
                Some(at) if call.available & (1 << at) == 0 => return Verdict::Need(1 << at),
                Some(at) => call.inputs[at].as_number(),
            };
            log.lock().unwrap().push(name);
            call.outputs[0] = Value::number(number);
            Verdict::Done
        });
        let node = self.graph.add(&options, function).unwrap();
        for (at, &input) in [condition].iter().chain(lazy).enumerate() {
            self.graph.connect(input, 0, node, at).unwrap();
        }
        node
    }

    pub fn sink(&mut self, node: Id) -> Id {
        self.graph.set_sink(node, true).unwrap();
        node
    }

    pub fn evaluate(&mut self) -> Summary {
        let summary = self.try_evaluate();
        assert!(summary.is_complete);
        summary
    }

    /// Evaluates as far as it gets.
    pub fn try_evaluate(&mut self) -> Summary {
        let evaluation = Evaluation { evaluator: self.evaluator, ..Evaluation::default() };
        self.graph.evaluate(&self.executor, evaluation).unwrap()
    }

    /// Evaluates, and returns the names of the nodes that ran.
    pub fn ran(&mut self) -> Vec<&'static str> {
        self.log.lock().unwrap().clear();
        self.evaluate();
        self.log.lock().unwrap().clone()
    }

    pub fn number(&self, node: Id) -> f64 {
        self.graph.value(node, 0).unwrap().as_number()
    }

    pub fn runs(&self, node: Id) -> u64 {
        self.graph.runs(node).unwrap()
    }
}
