//! Owned memory for decoded columns: aligned, zeroed, and on huge pages if large.

use core::any::Any;
use core::num::NonZeroUsize;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::sync::Arc;

use bytemuck::Pod;

use super::huge_pages::{HUGE, LARGE};
use super::mapping::Mapping;

/// The alignment of every buffer: a cache line, and the widest vector register.
pub(super) const ALIGN: NonZeroUsize = NonZeroUsize::new(64).unwrap();

/// Buffers of at least this length have a mapping of their own.
pub(super) const MAPPED_FROM: usize = LARGE;

/// As [`MAPPED_FROM`], for short-lived buffers. Clearing one huge page takes as long as mapping a
/// quarter of it in small pages.
pub(super) const SCRATCH_FROM: usize = HUGE / 4;

/// Owned bytes, aligned to 64, initially zero. Those of a vector ([`Buffer::of_vec`]) keep its
/// alignment and its values.
///
/// Buffers of 4 MiB and more are anonymous mappings (on Linux) that begin on a 2 MiB boundary and
/// ask for huge pages. Their pages cost nothing until touched and return to the system on drop.
/// Many smaller buffers of one call share such mappings: see [`Buffers`](super::Buffers).
#[derive(Debug)]
pub struct Buffer {
    start: NonNull<u8>,
    len: usize,
    owner: Owner,
}

/// The owner of the memory.
#[derive(Debug)]
enum Owner {
    /// The buffer, which returns it to the allocator.
    Heap,
    Mapping(#[allow(dead_code, reason = "unmaps when dropped")] Mapping),
    /// All buffers that share the mapping.
    Part(#[allow(dead_code, reason = "unmaps when dropped")] Arc<Mapping>),
    Vec(#[allow(dead_code, reason = "frees its memory when dropped")] Box<dyn Any + Send + Sync>),
}

// SAFETY: a buffer owns its bytes alone, like a `Vec<u8>`.
unsafe impl Send for Buffer {}
// SAFETY: as above; shared access only reads.
unsafe impl Sync for Buffer {}

impl Default for Buffer {
    /// An empty buffer.
    fn default() -> Buffer {
        Buffer::zeroed(0).expect("an empty buffer takes no memory")
    }
}

impl Buffer {
    /// `len` zero bytes; `None` without memory for them.
    #[must_use]
    pub fn zeroed(len: usize) -> Option<Buffer> {
        Self::mapped_from(MAPPED_FROM, len)
    }

    /// As [`Buffer::zeroed`], for short-lived memory: on huge pages from 512 KiB on, although a
    /// part of the last page stays unused.
    #[must_use]
    pub fn scratch(len: usize) -> Option<Buffer> {
        Self::mapped_from(SCRATCH_FROM, len)
    }

    /// The memory of a vector, without a copy.
    #[must_use]
    pub fn of_vec<T: Pod + Send + Sync>(mut values: Vec<T>) -> Buffer {
        let start = NonNull::from(values.as_mut_slice()).cast();
        let len = size_of_val(values.as_slice());
        // The elements stay where they are, and nothing else refers to the vector any more.
        Buffer { start, len, owner: Owner::Vec(Box::new(values)) }
    }

    fn mapped_from(least: usize, len: usize) -> Option<Buffer> {
        if len >= least
            && let Some(mapping) = Mapping::new(len)
        {
            return Some(Buffer { start: mapping.start(), len, owner: Owner::Mapping(mapping) });
        }
        let layout = heap_layout(len)?;
        if len == 0 {
            return Some(Buffer { start: NonNull::without_provenance(ALIGN), len, owner: Owner::Heap });
        }
        // SAFETY: the layout has size `len`, which is not zero.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Buffer { start, len, owner: Owner::Heap })
    }

    /// `len` bytes of a mapping, starting at `at`; `None` if they are not inside, or `at` is not
    /// aligned.
    ///
    /// # Safety
    /// No other buffer has any of these bytes, now or later.
    pub(super) unsafe fn part(mapping: &Arc<Mapping>, at: usize, len: usize) -> Option<Buffer> {
        let is_inside = at.checked_add(len).is_some_and(|end| end <= mapping.len());
        if !is_inside || at % ALIGN != 0 {
            return None;
        }
        // SAFETY: `is_inside` says that `at` is inside the mapping.
        let start = unsafe { mapping.start().add(at) };
        Some(Buffer { start, len, owner: Owner::Part(Arc::clone(mapping)) })
    }

    /// The address of the first byte. It is aligned, unless the buffer is of a vector, and not
    /// readable if the buffer is empty.
    pub fn as_ptr(&self) -> *const u8 {
        self.start.as_ptr()
    }

    /// As [`Buffer::as_ptr`], for writing.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.start.as_ptr()
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `start` points to `len` initialised bytes of our own, or dangles with `len` 0.
        unsafe { core::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`, and `&mut self` makes the access exclusive.
        unsafe { core::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Owner::Heap = self.owner
            && let Some(layout) = heap_layout(self.len)
            && self.len > 0
        {
            // SAFETY: `mapped_from` allocated `start` with this layout.
            unsafe { dealloc(self.start.as_ptr(), layout) };
        }
    }
}

fn heap_layout(len: usize) -> Option<Layout> {
    Layout::from_size_align(len, ALIGN.get()).ok()
}

#[cfg(test)]
mod tests {
    use super::super::huge_pages::are_used;
    use super::*;

    #[test]
    fn zeroed_aligned_and_writable() {
        let lens = [
            0,
            1,
            63,
            64,
            4096,
            SCRATCH_FROM,
            MAPPED_FROM - 1,
            MAPPED_FROM,
            MAPPED_FROM + 1,
            3 * HUGE + 12345,
        ];
        for (len, make) in
            lens.into_iter().flat_map(|len| [(len, Buffer::zeroed as fn(_) -> _), (len, Buffer::scratch)])
        {
            let mut buffer: Buffer = make(len).unwrap();
            assert_eq!(buffer.len(), len);
            assert_eq!(buffer.as_ptr().addr() % ALIGN.get(), 0);
            if are_used() && len >= MAPPED_FROM {
                assert_eq!(buffer.as_ptr().addr() % HUGE, 0);
            }
            assert!(buffer.iter().all(|&byte| byte == 0));
            buffer.fill(7);
            assert!(buffer.iter().all(|&byte| byte == 7));
        }
    }

    #[test]
    fn vectors_keep_their_place_and_their_values() {
        for n in [0usize, 1, 1000, 3 * HUGE] {
            let values: Vec<u32> = (0..n as u32).collect();
            let at = values.as_ptr().addr();
            let mut buffer = Buffer::of_vec(values);
            assert_eq!((buffer.as_ptr().addr(), buffer.len()), (at, 4 * n));
            assert!(buffer.chunks_exact(4).zip(0u32..).all(|(bytes, i)| bytes == i.to_ne_bytes()));
            buffer.fill(7);
            assert!(buffer.iter().all(|&byte| byte == 7));
        }
    }

    #[test]
    fn impossible_sizes_are_none() {
        for len in [usize::MAX, isize::MAX as usize, isize::MAX as usize - HUGE, 1 << 60] {
            assert!(Buffer::zeroed(len).is_none());
        }
    }
}
