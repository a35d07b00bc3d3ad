//! The system's allocator with a reserve for the moment when memory runs out.
//!
//! Vectors of the standard library abort the process when the allocator refuses. An extension must
//! not end the process of its host for this. So it holds a reserve of [`LEN`] bytes. The first
//! request of modest size that the system refuses frees the reserve and is tried again. From then
//! on [`is_used`] is true: the work has to stop soon, with an error. [`refill`] allocates the
//! reserve again before the next piece of work.
//!
//! Nothing writes to the reserve, so it takes addresses and no memory. A large request does not
//! touch it: the code that makes one handles the refusal.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// Bytes of the reserve.
const LEN: usize = 8 << 20;
/// The largest request that may use it.
const MOST: usize = 1 << 20;

const LAYOUT: Layout = Layout::new::<[u8; LEN]>();

static RESERVE: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());
static IS_USED: AtomicBool = AtomicBool::new(false);

/// The allocator, for `#[global_allocator]`.
#[derive(Clone, Copy, Debug)]
pub struct WithReserve;

/// Whether a refused request should be tried again, after the reserve was freed.
#[cold]
fn frees_reserve(len: usize) -> bool {
    if len > MOST {
        return false;
    }
    let reserve = RESERVE.swap(ptr::null_mut(), Ordering::AcqRel);
    if !reserve.is_null() {
        IS_USED.store(true, Ordering::Release);
        // SAFETY: `refill` allocated it with this layout, and `swap` gave it to this thread alone.
        unsafe { System.dealloc(reserve, LAYOUT) };
    }
    // Another thread may have just freed it.
    IS_USED.load(Ordering::Acquire)
}

// SAFETY: every call goes to the system's allocator unchanged, some twice.
unsafe impl GlobalAlloc for WithReserve {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is the same.
        let start = unsafe { System.alloc(layout) };
        if start.is_null() && frees_reserve(layout.size()) {
            // SAFETY: as above.
            return unsafe { System.alloc(layout) };
        }
        start
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is the same.
        let start = unsafe { System.alloc_zeroed(layout) };
        if start.is_null() && frees_reserve(layout.size()) {
            // SAFETY: as above.
            return unsafe { System.alloc_zeroed(layout) };
        }
        start
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is the same.
        unsafe { System.dealloc(start, layout) }
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, len: usize) -> *mut u8 {
        // SAFETY: the caller's promise is the same.
        let grown = unsafe { System.realloc(start, layout, len) };
        if grown.is_null() && frees_reserve(len) {
            // SAFETY: as above. The refused call left the memory as it was.
            return unsafe { System.realloc(start, layout, len) };
        }
        grown
    }
}

/// Allocates the reserve if there is none. Returns false if the system refuses.
#[must_use]
pub fn refill() -> bool {
    if !RESERVE.load(Ordering::Acquire).is_null() {
        return true;
    }
    // SAFETY: the layout has a size.
    let reserve = unsafe { System.alloc(LAYOUT) };
    if reserve.is_null() {
        return false;
    }
    IS_USED.store(false, Ordering::Release);
    let another = RESERVE.compare_exchange(ptr::null_mut(), reserve, Ordering::AcqRel, Ordering::Acquire);
    if another.is_err() {
        // SAFETY: it was allocated above with this layout, and no other thread knows it.
        unsafe { System.dealloc(reserve, LAYOUT) };
    }
    true
}

/// Whether the reserve was freed since the last [`refill`]. Always false in a process whose
/// allocator is another one.
pub fn is_used() -> bool {
    IS_USED.load(Ordering::Relaxed)
}

/// Bytes of the reserve, for messages.
pub const fn len() -> usize {
    LEN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_request_frees_the_reserve_once() {
        assert!(refill() && !is_used());
        assert!(!frees_reserve(MOST + 1), "large requests leave it");
        assert!(!is_used());
        assert!(frees_reserve(100) && is_used());
        assert!(frees_reserve(100), "requests of other threads are tried again too");
        assert!(RESERVE.load(Ordering::Relaxed).is_null());
        assert!(refill() && !is_used());
    }

    #[test]
    fn memory_is_that_of_the_system() {
        let layout = Layout::from_size_align(100, 8).unwrap();
        // SAFETY: the layout has a size, and the memory is used within its length and freed once.
        unsafe {
            let start = WithReserve.alloc_zeroed(layout);
            assert_eq!(*start.add(99), 0);
            start.add(99).write(7);
            let grown = WithReserve.realloc(start, layout, 10_000);
            assert_eq!(*grown.add(99), 7);
            WithReserve.dealloc(grown, Layout::from_size_align(10_000, 8).unwrap());
            let layout = Layout::from_size_align(isize::MAX as usize - 100, 8).unwrap();
            let refused = std::hint::black_box(WithReserve.alloc(layout));
            assert!(refused.is_null());
        }
    }
}
