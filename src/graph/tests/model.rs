//! A model that evaluates random graphs by plain recursion, and pairs of it with the graph.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::*;
use crate::base::Code;

/// splitmix64.
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        (!from.is_empty()).then(|| from[self.below(from.len())])
    }
}

/// The function of a node. Both the graph and the model call it.
#[derive(Clone, Copy)]
pub struct Formula {
    pub salt: u64,
    pub is_volatile: bool,
    pub may_fail: bool,
    pub lazy: u64,
}

pub enum Outcome {
    Done([u64; 2]),
    Need(u64),
    Failed,
}

impl Formula {
    /// Small numbers, so that values are often equal to the last ones.
    fn compute(&self, inputs: &[u64], available: u64, tick: u64) -> Outcome {
        let strict = inputs.iter().enumerate().filter(|(at, _)| self.lazy & (1 << at) == 0);
        let mut sum = self.salt + strict.map(|(at, input)| (at as u64 + 1) * input).sum::<u64>();
        if self.is_volatile {
            sum += tick;
        }
        if self.lazy != 0 {
            // Up to two questions: the second one depends on the answer to the first.
            let lazy: Vec<u32> = (0..64).filter(|&at| self.lazy & (1 << at) != 0).collect();
            for _ in 0..sum % 3 {
                let at = lazy[(sum / 3) as usize % lazy.len()];
                if available & (1 << at) == 0 {
                    return Outcome::Need(1 << at);
                }
                sum += 1 + inputs[at as usize];
            }
        }
        if self.may_fail && sum.is_multiple_of(5) { Outcome::Failed } else { Outcome::Done([sum % 4, sum / 4 % 2]) }
    }
}

#[derive(Clone, Copy, PartialEq)]
pub struct Link {
    source: usize,
    output: usize,
    is_feedback: bool,
}

pub struct Pin {
    link: Option<Link>,
    hold: bool,
    own: u64,
    /// The value that a feedback link carries, and the number of its changes.
    latch: u64,
}

pub struct ModelNode {
    pub id: Id,
    pub formula: Option<Formula>,
    pub pins: Vec<Pin>,
    pub values: [u64; 2],
    /// Number of changes of each output, failures and recoveries included.
    pub versions: [u64; 2],
    /// For inputs that hold: without those that change no value.
    pub values_versions: [u64; 2],
    pub has_value: bool,
    pub is_broken: bool,
    pub is_touched: bool,
    pub is_sink: bool,
    /// The rule of its first output, if that is owned.
    pub owned: Option<Cutoff>,
    /// Whether its values were released to save memory.
    pub is_released: bool,
    /// The lazy inputs that the last run asked for, in order, and the versions of all inputs that it read.
    pub asked: Vec<usize>,
    pub seen: BTreeMap<usize, u64>,
    pub runs: u64,
    /// The frame in which it was brought up to date.
    pub frame: u64,
}

#[derive(Default)]
pub struct Model {
    pub nodes: BTreeMap<usize, ModelNode>,
    pub frame: u64,
    pub tick: u64,
}

impl Model {
    /// The version of an input's link.
    fn version(&self, node: usize, pin: usize) -> u64 {
        let pin = &self.nodes[&node].pins[pin];
        match pin.link {
            Some(link) if !link.is_feedback && pin.hold => self.nodes[&link.source].values_versions[link.output],
            Some(link) if !link.is_feedback => self.nodes[&link.source].versions[link.output],
            _ => 0,
        }
    }

    fn input(&self, node: usize, pin: usize) -> u64 {
        let pin = &self.nodes[&node].pins[pin];
        match pin.link {
            Some(link) if link.is_feedback => pin.latch,
            Some(link) => self.nodes[&link.source].values[link.output],
            None => pin.own,
        }
    }

    fn is_poisoned(&self, node: usize, read: &[usize]) -> bool {
        read.iter().any(|&pin| {
            let pin = &self.nodes[&node].pins[pin];
            pin.link.filter(|link| !link.is_feedback).is_some_and(|link| {
                let source = &self.nodes[&link.source];
                let is_gone = source.is_released && link.output == 0;
                source.is_broken && (!pin.hold || !source.has_value || is_gone)
            })
        })
    }

