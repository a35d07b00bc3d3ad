//! The pages under memory that is about to be filled.

use std::time::Duration;

/// Size of a huge page.
pub(super) const HUGE: usize = 2 << 20;

/// Size of the pages that this is made for.
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
pub fn reserve_on_huge_pages<T>(memory: &mut Vec<T>, additional: usize) {
    if memory.capacity() - memory.len() < additional {
        memory.reserve(additional);
        let spare = memory.spare_capacity_mut();
        let (start, len) = (spare.as_mut_ptr().cast(), size_of_val(spare));
        if len >= LARGE {
            advise(start, len);
            // No huge page fits in before the first of them, and behind the last.
            let before = start.addr().next_multiple_of(HUGE) - start.addr();
            let behind = (start.addr() + len) % HUGE;
            populate(start, before, true);
            populate(start.wrapping_add(len - behind), behind, true);
        } else if len >= MANY_PAGES {
            populate(start, len, true);
        }
    }
}

/// Asks for huge pages under `len` bytes from `start` on, which are memory of the caller's.
fn advise(start: *mut u8, len: usize) {
    #[cfg(all(target_os = "linux", not(miri)))]
    if len >= LARGE {
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

/// Gets the pages under memory that a thread is about to fill: huge ones as long as they come quickly.
///
/// A huge page is had in less time than it takes to fill it, but not everywhere: a system may have to move others' pages first, and
/// a virtual machine that gave memory back to its host (free page reporting) fetches it again, at ten microseconds for 4 KiB. Then small
/// pages, of which there are mostly some left, are quicker by far.
#[derive(Debug, Default)]
pub struct Pages {
    /// How many pieces came slowly, one after the other.
    n_slow: u32,
}

impl Pages {
    /// Pieces that come slowly one after the other until small pages are asked for.
    const MOST_SLOW: u32 = 2;
    /// Memory comes slowly when a mebibyte takes longer: three times what small pages take.
    const SLOW: Duration = Duration::from_millis(1);
    /// Less than this comes when it is filled.
    const LEAST: usize = 1 << 20;

    /// Gets the pages under `memory`, about as much as a huge page, where they are not there yet. The bytes stay what they are.
    pub fn get(&mut self, memory: &mut [u8]) {
        if memory.len() < Self::LEAST {
            return;
        }
        if self.n_slow >= Self::MOST_SLOW {
            populate(memory.as_mut_ptr(), memory.len(), false);
            return;
        }
        let begun = busy();
        populate(memory.as_mut_ptr(), memory.len(), true);
        let is_slow = busy().saturating_sub(begun) > Self::SLOW * (memory.len() >> 20) as u32;
        self.n_slow = if is_slow { self.n_slow + 1 } else { 0 };
    }
}

/// How long this thread has run, which does not count that others had its processor; nothing where the system doesn't tell.
fn busy() -> Duration {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is ours and writable.
        if unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) } == 0 {
            return Duration::new(time.tv_sec as u64, time.tv_nsec as u32);
        }
    }
    Duration::ZERO
}

/// Makes the pages under `len` bytes from `start` on present, which are memory of the caller's, or does nothing where the system can't.
/// Unless they `may_be_huge`, they are small.
fn populate(start: *mut u8, len: usize, may_be_huge: bool) {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        let from = start.addr().next_multiple_of(PAGE);
        let whole = (start.addr() + len).saturating_sub(from) / PAGE * PAGE;
        let inside = start.with_addr(from).cast();
        if !may_be_huge {
            // SAFETY: the range lies in the caller's memory; the advice changes no byte.
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
        for n_slow in [0, Pages::MOST_SLOW] {
            for piece in [0..0, 1..5, 5..HUGE + 77, HUGE + 77..5 * HUGE + 12345] {
                let mut pages = Pages { n_slow };
                pages.get(&mut memory[piece]);
                assert!(pages.n_slow >= n_slow || n_slow == 0);
            }
            assert!(memory.iter().all(|&byte| byte == 7));
        }
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
