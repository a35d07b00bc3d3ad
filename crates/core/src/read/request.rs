//! What a caller asks for, and the columns that it is read from.

use std::ops::Range;
use std::sync::Arc;

use entasis_format::{BlockRecord, Codec, Error, Layout};

use super::layout::Text;
use crate::rows::Rows;
use crate::threads;

/// What is worth the start of a thread, in bytes of memory filled: about a third of a millisecond.
const WORK: u64 = 5 << 20;

/// A column to read, which of its rows, and where they go.
#[derive(Debug)]
pub struct Request<'a> {
    /// The column's number.
    pub column: u64,
    /// Which of its values.
    pub rows: Rows,
    /// Where they go.
    pub output: Output<'a>,
    /// How missing values are told.
    pub missing: MissingTo<'a>,
}

/// Where decoded values go.
#[derive(Debug)]
pub enum Output<'a> {
    /// Words of the physical type's width, one after the other, aligned to them; or fixed bytes, anywhere.
    Words(&'a mut [u8]),
    /// Signed integers of more bytes than the physical type has (i32, i64 or i128): its values, sign-extended.
    Wide {
        /// The values one after the other, aligned to 8 bytes.
        memory: &'a mut [u8],
        /// Bytes of a value: 8, 16 or 32.
        width: usize,
    },
    /// Booleans, integers and codes of categoricals, as signed integers of 32 bits. A wider integer that is beyond those, or the
    /// least one, is an error of kind *unsupported*.
    Int32 {
        /// The values one after the other, aligned to 4 bytes. [`MissingTo::Mark`] is one of them, for any type.
        memory: &'a mut [u8],
        /// What is added to each: codes may count from 1.
        plus: i32,
    },
    /// Booleans, a byte each: 0 or 1.
    Bools(&'a mut [u8]),
    /// Booleans, a bit each, least significant first; ceil(n / 8) bytes.
    Bits(&'a mut [u8]),
    /// Strings; its memory is made by the reader.
    Text(&'a mut Text),
}

/// How missing values are told.
#[derive(Debug)]
pub enum MissingTo<'a> {
    /// Not at all; what stands there is some value of the type.
    Ignore,
    /// A bit each, least significant first, 1 = valid; ceil(n / 8) bytes.
    Bits(&'a mut [u8]),
    /// A byte each, 1 = missing.
    Mask(&'a mut [u8]),
    /// This word (its low bytes) stands where a value is missing.
    Mark(u64),
}

/// The column that a request reads from, with what decoding needs.
pub(crate) struct Source {
    /// The name, for errors.
    pub name: String,
    pub of: Layout,
    pub blocks: Arc<[BlockRecord]>,
    /// Categories of a categorical: every code is below.
    pub n_categories: Option<u64>,
    /// The column that has the blocks: itself, or its bundle.
    pub storage: u64,
    /// All values of the column as a part of its storage column.
    pub values: Range<u64>,
    pub is_bundled: bool,
}

impl Source {
    /// About how much work some rows are, in bytes of memory that could be filled meanwhile: what is packed takes longer than
    /// what is raw, what a codec made longer still, and a row by itself costs a vector.
    pub(super) fn work(&self, rows: &Rows) -> u64 {
        let n = self.values.end - self.values.start;
        let n_rows = rows.n(n);
        if matches!(rows, Rows::Indices(_) | Rows::Step { .. }) {
            return n_rows.saturating_mul(1024);
        }
        let all = self
            .blocks
            .iter()
            .map(|block| {
                let factor = if block.encoding.codec == Codec::None { 4 } else { 16 };
                block.decoded_len.saturating_add(factor * u64::from(block.pages_len))
            })
            .fold(0, u64::saturating_add);
        let stored = self.blocks.last().map_or(1, BlockRecord::end_value).max(1);
        u64::try_from(u128::from(all) * u128::from(n_rows) / u128::from(stored)).unwrap_or(u64::MAX)
    }
}

/// How many threads this much work is worth, to the nearest. How many processors there are is asked only where it matters: the answer takes a
/// dozen system calls.
pub(super) fn threads_for(work: u64, threads: Option<usize>) -> usize {
    match usize::try_from(work.saturating_add(WORK / 2) / WORK).unwrap_or(usize::MAX) {
        0 | 1 => 1,
        worth => threads.unwrap_or_else(threads::default_threads).min(worth),
    }
}

/// The error for memory of the caller that is not aligned to its words.
pub(super) fn unaligned(_: bytemuck::PodCastError) -> Error {
    Error::argument("the memory for words is not aligned")
}
