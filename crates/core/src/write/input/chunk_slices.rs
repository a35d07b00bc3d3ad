//! Finds the values of an array in its chunks.

use std::ops::Range;

use crate::frame::{Array, Chunk};

/// Values of an array that are consecutive in a chunk.
pub(super) struct ChunkSlice<'a> {
    pub chunk: &'a Chunk,
    /// The range of the values in the chunk.
    pub inside: Range<usize>,
    /// The index of the first value in the requested range.
    pub at: usize,
}

/// The slices of chunks that hold a range of values.
pub(super) fn chunk_slices(array: &Array, range: Range<u64>) -> impl Iterator<Item = ChunkSlice<'_>> {
    let spans = array.spans(range.start).take_while(move |span| span.first < range.end);
    spans.filter_map(move |span| {
        let from = range.start.max(span.first);
        let to = range.end.min(span.first + span.n as u64);
        (from < to).then(|| {
            let start = span.start + (from - span.first) as usize;
            let inside = start..start + (to - from) as usize;
            ChunkSlice { chunk: &array.chunks[span.chunk], inside, at: (from - range.start) as usize }
        })
    })
}

/// The offset of value `i` of `n` values with this stride. A negative stride counts from the last
/// value.
pub(super) fn byte_offset(i: usize, n: usize, stride: isize) -> Option<usize> {
    if stride >= 0 {
        i.checked_mul(stride.unsigned_abs())
    } else {
        (n - 1 - i).checked_mul(stride.unsigned_abs())
    }
}
