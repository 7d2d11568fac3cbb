//! Fields of descs that the store has in common.

use crate::base::{Result, error};
use crate::store::{Options, Secret};

/// A limit of the disk: 0 for the default, or large enough.
pub fn disk_limit(limit: u64, what: &str) -> Result<u64> {
    let least = Options::LEAST_LIMIT;
    if limit > 0 && limit < least {
        return Err(error!(
            InvalidArgument,
            "{what} {limit} is too small: pass at least {least} bytes (256 KiB), or 0 for the default"
        ));
    }
    Ok(limit)
}

/// The secret of the host; `None` for no bytes.
pub fn secret(bytes: &[u8]) -> Result<Option<Secret>> {
    if bytes.is_empty() { Ok(None) } else { Secret::derive(bytes).map(Some) }
}

/// Seconds since 1970.
pub fn seconds() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |span| span.as_secs())
}
