//! The types of columns (`docs/format/columns.md`).

use crate::bytes::len64;
use crate::error::{Error, Result};
use crate::limits::{MAX_PAGE_LEN, MAX_PAGE_VALUES};

codes! {
    /// How a value is stored.
    Physical: u8 {
        /// No bytes: every value is missing.
        Null = 0, "null";
        /// True or false.
        Bool = 1, "bool";
        /// Signed, 8 bits.
        I8 = 2, "i8";
        /// Signed, 16 bits.
        I16 = 3, "i16";
        /// Signed, 32 bits.
        I32 = 4, "i32";
        /// Signed, 64 bits.
        I64 = 5, "i64";
        /// Unsigned, 8 bits.
        U8 = 6, "u8";
        /// Unsigned, 16 bits.
        U16 = 7, "u16";
        /// Unsigned, 32 bits.
        U32 = 8, "u32";
        /// Unsigned, 64 bits.
        U64 = 9, "u64";
        /// Half precision.
        F16 = 10, "f16";
        /// Single precision.
        F32 = 11, "f32";
        /// Double precision.
        F64 = 12, "f64";
        /// Two single precision numbers.
        Complex64 = 13, "complex64";
        /// Two double precision numbers.
        Complex128 = 14, "complex128";
        /// UTF-8 text.
        Utf8 = 15, "utf8";
        /// Bytes.
        Binary = 16, "binary";
        /// Signed, 128 bits.
        I128 = 17, "i128";
        /// Rows of `value_len` bytes.
        I256 = 18, "i256";
        /// The C type long double where it has 80 bits, in 16 bytes.
        LongDouble = 19, "long double";
        /// As many bytes as the column says.
        FixedBytes = 20, "fixed bytes";
        /// A list of values of one child.
        List = 21, "list";
        /// A list of `value_len` values of one child.
        FixedSizeList = 22, "fixed-size list";
        /// A value of each child.
        Struct = 23, "struct";
        /// A list of pairs: values of a child that is a struct of two fields.
        Map = 24, "map";
        /// A value of one of the children.
        Union = 25, "union";
        /// A value of one of the children, or a missing one.
        ValueColumn = 26, "value column";
        /// A value of the child, shared by consecutive rows.
        RunEnd = 27, "run-end";
        /// Unsigned, 128 bits.
        U128 = 28, "u128";
    }
}

impl Physical {
    /// Bytes of a value. None for null, bool, utf8, binary and nested types, and for fixed bytes,
    /// whose [`Layout`] knows.
    #[inline]
    pub const fn width(self) -> Option<usize> {
        match self {
            Self::Null | Self::Bool | Self::Utf8 | Self::Binary | Self::FixedBytes => None,
            Self::I8 | Self::U8 => Some(1),
            Self::I16 | Self::U16 | Self::F16 => Some(2),
            Self::I32 | Self::U32 | Self::F32 => Some(4),
            Self::I64 | Self::U64 | Self::F64 | Self::Complex64 => Some(8),
            Self::Complex128 | Self::I128 | Self::U128 | Self::LongDouble => Some(16),
            Self::I256 => Some(32),
            _ => None,
        }
    }

    /// Whether values are in children.
    #[inline]
    pub const fn is_nested(self) -> bool {
        self.code() >= Self::List.code() && self.code() <= Self::RunEnd.code()
    }

    /// Whether values differ in length: utf8 and binary.
    #[inline]
    pub const fn is_var(self) -> bool {
        matches!(self, Self::Utf8 | Self::Binary)
    }

    /// Whether it is one of the eight integers of up to 64 bits.
    #[inline]
    pub const fn is_integer(self) -> bool {
        matches!(
            self,
            Self::I8 | Self::I16 | Self::I32 | Self::I64 | Self::U8 | Self::U16 | Self::U32 | Self::U64
        )
    }

    /// Whether it is an integer with a sign.
    #[inline]
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }

    /// Whether it is f16, f32 or f64.
    #[inline]
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64)
    }
}

/// How the values of a column are stored: the physical type, with the length of fixed bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Layout {
    /// The physical type.
    pub physical: Physical,
    /// Bytes of a value of fixed bytes; otherwise 0.
    pub value_len: u32,
}

