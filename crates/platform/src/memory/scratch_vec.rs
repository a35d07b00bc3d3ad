//! Short-lived vectors that share huge pages.

use core::fmt;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
use std::cell::RefCell;
use std::sync::{Arc, Weak};

use bytemuck::Pod;

use super::buffer::{ALIGN, Buffer, SCRATCH_FROM};
use super::huge_pages::{HUGE, LARGE, populate_huge_page, reserve_on_huge_pages};
use super::mapping::Mapping;

/// Smaller vectors use the allocator, which mostly has memory of that size at hand.
const SHARED_FROM: usize = 64 << 10;
/// The length of a shared mapping. Unused parts of it cost nothing.
const SHARED: usize = 4 * HUGE;

/// The mapping that this thread divides among vectors, and the number of bytes used. The mapping
/// lives as long as one of these vectors.
struct Open {
    mapping: Weak<Mapping>,
    at: usize,
}

thread_local! {
    static OPEN: RefCell<Open> = const { RefCell::new(Open { mapping: Weak::new(), at: 0 }) };
}

/// Zero bytes on shared huge pages. `None` if huge pages are missing or slow, or if the first part
/// of a new mapping would take less than a quarter of a huge page.
fn cut(len: usize) -> Option<Buffer> {
    OPEN.try_with(|open| {
        let mut open = open.try_borrow_mut().ok()?;
        let len = len.checked_next_multiple_of(ALIGN.get())?;
        let (mapping, at) = match open.mapping.upgrade() {
            Some(mapping) if len <= mapping.len() - open.at => (mapping, open.at),
            _ if len < SCRATCH_FROM => return None,
            _ => {
                let mapping = Arc::new(Mapping::new(len.max(SHARED))?);
                // SAFETY: a mapping has at least one huge page.
                if !unsafe { populate_huge_page(mapping.start().as_ptr()) } {
                    return None;
                }
                (mapping, 0)
            }
        };
        // SAFETY: bytes from `at` on are unused: only this thread divides the mapping, and `at`
        // advances beyond each buffer.
        let buffer = unsafe { Buffer::part(&mapping, at, len) };
        *open = Open { mapping: Arc::downgrade(&mapping), at: at + len };
        buffer
    })
    .ok()
    .flatten()
}

/// A vector of plain values that lives for a short time.
///
/// First writes to memory cost page faults, and small pages cost twenty times as much as a huge
/// page of the same size. Most vectors are too small for huge pages of their own, so vectors of one
/// thread share huge pages.
pub struct ScratchVec<T: Copy> {
    start: NonNull<T>,
    len: usize,
    room: usize,
    memory: Memory<T>,
}

/// The owner of the memory.
enum Memory<T> {
    /// The allocator. The vector's own length is 0; `ScratchVec::len` counts.
    Heap(Vec<T>),
    /// A part of shared huge pages, fully initialised.
    Part(#[allow(dead_code, reason = "gives it back when dropped")] Buffer),
}

// SAFETY: it owns its elements alone, like a `Vec<T>`.
unsafe impl<T: Copy + Send> Send for ScratchVec<T> {}
// SAFETY: as above; shared access only reads.
unsafe impl<T: Copy + Sync> Sync for ScratchVec<T> {}

impl<T: Copy> ScratchVec<T> {
    /// An empty vector without memory.
    pub const fn new() -> Self {
        Self { start: NonNull::dangling(), len: 0, room: 0, memory: Memory::Heap(Vec::new()) }
    }

    /// Reserves room for `additional` more elements.
    ///
    /// # Panics
    /// With [`Refused`] if the system refuses memory, as every method that grows the vector.
    #[inline]
    pub fn reserve(&mut self, additional: usize) {
        if self.room - self.len < additional {
            self.grow(additional);
        }
    }

    /// As [`reserve`](Self::reserve), but returns false, with the vector unchanged, if the system
    /// refuses memory.
    #[must_use]
    pub fn try_reserve(&mut self, additional: usize) -> bool {
        self.room - self.len >= additional || self.try_grow(additional)
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, additional: usize) {
        if !self.try_grow(additional) {
            no_memory::<T>(self.len.saturating_add(additional));
        }
    }

