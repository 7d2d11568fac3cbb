//! Compares every order with a search of all entries, and bounds its looks and its memory.

use std::cell::Cell;

use proptest::prelude::*;

use super::blob::{Entry, Stored};
use super::groups::{FEW, Rank};
use super::options::Policy;
use super::order::Order;
use super::table::Table;
use crate::program_cache::key::Key;
use crate::program_cache::program::Program;
use crate::testing::scaled;

fn key(number: u64) -> Key {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&number.to_le_bytes());
    key
}

/// An order with its table, and the keys that are kept to the last.
struct Held {
    table: Table,
    order: Order,
    kept: Vec<Key>,
    entries: usize,
    serial: u64,
    /// The number of ranks that the order has asked for.
    looks: Cell<usize>,
}

fn rank(kept: &[Key], entry: &Entry) -> Rank {
    (kept.contains(entry.blob().key()), entry.stamp())
}

impl Held {
    fn of(policy: Policy) -> Self {
        let (kept, looks) = (Vec::new(), Cell::new(0));
        Self { table: Table::default(), order: Order::new(policy), kept, entries: 0, serial: 0, looks }
    }

    /// Put in the order of the memory tier: the old entry leaves the order first, and the table last.
    fn put(&mut self, number: u64, group: u32) {
        self.serial += 1;
        let Self { order, table, kept, looks, .. } = self;
        let rank_of = |entry: &Entry| {
            looks.set(looks.get() + 1);
            rank(kept, entry)
        };
        let seat = order.reserve_one(group, table, rank_of).unwrap();
        let mut stored = Stored::copy(&key(number), &Program { group, ..Program::default() }).unwrap();
        stored.serial = self.serial;
        let entry = Entry::share(stored, seat).unwrap();
        self.table.reserve_one(&key(number)).unwrap();
        if let Some(old) = self.table.peek(&key(number), Entry::clone) {
            self.entries -= 1;
            self.order.remove(&old);
            assert!(self.table.get(&key(number), None).is_some(), "it is used while it is being replaced");
        }
        entry.start(self.table.next_stamp(), 0.0, 0);
        self.order.insert(&entry, rank(&self.kept, &entry));
        self.table.insert(entry);
        self.entries += 1;
        self.tidy();
    }

    fn remove(&mut self, key: &Key) -> bool {
        let entry = self.table.remove(key);
        if let Some(entry) = &entry {
            self.order.remove(entry);
            self.entries -= 1;
        }
        entry.is_some()
    }

    fn mark(&mut self, number: u64, kept: bool) {
        self.kept.retain(|other| *other != key(number));
        self.kept.extend(kept.then_some(key(number)));
        self.order.reserve_rank().unwrap();
        let Self { order, table, kept, .. } = self;
        table.peek(&key(number), |entry| order.rank(entry, rank(kept, entry)));
        self.tidy();
    }

    fn victim(&mut self) -> Option<Key> {
        let Self { order, table, kept, looks, .. } = self;
        order.victim(table, None, |entry| {
            looks.set(looks.get() + 1);
            rank(kept, entry)
        })
    }

    fn evict(&mut self) -> Option<Key> {
        let victim = self.victim()?;
        assert!(self.remove(&victim));
        Some(victim)
    }

    fn tidy(&mut self) {
        let Self { order, table, kept, entries, .. } = self;
        order.tidy(*entries, table, |entry| rank(kept, entry));
    }

    /// Group, rank and key of all entries.
    fn all(&self) -> Vec<(u32, Rank, Key)> {
        let mut all = Vec::new();
        self.table.for_each(|entry| all.push((entry.group(), rank(&self.kept, entry), *entry.blob().key())));
        all
    }
}

/// The expected victim of the order by groups, from every member of every group. `last_use` includes members that left.
fn expected_of_groups(held: &Held, last_use: &[u64]) -> Option<Key> {
    let all = held.all();
    let members = |group: u32| all.iter().filter(move |(of, _, _)| *of == group);
    let rank = |group: u32| {
        let latest = members(group).map(|(_, (_, stamp), _)| *stamp).max().unwrap_or(0);
        (members(group).all(|(_, (kept, _), _)| *kept), latest.max(last_use[group as usize]))
    };
    let oldest = all.iter().map(|(group, _, _)| *group).min_by_key(|&group| rank(group))?;
    members(oldest).max_by_key(|(_, (kept, stamp), _)| (!kept, *stamp)).map(|(_, _, key)| *key)
}

