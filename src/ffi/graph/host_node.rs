//! The host's part of a node behind [`Function`], and the environment in which it is called.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering::Relaxed};

use super::node::{hob_node_call, hob_node_desc, hob_verdict};
use crate::base::{Result, Shared, Text, try_box};
use crate::ffi::base::float::{Register, SharedRegister};
use crate::ffi::base::guard::{call_host, call_host_in_loop, host_environment, in_host_environment};
use crate::ffi::base::structs::Versioned;
use crate::ffi::base::user_data::UserData;
use crate::ffi::base::value::hob_value;
use crate::graph::{Call, Failure, Function, Held, Value, Verdict};

/// How nodes are called. An evaluation has millions of calls a second, so it decides that once.
#[derive(Default)]
pub struct Calls {
    how: AtomicU8,
    environment: SharedRegister,
    /// Bytes that nodes hold beside their graph.
    memory: AtomicUsize,
}

/// Outside of an evaluation.
const OUTSIDE: u8 = 0;
/// The host's environment is active on each thread.
const ACTIVE: u8 = 1;
/// Calls activate it, and leave it active until their block ends.
const BY_BLOCK: u8 = 2;
/// Calls activate it, and the library's again: the host's has traps, which the library's numbers would meet, or it rounds
/// or flushes numbers that the library compares.
const BY_CALL: u8 = 3;

impl Calls {
    /// Runs an evaluation on this thread, whose environment is the host's.
    #[inline]
    pub fn with_environment_active<R>(&self, evaluate: impl FnOnce() -> R) -> R {
        self.how.store(ACTIVE, Relaxed);
        let _outside = Outside(self);
        evaluate()
    }

    /// Runs an evaluation on up to `threads` threads. This one is in the library's environment.
    /// `has_floats`: the library computes with floating-point numbers between the calls.
    pub fn evaluation<R>(&self, threads: usize, has_floats: bool, evaluate: impl FnOnce() -> R) -> R {
        let environment = host_environment();
        self.environment.set(environment);
        let how = match () {
            () if environment.has_traps() || has_floats && !environment.is_default() => BY_CALL,
            () if threads > 1 && !environment.is_default() => BY_BLOCK,
            () => ACTIVE,
        };
        self.how.store(how, Relaxed);
        let _outside = Outside(self);
        if how == ACTIVE { in_host_environment(environment, evaluate) } else { evaluate() }
    }

    /// Calls the host.
    #[inline]
    fn host<R>(&self, callback: impl FnOnce() -> R) -> R {
        match self.how.load(Relaxed) {
            ACTIVE => callback(),
            how => self.switched(how, callback),
        }
    }

    #[cold]
    fn switched<R>(&self, how: u8, callback: impl FnOnce() -> R) -> R {
        if how == OUTSIDE {
            return call_host(callback);
        }
        let answer = call_host_in_loop(self.environment.get(), callback);
        if how == BY_CALL {
            Register::DEFAULT.restore();
        }
        answer
    }

    /// Bytes that nodes hold beside their graph.
    pub fn memory_used(&self) -> usize {
        self.memory.load(Relaxed)
    }
}

/// The end of an evaluation.
struct Outside<'a>(&'a Calls);

impl Drop for Outside<'_> {
    fn drop(&mut self) {
        self.0.how.store(OUTSIDE, Relaxed);
    }
}

/// The host's part of a node.
pub struct HostNode {
    evaluate: extern "C" fn(*mut c_void, *mut hob_node_call) -> hob_verdict,
    user_data: *mut c_void,
    /// It outlives the node, which counts no owner: two atomic exchanges would be a tenth of the node's life without runs.
    calls: NonNull<Calls>,
    /// Most nodes have none of it.
    rare: Option<Box<Rare>>,
}

/// Callbacks that most nodes lack. The host's pointer is released with it, so after its values.
struct Rare {
    is_equal: Option<extern "C" fn(*mut c_void, u32, *const hob_value, *const hob_value) -> u32>,
    release_value: Option<extern "C" fn(*mut c_void, u32, *const hob_value)>,
    owner: Shared<UserData>,
}

const MEMORY_OF_RARE: usize = size_of::<Rare>() + size_of::<UserData>();

// SAFETY: the header says on which threads the callbacks run; the host makes `user_data` fit for them.
unsafe impl Send for HostNode {}
// SAFETY: as above.
unsafe impl Sync for HostNode {}

