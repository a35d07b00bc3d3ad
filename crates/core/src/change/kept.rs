//! The value of a file with all columns kept. Every change begins with it.

use std::ops::Range;

use entasis_format::{Error, Result, Value, fallible};

use super::Content;
use crate::file::{ColumnInfo, File};
use crate::frame::{Array, Column, Document, Field, Frame};

/// The use of memory, in messages.
const WHAT: &str = "the columns that stay";

/// The keys of a file's value that this release knows (`docs/format/values.md`).
const KEYS: [&str; 5] = ["value", "metadata", "cells", "host", "environments"];

/// Refuses a new value without a key of the file's value that this release does not know.
pub(super) fn check_keys(old: &Value, new: &Content) -> Result<()> {
    let Value::Map(pairs) = old else { return Ok(()) };
    let is_in_new = |key: &str| match new {
        Content::Frame(_) => false,
        Content::Document(document) => document.value.get(key).is_some(),
    };
    for (key, _) in pairs {
        let name = key.as_str().unwrap_or_default();
        if !KEYS.contains(&name) && !is_in_new(name) {
            let message =
                format!("the change would lose \"{name}\" of the file, which this release does not know");
            return Err(Error::unsupported(message).advise("use a newer release, or write the file again"));
        }
    }
    Ok(())
}

/// The number of the table that is the file's value.
pub(super) fn table_of(value: &Value) -> Option<u64> {
    if let Value::Map(_) = value { value.get("value")?.as_table() } else { value.as_table() }
}

/// The value of a file. The file has the columns of each table with its extra columns, then columns
/// of no table, then children and bundles.
pub(super) fn kept(file: &File) -> Result<Content> {
    let whole = file.whole();
    let infos = whole.columns(0..whole.n_columns_total())?;
    let n_own = infos.iter().take_while(|info| is_own(info)).count();
    if infos.iter().skip(n_own).any(is_own) {
        return Err(unusual());
    }
    let first_loose = first_loose(&whole, n_own)?;
    let mut tables = Vec::new();
    for number in 0..whole.n_tables() {
        fallible::push(&mut tables, whole.table(number)?, WHAT)?;
    }
    let mut frames = Vec::with_capacity(tables.len());
    for (i, table) in tables.iter().enumerate() {
        let columns = consecutive_columns(table)?;
        let end = match tables.get(i + 1) {
            Some(next) => consecutive_columns(next)?.start,
            None => first_loose,
        };
        let extra = columns.end..end;
        let column = |info| column(&infos, info, Some(&extra));
        let part = |range: Range<usize>| infos.get(range).ok_or_else(unusual);
        frames.push(Frame {
            n_rows: table.n_rows(),
            columns: part(columns)?.iter().map(column).collect::<Result<_>>()?,
            extra: part(extra.clone())?.iter().map(column).collect::<Result<_>>()?,
            host: table.known_host()?,
        });
    }
    let loose = infos.get(first_loose..n_own).ok_or_else(unusual)?;
    let columns = loose.iter().map(|info| column(&infos, info, None)).collect::<Result<Vec<_>>>()?;
    if whole.value() == &Value::Table(0) && columns.is_empty() && frames.len() == 1 {
        return frames.pop().map(Content::Frame).ok_or_else(unusual);
    }
    let mut value = whole.value().clone();
    value.visit_mut(&mut |scalar| {
        if let Value::Column(number) = scalar {
            *number = number.saturating_sub(first_loose as u64);
        }
    });
    Ok(Content::Document(Document { frames, columns, value }))
}

/// Whether neither the table nor its host map refers to cells.
pub(super) fn is_without_cells(frame: &Frame) -> bool {
    let has_none = |value: &Value| {
        let mut rest = vec![value];
        while let Some(value) = rest.pop() {
            match value {
                Value::Cell(_) => return false,
                Value::List(values) => rest.extend(values),
                Value::Map(pairs) => rest.extend(pairs.iter().flat_map(|(key, value)| [key, value])),
                _ => {}
            }
        }
        true
    };
    let columns = frame.columns.iter().chain(&frame.extra);
    let mut details = columns.flat_map(|column| [&column.detail, &column.host_detail]).flatten();
    has_none(&frame.host) && details.all(has_none)
}

