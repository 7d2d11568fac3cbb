//! Threads of our own.
//!
//! Not the standard library's: its `spawn` leaves a destructor on the thread that calls it, which is the host's, and for
//! as long as that one lives an unloaded library stays mapped. Elsewhere than on Unix it does not.

pub use imp::Thread;

#[cfg(unix)]
mod imp {
    #[cfg(target_os = "linux")]
    use std::ffi::c_char;
    use std::ffi::{CStr, c_int, c_void};
    use std::ptr;

    use super::super::task::try_box;
    use crate::base::{Result, error};

    /// `pthread_t`, which is a word wherever there is one.
    type Id = usize;
    /// `pthread_attr_t`, with room to spare.
    type Attributes = [usize; 32];

    unsafe extern "C" {
        fn pthread_create(
            id: *mut Id,
            attributes: *const Attributes,
            enter: unsafe extern "C" fn(*mut c_void) -> *mut c_void,
            life: *mut c_void,
        ) -> c_int;
        fn pthread_join(id: Id, answer: *mut *mut c_void) -> c_int;
        fn pthread_detach(id: Id) -> c_int;
        fn pthread_attr_init(attributes: *mut Attributes) -> c_int;
        fn pthread_attr_setstacksize(attributes: *mut Attributes, size: usize) -> c_int;
        fn pthread_attr_destroy(attributes: *mut Attributes) -> c_int;
        #[cfg(target_os = "linux")]
        fn pthread_setname_np(id: Id, name: *const c_char) -> c_int;
    }

    const STACK_BYTES: usize = 2 << 20;

    /// A thread that runs until it is joined.
    pub struct Thread(Id);

    impl Thread {
        /// Start one. `life` must not panic.
        pub fn spawn<F: FnOnce() + Send + 'static>(name: &CStr, life: F) -> Result<Self> {
            let life = Box::into_raw(try_box(|| life)?);
            let mut id = 0;
            let mut attributes: Attributes = [0; 32];
            // SAFETY: the attributes are initialised before they are used; `enter` owns `life` once it runs.
            let failed = unsafe {
                pthread_attr_init(&raw mut attributes);
                pthread_attr_setstacksize(&raw mut attributes, STACK_BYTES);
                let failed = pthread_create(&raw mut id, &raw const attributes, enter::<F>, life.cast());
                pthread_attr_destroy(&raw mut attributes);
                failed
            };
            if failed != 0 {
                // SAFETY: no thread has it.
                drop(unsafe { Box::from_raw(life) });
                return Err(error!(Unsupported, "the system gives no thread (system error {failed}): ask for fewer"));
            }
            set_name(id, name);
            Ok(Self(id))
        }

        pub fn join(self) {
            // SAFETY: it is joined or detached once, since both take it.
            unsafe { pthread_join(self.0, ptr::null_mut()) };
        }

        /// Let it end by itself.
        pub fn detach(self) {
            // SAFETY: as for `join`.
            unsafe { pthread_detach(self.0) };
        }
    }

    #[cfg(target_os = "linux")]
    fn set_name(id: Id, name: &CStr) {
        // SAFETY: the thread is not joined yet; a name that is too long is refused.
        unsafe { pthread_setname_np(id, name.as_ptr()) };
    }

    #[cfg(not(target_os = "linux"))]
    fn set_name(_: Id, _: &CStr) {}

    /// # Safety
    /// `life` is a boxed `F`, and nobody else's.
    unsafe extern "C" fn enter<F: FnOnce()>(life: *mut c_void) -> *mut c_void {
        // SAFETY: by this function's contract. The box goes when the life is over: memory is given back at the end, not
        // in the middle of somebody's frame.
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
                error!(Unsupported, "the system gives no thread (system error {number}): ask for fewer")
            })
        }

        pub fn join(self) {
            let _ = self.0.join();
        }

        /// Let it end by itself.
        pub fn detach(self) {}
    }
}
