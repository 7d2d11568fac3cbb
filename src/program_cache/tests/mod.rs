//! Policies, limits and statistics, and helpers for the other tests.

mod conformance_test;
mod disk_test;
mod eviction_test;
#[cfg(unix)]
mod hostile_test;
mod manager_test;
mod model_test;
mod problems_test;
mod threads_test;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use crate::program_cache::*;
use crate::store;
use crate::store::fault_io::{FaultDisk, FaultIo};
use crate::store::io::share;

/// The time in all tests.
const NOW: u64 = 1_700_000_000;

fn key(number: u64) -> Key {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&number.to_le_bytes());
    key
}

/// A cache without background on a disk. `None`: in memory only.
fn desc(io: Option<FaultIo>, memory: Options) -> Desc {
    Desc {
        memory,
        directory: io.is_some().then(|| PathBuf::from("/cache")),
        environment: 1,
        store: store::Options::new(|| NOW),
        material: Material::default(),
        ban_at: 2,
        waiting_limit: 1 << 20,
        load_ahead: false,
        io: share(io.unwrap_or_else(|| FaultDisk::default().process())).unwrap(),
        executor: None,
    }
}

/// A cache whose disk does nothing, so that its requests can be counted: see [`Disk::requested`].
fn with_disk(options: Options) -> OpenCache {
    Cache::open(desc(Some(FaultDisk::default().process()), options)).unwrap()
}

/// Chromium's cache of 1024 bytes of data.
fn conforming() -> Options {
    Options { limit_bytes: 1024, policy: Policy::LeastRecentlyUsed, counted: Counted::Data, ..Options::default() }
}

fn cache(options: Options) -> OpenCache {
    Cache::open(desc(None, options)).unwrap()
}

fn put(cache: &Cache, number: u64, bytes: usize) -> Put {
    cache.put(&key(number), &Program { data: &vec![number as u8; bytes], ..Program::default() }).unwrap()
}

/// Load a program as the disk does.
fn load(cache: &Cache, key: &Key, program: &Program<'_>, wanted: Wanted) -> Put {
    cache.memory().load(key, program, wanted, false, &AtomicBool::new(false)).unwrap()
}

fn cached(cache: &Cache, numbers: impl IntoIterator<Item = u64>) -> Vec<u64> {
    numbers.into_iter().filter(|&number| cache.memory().contains(&key(number))).collect()
}

/// A disk with two strikes of a key: two processes ended during its use.
fn disk_with_ban(key: &Key) -> FaultDisk {
    let disk = FaultDisk::default();
    for _ in 0..2 {
        let io = disk.process();
        let cache = Cache::open(desc(Some(io.clone()), conforming())).unwrap();
        assert!(cache.begin_use(key).unwrap().is_some());
        io.kill();
    }
    disk
}

#[test]
fn blob_has_all_fields_of_the_put_and_outlives_its_entry() {
    let cache = cache(Options::default());
    let (data, reflection, stages) = ([1, 2, 3], [4, 5], [key(8), key(9)]);
    let program =
        Program { format: 0x9130, data: &data, reflection: &reflection, stages: &stages, cost_us: 77, group: 3 };
    cache.put(&key(1), &program).unwrap();
    let view = cache.get(&key(1)).unwrap();
    cache.put(&key(1), &Program { data: &[9], ..Program::default() }).unwrap();
    cache.clear(None).unwrap();
    assert!(cache.get(&key(1)).is_none());
    assert_eq!((view.key(), view.format(), view.cost_us(), view.group()), (&key(1), 0x9130, 77, 3));
    assert_eq!((view.data(), view.reflection(), view.stages()), (&data[..], &reflection[..], &stages[..]));
}

#[test]
fn entry_of_exactly_the_limit_is_stored_by_default() {
    assert_eq!(put(&cache(conforming()), 1, 1024), Put::Stored);
    let strict = cache(Options { store_at_limit: false, ..conforming() });
    assert_eq!(put(&strict, 1, 1024), Put::Refused(Refusal::TooLarge));
    assert_eq!(put(&strict, 1, 1023), Put::Stored);
}