impl From<Physical> for Layout {
    fn from(physical: Physical) -> Self {
        Self::of(physical, 0)
    }
}

impl Layout {
    /// The layout of values, or of the structure values of a nested type.
    #[inline]
    const fn of(physical: Physical, value_len: u32) -> Self {
        match physical {
            Physical::List | Physical::Map => Self { physical: Physical::U32, value_len: 0 },
            Physical::FixedSizeList | Physical::Struct => Self::fixed(0),
            Physical::Union | Physical::ValueColumn => Self { physical: Physical::U8, value_len: 0 },
            Physical::RunEnd => Self { physical: Physical::Bool, value_len: 0 },
            physical => Self { physical, value_len },
        }
    }

    /// Fixed bytes.
    pub const fn fixed(value_len: u32) -> Self {
        Self { physical: Physical::FixedBytes, value_len }
    }

    /// Bytes of a value; none for null, bool, utf8 and binary.
    #[inline]
    pub const fn width(self) -> Option<usize> {
        match self.physical {
            // Lossless on platforms with addresses of 32 bits or more.
            Physical::FixedBytes => Some(self.value_len as usize),
            physical => physical.width(),
        }
    }

    /// Whether values are words: numbers of 1, 2, 4, 8 or 16 bytes. Other types of fixed width are
    /// rows of bytes.
    #[inline]
    pub const fn is_word(self) -> bool {
        matches!(self.physical.width(), Some(1 | 2 | 4 | 8 | 16))
    }

    /// Values in a full page: for types of fixed width, as many as its length allows.
    #[inline]
    pub const fn page_values(self) -> u32 {
        match self.width() {
            Some(width) if width > PAGE_VALUE_LEN => match MAX_PAGE_LEN / width as u32 {
                0 => 1,
                n => n,
            },
            _ => MAX_PAGE_VALUES,
        }
    }
}

/// Wider values make pages with fewer of them.
const PAGE_VALUE_LEN: usize = (MAX_PAGE_LEN / MAX_PAGE_VALUES) as usize;

codes! {
    /// The meaning of the stored values.
    Logical: u8 {
        /// The values themselves.
        Plain = 0, "plain";
        /// A day, or its milliseconds.
        Date = 1, "date";
        /// A time of day.
        Time = 2, "time";
        /// A point in time, since 1970.
        Timestamp = 3, "timestamp";
        /// A span of time.
        Duration = 4, "duration";
        /// A code of a category.
        Categorical = 5, "categorical";
        /// An integer whose last digits come after the decimal point.
        Decimal = 6, "decimal";
        /// A period of the calendar, by its number.
        Period = 7, "period";
        /// Months, days and smaller units, counted separately.
        Interval = 8, "interval";
        /// A universally unique identifier.
        Uuid = 9, "uuid";
        /// Text in JSON.
        Json = 10, "json";
        /// A type that the detail names, stored in any form.
        Extension = 11, "extension";
        /// Values of any kind, stored as cells.
        Object = 12, "object";
    }
}

codes! {
    /// The unit of a time.
    Unit: u8 {
        /// No unit.
        None = 0, "none";
        /// Years.
        Year = 1, "Y";
        /// Months.
        Month = 2, "M";
        /// Weeks.
        Week = 3, "W";
        /// Days.
        Day = 4, "D";
        /// Hours.
        Hour = 5, "h";
        /// Minutes.
        Minute = 6, "m";
        /// Seconds.
        Second = 7, "s";
        /// Thousandths of a second.
        Millisecond = 8, "ms";
        /// Millionths.
        Microsecond = 9, "us";
        /// 10^-9 s.
        Nanosecond = 10, "ns";
        /// 10^-12 s.
        Picosecond = 11, "ps";
        /// 10^-15 s.
        Femtosecond = 12, "fs";
        /// 10^-18 s.
        Attosecond = 13, "as";
    }
}

codes! {
    /// The marker of a missing value in the host.
    Missing: u8 {
        /// Not recorded.
        Unspecified = 0, "unspecified";
        /// Arrow's null.
        Null = 1, "null";
        /// `pandas.NA`.
        NA = 2, "NA";
        /// Not a number.
        NaN = 3, "NaN";
        /// Not a time.
        NaT = 4, "NaT";
        /// Python's None.
        None = 5, "None";
    }
}

