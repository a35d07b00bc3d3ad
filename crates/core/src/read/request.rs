//! Requests of a caller, and the stored columns that they are read from.

use std::ops::Range;
use std::sync::Arc;

use entasis_encodings::PAGE;
use entasis_format::{BlockRecord, Codec, Error, Layout};

use super::layout::Text;
use crate::file::{Member, Stretch};
use crate::rows::Rows;
use crate::threads;

/// Bytes of memory to fill that justify one more thread.
const WORK: u64 = 5 << 20;

/// A column to read, its rows, and the memory for them.
#[derive(Debug)]
pub struct Request<'a> {
    /// The column's number.
    pub column: u64,
    /// The rows to read.
    pub rows: Rows,
    /// Where the values go.
    pub output: Output<'a>,
    /// How missing values are reported.
    pub missing: MissingTo<'a>,
}

/// Where decoded values go.
#[derive(Debug)]
pub enum Output<'a> {
    /// Words of the physical type's width, contiguous and aligned to this width; or unaligned rows
    /// of bytes.
    Words(&'a mut [u8]),
    /// Signed integers that are wider than the physical type (i32, i64 or i128), sign-extended.
    Wide {
        /// The values, contiguous and aligned to 8 bytes.
        memory: &'a mut [u8],
        /// Bytes of a value: 8, 16 or 32.
        width: usize,
    },
    /// Booleans, integers or codes of a categorical, as signed integers of 32 bits. A wider integer
    /// that does not fit or equals `i32::MIN` is an error of kind *unsupported*.
    Int32 {
        /// The values, contiguous and aligned to 4 bytes. For any type, [`MissingTo::Sentinel`] is
        /// stored as a value of this memory.
        memory: &'a mut [u8],
        /// Added to each value: hosts may count codes from 1.
        plus: i32,
    },
    /// Booleans, one byte each: 0 or 1.
    Bools(&'a mut [u8]),
    /// Booleans, one bit each, least significant first; `n.div_ceil(8)` bytes.
    Bits(&'a mut [u8]),
    /// Strings; the reader allocates their memory.
    Text(&'a mut Text),
}

/// How missing values are reported.
#[derive(Debug)]
pub enum MissingTo<'a> {
    /// Missing values are not reported; their slots hold unspecified values.
    Ignore,
    /// One bit per value, least significant first, 1 = valid; `n.div_ceil(8)` bytes.
    Bits(&'a mut [u8]),
    /// As `Bits`, for [`Output::Words`] of floats of 16, 32 or 64 bits. NaN counts as missing and
    /// stays in the memory.
    BitsWithNan(&'a mut [u8]),
    /// One byte per value, 1 = missing.
    Mask(&'a mut [u8]),
    /// The slot of a missing value holds the low bytes of this sentinel.
    Sentinel(u64),
}

/// The stored column that a request reads from.
pub(crate) struct Source {
    /// The column's name, for errors.
    pub name: String,
    pub of: Layout,
    pub blocks: Arc<Vec<BlockRecord>>,
    /// The number of categories of a categorical. Every code is smaller.
    pub n_categories: Option<u64>,
    /// The column with the blocks: this column or its bundle.
    pub storage: u64,
    pub n_values: u64,
    /// Where its values are in the storage column.
    pub stored_at: StoredAt,
    pub is_bundled: bool,
}

/// Where the values of a column are in its storage column.
pub(crate) enum StoredAt {
    /// All values follow this one.
    At(u64),
    /// The rows of the bundle lie in several pieces.
    InPieces(Member),
}

impl Source {
    /// The position of the value of an existing row in the storage column. Positions ascend by row.
    pub(crate) fn value(&self, row: u64) -> u64 {
        match &self.stored_at {
            StoredAt::At(first) => first + row,
            StoredAt::InPieces(member) => member.value(row),
        }
    }

    /// Splits rows of the column into stretches, in order. Their values ascend.
    pub(crate) fn stretches(&self, rows: Range<u64>) -> impl Iterator<Item = Stretch> {
        let end = rows.end.min(self.n_values);
        let rows = rows.start.min(end)..end;
        let (one, some) = match &self.stored_at {
            StoredAt::At(first) => {
                let first_value = first + rows.start;
                (Some(Stretch { rows, first_value }), None)
            }
            StoredAt::InPieces(member) => (None, Some(member.stretches(rows))),
        };
        one.into_iter().chain(some.into_iter().flatten())
    }

    /// Estimates the work of reading some rows, in bytes of memory that could be filled in the same
    /// time. Unpacking costs more than copying, and a codec more than unpacking. A single row costs
    /// as much as its vector or its page.
    pub(super) fn work(&self, rows: &Rows) -> u64 {
        let n_rows = rows.n(self.n_values);
        if matches!(rows, Rows::Indices(_) | Rows::Step { .. }) {
            let pages_of = |n_values: u64| n_values.div_ceil(PAGE as u64).max(1);
            let n_pages = pages_of(self.blocks.last().map_or(0, BlockRecord::end_value));
            let page_len = self
                .blocks
                .first()
                .map_or(0, |block| u64::from(block.pages_len) / pages_of(u64::from(block.n_values)));
            let read = page_len.saturating_mul(n_pages.min(n_rows));
            return n_rows.saturating_mul(1024).saturating_add(read);
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

/// The number of threads for this much work, rounded. Small work does not look up the number of
/// processors, which takes a dozen system calls.
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
