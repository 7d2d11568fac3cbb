//! Who was used since it was last asked, told by readers who have no lock.
//!
//! A policy that wants the *most* recently used cannot wait until it comes upon one that has been used: it has to be
//! told. So each entry of such a policy has a [`Seat`], and the first get after the last look puts that on a list, with
//! one exchange and no memory; later gets see that it is there. A seat outlives its entry and is given to another: what
//! a list says of a seat is only that whoever sits there is to be looked at.

use std::array;
use std::sync::atomic::{AtomicU32, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

use super::blob::ROWS;

/// The end of a list. No seat has this number.
const END: u32 = u32::MAX;
/// Is on no list.
const NOT_NOTED: u32 = u32::MAX - 1;

/// A place for one entry after the other: its number, and who is after it on the list of each row.
#[derive(Debug)]
pub(super) struct Seat {
    pub number: u32,
    next: [AtomicU32; ROWS],
}

impl Seat {
    pub fn new(number: u32) -> Self {
        Self { number, next: array::from_fn(|_| AtomicU32::new(NOT_NOTED)) }
    }

    /// Go off the list of a row that was taken; who was after it.
    pub fn leave(&self, row: usize) -> u32 {
        self.next[row].swap(NOT_NOTED, AcqRel)
    }
}

/// So far apart that no row writes into the cache line of another.
#[repr(align(128))]
struct First(AtomicU32);

/// A list for each row of the table.
pub(super) struct Notes([First; ROWS]);

impl Notes {
    pub fn new() -> Self {
        Self(array::from_fn(|_| First(AtomicU32::new(END))))
    }

    /// Note that the entry of a seat was used, once its stamp is written. A look at the same moment may miss that, which
    /// costs a little in the order of eviction and nothing else.
    pub fn note(&self, row: usize, seat: &Seat) {
        if seat.next[row].load(Relaxed) == NOT_NOTED {
            self.push(row, seat);
        }
    }

    fn push(&self, row: usize, seat: &Seat) {
        if seat.next[row].compare_exchange(NOT_NOTED, END, Relaxed, Relaxed).is_err() {
            return;
        }
        let first = &self.0[row].0;
        let mut after = first.load(Relaxed);
        loop {
            seat.next[row].store(after, Relaxed);
            match first.compare_exchange_weak(after, seat.number, Release, Relaxed) {
                Ok(_) => return,
                Err(now) => after = now,
            }
        }
    }

    /// Take the list of a row: its first number, which is no seat's at the end. Whoever takes it lets every seat on it
    /// [`leave`](Seat::leave), and then looks who sits there.
    pub fn take(&self, row: usize) -> u32 {
        self.0[row].0.swap(END, Acquire)
    }

    /// Forget all, before the seats go.
    pub fn clear(&self) {
        self.0.iter().for_each(|first| first.0.store(END, Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use super::*;

    fn taken(notes: &Notes, seats: &[Seat]) -> Vec<u32> {
        let mut numbers = Vec::new();
        for row in 0..ROWS {
            let mut number = notes.take(row);
            while let Some(seat) = seats.get(number as usize) {
                number = seat.leave(row);
                numbers.push(seat.number);
            }
        }
        numbers.sort_unstable();
        numbers
    }

    #[test]
    fn a_seat_is_told_once_for_each_row_and_again_after_the_look() {
        let (notes, seats) = (Notes::new(), [0, 1, 2, 3].map(Seat::new));
        for (row, number) in [(0, 1), (0, 1), (0, 3), (2, 1), (2, 1), (3, 2)] {
            notes.note(row, &seats[number]);
        }
        assert_eq!((taken(&notes, &seats), taken(&notes, &seats)), (vec![1, 1, 2, 3], vec![]));
        notes.note(0, &seats[1]);
        assert_eq!(taken(&notes, &seats), [1]);
    }

    #[test]
    fn notes_of_many_threads_at_once_are_all_told_and_make_no_circle() {
        let (notes, seats) = (Notes::new(), array::from_fn::<_, 32, _>(|number| Seat::new(number as u32)));
        let done = AtomicBool::new(false);
        let mut looked = vec![0; seats.len()];
        let mut look = |notes: &Notes| taken(notes, &seats).iter().for_each(|&number| looked[number as usize] += 1);
        thread::scope(|scope| {
            let notes = &notes;
            let hands = [0, 0, 1].map(|row| {
                let seats = &seats;
                scope.spawn(move || (0..100_000).for_each(|round| notes.note(row, &seats[round * 7 % seats.len()])))
            });
            scope.spawn(|| {
                hands.into_iter().for_each(|hand| hand.join().unwrap());
                done.store(true, Release);
            });
            while !done.load(Acquire) {
                look(notes);
            }
        });
        look(&notes);
        assert!(looked.iter().all(|&looks| looks > 0), "{looked:?}");
        assert!(taken(&notes, &seats).is_empty());
        seats.iter().for_each(|seat| notes.note(1, seat));
        assert_eq!(taken(&notes, &seats), (0..32).collect::<Vec<_>>(), "each can be noted again");
    }
}
