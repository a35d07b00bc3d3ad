//! Predicates as a caller writes them.

use std::collections::BTreeSet;
use std::fmt;

use entasis::{Error, Result};

use crate::iso_time;
use crate::time_kind::TimeKind;

/// A condition on rows. A row is kept when its predicate is true. Comparisons with a missing value
/// are unknown, as in SQL, and so is their negation.
#[derive(Clone, PartialEq, Debug)]
pub enum Predicate {
    /// Always or never true.
    Constant(bool),
    /// A value compared with a literal.
    Compare {
        /// The column's number; that of a field comes from [`field`](crate::field).
        column: u64,
        /// The comparison.
        op: Comparison,
        /// The literal on its right.
        literal: Literal,
        /// The rules of the asker.
        rules: Rules,
    },
    /// Whether a value equals one of several literals.
    In {
        /// The column's number.
        column: u64,
        /// The literals.
        literals: Vec<Literal>,
        /// Whether a missing value counts as one of the literals. Otherwise its answer is unknown.
        missing: bool,
        /// The rules of the asker.
        rules: Rules,
    },
    /// Whether a value is missing. Never unknown.
    IsMissing {
        /// The column's number.
        column: u64,
        /// The rules of the asker.
        rules: Rules,
    },
    /// Whether a float is NaN.
    IsNan {
        /// The column's number.
        column: u64,
    },
    /// Compares the length of a list or map with a number. Missing values give unknown.
    Length {
        /// The column's number.
        column: u64,
        /// The comparison.
        op: Comparison,
        /// The number on its right.
        n: i128,
    },
    /// A test of a string.
    Match {
        /// The column's number.
        column: u64,
        /// The test.
        test: Match,
        /// The text to look for.
        pattern: Vec<u8>,
    },
    /// True if all parts are true, or if there are none.
    And(Vec<Self>),
    /// True if at least one part is true.
    Or(Vec<Self>),
    /// Whether it is false.
    Not(Box<Self>),
}

/// A comparison of two values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
}

/// A test of a string.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Match {
    /// The string begins with the pattern.
    StartsWith,
    /// The string ends with the pattern.
    EndsWith,
    /// The string has the pattern somewhere, as plain text.
    Contains,
    /// The string is like the SQL pattern: `%` stands for any text, `_` for one character, and `\`
    /// before a character for itself.
    Like,
}

/// How the asker compares.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rules {
    /// Where NaN comes in the order.
    pub nan: NanRule,
    /// Whether a float32 column is compared in float64. Otherwise the literal is rounded to
    /// float32.
    pub widens: bool,
}

/// Where NaN comes in the order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum NanRule {
    /// NaN equals nothing and has no order, as in IEEE 754.
    #[default]
    Unordered,
    /// NaN equals NaN, and all other values are less.
    Largest,
    /// NaN is a missing value.
    Missing,
}

/// A value to compare with.
#[derive(Clone, PartialEq, Debug)]
pub enum Literal {
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// A float.
    Float(f64),
    /// The number `digits * 10^-scale`.
    Decimal {
        /// All digits.
        digits: i128,
        /// How many of them come after the point.
        scale: i32,
    },
    /// The number `digits * 10^-scale`, for digits beyond 128 bits.
    LongDecimal {
        /// All decimal digits, after a minus sign for a negative number.
        digits: String,
        /// How many of them come after the point.
        scale: i32,
    },
    /// A string. For a column of times, an ISO 8601 date, date and time, or time of day. An aware
    /// time has a zone, such as `Z` or `+01:00`, and others have none.
    String(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// The number of a period, counted from the one that contains 1970-01-01T00:00. Its frequency
    /// is that of the column.
    Period(i64),
    /// A time in units of 10^-18 seconds: since 1970 (in UTC for an aware one), since midnight, or
    /// a span.
    Time {
        /// Attoseconds.
        attoseconds: i128,
        /// The kind of time.
        kind: TimeKind,
    },
}

impl Literal {
    /// Parses a time in ISO 8601.
    ///
    /// # Errors
    /// *Argument*, with the right form.
    pub(crate) fn time(text: &str, kind: TimeKind) -> Result<Self> {
        let parsed = iso_time::parse(text, kind);
        let attoseconds = parsed.map_err(|problem| Error::argument(format!("{text:?} {problem}")))?;
        Ok(Self::Time { attoseconds, kind })
    }
}

impl Predicate {
    /// True if both are true.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self::And(vec![self, other])
    }

    /// True if at least one of both is true.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self::Or(vec![self, other])
    }

    /// The numbers of the columns that are tested.
    pub fn columns(&self) -> BTreeSet<u64> {
        match self {
            Self::Constant(_) => BTreeSet::new(),
            Self::Compare { column, .. }
            | Self::In { column, .. }
            | Self::IsMissing { column, .. }
            | Self::IsNan { column }
            | Self::Length { column, .. }
            | Self::Match { column, .. } => BTreeSet::from([*column]),
            Self::And(parts) | Self::Or(parts) => parts.iter().flat_map(Self::columns).collect(),
            Self::Not(part) => part.columns(),
        }
    }
}

impl std::ops::Not for Predicate {
    type Output = Self;

    fn not(self) -> Self {
        Self::Not(Box::new(self))
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
        })
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Decimal { digits, scale } => write!(f, "{digits}e{}", scale.saturating_neg()),
            Self::LongDecimal { digits, scale } => write!(f, "{digits}e{}", scale.saturating_neg()),
            Self::String(value) => write!(f, "{value:?}"),
            Self::Bytes(value) => write!(f, "b\"{}\"", value.escape_ascii()),
            Self::Period(number) => write!(f, "period {number}"),
            Self::Time { kind, .. } => f.write_str(match kind {
                TimeKind::Naive => "a time without zone",
                TimeKind::Aware => "a time with a zone",
                TimeKind::OfDay => "a time of day",
                TimeKind::Duration => "a duration",
            }),
        }
    }
}
