//! Values that many threads read at once, and that one thread at a time changes.
//!
//! A reader-writer lock costs a reader two locked instructions, on a cache line that all readers write. Here a reader
//! claims a *stripe*, which usually no other thread uses, with one locked instruction, and leaves it with a plain store.
//! A writer marks the part that it changes, and waits until no stripe reads that part. This is a big-reader lock, as
//! Linux had one, with several parts.
//!
//! A reader looks at the mark after its claim, and a writer looks at the stripes after its mark. All four accesses are
//! sequentially consistent, so a reader and a writer of one part cannot miss each other. A reader that sees the mark, or
//! whose stripe is claimed by another thread, takes the part's lock instead. The writer holds that lock, too. So readers
//! cannot starve a writer, and a reader waits at most for one change.
//!
//! The protocol is model-checked: see the executor's module page for the command.

use std::array;
use std::cell::{Cell, UnsafeCell};
use std::ops::Deref;
use std::time::Duration;

#[cfg(all(loom, test))]
use loom::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};
#[cfg(not(all(loom, test)))]
use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

/// Looks of a waiting writer before it lets other threads run, and before it sleeps between looks. Reads are short, so
/// a longer one belongs to a thread without a processor.
const SPINS: u32 = 200;
const YIELDS: u32 = 220;
/// Also a thread of the lowest priority gets a processor while the writer sleeps.
const NAP: Duration = Duration::from_micros(50);

/// A value on cache lines of its own, also where processors fetch lines in pairs.
#[derive(Default)]
#[repr(align(128))]
pub struct Apart<T>(pub T);

/// The number of threads that asked before the calling one. Nothing here has a destructor, which would keep an unloaded
/// library mapped.
pub fn thread_number() -> usize {
    static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(1);
    thread_local! {
        /// One more than the number; 0 before the thread has asked.
        static NUMBER: Cell<usize> = const { Cell::new(0) };
    }
    #[cold]
    fn first() -> usize {
        NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
    }
    NUMBER.with(|number| {
        if number.get() == 0 {
            number.set(first());
        }
        number.get() - 1
    })
}

struct Stripe<L> {
    /// One more than the part that a thread reads here; 0 if the stripe is free.
    reading: AtomicUsize,
    local: L,
}

struct Part<T> {
    is_changing: AtomicBool,
    /// Held by the writer, and by readers that have no stripe.
    lock: Mutex<()>,
    value: UnsafeCell<T>,
}

/// `PARTS` values of type `T`. Each can be changed while the others are read. Each of the `STRIPES` has a value
/// of type `L`.
pub struct ReadMostly<T, L, const PARTS: usize, const STRIPES: usize> {
    stripes: [Apart<Stripe<L>>; STRIPES],
    parts: [Apart<Part<T>>; PARTS],
}

// SAFETY: as for `RwLock`: several threads read a `T` at once, and any thread may change or drop it. A `L` is only shared.
unsafe impl<T: Send + Sync, L: Send + Sync, const PARTS: usize, const STRIPES: usize> Sync
    for ReadMostly<T, L, PARTS, STRIPES>
{
}

impl<T: Default, L: Default, const PARTS: usize, const STRIPES: usize> Default for ReadMostly<T, L, PARTS, STRIPES> {
    fn default() -> Self {
        let stripe = || Stripe { reading: AtomicUsize::new(0), local: L::default() };
        let part =
            || Part { is_changing: AtomicBool::new(false), lock: Mutex::new(()), value: UnsafeCell::new(T::default()) };
        Self { stripes: array::from_fn(|_| Apart(stripe())), parts: array::from_fn(|_| Apart(part())) }
    }
}

/// A part that is read. No writer changes it while this exists.
pub struct Reading<'a, T, L> {
    value: &'a T,
    hold: Hold<'a, L>,
}

enum Hold<'a, L> {
    Stripe(&'a Stripe<L>),
    Lock { _lock: MutexGuard<'a, ()> },
}

impl<'a, T, L> Reading<'a, T, L> {
    /// The value of the thread's stripe, which no other reader has meanwhile. `None` if the stripe was not free.
    pub fn local(&self) -> Option<&'a L> {
        match &self.hold {
            Hold::Stripe(stripe) => Some(&stripe.local),
            Hold::Lock { .. } => None,
        }
    }
}

