//! Asks the processor for memory that will be needed soon.

/// Begin to load the cache line at the begin of a value, without waiting for it. A loop that would wait for one line after
/// the other waits for many at once then. Any address may be asked for. Other processors than x86-64 do nothing here.
#[inline]
pub fn fetch_ahead<T>(value: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: this is a hint: it reads nothing, and is allowed for every address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(value.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
