//! Statistics of blocks, as records for NumPy.

use entasis::{ColumnBlocks, File, Result};

/// A record for each block that holds rows of a column: its first row, its number of rows and its
/// number of values as 64-bit integers, then the statistics as the file has them. A block of a
/// bundle has more values than rows.
///
/// # Errors
/// *Corrupt*, *unsupported*, *io*.
pub fn records(file: &File, column: u64) -> Result<Vec<u8>> {
    let blocks = ColumnBlocks::open(file, column)?;
    let mut out = Vec::new();
    for block in blocks.blocks(0..u64::MAX) {
        for number in [block.rows.start, block.rows.end - block.rows.start, u64::from(block.n_values)] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        block.statistics.emit(&mut out);
    }
    Ok(out)
}
