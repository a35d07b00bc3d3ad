//! An allocator that counts, to find files that make the reader take too much memory.
//!
//! A test or fuzz target installs [`Counting`] as its global allocator. Otherwise all counts are 0.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The largest request that reading a small file may cause.
const MOST: usize = 512 << 20;

/// The largest request of any thread so far.
static LARGEST: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Bytes allocated minus bytes freed by this thread. Negative after freeing other threads'
    /// memory.
    static LIVE: Cell<isize> = const { Cell::new(0) };
    /// The most of them at once.
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

/// The system's allocator, with counters.
#[derive(Debug)]
pub struct Counting;

/// Counts `taken` bytes, and `freed` bytes after them.
fn count(taken: usize, freed: usize) {
    LARGEST.fetch_max(taken, Ordering::Relaxed);
    // At the end of a thread there is nothing to count.
    let _ = LIVE.try_with(|live| {
        let now = live.get().wrapping_add(taken as isize);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(now)));
        live.set(now.wrapping_sub(freed as isize));
    });
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller's promise is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller's promise is the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: the caller's promise is the same.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        // SAFETY: the caller's promise is the same.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// The result of some work, and the greatest growth of this thread's memory during the work.
pub fn peak<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = LIVE.get();
    PEAK.set(before);
    let result = work();
    (result, PEAK.get().wrapping_sub(before).max(0) as usize)
}

/// Asserts that no request exceeded the limit.
///
/// # Panics
/// When one did.
pub fn assert_modest(what: &str) {
    let largest = LARGEST.load(Ordering::Relaxed);
    println!("{what}: the largest allocation so far has {largest} bytes");
    assert!(largest <= MOST, "{what}: {largest} bytes were asked for at once");
}
