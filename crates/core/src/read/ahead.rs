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
        let n_wanted = n_wanted(source, rows)?;
        for (block, n) in source.blocks.iter().zip(n_wanted).filter(|(_, n)| *n > 0) {
            add(block, n, &mut ranges)?;
        }
    }
    Ok(file.announce(&ranges))
}

/// How many values of each block are wanted.
fn n_wanted(source: &Source, rows: &Rows) -> Result<Vec<u64>> {
    let mut found: Vec<u64> = fallible::defaults(source.blocks.len(), RANGES)?;
    let mut add_value = |value: u64| {
        let block = source.blocks.partition_point(|block| block.end_value() <= value);
        if let Some(n) = found.get_mut(block) {
            *n += 1;
        }
    };
    let range = match rows {
        Rows::All => 0..source.n_values,
        Rows::Range(range) => range.clone(),
        Rows::Step { start, n, step } => {
            Rows::numbers(*start, *n, *step)?.iter().for_each(|row| add_value(source.value(*row)));
            return Ok(found);
        }
        Rows::Indices(indices) => {
            indices.iter().for_each(|row| add_value(source.value(*row)));
            return Ok(found);
        }
    };
    for stretch in source.stretches(range) {
        let values = stretch.values();
        let first = source.blocks.partition_point(|block| block.end_value() <= values.start);
        for (block, n) in source.blocks.iter().zip(&mut found).skip(first) {
            if block.first_value >= values.end {
                break;
            }
            *n += values.end.min(block.end_value()) - values.start.max(block.first_value);
        }
    }
    Ok(found)
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
