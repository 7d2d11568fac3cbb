//! After warm-up the knapsack does not allocate.

use crate::knapsack::{Candidate, Economy, Effort, Knapsack};
use crate::testing::allocator::allocations;

/// One frame. The costs of the options differ each time, the number of options does not.
fn frame(knapsack: &mut Knapsack, frame: usize, effort: Effort) {
    let mut options = [Candidate::default(); 4];
    knapsack.clear();
    for setting in 0..50 {
        for (level, option) in options.iter_mut().enumerate() {
            let jitter = ((frame * 31 + setting * 17 + level * 7) % 101) as f64 / 101.0;
            option.mean = level as f64 * (1.0 + jitter);
            option.variance = 0.1 * option.mean * jitter;
            option.value = level as f64 * (2.0 - jitter);
        }
        // In every third setting value equals weight, so bounds cannot prune its options.
        if setting % 3 == 0 {
            options.iter_mut().for_each(|option| option.value = option.mean);
        }
        knapsack.add_setting(&options).expect("valid options");
    }
    let economy = Economy { capacity: 60.0 + (frame % 50) as f64, sigmas: (frame % 4) as f64 };
    let solution = knapsack.solve(economy, effort).expect("a solution");
    assert!(solution.feasible && knapsack.choices().len() == 50);
}

/// Up to this node limit there is no allocation at all.
const IN_A_FRAME: Effort = Effort { accepted_gap: 0.0, node_limit: 4096 };

#[test]
fn frames_after_reserve_do_not_allocate() {
    let mut knapsack = Knapsack::new();
    knapsack.reserve(50, 200).expect("memory");
    assert_eq!(allocations(|| (0..200).for_each(|i| frame(&mut knapsack, i, IN_A_FRAME))), 0);
}

#[test]
fn later_frames_of_the_same_shape_do_not_allocate() {
    let mut knapsack = Knapsack::new();
    frame(&mut knapsack, 0, IN_A_FRAME);
    assert_eq!(allocations(|| (0..200).for_each(|i| frame(&mut knapsack, i, IN_A_FRAME))), 0);
}

/// Subset sums in steps too fine to be met exactly. The search uses lists up to the node limit.
fn hopeless_frame(knapsack: &mut Knapsack, frame: usize, effort: Effort) {
    knapsack.clear();
    for setting in 0..50 {
        let weight = |level: usize| ((level + 1) as f64 + (frame * 50 + setting * 4 + level) as f64).sqrt();
        let options: [Candidate; 4] =
            std::array::from_fn(|level| Candidate { value: weight(level), mean: weight(level), variance: 0.0 });
        knapsack.add_setting(&options).expect("valid options");
    }
    let middle = (0..50).map(|setting| ((frame * 50 + setting * 4 + 3) as f64).sqrt()).sum();
    knapsack.solve(Economy { capacity: middle, sigmas: 0.0 }, effort).expect("a solution");
}

#[test]
fn hard_frames_with_a_node_limit_up_to_4096_do_not_allocate() {
    let mut knapsack = Knapsack::new();
    knapsack.reserve(50, 200).expect("memory");
    assert_eq!(allocations(|| (0..20).for_each(|i| hopeless_frame(&mut knapsack, i, IN_A_FRAME))), 0);
}

#[test]
fn empty_knapsack_and_invalid_input_hold_no_memory() {
    let wrong = [Candidate { value: f64::NAN, mean: 0.0, variance: 0.0 }];
    let work = || {
        let mut knapsack = Knapsack::new();
        assert!(knapsack.add_setting(&wrong).is_err());
        assert!(knapsack.solve(Economy { capacity: f64::NAN, sigmas: 0.0 }, Effort::default()).is_err());
        assert_eq!(knapsack.memory_used(), 0);
    };
    // The two error messages.
    assert_eq!(allocations(work), 2);
    assert_eq!(allocations(|| _ = Knapsack::new()), 0);
}
