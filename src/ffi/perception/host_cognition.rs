//! The host's part of a cognition behind [`Cognition`], and the environment in which it is called.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use super::cognition::{hob_cognition_call, hob_cognition_desc, hob_cognition_input};
use super::image::hob_pixel_format;
use crate::base::{Result, Shared, Value};
use crate::ffi::base::float::{Register, SharedRegister};
use crate::ffi::base::guard::{call_host, call_host_in_loop, host_environment};
use crate::ffi::base::result::hob_result;
use crate::ffi::base::structs::Versioned;
use crate::ffi::base::user_data::UserData;
use crate::ffi::base::value::hob_value;
use crate::ffi::executor::desc::hob_executor;
use crate::perception::{Call, Cognition, MAX_INPUTS, Seen};

/// How cognitions are called.
#[derive(Default)]
pub struct Calls {
    /// The host's floating-point environment, for the executor's threads.
    environment: SharedRegister,
    /// The executor of the frame.
    executor: AtomicPtr<hob_executor>,
}

impl Calls {
    /// Note the environment of the call that is running.
    pub fn begin(&self) {
        self.environment.set(host_environment());
    }

    /// Note the executor of the frame. Returns the one before.
    pub fn replace_executor(&self, executor: *const hob_executor) -> *const hob_executor {
        self.executor.swap(executor.cast_mut(), Relaxed)
    }

    fn host<R>(&self, callback: impl FnOnce() -> R) -> R {
        let answer = call_host_in_loop(self.environment.get(), callback);
        Register::DEFAULT.restore();
        answer
    }
}

type Perceive = extern "C" fn(*mut c_void, *mut hob_cognition_call) -> hob_result;

/// The host's part of a cognition.
pub struct HostCognition {
    perceive: Perceive,
    is_equal: Option<extern "C" fn(*mut c_void, *const hob_value, *const hob_value) -> u32>,
    release_value: Option<extern "C" fn(*mut c_void, *const hob_value)>,
    owner: Shared<UserData>,
    calls: Shared<Calls>,
    /// hob_cognition_desc.support: regions of NV12 are readable up to the next even place.
    support: u32,
}

// SAFETY: the header says on which threads the callbacks run; the host makes `user_data` fit for them.
unsafe impl Send for HostCognition {}
// SAFETY: as above.
unsafe impl Sync for HostCognition {}

impl HostCognition {
    /// The cognition of a desc. The caller calls `own` of its owner once it is in a perception.
    pub fn new(
        desc: &hob_cognition_desc,
        perceive: Perceive,
        calls: &Shared<Calls>,
    ) -> Result<(Self, Shared<UserData>)> {
        let owner = Shared::try_new(UserData::new(desc.user_data, desc.release))?;
        let (is_equal, release_value) = (desc.is_equal, desc.release_value);
        let support = desc.support;
        Ok((Self { perceive, is_equal, release_value, owner: owner.clone(), calls: calls.clone(), support }, owner))
    }
}

const NO_INPUT: hob_cognition_input = hob_cognition_input {
    pixels: ptr::null(),
    chroma: ptr::null(),
    stride: 0,
    chroma_stride: 0,
    format: hob_pixel_format::Default,
    width: 0,
    height: 0,
    left: 0,
    top: 0,
    right: 0,
    bottom: 0,
    reserved: 0,
};

fn input(seen: &Seen<'_>, support: u32) -> hob_cognition_input {
    let (view, part) = (seen.view, seen.part);
    let shape = view.shape();
    let start = part.y as usize * view.stride() + part.x as usize * shape.format.pixel_size();
    let chroma = part.y as usize / 2 * view.chroma_stride() + part.x as usize;
    hob_cognition_input {
        // Pointers of the whole view, so that the host may read around the part.
        pixels: view.pixels().as_ptr().wrapping_add(start).cast(),
        chroma: if shape.format.has_chroma() {
            view.chroma().as_ptr().wrapping_add(chroma).cast()
        } else {
            ptr::null()
        },
        stride: view.stride(),
        chroma_stride: if shape.format.has_chroma() { view.chroma_stride() } else { 0 },
        format: shape.format.into(),
        width: part.width,
        height: part.height,
        left: part.x.min(support),
        top: part.y.min(support),
        right: (shape.width - part.x - part.width).min(support),
        bottom: (shape.height - part.y - part.height).min(support),
        reserved: 0,
    }
}

impl Cognition for HostCognition {
    fn perceive(&self, call: &mut Call<'_>) -> bool {
        let mut inputs = [NO_INPUT; MAX_INPUTS];
        for (input_of, seen) in inputs.iter_mut().zip(call.seen) {
            if let Some(seen) = seen {
                *input_of = input(seen, self.support);
            }
        }
        let message = call.failure.spare();
        let executor = if call.is_alone { self.calls.executor.load(Relaxed) } else { ptr::null_mut() };
        let mut host = hob_cognition_call {
            input_count: call.seen.len() as u32,
            inputs: inputs.as_ptr(),
            input_stride: size_of::<hob_cognition_input>(),
            values: call.values.as_ptr().cast(),
            parameters: if call.parameters.is_empty() { ptr::null() } else { call.parameters.as_ptr().cast() },
            parameters_size: call.parameters.len(),
            frame: call.frame,
            executor,
            message_capacity: message.len() as u32,
            message: message.as_mut_ptr().cast(),
            ..hob_cognition_call::defaults()
        };
        if let Some(picture) = &mut call.picture {
            let shape = picture.shape();
            host.image_format = shape.format.into();
            (host.image_width, host.image_height) = (shape.width, shape.height);
            (host.image_stride, host.image_chroma_stride) = (picture.stride(), picture.chroma_stride());
            host.image = picture.pixels().as_mut_ptr().cast();
            if shape.format.has_chroma() {
                host.image_chroma = picture.chroma().as_mut_ptr().cast();
            }
        }
        let result = self.calls.host(|| (self.perceive)(self.owner.get(), &raw mut host));
        call.failure.end_at_nul();
        call.value = host.value.into();
        result == hob_result::Ok
    }

    fn is_equal(&self, old: Value, new: Value) -> bool {
        let Some(is_equal) = self.is_equal else { return old == new };
        let (old, new) = (hob_value::from(old), hob_value::from(new));
        call_host(|| is_equal(self.owner.get(), &raw const old, &raw const new)) != 0
    }

    fn release(&self, value: Value) {
        if let Some(release) = self.release_value {
            let value = hob_value::from(value);
            call_host(|| release(self.owner.get(), &raw const value));
        }
    }
}
