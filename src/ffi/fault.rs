//! Arming fault points from the C++ harness. In no header: shipped builds do not have it.

use super::base::hob_str;
use super::guard::guard;

/// Panic at the named point after `passes` more passes; an empty name disarms.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_fault_arm(point: hob_str, passes: u32) -> super::base::hob_result {
    // SAFETY: the harness passes a valid string.
    guard(|| {
        crate::base::fault::arm(unsafe { point.read("point") }?, passes);
        Ok(())
    })
}
