//! Compile status of shaders. A shader that is known to compile can be compiled later, when a program of it is missed.

use std::collections::HashMap;

use crate::base::Result;
use crate::program_cache::key::{FoldKeys, Key};

/// The status of a shader's compile or of a program's link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Never tried, failed, or forgotten.
    Unknown,
    /// It has succeeded before.
    Succeeded,
}

/// The limit of shaders that no cached program uses. One more, and all of these are forgotten.
const MOST_UNUSED: usize = 1 << 16;

/// Shaders that have compiled, each with the number of cached programs that use it.
#[derive(Default)]
pub struct Statuses {
    programs_of: HashMap<Key, u32, FoldKeys>,
    /// Shaders that no cached program uses.
    unused: usize,
}

impl Statuses {
    /// The status of a shader.
    pub fn status(&self, shader: &Key) -> Status {
        if self.programs_of.contains_key(shader) { Status::Succeeded } else { Status::Unknown }
    }

    /// The number of cached programs that use a shader.
    pub fn programs(&self, shader: &Key) -> u32 {
        self.programs_of.get(shader).copied().unwrap_or(0)
    }

    /// The number of shaders that are known to compile.
    pub fn len(&self) -> usize {
        self.programs_of.len()
    }

    /// Record that a shader has compiled.
    pub fn compiled(&mut self, shader: &Key) -> Result<()> {
        if self.programs_of.contains_key(shader) {
            return Ok(());
        }
        if self.unused >= MOST_UNUSED {
            self.programs_of.retain(|_, programs| *programs > 0);
            self.unused = 0;
        }
        self.programs_of.try_reserve(1)?;
        self.programs_of.insert(*shader, 0);
        self.unused += 1;
        Ok(())
    }

    /// Reserve memory, so that the next [`linked`](Self::linked) with this number of shaders cannot fail.
    pub fn reserve(&mut self, shaders: usize) -> Result<()> {
        Ok(self.programs_of.try_reserve(shaders)?)
    }

    /// Record a cached program that was linked from these shaders.
    pub fn linked(&mut self, shaders: &[Key]) {
        for shader in shaders {
            let programs = self.programs_of.entry(*shader).and_modify(|programs| {
                self.unused -= usize::from(*programs == 0);
                *programs += 1;
            });
            programs.or_insert(1);
        }
    }

    /// Record that a program left the cache, and forget the shaders that no other program uses.
    pub fn evicted(&mut self, shaders: &[Key]) {
        for shader in shaders {
            if let Some(programs) = self.programs_of.get_mut(shader).filter(|programs| **programs > 0) {
                *programs -= 1;
                if *programs == 0 {
                    self.programs_of.remove(shader);
                }
            }
        }
    }

    /// Forget all shaders.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Bytes held, estimated.
    pub fn memory_used(&self) -> usize {
        self.programs_of.capacity() * (size_of::<(Key, u32)>() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_of_unused_shaders_is_bounded() {
        let mut statuses = Statuses::default();
        let key = |number: u32| {
            let mut key = [0; 32];
            key[..4].copy_from_slice(&number.to_le_bytes());
            key
        };
        statuses.compiled(&key(0)).unwrap();
        statuses.linked(&[key(0)]);
        for number in 1..=MOST_UNUSED as u32 + 1 {
            statuses.compiled(&key(number)).unwrap();
        }
        assert_eq!((statuses.len(), statuses.programs(&key(0))), (2, 1));
        assert_eq!(statuses.status(&key(MOST_UNUSED as u32 + 1)), Status::Succeeded);
    }
}
