//! The rows of the report.

use crate::governor::Player;
use crate::oracle::Asked;
use crate::run::{Event, Row};
use crate::workload::Noise;

/// How long to simulate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    Quick,
    Usual,
    Full,
}

impl Length {
    /// Frames of a row whose target asks for so many.
    fn frames(self, usual: usize, full: usize) -> usize {
        match self {
            Self::Quick => usual.min(4096),
            Self::Usual => usual,
            Self::Full => full,
        }
    }
}

/// All rows.
pub fn rows(length: Length) -> Vec<Row> {
    use Player::{Goblin, Impatient, Original, Threshold};
    let four = Asked::Sigmas(4.0);
    let percent = Asked::Probability(0.01);
    let long = length.frames(65_536, 65_536);
    let medium = length.frames(32_768, 65_536);
    let short = length.frames(16_384, 65_536);
    let row = |name, player, noise, asked, frames| Row { name, player, noise, asked, event: Event::Nothing, frames };
    let with = |event, row: Row| Row { event, ..row };
    let (from, to) = if length == Length::Quick { (4000, 5000) } else { (20_000, 24_000) };
    let step = Event::Step { from, to, slowness: 1.3 };
    let after_step = to + 2000;
    let totals = length.frames(8192, 65_536).max(8192);
    vec![
        row("iid-4s", Goblin, Noise::Iid, four, long),
        row("iid-4s-patience0", Impatient, Noise::Iid, four, long),
        row("iid-1%", Goblin, Noise::Iid, percent, medium),
        row("ar1-1%", Goblin, Noise::Ar1, percent, medium),
        row("spikes-1%", Goblin, Noise::Spikes, percent, medium),
        row("student-1%", Goblin, Noise::Student, percent, medium),
        row("common-1%", Goblin, Noise::Common, percent, medium),
        row("common-ar1-1%", Goblin, Noise::CommonAr1, percent, medium),
        with(step, row("step-4s", Goblin, Noise::Iid, four, after_step)),
        with(step, row("step-1%", Goblin, Noise::Iid, percent, after_step)),
        with(Event::Past { slowness: 0.5 }, row("past-x0.5", Goblin, Noise::Iid, four, 1024)),
        with(Event::Past { slowness: 2.0 }, row("past-x2", Goblin, Noise::Iid, four, 1024)),
        with(Event::TotalsOnly, row("totals-4s", Goblin, Noise::Iid, four, totals)),
        with(Event::TotalsOnly, row("totals-1%", Goblin, Noise::Iid, percent, totals)),
        row("iid-4s original", Original, Noise::Iid, four, short),
        row("common-1% original", Original, Noise::Common, percent, short),
        with(step, row("step-4s original", Original, Noise::Iid, four, after_step)),
        row("iid-4s threshold", Threshold, Noise::Iid, four, short),
        row("common-1% threshold", Threshold, Noise::Common, percent, short),
        with(step, row("step-4s threshold", Threshold, Noise::Iid, four, after_step)),
    ]
}
