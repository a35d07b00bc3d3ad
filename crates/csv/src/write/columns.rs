//! The columns of a window, as fields.

use std::sync::Arc;

use entasis::{
    Buffer, ColumnInfo, Error, File, Logical, MissingTo, Monitor, Output, Physical, Request, Result, Rows,
    Text, TextLayout, Unit,
};

use super::format::{Format, Quoting};
use super::numbers;
use super::strings::{NeedsQuotes, Strings};
use super::times;
use crate::piece::buffer;
use crate::problems::start;
use crate::values::formats::Own;

/// Nothing, or that a field needs quotes and has to go without.
type Printed = std::result::Result<(), NeedsQuotes>;

/// How the values of a column are printed.
#[derive(Clone, Debug)]
enum Kind {
    Null,
    Bool,
    Integer(Physical),
    Float(Physical),
    Decimal {
        physical: Physical,
        scale: usize,
    },
    /// Days, or milliseconds of whole days or not.
    Date(Physical, Unit),
    Timestamp {
        physical: Physical,
        unit: Unit,
        is_utc: bool,
    },
    Time(Physical, Unit),
    Duration(Physical, Unit),
    Uuid,
    Strings,
    /// Codes of categories.
    Codes(Physical, Arc<Fields>),
}

/// A column to write.
#[derive(Clone, Debug)]
pub struct Selected {
    /// The column, with the name that is written.
    pub info: ColumnInfo,
    /// Whether NaN is a missing value.
    pub nan_is_missing: bool,
}

/// A column of the file.
#[derive(Clone, Debug)]
pub struct Column {
    name: String,
    number: u64,
    kind: Kind,
    has_missing: bool,
    nan_is_missing: bool,
    /// The format of the user of dates and times.
    form: Option<Own>,
}

/// Fields that are printed once: those of categories.
#[derive(Debug, Default)]
struct Fields {
    ends: Vec<usize>,
    bytes: Vec<u8>,
    /// The category that needs quotes, and has to go without.
    refused: Vec<bool>,
}

/// The values of a column in a window.
pub struct Values<'c> {
    column: &'c Column,
    words: Buffer,
    text: Text,
    validity: Option<Buffer>,
}

impl Column {
    /// A column of a file, whose categories are read.
    ///
    /// # Errors
    /// *Unsupported* for types that a text does not have; errors of reading.
    pub fn new(file: &File, selected: &Selected, format: &Format, monitor: &dyn Monitor) -> Result<Self> {
        let Selected { info, nan_is_missing } = selected;
        let of = &info.record.column_type;
        let physical = of.physical;
        let refused = || {
            let type_name = entasis::type_name(of, info.detail.as_ref());
            let message = format!("a text has no values of type {type_name}");
            Error::unsupported(message)
                .advise("leave the column out, or change its type")
                .in_column(&info.name)
        };
        let is_integer = matches!(
            physical,
            Physical::I8
                | Physical::I16
                | Physical::I32
                | Physical::I64
                | Physical::U8
                | Physical::U16
                | Physical::U32
                | Physical::U64
                | Physical::I128
                | Physical::U128
        );
        let is_count = matches!(physical, Physical::I32 | Physical::I64);
        let is_clock =
            matches!(of.unit, Unit::Second | Unit::Millisecond | Unit::Microsecond | Unit::Nanosecond);
        let kind = match of.logical {
            Logical::Plain if physical == Physical::Null => Kind::Null,
            Logical::Plain if physical == Physical::Bool => Kind::Bool,
            Logical::Plain if is_integer => Kind::Integer(physical),
            Logical::Plain if matches!(physical, Physical::F16 | Physical::F32 | Physical::F64) => {
                Kind::Float(physical)
            }
            Logical::Plain | Logical::Json if physical == Physical::Utf8 => Kind::Strings,
            Logical::Decimal if is_integer && of.scale >= 0 => {
                Kind::Decimal { physical, scale: usize::from(of.scale.unsigned_abs()) }
            }
            Logical::Date if is_count && matches!(of.unit, Unit::Day | Unit::Millisecond) => {
                Kind::Date(physical, of.unit)
            }
            Logical::Timestamp if is_count && (is_clock || of.unit == Unit::Day) => {
                Kind::Timestamp { physical, unit: of.unit, is_utc: info.detail.is_some() }
            }
            Logical::Time if is_count && is_clock => Kind::Time(physical, of.unit),
            Logical::Duration if is_count && is_clock => Kind::Duration(physical, of.unit),
            Logical::Uuid if physical == Physical::FixedBytes => Kind::Uuid,
            Logical::Categorical => {
                let dictionary = info.record.dictionary.ok_or_else(refused)?;
                let categories = file.column(dictionary)?;
                if categories.record.column_type.logical == Logical::Categorical {
                    return Err(refused());
                }
                let named = ColumnInfo { name: info.name.clone(), ..(*categories).clone() };
                let named = Selected { info: named, nan_is_missing: false };
                let plain = Format { dates: Vec::new(), ..format.clone() };
                let inner = Self::new(file, &named, &plain, monitor)?;
                Kind::Codes(physical, Arc::new(inner.fields(file, &named.info, format, monitor)?))
            }
            _ => return Err(refused()),
        };
        let has_missing = info.record.n_missing > 0;
        let (name, number) = (info.name.clone(), info.index);
        let form = form(&name, &kind, format)?;
        Ok(Self { name, number, kind, has_missing, nan_is_missing: *nan_is_missing, form })
    }

