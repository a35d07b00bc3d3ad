//! The pages under memory that is about to be filled.

use core::marker::PhantomData;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::switch::Switch;

/// Switches off huge pages, and all that this file asks of the system.
static HUGE_PAGES: Switch = Switch::new("ENTASIS_HUGE_PAGES");

/// Whether memory is to be on huge pages.
pub(super) fn are_used() -> bool {
    cfg!(all(target_os = "linux", not(miri))) && HUGE_PAGES.is_on()
}

/// Size of a huge page.
pub(super) const HUGE: usize = 2 << 20;

/// Size of a small page. Where pages are larger, the system refuses places between them, and nothing is done.
#[cfg(all(target_os = "linux", not(miri)))]
const PAGE: usize = 4096;

/// From this length on memory is worth huge pages.
pub(super) const LARGE: usize = 2 * HUGE;

/// Asks for huge pages under memory of another allocator that is to be filled, when it is large.
///
/// The bytes stay what they are.
pub fn ask_for_huge_pages(memory: &mut [u8]) {
    advise(memory.as_mut_ptr(), memory.len());
}

/// From this length on pages come quicker together than each when it is first written to.
const MANY_PAGES: usize = 256 << 10;

/// Makes room for `additional` more elements, which are to be filled soon: on huge pages when that is much, on pages that are there
/// already when it is less. Memory that is filled for the first time is mostly the time that its pages take.
pub(super) fn reserve_on_huge_pages<T>(memory: &mut Vec<T>, additional: usize) {
    if memory.capacity() - memory.len() < additional {
        memory.reserve(additional);
        let spare = memory.spare_capacity_mut();
        let (start, len) = (spare.as_mut_ptr().cast(), size_of_val(spare));
        if len >= LARGE {
            advise(start, len);
            // No huge page fits in before the first of them, and behind the last.
            let before = start.addr().next_multiple_of(HUGE) - start.addr();
            let behind = (start.addr() + len) % HUGE;
            // SAFETY: both lie in the spare memory, which is longer than two huge pages.
            unsafe {
                populate(start, before, true);
                populate(start.wrapping_add(len - behind), behind, true);
            }
        } else if len >= MANY_PAGES {
            // SAFETY: the spare memory, which is ours.
            unsafe { populate(start, len, true) };
        }
    }
}