impl HostNode {
    /// The node of a desc. With an owner, the caller calls its `own` once the node is in a graph.
    ///
    /// # Safety
    /// `calls` has an owner until the node is dropped.
    #[inline]
    pub unsafe fn new(
        desc: &hob_node_desc,
        evaluate: extern "C" fn(*mut c_void, *mut hob_node_call) -> hob_verdict,
        calls: &Shared<Calls>,
    ) -> Result<(Self, Option<Shared<UserData>>)> {
        let mut owner = None;
        let mut rare = None;
        if desc.release.is_some() || desc.is_equal.is_some() || desc.release_value.is_some() {
            let shared = Shared::try_new(UserData::new(desc.user_data, desc.release))?;
            let (is_equal, release_value) = (desc.is_equal, desc.release_value);
            rare = Some(try_box(Rare { is_equal, release_value, owner: shared.clone() })?);
            owner = Some(shared);
        }
        let node = Self { evaluate, user_data: desc.user_data, calls: NonNull::from(&**calls), rare };
        node.count_memory();
        Ok((node, owner))
    }

    /// The same node for another graph. The host's pointer is released after all of them.
    ///
    /// # Safety
    /// As [`Self::new`].
    pub unsafe fn copy(&self, calls: &Shared<Calls>) -> Result<Self> {
        let copy = |rare: &Rare| {
            let Rare { is_equal, release_value, ref owner } = *rare;
            try_box(Rare { is_equal, release_value, owner: owner.clone() })
        };
        let rare = self.rare.as_deref().map(copy).transpose()?;
        let node = Self { evaluate: self.evaluate, user_data: self.user_data, calls: NonNull::from(&**calls), rare };
        node.count_memory();
        Ok(node)
    }

    fn count_memory(&self) {
        if self.rare.is_some() {
            self.calls().memory.fetch_add(MEMORY_OF_RARE, Relaxed);
        }
    }

    #[inline]
    fn calls(&self) -> &Calls {
        // SAFETY: by the contract of `new` and `copy`.
        unsafe { self.calls.as_ref() }
    }
}

impl Drop for HostNode {
    fn drop(&mut self) {
        if self.rare.is_some() {
            self.calls().memory.fetch_sub(MEMORY_OF_RARE, Relaxed);
        }
    }
}

impl Function for HostNode {
    #[inline]
    fn evaluate(&self, call: &mut Call<'_>) -> Verdict {
        let message = call.failure.spare();
        let mut host = hob_node_call {
            input_count: call.inputs.len() as u32,
            inputs: call.inputs.as_ptr().cast(),
            outputs: call.outputs.as_mut_ptr().cast(),
            output_count: call.outputs.len() as u32,
            message_capacity: message.len() as u32,
            available: call.available,
            need: 0,
            message: message.as_mut_ptr().cast(),
            ..hob_node_call::defaults()
        };
        let verdict = self.calls().host(|| (self.evaluate)(self.user_data, &raw mut host));
        call.held = Held { bytes: host.held_bytes, cost_ns: host.cost_ns };
        match verdict {
            hob_verdict::Done => Verdict::Done,
            hob_verdict::Need => Verdict::Need(host.need),
            other => failed(call.failure, other),
        }
    }

    fn is_equal(&self, output: usize, old: Value, new: Value) -> bool {
        let Some(is_equal) = self.rare.as_ref().and_then(|rare| rare.is_equal) else { return old == new };
        let (old, new) = (hob_value::from(old), hob_value::from(new));
        self.calls().host(|| is_equal(self.user_data, output as u32, &raw const old, &raw const new)) != 0
    }

    fn release(&self, output: usize, value: Value) {
        if let Some(release) = self.rare.as_ref().and_then(|rare| rare.release_value) {
            let value = hob_value::from(value);
            self.calls().host(|| release(self.user_data, output as u32, &raw const value));
        }
    }
}

// Without the call, which a loop over nodes keeps in registers then.
#[cold]
fn failed(failure: &mut Failure, verdict: hob_verdict) -> Verdict {
    failure.end_at_nul();
    if verdict != hob_verdict::Failed {
        let number = verdict.0;
        *failure = Text::format(format_args!("evaluate returned {number}, which is not a hob_verdict"));
    }
    Verdict::Failed
}
