//! The types of columns, and the narrowest type that holds two kinds of values.

use std::borrow::Cow;

pub use entasis::Unit;

use crate::values::decimals::MOST_DIGITS;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// No value is present.
    Null,
    /// `true` and `false`.
    Bool,
    /// Integers.
    Int {
        /// Bytes of a value: 1, 2, 4 or 8.
        bytes: u8,
        /// Whether values can be negative.
        is_signed: bool,
    },
    /// Binary floating-point numbers.
    Float {
        /// Bytes of a value: 4 or 8.
        bytes: u8,
    },
    /// Decimals, stored as integers of units of `10^-scale`. Only users give this type.
    Decimal {
        /// The most digits of a value, from 1 to 38.
        precision: u8,
        /// The digits after the point, at most `precision`.
        scale: u8,
    },
    /// Days.
    Date,
    /// Dates with a time of day.
    Datetime {
        /// The unit of the stored integers.
        unit: Unit,
        /// Whether each text has an offset from UTC. The stored times are in UTC.
        is_utc: bool,
    },
    /// Strings as codes of categories.
    Categorical,
    /// Strings.
    Text,
}

impl Type {
    /// Integers of 64 bits.
    pub const INT: Self = Self::Int { bytes: 8, is_signed: true };
    /// Integers of 64 bits without a sign.
    pub const UINT: Self = Self::Int { bytes: 8, is_signed: false };
    /// Floating-point numbers of 64 bits.
    pub const FLOAT: Self = Self::Float { bytes: 8 };

    /// The narrowest type that can hold the values of both. Whether it holds them decides the
    /// conversion: integers that a float cannot hold make the column text.
    ///
    /// Columns with negative integers and integers from 2^63 on are text, so that the result does
    /// not depend on the order.
    pub fn join(self, other: Self) -> Self {
        use Type::{Bool, Categorical, Date, Datetime, Decimal, Float, Int, Null, Text};
        match (self, other) {
            (Null, a) | (a, Null) => a,
            (a, b) if a == b => a,
            (Int { .. }, Int { .. }) => Self::UINT,
            (Int { .. } | Float { .. }, Int { .. } | Float { .. }) => Self::FLOAT,
            (Datetime { unit: a, is_utc }, Datetime { unit: b, is_utc: other }) if is_utc == other => {
                Datetime { unit: if a == Unit::Nanosecond { a } else { b }, is_utc }
            }
            (
                Bool
                | Date
                | Datetime { .. }
                | Int { .. }
                | Float { .. }
                | Decimal { .. }
                | Categorical
                | Text,
                _,
            ) => Text,
        }
    }

