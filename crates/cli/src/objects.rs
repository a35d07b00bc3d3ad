//! Values of object columns: cells of any kind, as text for people and as JSON.

use std::ops::Range;

use entasis::cells::{Cell, Cells, Children, Slice};
use entasis::{CellKind, ColumnInfo, Error, File, Monitor, Result, Silent, Unit, Value};

use crate::array::Object;
use crate::calendar::{self, Form};
use crate::cell::{bytes_text, long_integer, uuid};
use crate::json;
use crate::types::unit_of;

/// The depth of containers that is shown. Deeper ones are shown as `(...)`.
const MAX_DEPTH: usize = 32;

/// The form in which values are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// For people.
    Text,
    /// As JSON.
    Json,
}

/// Reads the values of an object column in some rows.
///
/// # Errors
/// *Corrupt*, *unsupported* for an unknown kind of cell, *io*, *limit*.
pub(crate) fn load(
    file: &File,
    info: &ColumnInfo,
    rows: &Range<u64>,
    style: Style,
    threads: Option<usize>,
    monitor: &dyn Monitor,
) -> Result<Vec<Object>> {
    let read = || -> Result<Vec<Object>> {
        let cells =
            file.cells()?.ok_or_else(|| Error::corrupt("the file has an object column but no cells"))?;
        let list = cells.objects(info.detail.as_ref().unwrap_or(&Value::Null), info.record.n_values)?;
        let first = list.first.saturating_add(rows.start);
        let end = list.first.saturating_add(rows.end);
        let top = cells.load(first..end, threads, monitor)?;
        // The descendants of neighbouring cells are contiguous (`docs/format/values.md`).
        let inside = |found: Option<Range<u64>>, of: Children| match found {
            _ if of.count == 0 => found,
            None => Some(of.first..of.end),
            Some(range) => Some(range.start.min(of.first)..range.end.max(of.end)),
        };
        let below = top.parents().fold(None, inside).unwrap_or(end..end);
        let below = cells.load(below, threads, monitor)?;
        let reader = Reader { cells: &cells, slices: [&top, &below], style };
        (first..end).map(|number| reader.object(number)).collect()
    };
    read().map_err(|e| e.in_column(&info.name).in_file(file.path()))
}

/// A cell as JSON.
///
/// # Errors
/// As [`load`].
pub(crate) fn json(cells: &Cells, number: u64) -> Result<String> {
    let top = cells.load(number..number.saturating_add(1), None, &Silent)?;
    let below = match top.cell(number)? {
        Cell::Parent(_, of) if of.count > 0 => cells.load(of.first..of.end, None, &Silent)?,
        _ => cells.load(number..number, None, &Silent)?,
    };
    Reader { cells, slices: [&top, &below], style: Style::Json }.object(number).map(|object| object.text)
}

struct Reader<'a> {
    cells: &'a Cells,
    /// The cells in memory.
    slices: [&'a Slice; 2],
    style: Style,
}

