//! Copies values from the memory of a host into scratch memory for one block.
//!
//! The host may change its memory during the call. Each value is copied once, and only the copy is
//! used.

mod fixed;
pub(crate) mod nested;
mod owned;
mod row_major;
mod string_blocks;
mod strings;
mod validity;

use std::ops::Range;

use entasis_encodings::Values;
use entasis_format::{Error, Layout, Physical, Result};
use entasis_kernels::bits;
use entasis_platform::memory::ScratchVec;

use crate::blocks::block_values;
use crate::frame::{Array, Chunk, HostValidity, HostValues};
use fixed::{IntScratch, WideScratch, copy_fixed};
use row_major::RowMajorColumns;

pub(crate) use owned::owned;
pub(crate) use row_major::are_adjacent;
pub(crate) use string_blocks::{StringBlockLen, StringBlocks, max_string_len, mean_string_len};
pub(crate) use validity::ValidBits;

/// The longest string, in bytes. All readers accept it with their default limits.
const MAX_STRING: u64 = 1_000_000_000;

/// Scratch memory for one block of any type.
#[derive(Default)]
pub(crate) struct Scratch {
    /// Values of fixed width, aligned for every type.
    words: ScratchVec<u128>,
    offsets: ScratchVec<u32>,
    bytes: ScratchVec<u8>,
    /// The most bytes of a block with more than one string.
    pub(crate) string_block_len: StringBlockLen,
    validity: Vec<u8>,
    has_missing: bool,
    spare: Vec<u8>,
    wide: WideScratch,
    row_major: RowMajorColumns,
    /// Whether the next column to load is adjacent to this one in a row-major matrix.
    pub(crate) next_is_adjacent: bool,
    /// The place of the values in `row_major`, if they were copied with their neighbours.
    copied_at: Option<usize>,
    /// For integers that are stored narrower.
    ints: IntScratch,
}

/// Whether two arrays have equal values, as the file stores them, up to number `n`.
pub(crate) fn have_equal_values(a: &Array, b: &Array, of: Layout, n: u64) -> Result<bool> {
    let mut scratch = [Scratch::default(), Scratch::default()];
    let mut at = 0;
    while at < n {
        let [of_a, of_b] = &mut scratch;
        // A block of strings may have fewer values than were asked for.
        let mut end = n;
        end = end.min(at + of_a.load(a, of, at..end)? as u64);
        end = end.min(at + of_b.load(b, of, at..end)? as u64);
        if end < n {
            of_a.load(a, of, at..end)?;
        }
        let n_loaded = (end - at) as usize;
        let (values_a, valid_a) = of_a.values(of, n_loaded);
        let (values_b, valid_b) = of_b.values(of, n_loaded);
        if values_a != values_b || valid_a != valid_b {
            return Ok(false);
        }
        at = end;
    }
    Ok(true)
}

pub(crate) fn short() -> Error {
    Error::argument("the memory of a column is shorter than its values")
}

/// The chunks that hold a range of values: (chunk, range in the chunk, index in the range).
fn pieces(array: &Array, range: Range<u64>) -> impl Iterator<Item = (&Chunk, Range<usize>, usize)> {
    let spans = array.spans(range.start).take_while(move |span| span.first < range.end);
    spans.filter_map(move |span| {
        let from = range.start.max(span.first);
        let to = range.end.min(span.first + span.n as u64);
        (from < to).then(|| {
            let start = span.start + (from - span.first) as usize;
            let inside = start..start + (to - from) as usize;
            (&array.chunks[span.chunk], inside, (from - range.start) as usize)
        })
    })
}

/// The place of value `i` of `n` values with this stride. A negative stride counts from the last
/// value.
fn place(i: usize, n: usize, stride: isize) -> Option<usize> {
    if stride >= 0 {
        i.checked_mul(stride.unsigned_abs())
    } else {
        (n - 1 - i).checked_mul(stride.unsigned_abs())
    }
}