    fn demand(&mut self, node: usize, pin: usize) {
        if let Some(link) = self.nodes[&node].pins[pin].link.filter(|link| !link.is_feedback) {
            self.bring(link.source);
        }
    }

    fn has_changed(&self, node: usize, pin: usize) -> bool {
        self.nodes[&node].seen.get(&pin).is_none_or(|&seen| seen != self.version(node, pin))
    }

    fn bring(&mut self, node: usize) {
        if self.nodes[&node].frame == self.frame {
            return;
        }
        self.nodes.get_mut(&node).unwrap().frame = self.frame;
        let lazy = self.nodes[&node].formula.map_or(0, |formula| formula.lazy);
        let pins = self.nodes[&node].pins.len();
        let strict: Vec<usize> = (0..pins).filter(|&pin| lazy & (1 << pin) == 0).collect();
        for &pin in &strict {
            self.demand(node, pin);
        }
        let mut must_run = self.nodes[&node].is_touched || strict.iter().any(|&pin| self.has_changed(node, pin));
        let mut verified = self.nodes[&node].asked.clone().into_iter();
        while let Some(pin) = verified.next().filter(|_| !must_run) {
            self.demand(node, pin);
            must_run = self.has_changed(node, pin);
        }
        if must_run {
            self.run(node, strict);
        }
    }

    /// Runs sources of a node again whose values were released.
    fn restore_sources(&mut self, node: usize, read: &[usize]) {
        for &pin in read {
            if let Some(link) = self.nodes[&node].pins[pin].link.filter(|link| !link.is_feedback && link.output == 0) {
                self.restore(link.source);
            }
        }
    }

    fn restore(&mut self, key: usize) {
        let node = &self.nodes[&key];
        if node.is_released && !node.is_broken {
            let lazy = node.formula.map_or(0, |formula| formula.lazy);
            let strict = (0..node.pins.len()).filter(|&pin| lazy & (1 << pin) == 0);
            let read: Vec<usize> = strict.chain(node.asked.iter().copied()).collect();
            self.restore_sources(key, &read);
            let node = self.nodes.get_mut(&key).unwrap();
            node.runs += 1;
            node.is_released = false;
        }
    }

    /// Brings a node up to date, and its value back.
    fn bring_back(&mut self, key: usize) {
        self.bring(key);
        self.restore(key);
    }

    fn run(&mut self, node: usize, mut read: Vec<usize>) {
        let formula = self.nodes[&node].formula;
        let mut asked = Vec::new();
        let mut available = 0;
        let (values, is_broken, did_run) = loop {
            if self.is_poisoned(node, &read) {
                break (None, true, false);
            }
            self.restore_sources(node, &read);
            let inputs: Vec<u64> = (0..self.nodes[&node].pins.len()).map(|pin| self.input(node, pin)).collect();
            let Some(formula) = formula else { break (Some([inputs[0], 0]), false, true) };
            match formula.compute(&inputs, available, self.tick) {
                Outcome::Done(values) => break (Some(values), false, true),
                Outcome::Failed => break (None, true, true),
                Outcome::Need(mask) => {
                    let pin = mask.trailing_zeros() as usize;
                    available |= mask;
                    self.demand(node, pin);
                    asked.push(pin);
                    read.push(pin);
                }
            }
        };
        let seen = read.iter().map(|&pin| (pin, self.version(node, pin))).collect();
        let node = self.nodes.get_mut(&node).unwrap();
        (node.seen, node.asked, node.is_touched) = (seen, asked, false);
        node.runs += u64::from(did_run);
        if let Some(values) = values {
            // A released value cannot be compared, except by its generation.
            let is_gone = node.is_released && node.owned.is_some_and(|cutoff| cutoff != Cutoff::Generation);
            let is_changed = [0, 1]
                .map(|output| !node.has_value || (is_gone && output == 0) || node.values[output] != values[output]);
            for (output, is_changed) in is_changed.into_iter().enumerate() {
                let is_back = node.is_broken && node.is_released && output == 0;
                node.versions[output] += u64::from(is_changed || node.is_broken);
                node.values_versions[output] += u64::from(is_changed || is_back);
            }
            (node.values, node.has_value, node.is_broken) = (values, true, false);
        } else if is_broken {
            let is_lost = node.is_released && did_run;
            if is_lost {
                (node.has_value, node.values[0]) = (false, 0);
            }
            if !node.is_broken || is_lost {
                node.versions = node.versions.map(|version| version + 1);
                if !node.has_value {
                    node.values_versions = node.values_versions.map(|version| version + 1);
                } else if node.is_released {
                    node.values_versions[0] += 1;
                }
            }
            node.is_broken = true;
        }
        node.is_released &= !did_run;
    }