impl Reader<'_> {
    fn object(&self, number: u64) -> Result<Object> {
        let mut text = String::new();
        let mut is_missing = false;
        self.visit(number, &mut |cell| {
            is_missing = matches!(cell, Cell::Unit(CellKind::Null | CellKind::NA | CellKind::NaT));
            match self.scalar(cell, self.style)? {
                Some((plain, _)) if self.style == Style::Text => text = plain,
                _ => self.json(cell, 0, &mut text)?,
            }
            Ok(())
        })?;
        Ok(Object { text, is_missing })
    }

    /// Passes a cell to `look`, or the one that it refers to.
    fn visit(&self, number: u64, look: &mut dyn FnMut(&Cell<'_>) -> Result<()>) -> Result<()> {
        if let Some(slice) = self.slices.iter().find(|slice| slice.range().contains(&number)) {
            return self.follow(number, &slice.cell(number)?, look);
        }
        let one = self.cells.load(number..number.saturating_add(1), Some(1), &Silent)?;
        self.follow(number, &one.cell(number)?, look)
    }

    fn follow(
        &self,
        number: u64,
        cell: &Cell<'_>,
        look: &mut dyn FnMut(&Cell<'_>) -> Result<()>,
    ) -> Result<()> {
        match *cell {
            // A reference names an earlier cell, so this ends.
            Cell::Int(CellKind::Reference, target) if (0..number.cast_signed()).contains(&target) => {
                self.visit(target.cast_unsigned(), look)
            }
            Cell::Int(CellKind::Reference, _) => Err(Error::corrupt("a reference to a later cell")),
            ref cell => look(cell),
        }
    }

    /// The text of a value without parts, and whether JSON puts it in quotes. Containers are JSON
    /// in either style.
    fn scalar(&self, cell: &Cell<'_>, style: Style) -> Result<Option<(String, bool)>> {
        let form = if style == Style::Json { Form::Iso } else { Form::Plain };
        let micros = Unit::Microsecond;
        Ok(Some(match *cell {
            Cell::Unit(CellKind::False | CellKind::NumpyFalse) => ("false".to_owned(), false),
            Cell::Unit(CellKind::True | CellKind::NumpyTrue) => ("true".to_owned(), false),
            Cell::Unit(CellKind::Null | CellKind::NA | CellKind::NaT) if style == Style::Json => {
                ("null".to_owned(), false)
            }
            Cell::Unit(kind) => (kind.to_string(), true),
            Cell::Int(CellKind::Date, days) => (calendar::date(days.into()), true),
            Cell::Int(CellKind::Time, n) => (calendar::time(n, micros), true),
            Cell::Int(CellKind::Datetime, n) => (calendar::timestamp(n, micros, false, form), true),
            Cell::Int(CellKind::Timedelta, n) => (calendar::duration(n, micros, form), true),
            Cell::Int(CellKind::UInt64, n) => (n.cast_unsigned().to_string(), false),
            Cell::Int(CellKind::Table, _) => ("(frame)".to_owned(), true),
            Cell::Int(_, n) => (n.to_string(), false),
            Cell::Float(_, x) if x.is_nan() => ("NaN".to_owned(), true),
            Cell::Float(_, x) if x.is_infinite() && style == Style::Json => {
                (if x > 0.0 { "Infinity" } else { "-Infinity" }.to_owned(), true)
            }
            Cell::Float(_, x) => (format!("{x:?}"), false),
            Cell::Str(CellKind::Decimal, digits) => (digits.to_owned(), !is_json_number(digits)),
            Cell::Str(_, text) => (text.to_owned(), true),
            Cell::Bytes(CellKind::BigInt, bytes) => (long_integer(bytes), false),
            Cell::Bytes(CellKind::Uuid, bytes) => (uuid(bytes), true),
            Cell::Bytes(CellKind::Surrogates, bytes) => (String::from_utf8_lossy(bytes).into_owned(), true),
            Cell::Bytes(_, bytes) => (bytes_text(bytes, style == Style::Text), true),
            Cell::Array { len, .. } => (format!("(array of {len})"), true),
            Cell::Parent(kind, ref children) => return self.composed(kind, children, style),
        }))
    }

    /// The text of a value with parts that is not a container.
    fn composed(&self, kind: CellKind, children: &Children, style: Style) -> Result<Option<(String, bool)>> {
        let part = |i: u64| {
            let mut text = String::new();
            self.visit(children.first.saturating_add(i), &mut |cell| {
                text = self.scalar(cell, style)?.map_or_else(|| "(...)".to_owned(), |(text, _)| text);
                Ok(())
            })?;
            Ok::<_, Error>(text)
        };
        let text = match kind {
            CellKind::Complex => {
                let imaginary = part(1)?;
                let sign = if imaginary.starts_with('-') { "" } else { "+" };
                format!("{}{sign}{imaginary}i", part(0)?)
            }
            CellKind::Fraction => format!("{}/{}", part(0)?, part(1)?),
            CellKind::Range | CellKind::Slice => format!("{kind}({}, {}, {})", part(0)?, part(1)?, part(2)?),
            CellKind::FullTime | CellKind::FullDatetime => {
                format!("{}{}", part(0)?, self.zone(children.first.saturating_add(1))?)
            }
            CellKind::FullTimedelta => format!("{} days, {} s, {} us", part(0)?, part(1)?, part(2)?),
            CellKind::ObjectArray => format!("({kind}, {})", children.count),
            CellKind::Object => {
                let name = part(0)?;
                match name.as_str() {
                    "pandas.Timestamp" | "pandas.Timedelta" if children.count >= 3 => {
                        return self.pandas_time(&name, children, style).map(|text| Some((text, true)));
                    }
                    "record" if children.count >= 3 => format!("({})", part(2)?),
                    _ => format!("({name})"),
                }
            }
            _ => return Ok(None),
        };
        Ok(Some((text, true)))
    }

    /// A Timestamp or Timedelta of pandas, from its name, count, unit and zone.
    fn pandas_time(&self, name: &str, children: &Children, style: Style) -> Result<String> {
        let (mut count, mut unit, mut has_zone) = (None, None, false);
        for i in 1..children.count.min(4) {
            self.visit(children.first.saturating_add(i), &mut |cell| {
                match *cell {
                    Cell::Int(_, n) if i == 1 => count = Some(n),
                    Cell::Str(_, text) if i == 2 => unit = unit_of(text),
                    _ => has_zone = i == 3 && !matches!(cell, Cell::Unit(_)),
                }
                Ok(())
            })?;
        }
        let form = if style == Style::Json { Form::Iso } else { Form::Plain };
        Ok(match (count, unit) {
            (Some(n), Some(unit)) if name.ends_with("Timestamp") => {
                calendar::timestamp(n, unit, has_zone, form)
            }
            (Some(n), Some(unit)) => calendar::duration(n, unit, form),
            _ => format!("({name})"),
        })
    }

    /// The suffix of a time zone: empty, an offset, or a name.
    fn zone(&self, number: u64) -> Result<String> {
        let mut zone = String::new();
        let mut offset = None;
        self.visit(number, &mut |cell| {
            match cell {
                Cell::Str(_, name) => zone = format!("[{name}]"),
                Cell::Parent(CellKind::Tuple, parts) if parts.count > 0 => offset = Some(parts.first),
                _ => {}
            }
            Ok(())
        })?;
        if let Some(number) = offset {
            self.visit(number, &mut |cell| {
                if let Cell::Int(_, micros) = *cell {
                    let seconds = micros / 1_000_000;
                    let (sign, minutes) = (if seconds < 0 { '-' } else { '+' }, seconds.unsigned_abs() / 60);
                    zone = format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60);
                }
                Ok(())
            })?;
        }
        Ok(zone)
    }

    fn json(&self, cell: &Cell<'_>, depth: usize, out: &mut String) -> Result<()> {
        let Cell::Parent(kind, children) = *cell else {
            return self.json_scalar(cell, out);
        };
        let is_sequence =
            matches!(kind, CellKind::List | CellKind::Tuple | CellKind::Set | CellKind::FrozenSet);
        if !(is_sequence || kind == CellKind::Map || kind.is_rows()) {
            return self.json_scalar(cell, out);
        }
        if depth >= MAX_DEPTH {
            json::string(out, "(...)");
            return Ok(());
        }
        if kind.is_rows() {
            return self.json_rows(kind, &children, depth, out);
        }
        out.push(if is_sequence { '[' } else { '{' });
        for i in 0..children.count {
            if i > 0 {
                out.push(',');
            }
            if !is_sequence {
                self.json_key(children.keys.saturating_add(i), out)?;
            }
            self.json_child(children.first.saturating_add(i), depth, out)?;
        }
        out.push(if is_sequence { ']' } else { '}' });
        Ok(())
    }

    /// A list of maps or tuples, stored as one list for each key or index.
    fn json_rows(&self, kind: CellKind, children: &Children, depth: usize, out: &mut String) -> Result<()> {
        let mut lists = Vec::new();
        for i in 0..children.count {
            self.visit(children.first.saturating_add(i), &mut |cell| match *cell {
                Cell::Parent(CellKind::List, list) => {
                    lists.push(list);
                    Ok(())
                }
                _ => Err(Error::corrupt("a list of rows has a child that is not a list")),
            })?;
        }
        let n = lists.iter().map(|list| list.count).min().unwrap_or(0);
        let (open, close) = if kind == CellKind::Records { ('{', '}') } else { ('[', ']') };
        out.push('[');
        for row in 0..n {
            if row > 0 {
                out.push(',');
            }
            out.push(open);
            for (k, list) in (0u64..).zip(&lists) {
                if k > 0 {
                    out.push(',');
                }
                if kind == CellKind::Records {
                    self.json_key(children.keys.saturating_add(k), out)?;
                }
                self.json_child(list.first.saturating_add(row), depth + 1, out)?;
            }
            out.push(close);
        }
        out.push(']');
        Ok(())
    }

    fn json_key(&self, number: u64, out: &mut String) -> Result<()> {
        self.visit(number, &mut |cell| {
            match self.scalar(cell, Style::Json)? {
                Some((text, _)) => json::string(out, &text),
                None => {
                    let mut text = String::new();
                    self.json(cell, MAX_DEPTH - 1, &mut text)?;
                    json::string(out, &text);
                }
            }
            out.push(':');
            Ok(())
        })
    }

    fn json_child(&self, number: u64, depth: usize, out: &mut String) -> Result<()> {
        self.visit(number, &mut |cell| self.json(cell, depth + 1, out))
    }

    fn json_scalar(&self, cell: &Cell<'_>, out: &mut String) -> Result<()> {
        match self.scalar(cell, Style::Json)? {
            Some((text, true)) => json::string(out, &text),
            Some((text, false)) => out.push_str(&text),
            None => json::string(out, "(...)"),
        }
        Ok(())
    }
}

/// Whether the digits of a decimal are also a number in JSON.
fn is_json_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    are_digits(whole) && are_digits(fraction) && (whole.len() == 1 || !whole.starts_with('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_that_json_takes() {
        for text in ["0", "-1", "10.50", "0.001"] {
            assert!(is_json_number(text), "{text}");
        }
        for text in ["", "-", "01", "1.", ".5", "NaN", "sNaN", "1E+5", "Infinity", "1.5.2"] {
            assert!(!is_json_number(text), "{text}");
        }
    }
}
