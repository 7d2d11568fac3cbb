//! The rows of the report.

use crate::governor::Player;
use crate::oracle::Asked;
use crate::run::{Event, Row};
use crate::workload::Noise;

/// The length of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    Quick,
    Usual,
    Full,
}

impl Length {
    /// Frames of a row.
    fn frames(self, usual: usize) -> usize {
        match self {
            Self::Quick => usual.min(4096),
            Self::Usual => usual,
            Self::Full => 65_536,
        }
    }

    /// First frame of the slowdown, and first frame after it.
    fn step(self) -> (usize, usize) {
        if self == Self::Quick { (4000, 5000) } else { (20_000, 24_000) }
    }
}

/// All rows: first those that the targets judge, then the goblin's peers.
pub fn rows(length: Length) -> Vec<Row> {
    let four = Asked::Sigmas(4.0);
    let percent = Asked::Probability(0.01);
    let (from, to) = length.step();
    let step = Event::Step { from, to, slowness: 1.3 };
    let row = |name: &str, noise, asked, event, frames| Row {
        name: name.to_string(),
        player: Player::Goblin,
        noise,
        asked,
        event,
        frames,
    };
    let plain = |name, noise, asked, usual| row(name, noise, asked, Event::Nothing, length.frames(usual));
    let stepping = |name, asked| row(name, Noise::Iid, asked, step, to + 2000);
    let past = |name, slowness| row(name, Noise::Iid, four, Event::Past { slowness }, 1024);
    let totals = |name, asked| row(name, Noise::Iid, asked, Event::TotalsOnly, length.frames(8192).max(8192));
    let mut rows = vec![
        plain("iid-4s", Noise::Iid, four, 65_536),
        Row { player: Player::Impatient, ..plain("iid-4s-patience0", Noise::Iid, four, 65_536) },
        plain("iid-1%", Noise::Iid, percent, 32_768),
        plain("ar1-1%", Noise::Ar1, percent, 32_768),
        plain("spikes-1%", Noise::Spikes, percent, 32_768),
        plain("student-1%", Noise::Student, percent, 32_768),
        plain("common-1%", Noise::Common, percent, 32_768),
        plain("common-ar1-1%", Noise::CommonAr1, percent, 32_768),
        stepping("step-4s", four),
        stepping("step-1%", percent),
        past("past-x0.5", 0.5),
        past("past-x2", 2.0),
        totals("totals-4s", four),
        totals("totals-1%", percent),
    ];
    let shown = ["iid-4s", "iid-1%", "spikes-1%", "common-1%", "step-4s"];
    for player in [Player::Original, Player::Threshold] {
        let judged = |row: &&Row| row.player == Player::Goblin && !matches!(row.event, Event::TotalsOnly);
        let of_player = rows.iter().filter(judged).filter(|row| shown.contains(&&*row.name) || length == Length::Full);
        let of_player: Vec<Row> = of_player.map(|row| peer(row, player, length)).collect();
        rows.extend(of_player);
    }
    rows
}

/// The same row with another player. It is only shown, so a few frames suffice.
fn peer(row: &Row, player: Player, length: Length) -> Row {
    let name = format!("{} {}", row.name, if player == Player::Original { "original" } else { "threshold" });
    let frames = match row.event {
        Event::Nothing => row.frames.min(length.frames(8192)),
        _ => row.frames,
    };
    Row { name, player, frames, ..row.clone() }
}