fn is_own(info: &ColumnInfo) -> bool {
    info.record.parent.is_none() && !info.record.is_bundle
}

/// The first column of no table: a column of cells, or a pool of arrays.
fn first_loose(file: &File, n_own: usize) -> Result<usize> {
    let Some(cells) = file.cell_columns() else { return Ok(n_own) };
    let (pool, n_pools) = cells.pools;
    let pools = (n_pools > 0).then_some(pool);
    let first = cells.numbers.iter().flatten().copied().chain(pools).min();
    first.map_or(Ok(n_own), |first| usize::try_from(first).map_err(|_| unusual()))
}

/// The columns of a table, which have to follow one another in the file.
fn consecutive_columns(table: &File) -> Result<Range<usize>> {
    let [columns] = &*table.columns_in_file() else { return Err(unusual()) };
    in_memory(columns.clone())
}

/// The range of these columns in memory.
fn in_memory(columns: Range<u64>) -> Result<Range<usize>> {
    let index = |number: u64| usize::try_from(number).map_err(|_| unusual());
    Ok(index(columns.start)?..index(columns.end)?)
}

fn unusual() -> Error {
    Error::unsupported("the columns of the file are in an unusual order").advise("write the file again")
}

/// A kept column. `extra` are the numbers of the extra columns, which include its dictionary.
fn column(infos: &[ColumnInfo], info: &ColumnInfo, extra: Option<&Range<usize>>) -> Result<Column> {
    Ok(Column {
        name: info.name.clone(),
        run: None,
        column_type: info.record.column_type,
        detail: kept_detail(info, &info.detail)?,
        host_detail: kept_detail(info, &info.host_detail)?,
        dictionary: dictionary(info, extra)?,
        children: fields(infos, info, extra)?,
        array: Array::kept(info.index),
    })
}

/// A detail that stays. No known detail names columns or tables, whose numbers may change.
fn kept_detail(info: &ColumnInfo, detail: &Option<Value>) -> Result<Option<Value>> {
    let mut copy = detail.clone();
    let mut is_plain = true;
    if let Some(detail) = &mut copy {
        detail.visit_mut(&mut |scalar| is_plain &= !matches!(scalar, Value::Column(_) | Value::Table(_)));
    }
    let message = "a detail that names columns or tables cannot be kept by a change";
    if is_plain { Ok(copy) } else { Err(Error::unsupported(message).in_column(&info.name)) }
}

fn dictionary(info: &ColumnInfo, extra: Option<&Range<usize>>) -> Result<Option<usize>> {
    let Some(number) = info.record.dictionary else { return Ok(None) };
    let number = usize::try_from(number).ok();
    let number = number.filter(|number| extra.is_some_and(|extra| extra.contains(number)));
    let first = extra.map_or(0, |extra| extra.start);
    number.map(|number| Some(number - first)).ok_or_else(|| unusual().in_column(&info.name))
}

fn fields(infos: &[ColumnInfo], info: &ColumnInfo, extra: Option<&Range<usize>>) -> Result<Vec<Field>> {
    let record = &info.record;
    let n = u64::from(record.n_children) - u64::from(record.column_type.has_child_offsets());
    let first = record.first_child.unwrap_or(0);
    let field = |number: u64| {
        let child = usize::try_from(number).ok().and_then(|number| infos.get(number));
        // Children come after their parents, so this ends.
        let child = child.filter(|child| child.index > info.index);
        let child = child.ok_or_else(|| Error::corrupt("a column has a child that is not in the file"))?;
        Ok(Field {
            name: child.name.clone(),
            column_type: child.record.column_type,
            detail: kept_detail(child, &child.detail)?,
            host_detail: kept_detail(child, &child.host_detail)?,
            dictionary: dictionary(child, extra)?,
            children: fields(infos, child, extra)?,
        })
    };
    (first..first.saturating_add(n)).map(field).collect()
}
