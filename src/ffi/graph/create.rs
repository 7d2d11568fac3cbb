//! The handle: create and destroy.

use hobgoblin_macros::{entry, opaque, versioned};

use super::host_node::{Calls, HostNode};
use crate::base::{Id, Result, Shared, fault_point};
use crate::executor::Executor;
use crate::ffi::base::guard::in_default_environment;
use crate::ffi::base::handle::{self, Handle};
use crate::ffi::base::result::hob_result;
use crate::ffi::base::structs::Versioned;
use crate::ffi::executor::desc::hob_executor;
use crate::graph::{Canceller, Evaluation, Graph, Summary, sorted_by_origin};

// == Experimental: Create and destroy ==

/// A graph.
/// A handle: see "Handles" in base.h.
#[opaque(GraphCell, tag = b"hobgraph", published = Canceller,
    busy = "an evaluation or an edit is running, on another thread or around this callback; read and edit the graph between evaluations")]
pub struct hob_graph {
    _private: [u8; 0],
}

/// A graph, and what its statistics count.
pub struct GraphCell {
    pub graph: Graph<HostNode>,
    /// Of all nodes, so it is dropped after `graph`.
    pub calls: Shared<Calls>,
    pub max_nodes: usize,
    pub totals: Totals,
    /// Of a graph that was baked or loaded: nodes of the other graph or text, and its own, by the former's index.
    pub origins: Vec<(Id, Id)>,
}

/// Sums over all evaluations.
#[derive(Clone, Copy, Default)]
pub struct Totals {
    pub frames: u64,
    pub runs: u64,
    pub requests: u64,
}

impl GraphCell {
    /// Makes the handle of a graph with these calls. They come first, so that after a failure they are dropped last.
    pub fn handle(
        calls: Shared<Calls>,
        graph: Graph<HostNode>,
        max_nodes: usize,
        origins: &[(Id, Id)],
    ) -> Result<*mut hob_graph> {
        let origins = sorted_by_origin(origins)?;
        let canceller = graph.canceller();
        let cell = Self { graph, calls, max_nodes, totals: Totals::default(), origins };
        handle::create_with::<hob_graph>(cell, canceller)
    }

    /// Evaluates in a call that leaves the host's floating-point environment active.
    #[inline]
    pub fn evaluate(&mut self, executor: Option<Handle<'_, hob_executor>>, evaluation: Evaluation) -> Result<Summary> {
        let threads = match executor {
            Some(executor) => executor.read(|all| Ok(all.max_concurrency_of_callbacks()))?,
            None => 1,
        };
        let Self { graph, calls, .. } = self;
        let here = calls.with_environment_active(|| {
            fault_point!("graph.evaluate");
            graph.evaluate_here(threads, &evaluation)
        });
        let summary = match here {
            Some(summary) => summary,
            None => self.evaluate_apart(executor, evaluation)?,
        };
        self.totals.frames += u64::from(summary.is_complete && evaluation.only.is_none());
        self.totals.runs += summary.evaluated;
        self.totals.requests += summary.requests;
        Ok(summary)
    }

    #[inline(never)]
    fn evaluate_apart(
        &mut self,
        executor: Option<Handle<'_, hob_executor>>,
        evaluation: Evaluation,
    ) -> Result<Summary> {
        // A clone, so that the evaluation can continue if the handle is destroyed inside it.
        let executor =
            executor.map_or_else(|| Ok(Executor::inline()), |executor| executor.read(|all| Ok(all.clone())))?;
        let executor = executor.for_callbacks();
        let Self { graph, calls, .. } = self;
        in_default_environment(|| {
            let (threads, has_floats) = (executor.max_concurrency(), graph.has_floats());
            calls.evaluation(threads, has_floats, || graph.evaluate_apart(&executor, &evaluation))
        })
    }
}

/// Parameters of a graph.
#[versioned(size = 8, last = max_nodes)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_graph_desc {
    /// sizeof(hob_graph_desc).
    pub struct_size: u32,
    /// Limit of the nodes. Default 0: no limit.
    pub max_nodes: u32,
}

/// Creates an empty graph.
/// `desc` may be NULL: defaults. On success `*out_graph` is the caller's to destroy.
///
///     hob_graph *graph = NULL;
///     if (hob_graph_create(NULL, &graph) != HOB_RESULT_OK) fail(hob_last_error());
///
/// Threads: any.
#[entry(any, nullable(desc), experimental)]
#[must_use]
pub extern "C" fn hob_graph_create(desc: *const hob_graph_desc, out_graph: *mut *mut hob_graph) -> hob_result {
    let max_nodes = match desc.unwrap_or_else(hob_graph_desc::defaults).max_nodes {
        0 => usize::MAX,
        limit => limit as usize,
    };
    out_graph.write(GraphCell::handle(Shared::try_new(Calls::default())?, Graph::new()?, max_nodes, &[])?);
    Ok(())
}

/// Destroys a graph with its nodes; NULL is allowed.
/// Owned values are released, then each node's `user_data`. Unlike other handles, it is not destroyed inside its own
/// callbacks: the call does nothing there, and hob_last_error says so. Threads: no call on it may run on another
/// thread.
#[entry(destroy, experimental)]
pub extern "C" fn hob_graph_destroy(graph: *mut hob_graph) {
    graph.read(|_| Ok(()))?;
}
