//! Frames over budget during warm-up, against fixed batches.

use super::simulation::warm_up::{HeadRoom, best_batch, fixed_batches, warm_up_all};
use crate::testing::scaled;

#[test]
fn budget_of_the_head_room_keeps_frames_inside_their_budget() {
    let seeds = 1..1 + u64::from(scaled(3));
    let governed = warm_up_all(seeds.clone(), HeadRoom::default);
    let (size, batch) = best_batch(&governed, &fixed_batches(seeds));
    assert!(governed.over_share() <= 0.02, "{governed:?}");
    assert!(5.0 * governed.over_share() <= batch.over_share(), "{governed:?}, best fixed batch {size:?}: {batch:?}");
}
