//! Random calls against lists that are searched from end to end.

use proptest::prelude::*;

use super::*;
use crate::testing::scaled;

const KEYS: u32 = 16;

#[derive(Clone, Copy, Debug)]
enum Step {
    Add(u32, u64),
    Group(u32),
    Masks(u64, u64),
    Mode(Mode),
    Resume,
    Batch(u32),
    Request(u32),
    Frame,
    Take,
    TakeKey(u32),
    Finish(usize, Outcome),
    Settle(u32, State),
}

/// A pipeline of the model.
#[derive(Default)]
struct Known {
    number: u32,
    masks: Vec<u64>,
    state: State,
    is_requested: bool,
    oks: u32,
    has_entry: bool,
}

#[derive(Default)]
struct Model {
    known: Vec<Known>,
    requests: Vec<u32>,
    running: Vec<(Job, u32)>,
    masks: (u64, u64),
    mode: Mode,
    resumed: Mode,
    batch: u32,
    grant: Option<(Lane, u32)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Lane {
    Precompile,
    Regular,
}

impl Model {
    fn find(&mut self, number: u32) -> Option<&mut Known> {
        self.known.iter_mut().find(|known| known.number == number)
    }

    fn create(&mut self, number: u32) -> &mut Known {
        if self.find(number).is_none() {
            self.known.push(Known { number, ..Known::default() });
        }
        self.find(number).expect("it was created")
    }

    fn lane_of(&self, known: &Known) -> Option<Lane> {
        let has = |current: u64| known.masks.iter().any(|mask| mask & current == current);
        if self.resumed == Mode::Precompile && has(self.masks.1) {
            Some(Lane::Precompile)
        } else {
            has(self.masks.0).then_some(Lane::Regular)
        }
    }

    fn waiting(&self, lane: Lane) -> Option<u32> {
        let waits =
            |known: &&Known| known.state == State::Queued && !known.is_requested && self.lane_of(known) == Some(lane);
        self.known.iter().find(waits).map(|known| known.number)
    }

    fn lane(&self) -> Option<Lane> {
        let lanes = [Lane::Precompile, Lane::Regular].into_iter();
        if self.mode == Mode::Paused { None } else { lanes.into_iter().find(|&lane| self.waiting(lane).is_some()) }
    }

    fn reselect(&mut self) {
        for at in 0..self.known.len() {
            let known = &self.known[at];
            if matches!(known.state, State::Unselected | State::Queued) {
                let is_queued = known.is_requested || self.lane_of(known).is_some();
                self.known[at].state = if is_queued { State::Queued } else { State::Unselected };
            }
        }
    }

    fn remaining(&self) -> usize {
        self.known.iter().filter(|known| matches!(known.state, State::Queued | State::Running)).count()
    }

    fn set_mode(&mut self, mode: Mode) {
        (self.mode, self.grant) = (mode, None);
        if mode != Mode::Paused {
            self.resumed = mode;
        }
        self.reselect();
    }

