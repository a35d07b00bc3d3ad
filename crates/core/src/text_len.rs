//! The length of strings in some rows, without decoding them.

use std::ops::Range;

use entasis_format::Result;

use crate::file::File;

impl File {
    /// The bytes of the strings or bytes in some rows of a column, from its block records. A part
    /// of a block counts by its share of the block's values. Zero for other types, including nested
    /// types and categories.
    ///
    /// # Errors
    /// *Corrupt*, *unsupported*, *io*.
    pub fn text_len(&self, column: u64, rows: Range<u64>) -> Result<u64> {
        let here = |e: entasis_format::Error| e.in_file(self.path());
        if !self.column(column).map_err(here)?.record.column_type.physical.is_var() {
            return Ok(0);
        }
        let source = self.source(column).map_err(here)?;
        let mut total = 0u64;
        for stretch in source.stretches(rows) {
            let Range { start, end } = stretch.values();
            let from = source.blocks.partition_point(|block| block.end_value() <= start);
            let blocks = source.blocks[from..].iter().take_while(|block| block.first_value < end);
            let len = blocks.map(|block| {
                let part = end.min(block.end_value()).saturating_sub(start.max(block.first_value));
                let len =
                    u128::from(block.decoded_len) * u128::from(part) / u128::from(block.n_values.max(1));
                u64::try_from(len).unwrap_or(u64::MAX)
            });
            total = len.fold(total, u64::saturating_add);
        }
        Ok(total)
    }
}
