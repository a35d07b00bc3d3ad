//! Finds the columns that a host can map from the file, because their stored bytes are their
//! values.

use std::ops::Range;

use entasis_format::{
    BlockRecord, Encoding, Error, HEADER_LEN, Logical, Packing, Physical, Result, TRAILER_LEN,
};

use crate::file::File;
use crate::rows::Rows;

/// The advice that ends every refusal.
const READ: &str = "read without a map";

/// Consecutive values of a column that the file stores as a plain array: little-endian words, rows
/// of bytes, or bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Extent {
    /// The offset of the first value. For booleans, the offset of the byte with the first bit.
    pub at: u64,
    /// Bytes from `at` to the end of the last value.
    pub len: u64,
    /// The bit of the first boolean in its byte, least significant first; 0 for other types.
    pub first_bit: u8,
    /// The type of the values.
    pub physical: Physical,
    /// The number of values.
    pub n_values: u64,
}

impl File {
    /// Where the file has the values of some rows of a column, if it stores them in the form that
    /// they have in memory.
    ///
    /// Compression 0 stores columns of fixed width and booleans in this way, if no value is
    /// missing. This reads only the footer and verifies its checksums. Use [`verify`](Self::verify)
    /// to check the values. For any file, the returned bytes are inside the file, and words are
    /// aligned to their width.
    ///
    /// Categorical columns are refused, because nothing would check their codes.
    ///
    /// # Errors
    /// *Unsupported*, with the reason and the column, when the values are stored otherwise;
    /// *argument* for rows that do not exist; *corrupt*, *io*, *limit*.
    pub fn extent(&self, column: u64, rows: Range<u64>) -> Result<Extent> {
        self.extent_of(column, rows).map_err(|e| e.in_file(self.path()))
    }

    /// The extents of many columns in the same rows, found together.
    ///
    /// # Errors
    /// As [`extent`](Self::extent), for the first column without an extent.
    pub fn extents(&self, columns: &[u64], rows: Range<u64>) -> Result<Vec<Extent>> {
        self.prefetch(columns.iter().copied(), true);
        columns.iter().map(|&column| self.extent(column, rows.clone())).collect()
    }

    fn extent_of(&self, column: u64, rows: Range<u64>) -> Result<Extent> {
        let info = self.column(column)?;
        let refuse = |why: &'static str, advice: String| {
            Err(Error::unsupported(why).advise(advice).in_column(&info.name))
        };
        if self.unlocked().is_some() {
            return refuse("an encrypted file cannot be mapped", READ.to_owned());
        }
        let record = &info.record;
        let physical = record.column_type.physical;
        Rows::Range(rows.clone()).check(record.n_values)?;
        if physical.is_nested() {
            return refuse("a nested column cannot be mapped", other_columns());
        }
        let bits = match (physical, record.column_type.layout().width()) {
            (Physical::Bool, _) => 1,
            (_, Some(width @ 1..)) => 8 * width as u64,
            (Physical::Null, _) | (_, Some(0)) => {
                return refuse("a column without values cannot be mapped", other_columns());
            }
            _ => return refuse("strings and bytes cannot be mapped", other_columns()),
        };
        if record.column_type.logical == Logical::Categorical {
            let why = "a categorical column cannot be mapped, because its codes must be checked";
            return refuse(why, other_columns());
        }
        if record.n_missing > 0 {
            return refuse("a column with missing values cannot be mapped", other_columns());
        }
        let extent =
            |at, len, first_bit| Extent { at, len, first_bit, physical, n_values: rows.end - rows.start };
        if rows.is_empty() {
            return Ok(extent(HEADER_LEN as u64, 0, 0));
        }
        let source = self.source(column)?;
        let mut stretches = source.stretches(rows.clone());
        let (Some(stretch), None) = (stretches.next(), stretches.next()) else {
            let why =
                "rows that were appended to a table of few rows cannot be mapped with those before them";
            return refuse(why, format!("compact the file, or {READ}"));
        };
        let values = stretch.values();
        let blocks = &source.blocks;
        let first = blocks.partition_point(|block| block.end_value() <= values.start);
        let end = blocks.partition_point(|block| block.first_value < values.end);
        let compressed = || format!("write the file with compression 0, or {READ}");
        let mut next = None;
        for block in &blocks[first..end] {
            match form(block, bits) {
                Form::Plain => {}
                Form::WithValidity => {
                    let why = "a column whose bundle has missing values cannot be mapped";
                    return refuse(why, other_columns());
                }
                Form::Encoded => return refuse("compressed values cannot be mapped", compressed()),
            }
            let joins = next.is_none_or(|next| next == block.pages_at);
            // Bits continue in the next block only at a byte boundary.
            let ends = bits >= 8 || block.n_values % 8 == 0 || block.end_value() >= values.end;
            if !joins || !ends {
                let why = "values that are not contiguous in the file cannot be mapped";
                return refuse(why, format!("compact a file that has changed, else {}", compressed()));
            }
            next = Some(block.pages_at + u64::from(block.pages_len));
        }
        let Some(block) = blocks.get(first) else {
            return Err(Error::corrupt("a column has no blocks").in_column(&info.name));
        };
        // Both blocks were checked to be inside the file and as long as their values, so nothing
        // overflows.
        let first_bit = (values.start - block.first_value) * bits;
        let at = block.pages_at + first_bit / 8;
        let len = (first_bit % 8 + (values.end - values.start) * bits).div_ceil(8);
        if record.column_type.layout().is_word() && !at.is_multiple_of(bits / 8) {
            return refuse("values that are not aligned cannot be mapped", compressed());
        }
        Ok(extent(at, len, (first_bit % 8) as u8))
    }

    /// Bytes that differ between any two states of the file: their offset, and their contents in
    /// this state.
    ///
    /// The bytes contain the checksum of all other checksums. A caller that opens the path again to
    /// map it can compare them to recognise the file. In-place changes never overwrite them.
    pub fn fingerprint(&self) -> (u64, Vec<u8>) {
        let slot = self.slot();
        (slot.end - TRAILER_LEN as u64, self.trailer().emit().to_vec())
    }
}

fn other_columns() -> String {
    format!("choose other columns, or {READ}")
}

/// How a block stores its values.
enum Form {
    /// As memory has them.
    Plain,
    /// As in memory, but each page has validity before its values.
    WithValidity,
    /// In any other way.
    Encoded,
}

fn form(block: &BlockRecord, bits: u64) -> Form {
    let len = (u64::from(block.n_values) * bits).div_ceil(8);
    if block.encoding != Encoding::new(Packing::Raw) {
        return Form::Encoded;
    }
    // A page with validity is longer than its values, so the length distinguishes the two.
    if u64::from(block.pages_len) == len { Form::Plain } else { Form::WithValidity }
}
