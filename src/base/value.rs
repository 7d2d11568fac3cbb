//! Values whose meaning is the host's.

/// 16 bytes whose meaning is the host's. Larger data is a handle of the host in these bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Value(pub [u64; 2]);

impl Value {
    /// A value with an `f64` in its first half.
    pub fn number(number: f64) -> Self {
        Self([number.to_bits(), 0])
    }

    /// The `f64` in the first half.
    pub fn as_number(self) -> f64 {
        f64::from_bits(self.0[0])
    }
}
