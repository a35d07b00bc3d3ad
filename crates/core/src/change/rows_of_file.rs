//! Reads rows of a file's table, as a table to write.

use std::ops::Range;

use entasis_format::{ColumnType, Error, Physical, Result, Value, fallible};

use super::columns::{ColumnSource, combine};
use super::kept;
use super::kept_values::{check_flat, nulls, values};
use crate::file::File;
use crate::frame::kept::Kept;
use crate::frame::{Array, Chunk, Column, Frame, HostValidity, HostValues, OwnedValues};
use crate::monitor::Monitor;
use crate::read::read_rows;
use crate::rows::Rows;

/// The use of the memory, in messages.
const LABELS: &str = "the labels of the rows";
/// Hosts whose entries are known here.
const HOSTS: [&str; 5] = ["pandas", "static_frame", "polars", "pyarrow", "numpy"];
/// Entries of host maps that depend on no row.
const FREE: [&str; 11] = [
    "host",
    "columns",
    "blocks",
    "dtype_metadata",
    "categories",
    "attrs",
    "class",
    "name",
    "allows_duplicate_labels",
    "schema_metadata",
    "field_metadata",
];
const INDEX: &str = "index";
/// In a host map: pairs of a column's position and a column of codes. In an index: the column of
/// codes alone.
const MISSING_KINDS: &str = "missing_kinds";

/// Rows of some columns of a table, as a table to write.
#[derive(Debug)]
pub(super) struct CopiedRows {
    pub frame: Frame,
    /// The indices of the extra columns with one value per row.
    pub labels: Vec<usize>,
}

/// Reads rows of the columns at these positions. Types, labels and categories are the file's.
/// `consecutive` is the range of the rows of the whole copy, if they are contiguous. A range of
/// labels then stays a range; otherwise it becomes a column.
pub(super) fn read(
    file: &File,
    positions: &[usize],
    rows: &Rows,
    consecutive: Option<&Range<u64>>,
    threads: Option<usize>,
    monitor: &dyn Monitor,
) -> Result<CopiedRows> {
    let mut content = kept::kept(file)?;
    let table = content.table()?;
    let n_rows = table.n_rows;
    rows.check(n_rows)?;
    check_host(&table.host)?;
    let mut frame = pick_columns(std::mem::replace(table, nothing()), positions)?;
    frame.columns.iter().chain(&frame.extra).try_for_each(check_flat)?;
    if !kept::is_without_cells(&frame) {
        return Err(Error::unsupported("labels and metadata that are objects are not copied"));
    }
    let mut labels = columns_of_rows(&frame)?;
    let whole = file.whole();
    let read = |column: &Column| read_rows_of(&whole, column, (rows, n_rows), threads, monitor);
    for column in &mut frame.columns {
        column.array = read(column).map_err(|e| e.in_column(&column.name))?;
    }
    for (index, column) in frame.extra.iter_mut().enumerate() {
        let array = if labels.contains(&index) { read(column) } else { all(&whole, column, monitor) };
        column.array = array.map_err(|e| e.in_column(&column.name))?;
    }
    frame.n_rows = rows.n(n_rows);
    let n_extra = frame.extra.len();
    select_index(&mut frame, rows, consecutive)?;
    labels.extend(n_extra..frame.extra.len());
    Ok(CopiedRows { frame, labels })
}

fn nothing() -> Frame {
    Frame { n_rows: 0, columns: Vec::new(), extra: Vec::new(), host: Value::Null }
}

/// Checks that the host and all entries of its map are known.
fn check_host(host: &Value) -> Result<()> {
    let Some(name) = host.get("host").and_then(Value::as_str) else {
        return if host.is_null() {
            Ok(())
        } else {
            Err(Error::unsupported("the file is of an unknown host"))
        };
    };
    if !HOSTS.contains(&name) {
        return Err(Error::unsupported(format!("rows of files of the host {name:?} are not copied")));
    }
    for (key, _) in host.as_map().unwrap_or_default() {
        let key = key.as_str().unwrap_or_default();
        if !FREE.contains(&key) && key != INDEX && key != MISSING_KINDS {
            return Err(Error::unsupported(format!("the entry {key:?} of the host map is not copied")));
        }
    }
    match host.get("class").and_then(Value::as_str) {
        Some("Scalar") => Err(Error::unsupported("the file holds one value, not rows")),
        _ => Ok(()),
    }
}

/// The table of the columns at these positions. If these are all columns in order, their
/// arrangement stays.
fn pick_columns(table: Frame, positions: &[usize]) -> Result<Frame> {
    if positions.len() == table.columns.len()
        && positions.iter().enumerate().all(|(i, position)| i == *position)
    {
        return Ok(table);
    }
    let labels = table.host.get("columns").map(|columns| columns.get("kind").and_then(Value::as_str));
    if labels.is_some_and(|kind| kind != Some("names")) {
        return Err(Error::unsupported("the labels of the columns are not text, so all columns are copied"));
    }
    let name = |&position: &usize| {
        let column = table.columns.get(position).ok_or_else(|| Error::argument("no such column"))?;
        Ok(column.name.clone())
    };
    let names = positions.iter().map(name).collect::<Result<_>>()?;
    let sources: Vec<_> = positions.iter().copied().map(ColumnSource::Kept).collect();
    combine(table, nothing(), &sources, names, Vec::new())
}

