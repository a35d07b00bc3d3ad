//! Nested types.

use super::bytes::{Kind, Wrong, rule, wrong};
use super::column::Column;
use super::types::{has_child_offsets, is_nested, physical};
use super::{Cell, types};

/// The most bytes of nested values that a test builds.
const LIMIT: usize = 1 << 28;

/// Checks the rules between columns and their children, and marks the children.
///
/// # Errors
/// *Corrupt*.
pub fn check(columns: &mut [Column]) -> Result<(), Wrong> {
    let n = columns.len() as u64;
    let mut depths = vec![1u32; columns.len()];
    for i in 0..columns.len() {
        let record = columns[i].record.clone();
        let of = record.of;
        if is_nested(of.physical) {
            rule(of.logical == 0 || of.logical == 11, "a nested column is plain or an extension")?;
        }
        let Some(first) = record.first_child else { continue };
        let end = first.saturating_add(u64::from(record.n_children));
        rule(first > i as u64 && end <= n, "children have greater numbers than their parent")?;
        let children = first as usize..end as usize;
        let n_types = children.len() - usize::from(has_child_offsets(&of));
        for k in children.clone() {
            let child = &mut columns[k];
            rule(child.record.parent == Some(i as u64), "a child has one parent")?;
            child.is_child = true;
            depths[k] = depths[i] + 1;
            rule(depths[k] <= 64, "the depth of a column")?;
        }
        let lens: Vec<u64> = columns[children.clone()].iter().map(|child| child.record.n_values).collect();
        let asked = match of.physical {
            physical::STRUCT => Some(record.n_values),
            physical::UNION if of.value_len == 1 => Some(record.n_values),
            physical::FIXED_LIST => {
                let asked = record.n_values.checked_mul(u64::from(of.value_len));
                rule(asked.is_some(), "values of fixed-size lists")?;
                asked
            }
            _ => None,
        };
        rule(asked.is_none_or(|n| lens.iter().all(|&len| len == n)), "n_values of a child")?;
        if of.physical == physical::MAP {
            let entries = &columns[children.start].record;
            rule(entries.of.physical == physical::STRUCT && entries.n_children == 2, "entries of a map")?;
            let keys = entries.first_child.and_then(|first| columns.get(first as usize));
            let is_whole = entries.n_missing == 0 && keys.is_none_or(|keys| keys.record.n_missing == 0);
            rule(is_whole, "missing entries or keys of a map")?;
        }
        if has_child_offsets(&of) {
            child_offsets(&columns[i], &columns[children.end - 1], n_types)?;
        }
        count(&columns[i], &columns[children], n_types)?;
    }
    let sound = columns.iter().all(|column| column.is_child == column.record.parent.is_some());
    rule(sound, "a child is one of its parent's")
}

fn child_offsets(parent: &Column, offsets: &Column, n_types: usize) -> Result<(), Wrong> {
    let of = offsets.record.of;
    rule(of.physical == physical::U64 && of.logical == 0, "child offsets are u64")?;
    rule(offsets.cells.iter().all(Option::is_some), "no child offset is missing")?;
    rule(offsets.cells.len() == parent.blocks.len() * n_types, "the number of child offsets")
}

fn number(cell: &[u8]) -> u64 {
    let mut wide = [0; 8];
    wide[..cell.len()].copy_from_slice(cell);
    u64::from_le_bytes(wide)
}

/// The child that holds a value's parts, and the number of parts.
fn step(of: u8, cell: &Option<Cell>) -> (usize, u64) {
    match (of, cell) {
        (_, None) => (0, 0),
        (physical::LIST | physical::MAP | physical::RUN_END, Some(word)) => (0, number(word)),
        (_, Some(word)) => (number(word) as usize, 1),
    }
}

