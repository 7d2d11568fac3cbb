//! Built-in threads.
//!
//! On Unix they do not use the standard library's `spawn`, which registers a destructor on the calling thread. The
//! calling thread belongs to the host, and an unloaded library stays mapped as long as that thread lives. On other
//! systems `spawn` has no such effect.

pub use imp::Thread;

#[cfg(unix)]
mod imp {
    use std::ffi::{CStr, c_void};
    use std::mem::MaybeUninit;
    use std::ptr;

    use super::super::task::try_box;
    use crate::base::{Result, error};

    const STACK_BYTES: usize = 2 << 20;

    /// A thread that runs until it is joined.
    pub struct Thread(libc::pthread_t);

    // SAFETY: any thread may join or detach one; where the id is a pointer, it is only a name.
    unsafe impl Send for Thread {}
    // SAFETY: as above.
    unsafe impl Sync for Thread {}

    impl Thread {
        /// Start one. `life` must not panic.
        pub fn spawn<F: FnOnce() + Send + 'static>(name: &CStr, life: F) -> Result<Self> {
            let life = Box::into_raw(try_box(|| life)?);
            let (mut id, mut attributes) = (MaybeUninit::uninit(), MaybeUninit::uninit());
            // SAFETY: the attributes are initialised before they are used; `enter` owns `life` once it runs.
            let failed = unsafe {
                libc::pthread_attr_init(attributes.as_mut_ptr());
                libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), STACK_BYTES);
                let failed = libc::pthread_create(id.as_mut_ptr(), attributes.as_ptr(), enter::<F>, life.cast());
                libc::pthread_attr_destroy(attributes.as_mut_ptr());
                failed
            };
            if failed != 0 {
                // SAFETY: no thread was created, so nothing else owns it.
                drop(unsafe { Box::from_raw(life) });
                return Err(error!(
                    Unsupported,
                    "the system cannot create a thread (system error {failed}): use fewer threads"
                ));
            }
            // SAFETY: `pthread_create` succeeded, so it has written the id.
            let id = unsafe { id.assume_init() };
            set_name(id, name);
            Ok(Self(id))
        }

        pub fn join(self) {
            // SAFETY: it is joined or detached once, since both methods consume it.
            unsafe { libc::pthread_join(self.0, ptr::null_mut()) };
        }

        /// Detach it: the thread ends by itself.
        pub fn detach(self) {
            // SAFETY: as for `join`.
            unsafe { libc::pthread_detach(self.0) };
        }
    }

    #[cfg(target_os = "linux")]
    fn set_name(id: libc::pthread_t, name: &CStr) {
        // SAFETY: the thread is not joined yet; the system rejects a name that is too long.
        unsafe { libc::pthread_setname_np(id, name.as_ptr()) };
    }

    #[cfg(not(target_os = "linux"))]
    fn set_name(_: libc::pthread_t, _: &CStr) {}

    /// # Safety
    /// `life` is a boxed `F` without another owner.
    extern "C" fn enter<F: FnOnce()>(life: *mut c_void) -> *mut c_void {
        // SAFETY: by this function's contract. The box is freed when the thread ends, not in the middle of a frame.
        let life = unsafe { Box::from_raw(life.cast::<F>()) };
        life();
        ptr::null_mut()
    }
}

#[cfg(not(unix))]
mod imp {
    use std::ffi::CStr;
    use std::thread::{Builder, JoinHandle};

    use crate::base::{Result, error};

    /// A thread that runs until it is joined.
    pub struct Thread(JoinHandle<()>);

    impl Thread {
        /// Start one. `life` must not panic.
        pub fn spawn<F: FnOnce() + Send + 'static>(name: &CStr, life: F) -> Result<Self> {
            let thread = Builder::new().name(name.to_string_lossy().into_owned()).spawn(life);
            thread.map(Self).map_err(|why| {
                let number = why.raw_os_error().unwrap_or(0);
                error!(Unsupported, "the system cannot create a thread (system error {number}): use fewer threads")
            })
        }

        pub fn join(self) {
            let _ = self.0.join();
        }

        /// Detach it: the thread ends by itself.
        pub fn detach(self) {}
    }
}