    fn try_grow(&mut self, additional: usize) -> bool {
        let Some(needed) = self.len.checked_add(additional) else { return false };
        let bytes = needed.max(2 * self.room).saturating_mul(size_of::<T>());
        // Beyond `LARGE` the allocator can grow memory without a copy.
        let part = if (SHARED_FROM..LARGE).contains(&bytes) { cut(bytes) } else { None };
        self.move_to(part, needed, additional)
    }

    /// Moves the elements to `part`, or to the allocator. Afterwards there is room for `additional`
    /// more, `needed` in all. Returns false, with the vector unchanged, if the system
    /// refuses memory.
    #[must_use]
    fn move_to(&mut self, part: Option<Buffer>, needed: usize, additional: usize) -> bool {
        let is_aligned = |buffer: &Buffer| buffer.as_ptr().cast::<T>().is_aligned() && size_of::<T>() > 0;
        if let Some(mut part) = part.filter(is_aligned) {
            let start = part.as_mut_ptr().cast::<T>();
            // SAFETY: the part is new, aligned for `T` and has room for `needed` elements, which is
            // at least `self.len`.
            unsafe { start.copy_from_nonoverlapping(self.start.as_ptr(), self.len) };
            self.start = NonNull::new(start).expect("a part is somewhere");
            self.room = part.len() / size_of::<T>();
            self.memory = Memory::Part(part);
            return true;
        }
        if let Memory::Heap(heap) = &mut self.memory {
            // SAFETY: the first `len` elements of `heap` are initialised.
            unsafe { heap.set_len(self.len) };
            let is_done = reserve_on_huge_pages(heap, additional);
            // SAFETY: 0 is at most the capacity, and elements without a destructor need no drop.
            unsafe { heap.set_len(0) };
            self.start = NonNull::new(heap.as_mut_ptr()).expect("a vector is somewhere");
            self.room = heap.capacity();
            return is_done;
        }
        let mut heap: Vec<T> = Vec::new();
        if !reserve_on_huge_pages(&mut heap, needed) {
            return false;
        }
        let start = NonNull::new(heap.as_mut_ptr()).expect("a vector is somewhere");
        // SAFETY: both have room for `len` elements, and the new memory is apart from the part.
        unsafe { start.copy_from_nonoverlapping(self.start, self.len) };
        (self.start, self.room) = (start, heap.capacity());
        self.memory = Memory::Heap(heap);
        true
    }

    /// Appends an element.
    #[inline]
    pub fn push(&mut self, value: T) {
        self.reserve(1);
        // SAFETY: `reserve` made room for one more.
        unsafe { self.start.add(self.len).write(value) };
        self.len += 1;
    }

    /// Appends elements.
    #[inline]
    pub fn extend_from_slice(&mut self, values: &[T]) {
        self.reserve(values.len());
        // SAFETY: `reserve` made room for them, and `values` cannot overlap memory that `self`
        // owns.
        unsafe { self.start.as_ptr().add(self.len).copy_from_nonoverlapping(values.as_ptr(), values.len()) };
        self.len += values.len();
    }

    /// Shortens the vector to `len` elements, if it is longer.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Removes all elements and keeps the memory.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Removes the first `n` elements.
    pub fn drop_front(&mut self, n: usize) {
        self.copy_within(n.., 0);
        self.len -= n;
    }

