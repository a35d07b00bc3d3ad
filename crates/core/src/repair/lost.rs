//! Decides which values of a damaged file become missing.

use std::collections::HashMap;
use std::ops::Range;

use entasis_format::{Error, Kind, Physical, Result, fallible};

use crate::file::{ColumnInfo, File};
use crate::monitor::Silent;
use crate::read::read_chunk;
use crate::rebuild::{BlockPlan, Changed, PARTS, Rebuild, has_blocks};
use crate::verify::Survey;

/// The treatment of damaged blocks whose values cannot be missing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lost {
    /// They are an error.
    Refused,
    /// They stay damaged.
    Damaged,
}

/// Plans a file in which the damaged blocks of a survey are missing.
pub(super) fn plan<'a>(
    file: &'a File,
    columns: &'a [ColumnInfo],
    survey: &Survey,
    lost: Lost,
    threads: Option<usize>,
) -> Result<Rebuild<'a>> {
    let tables = tables(file)?;
    let mut plans: Vec<Vec<BlockPlan>> = fallible::with_capacity(columns.len(), PARTS)?;
    let mut changed = HashMap::new();
    for column in columns {
        let damaged = damaged(survey, column.index);
        let problem = problem(columns, &tables, column).filter(|_| !damaged.is_empty());
        if let (Some(problem), Lost::Refused) = (problem, lost) {
            let advice = "leave the column out: read the others, and write them to a file";
            return Err(Error::corrupt(problem).in_column(&column.name).advise(advice));
        }
        let damaged = if problem.is_some() { &[] } else { damaged };
        match of_column(file, column, damaged) {
            Ok((of_column, n_missing)) => {
                plans.push(of_column);
                if let Some(n_missing) = n_missing {
                    let n_values = column.record.n_values;
                    fallible::insert(&mut changed, column.index, Changed { n_values, n_missing }, PARTS)?;
                }
            }
            // Without blocks, reading the column is an error.
            Err(error) if error.kind() == Kind::Corrupt && lost == Lost::Damaged => plans.push(Vec::new()),
            Err(error) => return Err(error.in_column(&column.name)),
        }
    }
    for column in columns.iter().filter(|column| column.record.is_bundled) {
        let Some(storage) = column.record.storage.filter(|storage| changed.contains_key(storage)) else {
            continue;
        };
        if let Some(n_missing) = of_member(file, column, damaged(survey, storage))? {
            let n_values = column.record.n_values;
            fallible::insert(&mut changed, column.index, Changed { n_values, n_missing }, PARTS)?;
        }
    }
    Ok(Rebuild { changed, is_tidied: true, ..Rebuild::new(file, columns, plans, threads) })
}

/// The damaged blocks of a column, in order.
fn damaged(survey: &Survey, column: u64) -> &[(u64, Range<u64>)] {
    let blocks = &survey.blocks;
    let from = blocks.partition_point(|(number, _)| *number < column);
    let to = blocks.partition_point(|(number, _)| *number <= column);
    blocks.get(from..to).unwrap_or_default()
}

/// The columns of each table.
fn tables(file: &File) -> Result<Vec<Range<u64>>> {
    let mut tables = Vec::new();
    for number in 0..file.n_tables() {
        fallible::extend(&mut tables, file.table(number)?.columns_in_file().into_iter(), PARTS)?;
    }
    // A table without columns may begin anywhere.
    tables.retain(|columns| !columns.is_empty());
    tables.sort_unstable_by_key(|columns| columns.start);
    Ok(tables)
}

