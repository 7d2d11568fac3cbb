//! Memory for a panic when there is no other. It makes `HOB_RESULT_PANIC` possible where an allocation has just failed.
//!
//! A panic takes three allocations: the text of its message, its payload, and the object that unwinds the stack. The
//! standard library aborts the process if one of them fails. C++ runtimes keep such a reserve for exceptions, too. It
//! has [`BLOCKS`] blocks of a fixed size, so it lasts for ten panics at the same time. A message of more than [`BLOCK`]
//! bytes still needs memory of its own.

use std::alloc::Layout;
use std::cell::UnsafeCell;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

const BLOCKS: usize = 32;
const BLOCK: usize = 1024;

#[repr(align(64))]
struct Blocks(UnsafeCell<[[u8; BLOCK]; BLOCKS]>);

// SAFETY: a block belongs to the thread that has taken its bit in `USED`, until it is given back.
unsafe impl Sync for Blocks {}

static RESERVE: Blocks = Blocks(UnsafeCell::new([[0; BLOCK]; BLOCKS]));
/// A bit for each block that is in use.
static USED: AtomicU32 = AtomicU32::new(0);

fn start() -> *mut u8 {
    RESERVE.0.get().cast()
}

/// A block of the reserve if this thread panics, and NULL otherwise.
#[cold]
pub fn take(layout: Layout) -> *mut u8 {
    if layout.size() > BLOCK || layout.align() > align_of::<Blocks>() || !std::thread::panicking() {
        return ptr::null_mut();
    }
    let lowest_free = |used: u32| (used != u32::MAX).then(|| used | (used + 1));
    match USED.fetch_update(Ordering::Acquire, Ordering::Relaxed, lowest_free) {
        Ok(used) => start().wrapping_add(used.trailing_ones() as usize * BLOCK),
        Err(_) => ptr::null_mut(),
    }
}

/// Whether memory is a block of the reserve.
pub fn owns(memory: *mut u8) -> bool {
    memory.addr().wrapping_sub(start().addr()) < BLOCKS * BLOCK
}

/// Gives a block back.
#[cold]
pub fn give_back(memory: *mut u8) {
    let block = (memory.addr() - start().addr()) / BLOCK;
    USED.fetch_and(!(1 << block), Ordering::Release);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserve_serves_only_a_thread_that_panics() {
        let small = Layout::from_size_align(BLOCK, 64).unwrap();
        assert!(take(small).is_null());

        struct Panicking;
        impl Drop for Panicking {
            fn drop(&mut self) {
                let small = Layout::from_size_align(BLOCK, 64).unwrap();
                let large = Layout::from_size_align(BLOCK + 1, 1).unwrap();
                assert!(take(large).is_null());
                let mut blocks: Vec<_> = (0..BLOCKS).map(|_| take(small)).collect();
                assert!(blocks.iter().all(|&block| owns(block) && block.addr().is_multiple_of(64)));
                assert!(take(small).is_null());
                give_back(blocks[7]);
                assert_eq!(take(small), blocks[7]);
                blocks.sort();
                blocks.dedup();
                assert_eq!(blocks.len(), BLOCKS);
                blocks.into_iter().for_each(give_back);
            }
        }
        let panicked = std::panic::catch_unwind(|| {
            let _panicking = Panicking;
            std::panic::resume_unwind(Box::new(()));
        });
        assert!(panicked.is_err() && USED.load(Ordering::Relaxed) == 0);
        assert!(
            !owns(ptr::null_mut()) && !owns(start().wrapping_sub(1)) && !owns(start().wrapping_add(BLOCKS * BLOCK))
        );
    }
}
