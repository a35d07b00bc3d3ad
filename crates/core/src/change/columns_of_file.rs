//! Reads columns of another file, to add them to a table.

use entasis_format::{Error, Result, Value};

use super::columns::{ColumnSource, combine};
use super::kept_values::{check_flat, values};
use super::{host_map, kept};
use crate::file::File;
use crate::frame::{Array, Column, Frame};
use crate::monitor::Monitor;

/// The columns of the table in `from` at these positions, with their extra columns and their
/// entries of the host map. Compares the host map and the number of rows with those of the file to
/// change before it reads values.
pub(super) fn read(
    (host, n_rows): (&Value, u64),
    from: &File,
    positions: &[usize],
    monitor: &dyn Monitor,
) -> Result<Frame> {
    let in_file = |e: Error| e.in_file(from.path());
    let mut content = kept::kept(from).map_err(in_file)?;
    let table = content.table().map_err(in_file)?;
    if table.n_rows != n_rows {
        let message = format!("the new columns have {} rows, the file {n_rows}", table.n_rows);
        return Err(in_file(Error::argument(message)));
    }
    let nothing = || Frame { n_rows: 0, columns: Vec::new(), extra: Vec::new(), host: Value::Null };
    let mut table = std::mem::replace(table, nothing());
    table.host = host_map::of_columns(host, table.host).map_err(in_file)?;
    let mut names = Vec::with_capacity(positions.len());
    for &position in positions {
        let column = table.columns.get(position).ok_or_else(|| Error::argument("no such column"))?;
        names.push(column.name.clone());
    }
    let sources: Vec<_> = positions.iter().copied().map(ColumnSource::Kept).collect();
    let mut frame = combine(table, nothing(), &sources, names, Vec::new()).map_err(in_file)?;
    frame.columns.iter().chain(&frame.extra).try_for_each(check_flat).map_err(in_file)?;
    host_map::check_flat(&frame.host).map_err(in_file)?;
    if !kept::is_without_cells(&frame) {
        return Err(in_file(Error::argument("attributes that are objects are not copied")));
    }
    let whole = from.whole();
    for column in frame.columns.iter_mut().chain(&mut frame.extra) {
        column.array = owned(&whole, column, monitor).map_err(|e| in_file(e.in_column(&column.name)))?;
    }
    Ok(frame)
}

/// Reads the values of a column into memory. A reference by number would name another column in the
/// changed file.
fn owned(file: &File, column: &Column, monitor: &dyn Monitor) -> Result<Array> {
    let chunk = values(file, column, monitor)?;
    Ok(if chunk.n > 0 { Array::new(chunk) } else { Array::from(Vec::new()) })
}