    pub fn evaluate(&mut self, tick: u64) {
        (self.frame, self.tick) = (self.frame + 1, tick);
        let mut roots = Vec::new();
        let last: BTreeMap<usize, [u64; 2]> = self.nodes.iter().map(|(&key, node)| (key, node.values)).collect();
        for (&key, node) in &mut self.nodes {
            node.is_touched |= node.formula.is_some_and(|formula| formula.is_volatile);
            for pin in &mut node.pins {
                if let Some(link) = pin.link.filter(|link| link.is_feedback) {
                    let value = last[&link.source][link.output];
                    node.is_touched |= pin.latch != value;
                    pin.latch = value;
                    roots.push(link.source);
                }
            }
            if node.is_sink {
                roots.push(key);
            }
        }
        for root in roots {
            self.bring(root);
        }
    }

    /// Whether `node` depends on `on` by links of this frame.
    fn depends(&self, node: usize, on: usize) -> bool {
        node == on
            || self.nodes[&node]
                .pins
                .iter()
                .any(|pin| pin.link.filter(|link| !link.is_feedback).is_some_and(|link| self.depends(link.source, on)))
    }
}

pub struct Pair {
    pub model: Model,
    pub graph: Graph<Closure>,
    pub tick: Arc<AtomicU64>,
    pub next: usize,
    /// Most bytes that values hold between frames.
    pub limit: u64,
    /// Percentage of nodes with an owned output.
    owned: usize,
}

/// True for about this percentage of seeds.
fn random_share(seed: u64, percent: usize) -> bool {
    Random(seed).chance(percent)
}

fn value(number: u64) -> Value {
    Value([number, 0])
}

impl Pair {
    /// A random graph, and its model.
    pub fn new(random: &mut Random) -> Self {
        Self::with_owned(random, 40)
    }

    /// Percentage of nodes with an owned output: `owned`.
    pub fn with_owned(random: &mut Random, owned: usize) -> Self {
        let tick = Arc::new(AtomicU64::new(0));
        let mut pair =
            Self { model: Model::default(), graph: Graph::new().unwrap(), tick, next: 0, limit: u64::MAX, owned };
        if random.chance(50) {
            pair.set_limit(random);
        }
        for _ in 0..4 + random.below(24) {
            pair.add(random);
            pair.connect(random);
            pair.connect(random);
        }
        pair
    }

    pub fn set_limit(&mut self, random: &mut Random) {
        self.limit = random.below(30) as u64;
        self.graph.set_memory_limit(self.limit).unwrap();
    }

    fn keys(&self) -> Vec<usize> {
        self.model.nodes.keys().copied().collect()
    }

