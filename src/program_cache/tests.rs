//! Policies, limits, statistics and the rest of what a host can ask for, one fact at a time; and what the other tests
//! share.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use super::*;

pub(super) fn key(number: u64) -> Key {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&number.to_le_bytes());
    key
}

/// A disk that counts what it is told.
#[derive(Default)]
pub(super) struct CountingDisk {
    pub saved: AtomicU64,
    pub missed: AtomicU64,
    pub removed: AtomicU64,
    pub cleared: AtomicU64,
}

impl Disk for CountingDisk {
    fn saved(&self, _: &Blob) {
        self.saved.fetch_add(1, SeqCst);
    }
    fn missed(&self, _: &Key) {
        self.missed.fetch_add(1, SeqCst);
    }
    fn removed(&self, _: &Key) {
        self.removed.fetch_add(1, SeqCst);
    }
    fn cleared(&self) {
        self.cleared.fetch_add(1, SeqCst);
    }
}

impl CountingDisk {
    /// Saved, missed, removed, cleared.
    pub fn told(&self) -> [u64; 4] {
        [&self.saved, &self.missed, &self.removed, &self.cleared].map(|count| count.load(SeqCst))
    }
}

pub(super) fn with_disk(options: Options) -> (ProgramCache, Arc<CountingDisk>) {
    let disk = Arc::new(CountingDisk::default());
    let partners = Partners { disk: Some(disk.clone()), quarantine: None };
    (ProgramCache::new(options, partners).unwrap(), disk)
}

/// Chromium's cache of 1024 bytes of data.
pub(super) fn conforming() -> Options {
    Options { limit_bytes: 1024, policy: Policy::LeastRecentlyUsed, counted: Counted::Data, ..Options::default() }
}

pub(super) fn cache(options: Options) -> ProgramCache {
    ProgramCache::new(options, Partners::default()).unwrap()
}

pub(super) fn put(cache: &ProgramCache, number: u64, bytes: usize) -> Put {
    cache.put(&key(number), &Program { data: &vec![number as u8; bytes], ..Program::default() }).unwrap()
}

pub(super) fn cached(cache: &ProgramCache, numbers: impl IntoIterator<Item = u64>) -> Vec<u64> {
    numbers.into_iter().filter(|&number| cache.link_status(&key(number)) == Status::Succeeded).collect()
}

#[test]
fn a_view_has_all_that_was_put_and_outlives_its_entry() {
    let cache = cache(Options::default());
    let (data, reflection, stages) = ([1, 2, 3], [4, 5], [key(8), key(9)]);
    let program =
        Program { format: 0x9130, data: &data, reflection: &reflection, stages: &stages, cost_us: 77, group: 3 };
    cache.put(&key(1), &program).unwrap();
    let view = cache.get(&key(1)).unwrap();
    cache.put(&key(1), &Program { data: &[9], ..Program::default() }).unwrap();
    cache.clear(false);
    assert!(cache.get(&key(1)).is_none());
    assert_eq!((view.key(), view.format(), view.cost_us(), view.group()), (&key(1), 0x9130, 77, 3));
    assert_eq!((view.data(), view.reflection(), view.stages()), (&data[..], &reflection[..], &stages[..]));
}

#[test]
fn an_entry_of_exactly_the_limit_is_stored_unless_said_otherwise() {
    assert_eq!(put(&cache(conforming()), 1, 1024), Put::Stored);
    let strict = cache(Options { store_at_limit: false, ..conforming() });
    assert_eq!(put(&strict, 1, 1024), Put::Refused(Refusal::TooLarge));
    assert_eq!(put(&strict, 1, 1023), Put::Stored);
}

#[test]
fn the_limit_counts_key_and_value_by_default() {
    let options = Options { limit_bytes: 32 + 64 + 10 + 4, ..Options::default() };
    let stages = [key(5), key(6)];
    let program = Program { data: &[0; 10], reflection: &[0; 4], stages: &stages, ..Program::default() };
    assert_eq!(cache(options).put(&key(1), &program).unwrap(), Put::Stored);
    let less = cache(Options { limit_bytes: options.limit_bytes - 1, ..options });
    assert_eq!(less.put(&key(1), &program).unwrap(), Put::Refused(Refusal::TooLarge));
}