#[test]
fn limit_counts_key_and_value_by_default() {
    let options = Options { limit_bytes: 32 + 64 + 10 + 4, ..Options::default() };
    let stages = [key(5), key(6)];
    let program = Program { data: &[0; 10], reflection: &[0; 4], stages: &stages, ..Program::default() };
    assert_eq!(cache(options).put(&key(1), &program).unwrap(), Put::Stored);
    let less = cache(Options { limit_bytes: options.limit_bytes - 1, ..options });
    assert_eq!(less.put(&key(1), &program).unwrap(), Put::Refused(Refusal::TooLarge));
}

#[test]
fn oversized_second_put_keeps_the_old_program_by_default() {
    let keeping = with_disk(conforming());
    put(&keeping, 1, 10);
    assert_eq!(put(&keeping, 1, 1025), Put::Refused(Refusal::TooLarge));
    assert_eq!((keeping.get(&key(1)).unwrap().data().len(), keeping.disk().requested()), (10, [1, 0, 0, 0]));
    let dropping = with_disk(Options { oversized_keeps_old: false, ..conforming() });
    put(&dropping, 1, 10);
    assert_eq!(put(&dropping, 1, 1025), Put::Refused(Refusal::TooLarge));
    assert_eq!((dropping.get(&key(1)).is_none(), dropping.disk().requested()), (true, [1, 1, 1, 0]));
    assert_eq!(dropping.memory().statistics().unwrap().bytes, 0);
}

#[test]
fn empty_program_is_stored_by_default() {
    let storing = cache(conforming());
    assert_eq!((put(&storing, 1, 0), storing.get(&key(1)).unwrap().data().len()), (Put::Stored, 0));
    assert_eq!(storing.memory().statistics().unwrap().bytes, 1, "so that there is an end to them");
    let refusing = cache(Options { store_empty: false, ..conforming() });
    assert_eq!((put(&refusing, 1, 0), refusing.get(&key(1)).is_none()), (Put::Refused(Refusal::Empty), true));
}

#[test]
fn last_put_wins_by_default() {
    let last = cache(conforming());
    assert_eq!((put(&last, 1, 10), put(&last, 1, 20)), (Put::Stored, Put::Replaced));
    assert_eq!((last.get(&key(1)).unwrap().data().len(), last.memory().statistics().unwrap().bytes), (20, 20));
    let first = cache(Options { last_put_wins: false, ..conforming() });
    assert_eq!((put(&first, 1, 10), put(&first, 1, 20)), (Put::Stored, Put::Refused(Refusal::Exists)));
    assert_eq!((first.get(&key(1)).unwrap().data().len(), first.memory().statistics().unwrap().bytes), (10, 10));
}

#[test]
fn limit_of_zero_keeps_nothing_and_a_huge_one_everything() {
    let none = cache(Options { limit_bytes: 0, ..conforming() });
    assert_eq!(
        (put(&none, 1, 0), put(&none, 2, 1)),
        (Put::Refused(Refusal::TooLarge), Put::Refused(Refusal::TooLarge))
    );
    for policy in [Policy::LeastRecentlyUsed, Policy::CostAware, Policy::Groups] {
        let all = cache(Options { limit_bytes: u64::MAX, policy, ..Options::default() });
        let program = Program { data: &[1; 100], cost_us: u64::MAX, ..Program::default() };
        (0..100).for_each(|number| assert_eq!(all.put(&key(number), &program).unwrap(), Put::Stored));
        assert_eq!(cached(&all, 0..100).len(), 100);
        assert_eq!(all.memory().trim(0), 100);
    }
}

