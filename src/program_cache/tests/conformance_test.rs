//! The assertions of Chromium's test suites.

use super::{cache, cached, conforming, key, load, put, with_disk};
use crate::program_cache::*;

fn link(cache: &Cache, program: u64, shaders: [u64; 2]) {
    let stages = shaders.map(key);
    stages.iter().for_each(|shader| cache.memory().shader_compiled(shader).unwrap());
    cache.put(&key(program), &Program { data: &[1], stages: &stages, ..Program::default() }).unwrap();
}

fn known(cache: &Cache, shaders: impl IntoIterator<Item = u64>) -> Vec<u64> {
    shaders.into_iter().filter(|&shader| cache.memory().compile_status(&key(shader)) == Status::Succeeded).collect()
}

#[test]
fn a_compile_status_is_unknown_until_the_shader_has_compiled() {
    let cache = cache(conforming());
    assert_eq!(cache.memory().compile_status(&key(1)), Status::Unknown);
    cache.memory().shader_compiled(&key(1)).unwrap();
    assert_eq!(
        (cache.memory().compile_status(&key(1)), cache.memory().programs_of_shader(&key(1))),
        (Status::Succeeded, 0)
    );
    assert_eq!(cache.memory().compile_status(&key(2)), Status::Unknown);
}

#[test]
fn a_link_status_is_unknown_until_the_program_is_cached() {
    let cache = cache(conforming());
    assert_eq!(cache.memory().link_status(&key(10)), Status::Unknown);
    link(&cache, 10, [1, 2]);
    assert_eq!(cache.memory().link_status(&key(10)), Status::Succeeded);
    assert_eq!(cache.memory().link_status(&key(11)), Status::Unknown);
}

#[test]
fn changing_the_callers_bytes_later_changes_nothing() {
    let cache = cache(conforming());
    let (mut name, mut stages, mut data) = (key(10), [key(1), key(2)], [1, 2, 3]);
    cache.put(&name, &Program { data: &data, reflection: &[4], stages: &stages, ..Program::default() }).unwrap();
    (name, stages, data) = (key(11), [key(3), key(4)], [9, 9, 9]);
    assert_eq!((cache.memory().link_status(&name), known(&cache, 1..5)), (Status::Unknown, vec![1, 2]));
    let cached = cache.get(&key(10)).unwrap();
    assert_eq!((cached.data(), cached.stages()), (&[1, 2, 3][..], &[key(1), key(2)][..]));
    assert_ne!((cached.data(), cached.stages()), (&data[..], &stages[..]));
}

#[test]
fn evicting_a_program_that_shares_no_shader_makes_all_its_statuses_unknown() {
    let cache = cache(conforming());
    link(&cache, 10, [1, 2]);
    cache.remove(&key(10)).unwrap();
    assert_eq!((cache.memory().link_status(&key(10)), known(&cache, 1..3)), (Status::Unknown, vec![]));
}

#[test]
fn evicting_a_program_leaves_the_statuses_that_another_one_needs() {
    let cache = cache(conforming());
    link(&cache, 10, [1, 2]);
    link(&cache, 11, [1, 3]);
    assert_eq!([1, 2, 3].map(|shader| cache.memory().programs_of_shader(&key(shader))), [2, 1, 1]);
    cache.remove(&key(10)).unwrap();
    assert_eq!((cached(&cache, 10..12), known(&cache, 1..4)), (vec![11], vec![1, 3]));
    cache.remove(&key(11)).unwrap();
    assert_eq!((cached(&cache, 10..12), known(&cache, 1..4)), (vec![], vec![]));
}

#[test]
fn eviction_for_room_and_by_pressure_drops_statuses_as_removal_does() {
    let cache = cache(Options { limit_bytes: 2, ..conforming() });
    link(&cache, 10, [1, 2]);
    link(&cache, 11, [1, 3]);
    link(&cache, 12, [4, 5]);
    assert_eq!(known(&cache, 1..6), [1, 3, 4, 5]);
    cache.memory().pressure(Pressure::Critical);
    assert!(known(&cache, 1..6).is_empty());
}

#[test]
fn putting_a_program_again_counts_its_shaders_once() {
    let cache = cache(conforming());
    link(&cache, 10, [1, 2]);
    link(&cache, 10, [1, 3]);
    assert_eq!([1, 2, 3].map(|shader| cache.memory().programs_of_shader(&key(shader))), [1, 0, 1]);
    assert_eq!(known(&cache, 1..4), [1, 3]);
}

#[test]
fn a_pinned_program_that_is_evicted_does_not_keep_its_statuses() {
    let cache = cache(conforming());
    link(&cache, 10, [1, 2]);
    let pinned = cache.get(&key(10)).unwrap();
    cache.remove(&key(10)).unwrap();
    assert_eq!((known(&cache, 1..3), pinned.data()), (vec![], &[1][..]));
}

#[test]
fn clearing_makes_all_statuses_unknown() {
    let cache = cache(conforming());
    link(&cache, 10, [1, 2]);
    link(&cache, 11, [1, 3]);
    cache.memory().shader_compiled(&key(4)).unwrap();
    cache.clear(None).unwrap();
    assert_eq!((cached(&cache, 10..12), known(&cache, 1..5)), (vec![], vec![]));
}

#[test]
fn put_requests_one_save_from_the_disk() {
    let cache = with_disk(conforming());
    put(&cache, 1, 20);
    cache.get(&key(1)).unwrap();
    cache.memory().trim(0);
    assert_eq!(cache.disk().requested(), [1, 0, 0, 0]);
}

#[test]
fn after_clearing_a_load_from_the_disk_restores_statuses_and_reflection() {
    let cache = with_disk(conforming());
    let stages = [key(1), key(2)];
    let program = Program { format: 5, data: &[6; 20], reflection: b"a:0 b:1", stages: &stages, ..Program::default() };
    cache.put(&key(10), &program).unwrap();
    cache.clear(None).unwrap();
    assert!(known(&cache, 1..3).is_empty());
    load(&cache, &key(10), &program, Wanted::Now);
    assert_eq!((cache.memory().link_status(&key(10)), known(&cache, 1..3)), (Status::Succeeded, vec![1, 2]));
    let cached = cache.get(&key(10)).unwrap();
    assert_eq!((cached.format(), cached.data(), cached.reflection()), (5, &[6; 20][..], &b"a:0 b:1"[..]));
    assert_eq!(cache.disk().requested(), [1, 0, 0, 0]);
}

#[test]
fn a_save_that_does_not_fit_beside_the_first_evicts_it() {
    let cache = cache(conforming());
    put(&cache, 1, 20);
    put(&cache, 2, 1005);
    assert_eq!(cached(&cache, 1..3), [2]);
}

#[test]
fn four_saves_that_fill_it_to_the_byte_all_stay() {
    let cache = cache(conforming());
    (1..5).for_each(|number| _ = put(&cache, number, 256));
    assert_eq!(cached(&cache, 1..5), [1, 2, 3, 4]);
    put(&cache, 5, 1);
    assert_eq!(cached(&cache, 1..6), [2, 3, 4, 5]);
}

#[test]
fn get_makes_a_program_the_last_to_be_evicted() {
    let cache = cache(conforming());
    (1..5).for_each(|number| _ = put(&cache, number, 256));
    cache.get(&key(1)).unwrap();
    put(&cache, 5, 512);
    assert_eq!(cached(&cache, 1..6), [1, 4, 5]);
}
