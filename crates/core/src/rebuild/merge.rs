//! Plans files without leftovers: short blocks become full ones, and the rows of a table one piece.

use std::collections::HashMap;
use std::sync::Arc;

use entasis_format::{BlockRecord, Error, HEADER_LEN, Pieces, Result, SLOT_PAGES_END, fallible};

use super::records::check_made_records;
use super::{BlockPlan, Changed, PARTS, Rebuild, has_blocks};
use crate::blocks::{block_values, is_short};
use crate::file::{ColumnInfo, File};
use crate::frame::HostValues;
use crate::monitor::Silent;
use crate::read::read_chunk;
use crate::write::GROWS;
use crate::write::unknown::check_writer;

/// Strings of a merged block have at most this many bytes in total.
const MERGED_LEN: u64 = 4 << 20;

/// All columns of a file that is to be stored anew.
///
/// # Errors
/// *Unsupported* for a column of an unknown type, and for fields of a later version that a new file
/// would lose; *newer* for sections that writers must know.
pub(crate) fn known_columns(file: &File) -> Result<Vec<ColumnInfo>> {
    check_writer(file.root())?;
    check_made_records(file)?;
    file.columns(0..file.n_columns_total())
}

/// Where the blocks of a new file start. Long files have slot pages before them, for later changes.
pub(crate) fn start(file: &File, columns: &[ColumnInfo]) -> Result<u64> {
    let mut len = 0u64;
    for column in columns.iter().filter(|column| has_blocks(column)) {
        let blocks = file.blocks(column.index)?;
        len = blocks.iter().fold(len, |len, block| len.saturating_add(block.decoded_len));
    }
    Ok(if len >= GROWS { SLOT_PAGES_END } else { HEADER_LEN as u64 })
}

/// Merges short blocks and the pieces of tables, and copies all other blocks.
pub(crate) fn merged<'a>(
    file: &'a File,
    columns: &'a [ColumnInfo],
    threads: Option<usize>,
) -> Result<Rebuild<'a>> {
    let in_pieces = bundles_in_pieces(file, columns)?;
    let mut plans: Vec<Vec<BlockPlan>> = fallible::with_capacity(columns.len(), PARTS)?;
    for column in columns {
        let of_column = match in_pieces.get(&column.index) {
            _ if !has_blocks(column) => Vec::new(),
            Some(of_table) => joined(column, &file.blocks(column.index)?, of_table)?,
            None => merged_blocks(column, &file.blocks(column.index)?)?,
        };
        plans.push(of_column);
    }
    let mut changed = HashMap::new();
    for column in columns.iter().filter(|column| column.record.column_type.has_child_offsets()) {
        let record = &column.record;
        let Some(n_types) = u64::from(record.n_children).checked_sub(1) else { continue };
        let of_parent = plans.get(column.index as usize).map_or(&[][..], Vec::as_slice);
        if of_parent.iter().all(|plan| matches!(plan, BlockPlan::Copied(_))) {
            continue;
        }
        let offsets = record.first_child.unwrap_or(0).saturating_add(n_types);
        let Some(info) = columns.get(offsets as usize) else { continue };
        let numbers = child_offsets(file, info, of_parent, n_types as usize)?;
        let n_values = numbers.len() as u64;
        fallible::insert(&mut changed, offsets, Changed { n_values, n_missing: 0 }, PARTS)?;
        if let Some(of_offsets) = plans.get_mut(offsets as usize) {
            *of_offsets = vec![BlockPlan::Numbers(numbers.into())];
        }
    }
    Ok(Rebuild { changed, joins_pieces: true, ..Rebuild::new(file, columns, plans, threads) })
}

/// The storage columns whose rows lie in several pieces, by number.
fn bundles_in_pieces(file: &File, columns: &[ColumnInfo]) -> Result<HashMap<u64, Arc<Pieces>>> {
    let mut found = HashMap::new();
    for column in columns {
        let Some(storage) = column.record.storage.filter(|storage| !found.contains_key(storage)) else {
            continue;
        };
        if let Some(pieces) = file.pieces_of(column.index)? {
            fallible::insert(&mut found, storage, pieces, PARTS)?;
        }
    }
    Ok(found)
}

/// Stores a bundle as if its rows had been written together.
fn joined(column: &ColumnInfo, blocks: &[BlockRecord], pieces: &Arc<Pieces>) -> Result<Vec<BlockPlan>> {
    let of = column.record.column_type.layout();
    let n_values = column.record.n_values;
    let mut most = block_values(of) as u64;
    if of.physical.is_var() {
        let len = blocks.iter().fold(0u64, |len, block| len.saturating_add(block.decoded_len));
        most = (MERGED_LEN / (len / n_values.max(1)).max(1)).clamp(1, most);
    }
    let mut found = Vec::new();
    for start in (0..n_values).step_by(most as usize) {
        let values = start..n_values.min(start + most);
        fallible::push(&mut found, BlockPlan::Joined { pieces: Arc::clone(pieces), values }, PARTS)?;
    }
    Ok(found)
}

/// Merges neighbouring short blocks while they fit one block.
fn merged_blocks(column: &ColumnInfo, blocks: &[BlockRecord]) -> Result<Vec<BlockPlan>> {
    let of = column.record.column_type.layout();
    let most = block_values(of) as u64;
    let is_var = of.physical.is_var();
    let mut plans: Vec<BlockPlan> = fallible::with_capacity(blocks.len(), PARTS)?;
    let mut i = 0;
    while let Some(first) = blocks.get(i) {
        let (mut n, mut len) = (0, 0);
        let fits = |block: &&BlockRecord| {
            (n, len) = (n + u64::from(block.n_values), block.decoded_len.saturating_add(len));
            is_short(block, of) && n <= most && (!is_var || len <= MERGED_LEN)
        };
        let n_merged = blocks[i..].iter().take_while(fits).count();
        if n_merged > 1 && is_short(first, of) {
            plans.push(BlockPlan::Merged(i..i + n_merged));
            i += n_merged;
        } else {
            plans.push(BlockPlan::Copied(i));
            i += 1;
        }
    }
    Ok(plans)
}

/// The child offsets of the first block of each plan.
fn child_offsets(file: &File, info: &ColumnInfo, plans: &[BlockPlan], n_types: usize) -> Result<Vec<u64>> {
    let (chunk, _) = read_chunk(file, info, 0..info.record.n_values, None, &Silent)?;
    let HostValues::Owned(values) = &chunk.values else { return Ok(Vec::new()) };
    let impossible = || Error::corrupt("the child offsets of a union do not fit its blocks");
    let mut numbers = Vec::new();
    for plan in plans {
        let block = match plan {
            BlockPlan::Copied(block) | BlockPlan::Missing(block) => *block,
            BlockPlan::Merged(blocks) => blocks.start,
            BlockPlan::Numbers(_) | BlockPlan::Joined { .. } => continue,
        };
        let from = block.checked_mul(n_types).ok_or_else(impossible)?;
        let end = from.checked_add(n_types).filter(|&end| end <= chunk.n).ok_or_else(impossible)?;
        let words = values.words(from..end).ok_or_else(impossible)?;
        let words = words.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
        fallible::extend(&mut numbers, words, PARTS)?;
    }
    Ok(numbers)
}
