//! The value of a use as time passes, for the cost-aware policy.
//!
//! The rank of a program is the build time that its uses saved, per byte, halved for every half-life since the last use.
//! This is Greedy-Dual-Size-Frequency (L. Cherkasova, "Improving WWW Proxies Performance with Greedy-Dual-Size-Frequency
//! Caching Policy", 1998) with an age that multiplies instead of adding. In logarithms it is `age at the last use +
//! log2(uses · cost / size)`, with a half-life as the unit of age. Time is measured in fillings of the cache by programs
//! that were missed. Without misses, nothing fades.
//!
//! The best half-life depends on the host. A game that builds its programs in the same order at every start needs a long
//! one: pure recency evicts each program just before it is asked for again. A game that moves from level to level needs a
//! short one. So evicted programs are remembered for a while, as in ARC (N. Megiddo and D. Modha, "ARC: A Self-Tuning, Low
//! Overhead Replacement Cache", 2003). A program that is put again soon after its last use makes the half-life shorter,
//! because recency would have kept it. One that is put again late makes it longer. Its earlier uses are restored.

use std::collections::{HashMap, VecDeque};

use crate::program_cache::key::{FoldKeys, Key};

/// Fillings of the cache after the last use. Within these, a program that is put again should have been kept by recency.
const SOON: f64 = 1.5;
/// Change of the logarithm of the half-life after as many programs as are cached have been put again.
const STEP: f64 = 3.0;
/// First, least and greatest logarithm of the half-life, in fillings of the cache.
const FIRST: f64 = 2.0;
const LEAST: f64 = -4.0;
const MOST: f64 = 6.0;
/// Evicted programs that are remembered for each cached one, and at least.
const REMEMBERED: usize = 2;
const FEW: usize = 16;
/// Makes ranks positive: a program of 2^64 bytes and 1 microsecond, used once at age 0, has a value of -64.
const LEAST_VALUE: f64 = 64.0;

/// An evicted program.
#[derive(Clone, Copy)]
struct Evicted {
    uses: u32,
    last_use: f64,
    /// Distinguishes it from earlier evictions of the key in the queue.
    turn: u64,
}

/// The age of the cache in half-lives, and the programs that were evicted last.
pub struct Fading {
    age: f64,
    /// The logarithm of the half-life.
    half_life: f64,
    evicted: HashMap<Key, Evicted, FoldKeys>,
    queue: VecDeque<(u64, Key)>,
    turn: u64,
}

/// The rank of a program; the least is evicted first.
pub fn rank(uses: u32, last_use: f64, cost_us: u64, size: u64) -> u64 {
    let saved = f64::from(uses.max(1)) * cost_us.max(1) as f64;
    let rank = LEAST_VALUE + last_use + (saved / size as f64).log2();
    // Non-negative doubles sort as their bits do.
    rank.max(0.0).to_bits()
}

impl Default for Fading {
    fn default() -> Self {
        Self { age: 0.0, half_life: FIRST, evicted: HashMap::default(), queue: VecDeque::new(), turn: 0 }
    }
}

impl Fading {
    /// Half-lives since the beginning.
    pub fn age(&self) -> f64 {
        self.age
    }

    /// Record the put of a missed program: its share of the cache, and the number of cached programs. Returns its uses
    /// before it was evicted, if they are remembered.
    pub fn put_missed(&mut self, key: &Key, share: f64, entries: usize) -> u32 {
        let evicted = self.evicted.remove(key);
        if let Some(evicted) = evicted {
            let fillings = (self.age - evicted.last_use) * self.half_life.exp2();
            let step = STEP / entries.max(1) as f64;
            let step = if fillings < SOON { -step } else { step };
            self.half_life = (self.half_life + step).clamp(LEAST, MOST);
        }
        self.age += share * (-self.half_life).exp2();
        evicted.map_or(0, |evicted| evicted.uses)
    }

    /// Remember an evicted program; `entries` remain. Without memory for it, it is forgotten.
    pub fn evict(&mut self, key: &Key, uses: u32, last_use: f64, entries: usize) {
        if self.evicted.try_reserve(1).is_ok() && self.queue.try_reserve(1).is_ok() {
            self.turn += 1;
            self.evicted.insert(*key, Evicted { uses, last_use, turn: self.turn });
            self.queue.push_back((self.turn, *key));
        }
        let most = FEW.max(REMEMBERED * entries);
        // Programs that were put again are still in the queue.
        while self.evicted.len() > most || self.queue.len() > 2 * most {
            let Some((turn, key)) = self.queue.pop_front() else { return };
            if self.evicted.get(&key).is_some_and(|evicted| evicted.turn == turn) {
                self.evicted.remove(&key);
            }
        }
    }

    /// Forget the evicted programs. The age and the half-life stay.
    pub fn clear(&mut self) {
        self.evicted = HashMap::default();
        self.queue = VecDeque::new();
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        self.evicted.capacity() * (size_of::<(Key, Evicted)>() + 1) + self.queue.capacity() * size_of::<(u64, Key)>()
    }
}
