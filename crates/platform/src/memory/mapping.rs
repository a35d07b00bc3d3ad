//! Anonymous mappings aligned to huge pages.

use core::ptr::NonNull;

#[cfg(all(target_os = "linux", not(miri)))]
use super::huge_pages::{HUGE, are_used};

/// Zeroed memory of the system, on huge pages if it has them. It is unmapped on drop.
#[derive(Debug)]
pub(super) struct Mapping {
    start: NonNull<u8>,
    /// A multiple of the huge page size.
    len: usize,
}

// SAFETY: a mapping owns its bytes alone, like a `Vec<u8>`.
unsafe impl Send for Mapping {}
// SAFETY: as above; it hands out no references by itself.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// The first byte, aligned to a huge page.
    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// The length, at least as many bytes as were requested.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// A mapping of `len` bytes; `None` without memory, without support, or with huge pages
    /// switched off.
    #[cfg(all(target_os = "linux", not(miri)))]
    pub(super) fn new(len: usize) -> Option<Mapping> {
        if !are_used() {
            return None;
        }
        let len = len.checked_next_multiple_of(HUGE).filter(|&whole| whole <= isize::MAX as usize - HUGE)?;
        // SAFETY: a new private anonymous mapping at an address of the system's choice.
        let raw = unsafe {
            libc::mmap(
                core::ptr::null_mut(),
                len + HUGE,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if raw == libc::MAP_FAILED {
            return None;
        }
        let raw = raw.cast::<u8>();
        // The boundary is less than a huge page away, so `len` bytes follow it.
        let lead = raw.addr().next_multiple_of(HUGE) - raw.addr();
        let start = raw.wrapping_add(lead);
        release(raw, lead);
        release(start.wrapping_add(len), HUGE - lead);
        // SAFETY: [start, start + len) remains of the new mapping above.
        unsafe { libc::madvise(start.cast(), len, libc::MADV_HUGEPAGE) };
        Some(Mapping { start: NonNull::new(start)?, len })
    }

    #[cfg(not(all(target_os = "linux", not(miri))))]
    pub(super) fn new(_len: usize) -> Option<Mapping> {
        None
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        #[cfg(all(target_os = "linux", not(miri)))]
        release(self.start.as_ptr(), self.len);
    }
}

/// Unmaps `len` bytes of a mapping that `Mapping::new` made; both ends are page-aligned.
#[cfg(all(target_os = "linux", not(miri)))]
fn release(start: *mut u8, len: usize) {
    if len > 0 {
        // SAFETY: the callers pass pages of a mapping of ours that nothing else refers to.
        unsafe { libc::munmap(start.cast(), len) };
    }
}
