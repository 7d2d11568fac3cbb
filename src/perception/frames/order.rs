//! The order in which the rows of a tile or a region are compared: the compare ends at the first row that differs.
//!
//! Source: the four orders, and their choice by profile, are from "High Framerate Perception". The measure is a count of
//! rows, not time: equal frames give equal orders.

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

/// All orders.
pub const ORDERS: [Order; 4] = [Order::TopDown, Order::EndsIn, Order::MiddleOut, Order::BitReversed];

/// The rows below `rows` in an order.
pub(super) fn rows_in(order: Order, rows: usize) -> impl Iterator<Item = usize> {
    let steps = if order == Order::BitReversed { rows.next_power_of_two() } else { rows };
    let unused = (steps.leading_zeros() + 1) % usize::BITS;
    let ends_in = move |step: usize| if step.is_multiple_of(2) { step / 2 } else { rows - 1 - step / 2 };
    let row = move |step: usize| match order {
        Order::TopDown => step,
        Order::EndsIn => ends_in(step),
        Order::MiddleOut => ends_in(rows - 1 - step),
        Order::BitReversed => step.reverse_bits() >> unused & (steps - 1),
    };
    (0..steps).map(row).filter(move |&row| row < rows)
}

/// One frame in so many tries an order that is not the best one.
const EXPLORE_EVERY: u64 = 32;
/// Weight of the past when a frame is observed.
const DECAY: f64 = 0.9;

/// What one order needed.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    frames: u64,
    /// Decayed sums: differences that were found, and rows that were compared to find them.
    found: f64,
    rows: f64,
}

/// Chooses an order by the rows that it took to find a difference.
#[derive(Debug, Default)]
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
