//! The host's cognitions of the tests: they depend on all that they may see.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::perception::{Call, Cognition, Seen, Value};

/// The behaviour of a cognition of the tests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kind {
    /// Each pixel of its image depends on the pixels at its place, within so many pixels.
    pub local: Option<(u32, u32)>,
    /// It depends on the number of the frame.
    pub is_volatile: bool,
    /// It fails for one result in four.
    pub fails: bool,
    /// Its values are handles.
    pub is_owned: bool,
    /// Few values mean something else, and their second word means nothing.
    pub is_coarse: bool,
    /// It reads the first byte of the lie, too.
    pub is_liar: bool,
}

/// Addresses of parameters and pixels, and the part: they tell nodes apart.
type NodeKey = (usize, usize, [u32; 6]);

/// The handles that are held, and the runs of nodes.
#[derive(Debug, Default)]
pub struct Ledger {
    /// By handle: its meaning, until it is released.
    pub held: Mutex<HashMap<u64, u64>>,
    next: Mutex<u64>,
    /// By node: runs in the present frame.
    pub runs: Mutex<HashMap<NodeKey, u32>>,
    pub now: Mutex<u64>,
    pub lie: Mutex<u64>,
}

impl Ledger {
    /// The meaning of a handle. It must be held.
    pub fn read(&self, handle: u64) -> u64 {
        *self.held.lock().unwrap().get(&handle).expect("a handle is used after it was released")
    }
}

/// A cognition of the tests. The model has one without a ledger: its handles are what they mean.
#[derive(Debug)]
pub struct Host {
    pub id: usize,
    pub kind: Kind,
    pub ledger: Option<Arc<Ledger>>,
}

pub fn mix(hash: u64, word: u64) -> u64 {
    let mixed = (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ mixed >> 29
}

/// The bytes of a pixel that mean something.
fn pixel(seen: &Seen<'_>, x: u32, y: u32) -> u64 {
    let format = seen.view.shape().format;
    let size = format.pixel_size();
    let bytes = &seen.view.row(y)[x as usize * size..][..if format.has_padding() { 3 } else { size }];
    let hash = bytes.iter().fold(7, |hash, &byte| mix(hash, byte.into()));
    if !format.has_chroma() {
        return hash;
    }
    let pair = &seen.view.chroma_row(y as usize / 2)[x as usize / 2 * 2..][..2];
    mix(mix(hash, pair[0].into()), pair[1].into())
}

impl Host {
    /// The meaning of a value. Marks handles with the highest bit.
    fn meaning(&self, value: Value) -> u64 {
        match &self.ledger {
            // An operator that read no number gives -1.
            Some(ledger) if value.0[0] >> 63 == 1 && value.0[0] != u64::MAX => ledger.read(value.0[0]),
            _ => value.0[0],
        }
    }

    fn note_run(&self, ledger: &Ledger, call: &Call<'_>) {
        if call.frame != *ledger.now.lock().unwrap() {
            return;
        }
        let seen = call.seen.iter().flatten().next();
        let address = seen.map_or(call.parameters.as_ptr() as usize, |seen| seen.view.pixels().as_ptr() as usize);
        let part = seen.map_or([0; 6], |seen| {
            let (part, shape) = (seen.part, seen.view.shape());
            [part.x, part.y, part.width, part.height, shape.width, shape.height]
        });
        let mut runs = ledger.runs.lock().unwrap();
        let parameters = call.parameters.as_ptr() as usize;
        let count = runs.entry((parameters, address, part)).or_default();
        *count += 1;
        assert_eq!(*count, 1, "a node runs twice in a frame");
    }
}

impl Cognition for Host {
    fn perceive(&self, call: &mut Call<'_>) -> bool {
        if let Some(ledger) = &self.ledger {
            self.note_run(ledger, call);
        }
        let mut hash = call.parameters.iter().fold(self.id as u64, |hash, &byte| mix(hash, byte.into()));
        if self.kind.is_volatile {
            hash = mix(hash, call.frame);
        }
        if let (true, Some(ledger)) = (self.kind.is_liar, &self.ledger) {
            hash = mix(hash, *ledger.lie.lock().unwrap());
        }
        if let Some((scale, support)) = self.kind.local {
            let mut picture = call.picture.take().unwrap();
            let shape = picture.shape();
            for y in 0..shape.height {
                for x in 0..shape.width {
                    let all = call.seen.iter().flatten();
                    picture.row(y)[x as usize] =
                        all.fold(hash, |hash, seen| near(hash, seen, x, y, scale, support)) as u8;
                }
            }
            return true;
        }
        for (seen, &value) in call.seen.iter().zip(call.values) {
            hash = mix(hash, self.meaning(value));
            let Some(seen) = seen else { continue };
            let shape = seen.view.shape();
            for y in 0..shape.height {
                hash = (0..shape.width).fold(hash, |hash, x| mix(hash, pixel(seen, x, y)));
            }
        }
        hash >>= 1;
        if let Some(mut picture) = call.picture.take() {
            for y in 0..picture.shape().height {
                picture.row(y).iter_mut().enumerate().for_each(|(x, byte)| {
                    *byte = (mix(hash % 5, mix(x as u64, y.into())) % 3) as u8;
                });
            }
        }
        if self.kind.fails && hash.is_multiple_of(4) {
            call.failure.clone_from(&crate::perception::Failure::format(format_args!("it fails")));
            return false;
        }
        call.value = match (&self.ledger, self.kind.is_owned) {
            (Some(ledger), true) => {
                let mut next = ledger.next.lock().unwrap();
                *next += 1;
                let handle = 1 << 63 | *next;
                ledger.held.lock().unwrap().insert(handle, hash % 5);
                Value([handle, 0])
            }
            (None, true) => Value([hash % 5, 0]),
            _ if self.kind.is_coarse => Value([hash % 3, if self.ledger.is_some() { hash } else { 0 }]),
            _ => Value([hash, 0]),
        };
        true
    }

    fn is_equal(&self, old: Value, new: Value) -> bool {
        self.meaning(old) == self.meaning(new)
    }

    fn release(&self, value: Value) {
        if let Some(ledger) = &self.ledger {
            assert!(self.kind.is_owned);
            let held = ledger.held.lock().unwrap().remove(&value.0[0]);
            assert!(held.is_some(), "a handle is released twice");
        }
    }
}

/// The pixels from which pixel `(x, y)` of an image is made.
fn near(hash: u64, seen: &Seen<'_>, x: u32, y: u32, scale: u32, support: u32) -> u64 {
    let shape = seen.view.shape();
    let side = |at: u32, origin: u32, end: u32| {
        let first = i64::from(origin + at * scale) - i64::from(support);
        let last = i64::from(origin + at * scale + scale + support);
        first.max(0) as u32..last.min(end.into()) as u32
    };
    let mut hash = hash;
    for y in side(y, seen.part.y, shape.height) {
        for x in side(x, seen.part.x, shape.width) {
            hash = mix(hash, pixel(seen, x, y));
        }
    }
    mix(hash, hash >> 40)
}
