//! Values of Python as values of R; `docs/fidelity.md` has the table.

use std::ops::Range;

use entasis::{CellKind, Result};

use super::cells::Maker;
use super::make;
use super::missing::with_missing;
use super::zones::east_of_utc;
use crate::r::missing::{NA_INTEGER, NA_REAL};
use crate::r::zones::is_zone;
use crate::r::{Data, Value};

impl Maker<'_, '_> {
    /// A value without parts.
    pub(super) fn unit(&self, kind: CellKind) -> Result<Value> {
        Ok(match kind {
            CellKind::Null => Value::default(),
            CellKind::True | CellKind::NumpyTrue => make::logical(1),
            CellKind::False | CellKind::NumpyFalse => make::logical(0),
            CellKind::NA => make::logical(NA_INTEGER),
            CellKind::NaT => make::since_1970(f64::from_bits(NA_REAL), "UTC"),
            _ => return Err(self.refused("an Ellipsis")),
        })
    }

    /// A value that is an integer in the file.
    pub(super) fn int(&self, kind: CellKind, n: i64) -> Result<Value> {
        Ok(match kind {
            CellKind::Date => make::double(n as f64).with("class", make::text("Date")),
            CellKind::Time => make::time_of_day(vec![n as f64 / 1e6]),
            CellKind::Datetime => make::since_1970(n as f64 / 1e6, "UTC"),
            CellKind::Timedelta => make::lasting(n as f64 / 1e6),
            CellKind::UInt64 => return Err(self.refused("a uint64 of NumPy")),
            _ => make::whole(n),
        })
    }

    /// The error for parts that a value of R has no form for.
    #[cold]
    fn other_parts<T>(&self, name: &str) -> Result<T> {
        Err(self.refused(&format!("a value of kind {name} with these parts")))
    }

    /// A value of a kind with parts of its own.
    pub(super) fn other_parent(&mut self, kind: CellKind, numbers: Range<u64>) -> Result<Value> {
        if matches!(kind, CellKind::Slice | CellKind::Fraction) {
            let name = if kind == CellKind::Slice { "a slice" } else { "a Fraction" };
            return Err(self.refused(name));
        }
        let parts = self.items(numbers, None)?;
        match kind {
            CellKind::Complex => match numbers_in(&parts) {
                Some(numbers) => Ok(Data::Complex(vec![[numbers[0], numbers[1]]]).into()),
                None => self.other_parts("complex"),
            },
            CellKind::Range => match numbers_in(&parts).as_deref() {
                Some(&[start, stop, step]) => {
                    range(start, stop, step).map_or_else(|| self.other_parts("range"), Ok)
                }
                _ => self.other_parts("range"),
            },
            CellKind::FullDatetime => self.zoned(&parts),
            CellKind::FullTimedelta => match numbers_in(&parts).as_deref() {
                Some(&[days, seconds, micros]) => {
                    Ok(make::lasting(days * 86_400.0 + seconds + micros * 1e-6))
                }
                _ => self.other_parts("timedelta"),
            },
            kind => self.other_parts(kind.name()),
        }
    }

    /// A datetime with a zone: the local time, the zone, and whether a repeated local time is the
    /// second one.
    fn zoned(&self, parts: &[Value]) -> Result<Value> {
        let (Some(clock), Some(zone)) = (parts.first(), parts.get(1)) else {
            return self.other_parts("datetime");
        };
        let (Some(seconds), true) = (number(clock), clock.inherits("POSIXct")) else {
            return self.other_parts("datetime");
        };
        match &zone.data {
            Data::Null => Ok(clock.clone()),
            Data::List(items) => match items.first().and_then(number) {
                Some(offset) => {
                    let offset = offset / 1e6;
                    Ok(make::since_1970(seconds - offset, &self.reading.zone_of_value(offset)))
                }
                None => self.other_parts("datetime"),
            },
            Data::Strings(names) => {
                let is_second = parts.get(2).and_then(number).is_some_and(|fold| fold != 0.0);
                match names.get(0).and_then(|name| Some((name, east_of_utc(name, seconds, is_second)?))) {
                    Some((name, offset)) => Ok(make::since_1970(seconds - offset, name)),
                    None => Err(self.refused("a datetime of a zone that the system does not have")),
                }
            }
            _ => self.other_parts("datetime"),
        }
    }

