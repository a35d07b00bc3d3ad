//! Strings at any addresses of a host's memory.

use super::HostRead;

/// Views of strings, 16 bytes each: the length in the lowest four bytes, then either the bytes of a
/// string of up to 12, or its address in the upper eight.
#[derive(Clone, Copy, Debug)]
pub struct HostViews {
    start: *const u128,
    n: usize,
}

// SAFETY: only reads, from memory that the caller of `HostViews::new` keeps readable from every
// thread.
unsafe impl Send for HostViews {}
// SAFETY: as above; it lacks interior mutability.
unsafe impl Sync for HostViews {}

impl HostViews {
    /// The longest string that is stored in its view.
    pub const INLINE: usize = 12;

    /// Wraps `n` views at `start`.
    ///
    /// # Safety
    /// The views must be initialised and unchanged, and the bytes of each longer string readable at
    /// its address, from any thread, for as long as the value or a copy of it is in use.
    pub unsafe fn new(start: *const u128, n: usize) -> Self {
        Self { start, n }
    }

    /// The view of a string of `len` bytes, more than 12, at `address`.
    pub fn view(len: u32, address: *const u8) -> u128 {
        u128::from(len) | (address.expose_provenance() as u128) << 64
    }

    /// The number of views.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// View `i`, and the bytes of a string longer than 12; they are empty for a short one. `None`
    /// if `i` is out of range.
    #[inline]
    #[must_use]
    pub fn get(&self, i: usize) -> Option<(u128, HostRead)> {
        if i >= self.n {
            return None;
        }
        // SAFETY: `i` is below the number of views.
        let view = unsafe { self.start.add(i).read_unaligned() };
        let len = view as u32 as usize;
        let (address, len) = if len <= Self::INLINE { (0, 0) } else { ((view >> 64) as usize, len) };
        // SAFETY: the caller of `new` promised that the bytes of longer strings are readable; a
        // short string has length 0 here.
        let bytes = unsafe { HostRead::new(core::ptr::with_exposed_provenance(address), len) };
        Some((view, bytes))
    }

    /// Prefetches the bytes of string `i`.
    #[inline]
    pub fn fetch(&self, i: usize) {
        if let Some((_, bytes)) = self.get(i) {
            (0..bytes.len().min(256)).step_by(64).for_each(|at| bytes.fetch(at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_strings_are_in_their_views_and_long_ones_elsewhere() {
        let long = b"longer than twelve bytes";
        let short = u128::from_le_bytes(*b"\x03\0\0\0abc\0\0\0\0\0\0\0\0\0");
        let all = [short, HostViews::view(long.len() as u32, long.as_ptr()), 0];
        // SAFETY: views and bytes outlive their use and stay unchanged.
        let views = unsafe { HostViews::new(all.as_ptr(), all.len()) };
        assert_eq!((views.len(), views.is_empty()), (3, false));
        let (view, none) = views.get(0).unwrap();
        assert!(view == short && none.is_empty());
        let (_, bytes) = views.get(1).unwrap();
        let mut out = [0; 24];
        assert!(bytes.copy_to(0, &mut out) && &out == long && !bytes.copy_to(1, &mut out));
        assert!(views.get(2).is_some_and(|(view, bytes)| view == 0 && bytes.is_empty()));
        assert!(views.get(3).is_none());
        views.fetch(1);
        views.fetch(9);
    }
}