/// Asks for huge pages under `len` bytes from `start` on, which are memory of the caller's.
fn advise(start: *mut u8, len: usize) {
    #[cfg(all(target_os = "linux", not(miri)))]
    if len >= LARGE && are_used() {
        // A block that is a mapping of its own begins a few bytes behind its first page, from which on there may be a huge one.
        let from = start.addr() / PAGE * PAGE;
        let whole = (start.addr() + len - from) / PAGE * PAGE;
        // SAFETY: pages that have bytes of the caller's memory, so they are there; the advice changes no byte. Where pages are larger
        // it is refused.
        unsafe { libc::madvise(start.with_addr(from).cast(), whole, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let _ = (start, len);
}

/// Which pages memory gets that is about to be filled: huge ones as long as they come quickly.
///
/// A huge page is had in less time than it takes to fill it, but not everywhere: a system may have to move others' pages first, and
/// a virtual machine that gave memory back to its host (free page reporting) fetches it again, at ten microseconds for 4 KiB. Then small
/// pages, of which there are mostly some left, are quicker by far. So after two huge pages in a row that came slowly the next pieces get
/// small ones, twice as many each time, though never many, until one comes quickly again. All threads and calls of a process share
/// what was seen: they have one system, and a call that fills a few huge pages would have got them all before each thread knew.
/// When none was wanted for a moment it is forgotten: what came slowly is mostly given back by then, and comes quickly.
#[derive(Debug)]
struct Backoff {
    /// How many pieces came slowly, one after the other.
    n_slow: AtomicU32,
    /// Pieces that get small pages before the next one that may have a huge one.
    small_left: AtomicU32,
    /// How many these were the last time; 0 since one came quickly.
    last_backoff: AtomicU32,
    /// The millisecond when a piece was had last.
    last_at: AtomicU64,
}

/// What was seen of this process's pages.
static BACKOFF: Backoff = Backoff::new();

impl Backoff {
    /// Memory comes slowly when a mebibyte takes longer: three times what small pages take.
    const SLOW: Duration = Duration::from_millis(1);
    /// Less than this comes when it is filled.
    const MIN_LEN: usize = 1 << 20;
    /// Pieces that come slowly one after the other until small pages are asked for.
    const SLOW_IN_A_ROW: u32 = 2;
    /// Pieces that get small pages then, and at most: 8 MiB and 64 MiB.
    const MIN_BACKOFF: u32 = 4;
    const MAX_BACKOFF: u32 = 32;
    /// Milliseconds without a piece after which what was seen is forgotten.
    const FORGET_AFTER: u64 = 10;

    const fn new() -> Self {
        Self {
            n_slow: AtomicU32::new(0),
            small_left: AtomicU32::new(0),
            last_backoff: AtomicU32::new(0),
            last_at: AtomicU64::new(0),
        }
    }

    /// Gets the pages under a piece of memory, about as much as a huge page, where they are not there yet. The bytes stay what they are.
    ///
    /// # Safety
    /// `len` bytes from `start` on are there, which need not be the caller's alone.
    unsafe fn populate(&self, start: *mut u8, len: usize) {
        // SAFETY: as the caller promises.
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

    /// Gets huge pages, and notes whether they came slowly.
    ///
    /// # Safety
    /// As of `get`.
    unsafe fn populate_huge(&self, start: *mut u8, len: usize) {
        let begun = thread_cpu_time();
        // SAFETY: as the caller promises.
        unsafe { populate(start, len, true) };
        self.record(thread_cpu_time().saturating_sub(begun) > Self::SLOW * (len >> 20) as u32);
        self.last_at.store(now(), Ordering::Relaxed);
    }

    /// Whether the next piece, wanted at some millisecond, may have a huge page.
    fn may_be_huge(&self, now: u64) -> bool {
        if now.saturating_sub(self.last_at.swap(now, Ordering::Relaxed)) > Self::FORGET_AFTER {
            [&self.n_slow, &self.small_left, &self.last_backoff]
                .into_iter()
                .for_each(|n| n.store(0, Ordering::Relaxed));
        }
        self.small_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_err()
    }

    /// A piece that might have a huge page came slowly or quickly.
    fn record(&self, slowly: bool) {
        if !slowly {
            self.n_slow.store(0, Ordering::Relaxed);
            self.last_backoff.store(0, Ordering::Relaxed);
        } else if self.n_slow.fetch_add(1, Ordering::Relaxed) + 1 >= Self::SLOW_IN_A_ROW {
            let n = (2 * self.last_backoff.load(Ordering::Relaxed)).clamp(Self::MIN_BACKOFF, Self::MAX_BACKOFF);
            self.last_backoff.store(n, Ordering::Relaxed);
            self.small_left.fetch_max(n, Ordering::Relaxed);
        }
    }
}

/// Gets the pages under memory that is about to be filled, huge ones as long as they come quickly. The bytes stay what they are.
pub fn prefault(memory: &mut [u8]) {
    // SAFETY: the memory is there.
    unsafe { BACKOFF.populate(memory.as_mut_ptr(), memory.len()) }
}

/// Gets a huge page, and tells whether it did: it doesn't as long as they come slowly.
///
/// # Safety
/// A huge page of memory begins at `start`.
pub(super) unsafe fn populate_huge_page(start: *mut u8) -> bool {
    let may_be_huge = BACKOFF.may_be_huge(now());
    if may_be_huge {
        // SAFETY: as the caller promises.
        unsafe { BACKOFF.populate_huge(start, HUGE) };
    }
    may_be_huge
}

/// Memory whose pages threads get together, each piece by one of them, while it may be written to.
#[derive(Debug)]
pub struct Prefault<'a> {
    start: *mut u8,
    len: usize,
    /// Where the next piece begins.
    next: AtomicUsize,
    bytes: PhantomData<&'a mut [u8]>,
}

// SAFETY: the memory is neither read nor written to through it.
unsafe impl Send for Prefault<'_> {}
// SAFETY: as above.
unsafe impl Sync for Prefault<'_> {}

impl<'a> Prefault<'a> {
    /// Of memory that stays the caller's: it is neither read nor written to by this.
    pub fn of(memory: &'a mut [u8]) -> (Self, &'a mut [u8]) {
        // SAFETY: the memory is there for as long as `'a`.
        (unsafe { Self::new(memory.as_mut_ptr(), memory.len()) }, memory)
    }

    /// Of memory at an address.
    ///
    /// # Safety
    /// `len` bytes from `start` on are there for as long as `'a`.
    pub unsafe fn new(start: *mut u8, len: usize) -> Self {
        Self { start, len, next: AtomicUsize::new(0), bytes: PhantomData }
    }

    /// Gets the pages that no other thread got or is getting.
    pub fn populate(&self) {
        loop {
            let at = self.next.fetch_add(HUGE, Ordering::Relaxed);
            if at >= self.len {
                return;
            }
            // SAFETY: the piece lies in the memory, which is there.
            unsafe { BACKOFF.populate(self.start.wrapping_add(at), HUGE.min(self.len - at)) };
        }
    }
}

/// Whether all pages under memory are there, as where its allocator had it before. Looking is ten times quicker than asking for small
/// pages that are there.
///
/// # Safety
/// `len` bytes from `start` on are there.
unsafe fn is_present(start: *mut u8, len: usize) -> bool {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        const PAGES: usize = 1024;
        let end = start.addr() + len;
        let mut present = [0u8; PAGES];
        let mut at = start.addr() / PAGE * PAGE;
        while at < end {
            let len = (end - at).next_multiple_of(PAGE).min(PAGES * PAGE);
            // SAFETY: `present` has a byte for each of the pages, which the kernel writes; the memory is not touched.
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

/// Milliseconds since this was asked first.
fn now() -> u64 {
    static BEGUN: OnceLock<Instant> = OnceLock::new();
    u64::try_from(BEGUN.get_or_init(Instant::now).elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// How long this thread has run, which does not count that others had its processor; nothing where the system doesn't tell.
fn thread_cpu_time() -> Duration {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        // SAFETY: numbers, and nothing else.
        let mut time: libc::timespec = unsafe { core::mem::zeroed() };
        // SAFETY: `time` is ours and writable.
        if unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) } == 0 {
            return Duration::new(time.tv_sec as u64, time.tv_nsec as u32);
        }
    }
    Duration::ZERO
}

/// Makes the pages under memory present, or does nothing where the system can't. Unless `may_be_huge`, they are small.
///
/// # Safety
/// `len` bytes from `start` on are there.
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
            // SAFETY: the range lies in the memory; the advice changes no byte.
            unsafe { libc::madvise(inside, whole, libc::MADV_NOHUGEPAGE) };
        }
        // SAFETY: as above. Where pages are larger, or the system doesn't know this advice, it is refused.
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
            for piece in [0..0, 1..5, 5..HUGE + 77, HUGE + 77..5 * HUGE + 12345] {
                let piece = &mut memory[piece];
                // SAFETY: the memory is there.
                unsafe { backoff.populate(piece.as_mut_ptr(), piece.len()) };
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
        // After a moment without a piece two slow ones are needed again.
        backoff.record(true);
        assert_eq!(small_left(8 + Backoff::FORGET_AFTER), 0);
        for expected in [0, 4] {
            backoff.record(true);
            assert_eq!(small_left(9 + Backoff::FORGET_AFTER), expected);
        }
    }

    #[test]
    fn pages_are_seen_when_they_are_there() {
        // A mapping of its own: an allocator may have had its memory before.
        let mut memory = Buffer::zeroed(3 * HUGE).unwrap();
        let present = |piece: &mut [u8]| {
            // SAFETY: the memory is there.
            unsafe { is_present(piece.as_mut_ptr(), piece.len()) }
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
            reserve_on_huge_pages(&mut memory, additional);
            assert!(memory.capacity() - memory.len() >= additional);
            memory.push(memory.len() as u64);
            assert!(memory.iter().enumerate().all(|(i, &value)| value == i as u64));
        }
    }
}
