//! The value of a file with all columns kept. Every change begins with it.

use entasis_format::{Error, Result, Value, fallible};

use super::Content;
use crate::column_owners::{ColumnOwners, OfTable, unusual};
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

/// The value of a file.
pub(super) fn kept(file: &File) -> Result<Content> {
    let whole = file.whole();
    let infos = whole.columns(0..whole.n_columns_total())?;
    let mut tables = Vec::new();
    for number in 0..whole.n_tables() {
        fallible::push(&mut tables, whole.table(number)?, WHAT)?;
    }
    let owners = ColumnOwners::of(&whole, &infos, &tables)?;
    let mut frames = Vec::with_capacity(tables.len());
    for (table, of) in tables.iter().zip(&owners.tables) {
        frames.push(frame(&infos, table, of)?);
    }
    let columns = columns(&infos, &owners.loose, &[])?;
    if whole.value() == &Value::Table(0) && columns.is_empty() && frames.len() == 1 {
        return frames.pop().map(Content::Frame).ok_or_else(unusual);
    }
    let mut value = whole.value().clone();
    renumber(&mut value, |column| owners.loose.binary_search(&column).ok())?;
    Ok(Content::Document(Document { frames, columns, value }))
}

/// A table with all its columns kept.
fn frame(infos: &[ColumnInfo], table: &File, of: &OfTable) -> Result<Frame> {
    let mut host = table.value_in_file(table.known_host()?);
    let position = |column: u64| usize::try_from(table.position(column)?).ok();
    let index = |column: u64| Some(of.columns.len() + of.extra.binary_search(&column).ok()?);
    renumber(&mut host, |column| position(column).or_else(|| index(column)))?;
    Ok(Frame {
        n_rows: table.n_rows(),
        columns: columns(infos, &of.columns, &of.extra)?,
        extra: columns(infos, &of.extra, &of.extra)?,
        host,
    })
}

/// Replaces the column numbers of the file in a value.
fn renumber(value: &mut Value, to: impl Fn(u64) -> Option<usize>) -> Result<()> {
    let mut is_known = true;
    value.visit_mut(&mut |scalar| {
        if let Value::Column(number) = scalar {
            match to(*number) {
                Some(index) => *number = index as u64,
                None => is_known = false,
            }
        }
    });
    if is_known { Ok(()) } else { Err(unusual()) }
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

/// Kept columns with these numbers. `extra` are the numbers of the extra columns, which include
/// their dictionaries.
fn columns(infos: &[ColumnInfo], numbers: &[u64], extra: &[u64]) -> Result<Vec<Column>> {
    let info = |number: &u64| usize::try_from(*number).ok().and_then(|number| infos.get(number));
    let column = |number| column(infos, info(number).ok_or_else(unusual)?, extra);
    numbers.iter().map(column).collect()
}

/// A kept column.
fn column(infos: &[ColumnInfo], info: &ColumnInfo, extra: &[u64]) -> Result<Column> {
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

fn dictionary(info: &ColumnInfo, extra: &[u64]) -> Result<Option<usize>> {
    let Some(number) = info.record.dictionary else { return Ok(None) };
    extra.binary_search(&number).map(Some).map_err(|_| unusual().in_column(&info.name))
}

fn fields(infos: &[ColumnInfo], info: &ColumnInfo, extra: &[u64]) -> Result<Vec<Field>> {
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
