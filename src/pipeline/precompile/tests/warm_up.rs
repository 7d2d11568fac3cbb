//! Frames over budget during warm-up, against fixed batches.

use super::simulation::warm_up::{best_batch, compare};
use crate::testing::scaled;

#[test]
fn budget_of_the_head_room_keeps_frames_inside_their_budget() {
    let (goblin, batches) = compare(1..1 + u64::from(scaled(3)));
    let (size, batch) = best_batch(&goblin, &batches);
    println!("{goblin:?} {size:?} {batch:?}");
    assert!(goblin.over_share() <= 0.02, "{goblin:?}");
    assert!(
        5.0 * goblin.over_share() <= batch.over_share(),
        "{goblin:?}, best of the fixed batches {size:?}: {batch:?}"
    );
}