#[test]
fn lowered_limit_evicts_at_once_and_a_raised_one_admits_more() {
    let cache = cache(conforming());
    (0..4).for_each(|number| _ = put(&cache, number, 256));
    assert_eq!((cache.memory().set_limit(512), cached(&cache, 0..4)), (2, vec![2, 3]));
    assert_eq!(put(&cache, 4, 513), Put::Refused(Refusal::TooLarge));
    cache.memory().set_limit(2048);
    assert_eq!((put(&cache, 4, 1536), cached(&cache, 0..5)), (Put::Stored, vec![2, 3, 4]));
    assert_eq!((cache.memory().set_limit(0), cached(&cache, 0..5)), (3, vec![]));
    assert_eq!(cache.memory().statistics().unwrap().left(Reason::LimitLowered), 5);
}

#[test]
fn memory_pressure_limits_memory_until_it_ends() {
    let cache = with_disk(conforming());
    (0..8).for_each(|number| _ = put(&cache, number, 128));
    let memory = cache.memory();
    assert_eq!(memory.pressure(Pressure::None), 0);
    assert_eq!((memory.pressure(Pressure::Moderate), cached(&cache, 0..8)), (6, vec![6, 7]));
    (8..12).for_each(|number| _ = put(&cache, number, 128));
    assert_eq!(cached(&cache, 0..12), [10, 11], "a quarter, also for later puts");
    let load_ahead = || load(&cache, &key(20), &Program { data: &[1], ..Program::default() }, Wanted::Ahead);
    assert_eq!(load_ahead(), Put::Refused(Refusal::NoRoom));
    assert_eq!((memory.pressure(Pressure::Critical), cached(&cache, 0..12)), (2, vec![]));
    assert_eq!((put(&cache, 12, 1024), put(&cache, 13, 100)), (Put::Stored, Put::Stored));
    assert_eq!(cached(&cache, 0..14), [13], "the program that was stored last");
    assert_eq!(memory.set_limit(1024), 1);
    assert_eq!((memory.statistics().unwrap().left(Reason::Pressure), memory.pressure(Pressure::None)), (13, 0));
    (14..22).for_each(|number| _ = put(&cache, number, 128));
    assert_eq!(cached(&cache, 0..22), (14..22).collect::<Vec<_>>());
    assert_eq!(cache.disk().requested(), [22, 0, 0, 0], "evicted programs stay on disk");
}

#[test]
fn cost_aware_policy_evicts_programs_that_are_cheap_to_build() {
    let cache = cache(Options { policy: Policy::CostAware, ..conforming() });
    let put = |number, bytes, cost_us| {
        let program = Program { data: &vec![0; bytes], cost_us, ..Program::default() };
        cache.put(&key(number), &program).unwrap();
    };
    put(1, 256, 10_000);
    put(2, 256, 100);
    put(3, 512, 5_000);
    put(4, 256, 1_000);
    assert_eq!(cached(&cache, 1..5), [1, 3, 4]);
    (0..50).for_each(|_| _ = cache.get(&key(4)));
    put(5, 256, 500);
    assert_eq!(cached(&cache, 1..6), [1, 4, 5], "one that is used often is worth as often its cost");
}

#[test]
fn group_policy_evicts_the_newest_of_the_oldest_group() {
    let cache = cache(Options { policy: Policy::Groups, ..conforming() });
    let put = |number, group| {
        cache.put(&key(number), &Program { data: &[0; 256], group, ..Program::default() }).unwrap();
    };
    put(1, 7);
    put(2, 7);
    put(3, 8);
    put(4, 8);
    put(5, 9);
    assert_eq!(cached(&cache, 1..6), [1, 3, 4, 5]);
    cache.get(&key(1)).unwrap();
    put(6, 9);
    assert_eq!(cached(&cache, 1..7), [1, 3, 5, 6], "group 7 was used again, so 8 is the oldest, and 4 its newest");
}

