//! Reading memory that a host (NumPy, Arrow, R) lends.

use bytemuck::Pod;

/// A bounded window of a host's memory, read by copying.
///
/// The host may write to the memory while it is lent. No reference to it is ever formed: every byte
/// is read through a raw pointer once per call. So the values that were checked after a copy are
/// the values that are used, and a concurrent write can only make the copied numbers wrong.
#[derive(Clone, Copy, Debug)]
pub struct HostRead {
    start: *const u8,
    len: usize,
}

// SAFETY: a `HostRead` only reads, from memory that `HostRead::new`'s caller keeps readable from
// every thread.
unsafe impl Send for HostRead {}
// SAFETY: as above; it lacks interior mutability.
unsafe impl Sync for HostRead {}

impl HostRead {
    /// Wraps `len` bytes from `start` on.
    ///
    /// # Safety
    /// The bytes must be initialised and stay readable, from any thread, for as long as the value
    /// or a copy of it is in use, and `len` must not exceed `isize::MAX`. When `len` is 0, `start`
    /// may be anything.
    pub unsafe fn new(start: *const u8, len: usize) -> HostRead {
        HostRead { start, len }
    }

    /// Length in bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the length is 0.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The `len` bytes at offset `at`; `None` if they do not lie inside.
    #[inline]
    #[must_use]
    pub fn sub(&self, at: usize, len: usize) -> Option<HostRead> {
        Some(HostRead { start: self.address(at, len)?, len })
    }

    /// Copies `out.len()` bytes from offset `at`. Returns false, leaving `out` unchanged, if they
    /// do not lie inside.
    #[inline]
    #[must_use]
    pub fn copy_to(&self, at: usize, out: &mut [u8]) -> bool {
        let Some(from) = self.address(at, out.len()) else { return false };
        // SAFETY: `address` checked that out.len() bytes are readable at `from`; `out` is
        // exclusive, so it overlaps nothing that was lent.
        unsafe { core::ptr::copy_nonoverlapping(from, out.as_mut_ptr(), out.len()) };
        true
    }

    /// The value at byte `at`, aligned or not; `None` if it does not lie inside.
    #[inline]
    #[must_use]
    pub fn read<T: Pod>(&self, at: usize) -> Option<T> {
        let from = self.address(at, size_of::<T>())?;
        // SAFETY: `address` checked that the value's bytes are readable; any bytes are a `T`, which
        // is `Pod`.
        Some(unsafe { from.cast::<T>().read_unaligned() })
    }

    /// Copies `out.len()` values. The first one is at byte `at_bytes`, each next one `stride_bytes`
    /// further; the stride may be negative or zero.
    ///
    /// Returns false, leaving `out` unchanged, if any byte lies outside.
    #[must_use]
    pub fn copy_strided<T: Pod>(&self, at_bytes: usize, stride_bytes: isize, out: &mut [T]) -> bool {
        let size = size_of::<T>();
        if stride_bytes == size as isize {
            return self.copy_to(at_bytes, bytemuck::cast_slice_mut(out));
        }
        let Some(steps) = out.len().checked_sub(1) else { return at_bytes <= self.len };
        // Every position lies between the first and the last; i128 holds any product.
        let last = at_bytes as i128 + steps as i128 * stride_bytes as i128;
        let in_range = |at: i128| at >= 0 && at + size as i128 <= self.len as i128;
        if !in_range(at_bytes as i128) || !in_range(last) {
            return false;
        }
        for (i, out) in out.iter_mut().enumerate() {
            let at = at_bytes.wrapping_add_signed((i as isize).wrapping_mul(stride_bytes));
            // SAFETY: 0 <= at and at + size <= len, as checked for both ends of the walk, between
            // which `at` lies; any bytes are a `T`, which is `Pod`.
            *out = unsafe { self.start.add(at).cast::<T>().read_unaligned() };
        }
        true
    }

    /// The address of the first byte, for comparison with other addresses.
    #[inline]
    pub fn addr(&self) -> usize {
        self.start.addr()
    }

    /// Prefetches the cache line of byte `at`, if it lies inside.
    #[inline(always)]
    pub fn fetch(&self, at: usize) {
        #[cfg(target_arch = "x86_64")]
        if let Some(from) = self.address(at, 1) {
            use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: a hint without effect on memory, and `address` checked that the byte is
            // readable.
            unsafe { _mm_prefetch(from.cast(), _MM_HINT_T0) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = at;
    }

    /// The address of byte `at`, if `len` bytes are readable there.
    #[inline(always)]
    #[must_use]
    pub fn address(&self, at: usize, len: usize) -> Option<*const u8> {
        (at.checked_add(len)? <= self.len).then(|| self.start.wrapping_add(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lend(bytes: &[u8]) -> HostRead {
        // SAFETY: every test keeps `bytes` alive and unchanged while it reads.
        unsafe { HostRead::new(bytes.as_ptr(), bytes.len()) }
    }

    proptest! {
        #[test]
        fn strided_walks(len in 0usize..200, at in 0usize..220, stride in -40isize..40, n in 0usize..30) {
            let bytes: Vec<u8> = (0..len).map(|i| i as u8).collect();
            let host = lend(&bytes);
            let positions: Vec<isize> = (0..n as isize).map(|i| at as isize + i * stride).collect();
            let inside = positions.iter().all(|&p| p >= 0 && p as usize + 4 <= len) && at <= len;
            let mut out = vec![0xdead_beef_u32; n];
            prop_assert_eq!(host.copy_strided(at, stride, &mut out), inside);
            for (&p, &out) in positions.iter().zip(&out) {
                let expected = match inside {
                    true => u32::from_ne_bytes(bytes[p as usize..][..4].try_into().unwrap()),
                    false => 0xdead_beef,
                };
                prop_assert_eq!(out, expected);
            }
        }
    }

    #[test]
    fn bounds() {
        let bytes = [1u8, 2, 3, 4, 5];
        let host = lend(&bytes);
        assert_eq!((host.len(), host.is_empty()), (5, false));
        assert_eq!(host.read::<u16>(1), Some(u16::from_ne_bytes([2, 3])));
        assert_eq!(host.read::<u16>(4), None);
        assert_eq!(host.read::<u16>(usize::MAX), None);
        let part = host.sub(2, 3).unwrap();
        assert_eq!((part.len(), part.read::<u8>(2), part.read::<u8>(3)), (3, Some(5), None));
        assert!(part.sub(3, 0).is_some() && part.sub(3, 1).is_none() && part.sub(4, 0).is_none());
        let mut out = [9; 2];
        assert!(host.copy_to(3, &mut out) && out == [4, 5]);
        assert!(!host.copy_to(4, &mut out) && !host.copy_to(usize::MAX, &mut out));
        assert!(!host.copy_strided(0, isize::MAX, &mut [0u8; 3]));
        assert!(!host.copy_strided(0, isize::MIN, &mut [0u8; 3]));
        // SAFETY: no bytes are lent.
        let nothing = unsafe { HostRead::new(core::ptr::null(), 0) };
        assert!(nothing.copy_to(0, &mut []) && nothing.read::<u8>(0).is_none());
        assert!(nothing.copy_strided::<u32>(0, 4, &mut []));
    }
}