    /// Sets the length; new elements are `value`.
    pub fn resize(&mut self, len: usize, value: T) {
        let before = self.len;
        self.reserve(len.saturating_sub(before));
        if len > before {
            // SAFETY: `reserve` made room for the new elements.
            unsafe { (before..len).for_each(|i| self.start.add(i).write(value)) };
        }
        self.len = len;
    }
}

impl ScratchVec<u8> {
    /// Appends bytes; up to 16 are copied inline, without a call.
    #[inline]
    pub fn extend_from_few(&mut self, bytes: &[u8]) {
        /// Copies `len` bytes, between `N` and `2 * N`, as the first and the last `N` of them.
        ///
        /// # Safety
        /// `len` bytes are readable at `from` and writable at `to`, and they do not overlap.
        #[inline(always)]
        unsafe fn copy<const N: usize>(from: *const u8, to: *mut u8, len: usize) {
            // SAFETY: `len` is at least `N`, so both copies stay inside, by this function's
            // contract.
            unsafe {
                let ends = [from, from.add(len - N)].map(|at| at.cast::<[u8; N]>().read());
                to.cast::<[u8; N]>().write(ends[0]);
                to.add(len - N).cast::<[u8; N]>().write(ends[1]);
            }
        }
        let (len, from) = (bytes.len(), bytes.as_ptr());
        self.reserve(len);
        // SAFETY: `reserve` made room for `len` bytes, and each arm matches the lengths of its
        // copy.
        unsafe {
            let to = self.start.as_ptr().add(self.len);
            match len {
                0 => {}
                1 => to.write(*from),
                2..4 => copy::<2>(from, to, len),
                4..8 => copy::<4>(from, to, len),
                8..=16 => copy::<8>(from, to, len),
                _ => to.copy_from_nonoverlapping(from, len),
            }
        }
        self.len += len;
    }
}

impl<T: Pod> ScratchVec<T> {
    /// Sets the length; new elements have unspecified values.
    pub fn resize_stale(&mut self, len: usize) {
        self.reserve(len.saturating_sub(self.len));
        match self.memory {
            Memory::Part(_) => self.len = len,
            // Memory of the allocator is not initialised yet.
            Memory::Heap(_) => self.resize(len, T::zeroed()),
        }
    }

