//! Rules that a reader need not notice (V), and rules that bind writers alone (W).

use std::collections::BTreeSet;

use super::bytes::{Wrong, checksum, is_zero, maybe_at, range, rule, u64_at};
use super::column::Column;
use super::file::Decoded;
use super::header::{State, trailer};
use super::records::{BlockRecord, Statistics};
use super::types::{self, Type, is_var, physical, width};

/// Checks a decoded file.
///
/// # Errors
/// *Corrupt*.
pub fn check(file: &[u8], decoded: &Decoded) -> Result<(), Wrong> {
    rule(!decoded.slots.contains(&State::Damaged), "a damaged slot")?;
    let file = range(file, 0, decoded.slot.end)?;
    let copy = trailer(&file[file.len() - 64..])?;
    rule(copy == decoded.slot, "the trailer repeats the slot")?;
    let ids: BTreeSet<u64> = decoded.columns.iter().map(|column| column.record.id).collect();
    rule(ids.len() == decoded.columns.len(), "two columns have one id")?;
    for table in 0..decoded.tables.len() {
        names(decoded, table)?;
    }
    blocks(decoded)?;
    bundles(decoded)?;
    for column in &decoded.columns {
        let mut at = 0;
        for (block, statistics) in column.blocks.iter().zip(&column.statistics) {
            let n = block.n_values as usize;
            statistics_hold(statistics, &types::structure(&column.record.of), &column.cells[at..at + n])?;
            at += n;
        }
    }
    padding(file, decoded)
}

/// The block index covers all blocks, and each block has statistics.
fn blocks(decoded: &Decoded) -> Result<(), Wrong> {
    let (n_blocks, n_statistics) = decoded.n_blocks;
    rule(n_blocks == n_statistics, "one statistics record per block")?;
    let index: Vec<u64> = decoded.block_index.chunks_exact(8).map(|bytes| u64_at(bytes, 0)).collect();
    let covers = index.is_empty() || (index[0] == 0 && index[index.len() - 1] == n_blocks as u64);
    rule(covers && (n_blocks == 0 || !index.is_empty()), "the block index covers all blocks")
}

/// The members of each storage column cover it, without gap or overlap.
fn bundles(decoded: &Decoded) -> Result<(), Wrong> {
    for (number, storage) in decoded.columns.iter().enumerate().filter(|(_, column)| column.record.is_bundle)
    {
        let of_this = |column: &&Column| column.record.storage == Some(number as u64);
        let members = decoded.columns.iter().filter(of_this);
        let mut places: Vec<(u64, u64)> =
            members.map(|member| (member.record.first_value, member.record.n_values)).collect();
        places.sort_unstable();
        let mut next = 0;
        for (first, n) in places {
            rule(first == next, "the members of a bundle follow one another")?;
            next += n;
        }
        rule(next == storage.record.n_values, "the members of a bundle cover it")?;
    }
    Ok(())
}

/// Nothing overlaps, and the bytes between are zero.
fn padding(file: &[u8], decoded: &Decoded) -> Result<(), Wrong> {
    let slot = decoded.slot;
    let mut spans = vec![(0, 256), (slot.root_at, u64::from(slot.root_len)), (slot.end - 64, 64)];
    spans.extend(&decoded.parts);
    for section in &decoded.unknown {
        spans.extend(section.read(file)?.1);
    }
    for block in decoded.columns.iter().flat_map(|column: &Column| &column.blocks) {
        spans.extend(places(block));
    }
    spans.retain(|span| span.1 > 0);
    spans.sort_unstable();
    let mut end = 0;
    for (at, len) in spans {
        rule(at >= end, "two parts of the file overlap")?;
        rule(is_zero(&file[end as usize..at as usize]), "padding is zero")?;
        end = at + len;
    }
    Ok(())
}

fn places(block: &BlockRecord) -> [(u64, u64); 2] {
    [(block.pages_at, u64::from(block.pages_len)), (block.directory_at, u64::from(block.directory_len))]
}

/// The name index has one slot for each column, and the search for a name meets its columns in
/// order.
fn names(decoded: &Decoded, table: usize) -> Result<(), Wrong> {
    let record = decoded.tables[table].record;
    let columns = decoded.columns_of(table);
    if record.n_slots == 0 {
        return Ok(());
    }
    let mut n_occupied = 0;
    for slot in record.first_slot..record.first_slot + record.n_slots {
        let at = slot as usize * 16;
        let hash = u64_at(&decoded.name_index, at);
        let Some(position) = maybe_at(&decoded.name_index, at + 8) else {
            rule(hash == 0, "the hash of an empty slot is 0")?;
            continue;
        };
        rule(position < record.n_columns, "the position of a name")?;
        let name = columns[position as usize].name.as_bytes();
        rule(hash == checksum(name), "the hash of a name")?;
        n_occupied += 1;
    }
    rule(n_occupied == columns.len(), "the name index has one slot for each column")?;
    for (position, column) in columns.iter().enumerate() {
        let hash = checksum(column.name.as_bytes());
        let mut found = Vec::new();
        for probe in 0..record.n_slots {
            let slot = record.first_slot + hash.wrapping_add(probe) % record.n_slots;
            let at = slot as usize * 16;
            let Some(there) = maybe_at(&decoded.name_index, at + 8) else {
                break;
            };
            let is_hit = u64_at(&decoded.name_index, at) == hash;
            if is_hit && columns[there as usize].name == column.name {
                found.push(there as usize);
            }
        }
        let expected = columns.iter().enumerate().filter(|(_, other)| other.name == column.name);
        let expected: Vec<usize> = expected.map(|(i, _)| i).collect();
        rule(found == expected && found.contains(&position), "a name is in the name index")?;
    }
    Ok(())
}

