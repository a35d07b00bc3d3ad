//! The kinds of R vectors that columns are written from and read into.

use entasis::{ColumnType, Error, Logical, Physical, Result, Unit};

/// The memory layout of an R vector. The numbers are those of `entasis.h` and `R/kinds.R`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// Integers that are booleans or NA.
    Logical,
    /// Integers; NA is missing.
    Integer,
    /// Doubles; one NA is missing, other NaNs are values.
    Double,
    /// Two doubles per value, without missing values.
    Complex,
    /// Bytes.
    Raw,
    /// Strings.
    String,
    /// Integers from 1 on: codes of levels.
    Codes,
    /// 64-bit integers in the memory of doubles.
    Integer64,
    /// Doubles: whole days.
    Days,
    /// Integers: days.
    DaysInteger,
    /// Doubles: seconds since 1970.
    Instant,
    /// Integers: seconds since 1970.
    InstantInteger,
    /// Doubles: durations.
    Span,
    /// Integers: durations.
    SpanInteger,
    /// A list of any values, which are cells.
    List,
    /// Integers: the structure values of a nested column. Lengths of lists; whether a run begins;
    /// the type id in a union; 1 for a struct that is present.
    Words,
    /// A list of raw vectors: bytes of any length. Only for reading.
    Bytes,
    /// Doubles: integers of another host, which may exceed those of R.
    Whole,
}

impl Kind {
    /// The kind of a number.
    pub fn of(code: i32) -> Result<Self> {
        const ALL: [Kind; 18] = [
            Kind::Logical,
            Kind::Integer,
            Kind::Double,
            Kind::Complex,
            Kind::Raw,
            Kind::String,
            Kind::Codes,
            Kind::Integer64,
            Kind::Days,
            Kind::DaysInteger,
            Kind::Instant,
            Kind::InstantInteger,
            Kind::Span,
            Kind::SpanInteger,
            Kind::List,
            Kind::Words,
            Kind::Bytes,
            Kind::Whole,
        ];
        let at = usize::try_from(code).ok().and_then(|code| code.checked_sub(1));
        at.and_then(|at| ALL.get(at).copied()).ok_or_else(|| Error::argument("no such kind of vector"))
    }

    /// Its number.
    pub fn code(self) -> i32 {
        self as i32 + 1
    }

    /// Bytes of a value in R's memory; `None` for strings and lists.
    pub fn width(self) -> Option<usize> {
        match self {
            Self::Logical | Self::Integer | Self::Codes | Self::Words => Some(4),
            Self::DaysInteger | Self::InstantInteger | Self::SpanInteger => Some(4),
            Self::Double | Self::Whole | Self::Integer64 => Some(8),
            Self::Days | Self::Instant | Self::Span => Some(8),
            Self::Complex => Some(16),
            Self::Raw => Some(1),
            Self::String | Self::List | Self::Bytes => None,
        }
    }

    /// The column type for this kind. `unit` is the time unit, `n_levels` the number of levels.
    pub fn column_type(self, unit: Unit, n_levels: u32) -> ColumnType {
        let time = |logical, physical, unit| ColumnType { logical, unit, ..ColumnType::plain(physical) };
        match self {
            Self::Logical => ColumnType::plain(Physical::Bool),
            Self::Integer | Self::Words => ColumnType::plain(Physical::I32),
            Self::Double | Self::Whole => ColumnType::plain(Physical::F64),
            Self::Complex => ColumnType::plain(Physical::Complex128),
            Self::Raw => ColumnType::plain(Physical::U8),
            Self::String => ColumnType::plain(Physical::Utf8),
            Self::Bytes => ColumnType::plain(Physical::Binary),
            Self::Codes => {
                let physical = match n_levels {
                    0..=0x7F => Physical::I8,
                    0x80..=0x7FFF => Physical::I16,
                    _ => Physical::I32,
                };
                time(Logical::Categorical, physical, Unit::None)
            }
            Self::Integer64 if unit != Unit::None => time(Logical::Timestamp, Physical::I64, unit),
            Self::Integer64 => ColumnType::plain(Physical::I64),
            Self::Days | Self::DaysInteger => time(Logical::Date, Physical::I32, Unit::Day),
            Self::Instant => time(Logical::Timestamp, Physical::I64, unit),
            Self::InstantInteger => time(Logical::Timestamp, Physical::I64, Unit::Second),
            Self::Span | Self::SpanInteger => time(Logical::Duration, Physical::I64, unit),
            Self::List => time(Logical::Object, Physical::Null, Unit::None),
        }
    }

    /// Whether this kind can hold a column of the type.
    pub fn takes(self, of: &ColumnType) -> bool {
        use Physical as P;
        let physical = of.physical;
        match self {
            Self::Words => {
                matches!(physical, P::List | P::Map | P::FixedSizeList | P::Struct | P::RunEnd | P::Union)
            }
            Self::Logical => matches!(physical, P::Bool | P::Null),
            Self::Integer => physical.is_integer() && physical != P::U32,
            Self::Whole => matches!(physical, P::I32 | P::I64 | P::U64),
            Self::Double => matches!(physical, P::F64 | P::F32 | P::F16 | P::U32 | P::I32 | P::I64),
            Self::Complex => matches!(physical, P::Complex128 | P::Complex64),
            Self::Raw => physical == P::U8,
            Self::String => physical == P::Utf8,
            Self::Bytes => physical == P::Binary,
            Self::List => false,
            Self::Codes => physical.is_integer(),
            Self::Integer64 => matches!(physical, P::I64 | P::U64),
            Self::DaysInteger => physical == P::I32,
            Self::Days | Self::Instant | Self::InstantInteger | Self::Span | Self::SpanInteger => {
                matches!(physical, P::I32 | P::I64)
            }
        }
    }
}
