//! Random graphs, edits and failures against a model: values and counts of runs.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use super::model::{Pair, Random};
use super::*;
use crate::testing::scaled;

/// Returns the number of runs that brought values back.
fn run_case(seed: u64, executors: &[Executor]) -> u64 {
    let random = &mut Random(seed);
    let mut pair = Pair::new(random);
    if random.chance(50) {
        pair.graph.threads.split_everything();
    }
    pair.graph.guess.is_fixed = random.chance(50);
    let fixed = random.chance(50).then(|| random.pick(&EVALUATORS).unwrap());
    for frame in 1..24 {
        for _ in 0..random.below(4) {
            match random.below(100) {
                0..50 => pair.edit(random),
                50..52 if pair.limit != u64::MAX => pair.set_limit(random),
                _ => pair.set_any(random),
            }
        }
        if random.chance(50) {
            executors.iter().for_each(|executor| _ = executor.pump(Duration::MAX).unwrap());
        }
        let tick = random.below(3) as u64;
        pair.tick.store(tick, Relaxed);
        if random.chance(30) {
            pair.evaluate_any(random, &format!("seed {seed}, before frame {frame}"));
        }
        pair.model.evaluate(tick);
        let is_cut = random.chance(20);
        loop {
            let evaluator = fixed.unwrap_or_else(|| random.pick(&EVALUATORS).unwrap());
            let node_limit = if is_cut { 1 + random.below(3) as u64 } else { u64::MAX };
            let executor = &executors[random.below(executors.len())];
            if random.chance(10) {
                pair.graph.canceller().cancel();
            }
            let summary = pair.graph.evaluate(executor, Evaluation { evaluator, node_limit, only: None }).unwrap();
            assert!(summary.evaluated <= node_limit, "seed {seed}, frame {frame}");
            if summary.is_complete {
                break;
            }
            if random.chance(30) {
                pair.evaluate_within_frame(random);
            }
        }
        let about = format!("seed {seed}, frame {frame}");
        pair.compare(&about);
        pair.note_releases(&about);
    }
    pair.compare_baked(random, executors, seed);
    pair.graph.memo_counts().restores
}

#[test]
fn evaluators_agree_with_a_model_on_random_graphs() {
    let executors: Vec<Executor> = [1, 2, 4, 8].into_iter().map(executor).collect();
    let first: u64 = std::env::var("HOB_GRAPH_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let cases = first..first + u64::from(scaled(2_500));
    let restores: u64 = cases.map(|seed| run_case(seed, &executors)).sum();
    assert!(restores > 100, "{restores} values were released and read again");
}
