//! An allocator that records the largest request, to find files that make the reader allocate too
//! much.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The largest request that reading a small file may cause.
pub const MOST: usize = 512 << 20;

/// The largest request so far.
pub static LARGEST: AtomicUsize = AtomicUsize::new(0);

struct Watching;

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Watching {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is the same.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LARGEST.fetch_max(size, Ordering::Relaxed);
        // SAFETY: the caller's promise is the same.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Watching = Watching;

/// Asserts that no request exceeded the limit.
pub fn assert_modest(what: &str) {
    let largest = LARGEST.load(Ordering::Relaxed);
    println!("{what}: the largest allocation so far has {largest} bytes");
    assert!(largest <= MOST, "{what}: {largest} bytes were asked for at once");
}