#[test]
fn hit_for_another_group_moves_the_program_there() {
    let cache = cache(Options { policy: Policy::Groups, ..conforming() });
    let put = |number, group| {
        cache.put(&key(number), &Program { data: &[0; 256], group, ..Program::default() }).unwrap();
    };
    [(1, 7), (2, 7), (3, 8), (4, 8)].into_iter().for_each(|(number, group)| put(number, group));
    assert!(cache.get_for(&key(1), Some(9)).is_some());
    // Group 7 has lost its newest use to group 9, so it is the oldest, with one member.
    put(5, 9);
    assert_eq!(cached(&cache, 1..6), [1, 3, 4, 5]);
    // Group 8 is next. Then only group 9 remains, and its newest program is evicted first.
    put(6, 9);
    put(7, 9);
    assert_eq!(cached(&cache, 1..8), [1, 5, 6, 7]);
    assert!(cache.get_for(&key(5), None).is_some());
    put(8, 10);
    assert_eq!(cached(&cache, 1..9), [1, 6, 7, 8], "a hit without a group stays in its group");
}

#[test]
fn start_up_set_keeps_its_order_and_can_be_evicted_last() {
    for policy in [Policy::LeastRecentlyUsed, Policy::CostAware, Policy::Groups] {
        let cache = cache(Options { start_up_set_last: true, policy, ..conforming() });
        for number in [3, 1, 9] {
            cache.memory().mark_start_up(&key(number), true).unwrap();
        }
        (0..4).for_each(|number| _ = put(&cache, number, 256));
        (4..20).for_each(|number| _ = put(&cache, number, 256));
        // 9 was put and stayed, too. One place remains, for the last program.
        assert_eq!(cached(&cache, 0..20), [1, 3, 9, 19], "{policy:?}");
        cache.memory().mark_start_up(&key(1), false).unwrap();
        put(&cache, 20, 512);
        assert_eq!(cached(&cache, 0..21), [3, 9, 20], "{policy:?}: one that is no longer marked goes as any other");
        put(&cache, 21, 1024);
        assert_eq!(cached(&cache, 0..22), [21], "{policy:?}: last is not never");
        assert_eq!(cache.memory().start_up_keys().unwrap(), [key(3), key(9)]);
    }
}

#[test]
fn repeated_marking_takes_no_more_memory() {
    let cache = cache(conforming());
    put(&cache, 1, 10);
    let turn = || {
        for _ in 0..200 {
            cache.memory().mark_start_up(&key(1), true).unwrap();
            cache.memory().mark_start_up(&key(1), false).unwrap();
        }
        cache.memory().memory_used()
    };
    assert_eq!(turn(), turn());
    (0..200).for_each(|_| _ = put(&cache, 1, 10));
    assert_eq!(turn(), turn());
}

#[test]
fn program_loaded_ahead_evicts_no_other_and_is_evicted_first() {
    let cache = with_disk(conforming());
    let program = |bytes: usize| vec![7; bytes];
    let load = |number, bytes, wanted| {
        load(&cache, &key(number), &Program { data: &program(bytes), ..Program::default() }, wanted)
    };
    put(&cache, 1, 512);
    assert_eq!(load(1, 10, Wanted::Ahead), Put::Refused(Refusal::Exists), "the program in memory is newer");
    assert_eq!(load(2, 500, Wanted::Ahead), Put::Stored);
    assert_eq!(load(3, 500, Wanted::Ahead), Put::Refused(Refusal::NoRoom));
    assert_eq!(load(3, 500, Wanted::Now), Put::Stored);
    assert_eq!(cached(&cache, 1..4), [1, 3]);
    assert_eq!(cache.disk().requested(), [1, 0, 0, 0], "a loaded program is not saved again");
    let statistics = cache.memory().statistics().unwrap();
    assert_eq!((statistics.puts, statistics.loads, statistics.histogram(Measure::BinaryBytes).count()), (1, 2, 1));
}

