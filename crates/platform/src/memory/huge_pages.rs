//! Huge pages, and population of pages before memory is filled.

use core::marker::PhantomData;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::switch::Switch;

/// If off, memory is left to the allocator and the system gets no advice.
pub(crate) static HUGE_PAGES: Switch = Switch::new("ENTASIS_HUGE_PAGES");

/// Whether huge pages are in use.
pub(super) fn are_used() -> bool {
    cfg!(all(target_os = "linux", not(miri))) && HUGE_PAGES.is_on()
}

/// The size of a huge page.
pub(super) const HUGE: usize = 2 << 20;

/// The size of a small page. On systems with larger pages the calls below are refused, without
/// effect.
#[cfg(all(target_os = "linux", not(miri)))]
const PAGE: usize = 4096;

/// From this length on memory is worth huge pages.
pub(super) const LARGE: usize = 2 * HUGE;

/// Advises huge pages for memory of another allocator, if it is large. Call it before the memory is
/// filled.
///
/// The bytes stay the same.
pub fn ask_for_huge_pages(memory: &mut [u8]) {
    advise(memory.as_mut_ptr(), memory.len());
}

/// From this length on it is faster to populate pages together than by first writes.
const MANY_PAGES: usize = 256 << 10;

/// Reserves `additional` more elements that are to be filled soon: on huge pages if they are many,
/// on populated pages if they are fewer. Page faults dominate the cost of filling new memory.
/// Returns false, with `memory` unchanged, if the system refuses.
#[must_use]
pub(super) fn reserve_on_huge_pages<T>(memory: &mut Vec<T>, additional: usize) -> bool {
    if memory.capacity() - memory.len() < additional {
        if memory.try_reserve(additional).is_err() {
            return false;
        }
        let spare = memory.spare_capacity_mut();
        let (start, len) = (spare.as_mut_ptr().cast(), size_of_val(spare));
        if len >= LARGE {
            advise(start, len);
            // No huge page fits before the first boundary or after the last one, so small pages are
            // populated there.
            let before = start.addr().next_multiple_of(HUGE) - start.addr();
            let behind = (start.addr() + len) % HUGE;
            // SAFETY: both ranges lie in the spare capacity, which is longer than two huge pages.
            unsafe {
                populate(start, before, true);
                populate(start.wrapping_add(len - behind), behind, true);
            }
        } else if len >= MANY_PAGES {
            // SAFETY: the range is the spare capacity.
            unsafe { populate(start, len, true) };
        }
    }
    true
}

