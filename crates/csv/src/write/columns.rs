//! Columns of a text that is written: their types.

use std::sync::Arc;

use entasis::{ColumnInfo, ColumnType, Logical, Physical, Unit, Value};

use super::nested::Nested;
use crate::values::formats::Own;

/// How the values of a column are printed.
#[derive(Clone, Debug)]
pub enum Kind {
    /// All are missing.
    Null,
    /// Booleans.
    Bool,
    /// Integers.
    Integer(Physical),
    /// Floats.
    Float(Physical),
    /// Integers of so many decimals.
    Decimal {
        /// Their type.
        physical: Physical,
        /// The decimals.
        scale: usize,
    },
    /// Days, or milliseconds of whole days or not.
    Date(Physical, Unit),
    /// Units after 1970.
    Timestamp {
        /// Their type.
        physical: Physical,
        /// The unit.
        unit: Unit,
        /// Whether they are in UTC.
        is_utc: bool,
    },
    /// Units after midnight.
    Time(Physical, Unit),
    /// Units.
    Duration(Physical, Unit),
    /// UUIDs.
    Uuid,
    /// Strings.
    Strings,
    /// Values of a nested column, as strings.
    Nested(Arc<dyn Nested>),
    /// Codes of categories.
    Codes(Physical, Arc<Fields>),
}

/// Fields that are printed once: those of categories.
#[derive(Debug, Default)]
pub struct Fields {
    /// The end of each field, after a 0.
    pub ends: Vec<usize>,
    /// All fields.
    pub bytes: Vec<u8>,
    /// Whether a category needs quotes, and has to go without.
    pub refused: Vec<bool>,
    /// The most bytes of a field.
    pub longest: usize,
}

/// A column to write.
#[derive(Clone, Debug)]
pub struct Selected {
    /// The column, with the name that is written.
    pub info: ColumnInfo,
    /// Whether NaN is a missing value.
    pub nan_is_missing: bool,
}

/// A column with the way in which it is printed.
#[derive(Clone, Debug)]
pub struct Column {
    /// The name.
    pub name: String,
    /// The number in its file or frame.
    pub number: u64,
    /// The type.
    pub kind: Kind,
    /// Whether values of a file are missing.
    pub has_missing: bool,
    /// Whether NaN is a missing value.
    pub nan_is_missing: bool,
    /// The format of the user of dates and times.
    pub form: Option<Own>,
}

impl Kind {
    /// The kind of a column that is not categorical; `None` if a text has no such values.
    pub fn of(of: &ColumnType, detail: Option<&Value>) -> Option<Self> {
        let physical = of.physical;
        let is_signed =
            matches!(physical, Physical::I8 | Physical::I16 | Physical::I32 | Physical::I64 | Physical::I128);
        let is_unsigned =
            matches!(physical, Physical::U8 | Physical::U16 | Physical::U32 | Physical::U64 | Physical::U128);
        let is_count = matches!(physical, Physical::I32 | Physical::I64);
        let is_clock =
            matches!(of.unit, Unit::Second | Unit::Millisecond | Unit::Microsecond | Unit::Nanosecond);
        let kind = match of.logical {
            Logical::Plain if physical == Physical::Null => Self::Null,
            Logical::Plain if physical == Physical::Bool => Self::Bool,
            Logical::Plain if is_signed || is_unsigned => Self::Integer(physical),
            Logical::Plain if matches!(physical, Physical::F16 | Physical::F32 | Physical::F64) => {
                Self::Float(physical)
            }
            Logical::Plain | Logical::Json if physical == Physical::Utf8 => Self::Strings,
            Logical::Decimal if is_signed && of.scale >= 0 => {
                Self::Decimal { physical, scale: usize::from(of.scale.unsigned_abs()) }
            }
            Logical::Date if is_count && matches!(of.unit, Unit::Day | Unit::Millisecond) => {
                Self::Date(physical, of.unit)
            }
            Logical::Timestamp if is_count && (is_clock || of.unit == Unit::Day) => {
                Self::Timestamp { physical, unit: of.unit, is_utc: detail.is_some() }
            }
            Logical::Time if is_count && is_clock => Self::Time(physical, of.unit),
            Logical::Duration if is_count && is_clock => Self::Duration(physical, of.unit),
            Logical::Uuid if physical == Physical::FixedBytes => Self::Uuid,
            _ => return None,
        };
        Some(kind)
    }

    /// The bytes of a value in memory; 0 for strings.
    pub fn width(&self) -> usize {
        match self {
            Self::Null | Self::Strings | Self::Nested(_) => 0,
            Self::Bool => 1,
            Self::Integer(of)
            | Self::Float(of)
            | Self::Decimal { physical: of, .. }
            | Self::Date(of, _)
            | Self::Timestamp { physical: of, .. }
            | Self::Time(of, _)
            | Self::Duration(of, _)
            | Self::Codes(of, _) => of.width().unwrap_or(16),
            Self::Uuid => 16,
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