    /// An object of Python or its libraries: its name, then parts.
    pub(super) fn foreign_object(&mut self, name: &str, numbers: Range<u64>) -> Result<Value> {
        let parts = self.items(numbers, None)?;
        let part = |i: usize| parts.get(i).cloned();
        let found = match name {
            "collections.OrderedDict"
            | "collections.Counter"
            | "collections.deque"
            | "class"
            | "numpy.metadata"
            | "numpy.dtype"
            | "pandas.dtype" => part(1),
            "collections.defaultdict" => part(2),
            "pandas.Timedelta" => part(1).zip(part(2)).and_then(|(count, unit)| {
                Some(make::lasting(number(&count)? / per_second(unit.strings()?.get(0)?)?))
            }),
            "pandas.Timestamp" => self.stamp(&parts)?,
            "record" => record(&parts),
            "numpy.ma" => part(1).zip(part(2)).and_then(|(value, mask)| match &mask.data {
                Data::Null => Some(value),
                Data::Logical(mask) if mask.len() == value.len() => {
                    let which: Vec<usize> = (0..mask.len()).filter(|&i| mask[i] == 1).collect();
                    Some(with_missing(value, &which))
                }
                _ => None,
            }),
            _ => return Err(self.refused(&format!("a value of kind {}", shortened(name)))),
        };
        found.map_or_else(|| self.other_parts(shortened(name)), Ok)
    }

    /// A timestamp of pandas: the count, the unit, the zone.
    fn stamp(&self, parts: &[Value]) -> Result<Option<Value>> {
        let (Some(count), Some(unit), Some(zone)) = (parts.get(1), parts.get(2), parts.get(3)) else {
            return Ok(None);
        };
        let per = unit.strings().and_then(|unit| unit.get(0)).and_then(per_second);
        let (Some(count), Some(per)) = (number(count), per) else { return Ok(None) };
        let zone = match &zone.data {
            Data::Strings(name) => name.get(0).filter(|name| is_zone(name)).unwrap_or("UTC").to_owned(),
            Data::List(items) => match items.first().and_then(number) {
                Some(offset) => self.reading.zone_of_value(offset / 1e6),
                None => return Ok(None),
            },
            _ => "UTC".to_owned(),
        };
        Ok(Some(make::since_1970(count / per, &zone)))
    }
}

/// The first 60 characters of a name.
fn shortened(name: &str) -> &str {
    name.char_indices().nth(60).map_or(name, |(end, _)| &name[..end])
}

/// A number, also of class integer64.
fn number(value: &Value) -> Option<f64> {
    match &value.data {
        Data::Integer(values) if values.len() == 1 => Some(f64::from(values[0])),
        Data::Double(values) if values.len() == 1 && value.inherits("integer64") => {
            Some(values[0].to_bits().cast_signed() as f64)
        }
        Data::Double(values) if values.len() == 1 => Some(values[0]),
        _ => None,
    }
}

fn numbers_in(values: &[Value]) -> Option<Vec<f64>> {
    values
        .iter()
        .map(|value| {
            number(value).filter(|_| value.attribute("class").is_none() || value.inherits("integer64"))
        })
        .collect()
}

fn per_second(unit: &str) -> Option<f64> {
    Some(match unit {
        "s" => 1.0,
        "ms" => 1e3,
        "us" => 1e6,
        "ns" => 1e9,
        _ => return None,
    })
}

/// The numbers of a range; `None` for too many.
fn range(start: f64, stop: f64, step: f64) -> Option<Value> {
    let n = ((stop - start) / step).ceil().max(0.0);
    if !n.is_finite() || n > 1e8 || [start, stop, step].iter().any(|bound| bound.abs() > 2f64.powi(53)) {
        return None;
    }
    let numbers: Vec<f64> = (0..n as usize).map(|i| start + step * i as f64).collect();
    let data = if numbers.iter().all(|number| number.abs() < 2f64.powi(31)) {
        Data::Integer(numbers.iter().map(|&number| number as i32).collect())
    } else {
        Data::Double(numbers)
    };
    Some(data.into())
}

/// The fields of an object, after its kind, its class, and their names.
fn record(parts: &[Value]) -> Option<Value> {
    let (class, names) = parts.get(2).zip(parts.get(3))?;
    let fields = parts.get(4..)?;
    let names = match &names.data {
        Data::Strings(_) => names.clone(),
        Data::List(items) => {
            make::texts(items.iter().filter_map(|item| item.strings().and_then(|item| item.get(0))))
        }
        Data::Null => make::texts([]),
        _ => return None,
    };
    if names.len() != fields.len() {
        return None;
    }
    let mut value = Value::from(Data::List(fields.to_vec()));
    if !fields.is_empty() {
        make::set(&mut value, "names", names);
    }
    make::set(&mut value, "record", class.clone());
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_their_numbers() {
        assert_eq!(range(0.0, 5.0, 2.0).unwrap().data, Data::Integer(vec![0, 2, 4]));
        assert_eq!(range(5.0, 0.0, -2.0).unwrap().data, Data::Integer(vec![5, 3, 1]));
        assert_eq!(range(5.0, 0.0, 1.0).unwrap().data, Data::Integer(vec![]));
        assert!(range(0.0, 1e9, 1.0).is_none());
    }
}
