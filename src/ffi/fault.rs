//! Arms fault points from the C++ harness. It is in no header: shipped builds do not have it.

use hobgoblin_macros::entry;

use super::base::result::hob_result;
use super::base::text::hob_str;

/// Panics at the named point after `passes` more passes. An empty name disarms.
#[entry(any)]
pub extern "C" fn hob_fault_arm(point: hob_str, passes: u32) -> hob_result {
    crate::base::fault::arm(point.text()?, passes);
    Ok(())
}
