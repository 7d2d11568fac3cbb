//! Every order against a search of all there is, and how much it looks at and keeps.

use crate::testing::scaled;
use std::cell::Cell;

use proptest::prelude::*;

use super::blob::{Entry, Stored};
use super::order::{Order, Rank};
use super::table::Table;
use super::tests::key;
use super::*;

/// An order with a table beside it, as memory has it, and what is kept to the last.
struct Held {
    table: Table,
    order: Order,
    kept: Vec<Key>,
    entries: usize,
    serial: u64,
    /// Ranks that the order has asked for.
    looks: Cell<usize>,
}

impl Held {
    fn of(order: Order) -> Self {
        let (kept, looks) = (Vec::new(), Cell::new(0));
        Self { table: Table::new(), order, kept, entries: 0, serial: 0, looks }
    }

    fn rank(&self, entry: &Entry) -> Rank {
        (self.kept.contains(entry.blob().key()), entry.stamp())
    }

    /// Put as memory does: the old one leaves the order first and the table last.
    fn put(&mut self, number: u64, group: u32) {
        self.serial += 1;
        let seat = self.order.reserve_one(group).unwrap();
        let mut stored = Stored::copy(&Program { group, ..Program::default() }).unwrap();
        stored.serial = self.serial;
        let entry = Entry::share(&key(number), stored, seat).unwrap();
        self.table.reserve_one(&key(number)).unwrap();
        if let Some(old) = self.table.peek(&key(number), Entry::clone) {
            self.entries -= 1;
            self.order.removed(&old);
            assert!(self.table.get(&key(number)).is_some(), "it is used while it is being replaced");
        }
        entry.came(self.table.next_stamp(), 0.0, 0);
        let rank = self.rank(&entry);
        self.order.insert(&entry, rank);
        self.table.insert(entry);
        self.entries += 1;
        self.tidy();
    }

    fn remove(&mut self, key: &Key) -> bool {
        let entry = self.table.remove(key);
        if let Some(entry) = &entry {
            self.order.removed(entry);
            self.entries -= 1;
        }
        entry.is_some()
    }

    fn mark(&mut self, number: u64, kept: bool) {
        self.kept.retain(|other| *other != key(number));
        self.kept.extend(kept.then_some(key(number)));
        self.order.reserve_look().unwrap();
        let rank = self.table.peek(&key(number), |entry| self.rank(entry));
        if let Some(rank) = rank {
            let order = &mut self.order;
            self.table.peek(&key(number), |entry| order.look_again(entry, rank));
        }
        self.tidy();
    }

    fn victim(&mut self) -> Option<Key> {
        let mut order = std::mem::replace(&mut self.order, Order::of_entries());
        let victim = order.victim(&self.table.notes, |key| {
            self.looks.set(self.looks.get() + 1);
            self.table.peek(key, |entry| (entry.blob().serial(), self.rank(entry)))
        });
        self.order = order;
        victim
    }

    fn evict(&mut self) -> Option<Key> {
        let victim = self.victim()?;
        assert!(self.remove(&victim));
        Some(victim)
    }

    fn tidy(&mut self) {
        let mut order = std::mem::replace(&mut self.order, Order::of_entries());
        order.tidy(self.entries, |show| self.table.for_each(|entry| show(entry.blob(), self.rank(entry))));
        self.order = order;
    }

    /// Each entry that is there: its group, rank and key.
    fn all(&self) -> Vec<(u32, Rank, Key)> {
        let mut all = Vec::new();
        self.table.for_each(|entry| all.push((entry.blob().group(), self.rank(entry), *entry.blob().key())));
        all
    }
}

/// What the order by groups should say, from every member of every group; `last_use` has those that have left.
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
    fn ranks_that_are_kept_up_are_those_computed_from_scratch(steps in prop::collection::vec(step(), 1..300)) {
        let mut groups = Held::of(Order::of_groups());
        let mut last_use = [0; GROUPS as usize];
        for step in steps {
            for (group, (_, stamp), _) in groups.all() {
                last_use[group as usize] = last_use[group as usize].max(stamp);
            }
            match step {
                Step::Get(number) => drop(groups.table.get(&key(number))),
                Step::Put(number, group) => groups.put(number, group),
                Step::Remove(number) => _ = groups.remove(&key(number)),
                Step::Mark(number, kept) => groups.mark(number, kept),
                Step::Evict => {
                    let expected = expected_of_groups(&groups, &last_use);
                    prop_assert_eq!(groups.evict(), expected);
                }
                Step::Clear => {
                    groups.table.clear();
                    groups.order.clear(&groups.table.notes);
                    (groups.entries, last_use) = (0, [0; GROUPS as usize]);
                }
            }
            groups.order.check();
        }
    }
}

fn orders() -> [Order; 2] {
    [Order::of_entries(), Order::of_groups()]
}

/// As many programs, in so many groups, as are kept while each put makes one go, and some are used before it.
fn turn_over(held: &mut Held, entries: u64, groups: u64, puts: u64) -> usize {
    let mut uses = 0;
    for number in 0..entries + puts {
        if number >= entries {
            for back in [1, 2, 2, entries / 2] {
                uses += usize::from(held.table.get(&key(number - back)).is_some());
            }
            assert!(held.evict().is_some());
        }
        held.put(number, (number % groups) as u32);
        if number % 16 == 0 {
            let (nodes, seats) = held.order.sizes();
            assert!(nodes <= 2 * held.entries + order::FEW + 1, "{nodes} nodes for {} entries", held.entries);
            assert!(seats <= entries as usize + 1, "{seats} seats");
        }
    }
    uses
}

#[test]
fn what_an_order_keeps_and_looks_at_does_not_grow_with_the_size_of_a_group() {
    for groups in [1, 7, 1000] {
        for order in orders() {
            let mut held = Held::of(order);
            let puts = 10_000;
            let uses = turn_over(&mut held, 1000, groups, puts);
            let changes = uses + 1000 + 2 * puts as usize;
            assert!(
                held.looks.get() <= 2 * changes,
                "{} looks, {changes} uses and puts, {groups} groups",
                held.looks.get()
            );
            // Nobody is used any more: who goes is known, or found by one look each.
            held.looks.set(0);
            let entries = held.entries;
            (0..entries).for_each(|_| assert!(held.evict().is_some()));
            assert!(held.evict().is_none());
            assert!(held.looks.get() <= 4 * entries, "{} looks at {entries}", held.looks.get());
        }
    }
}

#[test]
fn a_use_of_a_group_is_one_look_however_large_the_group_and_however_often_it_is_used() {
    let mut held = Held::of(Order::of_groups());
    (0..5000).for_each(|number| held.put(number, 0));
    for round in 0..100 {
        (0..20).for_each(|_| assert!(held.table.get(&key(round)).is_some()));
        held.looks.set(0);
        assert_eq!((held.evict(), held.looks.get()), (Some(key(round)), 1));
    }
}

#[test]
fn putting_marking_and_removing_one_key_again_and_again_keeps_no_more() {
    for order in orders() {
        let mut held = Held::of(order);
        for round in 0..10_000 {
            held.put(1, round % 300);
            held.mark(1, round % 2 == 0);
            if round % 7 == 0 {
                assert!(held.remove(&key(1)));
            }
        }
        let (nodes, seats) = held.order.sizes();
        assert!(nodes <= order::FEW + 4 && seats <= 2, "{nodes} nodes, {seats} seats");
        assert!(held.order.memory_used() < 50_000, "empty groups are dropped");
    }
}