    /// The name in specs and messages.
    pub fn name(self) -> Cow<'static, str> {
        let name = match self {
            Self::Decimal { precision, scale } => return format!("decimal({precision}, {scale})").into(),
            Self::Null => "null",
            Self::Bool => "bool",
            Self::Int { bytes: 1, is_signed: true } => "int8",
            Self::Int { bytes: 2, is_signed: true } => "int16",
            Self::Int { bytes: 4, is_signed: true } => "int32",
            Self::Int { is_signed: true, .. } => "int64",
            Self::Int { bytes: 1, .. } => "uint8",
            Self::Int { bytes: 2, .. } => "uint16",
            Self::Int { bytes: 4, .. } => "uint32",
            Self::Int { .. } => "uint64",
            Self::Float { bytes: 4 } => "float32",
            Self::Float { .. } => "float64",
            Self::Date => "date",
            Self::Datetime { unit: Unit::Second, is_utc: false } => "datetime[s]",
            Self::Datetime { unit: Unit::Millisecond, is_utc: false } => "datetime[ms]",
            Self::Datetime { unit: Unit::Nanosecond, is_utc: false } => "datetime[ns]",
            Self::Datetime { is_utc: false, .. } => "datetime[us]",
            Self::Datetime { unit: Unit::Second, .. } => "datetime[s, UTC]",
            Self::Datetime { unit: Unit::Millisecond, .. } => "datetime[ms, UTC]",
            Self::Datetime { unit: Unit::Nanosecond, .. } => "datetime[ns, UTC]",
            Self::Datetime { .. } => "datetime[us, UTC]",
            Self::Categorical => "categorical",
            Self::Text => "string",
        };
        name.into()
    }

    /// The type of a name, as [`Type::name`] gives it; `None` for other names. Decimals may have
    /// other blanks.
    pub fn of_name(name: &str) -> Option<Self> {
        if let Some(parts) = name.strip_prefix("decimal") {
            let (precision, scale) = parts.trim().strip_prefix('(')?.strip_suffix(')')?.split_once(',')?;
            return Self::decimal(precision.trim().parse().ok()?, scale.trim().parse().ok()?);
        }
        const UNITS: [Unit; 4] = [Unit::Second, Unit::Millisecond, Unit::Microsecond, Unit::Nanosecond];
        let ints = [1, 2, 4, 8]
            .into_iter()
            .flat_map(|bytes| [Self::Int { bytes, is_signed: true }, Self::Int { bytes, is_signed: false }]);
        let times = UNITS
            .into_iter()
            .flat_map(|unit| [Self::Datetime { unit, is_utc: false }, Self::Datetime { unit, is_utc: true }]);
        let others = [
            Self::Null,
            Self::Bool,
            Self::Float { bytes: 4 },
            Self::FLOAT,
            Self::Date,
            Self::Categorical,
            Self::Text,
        ];
        ints.chain(times).chain(others).find(|of| of.name() == name)
    }

    /// Decimals of `precision` digits; `None` for more than 38 digits, and for a scale above the
    /// precision.
    pub fn decimal(precision: u8, scale: u8) -> Option<Self> {
        let fits = (1..=MOST_DIGITS).contains(&precision) && scale <= precision;
        fits.then_some(Self::Decimal { precision, scale })
    }

    /// Bytes of a value in memory; `None` for bits, strings and nothing.
    pub fn width(self) -> Option<usize> {
        match self {
            Self::Int { bytes, .. } | Self::Float { bytes } => Some(usize::from(bytes)),
            Self::Date | Self::Categorical => Some(4),
            Self::Datetime { .. } => Some(8),
            Self::Decimal { .. } => Some(16),
            Self::Null | Self::Bool | Self::Text => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for name in [
            "null",
            "bool",
            "int8",
            "uint16",
            "int64",
            "float32",
            "date",
            "datetime[ns, UTC]",
            "decimal(10, 2)",
            "decimal(38, 38)",
            "string",
            "categorical",
        ] {
            assert_eq!(Type::of_name(name).map(Type::name).as_deref(), Some(name));
        }
        assert_eq!(Type::of_name("decimal(10,2)"), Type::decimal(10, 2));
        for name in [
            "complex",
            "decimal",
            "decimal(10)",
            "decimal(0, 0)",
            "decimal(39, 2)",
            "decimal(2, 3)",
            "decimal(9, -1)",
            "decimal(9, 1",
        ] {
            assert_eq!(Type::of_name(name), None, "{name}");
        }
    }

    #[test]
    fn the_order_of_kinds_does_not_matter() {
        let time = |unit, is_utc| Type::Datetime { unit, is_utc };
        let all = [
            Type::Null,
            Type::Bool,
            Type::INT,
            Type::UINT,
            Type::FLOAT,
            Type::Decimal { precision: 10, scale: 2 },
            Type::Date,
            time(Unit::Microsecond, false),
            time(Unit::Nanosecond, false),
            time(Unit::Nanosecond, true),
            Type::Categorical,
            Type::Text,
        ];
        for a in all {
            assert_eq!(a.join(a), a);
            for b in all {
                assert_eq!(a.join(b), b.join(a));
                for c in all {
                    assert_eq!(a.join(b).join(c), a.join(b.join(c)), "{a:?} {b:?} {c:?}");
                }
            }
        }
    }
}