/// Compares statistics with the values of the block.
fn statistics_hold(of: &Statistics, kind: &Type, cells: &[Option<Vec<u8>>]) -> Result<(), Wrong> {
    let of_type = kind;
    let kind = kind.physical;
    let n_missing = cells.iter().filter(|cell| cell.is_none()).count();
    rule(n_missing == of.n_missing as usize, "n_missing of statistics")?;
    let distinct: BTreeSet<&Vec<u8>> = cells.iter().flatten().collect();
    rule(of.n_distinct == 0 || of.n_distinct as usize == distinct.len(), "n_distinct of statistics")?;
    let has_nan = cells.iter().flatten().any(|cell| is_nan(kind, cell));
    if kind == physical::F32 || kind == physical::F64 {
        rule(has_nan == (of.flags & 16 != 0), "statistics say whether there is a NaN")?;
    }
    let has_order = (2..=9).contains(&kind) || is_var(kind) || kind == physical::F32 || kind == physical::F64;
    rule(has_order || of.flags & 29 == 0, "a type without an order has no bounds")?;
    if of.flags & 1 != 0 {
        bounds(of, of_type, cells)?;
    }
    if of.flags & 12 != 0 {
        rule(n_missing == 0 && !has_nan, "ascending and descending are for values that are all there")?;
        let values: Vec<&Vec<u8>> = cells.iter().flatten().collect();
        let is = |up: bool| {
            values.windows(2).all(|pair| {
                let order = compare(kind, pair[0], pair[1]);
                if up { order.is_le() } else { order.is_ge() }
            })
        };
        rule(of.flags & 4 == 0 || is(true), "statistics say ascending")?;
        rule(of.flags & 8 == 0 || is(false), "statistics say descending")?;
    }
    Ok(())
}

fn bounds(of: &Statistics, kind: &Type, cells: &[Option<Vec<u8>>]) -> Result<(), Wrong> {
    let of_type = kind;
    let kind = kind.physical;
    if is_var(kind) {
        rule(of.min[0] <= 15 && of.max[0] <= 15, "the length of a minimum or maximum")?;
    }
    let bound = |bytes: &[u8; 16]| match width(of_type) {
        Some(width) => bytes[..width].to_vec(),
        None => bytes[1..1 + bytes[0] as usize].to_vec(),
    };
    let (min, max) = (bound(&of.min), bound(&of.max));
    for (bytes, len) in [(&of.min, min.len()), (&of.max, max.len())] {
        let from = if is_var(kind) { len + 1 } else { len };
        rule(is_zero(&bytes[from..]), "zeros after a minimum or maximum")?;
    }
    for cell in cells.iter().flatten().filter(|cell| !is_nan(kind, cell)) {
        rule(compare(kind, &min, cell).is_le(), "the minimum")?;
        let above = of.flags & 2 != 0 && cell.starts_with(&max);
        rule(above || compare(kind, cell, &max).is_le(), "the maximum")?;
    }
    Ok(())
}

fn f(bytes: &[u8]) -> f64 {
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    if bytes.len() == 8 {
        f64::from_le_bytes(wide)
    } else {
        f64::from(f32::from_bits(u64::from_le_bytes(wide) as u32))
    }
}

fn is_nan(kind: u8, cell: &[u8]) -> bool {
    (kind == physical::F32 || kind == physical::F64) && f(cell).is_nan()
}

/// The order of two values that are not NaN.
fn compare(kind: u8, a: &[u8], b: &[u8]) -> std::cmp::Ordering {
    match kind {
        _ if is_var(kind) => a.cmp(b),
        physical::F32 | physical::F64 => f(a).partial_cmp(&f(b)).unwrap_or(std::cmp::Ordering::Less),
        // Bytes of any number: as one number without sign.
        _ if a.len() > 16 => a.iter().rev().cmp(b.iter().rev()),
        _ => {
            let signed = (2..=5).contains(&kind);
            let number = |bytes: &[u8]| {
                let fill = if signed && bytes.last().is_some_and(|&byte| byte >= 128) { 0xFF } else { 0 };
                let mut wide = [fill; 16];
                wide[..bytes.len()].copy_from_slice(bytes);
                i128::from_le_bytes(wide)
            };
            number(a).cmp(&number(b))
        }
    }
}