impl<T, L> Deref for Reading<'_, T, L> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value
    }
}

impl<L> Drop for Hold<'_, L> {
    fn drop(&mut self) {
        if let Self::Stripe(stripe) = self {
            stripe.reading.store(0, Ordering::Release);
        }
    }
}

/// Ends a change, also after a panic.
struct Finish<'a>(&'a AtomicBool);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl<T, L, const PARTS: usize, const STRIPES: usize> ReadMostly<T, L, PARTS, STRIPES> {
    /// Read a part. The thread's number chooses the stripe. A thread that reads must not use this object again.
    #[inline]
    pub fn read(&self, thread: usize, part: usize) -> Reading<'_, T, L> {
        let (stripe, place) = (&self.stripes[thread % STRIPES].0, &self.parts[part].0);
        if stripe.reading.compare_exchange(0, part + 1, Ordering::SeqCst, Ordering::Relaxed).is_ok() {
            let hold = Hold::Stripe(stripe);
            after_marking();
            if !place.is_changing.load(Ordering::SeqCst) {
                // SAFETY: a writer that marks the part from now on sees the claim of the stripe, and waits.
                return Reading { value: unsafe { &*place.value.get() }, hold };
            }
        }
        self.read_locked(part)
    }

    /// Read a part for longer than a few steps: a writer that waits for it sleeps, and does not look again and again.
    #[cold]
    pub fn read_locked(&self, part: usize) -> Reading<'_, T, L> {
        let place = &self.parts[part].0;
        let hold = Hold::Lock { _lock: lock(&place.lock) };
        // SAFETY: only the holder of the lock changes the value.
        Reading { value: unsafe { &*place.value.get() }, hold }
    }

    /// Change a part. `work` must not use this object.
    pub fn write<R>(&self, part: usize, work: impl FnOnce(&mut T) -> R) -> R {
        let place = &self.parts[part].0;
        let _lock = lock(&place.lock);
        place.is_changing.store(true, Ordering::SeqCst);
        let _finish = Finish(&place.is_changing);
        after_marking();
        for stripe in &self.stripes {
            let mut looks = 0;
            while stripe.0.reading.load(Ordering::SeqCst) == part + 1 {
                looks += 1;
                wait(looks);
            }
        }
        // SAFETY: no stripe reads the part. A reader that claims one from now on sees the mark. Other readers and writers
        // wait for the lock.
        work(unsafe { &mut *place.value.get() })
    }

    /// The values of all stripes.
    pub fn locals(&self) -> impl Iterator<Item = &L> {
        self.stripes.iter().map(|stripe| &stripe.0.local)
    }
}

fn lock(mutex: &Mutex<()>) -> MutexGuard<'_, ()> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(not(all(loom, test)))]
fn after_marking() {}

/// Loom takes sequentially consistent accesses for weaker ones, but knows such fences.
#[cfg(all(loom, test))]
fn after_marking() {
    loom::sync::atomic::fence(Ordering::SeqCst);
}

#[cfg(not(all(loom, test)))]
#[cold]
fn wait(looks: u32) {
    match looks {
        0..SPINS => std::hint::spin_loop(),
        SPINS..YIELDS => std::thread::yield_now(),
        _ => std::thread::sleep(NAP),
    }
}

