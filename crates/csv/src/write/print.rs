//! Prints values of a column, by one loop for each type.

use std::ops::Range;

use bytemuck::{Pod, cast_slice};
use entasis::{Physical, Unit};

use super::cells::{Cells, Ending, SLOT, Slot};
use super::columns::{Fields, Kind, half};
use super::format::{Format, Quoting};
use super::rows::{Offsets, Values};
use super::strings::Strings;
use super::{numbers, times};
use crate::values::formats::Own;

/// The row of a string that needs quotes and has to go without, or of a time that its format does
/// not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused(pub usize);

/// Prints values.
pub struct Printer {
    strings: Strings,
    missing: Vec<u8>,
    decimal: u8,
    quote: u8,
    /// Whether numbers and booleans are quoted, and times.
    quotes_numbers: bool,
    quotes_times: bool,
    is_short: bool,
}

/// Some rows of a column on their way into cells.
struct Part<'a> {
    values: &'a Values<'a>,
    rows: Range<usize>,
    printer: &'a Printer,
    ending: Ending,
    cells: &'a mut Cells,
}

impl Printer {
    /// A printer for a format.
    pub fn new(format: &Format) -> Self {
        Self {
            strings: Strings::new(format),
            missing: format.missing.clone().into_bytes(),
            decimal: format.decimal,
            quote: format.quote,
            quotes_numbers: format.quoting == Quoting::All,
            quotes_times: matches!(format.quoting, Quoting::All | Quoting::NonNumeric),
            is_short: format.is_short,
        }
    }

    /// Appends a name with its ending.
    ///
    /// # Errors
    /// If it needs quotes and has to go without.
    pub fn name(&self, name: &str, is_first: bool, ending: Ending, out: &mut Vec<u8>) -> Result<(), Refused> {
        let mut cells = Cells::default();
        let has_special = self.strings.has_special(name.as_bytes());
        cells.clear(self.strings.most(name.as_bytes(), 1, has_special) + ending.len());
        let place = (is_first, has_special);
        let printed = self.strings.append(name.as_bytes(), (0, name.len()), place, &mut cells);
        printed.map_err(|_| Refused(0))?;
        cells.end(ending);
        let len = super::cells::join(std::slice::from_mut(&mut cells), 1, out, out.len());
        out.truncate(len);
        Ok(())
    }

    /// Prints rows of a column into cells, whose fields they replace.
    ///
    /// # Errors
    /// If a string needs quotes and has to go without.
    pub fn print(
        &self,
        values: &Values<'_>,
        rows: Range<usize>,
        is_first: bool,
        ending: Ending,
        cells: &mut Cells,
    ) -> Result<(), Refused> {
        let mark = self.decimal;
        let column = values.column;
        let part = Part { values, rows, printer: self, ending, cells };
        if let Some(own) = &column.form {
            return part.formed(own);
        }
        match column.kind {
            Kind::Strings | Kind::Nested(_) => return part.strings(is_first),
            Kind::Codes(of, ref fields) => return part.codes(of, fields),
            Kind::Null => part.fields(false, |_| true, |_, _| 0),
            Kind::Bool => part.fields(
                self.quotes_numbers,
                |_| false,
                |row, slot| {
                    let is_true = values.words[row] != 0;
                    slot[..5].copy_from_slice(if is_true { b"true " } else { b"false" });
                    5 - usize::from(is_true)
                },
            ),
            Kind::Integer(of) => match of {
                Physical::I8 => part.integers::<i8>(),
                Physical::I16 => part.integers::<i16>(),
                Physical::I32 => part.integers::<i32>(),
                Physical::U8 => part.integers::<u8>(),
                Physical::U16 => part.integers::<u16>(),
                Physical::U32 => part.integers::<u32>(),
                Physical::U64 => part.numbers(|value: u64, slot| numbers::unsigned(value, slot, 0)),
                Physical::I128 => part.numbers(|value: i128, slot| numbers::wide(value, slot)),
                Physical::U128 => part.numbers(|value: u128, slot| numbers::wide(value, slot)),
                _ => part.integers::<i64>(),
            },
            Kind::Float(of) if self.is_short => {
                part.floats(of, |value, slot| numbers::short_float(value, mark, slot));
            }
            Kind::Float(Physical::F32) => {
                let is_missing = |value: f32| value.is_nan() && column.nan_is_missing;
                part.each(self.quotes_numbers, is_missing, |value, slot| numbers::float(value, mark, slot));
            }
            Kind::Float(of) => part.floats(of, |value, slot| numbers::float(value, mark, slot)),
            Kind::Decimal { physical: Physical::I128, scale } => {
                part.numbers(|value: i128, slot| numbers::decimal(value, scale, mark, slot));
            }
            Kind::Decimal { physical, scale } => {
                part.counts(physical, self.quotes_numbers, |value, slot| {
                    numbers::decimal(value.into(), scale, mark, slot)
                });
            }
            Kind::Date(of, Unit::Day) | Kind::Timestamp { physical: of, unit: Unit::Day, .. } => {
                part.counts(of, self.quotes_times, times::date);
            }
            Kind::Date(of, _) => part.counts(of, self.quotes_times, |count, slot| {
                if count % 86_400_000 == 0 {
                    times::date(count / 86_400_000, slot)
                } else {
                    times::timestamp(count, Unit::Millisecond, false, slot)
                }
            }),
            Kind::Timestamp { physical, unit, is_utc } => {
                part.counts(physical, self.quotes_times, |count, slot| {
                    times::timestamp(count, unit, is_utc, slot)
                });
            }
            Kind::Time(of, unit) => {
                part.counts(of, self.quotes_times, |count, slot| times::time(count, unit, slot));
            }
            Kind::Duration(of, unit) => {
                part.counts(of, self.quotes_times, |count, slot| times::duration(count, unit, slot));
            }
            Kind::Uuid => part.each(self.quotes_times, |_: [u8; 16]| false, |bytes, slot| uuid(&bytes, slot)),
        }
        Ok(())
    }
}