    /// Whether its values have a format of the user.
    pub fn has_form(&self) -> bool {
        self.form.is_some()
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The fields of all values, each printed once.
    fn fields(
        &self,
        file: &File,
        info: &ColumnInfo,
        format: &Format,
        monitor: &dyn Monitor,
    ) -> Result<Fields> {
        let n = info.record.n_values;
        let values = read(file, std::slice::from_ref(self), Rows::Range(0..n), n as usize, monitor)?;
        let (mut fields, printer) = (Fields::default(), Printer::new(format));
        for row in 0..n as usize {
            let printed = values[0].field(row, &printer, true, &mut fields.bytes);
            fields.refused.push(printed.is_err());
            fields.ends.push(fields.bytes.len());
        }
        Ok(fields)
    }
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

/// The bytes of a value in memory.
fn width(physical: Physical) -> usize {
    physical.width().unwrap_or(16)
}

/// Reads rows of columns by one thread.
///
/// # Errors
/// Errors of reading, *out of memory*.
pub fn read<'c>(
    file: &File,
    columns: &'c [Column],
    rows: Rows,
    n: usize,
    monitor: &dyn Monitor,
) -> Result<Vec<Values<'c>>> {
    let mut values = Vec::with_capacity(columns.len());
    for column in columns {
        let width = match &column.kind {
            Kind::Null | Kind::Strings => 0,
            Kind::Bool => 1,
            Kind::Integer(of)
            | Kind::Float(of)
            | Kind::Decimal { physical: of, .. }
            | Kind::Date(of, _)
            | Kind::Timestamp { physical: of, .. }
            | Kind::Time(of, _)
            | Kind::Duration(of, _)
            | Kind::Codes(of, _) => width(*of),
            Kind::Uuid => 16,
        };
        let has_bits = column.has_missing && !matches!(column.kind, Kind::Null);
        let validity = if has_bits { Some(buffer(n.div_ceil(8))?) } else { None };
        values.push(Values {
            column,
            words: buffer(n * width)?,
            text: Text::new(TextLayout::Large),
            validity,
        });
    }
    let requests = values.iter_mut().filter_map(|values| {
        let output = match values.column.kind {
            Kind::Null => return None,
            Kind::Bool => Output::Bools(&mut values.words),
            Kind::Strings => Output::Text(&mut values.text),
            _ => Output::Words(&mut values.words),
        };
        let missing = values.validity.as_deref_mut().map_or(MissingTo::Ignore, MissingTo::Bits);
        Some(Request { column: values.column.number, rows: rows.clone(), output, missing })
    });
    let requests = requests.collect();
    file.read(requests, Some(1), monitor)?;
    Ok(values)
}

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

    /// Appends a string.
    ///
    /// # Errors
    /// If it needs quotes and has to go without.
    pub fn string(&self, text: &str, is_first: bool, out: &mut Vec<u8>) -> Printed {
        self.strings.append(text.as_bytes(), is_first, out)
    }
}