    pub fn add(&mut self, random: &mut Random) {
        let is_input = random.chance(20);
        let inputs = if is_input { 0 } else { random.below(4) };
        let pins: Vec<Input> = (0..inputs)
            .map(|_| Input { lazy: random.chance(25), hold: random.chance(30), default: value(random.below(3) as u64) })
            .collect();
        let lazy = pins.iter().enumerate().filter(|(_, pin)| pin.lazy).map(|(at, _)| 1 << at).sum();
        let formula = Formula {
            salt: random.below(50) as u64,
            is_volatile: random.chance(15),
            may_fail: random.chance(15),
            lazy,
        };
        let class = match (is_input, formula.is_volatile) {
            (true, _) => Class::Input,
            (_, true) => Class::Volatile,
            (_, false) if inputs == 0 && random.chance(50) => Class::Constant,
            _ if random.chance(10) => Class::Effect,
            _ => Class::Pure,
        };
        let is_sink = random.chance(15);
        let mut outputs = vec![Output::default(); if is_input { 1 } else { 2 }];
        let cutoff = if random.chance(50) { Cutoff::Bytes } else { Cutoff::Generation };
        let owned = (!is_input && random.chance(self.owned)).then_some(cutoff);
        if let Some(cutoff) = owned {
            outputs[0] = Output { is_owned: true, cutoff, ..Output::default() };
        }
        let options = NodeOptions { name: "", kind: "formula", class, is_sink, inputs: &pins, outputs: &outputs };
        let tick = self.tick.clone();
        let function = (!is_input).then(|| {
            closure(move |call| {
                let inputs: Vec<u64> = call.inputs.iter().map(|input| input.0[0]).collect();
                match formula.compute(&inputs, call.available, tick.load(Relaxed)) {
                    Outcome::Done(values) => {
                        call.outputs.copy_from_slice(&values.map(value));
                        if owned.is_some() {
                            call.outputs[0].0[1] = values[0];
                            call.held = Held { bytes: formula.salt % 8, cost_ns: (1 + formula.salt * 7 % 31) as f64 };
                        }
                        Verdict::Done
                    }
                    Outcome::Need(mask) => Verdict::Need(mask),
                    Outcome::Failed => Verdict::Failed,
                }
            })
            .unwrap()
        });
        let id = self.graph.add(&options, function).unwrap();
        let pin = |pin: &Input| Pin { link: None, hold: pin.hold, own: pin.default.0[0], latch: 0 };
        let input_pin = || Pin { link: None, hold: false, own: 0, latch: 0 };
        let pins = if is_input { vec![input_pin()] } else { pins.iter().map(pin).collect() };
        let node = ModelNode {
            id,
            formula: (!is_input).then_some(formula),
            pins,
            values: [0; 2],
            versions: [0; 2],
            values_versions: [0; 2],
            has_value: false,
            is_broken: false,
            is_touched: true,
            is_sink: is_sink || class == Class::Effect,
            owned,
            is_released: false,
            asked: Vec::new(),
            seen: BTreeMap::new(),
            runs: 0,
            frame: 0,
        };
        self.model.nodes.insert(self.next, node);
        self.next += 1;
    }

    pub fn connect(&mut self, random: &mut Random) {
        let keys = self.keys();
        let (Some(source), Some(target)) = (random.pick(&keys), random.pick(&keys)) else { return };
        let (from, to) = (&self.model.nodes[&source], &self.model.nodes[&target]);
        if to.formula.is_none() || to.pins.is_empty() {
            return;
        }
        let output = if from.formula.is_none() { 0 } else { random.below(2) };
        let pin = random.below(to.pins.len());
        let is_feedback = random.chance(10) && (output != 0 || from.owned.is_none());
        let link = Link { source, output, is_feedback };
        let closes_cycle = !is_feedback && self.model.depends(source, target);
        let (from, to) = (from.id, to.id);
        let outcome = if is_feedback {
            self.graph.connect_feedback(from, output, to, pin)
        } else {
            self.graph.connect(from, output, to, pin)
        };
        assert_eq!(outcome.is_err(), closes_cycle, "{outcome:?}");
        if outcome.is_ok() {
            let now = self.model.nodes[&source].values[output];
            let node = self.model.nodes.get_mut(&target).unwrap();
            let pin = &mut node.pins[pin];
            if pin.link != Some(link) {
                // A feedback link starts with the present value of its source.
                (pin.link, pin.latch) = (Some(link), now);
                node.is_touched = true;
            }
        }
    }