/// The reason why values of a column cannot be missing, if there is one.
fn problem(columns: &[ColumnInfo], tables: &[Range<u64>], column: &ColumnInfo) -> Option<&'static str> {
    const STRUCTURE: &str = "the structure of a nested column is damaged, so its values cannot be separated";
    if column.record.is_bundle {
        return None;
    }
    let is_counted = |of: Physical| {
        matches!(
            of,
            Physical::List | Physical::Map | Physical::RunEnd | Physical::Union | Physical::ValueColumn
        )
    };
    let mut child = column;
    let mut physical = column.record.column_type.physical;
    if is_counted(physical) {
        return Some(STRUCTURE);
    }
    // Children come after their parents, so this ends.
    while let Some(parent) = parent(columns, child) {
        let of = parent.record.column_type.physical;
        let is_key = of == Physical::Struct
            && parent.record.first_child == Some(child.index)
            && self::parent(columns, parent)
                .is_some_and(|map| map.record.column_type.physical == Physical::Map);
        let is_entries = of == Physical::Map && physical == Physical::Struct && child.index == column.index;
        if is_key || is_entries {
            return Some("keys of a map are damaged, and they cannot be missing");
        }
        if !matches!(of, Physical::List | Physical::Map | Physical::Struct | Physical::FixedSizeList) {
            return Some(STRUCTURE);
        }
        (child, physical) = (parent, of);
    }
    let after = tables.partition_point(|columns| columns.start <= child.index);
    let is_of_table = after.checked_sub(1).is_some_and(|i| tables[i].contains(&child.index));
    (!is_of_table).then_some("labels, categories or parts of a tree are damaged, and they cannot be missing")
}

fn parent<'a>(columns: &'a [ColumnInfo], column: &ColumnInfo) -> Option<&'a ColumnInfo> {
    let parent = columns.get(usize::try_from(column.record.parent?).ok()?)?;
    (parent.index < column.index).then_some(parent)
}

/// The plans of a column, and its new number of missing values if it changes.
fn of_column(
    file: &File,
    column: &ColumnInfo,
    damaged: &[(u64, Range<u64>)],
) -> Result<(Vec<BlockPlan>, Option<u64>)> {
    if column.unknown.is_some() || !has_blocks(column) {
        return Ok((Vec::new(), None));
    }
    let blocks = file.blocks(column.index)?;
    let mut plans = fallible::with_capacity(blocks.len(), PARTS)?;
    let statistics = match file.statistics_of(column) {
        Ok(statistics) => statistics,
        Err(error) if error.kind() == Kind::Corrupt && damaged.is_empty() => {
            // Encoding the values again gives statistics for them.
            plans.extend((0..blocks.len()).map(|i| BlockPlan::Merged(i..i + 1)));
            return Ok((plans, None));
        }
        Err(error) => return Err(error),
    };
    let mut n_missing = column.record.n_missing;
    for (i, (block, statistics)) in blocks.iter().zip(&statistics).enumerate() {
        let is_damaged = damaged.binary_search_by_key(&block.first_value, |(_, values)| values.start).is_ok();
        if is_damaged {
            let before = u64::from(statistics.n_missing);
            n_missing = n_missing.saturating_sub(before).saturating_add(block.n_values.into());
        }
        plans.push(if is_damaged { BlockPlan::Missing(i) } else { BlockPlan::Copied(i) });
    }
    Ok((plans, (!damaged.is_empty()).then_some(n_missing)))
}

/// The number of missing values of a bundled column after its storage column lost damaged blocks;
/// `None` if no lost value is its own.
fn of_member(file: &File, member: &ColumnInfo, damaged: &[(u64, Range<u64>)]) -> Result<Option<u64>> {
    let count = |rows: Range<u64>| -> Result<u64> {
        if rows.is_empty() {
            return Ok(0);
        }
        Ok(read_chunk(file, member, rows, Some(1), &Silent)?.1)
    };
    let n_rows = member.record.n_values;
    let (mut at, mut n_missing, mut is_touched) = (0, 0, false);
    for stretch in file.source(member.index)?.stretches(0..n_rows) {
        let values = stretch.values();
        for (_, lost) in damaged.iter().filter(|(_, lost)| lost.start < values.end && lost.end > values.start)
        {
            let row = |value: u64| stretch.rows.start + (value - values.start);
            let lost = row(lost.start.max(values.start))..row(lost.end.min(values.end));
            n_missing += count(at..lost.start)? + (lost.end - lost.start);
            (at, is_touched) = (lost.end, true);
        }
    }
    if !is_touched {
        return Ok(None);
    }
    Ok(Some(n_missing + count(at..n_rows)?))
}