impl Values<'_> {
    /// The column.
    pub fn column(&self) -> &Column {
        self.column
    }

    #[inline(always)]
    fn word<const N: usize>(&self, row: usize) -> [u8; N] {
        self.words[N * row..].first_chunk().copied().unwrap_or([0; N])
    }

    #[inline(always)]
    fn count(&self, physical: Physical, row: usize) -> i64 {
        match physical {
            Physical::I8 => i64::from(i8::from_le_bytes(self.word(row))),
            Physical::I16 => i64::from(i16::from_le_bytes(self.word(row))),
            Physical::I32 => i64::from(i32::from_le_bytes(self.word(row))),
            Physical::I64 => i64::from_le_bytes(self.word(row)),
            Physical::U8 => i64::from(self.words[row]),
            Physical::U16 => i64::from(u16::from_le_bytes(self.word(row))),
            Physical::U32 => i64::from(u32::from_le_bytes(self.word(row))),
            _ => u64::from_le_bytes(self.word(row)) as i64,
        }
    }

    /// Appends the field of a row.
    ///
    /// # Errors
    /// If it needs quotes and has to go without.
    #[inline(always)]
    pub fn field(&self, row: usize, printer: &Printer, is_first: bool, out: &mut Vec<u8>) -> Printed {
        if let Some(bits) = &self.validity
            && bits[row / 8] >> (row % 8) & 1 == 0
        {
            out.extend_from_slice(&printer.missing);
            return Ok(());
        }
        if self.column.nan_is_missing
            && let Kind::Float(physical) = self.column.kind
            && self.float(physical, row).is_nan()
        {
            out.extend_from_slice(&printer.missing);
            return Ok(());
        }
        let is_quoted = match self.column.kind {
            Kind::Null | Kind::Strings | Kind::Codes(..) => false,
            Kind::Bool | Kind::Integer(_) | Kind::Float(_) | Kind::Decimal { .. } => printer.quotes_numbers,
            _ => printer.quotes_times,
        };
        if is_quoted {
            out.push(printer.quote);
        }
        if let Some(own) = &self.column.form {
            self.formed(own, row, out)?;
            if is_quoted {
                out.push(printer.quote);
            }
            return Ok(());
        }
        match &self.column.kind {
            Kind::Null => out.extend_from_slice(&printer.missing),
            Kind::Bool => {
                let text: &[u8] = if self.words[row] == 0 { b"false" } else { b"true" };
                out.extend_from_slice(text);
            }
            Kind::Integer(Physical::U64) => numbers::integer(u64::from_le_bytes(self.word(row)), out),
            Kind::Integer(Physical::I128) => numbers::integer(i128::from_le_bytes(self.word(row)), out),
            Kind::Integer(Physical::U128) => numbers::integer(u128::from_le_bytes(self.word(row)), out),
            Kind::Integer(physical) => numbers::integer(self.count(*physical, row), out),
            Kind::Float(Physical::F32) if !printer.is_short => {
                numbers::float(f32::from_le_bytes(self.word(row)), printer.decimal, out);
            }
            Kind::Float(physical) if printer.is_short => {
                numbers::short_float(self.float(*physical, row), printer.decimal, out);
            }
            Kind::Float(physical) => numbers::float(self.float(*physical, row), printer.decimal, out),
            Kind::Decimal { physical, scale } => {
                let value = match physical {
                    Physical::I128 => i128::from_le_bytes(self.word(row)),
                    physical => i128::from(self.count(*physical, row)),
                };
                numbers::decimal(value, *scale, printer.decimal, out);
            }
            Kind::Date(physical, Unit::Day) => times::date(self.count(*physical, row), out),
            Kind::Date(physical, _) => {
                let count = self.count(*physical, row);
                if count % 86_400_000 == 0 {
                    times::date(count / 86_400_000, out);
                } else {
                    times::timestamp(count, Unit::Millisecond, false, out);
                }
            }
            Kind::Timestamp { physical, unit: Unit::Day, .. } => times::date(self.count(*physical, row), out),
            Kind::Timestamp { physical, unit, is_utc } => {
                times::timestamp(self.count(*physical, row), *unit, *is_utc, out);
            }
            Kind::Time(physical, unit) => {
                let count = self.count(*physical, row);
                if !times::time(count, *unit, out) {
                    times::duration(count, *unit, out);
                }
            }
            Kind::Duration(physical, unit) => times::duration(self.count(*physical, row), *unit, out),
            Kind::Uuid => uuid(&self.word(row), out),
            Kind::Strings => {
                let offset = |i: usize| {
                    let bytes = self.text.offsets.get(8 * i..).and_then(<[u8]>::first_chunk);
                    bytes.map_or(0, |bytes| i64::from_le_bytes(*bytes) as usize)
                };
                let bytes = self.text.bytes.first().map_or(&[][..], |bytes| bytes);
                return printer.strings.append(&bytes[offset(row)..offset(row + 1)], is_first, out);
            }
            Kind::Codes(physical, fields) => {
                let code = self.count(*physical, row) as usize;
                let end = fields.ends.get(code).copied().unwrap_or(0);
                let start =
                    code.checked_sub(1).and_then(|before| fields.ends.get(before)).copied().unwrap_or(0);
                if fields.refused.get(code).copied().unwrap_or(false) {
                    return Err(NeedsQuotes);
                }
                out.extend_from_slice(&fields.bytes[start..end]);
            }
        }
        if is_quoted {
            out.push(printer.quote);
        }
        Ok(())
    }

    /// Appends a date or a time in a format of the user.
    fn formed(&self, own: &Own, row: usize, out: &mut Vec<u8>) -> Printed {
        let (seconds, nanoseconds) = match self.column.kind {
            Kind::Date(physical, Unit::Day) | Kind::Timestamp { physical, unit: Unit::Day, .. } => {
                (self.count(physical, row).saturating_mul(86_400), 0)
            }
            Kind::Date(physical, unit) | Kind::Timestamp { physical, unit, .. } => {
                times::split(self.count(physical, row), unit)
            }
            _ => return Ok(()),
        };
        if own.write(seconds, nanoseconds, out) { Ok(()) } else { Err(NeedsQuotes) }
    }

    #[inline(always)]
    fn float(&self, physical: Physical, row: usize) -> f64 {
        match physical {
            Physical::F64 => f64::from_le_bytes(self.word(row)),
            Physical::F32 => f64::from(f32::from_le_bytes(self.word(row))),
            _ => f64::from(half(u16::from_le_bytes(self.word(row)))),
        }
    }
}

/// The half-precision float with these bits.
pub fn half(bits: u16) -> f32 {
    let (exponent, fraction) = ((bits >> 10) & 31, f32::from(bits & 1023));
    let size = match exponent {
        0 => fraction * (-24f32).exp2(),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1024.0 + fraction) * (f32::from(exponent) - 25.0).exp2(),
    };
    if bits >> 15 == 1 { -size } else { size }
}

fn uuid(bytes: &[u8; 16], out: &mut Vec<u8>) {
    for (i, byte) in bytes.iter().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            out.push(b'-');
        }
        for digit in [byte >> 4, byte & 15] {
            out.push(b"0123456789abcdef"[usize::from(digit)]);
        }
    }
}