    pub fn edit(&mut self, random: &mut Random) {
        let keys = self.keys();
        let Some(key) = random.pick(&keys) else { return self.add(random) };
        match random.below(100) {
            0..20 => self.add(random),
            20..60 => self.connect(random),
            60..68 => self.disconnect(key, random),
            68..72 if keys.len() > 4 => self.remove(key),
            72..80 => {
                let node = self.model.nodes.get_mut(&key).unwrap();
                let is_sink = random.chance(40);
                node.is_touched |= node.is_released && is_sink && !node.is_sink;
                self.graph.set_sink(node.id, is_sink).unwrap();
                let id = node.id;
                node.is_sink = self.graph.structure.node(id.index1 - 1).is_sink;
            }
            80..83 => {
                let node = self.model.nodes.get_mut(&key).unwrap();
                self.graph.invalidate(node.id).unwrap();
                node.is_touched = true;
            }
            _ => self.set(key, random),
        }
    }

    fn disconnect(&mut self, key: usize, random: &mut Random) {
        let node = self.model.nodes.get_mut(&key).unwrap();
        if node.formula.is_none() || node.pins.is_empty() {
            return;
        }
        let at = random.below(node.pins.len());
        let outcome = self.graph.disconnect(node.id, at);
        assert_eq!(outcome.is_ok(), node.pins[at].link.is_some());
        if node.pins[at].link.take().is_some() {
            node.is_touched = true;
        }
    }

    fn remove(&mut self, key: usize) {
        let removed = self.model.nodes.remove(&key).unwrap();
        self.graph.remove(removed.id).unwrap();
        for node in self.model.nodes.values_mut() {
            for pin in &mut node.pins {
                if pin.link.is_some_and(|link| link.source == key) {
                    pin.link = None;
                    node.is_touched = true;
                }
            }
        }
    }

    fn set(&mut self, key: usize, random: &mut Random) {
        let node = self.model.nodes.get_mut(&key).unwrap();
        if node.pins.is_empty() {
            return;
        }
        let at = random.below(node.pins.len());
        let number = random.below(4) as u64;
        let outcome = self.graph.set_input(node.id, at, value(number));
        let pin = &mut node.pins[at];
        assert_eq!(outcome.is_ok(), pin.link.is_none());
        if outcome.is_ok() && pin.own != number {
            pin.own = number;
            node.is_touched = true;
        }
    }

    /// Brings any node up to date, between frames. Another evaluation is due after it.
    pub fn evaluate_any(&mut self, random: &mut Random, about: &str) {
        if let Some(key) = self.evaluate_only(random) {
            (self.model.frame, self.model.tick) = (self.model.frame + 1, self.tick.load(Relaxed));
            self.model.bring_back(key);
            self.compare(about);
        }
    }

    /// Brings any node up to date, in a frame that is not complete, and that the model has evaluated.
    pub fn evaluate_within_frame(&mut self, random: &mut Random) {
        if let Some(key) = self.evaluate_only(random) {
            self.model.bring_back(key);
        }
    }

    fn evaluate_only(&mut self, random: &mut Random) -> Option<usize> {
        let key = random.pick(&self.keys())?;
        let evaluation = Evaluation { only: Some(self.model.nodes[&key].id), ..Evaluation::default() };
        assert!(self.graph.evaluate(&Executor::inline(), evaluation).unwrap().is_complete);
        Some(key)
    }