/// The type of a column with all its fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct ColumnType {
    /// How a value is stored.
    pub physical: Physical,
    /// Its meaning.
    pub logical: Logical,
    /// The unit of a time.
    pub unit: Unit,
    /// The marker of a missing value.
    pub missing: Missing,
    /// The length of fixed bytes or of a fixed-size list; 1 for a sparse union; 0 for other types.
    pub value_len: u32,
    /// Whether the categories, or the keys of a map, have an order.
    pub ordered: bool,
    /// Digits of a decimal; 0 for other types.
    pub precision: u8,
    /// Digits of a decimal after the point, 0 for other types. If negative, the number of zeros
    /// after its digits.
    pub scale: i8,
    /// The host's variant of the type.
    pub host_variant: u8,
}

impl ColumnType {
    /// Bytes that `n` values take in the memory of a reader, about: without the bytes of strings
    /// and without the children of nested values. A null counts as 8 bytes, because most hosts hold
    /// a pointer for it.
    pub fn memory_len(&self, n: u64) -> u64 {
        let width = match self.physical {
            Physical::Null => 8,
            Physical::Bool => 1,
            physical if physical.is_var() => 8,
            _ => self.layout().width().map_or(1, len64),
        };
        n.saturating_mul(width)
    }

    /// A type without a further meaning.
    pub const fn plain(physical: Physical) -> Self {
        Self {
            physical,
            logical: Logical::Plain,
            unit: Unit::None,
            missing: Missing::Unspecified,
            value_len: 0,
            ordered: false,
            precision: 0,
            scale: 0,
            host_variant: 0,
        }
    }

    /// Fixed bytes without a further meaning.
    pub const fn fixed(value_len: u32) -> Self {
        Self { value_len, ..Self::plain(Physical::FixedBytes) }
    }

    /// The layout of the values, or of the structure values of a nested type
    /// (`docs/format/columns.md`).
    #[inline]
    pub const fn layout(&self) -> Layout {
        Layout::of(self.physical, self.value_len)
    }

    /// The type of a column in a file of version 0.2, which has no u128: an i128 that is not a
    /// decimal holds unsigned numbers if its host variant modulo 4 is 1.
    #[must_use]
    pub const fn upgraded_from_0_2(self) -> Self {
        let is_i128 = matches!(self.physical, Physical::I128) && !matches!(self.logical, Logical::Decimal);
        if is_i128 && self.host_variant & 3 == 1 {
            return Self { physical: Physical::U128, host_variant: self.host_variant & !1, ..self };
        }
        self
    }

    /// Whether it is a union whose children have a value for every row.
    pub const fn is_sparse(&self) -> bool {
        matches!(self.physical, Physical::Union) && self.value_len == 1
    }

    /// Whether its last child holds the child offsets.
    pub const fn has_child_offsets(&self) -> bool {
        matches!(self.physical, Physical::ValueColumn)
            || (matches!(self.physical, Physical::Union) && self.value_len == 0)
    }

    /// Checks that a column of this type can have `n` children, child offsets included.
    ///
    /// # Errors
    /// *Argument*.
    pub fn check_children(&self, n: u32) -> Result<()> {
        match self.children_problem(n) {
            None => Ok(()),
            Some(problem) => Err(Error::argument(problem)),
        }
    }

