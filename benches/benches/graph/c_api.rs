//! Graphs through the C API, as a host makes them: the functions of the packaged shared library.

use std::ffi::c_void;
use std::path::Path;
use std::ptr::{null, null_mut};

use hobgoblin::graph::Value;
use libloading::Library;

use crate::shapes::{Op, Shape, Tables, value};

/// As in `graph.h`.
#[repr(C)]
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct NodeId {
    index1: u32,
    generation: u32,
}

/// As in `graph.h`.
#[repr(C)]
pub struct NodeCall {
    struct_size: u32,
    input_count: u32,
    inputs: *const Value,
    outputs: *mut Value,
    rest: [u64; 6],
}

/// As in `graph.h`.
#[repr(C)]
struct NodeDesc {
    struct_size: u32,
    class: u32,
    names: [usize; 4],
    evaluate: Option<extern "C" fn(*mut c_void, *mut NodeCall) -> u32>,
    user_data: *mut c_void,
    callbacks: [usize; 3],
    inputs: *const c_void,
    input_stride: usize,
    input_count: usize,
    outputs: *const c_void,
    output_stride: usize,
    output_count: usize,
    flags: u32,
    reserved: u32,
}

/// As in `graph.h`.
#[repr(C)]
struct EvaluationDesc {
    struct_size: u32,
    evaluator: u32,
    node_limit: u64,
    only: NodeId,
}

/// As in `graph.h`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Summary {
    struct_size: u32,
    pub is_complete: u32,
    pub evaluator: u32,
    reserved: u32,
    pub runs: u64,
    pub requests: u64,
    pub broken: u64,
    pub examined_inputs: u64,
}

/// As in `graph.h`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Statistics {
    struct_size: u32,
    reserved: u32,
    pub nodes: u64,
    pub links: u64,
    pub evaluations: u64,
    pub frames: u64,
    pub runs: u64,
    pub requests: u64,
    pub blocks: u64,
    pub memory_used: u64,
    memo: [u64; 3],
}

const CLASS_VOLATILE: u32 = 0;
const CLASS_PURE: u32 = 1;
const CLASS_INPUT: u32 = 3;

/// As in `graph.h`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Evaluator {
    Auto = 0,
    Lazy = 1,
    List = 2,
    Bitset = 3,
}

macro_rules! functions {
    ($($field:ident = $name:literal: fn($($argument:ty),*) $(-> $answer:ty)?;)*) => {
        /// The functions of the library that this benchmark calls.
        pub struct Api {
            $($field: unsafe extern "C" fn($($argument),*) $(-> $answer)?,)*
            _library: Library,
        }

        impl Api {
            /// Loads the library.
            pub fn load(path: &Path) -> Self {
                // SAFETY: this is the library that was just built; its functions have the types of the headers.
                unsafe {
                    let library = Library::new(path).expect("the library loads");
                    Self {
                        $($field: *library.get::<unsafe extern "C" fn($($argument),*) $(-> $answer)?>($name)
                            .expect("the headers declare it"),)*
                        _library: library,
                    }
                }
            }
        }
    };
}

functions! {
    create = b"hob_graph_create": fn(*const c_void, *mut *mut c_void) -> u32;
    destroy = b"hob_graph_destroy": fn(*mut c_void);
    add_node = b"hob_graph_add_node": fn(*mut c_void, *const NodeDesc, *mut NodeId) -> u32;
    remove_node = b"hob_graph_remove_node": fn(*mut c_void, NodeId) -> u32;
    connect = b"hob_graph_connect": fn(*mut c_void, NodeId, u32, NodeId, u32) -> u32;
    set_sink = b"hob_graph_set_sink": fn(*mut c_void, NodeId, u32) -> u32;
    set_input = b"hob_graph_set_input": fn(*mut c_void, NodeId, u32, *const Value) -> u32;
    evaluate = b"hob_graph_evaluate": fn(*mut c_void, *const c_void, *const EvaluationDesc, *mut Summary) -> u32;
    value = b"hob_graph_get_value": fn(*const c_void, NodeId, u32, *mut Value) -> u32;
    statistics = b"hob_graph_get_statistics": fn(*const c_void, *mut Statistics) -> u32;
    create_pool = b"hob_executor_create_pool": fn(u32, *mut *mut c_void) -> u32;
    destroy_pool = b"hob_executor_destroy": fn(*mut c_void);
    wait_idle = b"hob_executor_wait_idle": fn(*const c_void, u64) -> u32;
}

