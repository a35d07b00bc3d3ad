//! Columns to write, with the fields of their categories.

use std::sync::Arc;

use entasis::{ColumnInfo, Error, Logical, Monitor, Result};

use super::cells::{Cells, Ending};
use super::columns::{Column, Fields, Kind, Selected};
use super::format::Format;
use super::print::Printer;
use super::rows::{Reader, Source};

/// Rows of categories that are read together.
const TOGETHER: u64 = 1 << 16;

/// A column of a table, whose categories are read.
///
/// # Errors
/// *Unsupported* for types that a text does not have; errors of reading.
pub fn column(
    source: Source<'_>,
    selected: &Selected,
    format: &Format,
    monitor: &dyn Monitor,
) -> Result<Column> {
    let Selected { info, nan_is_missing } = selected;
    let of = &info.record.column_type;
    let refused = || {
        let type_name = entasis::type_name(of, info.detail.as_ref());
        let message = format!("a text has no values of type {type_name}");
        Error::unsupported(message).advise("leave the column out, or change its type").in_column(&info.name)
    };
    let kind = if of.logical == Logical::Categorical {
        let (categories, n) = categories(source, info)?.ok_or_else(refused)?;
        Kind::Codes(of.physical, Arc::new(fields(source, &categories, n, format, monitor)?))
    } else {
        Kind::of(of, info.detail.as_ref()).ok_or_else(refused)?
    };
    let (name, has_missing) = (info.name.clone(), info.record.n_missing > 0);
    Ok(Column { name, number: info.index, kind, has_missing, nan_is_missing: *nan_is_missing })
}

/// The categories of a column, and their number; `None` if a text has no such values.
fn categories(source: Source<'_>, info: &ColumnInfo) -> Result<Option<(Column, u64)>> {
    let (number, kind, n, has_missing) = match source {
        Source::File(file) => {
            let Some(number) = info.record.dictionary else { return Ok(None) };
            let found = file.column(number)?;
            let record = &found.record;
            let kind = Kind::of(&record.column_type, found.detail.as_ref());
            (number, kind, record.n_values, record.n_missing > 0)
        }
        Source::Frame(frame) => {
            let Some(at) = Source::of_frame(frame, info.index)?.dictionary else { return Ok(None) };
            let number = (frame.columns.len() + at) as u64;
            let found = Source::of_frame(frame, number)?;
            (number, Kind::of(&found.column_type, found.detail.as_ref()), found.array.n_values(), true)
        }
    };
    let name = info.name.clone();
    Ok(kind.map(|kind| (Column { name, number, kind, has_missing, nan_is_missing: false }, n)))
}

/// The fields of all values of a column, each printed once.
fn fields(
    source: Source<'_>,
    column: &Column,
    n: u64,
    format: &Format,
    monitor: &dyn Monitor,
) -> Result<Fields> {
    let (printer, ending) = (Printer::new(format), Ending::separator(format.separator));
    let (mut fields, mut cells) = (Fields { ends: vec![0], ..Fields::default() }, Cells::default());
    let mut reader = Reader::new(source, std::slice::from_ref(column));
    let mut at = 0;
    while at < n {
        let n_read = reader.read(at..n.min(at + TOGETHER), monitor)?;
        for values in reader.values() {
            for row in 0..n_read {
                let printed = printer.print(&values, row..row + 1, true, ending, &mut cells);
                fields.refused.push(printed.is_err());
                let start = fields.bytes.len();
                if printed.is_ok() {
                    fields.bytes.extend_from_slice(cells.field(0, ending));
                }
                fields.longest = fields.longest.max(fields.bytes.len() - start);
                fields.ends.push(fields.bytes.len());
            }
        }
        at += n_read as u64;
    }
    Ok(fields)
}