    /// The error in this number of children, if there is one.
    #[inline]
    pub(crate) fn children_problem(&self, n: u32) -> Option<&'static str> {
        let fits = match self.physical {
            Physical::Struct => true,
            Physical::List | Physical::FixedSizeList | Physical::Map | Physical::RunEnd => n == 1,
            Physical::Union if self.is_sparse() => n <= MAX_UNION_TYPES,
            Physical::Union => (1..=MAX_UNION_TYPES + 1).contains(&n),
            Physical::ValueColumn => (1..=MAX_VALUE_TYPES + 1).contains(&n),
            _ => n == 0,
        };
        if fits { None } else { Some("a column does not have the children that its type needs") }
    }

    /// A decimal of `precision` digits; none for an impossible number of digits.
    pub const fn decimal(precision: u8, scale: i8) -> Option<Self> {
        match decimal_physical(precision) {
            Some(physical) => {
                Some(Self { logical: Logical::Decimal, precision, scale, ..Self::plain(physical) })
            }
            None => None,
        }
    }

    /// Checks that the fields do not contradict each other.
    ///
    /// # Errors
    /// *Argument*.
    pub fn check(&self) -> Result<()> {
        match self.problem() {
            None => Ok(()),
            Some(problem) => Err(Error::argument(problem)),
        }
    }

    /// A contradiction in the fields, if there is one.
    #[inline]
    pub(crate) fn problem(&self) -> Option<&'static str> {
        use {Logical as L, Physical as P, Unit as U};
        match (self.logical, self.physical, self.unit) {
            (L::Plain, _, U::None) => {}
            (L::Plain, ..) => return Some("a plain type has no unit"),
            (L::Date, P::I32, U::Day) | (L::Date, P::I64, U::Millisecond) => {}
            (L::Date, ..) => return Some("a date is days in i32 or ms in i64"),
            (L::Time, P::I32 | P::I64, U::Second | U::Millisecond | U::Microsecond | U::Nanosecond) => {}
            (L::Time, ..) => return Some("a time of day is s, ms, us or ns in i32 or i64"),
            (L::Timestamp, P::I64, unit) if unit != U::None => {}
            (L::Timestamp, ..) => return Some("a timestamp is i64 with a unit"),
            (L::Duration, P::I64, _) => {}
            (L::Duration, ..) => return Some("a duration is i64"),
            (L::Categorical, physical, U::None) if physical.is_integer() => {}
            (L::Categorical, ..) => return Some("codes of a categorical are integers without a unit"),
            (L::Decimal, physical, U::None) if decimal_physical(self.precision) == Some(physical) => {}
            (L::Decimal, ..) => return Some("a decimal is the narrowest integer that holds its digits"),
            (L::Period, P::I64, U::None) => {}
            (L::Period, ..) => return Some("a period is a number in i64"),
            (L::Interval, P::I32, U::None) => {}
            (L::Interval, P::FixedBytes, U::None) if matches!(self.value_len, 8 | 16) => {}
            (L::Interval, ..) => return Some("an interval is i32 or fixed bytes of 8 or 16"),
            (L::Uuid, P::FixedBytes, U::None) if self.value_len == 16 => {}
            (L::Uuid, ..) => return Some("a uuid is fixed bytes of 16"),
            (L::Json, P::Utf8, U::None) => {}
            (L::Json, ..) => return Some("JSON is utf8"),
            (L::Extension, _, U::None) => {}
            (L::Extension, ..) => return Some("an extension type has no unit"),
            (L::Object, P::Null, U::None) => {}
            (L::Object, ..) => return Some("objects have cells, and no values of their own"),
        }
        if self.ordered && self.logical != L::Categorical && self.physical != P::Map {
            return Some("only a categorical and a map are ordered");
        }
        let no_decimal = self.logical != L::Decimal && (self.precision != 0 || self.scale != 0);
        let most = match self.physical {
            P::FixedBytes | P::FixedSizeList => u32::MAX,
            P::Union => 1,
            _ => 0,
        };
        if self.value_len > most || no_decimal {
            return Some("value length, precision and scale do not belong to this type");
        }
        if self.physical == P::FixedBytes && self.value_len > MAX_PAGE_LEN {
            return Some("fixed bytes are too long for a page");
        }
        None
    }
}

/// Most types of a union.
pub const MAX_UNION_TYPES: u32 = 128;
/// Most types of a value column.
pub const MAX_VALUE_TYPES: u32 = 255;
/// Most depth of a nested column; a column that is not a child has depth 1.
pub const MAX_COLUMN_DEPTH: u32 = 64;

