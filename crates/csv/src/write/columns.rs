//! The columns of a window.

use std::sync::Arc;

use entasis::{
    Buffer, ColumnInfo, Error, File, Logical, MissingTo, Monitor, Output, Physical, Request, Result, Rows,
    Text, TextLayout, Unit,
};

use super::cells::{Cells, Ending};
use super::format::Format;
use super::print::Printer;
use crate::piece::buffer;

/// How the values of a column are printed.
#[derive(Clone, Debug)]
pub(super) enum Kind {
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
    pub(super) kind: Kind,
    has_missing: bool,
    pub(super) nan_is_missing: bool,
}

/// Fields that are printed once: those of categories.
#[derive(Debug, Default)]
pub(super) struct Fields {
    /// The end of each field, after a 0.
    pub(super) ends: Vec<usize>,
    pub(super) bytes: Vec<u8>,
    /// Whether a category needs quotes, and has to go without.
    pub(super) refused: Vec<bool>,
    /// The most bytes of a field.
    pub(super) longest: usize,
}

/// The values of a column in a window.
pub struct Values<'c> {
    pub(super) column: &'c Column,
    pub(super) words: Buffer,
    pub(super) text: Text,
    pub(super) validity: Option<Buffer>,
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
        let is_signed =
            matches!(physical, Physical::I8 | Physical::I16 | Physical::I32 | Physical::I64 | Physical::I128);
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
            Logical::Decimal if is_signed && of.scale >= 0 => {
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
                let inner = Self::new(file, &named, format, monitor)?;
                Kind::Codes(physical, Arc::new(inner.fields(file, &named.info, format, monitor)?))
            }
            _ => return Err(refused()),
        };
        let has_missing = info.record.n_missing > 0;
        let (name, number) = (info.name.clone(), info.index);
        Ok(Self { name, number, kind, has_missing, nan_is_missing: *nan_is_missing })
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
        let (printer, ending) = (Printer::new(format), Ending::separator(format.separator));
        let (mut fields, mut cells) = (Fields { ends: vec![0], ..Fields::default() }, Cells::default());
        for row in 0..n as usize {
            let printed = printer.print(&values[0], row..row + 1, true, ending, &mut cells);
            fields.refused.push(printed.is_err());
            if printed.is_ok() {
                fields.bytes.extend_from_slice(cells.field(0, ending));
            }
            let len = fields.bytes.len() - fields.ends[row];
            fields.longest = fields.longest.max(len);
            fields.ends.push(fields.bytes.len());
        }
        Ok(fields)
    }
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

impl Values<'_> {
    /// The column.
    pub fn column(&self) -> &Column {
        self.column
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