    fn take(&mut self) -> Option<u32> {
        if !self.requests.is_empty() {
            return Some(self.requests.remove(0));
        }
        let lane = self.lane()?;
        let (granted, count) = self.grant?;
        if granted != lane || count == 0 {
            return None;
        }
        self.grant = Some((granted, count - 1));
        self.waiting(lane)
    }
}

fn step() -> impl Strategy<Value = Step> {
    let number = || 0..KEYS;
    let bits = || 0..8_u64;
    let mode = prop_oneof![Just(Mode::Paused), Just(Mode::Fast), Just(Mode::Background), Just(Mode::Precompile)];
    let outcome = prop_oneof![
        6 => Just(Outcome::Ok),
        1 => Just(Outcome::Failed),
        1 => Just(Outcome::Crashed),
        5 => Just(Outcome::Cancelled),
    ];
    let last = prop_oneof![Just(State::Ready), Just(State::Failed), Just(State::Banned)];
    prop_oneof![
        12 => (number(), bits()).prop_map(|(number, mask)| Step::Add(number, mask)),
        2 => number().prop_map(Step::Group),
        5 => (bits(), bits()).prop_map(|(regular, precompile)| Step::Masks(regular, precompile)),
        3 => mode.prop_map(Step::Mode),
        1 => Just(Step::Resume),
        1 => (1..4_u32).prop_map(Step::Batch),
        9 => number().prop_map(Step::Request),
        8 => Just(Step::Frame),
        16 => Just(Step::Take),
        6 => number().prop_map(Step::TakeKey),
        14 => (0..8_usize, outcome).prop_map(|(at, outcome)| Step::Finish(at, outcome)),
        1 => (number(), last).prop_map(|(number, state)| Step::Settle(number, state)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: scaled(300), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_selected_pipeline_is_compiled_once_in_order_and_no_other(
        shaders_first in any::<bool>(),
        steps in prop::collection::vec(step(), 1..200),
    ) {
        // Without shaders the shaders-first order is the order of the file.
        let precompiler = precompiler(Options { shaders_first, ..unlimited() });
        let mut model = Model { mode: Mode::Fast, resumed: Mode::Fast, batch: 0, ..Model::default() };
        let mut completions = 0;
        for step in steps {
            let remained = model.remaining();
            let mut is_complete = false;
            match step {
                Step::Add(number, mask) => {
                    let masks = [Mask::of_bits(mask)];
                    let is_new = precompiler.add(&Entry { key: key(number), masks: &masks, ..Entry::default() }).unwrap();
                    let known = model.create(number);
                    prop_assert_eq!(is_new, !known.has_entry);
                    known.masks.push(mask);
                    if !known.has_entry && known.state == State::Unknown {
                        known.state = State::Unselected;
                    }
                    known.has_entry = true;
                    model.reselect();
                }
                Step::Group(number) => {
                    precompiler.add_group(&[key(number)]).unwrap();
                    model.create(number);
                }
                Step::Masks(regular, precompile) => {
                    precompiler.set_masks(masks(regular, precompile)).unwrap();
                    model.masks = (regular, precompile);
                    model.reselect();
                }
                Step::Mode(mode) => {
                    precompiler.set_mode(mode);
                    model.set_mode(mode);
                }
                Step::Resume => {
                    precompiler.resume();
                    model.set_mode(model.resumed);
                }
                Step::Batch(batch) => {
                    let pace = Pace { batch, time_us: 0 };
                    precompiler.set_paces(Paces { fast: pace, background: pace, precompile: pace });
                    model.batch = batch;
                }
                Step::Request(number) => {
                    precompiler.request(&key(number));
                    if let Some(known) = model.find(number)
                        && matches!(known.state, State::Queued | State::Unselected)
                        && !known.is_requested
                    {
                        (known.state, known.is_requested) = (State::Queued, true);
                        model.requests.push(number);
                    }
                }
                Step::Frame => {
                    precompiler.step(None);
                    if let Some(lane) = model.lane() {
                        model.grant = Some((lane, if model.batch == 0 { u32::MAX } else { model.batch }));
                    }
                }
                Step::Take | Step::TakeKey(_) => {
                    let (job, expected) = match step {
                        Step::TakeKey(number) => {
                            let state = model.find(number).map(|known| known.state);
                            let waits = matches!(state, Some(State::Queued | State::Unselected));
                            model.requests.retain(|&other| other != number || !waits);
                            (precompiler.take_key(&key(number)), waits.then_some(number))
                        }
                        _ => {
                            let has_job = precompiler.has_job();
                            let job = precompiler.take();
                            prop_assert_eq!(has_job, job.is_some());
                            (job, model.take())
                        }
                    };
                    prop_assert_eq!(job.as_ref().map(number), expected);
                    if let Some(job) = job {
                        let known = model.find(number(&job)).unwrap();
                        known.is_requested |= matches!(step, Step::TakeKey(_));
                        known.state = State::Running;
                        prop_assert_eq!(job.is_urgent, known.is_requested);
                        model.running.push((job, number(&job)));
                    }
                }
                Step::Finish(at, outcome) if at < model.running.len() => {
                    let (job, number) = model.running.remove(at);
                    is_complete = precompiler.finish(&job, outcome, 7).unwrap().is_complete;
                    let known = model.find(number).unwrap();
                    known.oks += u32::from(outcome == Outcome::Ok);
                    if known.state == State::Running {
                        known.state = match outcome {
                            Outcome::Ok => State::Ready,
                            Outcome::Failed => State::Failed,
                            Outcome::Crashed => State::Banned,
                            Outcome::Cancelled => State::Queued,
                        };
                        if known.state != State::Queued {
                            known.is_requested = false;
                        } else if known.is_requested {
                            model.requests.push(number);
                        }
                        model.reselect();
                    }
                }
                Step::Finish(..) => {}
                Step::Settle(number, state) => {
                    precompiler.settle(&key(number), state).unwrap();
                    let known = model.create(number);
                    (known.state, known.is_requested) = (state, false);
                    model.requests.retain(|&other| other != number);
                }
            }
            let was_completed = remained > 0 && model.remaining() == 0;
            if was_completed {
                model.grant = None;
                completions += 1;
            }
            prop_assert!(!is_complete || was_completed);
            if was_completed {
                prop_assert!(precompiler.take_completion());
            }
            prop_assert!(!precompiler.take_completion());
            let mut expected = [0; State::COUNT];
            for known in &model.known {
                expected[known.state as usize] += 1;
                prop_assert_eq!(precompiler.state(&key(known.number)), known.state, "key {} after {:?}", known.number, step);
                prop_assert!(known.oks <= 1, "key {} was compiled twice", known.number);
            }
            let counts = precompiler.counts();
            let queued = counts.queued_precompile + counts.queued_regular + counts.queued_requested;
            let found = [
                counts.unknown, counts.unselected, queued, counts.running, counts.ready, counts.failed, counts.banned,
            ];
            prop_assert_eq!(found, expected, "after {:?}", step);
            prop_assert_eq!(counts.queued_requested, model.requests.len());
            prop_assert_eq!(counts.remaining(), model.remaining());
        }
        // Let all that waits run to its end.
        for (job, _) in model.running.drain(..) {
            precompiler.finish(&job, Outcome::Ok, 7).unwrap();
        }
        precompiler.set_mode(Mode::Precompile);
        precompiler.set_masks(masks(0, 0)).unwrap();
        while precompiler.counts().remaining() > 0 {
            compile_frame(&precompiler);
        }
        let counts = precompiler.counts();
        prop_assert_eq!(counts.unselected, 0);
        prop_assert!(completions <= model.known.len() * 10);
    }
}