impl Part<'_> {
    /// Integers that 64 bits with a sign hold.
    fn integers<T: Pod + Into<i64>>(self) {
        self.numbers(|value: T, slot| numbers::signed(value.into(), slot));
    }

    /// Numbers of a type.
    #[inline(always)]
    fn numbers<T: Pod>(self, print: impl Fn(T, &mut Slot) -> usize) {
        let is_quoted = self.printer.quotes_numbers;
        self.each(is_quoted, |_| false, print);
    }

    /// Floats of a type as doubles.
    fn floats(self, of: Physical, print: impl Fn(f64, &mut Slot) -> usize) {
        let (is_quoted, nan_is_missing) = (self.printer.quotes_numbers, self.values.column.nan_is_missing);
        let is_missing = |value: f64| value.is_nan() && nan_is_missing;
        match of {
            Physical::F64 => self.each(is_quoted, is_missing, print),
            Physical::F32 => {
                self.each(
                    is_quoted,
                    |value: f32| is_missing(value.into()),
                    |value, slot| print(value.into(), slot),
                );
            }
            _ => {
                let wide = |bits: u16| f64::from(half(bits));
                self.each(is_quoted, |bits| is_missing(wide(bits)), |bits, slot| print(wide(bits), slot));
            }
        }
    }

    /// Integers of a type as counts of something.
    #[inline(always)]
    fn counts(self, of: Physical, is_quoted: bool, print: impl Fn(i64, &mut Slot) -> usize) {
        match of {
            Physical::I8 => self.each(is_quoted, |_| false, |value: i8, slot| print(value.into(), slot)),
            Physical::I16 => self.each(is_quoted, |_| false, |value: i16, slot| print(value.into(), slot)),
            Physical::I32 => self.each(is_quoted, |_| false, |value: i32, slot| print(value.into(), slot)),
            _ => self.each(is_quoted, |_| false, print),
        }
    }

    /// Values of a type.
    #[inline(always)]
    fn each<T: Pod>(
        self,
        is_quoted: bool,
        is_missing: impl Fn(T) -> bool,
        print: impl Fn(T, &mut Slot) -> usize,
    ) {
        let values: &[T] = cast_slice(self.values.words);
        self.fields(is_quoted, |row| is_missing(values[row]), |row, slot| print(values[row], slot));
    }

    /// Fields of rows of another type than strings. Those without a value are missing, and those
    /// for which `is_missing` is true.
    #[inline(always)]
    fn fields(
        self,
        is_quoted: bool,
        is_missing: impl Fn(usize) -> bool,
        print: impl Fn(usize, &mut Slot) -> usize,
    ) {
        let Self { values, rows, printer, ending, cells } = self;
        cells.clear(rows.len() * (SLOT + 2 + printer.missing.len() + ending.len()));
        let validity = values.validity;
        for row in rows {
            if validity.is_some_and(|bits| bits[row / 8] >> (row % 8) & 1 == 0) || is_missing(row) {
                cells.push(&printer.missing);
                cells.end(ending);
            } else if is_quoted {
                let mut slot = [0; SLOT];
                let len = print(row, &mut slot);
                cells.push(&[printer.quote]);
                cells.push(&slot[..len]);
                cells.push(&[printer.quote]);
                cells.end(ending);
            } else {
                cells.print(ending, |slot| print(row, slot));
            }
        }
    }

    /// Dates or times in a format of the user.
    fn formed(self, own: &Own) -> Result<(), Refused> {
        let Self { values, rows, printer, ending, cells } = self;
        let (of, unit) = match values.column.kind {
            Kind::Date(of, unit) | Kind::Timestamp { physical: of, unit, .. } => (of, unit),
            _ => unreachable!("only dates and times have formats"),
        };
        let (days, counts): (&[i32], &[i64]) = match of {
            Physical::I32 => (cast_slice(values.words), &[]),
            _ => (&[], cast_slice(values.words)),
        };
        cells.clear(0);
        let mut field = Vec::new();
        for row in rows {
            field.clear();
            if values.validity.is_some_and(|bits| bits[row / 8] >> (row % 8) & 1 == 0) {
                field.extend_from_slice(&printer.missing);
            } else {
                let count = days.get(row).map_or_else(|| counts[row], |&days| days.into());
                let (seconds, nanoseconds) = match unit {
                    Unit::Day => (count.saturating_mul(86_400), 0),
                    unit => times::split(count, unit),
                };
                let quote: &[u8] = if printer.quotes_times { &[printer.quote] } else { b"" };
                field.extend_from_slice(quote);
                if !own.write(seconds, nanoseconds, &mut field) {
                    return Err(Refused(row));
                }
                field.extend_from_slice(quote);
            }
            cells.reserve(field.len());
            cells.push(&field);
            cells.end(ending);
        }
        Ok(())
    }

    fn strings(self, is_first: bool) -> Result<(), Refused> {
        match self.values.offsets {
            Offsets::U32(offsets) => self.strings_at(is_first, |row| offsets[row] as usize),
            Offsets::I64(offsets) => self.strings_at(is_first, |row| offsets[row] as usize),
        }
    }

    #[inline(always)]
    fn strings_at(self, is_first: bool, offset: impl Fn(usize) -> usize) -> Result<(), Refused> {
        let Self { values, rows, printer, ending, cells } = self;
        let bytes = values.bytes;
        let (mut start, end) = (offset(rows.start), offset(rows.end));
        let text = &bytes[start..end];
        let place = (is_first, printer.strings.has_special(text));
        let n = rows.len();
        cells.clear(printer.strings.most(text, n, place.1) + n * ending.len());
        for row in rows {
            let end = offset(row + 1);
            if values.validity.is_some_and(|bits| bits[row / 8] >> (row % 8) & 1 == 0) {
                cells.push(&printer.missing);
            } else {
                let printed = printer.strings.append(bytes, (start, end), place, cells);
                printed.map_err(|_| Refused(row))?;
            }
            cells.end(ending);
            start = end;
        }
        Ok(())
    }

    fn codes(self, of: Physical, fields: &Fields) -> Result<(), Refused> {
        match of {
            Physical::I8 => self.codes_as::<i8>(fields),
            Physical::I16 => self.codes_as::<i16>(fields),
            Physical::I32 => self.codes_as::<i32>(fields),
            Physical::U8 => self.codes_as::<u8>(fields),
            Physical::U16 => self.codes_as::<u16>(fields),
            Physical::U32 => self.codes_as::<u32>(fields),
            _ => self.codes_as::<i64>(fields),
        }
    }

    fn codes_as<T: Pod + Into<i64>>(self, fields: &Fields) -> Result<(), Refused> {
        let Self { values, rows, printer, ending, cells } = self;
        let codes: &[T] = cast_slice(values.words);
        cells.clear(rows.len() * (fields.longest.max(printer.missing.len()) + ending.len()));
        let validity = values.validity;
        for row in rows {
            let code = codes[row].into() as usize;
            if validity.is_some_and(|bits| bits[row / 8] >> (row % 8) & 1 == 0) {
                cells.push(&printer.missing);
            } else if let Some(&[start, end]) = fields.ends.get(code..code.saturating_add(2)) {
                if fields.refused[code] {
                    return Err(Refused(row));
                }
                cells.push_part(&fields.bytes, start, end);
            }
            cells.end(ending);
        }
        Ok(())
    }
}

/// Writes a UUID. Returns its length.
fn uuid(bytes: &[u8; 16], slot: &mut Slot) -> usize {
    let mut at = 0;
    for (i, byte) in bytes.iter().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            slot[at] = b'-';
            at += 1;
        }
        for digit in [byte >> 4, byte & 15] {
            slot[at] = b"0123456789abcdef"[usize::from(digit)];
            at += 1;
        }
    }
    at
}
