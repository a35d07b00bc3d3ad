//! Copies values for one block from the memory of a host into scratch memory.
//!
//! The host may change its memory during the call, so each value is copied once and only the copy
//! is used.

mod chunk_slices;
mod equal;
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
use chunk_slices::{ChunkSlice, byte_offset, chunk_slices};
use fixed::{IntScratch, WideScratch, copy_fixed};
use row_major::RowMajorColumns;

pub(crate) use equal::have_equal_values;
pub(crate) use owned::{bytes_of, owned};
pub(crate) use row_major::are_adjacent;
pub(crate) use string_blocks::{StringBlockLen, StringBlocks, max_string_len, mean_string_len};
pub(crate) use validity::ValidBits;

/// The longest string, in bytes. All readers accept it with their default limits.
pub(crate) const MAX_STRING: u64 = 1_000_000_000;

/// Scratch memory for one block of any type.
#[derive(Default)]
pub(crate) struct Scratch {
    /// Values of fixed width, aligned for every type.
    words: ScratchVec<u128>,
    offsets: ScratchVec<u32>,
    bytes: ScratchVec<u8>,
    validity: Vec<u8>,
    has_missing: bool,
    spare: Vec<u8>,
    wide: WideScratch,
    row_major: RowMajorColumns,
    /// The index of the values in `row_major`, if they were copied with adjacent columns.
    copied_at: Option<usize>,
    /// For integers that are stored narrower.
    ints: IntScratch,
    /// The options of the current call.
    options: LoadOptions,
}

/// How to load a block of an array.
#[derive(Clone, Copy, Default)]
pub(crate) struct LoadOptions {
    /// The most bytes of a block with more than one string.
    pub string_block_len: StringBlockLen,
    /// Whether the next column to load follows this one in a row-major matrix.
    pub next_is_adjacent: bool,
}

pub(crate) fn too_short() -> Error {
    Error::argument("the memory of a column is shorter than its values")
}

fn out_of_range(row: u64) -> Error {
    Error::unsupported(format!("the value in row {row} is out of range for its type"))
        .advise("correct the values")
}

impl Scratch {
    /// As [`load_with`](Self::load_with), with default options.
    pub(crate) fn load(&mut self, array: &Array, of: Layout, range: Range<u64>) -> Result<usize> {
        self.load_with(array, of, range, LoadOptions::default())
    }

    /// Copies the values in `range`, at most a block. Returns their number, which is smaller if
    /// more strings would exceed the length of a block.
    pub(crate) fn load_with(
        &mut self,
        array: &Array,
        of: Layout,
        range: Range<u64>,
        options: LoadOptions,
    ) -> Result<usize> {
        self.options = options;
        let most = usize::try_from(range.end - range.start).unwrap_or(usize::MAX).min(block_values(of));
        let block = |n: usize| range.start..range.start + n as u64;
        if of.physical.is_var() {
            self.copied_at = None;
            let n = self.load_strings(array, block(most))?;
            self.load_validity(array, of.physical, block(n), n)?;
            return Ok(n);
        }
        self.load_fixed(array, of, block(most))?;
        self.load_validity(array, of.physical, block(most), most)?;
        self.check_digits(range.start)?;
        Ok(most)
    }

    /// Copies values of fixed width.
    fn load_fixed(&mut self, array: &Array, of: Layout, block: Range<u64>) -> Result<()> {
        let n = (block.end - block.start) as usize;
        self.wide.outside.clear();
        self.ints.any_missing = false;
        self.copied_at = self.find_copied(array, of, &block)?;
        if self.copied_at.is_none() {
            self.copy_chunks(array, of, block)?;
        }
        if of.physical == Physical::LongDouble {
            // The padding of long doubles is undefined.
            self.words[..n].iter_mut().for_each(|word| *word &= (1 << 80) - 1);
        }
        Ok(())
    }

    fn copy_chunks(&mut self, array: &Array, of: Layout, block: Range<u64>) -> Result<()> {
        let (n, width) = ((block.end - block.start) as usize, of.width().unwrap_or(1));
        self.words.resize_stale((n * width).div_ceil(16));
        let out: &mut [u8] = bytemuck::cast_slice_mut(&mut self.words);
        for ChunkSlice { chunk, inside, at } in chunk_slices(array, block.clone()) {
            let out = &mut out[at * width..(at + inside.len()) * width];
            match chunk.values {
                HostValues::Int32 { memory, first, n: n_allowed } => {
                    let sentinel = match chunk.validity {
                        HostValidity::Sentinel(sentinel) => Some(sentinel as i32),
                        _ => None,
                    };
                    self.ints.valid.resize(n, 0);
                    let from = (&memory, 4 * inside.start);
                    if let Some(i) = self.ints.narrow(from, (first, n_allowed), sentinel, of, at, out)? {
                        return Err(out_of_range(block.start + i as u64));
                    }
                }
                HostValues::Wide { memory, width, stride } => {
                    let from = byte_offset(inside.start, chunk.n, stride).ok_or_else(too_short)?;
                    self.wide.copy((&memory, from, stride), (of.physical, width), at, out)?;
                }
                _ => copy_fixed(chunk, inside, of, out)?,
            }
        }
        Ok(())
    }

    /// Refuses present values that have more digits than their type.
    fn check_digits(&self, first_row: u64) -> Result<()> {
        let is_valid = |i: &usize| !self.has_missing || self.validity[i / 8] >> (i % 8) & 1 == 1;
        let Some(i) = self.wide.outside.iter().copied().find(is_valid) else { return Ok(()) };
        let message = format!("the value in row {} has more digits than its type", first_row + i as u64);
        Err(Error::unsupported(message).advise("use a type with more digits"))
    }

    /// The index of a column of words in the words that were copied together; `None` if it was not
    /// copied.
    fn find_copied(&mut self, array: &Array, of: Layout, block: &Range<u64>) -> Result<Option<usize>> {
        let [Chunk { n, values: HostValues::Words { memory, stride }, .. }] = array.chunks.as_slice() else {
            return Ok(None);
        };
        let is_whole_column = array.spans.is_none() && *block == (0..*n as u64);
        if !is_whole_column || !of.is_word() || of.width() != Some(8) {
            return Ok(None);
        }
        self.row_major.find(memory, *stride, *n, self.options.next_is_adjacent)
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
        // The memory after the strings may hold bytes of an earlier block.
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
