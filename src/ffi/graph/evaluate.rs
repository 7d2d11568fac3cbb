//! Evaluation.

use hobgoblin_macros::{entry, open_enum, versioned};

use super::create::hob_graph;
use super::value::hob_node_id;
use crate::base::{Id, Result};
use crate::ffi::base::result::hob_result;
use crate::ffi::base::structs::Versioned;
use crate::ffi::base::value::hob_value;
use crate::ffi::executor::desc::hob_executor;
use crate::graph::{Evaluation, Evaluator};

/// How an evaluation finds the nodes to run.
/// All evaluators give the same values and run the same nodes.
#[open_enum]
#[repr(C)]
pub enum hob_evaluator {
    /// The fitting one: HOB_EVALUATOR_LAZY in the first frames after an edit, then another.
    Auto = 0,
    /// Recursion from the sinks. It serves at once after an edit.
    Lazy = 1,
    /// A list of all nodes that sinks depend on.
    List = 2,
    /// The set of the nodes that changed. The fastest on one thread.
    Bitset = 3,
    /// As HOB_EVALUATOR_BITSET, on the threads of the executor: nodes that take long enough run at the same time.
    /// Nodes with lazy inputs, and nodes that only lazy inputs ask for, run on the calling thread.
    Parallel = 4,
}

/// Parameters of an evaluation.
#[versioned(size = 16, last = node_limit)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_evaluation_desc {
    /// sizeof(hob_evaluation_desc).
    pub struct_size: u32,
    /// Default HOB_EVALUATOR_AUTO.
    pub evaluator: hob_evaluator,
    /// Limit of the nodes that run. The next evaluation goes on with the frame. Default 0: no limit.
    #[default(u64::MAX)]
    pub node_limit: u64,
    /// Brings only this node up to date, by HOB_EVALUATOR_LAZY on this thread. It is no frame: nodes of
    /// HOB_NODE_CLASS_VOLATILE and feedback links keep the values of the last frame. Default all zero: all sinks.
    pub only: hob_node_id,
}

/// Counts of one evaluation.
/// An answer: set struct_size, or begin with HOB_EVALUATION_SUMMARY_INIT.
#[versioned(size = 48, last = examined_inputs)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_evaluation_summary {
    /// sizeof(hob_evaluation_summary).
    pub struct_size: u32,
    /// 1: all sinks are up to date, or hob_evaluation_desc.only is. 0: it was cancelled or reached its limit, and the
    /// next evaluation goes on.
    pub is_complete: u32,
    /// The evaluator that was used.
    pub evaluator: hob_evaluator,
    /// Must be 0.
    pub reserved: u32,
    /// Nodes that ran. Includes failed nodes, and nodes of HOB_NODE_CLASS_INPUT that were set.
    pub runs: u64,
    /// Runs that ended with HOB_VERDICT_NEED. `runs` does not include them.
    pub requests: u64,
    /// Nodes that have failed, or do not run because of one that has. Nodes that no sink depends on any more keep their
    /// last state.
    pub broken: u64,
    /// Inputs that HOB_EVALUATOR_LAZY examined. The others use it for lazy inputs.
    pub examined_inputs: u64,
}

/// Brings all sinks up to date: one frame.
/// `executor` may be NULL: only this thread runs nodes. `desc` may be NULL: defaults. `out_summary` may be NULL.
///
///     hob_evaluation_summary summary = HOB_EVALUATION_SUMMARY_INIT;
///     if (hob_graph_evaluate(graph, executor, NULL, &summary) != HOB_RESULT_OK) fail(hob_last_error());
///     if (summary.broken > 0) report_failures();
///
/// HOB_RESULT_OK also if nodes have failed, or if it was cancelled. HOB_RESULT_NOT_FOUND: `desc->only` does not exist.
/// Does not allocate, apart from the first frames after an edit and after a change of the executor, and for the
/// messages of more nodes that fail.
///
/// Threads: exclusive. Callbacks: the nodes' `evaluate`, `is_equal` and `release_value`, on this thread and those of
/// the executor, in this thread's floating-point environment. There, all calls on this graph except hob_graph_cancel
/// return HOB_RESULT_BUSY.
#[entry(exclusive, hot, integers, nullable(executor, desc, out_summary), experimental)]
pub extern "C" fn hob_graph_evaluate(
    graph: *mut hob_graph,
    executor: *const hob_executor,
    desc: *const hob_evaluation_desc,
    out_summary: *mut hob_evaluation_summary,
) -> hob_result {
    let evaluation = desc.map_or_else(|| Ok(Evaluation::default()), |desc| desc.evaluation())?;
    let summary = graph.with(|cell| cell.evaluate(executor, evaluation))?;
    // Most frames want no summary, so it is made only for those that do.
    if let Some(out_summary) = out_summary {
        out_summary.write(hob_evaluation_summary {
            is_complete: summary.is_complete.into(),
            evaluator: summary.evaluator.into(),
            runs: summary.evaluated,
            requests: summary.requests,
            broken: summary.broken,
            examined_inputs: summary.looked_at,
            ..hob_evaluation_summary::defaults()
        });
    }
    Ok(())
}

/// Ends the running evaluation before its next node, or else the next evaluation before its first one.
/// The evaluation after it goes on with the frame. Threads: any, also inside nodes.
#[entry(published, experimental)]
pub extern "C" fn hob_graph_cancel(graph: *const hob_graph) -> hob_result {
    graph.cancel();
    Ok(())
}

/// Gets the value of an output after the last evaluation.
/// After a failure of its node: the last good value, or all zero if it failed after a release. HOB_RESULT_NOT_FOUND:
/// there is no such node, or its value was released, see hob_graph_set_memory_limit; sinks keep theirs.
/// HOB_RESULT_INVALID_ARGUMENT: there is no such output. Threads: shared.
#[entry(shared, hot, integers, experimental)]
pub extern "C" fn hob_graph_get_value(
    graph: *const hob_graph,
    node: hob_node_id,
    output: u32,
    out_value: *mut hob_value,
) -> hob_result {
    out_value.write(graph.graph.value(node.into(), output as usize)?.into());
    Ok(())
}

impl hob_evaluation_desc {
    fn evaluation(&self) -> Result<Evaluation> {
        let evaluator = match self.evaluator.check("hob_evaluation_desc.evaluator")? {
            hob_evaluator::Lazy => Evaluator::Lazy,
            hob_evaluator::List => Evaluator::List,
            hob_evaluator::Bitset => Evaluator::Bitset,
            hob_evaluator::Parallel => Evaluator::Parallel,
            _ => Evaluator::Auto,
        };
        let only = Some(self.only.into()).filter(|&id| id != Id::default());
        Ok(Evaluation { evaluator, node_limit: self.node_limit, only })
    }
}

impl From<Evaluator> for hob_evaluator {
    fn from(evaluator: Evaluator) -> Self {
        match evaluator {
            Evaluator::Auto => Self::Auto,
            Evaluator::Lazy => Self::Lazy,
            Evaluator::List => Self::List,
            Evaluator::Bitset => Self::Bitset,
            Evaluator::Parallel => Self::Parallel,
        }
    }
}
