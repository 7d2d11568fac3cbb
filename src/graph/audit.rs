//! Finds nodes that are not what their class says: pure nodes whose outputs depend on something else than their inputs.
//!
//! A wrong annotation gives wrong values without an error. So some pure nodes are run again, some frames later, with the
//! inputs that they had before; their outputs must be those from before. This finds hidden time, hidden state, and hidden
//! links, which are reads of another node without an input.
//!
//! A pointer among the inputs may be invalid some frames later. So a node with an input that may be one runs again only
//! while all its inputs still have those values.
//!
//! Every node is sampled in turn, and run again at several distances, so that something hidden with a period is found as
//! well. Extra runs are a share of all runs, at most.

use super::Graph;
use super::node::{Class, Function};
use super::state::{BROKEN, HAS_VALUE, STALE};
use super::structure::NONE;
use super::value::Value;
use crate::base::{Id, Result, error, try_filled};

/// Evaluations from a sample to its looks. A hidden state that alternates every 1 to 10 frames differs at one of them at
/// least, at any time of the sample.
const LOOKS: [u32; 3] = [1, 5, 10];
/// Samples that wait at the same time.
const SAMPLES: usize = 256;
/// Most inputs, and most outputs, of a node that is sampled.
const MOST_PINS: usize = 32;
/// Nodes that are looked at for one sample.
const MOST_ATTEMPTS: u32 = 64;
/// Words that may be pointers. Those of usual numbers in floating point are larger.
const LEAST_POINTER: u64 = 1 << 12;
const MOST_POINTER: u64 = (1 << 56) - 1;
/// Findings that are kept.
const FINDINGS: usize = 64;

/// A pure node that gave other outputs for the same inputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finding {
    /// The node.
    pub node: Id,
    /// The output that differs.
    pub output: u32,
    /// Its value in the first run.
    pub before: Value,
    /// Its value in the second run, with the same inputs.
    pub after: Value,
    /// Frames between both.
    pub frames: u32,
}

/// A run that will be repeated.
struct Sample {
    node: Id,
    evaluation: u32,
    /// Number of looks that are to come.
    looks: usize,
    available: u64,
    inputs: Vec<Value>,
    outputs: Vec<Value>,
}

/// The state of an audit.
pub struct Audit {
    /// Extra runs per run.
    share: f64,
    /// Extra runs that are allowed so far, minus those that were made.
    credit: f64,
    /// Samples that may be taken: looks at them are paid when they are due.
    starts: f64,
    /// The node that is sampled next.
    next: u32,
    samples: Vec<Sample>,
    findings: Vec<Finding>,
    runs: u64,
}

impl<F: Function> Graph<F> {
    /// Start or stop the audit. `share`: extra runs per run, above 0 and at most 1; 0 stops it. A start forgets findings.
    pub fn set_audit(&mut self, share: f64) -> Result<()> {
        if !(0.0..=1.0).contains(&share) {
            return Err(error!(InvalidArgument, "an audit's share is {share}: it must be 0 to 1"));
        }
        if share == 0.0 {
            // Its findings can still be read.
            if let Some(audit) = &mut self.audit {
                audit.share = 0.0;
                audit.samples.iter_mut().for_each(|sample| sample.looks = 0);
            }
        } else {
            let mut samples = Vec::new();
            samples.try_reserve_exact(SAMPLES)?;
            for _ in 0..SAMPLES {
                let (inputs, outputs) =
                    (try_filled(Value::default(), MOST_PINS)?, try_filled(Value::default(), MOST_PINS)?);
                let node = Id::default();
                samples.push(Sample { node, evaluation: 0, looks: 0, available: 0, inputs, outputs });
            }
            let mut findings = Vec::new();
            findings.try_reserve_exact(FINDINGS)?;
            self.has_floats = true;
            self.audit = Some(Audit { share, credit: 0.0, starts: 0.0, next: 0, samples, findings, runs: 0 });
        }
        Ok(())
    }

    /// The findings of the audit: the first one of each node, at most 64.
    pub fn findings(&self) -> &[Finding] {
        self.audit.as_ref().map_or(&[], |audit| &audit.findings)
    }

    /// Number of extra runs that the audit has made.
    pub fn audit_runs(&self) -> u64 {
        self.audit.as_ref().map_or(0, |audit| audit.runs)
    }

