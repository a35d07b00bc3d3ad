//! Columns to write, with the fields of their categories.

use std::sync::Arc;

use entasis::{ColumnInfo, Error, Logical, Monitor, Result, Rows, Unit};

use super::cells::{Cells, Ending};
use super::columns::{Column, Fields, Kind, Selected};
use super::format::Format;
use super::nested::Nested;
use super::print::Printer;
use super::rows::{Reader, Source, column_of};
use crate::problems::start;
use crate::values::formats::Own;

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
    nested: Option<&Arc<dyn Nested>>,
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
        let as_strings = || match (source, nested) {
            (Source::File(_), Some(nested)) if of.physical.is_nested() => {
                Some(Kind::Nested(Arc::clone(nested)))
            }
            _ => None,
        };
        Kind::of(of, info.detail.as_ref()).or_else(as_strings).ok_or_else(refused)?
    };
    let (name, has_missing) = (info.name.clone(), info.record.n_missing > 0);
    let form = form(&name, &kind, format)?;
    Ok(Column { name, number: info.index, kind, has_missing, nan_is_missing: *nan_is_missing, form })
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
            let Some(at) = column_of(frame, info.index)?.dictionary else { return Ok(None) };
            let number = (frame.columns.len() + at) as u64;
            let found = column_of(frame, number)?;
            (number, Kind::of(&found.column_type, found.detail.as_ref()), found.array.n_values(), true)
        }
    };
    let name = info.name.clone();
    Ok(kind.map(|kind| (Column { name, number, kind, has_missing, nan_is_missing: false, form: None }, n)))
}

/// The format of the user for a column: the one for its name, else the first for all columns that
/// fits its type.
fn form(name: &str, kind: &Kind, format: &Format) -> Result<Option<Own>> {
    let fits = |own: &Own| match kind {
        Kind::Date(..) | Kind::Timestamp { unit: Unit::Day, .. } => !own.has_time(),
        Kind::Timestamp { is_utc, .. } => own.has_time() && own.has_offset() == *is_utc,
        _ => false,
    };
    if let Some((_, own)) = format.dates.iter().find(|(of, _)| of.as_deref() == Some(name)) {
        // Midnight is also written as a date alone.
        let is_time = matches!(kind, Kind::Timestamp { is_utc: false, .. });
        if fits(own) || (is_time && !own.has_time()) {
            return Ok(Some(own.clone()));
        }
        let (what, advice) = match kind {
            Kind::Date(..) | Kind::Timestamp { unit: Unit::Day, .. } => {
                ("has dates, and its format has a time of day", "leave the time out of the format")
            }
            Kind::Timestamp { is_utc: true, .. } => {
                ("has times in UTC, and its format has no %z", "add the hour and %z to the format")
            }
            Kind::Timestamp { .. } => ("has times without a zone, and its format has %z", "leave %z out"),
            _ => ("has neither dates nor times", "leave it out of dates="),
        };
        let message = format!("the column '{}' {what}", start(name, 40));
        return Err(Error::argument(message).advise(advice));
    }
    let mut of_all = format.dates.iter().filter(|(of, _)| of.is_none()).map(|(_, own)| own);
    Ok(of_all.find(|own| fits(own)).cloned())
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
    let mut reader = Reader::new(source, std::slice::from_ref(column), &Rows::All);
    let mut at = 0;
    while at < n {
        let n_read = reader.read(at..n.min(at + TOGETHER), monitor)?;
        for values in reader.values() {
            for row in 0..n_read {
                let printed = printer.print(&values, row..row + 1, true, ending, &mut cells);
                fields.refused.push(printed.is_err());
                let before = fields.bytes.len();
                if printed.is_ok() {
                    fields.bytes.extend_from_slice(cells.field(0, ending));
                }
                fields.longest = fields.longest.max(fields.bytes.len() - before);
                fields.ends.push(fields.bytes.len());
            }
        }
        at += n_read as u64;
    }
    Ok(fields)
}
