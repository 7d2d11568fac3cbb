//! The constants of the room. `cargo test --lib -- balance --nocapture` prints the losses and the times to find a better
//! strategy that set them.

/// Longest duration, in seconds: an hour. A longer one comes of a stopped process or a wrong clock.
pub const LONGEST_SECONDS: f64 = 3600.0;
/// Another strategy replaces the present one if it is faster by this share. Strategies that are equally fast would
/// otherwise alternate with each duration.
pub const MARGIN: f64 = 0.01;
/// A strategy that was never measured is tried as if it took longer by this many durations of the fastest one.
pub const UNKNOWN: f64 = 1.0;
/// Decisions between two trials of a strategy that costs nothing to try.
pub const SPACING: f64 = 10.0;
/// Trials that follow a surprise at once, on credit.
pub const LOOKS: u32 = 3;
/// A strategy that lost its place is tried this many decisions later, on credit.
pub const LATER: [u64; 2] = [4, 16];
/// Most that such a trial takes longer, in credits.
pub const LATER_CREDIT: f64 = 2.0;
/// Most credit of a strategy, in durations of the fastest one.
pub const CREDIT: f64 = 12.0;

/// Most durations that a mean remembers. 200 to 1,000 lose the same; a longer memory finds slow drifts later.
pub const MEMORY: f64 = 300.0;
/// Durations before a change can be seen: fewer have no deviation.
pub const SETTLED: u64 = 4;
/// Before that, a duration of less than this share of the mean replaces it: the ones before had a hitch. Nothing makes
/// work much shorter by chance.
pub const HITCH: f64 = 0.5;
/// A change may have been a hitch if the mean before it was less than this share of the mean since: see `ends_hitch`.
pub const LONGER: f64 = 0.75;
/// Least deviation, as a share of the mean: clocks and caches are never steadier.
pub const LEAST_DEVIATION: f64 = 0.03;
/// A deviation before it is known, as a share of the mean, and how many durations it counts as.
pub const USUAL_DEVIATION: f64 = 0.15;
pub const USUAL_WEIGHT: f64 = 4.0;
/// A duration counts as at most this many deviations from the mean, so that one hitch is no change.
pub const MOST_DEVIATIONS: f64 = 4.0;
/// It counts as at most this share more than the mean. The rest is the tail. 0.8 loses 4.7 % in a rhythm of pieces, but 16.9 %
/// where pieces are wildly different. 2.5 loses 7.2 and 8.7 %, 1.5 loses 4.9 and 9.8 %.
pub const BEYOND: f64 = 1.5;
/// Most durations that a tail remembers, and how many it counts as having been without one.
pub const TAIL_MEMORY: f64 = 2000.0;
pub const TAIL_UNKNOWN: f64 = 50.0;
/// Deviations that are forgiven at each duration: half of the least change that matters.
pub const SLACK: f64 = 0.5;
/// Sum of deviations that is a change. Noise without a change reaches it about once in 10,000 durations.
pub const CHANGE: f64 = 10.4;
/// Deviations of one duration that are a surprise: worth another look.
pub const SURPRISE: f64 = 2.5;