    /// Compares the sinks of the baked graph over some frames, in which no user input changes.
    pub fn compare_baked(&mut self, random: &mut Random, executors: &[Executor], seed: u64) {
        // The last good handle of a node that fails stays in its graph, so values after failures differ.
        let may_fail = |node: &ModelNode| node.owned.is_some() && node.formula.is_some_and(|formula| formula.may_fail);
        if self.model.nodes.values().any(|node| may_fail(node) || (node.is_broken && node.owned.is_some())) {
            return;
        }
        let share = random.below(3) * 20;
        let baked = self.graph.bake(|_| random_share(seed, share), |function| Ok(function.clone()));
        let Baked { graph: mut baked, kept, removed } = baked.unwrap();
        assert_eq!(kept.len() + removed.len(), self.graph.len(), "seed {seed}");
        let runs: Vec<u64> = removed.iter().map(|&id| self.graph.runs(id).unwrap()).collect();
        for frame in 0..4 {
            self.tick.store(frame, Relaxed);
            let evaluation = Evaluation { evaluator: random.pick(&EVALUATORS).unwrap(), ..Evaluation::default() };
            let executor = &executors[random.below(executors.len())];
            baked.evaluate(executor, evaluation).unwrap();
            let now: Vec<u64> = removed.iter().map(|&id| self.graph.runs(id).unwrap()).collect();
            assert_eq!(now, runs, "seed {seed}: a removed node ran");
            self.model.evaluate(frame);
            // Also if the failure is that of a node before it: then inputs that hold have no last good value.
            if self.model.nodes.values().any(|node| node.is_broken && node.owned.is_some()) {
                return;
            }
            for node in self.model.nodes.values().filter(|node| node.is_sink) {
                let new = kept.iter().find(|(old, _)| *old == node.id).expect("sinks are kept").1;
                assert_eq!(baked.failure(new).unwrap().is_some(), node.is_broken, "seed {seed}, baked frame {frame}");
                let number = baked.value(new, 0).unwrap().0[0];
                assert_eq!(number, node.values[0], "seed {seed}, baked frame {frame}");
            }
        }
    }

    /// Takes over which values the graph has released, and checks that it has released enough and nothing else.
    pub fn note_releases(&mut self, about: &str) {
        let keeps = |node: &ModelNode| {
            let readers = self.model.nodes.values().flat_map(|node| &node.pins);
            let is_held =
                |pin: &Pin| pin.hold && pin.link.is_some_and(|link| self.model.nodes[&link.source].id == node.id);
            let class = self.graph.state.class(node.id.index1 - 1);
            node.is_sink
                || node.is_broken
                || !matches!(class, Class::Pure | Class::Constant)
                || readers.into_iter().any(is_held)
        };
        let mut held = 0;
        let mut could_go = 0;
        let mut releases = Vec::new();
        for (&key, node) in &self.model.nodes {
            let is_released = self.graph.is_released(node.id).unwrap();
            assert!(!is_released || node.is_released || !keeps(node), "{about}: node {key} was released");
            releases.push((key, is_released));
            let bytes = node.formula.map_or(0, |formula| formula.salt % 8);
            if node.owned.is_some() && node.has_value && !is_released {
                held += bytes;
                could_go += if keeps(node) { 0 } else { bytes };
            }
        }
        if self.limit != u64::MAX {
            assert_eq!(self.graph.memo_counts().held, held, "{about}");
            assert!(held <= self.limit || could_go == 0, "{about}: {held} bytes, {could_go} could go");
        }
        for (key, is_released) in releases {
            self.model.nodes.get_mut(&key).unwrap().is_released = is_released;
        }
    }

    pub fn set_any(&mut self, random: &mut Random) {
        if let Some(key) = random.pick(&self.keys()) {
            self.set(key, random);
        }
    }

    pub fn compare(&self, about: &str) {
        for (key, node) in &self.model.nodes {
            if node.frame != self.model.frame {
                assert_eq!(self.graph.runs(node.id).unwrap(), node.runs, "{about}: node {key} ran without need");
                continue;
            }
            let failure = self.graph.failure(node.id).unwrap();
            assert_eq!(failure.is_some(), node.is_broken, "{about}: node {key}");
            for output in 0..if node.formula.is_some() { 2 } else { 1 } {
                if output == 0 && self.graph.is_released(node.id).unwrap() {
                    assert_eq!(self.graph.value(node.id, output).unwrap_err().code(), Code::NotFound);
                    continue;
                }
                let number = self.graph.value(node.id, output).unwrap().0[0];
                assert_eq!(number, node.values[output], "{about}: output {output} of node {key}");
            }
            assert_eq!(self.graph.runs(node.id).unwrap(), node.runs, "{about}: runs of node {key}");
        }
        let broken = self.model.nodes.values().filter(|node| node.is_broken).count();
        assert_eq!(self.graph.state.broken(), broken, "{about}");
    }
}
