//! The limit of each environment, in a small file, so that every process knows those of the others.
//!
//! The file is replaced as a whole by the process that maintains. If it is missing or invalid, every environment has
//! the limit of the process that asks, until the processes that use it write it again.

use std::io::{self, ErrorKind, IoSlice};
use std::path::Path;

use super::Options;
use super::format::{Checks, u32_at, u64_at};
use super::io::{Io, read_exact_at};
use super::path::FilePath;

/// Environments in the file. It stays within a block of the disk.
pub const MOST: usize = 128;
const MAGIC: [u8; 8] = *b"HOBLIM\r\n";
const FORMAT: u32 = 1;
const HEAD: usize = 16;
const ROW: usize = 16;
const HASH: usize = 8;

/// The limit of an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    pub environment: u64,
    /// In bytes.
    pub limit: u64,
}

/// The budgets in a directory; none if the file is missing or invalid.
pub fn read(io: &dyn Io, directory: &Path, checks: &Checks) -> io::Result<Vec<Budget>> {
    let file = io.open(&FilePath::new(directory, "limits"))?;
    let length = usize::try_from(file.length()?).unwrap_or(usize::MAX);
    let mut bytes = [0; HEAD + MOST * ROW + HASH];
    let invalid = || io::Error::from(ErrorKind::InvalidData);
    let bytes = bytes.get_mut(..length).ok_or_else(invalid)?;
    let is_whole = read_exact_at(&*file, bytes, 0)?;
    decode(bytes, checks).filter(|_| is_whole).ok_or_else(invalid)
}

/// Replace the budgets in a directory.
pub fn write(io: &dyn Io, directory: &Path, budgets: &[Budget], checks: &Checks) -> io::Result<()> {
    let (fresh, path) = (FilePath::new(directory, "limits.new"), FilePath::new(directory, "limits"));
    // A leftover of a process that was killed here.
    let _ = io.remove(&fresh);
    let bytes = encode(budgets, checks)?;
    let written = io.create(&fresh).and_then(|file| file.append(&mut [IoSlice::new(&bytes)]));
    written.and_then(|()| io.rename(&fresh, &path)).inspect_err(|_| drop(io.remove(&fresh)))
}

fn encode(budgets: &[Budget], checks: &Checks) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(HEAD + budgets.len() * ROW + HASH)?;
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&FORMAT.to_le_bytes());
    bytes.extend_from_slice(&(budgets.len() as u32).to_le_bytes());
    for Budget { environment, limit } in budgets {
        bytes.extend_from_slice(&environment.to_le_bytes());
        bytes.extend_from_slice(&limit.to_le_bytes());
    }
    let check = checks.small_file(&bytes);
    bytes.extend_from_slice(&check.to_le_bytes());
    Ok(bytes)
}

fn decode(bytes: &[u8], checks: &Checks) -> Option<Vec<Budget>> {
    let (body, check) = bytes.split_at_checked(bytes.len().checked_sub(HASH)?)?;
    let (head, rows) = body.split_at_checked(HEAD)?;
    let is_ours = head[..8] == MAGIC && u32_at(head, 8) == FORMAT && u64_at(check, 0) == checks.small_file(body);
    if !is_ours || rows.len() != u32_at(head, 12) as usize * ROW {
        return None;
    }
    let mut budgets = Vec::new();
    budgets.try_reserve_exact(rows.len() / ROW).ok()?;
    let limit = |row: &[u8]| u64_at(row, 8).max(Options::LEAST_LIMIT);
    budgets.extend(rows.chunks_exact(ROW).map(|row| Budget { environment: u64_at(row, 0), limit: limit(row) }));
    Some(budgets)
}

#[cfg(test)]
mod tests {
    use super::super::Secret;
    use super::*;

    #[test]
    fn file_holds_budgets_and_damage_empties_it() {
        let budgets: Vec<_> =
            (0..5).map(|environment| Budget { environment, limit: (1 << 20) + environment }).collect();
        let (plain, keyed) = (Checks::new(None), |secret| Checks::new(Some(Secret([secret; 32]))));
        for checks in [plain, keyed(1)] {
            let bytes = encode(&budgets, &checks).unwrap();
            assert_eq!((bytes.len(), decode(&bytes, &checks)), (HEAD + 5 * ROW + HASH, Some(budgets.clone())));
            for bit in 0..bytes.len() * 8 {
                let mut damaged = bytes.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(decode(&damaged, &checks), None);
            }
            assert!((0..bytes.len()).all(|length| decode(&bytes[..length], &checks).is_none()));
            assert_eq!(decode(&bytes, &keyed(2)), None, "only the secret makes a valid file");
        }
        assert_eq!(decode(&encode(&budgets, &plain).unwrap(), &keyed(1)), None);
    }
}
