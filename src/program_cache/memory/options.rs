//! Options of the memory tier.

/// Which programs are evicted first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// The least recently used program. The limit holds to the byte.
    LeastRecentlyUsed,
    /// The program with the least build time per byte, weighted by its number of uses. Earlier uses count less.
    #[default]
    CostAware,
    /// The most recently used program of the least recently used group.
    Groups,
}

/// The bytes of an entry that the limit counts. An empty program counts as one byte, so that every limit bounds the number
/// of programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counted {
    /// Key, data, reflection and the keys of the stages.
    #[default]
    KeyAndValue,
    /// Only the data, as in Chromium.
    Data,
}

/// Memory pressure on the machine. It limits memory until the next report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pressure {
    /// No pressure: the limit is [`Options::limit_bytes`].
    None,
    /// The limit is a quarter of [`Options::limit_bytes`].
    Moderate,
    /// All programs are evicted with their statuses, and memory keeps only the program that was stored last. The disk keeps
    /// its programs.
    Critical,
}

/// Limits and policies. Existing caches differ in these, so each is an option.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Limit in bytes. 0 keeps nothing. Default: 64 MiB.
    pub limit_bytes: u64,
    /// Which programs are evicted first. Default: [`Policy::CostAware`].
    pub policy: Policy,
    /// The bytes that the limit counts. Default: [`Counted::KeyAndValue`].
    pub counted: Counted,
    /// Store an entry of exactly the limit. Default: true.
    pub store_at_limit: bool,
    /// A put that is too large keeps the old program of its key. Default: true.
    pub oversized_keeps_old: bool,
    /// Store programs without data. Default: true.
    pub store_empty: bool,
    /// A second put of a key replaces the first. Otherwise it is refused. Default: true.
    pub last_put_wins: bool,
    /// Evict programs of the start-up set after all others. Default: false.
    pub start_up_set_last: bool,
    /// The number of keys whose inputs are remembered for [`why_missed`](super::Memory::why_missed). Default: 0.
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
