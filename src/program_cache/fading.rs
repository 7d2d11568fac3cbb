//! What a use is worth as time goes by, for the cost-aware policy.
//!
//! The rank of a program is the build time that its uses saved, per byte, halved for every half-life since the last use:
//! Greedy-Dual-Size-Frequency (L. Cherkasova, "Improving WWW Proxies Performance with Greedy-Dual-Size-Frequency Caching
//! Policy", 1998) with an age that multiplies where theirs adds. In logarithms: `age at the last use + log2(uses · cost /
//! size)`, where a half-life is an age of one. Time is what had to be put because it was missed, in fillings of the cache;
//! while all is found nothing fades.
//!
//! How long a half-life should be is for the host's habits to say. A game that builds its programs in the same order at
//! every start wants a long one: whoever keeps what was used last has thrown all away before it comes again. One that moves
//! on from level to level wants a short one. So programs that went are remembered for a while, as ARC does (N. Megiddo and D.
//! Modha, "ARC: A Self-Tuning, Low Overhead Replacement Cache", 2003): one that is put again soon after its last use
//! should have been kept by being recent, and makes the half-life shorter; one that is put again late makes it longer. The
//! uses that it had are not forgotten either.

use std::collections::{HashMap, VecDeque};

use super::Key;
use super::table::FoldKeys;

/// Fillings of the cache after the last use until which a program put again should have been kept by being recent.
const SOON: f64 = 1.5;
/// By what the logarithm of the half-life changes when as many programs as are cached have been put again.
const STEP: f64 = 3.0;
/// Logarithms of half-lives, in fillings of the cache.
const FIRST: f64 = 2.0;
const LEAST: f64 = -4.0;
const MOST: f64 = 6.0;
/// Programs remembered for each one cached, and in any case.
const REMEMBERED: usize = 2;
const FEW: usize = 16;
/// Makes ranks positive: a program of 2^64 bytes that cost a microsecond, used once at age 0, has none.
const LEAST_VALUE: f64 = 64.0;

/// A program that went.
#[derive(Clone, Copy)]
struct Gone {
    uses: u32,
    last_use: f64,
    /// Tells it from what the queue says of its key from earlier.
    turn: u64,
}

pub(super) struct Fading {
    /// Half-lives since the beginning.
    age: f64,
    /// The logarithm of the half-life.
    half_life: f64,
    gone: HashMap<Key, Gone, FoldKeys>,
    queue: VecDeque<(u64, Key)>,
    turn: u64,
}

/// Least goes first.
pub(super) fn rank(uses: u32, last_use: f64, cost_us: u64, size: u64) -> u64 {
    let saved = f64::from(uses.max(1)) * cost_us.max(1) as f64;
    let rank = LEAST_VALUE + last_use + (saved / size as f64).log2();
    // Doubles that are not negative are ordered as their bits are.
    rank.max(0.0).to_bits()
}

impl Default for Fading {
    fn default() -> Self {
        Self { age: 0.0, half_life: FIRST, gone: HashMap::default(), queue: VecDeque::new(), turn: 0 }
    }
}

impl Fading {
    pub fn age(&self) -> f64 {
        self.age
    }

    /// A program that was missed is put, which takes this share of the cache, beside so many others; how often it was used
    /// before it went, if that is remembered.
    pub fn came(&mut self, key: &Key, share: f64, entries: usize) -> u32 {
        let gone = self.gone.remove(key);
        if let Some(gone) = gone {
            let fillings = (self.age - gone.last_use) * self.half_life.exp2();
            let step = STEP / entries.max(1) as f64;
            let step = if fillings < SOON { -step } else { step };
            self.half_life = (self.half_life + step).clamp(LEAST, MOST);
        }
        self.age += share * (-self.half_life).exp2();
        gone.map_or(0, |gone| gone.uses)
    }

    /// A program went to make room, and so many are left. Where there is no memory for it, it is forgotten.
    pub fn went(&mut self, key: &Key, uses: u32, last_use: f64, entries: usize) {
        if self.gone.try_reserve(1).is_ok() && self.queue.try_reserve(1).is_ok() {
            self.turn += 1;
            self.gone.insert(*key, Gone { uses, last_use, turn: self.turn });
            self.queue.push_back((self.turn, *key));
        }
        let most = FEW.max(REMEMBERED * entries);
        // Those that came back are still in the queue.
        while self.gone.len() > most || self.queue.len() > 2 * most {
            let Some((turn, key)) = self.queue.pop_front() else { return };
            if self.gone.get(&key).is_some_and(|gone| gone.turn == turn) {
                self.gone.remove(&key);
            }
        }
    }

    /// Forget who went. What was learned of the host's habits stays.
    pub fn clear(&mut self) {
        self.gone = HashMap::default();
        self.queue = VecDeque::new();
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        self.gone.capacity() * (size_of::<(Key, Gone)>() + 1) + self.queue.capacity() * size_of::<(u64, Key)>()
    }
}
