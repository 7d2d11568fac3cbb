//! The governed lanes.
//!
//! The host names eight lanes; few of them have a limit. Internally, governed lanes are numbered densely from 0, and
//! every array "by lane" has entries for these only. The order is kept, so the first governed lane has the lowest
//! number.

use super::config::LANES;

/// The governed lanes: at least one. Without any limit, lane 0 is learned in case it gets one later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes {
    lanes: [u8; LANES],
    count: u8,
}

impl Lanes {
    /// The lanes for which `is_limited` is true.
    pub fn limited(is_limited: impl Fn(usize) -> bool) -> Self {
        let mut found = Self { lanes: [0; LANES], count: 0 };
        for lane in (0..LANES).filter(|&lane| is_limited(lane)) {
            found.lanes[usize::from(found.count)] = lane as u8;
            found.count += 1;
        }
        found.count = found.count.max(1);
        found
    }

    /// Number of governed lanes.
    pub fn count(&self) -> usize {
        usize::from(self.count)
    }

    /// The host's number of a governed lane.
    pub fn lane(&self, index: usize) -> usize {
        usize::from(self.lanes[..self.count()][index])
    }

    /// The host's numbers in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.lanes[..self.count()].iter().map(|&lane| usize::from(lane))
    }

    /// Index of the host's lane among the governed ones.
    pub fn index(&self, lane: usize) -> Option<usize> {
        self.iter().position(|governed| governed == lane)
    }
}

/// Expand an array by governed lane to the host's lanes; other lanes get `T::default()`.
pub fn by_host_lane<T: Copy + Default>(lanes: &Lanes, governed: &[T]) -> [T; LANES] {
    let mut all = [T::default(); LANES];
    lanes.iter().zip(governed).for_each(|(lane, &value)| all[lane] = value);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn governed_lanes_are_numbered_densely() {
        let lanes = Lanes::limited(|lane| lane == 1 || lane == 4);
        assert_eq!((lanes.count(), lanes.lane(0), lanes.lane(1)), (2, 1, 4));
        assert_eq!((lanes.index(4), lanes.index(0)), (Some(1), None));
        assert_eq!(by_host_lane(&lanes, &[7, 9]), [0, 7, 0, 0, 9, 0, 0, 0]);
        assert_eq!(Lanes::limited(|_| false).iter().collect::<Vec<_>>(), [0]);
    }
}