/// The indices of the extra columns with one value per row.
fn columns_of_rows(frame: &Frame) -> Result<Vec<usize>> {
    let mut nodes = Vec::new();
    let kinds = frame.host.get(MISSING_KINDS).and_then(Value::as_list).unwrap_or_default();
    nodes.extend(kinds.iter().filter_map(|item| item.as_list()?.get(1)));
    if let Some(index) = frame.host.get(INDEX) {
        nodes.extend(index.get("column").into_iter().chain(index.get(MISSING_KINDS)));
        nodes.extend(index.get("columns").and_then(Value::as_list).unwrap_or_default());
    }
    let index = |node: &Value| {
        let number = usize::try_from(node.as_column()?).ok()?.checked_sub(frame.columns.len())?;
        (number < frame.extra.len()).then_some(number)
    };
    let wrong = || Error::corrupt("the host map names a column that is not there");
    nodes.into_iter().map(|node| index(node).ok_or_else(wrong)).collect()
}

/// Reads these rows of a column with `n_rows` values.
fn read_rows_of(
    file: &File,
    column: &Column,
    (rows, n_rows): (&Rows, u64),
    threads: Option<usize>,
    monitor: &dyn Monitor,
) -> Result<Array> {
    let Some(Kept::Column(number)) = column.array.kept else {
        return Err(Error::argument("a column is not in the file"));
    };
    let info = file.column(number)?;
    if info.record.n_values != n_rows {
        return Err(Error::corrupt("a column of labels has another number of values than rows"));
    }
    if info.record.column_type.physical == Physical::Null {
        let chunk = nulls(&info)?;
        let n = usize::try_from(rows.n(n_rows)).unwrap_or(usize::MAX).min(chunk.n);
        return Ok(array(Chunk { n, ..chunk }));
    }
    Ok(array(read_rows(file, &info, rows.clone(), threads, monitor)?.0))
}

/// All values of a column that belongs to no row.
fn all(file: &File, column: &Column, monitor: &dyn Monitor) -> Result<Array> {
    Ok(array(values(file, column, monitor)?))
}

fn array(chunk: Chunk) -> Array {
    if chunk.n > 0 { Array::new(chunk) } else { Array::from(Vec::new()) }
}

/// Restricts the index to the rows. The columns of the index have only these rows already.
fn select_index(frame: &mut Frame, rows: &Rows, consecutive: Option<&Range<u64>>) -> Result<()> {
    let host = frame.host.get("host").and_then(Value::as_str).unwrap_or_default().to_owned();
    let number = (frame.columns.len() + frame.extra.len()) as u64;
    let Value::Map(pairs) = &mut frame.host else { return Ok(()) };
    let Some((_, index)) = pairs.iter_mut().find(|(key, _)| key.as_str() == Some(INDEX)) else {
        return Ok(());
    };
    let is_range = index.get("kind").and_then(Value::as_str) == Some("range");
    let name = index.get("name").and_then(Value::as_str).unwrap_or(INDEX).to_owned();
    let wrong = || Error::corrupt("the description of the index is wrong");
    let int = |index: &Value, key: &str| index.get(key).and_then(Value::as_int).ok_or_else(wrong);
    let (start, step) = if is_range { (int(index, "start")?, int(index, "step")?) } else { (0, 1) };
    let Value::Map(entries) = index else { return Err(wrong()) };
    if consecutive.is_none_or(Range::is_empty) {
        // A frequency describes neighbours.
        entries.retain(|(key, _)| key.as_str() != Some("freq"));
    }
    if !is_range {
        return Ok(());
    }
    let label = |row: u64| {
        let label = i128::from(start) + i128::from(step) * i128::from(row);
        i64::try_from(label).map_err(|_| wrong())
    };
    // StaticFrame has ranges from 0 alone.
    if let Some(range) = consecutive.filter(|range| host == "pandas" || range.start == 0) {
        let (start, stop) = (label(range.start)?, label(range.end)?);
        for (key, value) in entries {
            match key.as_str() {
                Some("start") => *value = Value::Int(start),
                Some("stop") => *value = Value::Int(stop),
                _ => {}
            }
        }
        return Ok(());
    }
    entries.retain(|(key, _)| !matches!(key.as_str(), Some("kind" | "start" | "stop" | "step")));
    entries.push((Value::from("kind"), Value::from("column")));
    entries.push((Value::from("column"), Value::Column(number)));
    let n = usize::try_from(frame.n_rows).map_err(|_| Error::out_of_memory(usize::MAX, LABELS))?;
    let mut bytes: Vec<u8> = fallible::with_capacity(n.saturating_mul(8), LABELS)?;
    let mut add = |row: u64| label(row).map(|label| bytes.extend_from_slice(&label.to_le_bytes()));
    match rows {
        Rows::Range(range) => range.clone().try_for_each(&mut add)?,
        Rows::Indices(rows) => rows.iter().copied().try_for_each(&mut add)?,
        Rows::All => (0..frame.n_rows).try_for_each(&mut add)?,
        &Rows::Step { start, n, step } => {
            Rows::numbers(start, n, step)?.iter().copied().try_for_each(&mut add)?;
        }
    }
    let values = HostValues::Owned(OwnedValues::fixed(8, bytes));
    frame.extra.push(Column {
        name,
        run: None,
        column_type: ColumnType::plain(Physical::I64),
        detail: None,
        host_detail: None,
        dictionary: None,
        children: Vec::new(),
        array: array(Chunk { n, values, validity: HostValidity::AllValid }),
    });
    Ok(())
}
