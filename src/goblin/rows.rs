//! Rows of a room's state, one for each setting, by its position.

use std::ops::{Index, IndexMut};

use crate::base::Result;

/// A list that grows with the positions of settings. A position without a setting has a row that nothing reads.
#[derive(Debug)]
pub struct Rows<T>(Vec<T>);

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Default> Rows<T> {
    /// Reserve memory for a position.
    pub fn reserve(&mut self, position: usize) -> Result<()> {
        Ok(self.0.try_reserve((position + 1).saturating_sub(self.0.len()))?)
    }

    /// Set the row of a position that was reserved.
    pub fn set(&mut self, position: usize, row: T) {
        while self.0.len() <= position {
            self.0.push(T::default());
        }
        self.0[position] = row;
    }

    /// Bytes held, without those of single rows.
    pub fn memory_used(&self) -> usize {
        self.0.capacity() * size_of::<T>()
    }
}

impl<T> Index<usize> for Rows<T> {
    type Output = T;

    fn index(&self, position: usize) -> &T {
        &self.0[position]
    }
}

impl<T> IndexMut<usize> for Rows<T> {
    fn index_mut(&mut self, position: usize) -> &mut T {
        &mut self.0[position]
    }
}
