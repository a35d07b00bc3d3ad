//! Writes rows of a table to a new file.

use std::path::Path;

use entasis::{File, Kind, Monitor, Result, RowCopy, Rows, Secret, WriteOptions};
use entasis_dataset::column_labels;

use crate::clobber::ClobberArgs;
use crate::found::Found;
use crate::progress::{Step, Watch};
use crate::row_set::RowSet;

/// The rows of a block. Parts have whole blocks, so that each block is encoded once.
const BLOCK: u64 = 1 << 16;
/// The most rows of a part, in blocks.
const MOST_BLOCKS: u64 = 16;
/// The target size of a part in bytes, estimated from earlier rows. One block may exceed it.
const PART_LEN: u64 = 32 << 20;

/// Writes the found rows, with memory for a few blocks at a time. Returns the number of rows.
///
/// # Errors
/// As [`RowCopy::append`]. No file is left then.
pub(crate) fn copy(
    file: &File,
    found: Found<'_>,
    columns: Vec<usize>,
    to: &Path,
    clobber: ClobberArgs,
    threads: Option<usize>,
) -> Result<u64> {
    let host = file.host()?;
    write(file, found, columns, to, clobber, threads).map_err(|error| match error.kind() {
        Kind::Argument | Kind::Unsupported => column_labels::advise(
            error,
            &host,
            "use en.write(en.open(path).filter(condition), out) in Python",
            "write the rows in R",
        ),
        _ => error,
    })
}

fn write(
    file: &File,
    mut found: Found<'_>,
    columns: Vec<usize>,
    to: &Path,
    clobber: ClobberArgs,
    threads: Option<usize>,
) -> Result<u64> {
    // Labels depend on whether all rows are consecutive. Collect rows until they are not, or until
    // the end. Consecutive rows take the memory of a single range.
    let mut waiting = RowSet::default();
    {
        let watch = Watch::new("filtering");
        while waiting.is_consecutive() && next(&mut found, &mut waiting, &watch, file.n_rows())? {}
    }
    let consecutive = waiting.is_consecutive().then(|| waiting.span());
    let watch = Watch::new("writing");
    let options = WriteOptions {
        compression: file.compression(),
        threads,
        must_be_new: clobber.must_be_new(),
        // Values of an encrypted file stay encrypted, by the same key or password.
        secret: file.key().cloned().map(Secret::Key),
        ..WriteOptions::default()
    };
    let mut copy = RowCopy::new(file, columns, consecutive, to, options);
    let (mut n, mut n_blocks) = (0, 1);
    loop {
        let wanted = n_blocks * BLOCK;
        while waiting.n() < wanted && next(&mut found, &mut waiting, &watch, file.n_rows())? {}
        let Some(rows) = waiting.take(wanted) else { break };
        let len = copy.append(&Rows::from(&rows), &Step)?;
        n += rows.n();
        watch.check()?;
        watch.progress(rows.span().end, file.n_rows());
        let fitting = PART_LEN / (len / rows.n().div_ceil(BLOCK)).max(1);
        // Longer rows may follow, so parts grow slowly.
        n_blocks = fitting.min(n_blocks * 4).clamp(1, MOST_BLOCKS);
    }
    copy.finish(&Step)?;
    Ok(n)
}

/// Adds the rows of the next window. Returns false if there is none.
fn next(found: &mut Found<'_>, waiting: &mut RowSet, watch: &Watch, n_rows: u64) -> Result<bool> {
    watch.check()?;
    let Some(rows) = found.next().transpose()? else { return Ok(false) };
    waiting.append(rows);
    watch.progress(found.n_tested(), n_rows);
    Ok(true)
}
