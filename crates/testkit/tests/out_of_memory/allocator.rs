//! An allocator that refuses chosen requests of at least 4 KiB.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Smaller requests always succeed: an error and its message need memory too.
const LEN: usize = 4 << 10;

/// Whether requests are counted.
static IS_ON: AtomicBool = AtomicBool::new(false);
/// The number of requests so far.
static N: AtomicU64 = AtomicU64::new(0);
/// The range of requests to refuse: the first one, and the end.
static FIRST: AtomicU64 = AtomicU64::new(0);
static END: AtomicU64 = AtomicU64::new(0);

struct Refusing;

/// Whether to refuse a request.
fn refuses(len: usize) -> bool {
    if len < LEN || !IS_ON.load(Ordering::Relaxed) {
        return false;
    }
    let n = N.fetch_add(1, Ordering::Relaxed);
    (FIRST.load(Ordering::Relaxed)..END.load(Ordering::Relaxed)).contains(&n)
}

// SAFETY: every call goes to the system's allocator unchanged, or returns null, by which an
// allocator refuses.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is the same.
        if refuses(layout.size()) { ptr::null_mut() } else { unsafe { System.alloc(layout) } }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is the same.
        if refuses(layout.size()) { ptr::null_mut() } else { unsafe { System.alloc_zeroed(layout) } }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is the same.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise is the same.
        if refuses(size) { ptr::null_mut() } else { unsafe { System.realloc(at, layout, size) } }
    }
}

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;

/// Runs work while request `n`, or every request from `n` on, is refused. Returns whether one was.
pub fn refusing<T>(n: u64, from_then_on: bool, work: impl FnOnce() -> T) -> (T, bool) {
    N.store(0, Ordering::Relaxed);
    FIRST.store(n, Ordering::Relaxed);
    END.store(if from_then_on { u64::MAX } else { n + 1 }, Ordering::Relaxed);
    IS_ON.store(true, Ordering::Relaxed);
    let done = work();
    IS_ON.store(false, Ordering::Relaxed);
    (done, N.load(Ordering::Relaxed) > n)
}

/// Runs the test's own work: allocations succeed and are not counted.
pub fn outside<T>(work: impl FnOnce() -> T) -> T {
    let was_on = IS_ON.swap(false, Ordering::Relaxed);
    let done = work();
    IS_ON.store(was_on, Ordering::Relaxed);
    done
}