/// The narrowest integer that holds all numbers of `precision` digits.
const fn decimal_physical(precision: u8) -> Option<Physical> {
    match precision {
        1..=9 => Some(Physical::I32),
        10..=18 => Some(Physical::I64),
        19..=38 => Some(Physical::I128),
        39..=76 => Some(Physical::I256),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_run_without_a_gap() {
        fn run<T: Copy + PartialEq + std::fmt::Debug>(
            all: &[T],
            from: fn(u8) -> Option<T>,
            code: fn(T) -> u8,
        ) {
            for number in 0..=u8::MAX {
                assert_eq!(from(number), all.get(usize::from(number)).copied());
                if let Some(one) = from(number) {
                    assert_eq!(code(one), number);
                }
            }
        }
        run(Physical::ALL, Physical::from_code, Physical::code);
        run(Logical::ALL, Logical::from_code, Logical::code);
        run(Unit::ALL, Unit::from_code, Unit::code);
        run(Missing::ALL, Missing::from_code, Missing::code);
        assert_eq!(Physical::F64.to_string(), "f64");
        assert_eq!((Physical::Binary.code(), Unit::Attosecond.code(), Missing::None.code()), (16, 13, 5));
    }

    #[test]
    fn unsigned_integers_of_0_2_become_u128() {
        let i128 = ColumnType::plain(Physical::I128);
        let u128 = ColumnType::plain(Physical::U128);
        for (variant, upgraded) in [(1, 0), (5, 4), (129, 128)] {
            for logical in [Logical::Plain, Logical::Extension] {
                let of = ColumnType { host_variant: variant, logical, ..i128 }.upgraded_from_0_2();
                assert_eq!(of, ColumnType { host_variant: upgraded, logical, ..u128 });
                assert_eq!(of.upgraded_from_0_2(), of);
            }
        }
        let decimal = ColumnType { host_variant: 1, ..ColumnType::decimal(38, 2).unwrap() };
        let narrow = ColumnType { host_variant: 1, ..ColumnType::plain(Physical::I64) };
        let others = [0, 2, 3, 4, 6].map(|host_variant| ColumnType { host_variant, ..i128 });
        for of in [decimal, narrow, u128].into_iter().chain(others) {
            assert_eq!(of.upgraded_from_0_2(), of);
        }
    }

    #[test]
    fn logical_types_stand_on_their_physical_ones() {
        for &physical in Physical::ALL {
            assert!(ColumnType::plain(physical).check().is_ok());
            for &unit in Unit::ALL {
                let kind =
                    |logical| ColumnType { logical, unit, ..ColumnType::plain(physical) }.check().is_ok();
                let i64 = physical == Physical::I64;
                let date =
                    (physical == Physical::I32 && unit == Unit::Day) || (i64 && unit == Unit::Millisecond);
                assert_eq!(kind(Logical::Date), date);
                assert_eq!(kind(Logical::Timestamp), i64 && unit != Unit::None);
                assert_eq!(kind(Logical::Duration), i64);
                assert_eq!(kind(Logical::Categorical), physical.is_integer() && unit == Unit::None);
            }
        }
        for precision in 0..=u8::MAX {
            let physical = ColumnType::decimal(precision, -3).map(|of| of.physical);
            let digits =
                [(9, Physical::I32), (18, Physical::I64), (38, Physical::I128), (76, Physical::I256)];
            let narrowest = digits.iter().find(|(most, _)| precision <= *most && precision > 0);
            assert_eq!(physical, narrowest.map(|(_, physical)| *physical));
            for &other in Physical::ALL {
                let of = ColumnType { logical: Logical::Decimal, precision, ..ColumnType::plain(other) };
                assert_eq!(of.check().is_ok(), physical == Some(other));
                assert!(ColumnType { unit: Unit::Second, ..of }.check().is_err());
            }
        }
        for value_len in [0, 8, 15, 16, 17] {
            let of = |logical| ColumnType { logical, ..ColumnType::fixed(value_len) }.check().is_ok();
            assert_eq!(of(Logical::Interval), value_len == 8 || value_len == 16);
            assert_eq!(of(Logical::Uuid), value_len == 16);
            assert!(of(Logical::Extension) && !of(Logical::Json) && !of(Logical::Period));
        }
        assert!(ColumnType { ordered: true, ..ColumnType::plain(Physical::I8) }.check().is_err());
        assert!(ColumnType { scale: -1, ..ColumnType::plain(Physical::I8) }.check().is_err());
    }
}
