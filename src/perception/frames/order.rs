//! The order in which the rows of a tile are compared: the compare of a tile ends at the first row that differs.
//!
//! Source: the four orders, and their choice by profile, are from "High Framerate Perception". The measure is a count of
//! rows, not time: equal frames give equal orders.

use super::grid::TILE_HEIGHT;

/// An order of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// From the first row to the last.
    #[default]
    TopDown,
    /// The first, the last, the second, and so on to the middle.
    EndsIn,
    /// From the middle to both ends.
    MiddleOut,
    /// By the number of the row with its bits reversed: coarse first, then finer.
    BitReversed,
}

impl Order {
    /// Its name, for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TopDown => "top-down",
            Self::EndsIn => "ends-in",
            Self::MiddleOut => "middle-out",
            Self::BitReversed => "bit-reversed",
        }
    }
}

/// All orders.
pub const ORDERS: [Order; 4] = [Order::TopDown, Order::EndsIn, Order::MiddleOut, Order::BitReversed];

/// By order: the rows of a tile.
const ROWS: [[u8; TILE_HEIGHT]; 4] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [0, 15, 1, 14, 2, 13, 3, 12, 4, 11, 5, 10, 6, 9, 7, 8],
    [8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15, 0],
    [0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15],
];

/// The rows of a tile in an order.
pub(super) fn rows_in(order: Order) -> impl Iterator<Item = usize> {
    ROWS[order as usize].iter().map(|&row| usize::from(row))
}

/// One frame in so many tries an order that is not the best one.
const EXPLORE_EVERY: u64 = 32;
/// Weight of the past when a frame is observed.
const DECAY: f64 = 0.9;

/// The cost of one order.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    frames: u64,
    /// Decayed sums: differences that were found, and rows that were compared to find them.
    found: f64,
    rows: f64,
}

/// Chooses an order by the rows that it took to find a difference.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Chooser {
    records: [Record; 4],
    chosen: u64,
}

impl Chooser {
    /// The order for the next frame.
    pub(super) fn next(&mut self, fixed: Option<Order>) -> Order {
        if let Some(order) = fixed {
            return order;
        }
        self.chosen += 1;
        if self.chosen.is_multiple_of(EXPLORE_EVERY) {
            return ORDERS[(self.chosen / EXPLORE_EVERY % 4) as usize];
        }
        // An order without a record is the best one: it is tried.
        let cost = |record: &Record| if record.found > 0.0 { record.rows / record.found } else { 0.0 };
        let best = (0..4).min_by(|&one, &other| cost(&self.records[one]).total_cmp(&cost(&self.records[other])));
        ORDERS[best.unwrap_or(0)]
    }

    /// Count a frame in which `rows` rows were compared to find `found` differences.
    pub(super) fn record(&mut self, order: Order, found: u64, rows: u64) {
        let record = &mut self.records[order as usize];
        record.frames += 1;
        if found > 0 {
            record.found = record.found * DECAY + found as f64;
            record.rows = record.rows * DECAY + rows as f64;
        }
    }

    /// Frames that were compared in each order.
    pub(super) fn frames(&self) -> [u64; 4] {
        self.records.map(|record| record.frames)
    }
}