#[test]
fn a_second_put_that_is_too_large_keeps_the_old_one_unless_said_otherwise() {
    let (keeping, disk) = with_disk(conforming());
    put(&keeping, 1, 10);
    assert_eq!(put(&keeping, 1, 1025), Put::Refused(Refusal::TooLarge));
    assert_eq!((keeping.get(&key(1)).unwrap().data().len(), disk.told()), (10, [1, 0, 0, 0]));
    let (dropping, disk) = with_disk(Options { oversized_keeps_old: false, ..conforming() });
    put(&dropping, 1, 10);
    assert_eq!(put(&dropping, 1, 1025), Put::Refused(Refusal::TooLarge));
    assert_eq!((dropping.get(&key(1)).is_none(), disk.told()), (true, [1, 1, 1, 0]));
    assert_eq!(dropping.statistics().unwrap().bytes, 0);
}

#[test]
fn an_empty_program_is_stored_unless_said_otherwise() {
    let storing = cache(conforming());
    assert_eq!((put(&storing, 1, 0), storing.get(&key(1)).unwrap().data().len()), (Put::Stored, 0));
    assert_eq!(storing.statistics().unwrap().bytes, 1, "so that there is an end to them");
    let refusing = cache(Options { store_empty: false, ..conforming() });
    assert_eq!((put(&refusing, 1, 0), refusing.get(&key(1)).is_none()), (Put::Refused(Refusal::Empty), true));
}

#[test]
fn the_last_put_wins_unless_said_otherwise() {
    let last = cache(conforming());
    assert_eq!((put(&last, 1, 10), put(&last, 1, 20)), (Put::Stored, Put::Replaced));
    assert_eq!((last.get(&key(1)).unwrap().data().len(), last.statistics().unwrap().bytes), (20, 20));
    let first = cache(Options { last_put_wins: false, ..conforming() });
    assert_eq!((put(&first, 1, 10), put(&first, 1, 20)), (Put::Stored, Put::Refused(Refusal::Exists)));
    assert_eq!((first.get(&key(1)).unwrap().data().len(), first.statistics().unwrap().bytes), (10, 10));
}

#[test]
fn a_limit_of_zero_keeps_nothing_and_a_huge_one_everything() {
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
        assert_eq!(all.trim(0), 100);
    }
}

#[test]
fn a_lowered_limit_evicts_at_once_and_a_raised_one_lets_more_in() {
    let cache = cache(conforming());
    (0..4).for_each(|number| _ = put(&cache, number, 256));
    assert_eq!((cache.set_limit(512), cached(&cache, 0..4)), (2, vec![2, 3]));
    assert_eq!(put(&cache, 4, 513), Put::Refused(Refusal::TooLarge));
    cache.set_limit(2048);
    assert_eq!((put(&cache, 4, 1536), cached(&cache, 0..5)), (Put::Stored, vec![2, 3, 4]));
    assert_eq!((cache.set_limit(0), cached(&cache, 0..5)), (3, vec![]));
    assert_eq!(cache.statistics().unwrap().left(Reason::LimitLowered), 5);
}

#[test]
fn moderate_pressure_keeps_a_quarter_and_critical_nothing() {
    let (cache, disk) = with_disk(conforming());
    (0..8).for_each(|number| _ = put(&cache, number, 128));
    assert_eq!(cache.pressure(Pressure::None), 0);
    assert_eq!((cache.pressure(Pressure::Moderate), cached(&cache, 0..8)), (6, vec![6, 7]));
    assert_eq!((cache.pressure(Pressure::Critical), cached(&cache, 0..8)), (2, vec![]));
    assert_eq!((put(&cache, 9, 1024), cache.statistics().unwrap().left(Reason::Pressure)), (Put::Stored, 8));
    assert_eq!(disk.told(), [9, 0, 0, 0], "what leaves memory stays on the disk");
}

