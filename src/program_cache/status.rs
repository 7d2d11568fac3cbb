//! What is known of shaders, so that one that is sure to compile need not be compiled until somebody needs it.

use std::collections::HashMap;

use super::Key;
use super::table::FoldKeys;
use crate::base::Result;

/// What is known of a shader's compile or a program's link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Nothing: it may never have been tried, or have failed, or be forgotten.
    Unknown,
    /// It has succeeded before.
    Succeeded,
}

/// So many shaders that no cached program uses are remembered; with more, all of those are forgotten.
const MOST_UNUSED: usize = 1 << 16;

/// Shaders that have compiled, and by how many cached programs each is used. 0: it compiled, and no program that was
/// linked from it has been cached since.
#[derive(Default)]
pub(super) struct Statuses {
    programs_of: HashMap<Key, u32, FoldKeys>,
    /// Those with 0.
    unused: usize,
}

impl Statuses {
    pub fn status(&self, shader: &Key) -> Status {
        if self.programs_of.contains_key(shader) { Status::Succeeded } else { Status::Unknown }
    }

    /// How many cached programs use the shader.
    pub fn programs(&self, shader: &Key) -> u32 {
        self.programs_of.get(shader).copied().unwrap_or(0)
    }

    /// Shaders of which something is known.
    pub fn len(&self) -> usize {
        self.programs_of.len()
    }

    /// The shader has compiled.
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

    /// Make room, so that the next [`linked`](Self::linked) with so many shaders cannot fail.
    pub fn reserve(&mut self, shaders: usize) -> Result<()> {
        Ok(self.programs_of.try_reserve(shaders)?)
    }

    /// A program that was linked from these shaders is cached now.
    pub fn linked(&mut self, shaders: &[Key]) {
        for shader in shaders {
            let programs = self.programs_of.entry(*shader).and_modify(|programs| {
                self.unused -= usize::from(*programs == 0);
                *programs += 1;
            });
            programs.or_insert(1);
        }
    }

    /// A program that was linked from these shaders is no longer cached: what it alone used is forgotten.
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

    /// Forget all.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    pub fn memory_used(&self) -> usize {
        self.programs_of.capacity() * (size_of::<(Key, u32)>() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shaders_that_no_program_uses_do_not_pile_up() {
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
