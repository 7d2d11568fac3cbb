//! Built-in threads, without the standard library's `spawn`. It aborts the process when out of memory. On Unix it also
//! registers a destructor on the calling thread. That thread belongs to the host, and an unloaded library stays mapped as
//! long as it lives.

pub use imp::{Thread, parallelism};

#[cfg(unix)]
mod imp {
    use std::ffi::{CStr, c_void};
    use std::mem::MaybeUninit;
    use std::ptr;

    use crate::base::{Result, error, try_box};

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
            let life = Box::into_raw(try_box(life)?);
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

    /// The threads that the machine runs at the same time. The standard library's `available_parallelism` reads files and
    /// aborts the process when out of memory.
    pub fn parallelism() -> usize {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            let mut allowed = MaybeUninit::<libc::cpu_set_t>::zeroed();
            // SAFETY: the system writes at most the given size, and zeros are a valid set. 0 is this thread.
            let found = unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), allowed.as_mut_ptr()) };
            if found == 0 {
                // SAFETY: the set is initialised.
                let count = unsafe { libc::CPU_COUNT(&allowed.assume_init()) };
                return usize::try_from(count).map_or(1, |count| count.max(1));
            }
        }
        // SAFETY: has no conditions.
        let online = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
        usize::try_from(online).map_or(1, |count| count.max(1))
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

#[cfg(windows)]
mod imp {
    use std::ffi::{CStr, c_void};
    use std::ptr;

    use crate::base::{Result, error, try_box};

    // The standard library's `spawn` aborts the process when out of memory.
    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn CreateThread(
            attributes: *const c_void,
            stack_bytes: usize,
            start: unsafe extern "system" fn(*mut c_void) -> u32,
            parameter: *mut c_void,
            flags: u32,
            id: *mut u32,
        ) -> *mut c_void;
        fn WaitForSingleObject(handle: *mut c_void, milliseconds: u32) -> u32;
        fn CloseHandle(handle: *mut c_void) -> i32;
    }

    const STACK_BYTES: usize = 2 << 20;
    const STACK_SIZE_PARAM_IS_A_RESERVATION: u32 = 0x10000;
    const INFINITE: u32 = u32::MAX;

    /// A thread that runs until it is joined.
    pub struct Thread(*mut c_void);

    // SAFETY: a handle is a name; any thread may wait for it or close it.
    unsafe impl Send for Thread {}
    // SAFETY: as above.
    unsafe impl Sync for Thread {}

    impl Thread {
        /// Start one. `life` must not panic.
        pub fn spawn<F: FnOnce() + Send + 'static>(_name: &CStr, life: F) -> Result<Self> {
            let life = Box::into_raw(try_box(life)?);
            let reserve = STACK_SIZE_PARAM_IS_A_RESERVATION;
            // SAFETY: `enter` owns `life` once it runs.
            let thread =
                unsafe { CreateThread(ptr::null(), STACK_BYTES, enter::<F>, life.cast(), reserve, ptr::null_mut()) };
            if thread.is_null() {
                // SAFETY: no thread was created, so nothing else owns it.
                drop(unsafe { Box::from_raw(life) });
                let failed = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
                return Err(error!(
                    Unsupported,
                    "the system cannot create a thread (system error {failed}): use fewer threads"
                ));
            }
            Ok(Self(thread))
        }

        pub fn join(self) {
            // SAFETY: the handle is open until `detach` closes it.
            unsafe { WaitForSingleObject(self.0, INFINITE) };
            self.detach();
        }

        /// Detach it: the thread ends by itself.
        pub fn detach(self) {
            // SAFETY: it is joined or detached once, since both methods consume it.
            unsafe { CloseHandle(self.0) };
        }
    }

    /// # Safety
    /// `life` is a boxed `F` without another owner.
    unsafe extern "system" fn enter<F: FnOnce()>(life: *mut c_void) -> u32 {
        // SAFETY: by this function's contract.
        let life = unsafe { Box::from_raw(life.cast::<F>()) };
        life();
        0
    }

    /// The threads that the machine runs at the same time.
    pub fn parallelism() -> usize {
        // On Windows this allocates nothing.
        std::thread::available_parallelism().map_or(1, usize::from)
    }
}