/// A pool of threads with a background thread.
pub struct Pool<'a>(&'a Api, *mut c_void);

impl<'a> Pool<'a> {
    /// A pool with this number of threads beside the caller.
    pub fn new(api: &'a Api, threads: u32) -> Self {
        let mut pool = null_mut();
        // SAFETY: the header's contract; `pool` lives through the call.
        assert_eq!(unsafe { (api.create_pool)(threads, &raw mut pool) }, 0);
        Self(api, pool)
    }

    /// Waits for the background thread.
    pub fn wait_idle(&self) {
        // SAFETY: the handle is alive.
        assert_eq!(unsafe { (self.0.wait_idle)(self.1, u64::MAX) }, 0);
    }
}

impl Drop for Pool<'_> {
    fn drop(&mut self) {
        // SAFETY: this handle is ours, and not used afterwards.
        unsafe { (self.0.destroy_pool)(self.1) }
    }
}

extern "C" fn run<const OP: u8>(user_data: *mut c_void, call: *mut NodeCall) -> u32 {
    // SAFETY: the library passes a call with this number of inputs, and one output.
    unsafe {
        let call = &*call;
        let inputs = std::slice::from_raw_parts(call.inputs, call.input_count as usize);
        (*call.outputs).0[0] = value::<OP>(user_data, inputs);
    }
    0
}

/// A graph of the library.
pub struct Graph<'a> {
    api: &'a Api,
    handle: *mut c_void,
    /// Freed after the graph.
    tables: Box<Tables>,
}

impl<'a> Graph<'a> {
    /// An empty graph.
    pub fn new(api: &'a Api) -> Self {
        let mut handle = null_mut();
        // SAFETY: the header allows no desc.
        assert_eq!(unsafe { (api.create)(null(), &raw mut handle) }, 0);
        Self { api, handle, tables: Box::new(Tables::new()) }
    }

    /// The graph of a shape, and its nodes. `rounds`: for [`Op::Work`].
    pub fn of(api: &'a Api, shape: &Shape, rounds: &'a u32) -> (Self, Vec<NodeId>) {
        let mut graph = Self::new(api);
        let mut nodes: Vec<NodeId> = (0..shape.heads).map(|_| graph.add_input()).collect();
        for (op, inputs) in &shape.nodes {
            let node = graph.add(*op, inputs.len(), rounds);
            for (at, &input) in inputs.iter().enumerate() {
                graph.connect(nodes[input as usize], node, at as u32);
            }
            nodes.push(node);
        }
        for sink in shape.sinks() {
            graph.set_sink(nodes[sink as usize]);
        }
        (graph, nodes)
    }

    /// Adds a value that the host sets.
    pub fn add_input(&mut self) -> NodeId {
        self.add_node(CLASS_INPUT, None, null_mut(), 0)
    }

    /// Adds a pure node.
    pub fn add(&mut self, op: Op, inputs: usize, rounds: &'a u32) -> NodeId {
        self.add_of(CLASS_PURE, op, inputs, rounds)
    }

    /// Adds a node that runs in every frame.
    pub fn add_volatile(&mut self, op: Op, inputs: usize) -> NodeId {
        self.add_of(CLASS_VOLATILE, op, inputs, &0)
    }

    fn add_of(&mut self, class: u32, op: Op, inputs: usize, rounds: &'a u32) -> NodeId {
        let evaluate: extern "C" fn(*mut c_void, *mut NodeCall) -> u32 =
            op.pick([run::<0>, run::<1>, run::<2>, run::<3>, run::<4>, run::<5>, run::<6>]);
        self.add_node(class, Some(evaluate), op.user_data(rounds, &self.tables), inputs)
    }

