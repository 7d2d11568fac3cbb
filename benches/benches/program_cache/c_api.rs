//! The C API as a host calls it: a cache with a directory and without a background thread. The timings are the caller's
//! cost.

use std::ffi::c_void;
use std::path::Path;

/// As in `program_cache.h`.
#[repr(C)]
struct Desc {
    struct_size: u32,
    eviction: u32,
    directory: Str,
    environment: *const c_void,
    executor: *const c_void,
    memory_limit: u64,
    disk_limit: u64,
    waiting_limit: u64,
    max_age_seconds: u32,
    ban_at: u32,
    flags: u32,
    described_keys: u32,
    file_io: *const c_void,
    directory_limit: u64,
}

#[repr(C)]
struct Str {
    data: *const u8,
    length: usize,
}

#[repr(C)]
struct Program {
    struct_size: u32,
    format: u32,
    data: *const c_void,
    size: usize,
    reflection: *const c_void,
    reflection_size: usize,
    shaders: *const c_void,
    shader_count: usize,
    build_us: u64,
    group: u32,
    reserved: u32,
}

#[repr(C)]
struct Blob {
    struct_size: u32,
    format: u32,
    data: *const u8,
    size: usize,
    reflection: *const c_void,
    reflection_size: usize,
    pin: *mut c_void,
}

unsafe extern "C" {
    fn hob_program_cache_desc_init(desc: *mut Desc, size: u32) -> u32;
    fn hob_program_init(program: *mut Program, size: u32) -> u32;
    fn hob_blob_init(blob: *mut Blob, size: u32) -> u32;
    fn hob_program_cache_create(desc: *const Desc, out: *mut *mut c_void) -> u32;
    fn hob_program_cache_destroy(cache: *mut c_void);
    fn hob_program_cache_put(cache: *const c_void, key: *const [u8; 32], program: *const Program) -> u32;
    fn hob_program_cache_get(cache: *const c_void, key: *const [u8; 32], blob: *mut Blob) -> u32;
    fn hob_blob_release(blob: *mut Blob);
    fn hob_profile_create(desc: *const c_void, out: *mut *mut c_void) -> u32;
    fn hob_profile_destroy(profile: *mut c_void);
    fn hob_profile_task_count(profile: *const c_void) -> u32;
}

/// A handle with a call that does nothing but return a number.
pub struct Nothing(*mut c_void);

impl Nothing {
    pub fn new() -> Self {
        let mut profile = std::ptr::null_mut();
        // SAFETY: the header allows no desc; the handle lives until drop.
        let result = unsafe { hob_profile_create(std::ptr::null(), &raw mut profile) };
        assert_eq!(result, 0);
        Self(profile)
    }

    pub fn call(&self) -> u32 {
        // SAFETY: the handle is alive.
        unsafe { hob_profile_task_count(self.0) }
    }
}

impl Drop for Nothing {
    fn drop(&mut self) {
        // SAFETY: this handle is ours, and not used afterwards.
        unsafe { hob_profile_destroy(self.0) }
    }
}

/// A `hob_program_cache`.
pub struct Cache(*mut c_void);

// SAFETY: the header lists the calls that may run at the same time; that holds for all calls here except destroy.
unsafe impl Sync for Cache {}

impl Cache {
    pub fn new(directory: &Path) -> Self {
        let directory = directory.to_str().expect("a path in UTF-8");
        let mut cache = std::ptr::null_mut();
        // SAFETY: init writes the whole struct; all memory that it points to lives through the call.
        let result = unsafe {
            let mut desc = std::mem::zeroed::<Desc>();
            assert_eq!(hob_program_cache_desc_init(&raw mut desc, size_of::<Desc>() as u32), 0);
            desc.directory = Str { data: directory.as_ptr(), length: directory.len() };
            hob_program_cache_create(&raw const desc, &raw mut cache)
        };
        assert_eq!(result, 0);
        Self(cache)
    }

    pub fn put(&self, key: &[u8; 32], data: &[u8]) {
        // SAFETY: as above; the cache is alive.
        let result = unsafe {
            let mut program = std::mem::zeroed::<Program>();
            assert_eq!(hob_program_init(&raw mut program, size_of::<Program>() as u32), 0);
            (program.data, program.size, program.build_us) = (data.as_ptr().cast(), data.len(), 10_000);
            hob_program_cache_put(self.0, key, &raw const program)
        };
        assert_eq!(result, 0);
    }

    /// First byte of a cached program.
    pub fn get(&self, key: &[u8; 32]) -> u8 {
        // SAFETY: as above; the view is read before it is released.
        unsafe {
            let mut blob = std::mem::zeroed::<Blob>();
            assert_eq!(hob_blob_init(&raw mut blob, size_of::<Blob>() as u32), 0);
            assert_eq!(hob_program_cache_get(self.0, key, &raw mut blob), 0);
            let first = *blob.data;
            hob_blob_release(&raw mut blob);
            first
        }
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        // SAFETY: this handle is ours, and not used afterwards.
        unsafe { hob_program_cache_destroy(self.0) }
    }
}