    /// After a complete evaluation that ran some nodes: repeats runs that are due, and samples others.
    pub(super) fn go_on_with_audit(&mut self, evaluated: u64) {
        let Some(mut audit) = self.audit.take_if(|audit| audit.share > 0.0) else { return };
        let allowed = evaluated as f64 * audit.share;
        audit.credit = (audit.credit + allowed).min(SAMPLES as f64);
        audit.starts = (audit.starts + allowed / LOOKS.len() as f64).min(SAMPLES as f64);
        for at in 0..SAMPLES {
            if audit.samples[at].is_due(self.evaluation) && audit.credit >= 1.0 {
                audit.credit -= 1.0;
                audit.runs += 1;
                self.look_again(&mut audit, at);
            }
            if audit.samples[at].looks == 0 && audit.starts >= 1.0 {
                audit.starts -= 1.0;
                self.take_sample(&mut audit, at);
            }
        }
        self.audit = Some(audit);
    }

    /// Samples the next pure node that is up to date, if there is one.
    fn take_sample(&self, audit: &mut Audit, at: usize) {
        let positions = self.structure.positions() as u32;
        for _ in 0..positions.min(MOST_ATTEMPTS) {
            let position = audit.next % positions;
            audit.next = (position + 1) % positions;
            if !self.can_sample(position) || audit.samples.iter().any(|sample| sample.is_of(position)) {
                continue;
            }
            let cells = self.structure.node(position);
            let sample = &mut audit.samples[at];
            sample.node = self.nodes.id_at(position as usize);
            (sample.evaluation, sample.looks) = (self.evaluation, LOOKS.len());
            sample.available = self.marks.in_use(position);
            sample.inputs.clear();
            let reads = cells.inputs().map(|input| self.structure.read_by(input));
            sample.inputs.extend(reads.map(|read| self.state.values.read(read)));
            sample.outputs.clear();
            sample.outputs.extend(cells.outputs().map(|output| self.state.values.output(output)));
            return;
        }
    }

    fn can_sample(&self, position: u32) -> bool {
        if self.nodes.at(position as usize).is_none() {
            return false;
        }
        let record = self.state.record_of(position);
        let cells = self.structure.node(position);
        // Handles of owned values may be released before the second run.
        let reads_handles = || {
            cells.inputs().any(|input| {
                let source = self.structure.source(input);
                source != NONE && self.state.owns(&self.structure, source)
            })
        };
        matches!(self.state.class(position), Class::Pure | Class::Constant)
            && self.state.flags(position) & (STALE | BROKEN | HAS_VALUE) == HAS_VALUE
            && cells.input_count().max(cells.output_count()) as usize <= MOST_PINS
            && !(0..cells.output_count()).any(|output| record.owns(output))
            && !reads_handles()
    }

    fn look_again(&mut self, audit: &mut Audit, at: usize) {
        let sample = &mut audit.samples[at];
        sample.looks -= 1;
        let Some(position) = self.nodes.position(sample.node) else {
            sample.looks = 0;
            return;
        };
        let cells = self.structure.node(position as u32);
        let reads = cells.inputs().map(|input| self.state.values.read(self.structure.read_by(input)));
        if sample.inputs.len() != cells.input_count() as usize {
            sample.looks = 0;
            return;
        }
        if sample.inputs.iter().any(may_point) && !reads.eq(sample.inputs.iter().copied()) {
            return;
        }
        let Some((output, after)) =
            self.state.differs(position as u32, &sample.inputs, sample.available, &sample.outputs, &mut self.scratch)
        else {
            return;
        };
        sample.looks = 0;
        let is_new = !audit.findings.iter().any(|finding| finding.node == sample.node);
        if is_new && audit.findings.len() < FINDINGS {
            audit.findings.push(Finding {
                node: sample.node,
                output: output as u32,
                before: sample.outputs[output],
                after,
                frames: self.evaluation - sample.evaluation,
            });
        }
    }
}

/// Whether a value may have a pointer, or a number of a table of pointers.
fn may_point(value: &Value) -> bool {
    value.0.iter().any(|&word| (LEAST_POINTER..=MOST_POINTER).contains(&word))
}

impl Sample {
    fn is_due(&self, evaluation: u32) -> bool {
        self.looks > 0 && evaluation >= self.evaluation + LOOKS[LOOKS.len() - self.looks]
    }

    fn is_of(&self, position: u32) -> bool {
        self.looks > 0 && self.node.index1 == position + 1
    }
}

impl Audit {
    /// Forgets the samples of a node that was changed.
    pub fn forget_samples(&mut self, position: u32) {
        self.samples.iter_mut().filter(|sample| sample.is_of(position)).for_each(|sample| sample.looks = 0);
    }

    /// Forgets a node that was removed.
    pub fn forget(&mut self, node: Id) {
        self.findings.retain(|finding| finding.node != node);
    }

    pub fn memory_used(&self) -> usize {
        SAMPLES * (size_of::<Sample>() + 2 * MOST_PINS * size_of::<Value>()) + FINDINGS * size_of::<Finding>()
    }
}