    fn add_node(
        &mut self,
        class: u32,
        evaluate: Option<extern "C" fn(*mut c_void, *mut NodeCall) -> u32>,
        user_data: *mut c_void,
        input_count: usize,
    ) -> NodeId {
        let desc = NodeDesc {
            struct_size: size_of::<NodeDesc>() as u32,
            class,
            names: [0; 4],
            evaluate,
            user_data,
            callbacks: [0; 3],
            inputs: null(),
            input_stride: 0,
            input_count,
            outputs: null(),
            output_stride: 0,
            output_count: 1,
            flags: 0,
            reserved: 0,
        };
        let mut node = NodeId::default();
        // SAFETY: the handle is alive, here and below; all memory that is passed lives through the call.
        assert_eq!(unsafe { (self.api.add_node)(self.handle, &raw const desc, &raw mut node) }, 0);
        node
    }

    /// Links a node to an input of another.
    pub fn connect(&mut self, source: NodeId, target: NodeId, input: u32) {
        // SAFETY: as above.
        assert_eq!(unsafe { (self.api.connect)(self.handle, source, 0, target, input) }, 0);
    }

    pub fn remove(&mut self, node: NodeId) {
        // SAFETY: as above.
        assert_eq!(unsafe { (self.api.remove_node)(self.handle, node) }, 0);
    }

    pub fn set_sink(&mut self, node: NodeId) {
        // SAFETY: as above.
        assert_eq!(unsafe { (self.api.set_sink)(self.handle, node, 1) }, 0);
    }

    pub fn set_input(&mut self, node: NodeId, number: u64) {
        let value = Value([number, 0]);
        // SAFETY: as above.
        assert_eq!(unsafe { (self.api.set_input)(self.handle, node, 0, &raw const value) }, 0);
    }

    /// One frame, and its counts.
    pub fn evaluate(&mut self, evaluator: Evaluator, pool: Option<&Pool<'_>>) -> Summary {
        let desc = EvaluationDesc {
            struct_size: size_of::<EvaluationDesc>() as u32,
            evaluator: evaluator as u32,
            node_limit: 0,
            only: NodeId::default(),
        };
        let mut summary = Summary { struct_size: size_of::<Summary>() as u32, ..Summary::default() };
        let executor = pool.map_or(null(), |pool| pool.1.cast_const());
        // SAFETY: as above; the pool is alive.
        let outcome = unsafe { (self.api.evaluate)(self.handle, executor, &raw const desc, &raw mut summary) };
        assert_eq!((outcome, summary.is_complete), (0, 1));
        summary
    }

    /// One frame by the fitting evaluator. `pool`: its threads may run nodes.
    pub fn frame(&mut self, pool: Option<&Pool<'_>>) {
        let executor = pool.map_or(null(), |pool| pool.1.cast_const());
        // SAFETY: as above; the header allows no desc and no summary.
        assert_eq!(unsafe { (self.api.evaluate)(self.handle, executor, null(), null_mut()) }, 0);
    }

    pub fn value(&self, node: NodeId) -> u64 {
        let mut value = Value::default();
        // SAFETY: as above.
        assert_eq!(unsafe { (self.api.value)(self.handle, node, 0, &raw mut value) }, 0);
        value.0[0]
    }

    pub fn statistics(&self) -> Statistics {
        let mut statistics = Statistics { struct_size: size_of::<Statistics>() as u32, ..Statistics::default() };
        // SAFETY: as above.
        assert_eq!(unsafe { (self.api.statistics)(self.handle, &raw mut statistics) }, 0);
        statistics
    }
}

impl Drop for Graph<'_> {
    fn drop(&mut self) {
        // SAFETY: this handle is ours, and not used afterwards.
        unsafe { (self.api.destroy)(self.handle) }
    }
}
