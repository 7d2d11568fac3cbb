//! Every policy against a list that is searched from end to end.

use crate::testing::scaled;
use proptest::prelude::*;

use super::{cache, key};
use crate::program_cache::*;

#[derive(Clone, Debug)]
struct Held {
    number: u64,
    size: u64,
    cost: u64,
    group: u32,
    value: u8,
    stamp: u64,
    uses: u32,
    last_use: f64,
}

/// The expected content of the cache.
struct Model {
    options: Options,
    held: Vec<Held>,
    marked: Vec<u64>,
    last_use_of_group: [u64; 5],
    stamp: u64,
    age: f64,
    half_life: f64,
    gone: Vec<Gone>,
}

/// A program that made room, in the order in which they went; forgotten when it comes again.
#[derive(Clone, Debug)]
struct Gone {
    number: u64,
    uses: u32,
    last_use: f64,
    is_forgotten: bool,
}

impl Model {
    fn of(options: Options) -> Self {
        let (held, marked, gone) = (Vec::new(), Vec::new(), Vec::new());
        Self { options, held, marked, last_use_of_group: [0; 5], stamp: 0, age: 0.0, half_life: 4.0, gone }
    }

    fn used(&self) -> u64 {
        self.held.iter().map(|held| held.size).sum()
    }

    fn worth(held: &Held) -> f64 {
        64.0 + held.last_use + (f64::from(held.uses) * held.cost.max(1) as f64 / held.size as f64).log2()
    }

    fn is_kept(&self, held: &Held) -> bool {
        self.options.start_up_set_last && self.marked.contains(&held.number)
    }

    fn victim(&self) -> usize {
        let places = 0..self.held.len();
        let held = |place: usize| &self.held[place];
        match self.options.policy {
            Policy::LeastRecentlyUsed => places.min_by_key(|&place| (self.is_kept(held(place)), held(place).stamp)),
            Policy::CostAware => places.min_by(|&one, &other| {
                let rank = |place| (self.is_kept(held(place)), Self::worth(held(place)), held(place).stamp);
                rank(one).partial_cmp(&rank(other)).unwrap()
            }),
            Policy::Groups => {
                let group_rank = |group: u32| {
                    let members = || self.held.iter().filter(move |held| held.group == group);
                    (members().all(|held| self.is_kept(held)), self.last_use_of_group[group as usize])
                };
                let oldest = self.held.iter().map(|held| held.group).min_by_key(|&group| group_rank(group)).unwrap();
                let members = places.filter(|&place| held(place).group == oldest);
                members.max_by_key(|&place| (!self.is_kept(held(place)), held(place).stamp))
            }
        }
        .unwrap()
    }

    fn make_room(&mut self, most: u64) {
        while self.used() > most {
            let Held { number, uses, last_use, .. } = self.held.remove(self.victim());
            self.gone.push(Gone { number, uses, last_use, is_forgotten: false });
            let most = 16.max(2 * self.held.len());
            let too_many = |gone: &[Gone]| gone.iter().filter(|gone| !gone.is_forgotten).count() > most;
            while too_many(&self.gone) || self.gone.len() > 2 * most {
                self.gone.remove(0);
            }
        }
    }

    /// A program that was missed is put; how often it was used before it went.
    fn missed(&mut self, number: u64, size: u64) -> u32 {
        let mut uses = 0;
        if let Some(gone) = self.gone.iter_mut().find(|gone| gone.number == number && !gone.is_forgotten) {
            (gone.is_forgotten, uses) = (true, gone.uses);
            let step = 3.0 / self.held.len().max(1) as f64;
            let is_soon = (self.age - gone.last_use) * self.half_life < 1.5;
            let logarithm = self.half_life.log2() + if is_soon { -step } else { step };
            self.half_life = logarithm.clamp(-4.0, 6.0).exp2();
        }
        self.age += size as f64 / self.options.limit_bytes as f64 / self.half_life;
        uses
    }

    fn get(&mut self, number: u64) -> Option<u8> {
        let (stamp, age) = (self.stamp + 1, self.age);
        let held = self.held.iter_mut().find(|held| held.number == number)?;
        (held.stamp, held.last_use, held.uses) = (stamp, age, held.uses + 1);
        self.last_use_of_group[held.group as usize] = stamp;
        self.stamp = stamp;
        Some(held.value)
    }

