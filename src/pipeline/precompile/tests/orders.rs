//! The predicted order against the others, on traces that visit areas in another order than the recordings.

use super::Order;
use super::simulation::{orders::play, trace::Game};
use crate::testing::scaled;

#[test]
fn predicted_order_has_fewer_unready_first_uses_than_the_others() {
    let orders = [Order::Predicted, Order::File, Order::FirstToLatestUsed, Order::MostToLeastUsed, Order::UsageMask];
    let mut unready = [0; 5];
    let mut work = [0; 5];
    for seed in 0..scaled(2) {
        let game = Game::new(1000 + u64::from(seed));
        for (at, order) in orders.into_iter().enumerate() {
            let played = play(&game, order);
            unready[at] += played.unready;
            work[at] += played.work_us;
        }
    }
    assert!(unready[1..].iter().all(|&other| 2 * other >= 3 * unready[0]), "{orders:?}: {unready:?}");
    assert!(work.iter().all(|&other| other.abs_diff(work[0]) * 50 < work[0]), "the same amount of work: {work:?}");
}

#[test]
fn same_play_through_has_the_same_order() {
    let game = Game::new(77);
    assert_eq!(play(&game, Order::Predicted), play(&game, Order::Predicted));
}
