//! Many threads at one cache.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;

use super::{cache, cached, key};
use crate::program_cache::memory::blob::ROWS;
use crate::program_cache::*;

const KEYS: u64 = 64;

fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// Put a program whose bytes follow from the key.
fn put_own(cache: &Cache, number: u64, random: u64) {
    let data = vec![number as u8; 1 + random as usize % 200];
    let stages = [key(1000 + number % 7), key(2000 + number % 5)];
    let program = Program {
        format: number as u32,
        data: &data,
        stages: &stages,
        reflection: &number.to_le_bytes(),
        cost_us: random % 1000,
        group: number as u32 % 6,
    };
    cache.put(&key(number), &program).unwrap();
}

fn check_own(view: &Blob, number: u64) {
    assert_eq!(
        (view.key(), view.format(), view.reflection()),
        (&key(number), number as u32, &number.to_le_bytes()[..])
    );
    assert!(view.data().iter().all(|&byte| byte == number as u8));
}

fn hammer(cache: &Cache, seed: u64, steps: u32) -> (u64, u64) {
    let (mut state, mut pinned, mut asked, mut found) = (seed, Vec::new(), 0, 0);
    for _ in 0..steps {
        let (number, random) = (next(&mut state) % KEYS, next(&mut state));
        match random % 100 {
            0..30 => put_own(cache, number, random / 100),
            30..32 => _ = cache.remove(&key(number)).unwrap(),
            32 => _ = cache.memory().trim(random / 100 % 4096),
            33 => cache.memory().mark_start_up(&key(number), random / 100 % 2 == 0).unwrap(),
            _ => {
                asked += 1;
                if let Some(view) = cache.get(&key(number)) {
                    check_own(&view, number);
                    found += 1;
                    pinned.push((number, view));
                }
            }
        }
        if pinned.len() > 20 {
            pinned.drain(..10).for_each(|(number, view)| check_own(&view, number));
        }
    }
    (asked, found)
}

#[test]
fn threads_that_get_put_and_evict_never_see_a_wrong_value() {
    for policy in [Policy::LeastRecentlyUsed, Policy::CostAware, Policy::Groups] {
        let cache = cache(Options { limit_bytes: 6000, policy, start_up_set_last: true, ..Options::default() });
        let counts: Vec<_> = thread::scope(|scope| {
            let hands: Vec<_> = (1..4)
                .map(|seed| {
                    scope.spawn({
                        let cache = &cache;
                        move || hammer(cache, seed, 20_000)
                    })
                })
                .collect();
            hands.into_iter().map(|hand| hand.join().unwrap()).collect()
        });
        let statistics = cache.memory().statistics().unwrap();
        let (asked, found) = counts.iter().fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
        assert_eq!((statistics.hits + statistics.misses, statistics.hits), (asked, found), "no get goes uncounted");
        assert!(found > 0 && statistics.bytes <= 6000 && statistics.left(Reason::Capacity) > 0, "{policy:?}");
        let held: Vec<_> = (0..KEYS).filter_map(|number| cache.get(&key(number))).collect();
        assert_eq!(held.len() as u64, statistics.entries);
        let stages = held.iter().map(|blob| blob.stages().len() as u64).sum::<u64>();
        let shaders =
            (1000..1007).chain(2000..2005).map(|shader| u64::from(cache.memory().programs_of_shader(&key(shader))));
        assert_eq!(shaders.sum::<u64>(), stages, "each shader knows by how many programs it is used");
        cache.memory().trim(0);
        assert_eq!(cache.memory().statistics().unwrap().shaders, 0);
    }
}

#[test]
fn repeatedly_replaced_program_is_never_missing() {
    let cache = cache(Options::default());
    let done = AtomicBool::new(false);
    put_own(&cache, 1, 0);
    thread::scope(|scope| {
        scope.spawn(|| {
            (0..20_000).for_each(|random| put_own(&cache, 1, random));
            done.store(true, SeqCst);
        });
        scope.spawn(|| {
            while !done.load(SeqCst) {
                check_own(&cache.get(&key(1)).expect("it is replaced, not removed"), 1);
            }
        });
    });
}

#[test]
fn uses_on_two_threads_are_all_ended() {
    let cache = cache(Options::default());
    put_own(&cache, 1, 7);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..5_000 {
                    let token = cache.begin_use(&key(1)).unwrap().unwrap();
                    cache.end_use(token, Verdict::Accepted).unwrap();
                }
            });
        }
    });
    assert_eq!((cache.statistics().unwrap().uses_open, cache.memory().link_status(&key(1))), (0, Status::Succeeded));
}

/// Ask on new threads, one after the other, until every row has had one.
fn on_all_rows<R: Send>(ask: impl Fn() -> R + Sync) -> Vec<R> {
    (0..ROWS + 1).map(|_| thread::scope(|scope| scope.spawn(&ask).join().unwrap())).collect()
}

#[test]
fn all_threads_see_a_change_once_its_call_has_returned() {
    let cache = cache(Options::default());
    let seen = |number: u64| on_all_rows(|| cache.get(&key(number)).map(|view| view.serial()));
    put_own(&cache, 1, 7);
    let first = seen(1);
    put_own(&cache, 1, 8);
    let second = seen(1);
    assert!(first.iter().zip(&second).all(|(old, new)| old.is_some() && old < new), "{first:?} {second:?}");
    cache.remove(&key(1)).unwrap();
    assert!(seen(1).iter().all(Option::is_none));
    put_own(&cache, 2, 7);
    cache.clear(None).unwrap();
    assert!(seen(2).iter().all(Option::is_none));
    put_own(&cache, 3, 7);
    cache.memory().trim(0);
    assert!(seen(3).iter().all(Option::is_none));
}

#[test]
fn use_counts_on_any_thread() {
    for policy in [Policy::LeastRecentlyUsed, Policy::CostAware] {
        // Each time around the thread is a new one, of the next row.
        for round in 0..ROWS + 1 {
            let cache = cache(Options { limit_bytes: 400, policy, counted: Counted::Data, ..Options::default() });
            let put = |number| cache.put(&key(number), &Program { data: &[7; 100], ..Program::default() }).unwrap();
            (1..5).for_each(|number| _ = put(number));
            thread::scope(|scope| _ = scope.spawn(|| assert!(cache.get(&key(1)).is_some())).join());
            put(5);
            assert!(cache.get(&key(1)).is_some() && cache.get(&key(2)).is_none(), "{policy:?}, round {round}");
        }
    }
}

#[test]
fn use_of_a_group_counts_on_any_thread() {
    for round in 0..ROWS + 1 {
        let options =
            Options { limit_bytes: 400, policy: Policy::Groups, counted: Counted::Data, ..Options::default() };
        let cache = cache(options);
        let put = |number, group| {
            cache.put(&key(number), &Program { data: &[7; 100], group, ..Program::default() }).unwrap();
        };
        let used = |number| thread::scope(|scope| scope.spawn(|| cache.get(&key(number)).is_some()).join().unwrap());
        [(1, 7), (2, 7), (3, 8), (4, 8)].into_iter().for_each(|(number, group)| put(number, group));
        assert!(used(1));
        put(5, 9);
        assert_eq!(cached(&cache, 1..6), [1, 2, 3, 5], "of group 8 the newest, round {round}");
        assert!(used(3));
        put(6, 9);
        assert_eq!(cached(&cache, 1..7), [2, 3, 5, 6], "of group 7 the one used last, round {round}");
    }
}