#[test]
fn the_cost_aware_policy_lets_go_what_is_cheap_to_build_again() {
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
fn the_policy_by_groups_takes_the_newest_of_the_oldest_group() {
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
fn the_start_up_set_is_told_in_order_and_can_be_evicted_last() {
    for policy in [Policy::LeastRecentlyUsed, Policy::CostAware, Policy::Groups] {
        let cache = cache(Options { start_up_set_last: true, policy, ..conforming() });
        for number in [3, 1, 9] {
            cache.mark_start_up(&key(number), true).unwrap();
        }
        (0..4).for_each(|number| _ = put(&cache, number, 256));
        (4..20).for_each(|number| _ = put(&cache, number, 256));
        // 9 has come and stayed too, so that one place is left, which the last one has.
        assert_eq!(cached(&cache, 0..20), [1, 3, 9, 19], "{policy:?}");
        cache.mark_start_up(&key(1), false).unwrap();
        put(&cache, 20, 512);
        assert_eq!(cached(&cache, 0..21), [3, 9, 20], "{policy:?}: one that is no longer marked goes as any other");
        put(&cache, 21, 1024);
        assert_eq!(cached(&cache, 0..22), [21], "{policy:?}: last is not never");
        assert_eq!(cache.start_up_keys().unwrap(), [key(3), key(9)]);
    }
}

#[test]
fn marking_again_and_again_takes_no_more_memory() {
    let cache = cache(conforming());
    put(&cache, 1, 10);
    let turn = || {
        for _ in 0..200 {
            cache.mark_start_up(&key(1), true).unwrap();
            cache.mark_start_up(&key(1), false).unwrap();
        }
        cache.memory_used()
    };
    assert_eq!(turn(), turn());
    (0..200).for_each(|_| _ = put(&cache, 1, 10));
    assert_eq!(turn(), turn());
}

#[test]
fn what_is_loaded_ahead_makes_nothing_else_go_and_goes_first() {
    let (cache, disk) = with_disk(conforming());
    let program = |bytes: usize| vec![7; bytes];
    let load = |number, bytes, wanted| {
        cache.load(&key(number), &Program { data: &program(bytes), ..Program::default() }, wanted).unwrap()
    };
    put(&cache, 1, 512);
    assert_eq!(load(1, 10, Wanted::Perhaps), Put::Refused(Refusal::Exists), "what memory has is newer");
    assert_eq!(load(2, 500, Wanted::Perhaps), Put::Stored);
    assert_eq!(load(3, 500, Wanted::Perhaps), Put::Refused(Refusal::NoRoom));
    assert_eq!(load(3, 500, Wanted::Now), Put::Stored);
    assert_eq!(cached(&cache, 1..4), [1, 3]);
    assert_eq!(disk.told(), [1, 0, 0, 0], "what comes from the disk is not saved again");
    let statistics = cache.statistics().unwrap();
    assert_eq!((statistics.puts, statistics.loads, statistics.histogram(Measure::BinaryBytes).count()), (1, 2, 1));
}

#[test]
fn the_disk_hears_of_misses_removals_and_clearing_and_not_of_evictions() {
    let (cache, disk) = with_disk(conforming());
    put(&cache, 1, 1000);
    put(&cache, 2, 1000);
    assert_eq!(disk.told(), [2, 0, 0, 0]);
    assert!(cache.get(&key(1)).is_none());
    assert_eq!(disk.told(), [2, 1, 0, 0]);
    assert_eq!((cache.remove(&key(1)), cache.remove(&key(2))), (false, true));
    assert_eq!(disk.told(), [2, 1, 2, 0]);
    cache.clear(false);
    cache.clear(true);
    assert_eq!(disk.told(), [2, 1, 2, 1]);
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
    cache.remove(&key(2));
    cache.shader_compiled(&key(50)).unwrap();
    cache.record(Measure::HitMicros, 12);
    let statistics = cache.statistics().unwrap();
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
fn the_report_of_a_whole_cache_is_that_of_its_memory_and_more() {
    let memory = cache(conforming());
    put(&memory, 1, 20);
    let whole = CacheStatistics {
        memory: memory.statistics().unwrap(),
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
    let (mut report, document) = (String::new(), include_str!("../../docs/formats.md"));
    CacheStatistics { memory: cache(conforming()).statistics().unwrap(), ..Default::default() }
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
fn a_miss_says_which_parts_differ_from_the_nearest_key() {
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
    assert_eq!(why.to_string(), "all parts are those of a known program; it has left memory: capacity");
    let longer = format!("{source};");
    let sentence = cache.why_missed(&material(&[("vertex", &longer), old[1], old[2]])).unwrap().unwrap().to_string();
    let begins = "the nearest known program differs in vertex (was 128 bytes, ";
    assert!(sentence.starts_with(begins) && sentence.contains(", is 129 bytes, "), "{sentence}");
}

#[test]
fn a_key_of_another_environment_is_told_from_one_of_this() {
    let cache = cache(Options { described_keys: 16, ..conforming() });
    cache.set_environment(2, material(&[("driver", "25.0.7")]));
    let known = material(&[("defines", "A=1"), ("driver", "22.3.6")]);
    cache.recall(1, &key(1), known.clone()).unwrap();
    cache.recall(1, &key(1), Material::default()).unwrap();
    let why = cache.why_missed(&material(&[("defines", "A=1")])).unwrap().unwrap();
    assert_eq!((why.nearest, why.in_common, why.whereabouts), (key(1), 1, Whereabouts::OtherEnvironment));
    assert_eq!(
        why.to_string(),
        "the nearest known program differs in driver (was '22.3.6', is '25.0.7'); it is of another environment, and never \
         loaded"
    );
    cache.describe(&key(1), &material(&[("defines", "A=1")])).unwrap();
    let why = cache.why_missed(&material(&[("defines", "A=1")])).unwrap().unwrap();
    assert_eq!((why.differences.len(), why.whereabouts), (0, Whereabouts::Elsewhere));
}

#[test]
fn a_damaged_material_is_none_and_long_labels_are_cut() {
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
fn only_so_many_keys_are_described_and_none_unless_asked_for() {
    let off = cache(conforming());
    off.describe(&key(1), &material(&[("a", "1")])).unwrap();
    assert!(off.why_missed(&material(&[("a", "1")])).unwrap().is_none());
    let two = cache(Options { described_keys: 2, ..conforming() });
    for (number, value) in [(1, "1"), (2, "2"), (3, "3")] {
        two.describe(&key(number), &material(&[("a", value)])).unwrap();
    }
    assert_eq!(two.why_missed(&material(&[("a", "1")])).unwrap().unwrap().in_common, 0);
    assert_eq!(two.why_missed(&material(&[("a", "2")])).unwrap().unwrap().nearest, key(2));
    two.recall(0, &key(9), material(&[("a", "9")])).unwrap();
    assert_eq!(two.why_missed(&material(&[("a", "9")])).unwrap().unwrap().in_common, 0, "there is no room for it");
}

#[test]
fn a_material_has_the_bytes_of_the_document() {
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

/// Long before there were so many saves that maintenance would be due anyway.
#[test]
fn the_disk_keeps_to_its_limit_by_what_is_written() {
    use super::disk::{DiskOptions, DiskTier};
    use crate::executor::{Executor, Options as ExecutorOptions};
    use crate::store::{self, fault_io::FaultDisk};
    let limit_bytes = 1 << 20;
    let options = DiskOptions {
        directory: Some("/cache".into()),
        environment: 1,
        store: store::Options { limit_bytes, ..store::Options::new(|| 1_700_000_000) },
        waiting_limit: 1 << 20,
        load_ahead: false,
        executor: Executor::new(ExecutorOptions::default()).unwrap(),
    };
    let tier = Arc::new(DiskTier::new(options, Arc::new(FaultDisk::default().process())).unwrap());
    let partners = Partners { disk: Some(tier.clone()), quarantine: None };
    let cache = Arc::new(ProgramCache::new(Options::default(), partners).unwrap());
    tier.bind(&cache);
    for number in 0..200 {
        put(&cache, number, 20_000);
        assert!(tier.wait_idle(std::time::Duration::MAX));
        let store::Statistics { live_bytes, file_bytes, .. } = tier.statistics();
        assert!(live_bytes <= limit_bytes + limit_bytes / 16 + 30_000, "{live_bytes} after {number}");
        assert!(file_bytes <= 2 * limit_bytes, "{file_bytes} after {number}");
    }
    assert!(tier.statistics().evicted > 100);
}