#[cfg(all(loom, test))]
fn wait(_: u32) {
    loom::thread::yield_now();
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::AtomicU64;
    use std::thread::scope;

    use super::*;

    type Pairs = ReadMostly<(u64, u64), AtomicU64, 2, 3>;

    #[test]
    fn readers_see_whole_changes_and_stripes_are_never_shared() {
        let (pairs, without_stripe) = (Pairs::default(), AtomicU64::new(0));
        let rounds = 20_000;
        let read = |thread: usize| {
            for _ in 0..rounds {
                let pair = pairs.read(thread, 1);
                assert_eq!(pair.0, pair.1);
                match pair.local() {
                    // A stripe that two readers have at once loses an addition sooner or later.
                    Some(count) => count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed),
                    None => _ = without_stripe.fetch_add(1, Ordering::Relaxed),
                }
            }
        };
        scope(|scope| {
            // Five readers on three stripes.
            (0..5).for_each(|thread| _ = scope.spawn(move || read(thread)));
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..rounds / 10 {
                        pairs.write(1, |pair| {
                            pair.0 += 1;
                            pair.1 += 1;
                        });
                    }
                });
            }
        });
        assert_eq!((*pairs.read_locked(1), *pairs.read_locked(0)), ((rounds / 5, rounds / 5), (0, 0)));
        let counted = pairs.locals().chain([&without_stripe]).map(|count| count.load(Ordering::Relaxed)).sum::<u64>();
        assert_eq!(counted, 5 * rounds);
    }

    #[test]
    fn writer_waits_for_a_reader_of_its_part_alone() {
        let pairs = Pairs::default();
        let other = pairs.read(0, 0);
        assert_eq!(pairs.write(1, |pair| pair.0), 0);
        drop(other);
        scope(|scope| {
            let held = pairs.read(0, 1);
            let writer = scope.spawn(|| pairs.write(1, |pair| pair.0 = 7));
            while !pairs.parts[1].0.is_changing.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            std::thread::sleep(2 * NAP);
            assert_eq!((held.0, writer.is_finished()), (0, false));
            drop(held);
        });
        assert_eq!(pairs.read(0, 1).0, 7);
    }

    #[test]
    fn part_can_be_read_and_changed_after_a_panic() {
        let pairs = Pairs::default();
        let reader = catch_unwind(AssertUnwindSafe(|| {
            let _held = pairs.read(0, 1);
            panic!("of the reader");
        }));
        let writer = catch_unwind(AssertUnwindSafe(|| pairs.write(1, |_| panic!("of the writer"))));
        assert!(reader.is_err() && writer.is_err());
        assert!(pairs.read(0, 1).local().is_some());
        assert_eq!(pairs.write(1, |pair| pair.0), 0);
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    /// A value. Loom reports accesses that overlap a change of it.
    #[derive(Default)]
    struct Watched(UnsafeCell<u32>);

    // SAFETY: loom checks here that no access overlaps a change.
    unsafe impl Sync for Watched {}
    // SAFETY: as above.
    unsafe impl Send for Watched {}

    impl Watched {
        fn read(&self) -> u32 {
            // SAFETY: as above.
            self.0.with(|value| unsafe { *value })
        }

        fn add(&self) {
            // SAFETY: as above.
            self.0.with_mut(|value| unsafe { *value += 1 });
        }
    }

    type One = ReadMostly<Watched, Watched, 1, 1>;
    type Two = ReadMostly<Watched, Watched, 1, 2>;

    fn read<const STRIPES: usize>(values: &ReadMostly<Watched, Watched, 1, STRIPES>, thread: usize) -> u32 {
        let value = values.read(thread, 0);
        if let Some(local) = value.local() {
            local.add();
        }
        value.read()
    }

    #[test]
    fn loom_change_overlaps_no_read() {
        loom::model(|| {
            let values = Arc::new(One::default());
            let writer = thread::spawn({
                let values = Arc::clone(&values);
                move || values.write(0, |value| value.add())
            });
            let before = read(&values, 0);
            assert!(read(&values, 0) >= before);
            writer.join().unwrap();
            assert_eq!(read(&values, 0), 1);
        });
    }

    #[test]
    fn loom_two_readers_never_have_the_same_stripe() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let values = Arc::new(One::default());
            let reader = thread::spawn({
                let values = Arc::clone(&values);
                move || read(&values, 0)
            });
            let writer = thread::spawn({
                let values = Arc::clone(&values);
                move || values.write(0, |value| value.add())
            });
            read(&values, 1);
            reader.join().unwrap();
            writer.join().unwrap();
            assert_eq!(read(&values, 0), 1);
        });
    }

    #[test]
    fn loom_writer_waits_for_every_stripe() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let values = Arc::new(Two::default());
            let reader = thread::spawn({
                let values = Arc::clone(&values);
                move || read(&values, 1)
            });
            let writer = thread::spawn({
                let values = Arc::clone(&values);
                move || values.write(0, |value| value.add())
            });
            read(&values, 0);
            reader.join().unwrap();
            writer.join().unwrap();
        });
    }
}