    /// Makes the vector at least `len` long, with unspecified contents, to be overwritten. Memory
    /// that is too short is replaced without a copy, with room for a quarter more.
    pub fn overwrite(&mut self, len: usize) {
        if len > self.room {
            *self = Self::new();
            let room = len.saturating_add(len / 4);
            let bytes = room.saturating_mul(size_of::<T>());
            let part = if bytes < SHARED_FROM { None } else { cut(bytes) };
            if !self.move_to(part, room, room) {
                no_memory::<T>(room);
            }
        }
        self.resize_stale(len.max(self.len));
    }
}

/// The panic payload of a vector that got no memory.
///
/// Scratch memory grows in the innermost loops, which have no place for an error. So growth
/// unwinds, without a message, and the caller of the loops turns the payload into an error.
#[derive(Clone, Copy, Debug)]
pub struct Refused {
    /// Bytes that the system refused.
    pub len: usize,
}

/// Unwinds because the system refused memory for `n` elements.
#[cold]
fn no_memory<T>(n: usize) -> ! {
    std::panic::resume_unwind(Box::new(Refused { len: n.saturating_mul(size_of::<T>()) }))
}

impl<T: Copy> Default for ScratchVec<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Copy> Deref for ScratchVec<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: `start` has `len` initialised elements that `self` owns, or dangles, aligned,
        // with `len` 0.
        unsafe { core::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: Copy> DerefMut for ScratchVec<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and `&mut self` makes the access exclusive.
        unsafe { core::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl<T: Copy> Extend<T> for ScratchVec<T> {
    #[inline]
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        let mut values = values.into_iter();
        let n = values.size_hint().0;
        self.reserve(n);
        // SAFETY: `reserve` made room for `n`. The loop counts in a register instead of `self.len`.
        let put = unsafe {
            let end = self.start.add(self.len);
            values.by_ref().take(n).fold(0, |i, value| {
                end.add(i).write(value);
                i + 1
            })
        };
        self.len += put;
        values.for_each(|value| self.push(value));
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for ScratchVec<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with `Vec` at each size where the memory changes its owner.
    fn behaves_like_a_vector<T: Pod + PartialEq + fmt::Debug>(value: impl Fn(usize) -> T) {
        let (mut scratch, mut model) = (ScratchVec::new(), Vec::new());
        let few = SHARED_FROM / size_of::<T>() / 2;
        for i in 0..few {
            scratch.push(value(i));
            model.push(value(i));
        }
        for n in [few, SCRATCH_FROM / size_of::<T>(), LARGE / size_of::<T>(), 3 * LARGE / size_of::<T>()] {
            let more: Vec<T> = (0..n).map(&value).collect();
            scratch.extend_from_slice(&more);
            model.extend_from_slice(&more);
            assert!(*scratch == *model);
            scratch.truncate(model.len() - n / 2);
            model.truncate(model.len() - n / 2);
            scratch.extend((0..n / 3).map(&value));
            model.extend((0..n / 3).map(&value));
            scratch.resize(scratch.len() + 5, value(7));
            model.resize(model.len() + 5, value(7));
            scratch.drop_front(n / 5);
            model.drain(..n / 5);
            assert!(*scratch == *model);
        }
        scratch.clear();
        assert!(scratch.is_empty());
    }

    #[test]
    fn it_behaves_like_a_vector() {
        behaves_like_a_vector(|i| i as u8);
        behaves_like_a_vector(|i| i as u64);
        behaves_like_a_vector(|i| u128::from(i as u64) << 60);
    }

    #[test]
    fn vectors_share_a_mapping_and_no_element() {
        let large = SCRATCH_FROM / 8;
        let mut all: Vec<ScratchVec<u64>> = (0..40).map(|_| ScratchVec::new()).collect();
        for (i, one) in all.iter_mut().enumerate() {
            one.resize_stale(large / (1 + i % 8));
            assert!(one.iter().all(|&word| word == 0));
            one.fill(i as u64 + 1);
        }
        let mut number = 0;
        all.retain(|_| {
            number += 1;
            number % 3 == 0
        });
        let others = std::thread::spawn(move || {
            // Another thread may drop them.
            all.iter().enumerate().all(|(i, one)| one.iter().all(|&word| word == 3 * (i as u64 + 1)))
        });
        assert!(others.join().unwrap());
    }

    #[test]
    fn the_last_vector_unmaps_the_memory() {
        let open = || OPEN.with_borrow(|open| open.mapping.upgrade().is_some());
        let mut first = ScratchVec::<u8>::new();
        first.resize_stale(SCRATCH_FROM);
        let mut second = ScratchVec::<u8>::new();
        second.resize_stale(SHARED_FROM);
        let was_open = open();
        drop(first);
        assert_eq!(open(), was_open);
        drop(second);
        assert!(!open());
    }

    #[test]
    fn short_appends_are_complete() {
        let (mut scratch, mut model) = (ScratchVec::new(), Vec::new());
        let bytes: Vec<u8> = (0..100).collect();
        for len in (0..40).chain([100]) {
            scratch.extend_from_few(&bytes[..len]);
            model.extend_from_slice(&bytes[..len]);
        }
        assert_eq!(*scratch, *model);
    }

    #[test]
    fn growth_without_memory_unwinds_and_leaves_the_vector() {
        let mut scratch = ScratchVec::new();
        scratch.extend_from_slice(&[1u64, 2]);
        assert!(!scratch.try_reserve(usize::MAX / 16));
        let grow = std::panic::AssertUnwindSafe(|| scratch.reserve(usize::MAX / 16));
        let payload = std::panic::catch_unwind(grow).unwrap_err();
        assert!(payload.downcast_ref::<Refused>().is_some_and(|refused| refused.len > usize::MAX / 4));
        assert_eq!(*scratch, [1, 2]);
    }

    #[test]
    fn stale_elements_have_some_value() {
        let mut scratch = ScratchVec::<u32>::new();
        scratch.resize_stale(10);
        scratch.fill(9);
        scratch.clear();
        scratch.resize_stale(1 << 20);
        assert_eq!(scratch.len(), 1 << 20);
        assert!(scratch.iter().all(|&word| word == 0 || word == 9));
        for len in [1 << 20, 7, (1 << 20) + 1, 3 << 20, 1 << 20] {
            let before = scratch.len();
            scratch.overwrite(len);
            assert_eq!(scratch.len(), len.max(before));
            assert!(scratch.iter().all(|&word| word == 0 || word == 9));
            scratch.fill(9);
        }
    }
}
