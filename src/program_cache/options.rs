//! How a cache behaves where there is more than one good answer.

/// Which programs go first when room is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// The least recently used one, to the byte.
    LeastRecentlyUsed,
    /// The one whose loss costs the least compile time for the room it gives back, by measured build cost and by how often
    /// it was used; uses of long ago count less.
    #[default]
    CostAware,
    /// The most recently used one of the least recently used group.
    Groups,
}

/// Which bytes of an entry the limit counts. What is stored empty counts as one byte, so that there is an end to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counted {
    /// Key, data, reflection and the keys of the stages.
    #[default]
    KeyAndValue,
    /// The data alone, as Chromium does.
    Data,
}

/// How much memory the rest of the machine is short of; what a cache does about it once, when it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pressure {
    /// Not at all: nothing changes.
    None,
    /// Somewhat: a quarter of the limit is kept.
    Moderate,
    /// Badly: nothing is kept. What the disk has stays there, and statuses go with the programs.
    Critical,
}

/// Limits and policies. Systems contradict each other in these, so each can be chosen; the defaults are ours.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Bytes kept at most. 0 keeps nothing.
    pub limit_bytes: u64,
    /// Which programs go first.
    pub policy: Policy,
    /// What the limit counts.
    pub counted: Counted,
    /// Whether an entry that takes exactly the limit is stored.
    pub store_at_limit: bool,
    /// Whether a put that is too large leaves what the key had before, rather than nothing.
    pub oversized_keeps_old: bool,
    /// Whether a program without data is stored.
    pub store_empty: bool,
    /// Whether a second put of a key replaces the first, rather than being refused.
    pub last_put_wins: bool,
    /// Whether programs of the start-up set are evicted only after all others.
    pub start_up_set_last: bool,
    /// Of how many keys the parts are remembered for [`why_missed`](super::ProgramCache::why_missed). 0 is none.
    pub described_keys: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            limit_bytes: 64 << 20,
            policy: Policy::CostAware,
            counted: Counted::KeyAndValue,
            store_at_limit: true,
            oversized_keeps_old: true,
            store_empty: true,
            last_put_wins: true,
            start_up_set_last: false,
            described_keys: 0,
        }
    }
}