/// Compares first children and child offsets with the structure values, and type ids with the
/// number of types.
fn count(parent: &Column, children: &[Column], n_types: usize) -> Result<(), Wrong> {
    let of = parent.record.of.physical;
    if of == physical::UNION {
        let sound = parent.cells.iter().flatten().all(|word| (number(word) as usize) < n_types);
        rule(sound, "a value is of a type that is there")?;
    }
    let is_counted = [physical::LIST, physical::MAP, physical::RUN_END].contains(&of);
    if !is_counted && !has_child_offsets(&parent.record.of) {
        return Ok(());
    }
    let (mut at, mut counts) = (0, vec![0u64; if is_counted { 1 } else { n_types }]);
    for (b, block) in parent.blocks.iter().enumerate() {
        let recorded: Vec<u64> = if is_counted {
            vec![block.first_child]
        } else {
            let offsets = &children[n_types].cells[b * n_types..(b + 1) * n_types];
            offsets.iter().flatten().map(|cell| number(cell)).collect()
        };
        rule(recorded == counts, "where the values of a block begin in the children")?;
        for cell in &parent.cells[at..at + block.n_values as usize] {
            let (k, n) = step(of, cell);
            rule(cell.is_none() || k < counts.len(), "a value is of a type that is there")?;
            if cell.is_some() {
                counts[k] += n;
            }
        }
        at += block.n_values as usize;
    }
    if of == physical::RUN_END {
        rule(parent.cells.first().is_none_or(|cell| cell == &Some(vec![1])), "value 0 begins a run")?;
    }
    let lens: Vec<u64> = children[..counts.len()].iter().map(|child| child.record.n_values).collect();
    rule(counts == lens, "where the values of a block begin in the children")
}

/// Appends a cell to `out`: 0 if missing, else 1, the length and the bytes.
pub fn put(out: &mut Cell, cell: &Option<Cell>) {
    match cell {
        None => out.push(0),
        Some(bytes) => {
            out.push(1);
            out.extend((bytes.len() as u32).to_le_bytes());
            out.extend(bytes);
        }
    }
}

/// The values of a column with their nested parts, as `docs/testing.md` lays them out.
///
/// # Errors
/// *Limit*.
pub fn values(columns: &[Column], column: usize) -> Result<Vec<Option<Cell>>, Wrong> {
    let Column { record, cells, .. } = &columns[column];
    let of = record.of;
    if !types::is_nested(of.physical) {
        return Ok(cells.clone());
    }
    let first = record.first_child.unwrap_or(0) as usize;
    let n_types = record.n_children as usize - usize::from(has_child_offsets(&of));
    let mut children = Vec::new();
    for k in first..first + n_types {
        children.push(values(columns, k)?);
    }
    let mut next = vec![0usize; n_types];
    let mut made = Vec::new();
    let mut size = 0;
    for (i, word) in cells.iter().enumerate() {
        let mut cell = Vec::new();
        match (of.physical, word) {
            (physical::RUN_END, _) => {
                next[0] += usize::from(word == &Some(vec![1]));
                made.push(children[0][next[0] - 1].clone());
                continue;
            }
            (_, None) => {}
            (physical::LIST | physical::MAP, Some(word)) => {
                let n = number(word) as usize;
                cell.extend((n as u32).to_le_bytes());
                children[0][next[0]..next[0] + n].iter().for_each(|item| put(&mut cell, item));
                next[0] += n;
            }
            (physical::FIXED_LIST, _) => {
                let n = of.value_len as usize;
                children[0][i * n..(i + 1) * n].iter().for_each(|item| put(&mut cell, item));
            }
            (physical::STRUCT, _) => children.iter().for_each(|child| put(&mut cell, &child[i])),
            (_, Some(word)) => {
                let k = number(word) as usize;
                let at = if has_child_offsets(&of) { next[k] } else { i };
                next[k] += 1;
                cell.push(k as u8);
                put(&mut cell, &children[k][at]);
            }
        }
        size += cell.len();
        if size > LIMIT {
            return wrong(Kind::Limit, "more nested values than a test builds");
        }
        made.push(word.as_ref().map(|_| cell));
    }
    Ok(made)
}