    fn put(&mut self, number: u64, size: u64, cost: u64, group: u32, value: u8) -> bool {
        let limit = self.options.limit_bytes;
        if size > limit || size == limit && !self.options.store_at_limit {
            if !self.options.oversized_keeps_old {
                self.held.retain(|held| held.number != number);
            }
            return false;
        }
        if !self.options.last_put_wins && self.held.iter().any(|held| held.number == number) {
            return false;
        }
        let was_held = self.held.iter().any(|held| held.number == number);
        let uses_before = if was_held { 0 } else { self.missed(number, size) };
        self.held.retain(|held| held.number != number);
        self.make_room(limit - size);
        self.stamp += 1;
        let stamp = self.stamp;
        self.last_use_of_group[group as usize] = stamp;
        self.held.push(Held { number, size, cost, group, value, stamp, uses: uses_before + 1, last_use: self.age });
        true
    }
}

#[derive(Clone, Debug)]
enum Step {
    Get(u64),
    Put { number: u64, bytes: usize, cost: u64, value: u8 },
    Remove(u64),
    Trim(u64),
    Limit(u64),
    Mark(u64, bool),
    Clear,
}

const KEYS: u64 = 24;

fn step() -> impl Strategy<Value = Step> {
    let number = 0..KEYS;
    let put = (number.clone(), 0..260_usize, 0..100_000_u64, any::<u8>())
        .prop_map(|(number, bytes, cost, value)| Step::Put { number, bytes, cost, value });
    prop_oneof![
        40 => number.clone().prop_map(Step::Get),
        40 => put,
        4 => number.clone().prop_map(Step::Remove),
        2 => (0..1500_u64).prop_map(Step::Trim),
        2 => (0..1500_u64).prop_map(Step::Limit),
        4 => (number, any::<bool>()).prop_map(|(number, marked)| Step::Mark(number, marked)),
        1 => Just(Step::Clear),
    ]
}

fn options() -> impl Strategy<Value = Options> {
    let policy = prop_oneof![Just(Policy::LeastRecentlyUsed), Just(Policy::CostAware), Just(Policy::Groups)];
    let counted = prop_oneof![Just(Counted::KeyAndValue), Just(Counted::Data)];
    (policy, counted, any::<[bool; 4]>(), 200..1500_u64).prop_map(|(policy, counted, choices, limit_bytes)| {
        let [store_at_limit, oversized_keeps_old, last_put_wins, start_up_set_last] = choices;
        Options {
            limit_bytes,
            policy,
            counted,
            store_at_limit,
            oversized_keeps_old,
            last_put_wins,
            start_up_set_last,
            ..Options::default()
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: scaled(200), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_policy_behaves_like_a_searched_list(options in options(), steps in prop::collection::vec(step(), 1..250)) {
        let cache = cache(options);
        let mut model = Model::of(options);
        let mut pinned = Vec::new();
        for step in steps {
            match step {
                Step::Get(number) => {
                    let found = cache.get(&key(number));
                    prop_assert_eq!(found.as_ref().map(Blob::format), model.get(number).map(u32::from));
                    pinned.extend(found);
                }
                Step::Put { number, bytes, cost, value } => {
                    let (data, group) = (vec![value; bytes], number as u32 % 5);
                    let program = Program { format: value.into(), data: &data, cost_us: cost, group, ..Program::default() };
                    let overhead = if options.counted == Counted::Data { 0 } else { 32 };
                    let stored = model.put(number, (bytes as u64 + overhead).max(1), cost, group, value);
                    prop_assert_eq!(!matches!(cache.put(&key(number), &program).unwrap(), Put::Refused(_)), stored);
                }
                Step::Remove(number) => {
                    let held = model.held.iter().any(|held| held.number == number);
                    model.held.retain(|held| held.number != number);
                    prop_assert_eq!(cache.remove(&key(number)).unwrap(), held);
                }
                Step::Trim(most) => {
                    let before = model.held.len();
                    model.make_room(most);
                    prop_assert_eq!(cache.memory().trim(most), before - model.held.len());
                }
                Step::Limit(limit) => {
                    model.options.limit_bytes = limit;
                    model.make_room(limit);
                    cache.memory().set_limit(limit);
                }
                Step::Mark(number, marked) => {
                    model.marked.retain(|&other| other != number);
                    model.marked.extend(marked.then_some(number));
                    cache.memory().mark_start_up(&key(number), marked).unwrap();
                }
                Step::Clear => {
                    model.held.clear();
                    model.gone.clear();
                    cache.clear(None).unwrap();
                }
            }
            let held = |number: u64| model.held.iter().any(|held| held.number == number);
            for number in 0..KEYS {
                let cached = cache.memory().link_status(&key(number)) == Status::Succeeded;
                prop_assert_eq!(cached, held(number), "key {} after the step", number);
            }
            let statistics = cache.memory().statistics().unwrap();
            prop_assert_eq!((statistics.bytes, statistics.entries), (model.used(), model.held.len() as u64));
        }
        for view in pinned {
            prop_assert!(view.data().iter().all(|&byte| u32::from(byte) == view.format()), "a pinned view has changed");
        }
    }
}