/// Advises huge pages for `len` bytes at `start`, which belong to the caller.
fn advise(start: *mut u8, len: usize) {
    #[cfg(all(target_os = "linux", not(miri)))]
    if len >= LARGE && are_used() {
        // A mapping of the allocator begins a few bytes before the block, on a page boundary from
        // which a huge page may start.
        let from = start.addr() / PAGE * PAGE;
        let whole = (start.addr() + len - from) / PAGE * PAGE;
        // SAFETY: the pages contain bytes of the caller's memory, so they are mapped; the advice
        // changes no byte. It is refused on systems with larger pages.
        unsafe { libc::madvise(start.with_addr(from).cast(), whole, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let _ = (start, len);
}

/// Decides between huge and small pages for memory that is about to be filled: huge ones while they
/// come quickly.
///
/// A huge page usually takes less time to get than to fill. There are exceptions: a system may have
/// to move other pages first, and a virtual machine that returned memory to its host (free page
/// reporting) must fetch it again, at ten microseconds for 4 KiB. Small pages are usually still
/// available then, and much faster.
///
/// After two slow huge pages in a row, the next extents get small pages, and twice as many after
/// each further slow one, up to a limit. A quick huge page resets this. All threads and calls of
/// the process share the state, because they share the system. The state expires after a moment
/// without requests: slow memory has mostly been returned by then and comes quickly again.
#[derive(Debug)]
struct Backoff {
    /// The number of consecutive slow extents.
    n_slow: AtomicU32,
    /// The number of extents that get small pages before the next attempt with a huge one.
    small_left: AtomicU32,
    /// The number of extents of the last backoff; 0 after a quick extent.
    last_backoff: AtomicU32,
    /// The time of the last extent, in milliseconds.
    last_at: AtomicU64,
}

/// The state of this process.
static BACKOFF: Backoff = Backoff::new();

impl Backoff {
    /// An extent is slow if a mebibyte takes longer than this: three times the time of small
    /// pages.
    const SLOW: Duration = Duration::from_millis(1);
    /// Shorter extents are populated by the writes themselves.
    const MIN_LEN: usize = 1 << 20;
    /// The number of consecutive slow extents that leads to small pages.
    const SLOW_IN_A_ROW: u32 = 2;
    /// The number of extents with small pages: at first (8 MiB), and at most (64 MiB).
    const MIN_BACKOFF: u32 = 4;
    const MAX_BACKOFF: u32 = 32;
    /// Milliseconds without an extent after which the state expires.
    const FORGET_AFTER: u64 = 10;

    const fn new() -> Self {
        Self {
            n_slow: AtomicU32::new(0),
            small_left: AtomicU32::new(0),
            last_backoff: AtomicU32::new(0),
            last_at: AtomicU64::new(0),
        }
    }

    /// Populates the pages of an extent of memory, about as long as a huge page, unless they are
    /// present. The bytes stay the same.
    ///
    /// # Safety
    /// `len` bytes at `start` are mapped. They need not belong to the caller alone.
    unsafe fn populate(&self, start: *mut u8, len: usize) {
        // SAFETY: the bytes are mapped, by this function's contract.
        if len < Self::MIN_LEN || !are_used() || unsafe { is_present(start, len) } {
            return;
        }
        if self.may_be_huge(now()) {
            // SAFETY: as above.
            unsafe { self.populate_huge(start, len) }
        } else {
            // SAFETY: as above.
            unsafe { populate(start, len, false) }
            self.last_at.store(now(), Ordering::Relaxed);
        }
    }

    /// Populates huge pages, and records whether they were slow.
    ///
    /// # Safety
    /// As for [`populate`](Self::populate).
    unsafe fn populate_huge(&self, start: *mut u8, len: usize) {
        let begun = thread_cpu_time();
        // SAFETY: the bytes are mapped, by this function's contract.
        unsafe { populate(start, len, true) };
        self.record(thread_cpu_time().saturating_sub(begun) > Self::SLOW * (len >> 20) as u32);
        self.last_at.store(now(), Ordering::Relaxed);
    }

    /// Whether the next extent, requested at millisecond `now`, may have a huge page.
    fn may_be_huge(&self, now: u64) -> bool {
        if now.saturating_sub(self.last_at.swap(now, Ordering::Relaxed)) > Self::FORGET_AFTER {
            [&self.n_slow, &self.small_left, &self.last_backoff]
                .into_iter()
                .for_each(|n| n.store(0, Ordering::Relaxed));
        }
        self.small_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_err()
    }

    /// Records whether an extent that might have a huge page was slow.
    fn record(&self, slowly: bool) {
        if !slowly {
            self.n_slow.store(0, Ordering::Relaxed);
            self.last_backoff.store(0, Ordering::Relaxed);
        } else if self.n_slow.fetch_add(1, Ordering::Relaxed) + 1 >= Self::SLOW_IN_A_ROW {
            let n =
                (2 * self.last_backoff.load(Ordering::Relaxed)).clamp(Self::MIN_BACKOFF, Self::MAX_BACKOFF);
            self.last_backoff.store(n, Ordering::Relaxed);
            self.small_left.fetch_max(n, Ordering::Relaxed);
        }
    }
}

/// Populates the pages of memory that is about to be filled: huge ones while they come quickly. The
/// bytes stay the same.
pub fn prefault(memory: &mut [u8]) {
    // SAFETY: the slice is mapped.
    unsafe { BACKOFF.populate(memory.as_mut_ptr(), memory.len()) }
}

/// Populates a huge page, unless they are slow. Returns whether it did.
///
/// # Safety
/// `start` is the start of a mapped huge page.
pub(super) unsafe fn populate_huge_page(start: *mut u8) -> bool {
    let may_be_huge = BACKOFF.may_be_huge(now());
    if may_be_huge {
        // SAFETY: a huge page is mapped, by this function's contract.
        unsafe { BACKOFF.populate_huge(start, HUGE) };
    }
    may_be_huge
}

/// Memory whose pages several threads populate together, each extent once, while it may be written
/// to.
#[derive(Debug)]
pub struct Prefault<'a> {
    start: *mut u8,
    len: usize,
    /// The offset of the next extent.
    next: AtomicUsize,
    bytes: PhantomData<&'a mut [u8]>,
}

// SAFETY: nothing is read from or written to the memory through this type.
unsafe impl Send for Prefault<'_> {}
// SAFETY: as above.
unsafe impl Sync for Prefault<'_> {}

impl<'a> Prefault<'a> {
    /// Wraps memory and returns it too: this type neither reads nor writes the bytes.
    pub fn of(memory: &'a mut [u8]) -> (Self, &'a mut [u8]) {
        // SAFETY: the slice is borrowed for `'a`.
        (unsafe { Self::new(memory.as_mut_ptr(), memory.len()) }, memory)
    }

    /// Wraps memory at an address.
    ///
    /// # Safety
    /// `len` bytes at `start` stay mapped for `'a`.
    pub unsafe fn new(start: *mut u8, len: usize) -> Self {
        Self { start, len, next: AtomicUsize::new(0), bytes: PhantomData }
    }

    /// Populates the pages that no other thread has populated or is populating.
    pub fn populate(&self) {
        loop {
            let at = self.next.fetch_add(HUGE, Ordering::Relaxed);
            if at >= self.len {
                return;
            }
            // SAFETY: the extent lies in the memory, which is mapped for `'a`.
            unsafe { BACKOFF.populate(self.start.wrapping_add(at), HUGE.min(self.len - at)) };
        }
    }
}

/// Whether all pages of a range are present, as in memory that the allocator reuses. This check is
/// ten times faster than populating small pages that are present.
///
/// # Safety
/// `len` bytes at `start` are mapped.
unsafe fn is_present(start: *mut u8, len: usize) -> bool {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        const PAGES: usize = 1024;
        let end = start.addr() + len;
        let mut present = [0u8; PAGES];
        let mut at = start.addr() / PAGE * PAGE;
        while at < end {
            let len = (end - at).next_multiple_of(PAGE).min(PAGES * PAGE);
            // SAFETY: `present` has a byte for each page, which the kernel writes; the memory
            // itself is not touched.
            let told = unsafe { libc::mincore(start.with_addr(at).cast(), len, present.as_mut_ptr()) } == 0;
            if !told || present[..len / PAGE].iter().any(|page| page & 1 == 0) {
                return false;
            }
            at += len;
        }
        true
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    {
        let _ = (start, len);
        false
    }
}

/// Milliseconds since the first call.
fn now() -> u64 {
    static BEGUN: OnceLock<Instant> = OnceLock::new();
    u64::try_from(BEGUN.get_or_init(Instant::now).elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// The processor time of this thread, which excludes time when others ran; zero if the system does
/// not report it.
fn thread_cpu_time() -> Duration {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        // SAFETY: the type consists of integers.
        let mut time: libc::timespec = unsafe { core::mem::zeroed() };
        // SAFETY: `time` is ours and writable.
        if unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) } == 0 {
            return Duration::new(time.tv_sec as u64, time.tv_nsec as u32);
        }
    }
    Duration::ZERO
}

/// Populates the pages of a range, if the system supports it. They are small unless `may_be_huge`.
///
/// # Safety
/// `len` bytes at `start` are mapped.
unsafe fn populate(start: *mut u8, len: usize, may_be_huge: bool) {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        if !are_used() {
            return;
        }
        let from = start.addr().next_multiple_of(PAGE);
        let whole = (start.addr() + len).saturating_sub(from) / PAGE * PAGE;
        let inside = start.with_addr(from).cast();
        if !may_be_huge {
            // SAFETY: the range lies in mapped memory; the advice changes no byte.
            unsafe { libc::madvise(inside, whole, libc::MADV_NOHUGEPAGE) };
        }
        // SAFETY: as above. Older systems and systems with larger pages refuse this advice.
        unsafe { libc::madvise(inside, whole, libc::MADV_POPULATE_WRITE) };
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let _ = (start, len, may_be_huge);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Buffer;

    #[test]
    fn asking_for_huge_pages_changes_nothing() {
        for len in [0, 1, LARGE - 1, LARGE, 3 * HUGE + 12345] {
            let mut memory = vec![7u8; len];
            ask_for_huge_pages(&mut memory);
            assert!(memory.iter().all(|&byte| byte == 7));
        }
    }

    #[test]
    fn getting_pages_changes_nothing() {
        let mut memory = vec![7u8; 5 * HUGE + 12345];
        ask_for_huge_pages(&mut memory);
        for slowly in [false, true] {
            let backoff = Backoff::new();
            (0..Backoff::SLOW_IN_A_ROW).for_each(|_| backoff.record(slowly));
            for extent in [0..0, 1..5, 5..HUGE + 77, HUGE + 77..5 * HUGE + 12345] {
                let extent = &mut memory[extent];
                // SAFETY: the slice is mapped.
                unsafe { backoff.populate(extent.as_mut_ptr(), extent.len()) };
            }
            prefault(&mut memory);
            assert!(memory.iter().all(|&byte| byte == 7));
        }
    }

    #[test]
    fn small_pages_follow_slow_ones_until_one_is_quick() {
        let backoff = Backoff::new();
        let small_left = |now| (0..).take_while(|_| !backoff.may_be_huge(now)).count() as u32;
        assert_eq!(small_left(7), 0);
        for expected in [0, 4, 8, 16, 32, 32] {
            backoff.record(true);
            assert_eq!(small_left(7), expected);
        }
        backoff.record(false);
        assert_eq!(small_left(7), 0);
        for expected in [0, 4] {
            backoff.record(true);
            assert_eq!(small_left(7), expected);
        }
        // After the state expired, two slow extents are needed again.
        backoff.record(true);
        assert_eq!(small_left(8 + Backoff::FORGET_AFTER), 0);
        for expected in [0, 4] {
            backoff.record(true);
            assert_eq!(small_left(9 + Backoff::FORGET_AFTER), expected);
        }
    }

    #[test]
    fn present_pages_are_detected() {
        // A mapping of its own: the allocator might return memory with present pages.
        let mut memory = Buffer::zeroed(3 * HUGE).unwrap();
        let present = |extent: &mut [u8]| {
            // SAFETY: the slice is mapped.
            unsafe { is_present(extent.as_mut_ptr(), extent.len()) }
        };
        if are_used() {
            assert!(!present(&mut memory));
            memory.fill(1);
            assert!(present(&mut memory) && present(&mut memory[1..HUGE + 77]));
        }
    }

    #[test]
    fn threads_get_pages_together() {
        let mut memory = vec![0u8; 3 * HUGE + 777];
        let len = memory.len();
        let (ahead, mine) = Prefault::of(&mut memory);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| ahead.populate());
            }
            mine.fill(7);
        });
        assert!(ahead.next.into_inner() >= len);
        assert!(memory.iter().all(|&byte| byte == 7));
    }

    #[test]
    fn reserving_keeps_what_is_there() {
        let mut memory: Vec<u64> = (0..1000).collect();
        for additional in [0, 1, 5000, 50_000, LARGE, 3 * HUGE] {
            assert!(reserve_on_huge_pages(&mut memory, additional));
            assert!(memory.capacity() - memory.len() >= additional);
            memory.push(memory.len() as u64);
            assert!(memory.iter().enumerate().all(|(i, &value)| value == i as u64));
        }
        assert!(!reserve_on_huge_pages(&mut memory, usize::MAX / 16));
        assert_eq!(memory[999], 999);
    }
}