#[test]
fn disk_is_asked_for_misses_removals_and_clearing_but_not_evictions() {
    let cache = with_disk(conforming());
    put(&cache, 1, 1000);
    put(&cache, 2, 1000);
    assert_eq!(cache.disk().requested(), [2, 0, 0, 0]);
    assert!(cache.get(&key(1)).is_none());
    assert_eq!(cache.disk().requested(), [2, 1, 0, 0]);
    assert_eq!((cache.remove(&key(1)).unwrap(), cache.remove(&key(2)).unwrap()), (false, true));
    assert_eq!(cache.disk().requested(), [2, 1, 2, 0]);
    cache.clear(None).unwrap();
    cache.clear(Some(Scope::Environment)).unwrap();
    assert_eq!(cache.disk().requested(), [2, 1, 2, 1]);
}

#[test]
fn statistics_count_every_event_and_json_has_them_all() {
    let cache = cache(conforming());
    put(&cache, 1, 20);
    put(&cache, 2, 1005);
    put(&cache, 3, 5000);
    put(&cache, 2, 100);
    cache.get(&key(2)).unwrap();
    assert!(cache.get(&key(1)).is_none());
    cache.remove(&key(2)).unwrap();
    cache.memory().shader_compiled(&key(50)).unwrap();
    cache.memory().record(Measure::HitMicros, 12);
    let statistics = cache.memory().statistics().unwrap();
    assert_eq!((statistics.hits, statistics.misses, statistics.puts), (1, 1, 4));
    assert_eq!((statistics.entries, statistics.bytes, statistics.limit_bytes, statistics.shaders), (0, 0, 1024, 1));
    let left = [Reason::Capacity, Reason::Replaced, Reason::Removed].map(|reason| statistics.left(reason));
    assert_eq!((left, statistics.refused(Refusal::TooLarge)), ([1, 1, 1], 1));
    let measured = |measure| {
        let histogram = statistics.histogram(measure);
        (histogram.count(), histogram.sum())
    };
    assert_eq!(measured(Measure::BinaryBytes), (4, 20 + 1005 + 5000 + 100), "stored or not, each once");
    assert_eq!(measured(Measure::BytesBefore), (4, 20 + 1005 + 1005));
    assert_eq!(measured(Measure::BytesAfter), (4, 20 + 1005 + 1005 + 100));
    assert_eq!(measured(Measure::HitMicros), (1, 12));

    let mut json = String::new();
    statistics.write_json(&mut json).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&json["hits"], &json["left"]["replaced"], &json["refused"]["too_large"]),
        (&1.into(), &1.into(), &1.into())
    );
    for measure in Measure::ALL {
        assert_eq!(json["histograms"][measure.name()]["count"], measured(measure).0);
    }
    let names = |of: &serde_json::Value| of.as_object().unwrap().len();
    assert_eq!(names(&json["left"]) + names(&json["refused"]), Reason::ALL.len() + Refusal::ALL.len());
}

#[test]
fn report_of_a_cache_contains_that_of_its_memory() {
    let memory = cache(conforming());
    put(&memory, 1, 20);
    let whole = CacheStatistics {
        memory: memory.memory().statistics().unwrap(),
        memory_used: 5,
        uses_open: 6,
        disk: crate::store::Statistics { values: 7, ..Default::default() },
        quarantine: crate::quarantine::Statistics { bans: 8, ..Default::default() },
        ..CacheStatistics::default()
    };
    let (mut small, mut large) = (String::new(), String::new());
    whole.memory.write_json(&mut small).unwrap();
    whole.write_json(&mut large).unwrap();
    let [small, large]: [serde_json::Value; 2] = [small, large].map(|json| serde_json::from_str(&json).unwrap());
    assert!(small.as_object().unwrap().iter().all(|(name, value)| large[name] == *value));
    assert_eq!([&large["memory_used"], &large["uses_open"]], [5, 6]);
    assert_eq!([&large["disk"]["values"], &large["quarantine"]["keys_banned"]], [7, 8]);
    assert_eq!(large["disk"].as_object().unwrap().len(), 15);
}

