//! Where values stand in the file as they are: what a host needs to map a file instead of reading it.

use std::ops::Range;

use entasis_format::{
    BlockRecord, Encoding, Error, HEADER_LEN, Header, Logical, Packing, Physical, Result, Slot, SlotState,
    TRAILER_LEN, Trailer,
};

use crate::file::File;
use crate::rows::Rows;

/// What the way out of every refusal has in common.
const READ: &str = "read without a map";

/// Neighbouring values of a column that stand in the file as one plain array of little-endian words, of rows of bytes, or of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Extent {
    /// The place of the first value; of booleans that of the byte with the first bit.
    pub at: u64,
    /// Bytes from there to the end of the last value.
    pub len: u64,
    /// The first value's bit in its byte, least significant first; 0 for all types but booleans.
    pub first_bit: u8,
    /// The type of the values.
    pub physical: Physical,
    /// The number of values.
    pub n_values: u64,
}

impl File {
    /// Where the values of a column in some rows stand, if they stand in the file just as memory has them.
    ///
    /// So they do in files written with compression 0: fixed width or booleans, none missing. The answer comes from the footer
    /// alone, whose checksums hold; the values are not looked at, so neither are their checksums ([`verify`](Self::verify)
    /// checks those). Whatever the file says, the bytes lie inside of it and words at multiples of their width.
    ///
    /// Categorical columns are refused: their codes would have to be compared with the categories first.
    ///
    /// # Errors
    /// *Unsupported*, with the reason and the column, when the values stand otherwise; *argument* for rows that are not there;
    /// *corrupt*, *io*, *limit*.
    pub fn extent(&self, column: u64, rows: Range<u64>) -> Result<Extent> {
        self.extent_of(column, rows).map_err(|e| e.in_file(self.path()))
    }

    /// The extents of many columns in the same rows, in one piece of work.
    ///
    /// # Errors
    /// As [`extent`](Self::extent), for the first column that has none.
    pub fn extents(&self, columns: &[u64], rows: Range<u64>) -> Result<Vec<Extent>> {
        self.prefetch(columns.iter().copied());
        columns.iter().map(|&column| self.extent(column, rows.clone())).collect()
    }

    fn extent_of(&self, column: u64, rows: Range<u64>) -> Result<Extent> {
        let info = self.column(column)?;
        let refuse = |why: &'static str, advice: String| {
            Err(Error::unsupported(why).advise(advice).in_column(&info.name))
        };
        let record = &info.record;
        let physical = record.column_type.physical;
        Rows::Range(rows.clone()).check(record.n_values)?;
        if physical.is_nested() {
            return refuse("a nested column can't be mapped", other_columns());
        }
        let bits = match (physical, record.column_type.layout().width()) {
            (Physical::Bool, _) => 1,
            (_, Some(width @ 1..)) => 8 * width as u64,
            (Physical::Null, _) | (_, Some(0)) => {
                return refuse("a column without values can't be mapped", other_columns());
            }
            _ => return refuse("strings and bytes can't be mapped", other_columns()),
        };
        if record.column_type.logical == Logical::Categorical {
            let why = "a categorical column can't be mapped, as its codes have to be checked";
            return refuse(why, other_columns());
        }
        if record.n_missing > 0 {
            return refuse("a column with missing values can't be mapped", other_columns());
        }
        let extent =
            |at, len, first_bit| Extent { at, len, first_bit, physical, n_values: rows.end - rows.start };
        if rows.is_empty() {
            return Ok(extent(HEADER_LEN as u64, 0, 0));
        }
        let source = self.source(column)?;
        let values = source.values.start + rows.start..source.values.start + rows.end;
        let blocks = &source.blocks;
        let first = blocks.partition_point(|block| block.end_value() <= values.start);
        let end = blocks.partition_point(|block| block.first_value < values.end);
        let compressed = || format!("write the file with compression 0, or {READ}");
        let mut next = None;
        for block in &blocks[first..end] {
            match form(block, bits) {
                Form::Plain => {}
                Form::WithValidity => {
                    let why = "values that stand among missing ones of other columns can't be mapped";
                    return refuse(why, other_columns());
                }
                Form::Encoded => return refuse("compressed values can't be mapped", compressed()),
            }
            let joins = next.is_none_or(|next| next == block.pages_at);
            // Bits go on in the next block only where a byte ends.
            let ends = bits >= 8 || block.n_values % 8 == 0 || block.end_value() >= values.end;
            if !joins || !ends {
                return refuse("values that are not stored together can't be mapped", compressed());
            }
            next = Some(block.pages_at + u64::from(block.pages_len));
        }
        let Some(block) = blocks.get(first) else {
            return Err(Error::corrupt("a column has no blocks").in_column(&info.name));
        };
        // Both ends lie in blocks that were found to be as long as their values, inside the file: nothing overflows.
        let first_bit = (values.start - block.first_value) * bits;
        let at = block.pages_at + first_bit / 8;
        let len = (first_bit % 8 + (values.end - values.start) * bits).div_ceil(8);
        if record.column_type.layout().is_word() && !at.is_multiple_of(bits / 8) {
            return refuse("values that are not aligned can't be mapped", compressed());
        }
        Ok(extent(at, len, (first_bit % 8) as u8))
    }

    /// Bytes of the file that tell its state from any other: their place, and what stands there while this is the file.
    ///
    /// They hold the checksum over all other checksums. Who opens the path once more, to map it, compares them.
    pub fn mark(&self) -> (u64, Vec<u8>) {
        let slot = *self.slot();
        for (i, state) in self.header().slots.iter().enumerate() {
            if *state == SlotState::Valid(slot) {
                return (Header::slot_at(i == 1), slot.emit().to_vec());
            }
        }
        let Slot { generation, root_at, root_len, end, root_checksum } = slot;
        let trailer = Trailer { generation, root_at, root_len, end, root_checksum };
        (end - TRAILER_LEN as u64, trailer.emit().to_vec())
    }
}

fn other_columns() -> String {
    format!("choose other columns, or {READ}")
}

/// How the values of a block are stored, as far as a map cares.
enum Form {
    /// As memory has them.
    Plain,
    /// Plain, but for validity in front of the values of each page.
    WithValidity,
    /// Otherwise.
    Encoded,
}

fn form(block: &BlockRecord, bits: u64) -> Form {
    let len = (u64::from(block.n_values) * bits).div_ceil(8);
    if block.encoding != Encoding::new(Packing::Raw) {
        return Form::Encoded;
    }
    // Every page with validity is longer than its values, so the length tells.
    if u64::from(block.pages_len) == len { Form::Plain } else { Form::WithValidity }
}
