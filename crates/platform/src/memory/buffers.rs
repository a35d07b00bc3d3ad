//! Many buffers for one call: small ones share huge pages.

use std::sync::Arc;

use super::buffer::{ALIGN, Buffer, MAPPED_FROM, SCRATCH_FROM};
use super::huge_pages::HUGE;
use super::mapping::Mapping;

/// Bytes of a shared mapping: one buffer that is kept may hold on to this much memory.
const SHARED: usize = 4 * HUGE;

/// Bytes of small buffers from the allocator before any are shared.
const FEW: usize = 2 * HUGE;

/// Makes the buffers of one call.
///
/// A table of a thousand columns of a megabyte each needs a gigabyte in pieces that are too small
/// for huge pages of their own. Populating them with small pages would take longer than decoding.
/// So after 4 MiB of small buffers, the next ones are parts of shared mappings of 8 MiB. The last
/// buffer of a mapping unmaps it.
///
/// Short-lived buffers share mappings earlier and at any length, because clearing a huge page takes
/// the same time if only a part of it is used.
#[derive(Debug, Default)]
pub struct Buffers {
    is_scratch: bool,
    /// Bytes of small buffers so far.
    made: usize,
    /// The mapping that is being divided, and the number of bytes used.
    open: Option<(Arc<Mapping>, usize)>,
}

impl Buffers {
    /// For short-lived buffers that are dropped together.
    pub fn scratch() -> Self {
        Self { is_scratch: true, ..Self::default() }
    }

    /// As [`Buffer::zeroed`].
    pub fn zeroed(&mut self, len: usize) -> Option<Buffer> {
        let (few, own_from) =
            if self.is_scratch { (SCRATCH_FROM - 1, usize::MAX) } else { (FEW, MAPPED_FROM) };
        if len == 0 || len >= own_from {
            return Buffer::zeroed(len);
        }
        self.made = self.made.saturating_add(len);
        if self.made <= few { Buffer::zeroed(len) } else { self.cut(len).or_else(|| Buffer::zeroed(len)) }
    }

    /// A part of the open mapping or of a new one.
    fn cut(&mut self, len: usize) -> Option<Buffer> {
        let (mapping, at) = match self.open.take() {
            Some((mapping, at)) if len <= mapping.len() - at => (mapping, at),
            _ => (Arc::new(Mapping::new(len.max(SHARED))?), 0),
        };
        // SAFETY: bytes from `at` on are unused: `at` starts at 0 and advances beyond each buffer.
        let buffer = unsafe { Buffer::part(&mapping, at, len) };
        // Rounded up to the alignment, so it stays inside or at the end of the mapping.
        let next = (at + len).next_multiple_of(ALIGN.get()).min(mapping.len());
        self.open = Some((mapping, next));
        buffer
    }
}

#[cfg(test)]
mod tests {
    use super::super::huge_pages::are_used;
    use super::*;

    #[test]
    fn buffers_are_zero_aligned_and_their_own() {
        [Buffers::default(), Buffers::scratch()].into_iter().for_each(are_their_own);
    }

    fn are_their_own(mut maker: Buffers) {
        let lens = [0, 1, 63, 64, 65, 100_000, 1 << 20, MAPPED_FROM - 1, MAPPED_FROM, 3 << 20, 5];
        let mut made: Vec<Buffer> = (0..8).flat_map(|_| lens).map(|len| maker.zeroed(len).unwrap()).collect();
        for (i, buffer) in made.iter_mut().enumerate() {
            assert_eq!(buffer.len(), lens[i % lens.len()]);
            assert_eq!(buffer.as_ptr().addr() % ALIGN.get(), 0);
            assert!(buffer.iter().all(|&byte| byte == 0));
            buffer.fill(i as u8 + 1);
        }
        // Every other buffer is dropped; the rest must keep their contents.
        let mut number = 0;
        made.retain(|_| {
            number += 1;
            number % 2 == 0
        });
        drop(maker);
        for (i, buffer) in made.iter().enumerate() {
            assert!(buffer.iter().all(|&byte| byte == (2 * i + 2) as u8));
        }
    }

    #[test]
    fn few_buffers_share_nothing() {
        let mut maker = Buffers::default();
        let few: Vec<Buffer> = (0..4).map(|_| maker.zeroed(1 << 20).unwrap()).collect();
        assert!(maker.open.is_none());
        drop(few);
        let next = maker.zeroed(1 << 20).unwrap();
        assert_eq!(maker.open.is_some(), are_used());
        assert_eq!(next.len(), 1 << 20);
    }

    #[test]
    fn scratch_buffers_share_from_the_first_large_one() {
        let mut maker = Buffers::scratch();
        drop(maker.zeroed(SCRATCH_FROM / 2));
        assert!(maker.open.is_none());
        let long = 3 * SHARED - 1000;
        let made: Vec<Buffer> = [SCRATCH_FROM, long, 100].map(|len| maker.zeroed(len).unwrap()).into();
        // If memory is mapped, the last buffer uses the rest of the previous buffer's mapping.
        let apart = made[2].as_ptr().addr().wrapping_sub(made[1].as_ptr().addr());
        assert!(maker.open.is_none() || apart == long.next_multiple_of(ALIGN.get()));
        assert_eq!(maker.open.is_some(), are_used());
    }

    #[test]
    fn impossible_sizes_are_none() {
        for mut maker in [Buffers::default(), Buffers::scratch()] {
            assert!(maker.zeroed(usize::MAX).is_none());
            assert!(maker.zeroed(isize::MAX as usize).is_none());
        }
    }
}