/// The names of all members of an object, and of those inside.
fn names(of: &serde_json::Value) -> Vec<&str> {
    let members = of.as_object().into_iter().flatten();
    members.flat_map(|(name, value)| std::iter::once(&name[..]).chain(names(value))).collect()
}

#[test]
fn every_name_in_a_report_is_explained() {
    let (mut report, document) = (String::new(), include_str!("../../../docs/formats.md"));
    CacheStatistics { memory: cache(conforming()).memory().statistics().unwrap(), ..Default::default() }
        .write_json(&mut report)
        .unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let (_, section) = document.split_once("## Reports").unwrap();
    let missing: Vec<&str> =
        names(&report).into_iter().filter(|name| !section.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty() && names(&report).len() > 60, "docs/formats.md says nothing of {missing:?}");
}

#[test]
fn numbers_of_enums_are_their_places() {
    assert!(Reason::ALL.iter().enumerate().all(|(place, &reason)| reason as usize == place));
    assert!(Refusal::ALL.iter().enumerate().all(|(place, &refusal)| refusal as usize == place));
    assert!(Measure::ALL.iter().enumerate().all(|(place, &measure)| measure as usize == place));
}

fn material(parts: &[(&str, &str)]) -> Material {
    let mut material = Material::default();
    parts.iter().for_each(|(label, value)| material.push(label, value.as_bytes()).unwrap());
    material
}

#[test]
fn explanation_of_a_miss_names_the_inputs_that_differ_from_the_nearest_key() {
    let cache = cache(Options { described_keys: 16, ..conforming() });
    assert!(cache.why_missed(&material(&[("driver", "1")])).unwrap().is_none());
    let source = "void main() { one long source; }".repeat(4);
    let old = [("vertex", source.as_str()), ("driver", "22.3.6"), ("defines", "A=1")];
    let far = [("vertex", "other"), ("driver", "22.3.6"), ("defines", "B=1")];
    put(&cache, 1, 10);
    cache.describe(&key(1), &material(&old)).unwrap();
    cache.describe(&key(2), &material(&far)).unwrap();
    let now = [old[0], ("driver", "25.0.7"), old[2], ("layer", "on")];
    let why = cache.why_missed(&material(&now)).unwrap().unwrap();
    let labels: Vec<_> = why.differences.iter().map(|difference| difference.label.as_str()).collect();
    assert_eq!((why.nearest, why.in_common, labels), (key(1), 2, vec!["driver", "layer"]));
    assert_eq!(
        why.to_string(),
        "the nearest known program differs in driver (was '22.3.6', is '25.0.7') and layer (was none, is 'on'); it is in \
         memory"
    );
    put(&cache, 3, 1024);
    let why = cache.why_missed(&material(&old)).unwrap().unwrap();
    assert_eq!((why.differences.len(), why.whereabouts), (0, Whereabouts::Left(Reason::Capacity)));
    assert_eq!(why.to_string(), "all inputs are those of a known program; it has left memory: capacity");
    let longer = format!("{source};");
    let sentence = cache.why_missed(&material(&[("vertex", &longer), old[1], old[2]])).unwrap().unwrap().to_string();
    let begins = "the nearest known program differs in vertex (was 128 bytes, ";
    assert!(sentence.starts_with(begins) && sentence.contains(", is 129 bytes, "), "{sentence}");
}