#[derive(Clone, Debug)]
enum Step {
    Get(u64),
    Put(u64, u32),
    Remove(u64),
    Mark(u64, bool),
    Evict,
    Clear,
}

const KEYS: u64 = 30;
const GROUPS: u32 = 6;

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        40 => (0..KEYS).prop_map(Step::Get),
        20 => (0..KEYS, 0..GROUPS).prop_map(|(number, group)| Step::Put(number, group)),
        4 => (0..KEYS).prop_map(Step::Remove),
        8 => (0..KEYS, any::<bool>()).prop_map(|(number, kept)| Step::Mark(number, kept)),
        20 => Just(Step::Evict),
        1 => Just(Step::Clear),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: scaled(100), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn incremental_ranks_equal_ranks_computed_from_scratch(steps in prop::collection::vec(step(), 1..300)) {
        let mut groups = Held::of(Policy::Groups);
        let mut last_use = [0; GROUPS as usize];
        for step in steps {
            for (group, (_, stamp), _) in groups.all() {
                last_use[group as usize] = last_use[group as usize].max(stamp);
            }
            match step {
                Step::Get(number) => drop(groups.table.get(&key(number), None)),
                Step::Put(number, group) => groups.put(number, group),
                Step::Remove(number) => _ = groups.remove(&key(number)),
                Step::Mark(number, kept) => groups.mark(number, kept),
                Step::Evict => {
                    let expected = expected_of_groups(&groups, &last_use);
                    prop_assert_eq!(groups.evict(), expected);
                }
                Step::Clear => {
                    groups.table.clear();
                    groups.order.clear();
                    (groups.entries, last_use) = (0, [0; GROUPS as usize]);
                }
            }
            groups.order.check();
        }
    }
}

const ORDERS: [Policy; 2] = [Policy::LeastRecentlyUsed, Policy::Groups];

/// Fill to `entries` programs in `groups`. Then use some and evict one before each further put. Returns the number of uses.
fn turn_over(held: &mut Held, entries: u64, groups: u64, puts: u64) -> usize {
    let mut uses = 0;
    for number in 0..entries + puts {
        if number >= entries {
            for back in [1, 2, 2, entries / 2] {
                uses += usize::from(held.table.get(&key(number - back), None).is_some());
            }
            assert!(held.evict().is_some());
        }
        held.put(number, (number % groups) as u32);
        if number % 16 == 0 {
            let (nodes, seats) = held.order.sizes();
            assert!(nodes <= 2 * held.entries + FEW + 1, "{nodes} nodes for {} entries", held.entries);
            assert!(seats <= entries as usize + 1, "{seats} seats");
        }
    }
    uses
}

#[test]
fn looks_and_memory_do_not_grow_with_the_size_of_a_group() {
    for groups in [1, 7, 1000] {
        for order in ORDERS {
            let mut held = Held::of(order);
            let puts = 10_000;
            let uses = turn_over(&mut held, 1000, groups, puts);
            let changes = uses + 1000 + 2 * puts as usize;
            assert!(
                held.looks.get() <= 2 * changes,
                "{} looks, {changes} uses and puts, {groups} groups",
                held.looks.get()
            );
            // Without uses the next victim is known, or found by one look each.
            held.looks.set(0);
            let entries = held.entries;
            (0..entries).for_each(|_| assert!(held.evict().is_some()));
            assert!(held.evict().is_none());
            assert!(held.looks.get() <= 4 * entries, "{} looks at {entries}", held.looks.get());
        }
    }
}

#[test]
fn use_costs_one_look_for_any_group_size_and_number_of_uses() {
    let mut held = Held::of(Policy::Groups);
    (0..5000).for_each(|number| held.put(number, 0));
    for round in 0..100 {
        (0..20).for_each(|_| assert!(held.table.get(&key(round), None).is_some()));
        held.looks.set(0);
        assert_eq!((held.evict(), held.looks.get()), (Some(key(round)), 1));
    }
}

#[test]
fn repeated_puts_marks_and_removals_of_one_key_keep_memory_constant() {
    for order in ORDERS {
        let mut held = Held::of(order);
        for round in 0..10_000 {
            held.put(1, round % 300);
            held.mark(1, round % 2 == 0);
            if round % 7 == 0 {
                assert!(held.remove(&key(1)));
            }
        }
        let (nodes, seats) = held.order.sizes();
        assert!(nodes <= FEW + 4 && seats <= 2, "{nodes} nodes, {seats} seats");
        assert!(held.order.memory_used() < 50_000, "empty groups are dropped");
    }
}
