//! The build time that eviction policies save, on a recorded trace of games and on access patterns that are hard for
//! one policy or another.

use std::collections::HashMap;

use crate::program_cache::{Key, Options, Policy, Program};

#[derive(Clone, Copy)]
struct Asked {
    program: u64,
    bytes: usize,
    cost_us: u64,
}

/// The trace in `tests/fixtures`, which `tools/program_trace` made.
fn recorded() -> Vec<Asked> {
    let lines = include_str!("../../../tests/fixtures/programs.txt").lines().filter(|line| !line.starts_with('#'));
    let asked = lines.map(|line| {
        let mut words = line.split(' ').map(|word| word.parse::<u64>().unwrap());
        let mut word = || words.next().unwrap();
        Asked { program: word(), bytes: word() as usize, cost_us: word() }
    });
    asked.collect()
}

fn key(program: u64) -> Key {
    let mut key = Key::default();
    key[..8].copy_from_slice(&program.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes());
    key
}

/// The build time in microseconds that a cache with room for `share` of all programs saves.
fn saved(trace: &[Asked], policy: Policy, share: f64) -> f64 {
    let programs: HashMap<u64, usize> = trace.iter().map(|asked| (asked.program, asked.bytes + 32)).collect();
    let limit_bytes = (programs.values().sum::<usize>() as f64 * share) as u64;
    let cache = super::cache(Options { limit_bytes, policy, ..Options::default() });
    let nothing = vec![0; trace.iter().map(|asked| asked.bytes).max().unwrap()];
    let mut saved = 0.0;
    for asked in trace {
        if cache.get(&key(asked.program)).is_some() {
            saved += asked.cost_us as f64;
        } else {
            let program = Program { data: &nothing[..asked.bytes], cost_us: asked.cost_us, ..Program::default() };
            cache.put(&key(asked.program), &program).unwrap();
        }
    }
    saved
}

/// The ratio of the build time that the cost-aware policy saves to that of least recently used.
fn over_lru(trace: &[Asked], share: f64) -> f64 {
    saved(trace, Policy::CostAware, share) / saved(trace, Policy::LeastRecentlyUsed, share).max(1.0)
}

#[test]
fn cost_policy_beats_recency_on_the_recorded_trace() {
    let trace = recorded();
    for (share, least) in [(0.05, 1.2), (0.1, 1.2), (0.2, 1.2)] {
        let ratio = over_lru(&trace, share);
        assert!(ratio >= least, "with room for {share} of all it saves {ratio} times what LRU saves");
    }
}

// Access patterns.

struct Random(u64);

impl Random {
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, end: usize) -> usize {
        (self.share() * end as f64) as usize
    }

    /// A normal variate by the Box–Muller transform.
    fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.share()).ln()).sqrt() * (std::f64::consts::TAU * self.share()).cos()
    }

    /// An index below `of`. The k-th has a weight of about 1 / k.
    fn popular(&mut self, of: usize) -> usize {
        ((of as f64).powf(self.share()) as usize).min(of) - 1
    }
}

/// `count` programs, whose costs differ by a factor of e to the power of `spread`.
fn programs(count: usize, spread: f64, random: &mut Random) -> Vec<Asked> {
    let one = |program| {
        let size = (0.8 * random.normal()).exp();
        let cost_us = (10_000.0 * size.sqrt() * (spread * random.normal()).exp()) as u64;
        Asked { program: program as u64, bytes: (4800.0 * size) as usize, cost_us }
    };
    (0..count).map(one).collect()
}

#[test]
fn cyclic_requests_beyond_the_limit_keep_some_hits() {
    let programs = programs(300, 0.5, &mut Random(1));
    let trace = programs.repeat(30);
    let all: f64 = trace.iter().map(|asked| asked.cost_us as f64).sum();
    assert_eq!(saved(&trace, Policy::LeastRecentlyUsed, 0.1), 0.0, "LRU throws each away before it comes again");
    let share = saved(&trace, Policy::CostAware, 0.1) / all;
    assert!(share > 0.1, "{share} of the build time is saved");
}

#[test]
fn cost_policy_is_never_much_worse_than_recency() {
    for spread in [0.5, 1.0, 1.5] {
        let mut random = Random(7);
        let programs = programs(2000, spread, &mut random);
        let mut order: Vec<usize> = (0..programs.len()).collect();
        let moving_on = (0..20_000).map(|time| programs[time * 1900 / 20_000 + random.below(100)]).collect::<Vec<_>>();
        let popular = (0..20_000).map(|_| programs[random.popular(2000)]).collect::<Vec<_>>();
        let changing = (0..20_000).map(|time| {
            if time % 4000 == 0 {
                (1..order.len()).for_each(|place| order.swap(place, random.below(place + 1)));
            }
            programs[order[random.popular(2000)]]
        });
        let changing = changing.collect::<Vec<_>>();
        let scanned = (0..20_000).map(|time| match time / 400 % 2 {
            0 => programs[random.popular(200)],
            _ => programs[200 + time / 800 * 61 % 1300 + time % 400],
        });
        let scanned = scanned.collect::<Vec<_>>();
        for (habit, trace) in
            [("moving on", moving_on), ("popular", popular), ("changing", changing), ("scanned", scanned)]
        {
            let ratio = over_lru(&trace, 0.1);
            assert!(ratio >= 0.98, "{habit}, spread {spread}: {ratio} times what LRU saves");
        }
    }
}
