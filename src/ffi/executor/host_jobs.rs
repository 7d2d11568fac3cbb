//! The host's job system: the callbacks of a `hob_executor_desc` behind [`JobSystem`].

use std::ffi::{c_char, c_void};

use super::desc::{hob_executor_desc, hob_priority};
use crate::base::{Shared, Text};
use crate::executor::{JobSystem, Priority, Run};
use crate::ffi::base::guard::call_host;
use crate::ffi::base::user_data::UserData;

/// The host's callbacks.
pub struct HostJobs {
    desc: hob_executor_desc,
    user_data: Shared<UserData>,
}

// SAFETY: the header says where the callbacks run; the host makes `user_data` fit for them.
unsafe impl Send for HostJobs {}
// SAFETY: as above.
unsafe impl Sync for HostJobs {}

impl HostJobs {
    pub fn new(desc: hob_executor_desc, user_data: Shared<UserData>) -> Self {
        Self { desc, user_data }
    }
}

// SAFETY: the header asks of the host what the trait asks for.
unsafe impl JobSystem for HostJobs {
    fn enqueue(&self, run: Run, task: *mut c_void, priority: Priority, name: &str) -> *mut c_void {
        let Some(enqueue) = self.desc.enqueue else { return std::ptr::null_mut() };
        let name = CName::of(name);
        call_host(|| enqueue(self.user_data.get(), Some(run), task, hob_priority::from(priority).0, name.as_ptr()))
    }

    fn finish(&self, ticket: *mut c_void) {
        if let Some(finish) = self.desc.finish {
            call_host(|| finish(self.user_data.get(), ticket));
        }
    }

    fn post(&self, run: Run, task: *mut c_void, priority: Priority, name: &str) {
        if let Some(post) = self.desc.post {
            let name = CName::of(name);
            call_host(|| post(self.user_data.get(), Some(run), task, hob_priority::from(priority).0, name.as_ptr()));
        }
    }
}

/// A name that ends in NUL.
struct CName([u8; 64]);

impl CName {
    fn of(name: &str) -> Self {
        let cut = Text::<63>::format(format_args!("{name}"));
        let mut bytes = [0; 64];
        bytes[..cut.as_str().len()].copy_from_slice(cut.as_str().as_bytes());
        Self(bytes)
    }

    fn as_ptr(&self) -> *const c_char {
        self.0.as_ptr().cast()
    }
}
