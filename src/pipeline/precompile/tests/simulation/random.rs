//! Random numbers that are the same on every machine: Steele, Lea and Flood's SplitMix64.

/// A generator; its seed is its state.
pub struct Random(pub u64);

impl Random {
    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to 1.
    pub fn share(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// True with this probability.
    pub fn chance(&mut self, share: f64) -> bool {
        self.share() < share
    }

    /// Nearly normal, with mean 0 and deviation 1: the sum of twelve numbers.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.share()).sum::<f64>() - 6.0
    }

    /// A whole number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        self.bits() as usize % limit
    }

    /// Puts the elements in random order.
    pub fn shuffle<T>(&mut self, elements: &mut [T]) {
        (1..elements.len()).rev().for_each(|place| elements.swap(place, self.below(place + 1)));
    }
}
