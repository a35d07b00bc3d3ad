//! The bytes that a read of a remote file needs, announced before it begins: they are then fetched
//! in one round of requests, and not by one request after the other.

use std::ops::Range;

use entasis_format::{BlockRecord, Result, fallible};
use entasis_io::Announced;

use super::pages::extent;
use super::request::Source;
use crate::file::File;
use crate::rows::Rows;

/// Segments up to this length are fetched whole for any of their values: their bytes take less time
/// than a second round of requests.
const SHORT: u64 = 1 << 20;

const RANGES: &str = "the ranges to fetch";

/// Announces the segments with some rows of columns, if the file is remote.
pub(crate) fn announce<'s>(
    file: &File,
    wanted: impl Iterator<Item = (&'s Source, &'s Rows)>,
) -> Result<Option<Announced>> {
    if !file.is_remote() {
        return Ok(None);
    }
    let mut ranges = Vec::new();
    for (source, rows) in wanted {
        add_wanted(source, rows, &mut ranges)?;
    }
    Ok(file.announce(&ranges))
}

/// Announces the segments with some rows of columns, unless these have more than `most` bytes.
pub(crate) fn announce_short(
    file: &File,
    columns: &[u64],
    rows: &[Range<u64>],
    most: u64,
) -> Result<Option<Announced>> {
    let (mut ranges, mut n_bytes) = (Vec::new(), 0u64);
    for column in columns {
        let (source, n_before) = (file.source(*column)?, ranges.len());
        rows.iter().try_for_each(|rows| add_range(&source, rows.clone(), &mut ranges))?;
        let added = ranges[n_before..].iter().map(|range| range.end - range.start);
        n_bytes = added.fold(n_bytes, u64::saturating_add);
        if n_bytes > most {
            return Ok(None);
        }
    }
    Ok(file.announce(&ranges))
}

fn add_wanted(source: &Source, rows: &Rows, ranges: &mut Vec<Range<u64>>) -> Result<()> {
    match rows {
        Rows::All => add_range(source, 0..source.n_values, ranges),
        Rows::Range(range) => add_range(source, range.clone(), ranges),
        Rows::Step { start, n, step } => add_rows(source, &Rows::numbers(*start, *n, *step)?, ranges),
        Rows::Indices(indices) => add_rows(source, indices, ranges),
    }
}

/// Adds what consecutive rows need. Takes time for the blocks with these rows alone.
fn add_range(source: &Source, rows: Range<u64>, ranges: &mut Vec<Range<u64>>) -> Result<()> {
    for stretch in source.stretches(rows) {
        let values = stretch.values();
        let first = source.blocks.partition_point(|block| block.end_value() <= values.start);
        for block in source.blocks[first..].iter().take_while(|block| block.first_value < values.end) {
            let n = values.end.min(block.end_value()) - values.start.max(block.first_value);
            add(block, n, ranges)?;
        }
    }
    Ok(())
}

/// Adds what some rows in any order need.
fn add_rows(source: &Source, rows: &[u64], ranges: &mut Vec<Range<u64>>) -> Result<()> {
    let mut n_wanted: Vec<u64> = fallible::defaults(source.blocks.len(), RANGES)?;
    for row in rows {
        let value = source.value(*row);
        let block = source.blocks.partition_point(|block| block.end_value() <= value);
        if let Some(n) = n_wanted.get_mut(block) {
            *n += 1;
        }
    }
    let wanted = source.blocks.iter().zip(n_wanted).filter(|(_, n)| *n > 0);
    wanted.into_iter().try_for_each(|(block, n)| add(block, n, ranges))
}

/// Adds the segment of a block, or only its directory if few values of a long segment are wanted.
fn add(block: &BlockRecord, n_wanted: u64, ranges: &mut Vec<Range<u64>>) -> Result<()> {
    let (start, end) = extent(block);
    let directory = block.directory_at..block.directory_at.saturating_add(block.directory_len.into());
    let is_whole = n_wanted.saturating_mul(2) > u64::from(block.n_values) || end - start <= SHORT;
    if is_whole {
        fallible::push(ranges, start..end, RANGES)?;
    }
    if !is_whole || directory.end > end || directory.start < start {
        fallible::push(ranges, directory, RANGES)?;
    }
    Ok(())
}