#[test]
fn explanation_distinguishes_keys_of_another_environment() {
    let cache = cache(Options { described_keys: 16, ..conforming() });
    cache.memory().set_environment(2, material(&[("driver", "25.0.7")]));
    let known = material(&[("defines", "A=1"), ("driver", "22.3.6")]);
    cache.memory().recall(1, &key(1), known.clone()).unwrap();
    cache.memory().recall(1, &key(1), Material::default()).unwrap();
    let why = cache.why_missed(&material(&[("defines", "A=1")])).unwrap().unwrap();
    assert_eq!((why.nearest, why.in_common, why.whereabouts), (key(1), 1, Whereabouts::OtherEnvironment));
    assert_eq!(
        why.to_string(),
        "the nearest known program differs in driver (was '22.3.6', is '25.0.7'); it is of another environment, so it is never \
         loaded"
    );
    cache.describe(&key(1), &material(&[("defines", "A=1")])).unwrap();
    let why = cache.why_missed(&material(&[("defines", "A=1")])).unwrap().unwrap();
    assert_eq!((why.differences.len(), why.whereabouts), (0, Whereabouts::Elsewhere));
}

#[test]
fn damaged_material_is_rejected_and_long_labels_are_truncated() {
    let mut whole = material(&[("vertex", "a"), ("driver", &"x".repeat(100))]);
    whole.push(&"é".repeat(40), &[0xff; 3]).unwrap();
    assert_eq!(Material::decode(whole.bytes()).unwrap(), Some(whole.clone()));
    for cut in 1..whole.bytes().len() {
        let decoded = Material::decode(&whole.bytes()[..cut]).unwrap();
        assert!(decoded.is_none_or(|part| whole.bytes().starts_with(part.bytes())), "{cut}");
    }
    assert_eq!(Material::decode(&[255; 300]).unwrap(), None);
    assert_eq!(Material::decode(&[0; 7]).unwrap(), None);
}

#[test]
fn number_of_described_keys_is_bounded_and_zero_by_default() {
    let off = cache(conforming());
    off.describe(&key(1), &material(&[("a", "1")])).unwrap();
    assert!(off.why_missed(&material(&[("a", "1")])).unwrap().is_none());
    let two = cache(Options { described_keys: 2, ..conforming() });
    for (number, value) in [(1, "1"), (2, "2"), (3, "3")] {
        two.describe(&key(number), &material(&[("a", value)])).unwrap();
    }
    assert_eq!(two.why_missed(&material(&[("a", "1")])).unwrap().unwrap().in_common, 0);
    assert_eq!(two.why_missed(&material(&[("a", "2")])).unwrap().unwrap().nearest, key(2));
    two.memory().recall(0, &key(9), material(&[("a", "9")])).unwrap();
    assert_eq!(two.why_missed(&material(&[("a", "9")])).unwrap().unwrap().in_common, 0, "there is no room for it");
}

#[test]
fn material_has_the_documented_bytes() {
    let long: Vec<u8> = (0..5000).map(|number| (number % 251) as u8).collect();
    let mut material = Material::default();
    for (label, value) in [("vertex stage", &long[..]), ("defines", b"FOG 1"), ("driver", b"25.0.7")] {
        material.push(label, value).unwrap();
    }
    let hex: String = material.bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    let golden = [
        "0c008813000000000000ee78d92070de3df17665727465782073746167650705050000000000000046b66f2448e79632",
        "646566696e6573464f472031060606000000000000005cf1b0045113c6f164726976657232352e302e37",
    ];
    assert_eq!(hex, golden.concat());
}

/// Written bytes alone make maintenance due, long before the number of saves does.
#[test]
fn disk_keeps_its_limit_by_written_bytes() {
    let limit_bytes = 1 << 20;
    let mut desc = desc(Some(FaultDisk::default().process()), Options::default());
    desc.store.limit_bytes = limit_bytes;
    let cache = Cache::open(desc).unwrap();
    for number in 0..200 {
        put(&cache, number, 20_000);
        assert!(cache.disk().wait_idle(std::time::Duration::MAX));
        let store::Statistics { live_bytes, file_bytes, .. } = cache.disk().statistics();
        assert!(live_bytes <= limit_bytes + limit_bytes / 16 + 30_000, "{live_bytes} after {number}");
        assert!(file_bytes <= 2 * limit_bytes, "{file_bytes} after {number}");
    }
    assert!(cache.disk().statistics().evicted > 100);
}