impl Scratch {
    /// Copies the values in `range`, at most a block, and returns their number. It returns fewer if
    /// more strings would exceed the length of a block.
    pub(crate) fn load(&mut self, array: &Array, of: Layout, range: Range<u64>) -> Result<usize> {
        let physical = of.physical;
        let mut n = usize::try_from(range.end - range.start).unwrap_or(usize::MAX).min(block_values(of));
        let start = range.start;
        let range = |n: usize| start..start + n as u64;
        self.copied_at = None;
        if physical.is_var() {
            n = self.load_strings(array, range(n))?;
        } else {
            self.wide.outside.clear();
            self.ints.any_missing = false;
            let copied_at = self.find_copied(array, of, range(n));
            self.copied_at = copied_at.map(|at| at.ok_or_else(short)).transpose()?;
        }
        if !physical.is_var() && self.copied_at.is_none() {
            let width = of.width().unwrap_or(1);
            self.words.resize_stale((n * width).div_ceil(16));
            let out: &mut [u8] = bytemuck::cast_slice_mut(&mut self.words);
            for (chunk, inside, at) in pieces(array, range(n)) {
                let out = &mut out[at * width..(at + inside.len()) * width];
                match chunk.values {
                    HostValues::Int32 { memory, first, n: below } => {
                        let sentinel = if let HostValidity::Sentinel(sentinel) = chunk.validity {
                            Some(sentinel as i32)
                        } else {
                            None
                        };
                        self.ints.valid.resize(n, 0);
                        let from = (&memory, 4 * inside.start);
                        if let Some(i) = self.ints.narrow(from, (first, below), sentinel, of, at, out)? {
                            let message =
                                format!("the value in row {} is out of range for its type", start + i as u64);
                            return Err(Error::unsupported(message).advise("correct the values"));
                        }
                    }
                    HostValues::Wide { memory, width, stride } => {
                        let from = place(inside.start, chunk.n, stride).ok_or_else(short)?;
                        self.wide.copy((&memory, from, stride), (physical, width), at, out)?;
                    }
                    _ => copy_fixed(chunk, inside, of, out)?,
                }
            }
        }
        if physical == Physical::LongDouble {
            // The padding of long doubles is undefined.
            self.words[..n].iter_mut().for_each(|word| *word &= (1 << 80) - 1);
        }
        self.load_validity(array, physical, range(n), n)?;
        let is_valid = |i: &usize| !self.has_missing || self.validity[i / 8] >> (i % 8) & 1 == 1;
        if !physical.is_var()
            && let Some(i) = self.wide.outside.iter().copied().find(is_valid)
        {
            let row = start + i as u64;
            let message = format!("the value in row {row} has more digits than its type");
            return Err(Error::unsupported(message).advise("use a type with more digits"));
        }
        Ok(n)
    }

    /// Finds a column of words among those that were copied together. `None` means that it was not
    /// copied, `Some(None)` that its memory is too short.
    fn find_copied(&mut self, array: &Array, of: Layout, range: Range<u64>) -> Option<Option<usize>> {
        let [Chunk { n, values: HostValues::Words { memory, stride }, .. }] = array.chunks.as_slice() else {
            return None;
        };
        let is_all =
            array.spans.is_none() && range == (0..*n as u64) && of.is_word() && of.width() == Some(8);
        is_all.then(|| self.row_major.find(memory, *stride, *n, self.next_is_adjacent))?
    }

    /// Counts the missing values of an array.
    pub(crate) fn count_missing(&mut self, array: &Array, of: Layout) -> Result<u64> {
        if array.chunks.iter().all(|chunk| matches!(chunk.validity, HostValidity::AllValid)) {
            return Ok(0);
        }
        let (mut at, mut n_missing) = (0, 0);
        while at < array.n_values() {
            let n = self.load(array, of, at..array.n_values())?;
            if self.has_missing {
                n_missing += (n - bits::count_ones(&self.validity, 0, n)) as u64;
            }
            at += n as u64;
        }
        Ok(n_missing)
    }

    /// The `n` values that were loaded last, with their validity bits.
    pub(crate) fn values(&mut self, of: Layout, n: usize) -> (Values<'_>, Option<&[u8]>) {
        let validity = self.has_missing.then_some(self.validity.as_slice());
        // The memory after the strings may hold rests of an earlier block.
        let text_len = self.offsets.last().map_or(0, |&end| end as usize);
        let words = &mut *self.words;
        let values = match of.width() {
            Some(8) if let Some(at) = self.copied_at => Values::W64(&mut self.row_major.words()[at..at + n]),
            _ if of.physical.is_var() => {
                Values::Strings { offsets: &self.offsets, bytes: &self.bytes[..text_len] }
            }
            Some(width) if !of.is_word() => {
                Values::Fixed { n, bytes: &mut bytemuck::cast_slice_mut(words)[..n * width] }
            }
            None => Values::Bool(&mut bytemuck::cast_slice_mut(words)[..n]),
            Some(1) => Values::W8(&mut bytemuck::cast_slice_mut(words)[..n]),
            Some(2) => Values::W16(&mut bytemuck::cast_slice_mut(words)[..n]),
            Some(4) => Values::W32(&mut bytemuck::cast_slice_mut(words)[..n]),
            Some(8) => Values::W64(&mut bytemuck::cast_slice_mut(words)[..n]),
            Some(_) => Values::W128(&mut words[..n]),
        };
        (values, validity)
    }
}
