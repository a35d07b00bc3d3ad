//! The type of a column as its host sees it (`docs/format/hosts`).

use entasis_format::{ColumnType, Logical, Missing, Physical, Unit, Value};

use crate::frame::Column;
use crate::info::type_name;

/// The type of a column in a file of a host.
#[derive(Clone, Copy, Debug)]
pub(in crate::change) struct HostType<'a> {
    /// The name of the host; empty without one.
    pub(in crate::change) host: &'a str,
    pub(in crate::change) of: &'a ColumnType,
    pub(in crate::change) detail: Option<&'a Value>,
    pub(in crate::change) host_detail: Option<&'a Value>,
}

/// The kind of the values. Only values of one kind are converted, and integers and floats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::change) enum Kind {
    /// Only missing values.
    Null,
    Bool,
    /// Integers of up to 64 bits, or signed ones of 128 bits.
    Int,
    /// Floats of 32 or 64 bits.
    Float,
    /// Decimals of up to 38 digits.
    Decimal,
    Text,
    Binary,
    /// Strings of a host's column of objects.
    Objects,
    Categorical,
    Date,
    Time,
    Timestamp,
    Duration,
    /// Values that are not converted.
    Other,
}

/// How the host marks missing values of a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::change) enum Marker {
    /// The type has no missing values.
    None,
    /// The column records which values are missing.
    Validity,
    /// NaN is the missing value, and is stored as a value.
    NaN,
}

/// The first host variant of the types of Arrow in pandas.
const ARROW: u8 = 16;
/// The bit of host variants of Arrow for fields that are not nullable.
const NOT_NULL: u8 = 4;

impl<'a> HostType<'a> {
    /// The type of a column.
    pub(in crate::change) fn of(host: &'a str, column: &'a Column) -> Self {
        let (detail, host_detail) = (column.detail.as_ref(), column.host_detail.as_ref());
        Self { host, of: &column.column_type, detail, host_detail }
    }

    /// The kind of the values.
    pub(in crate::change) fn kind(&self) -> Kind {
        let kind = self.logical_kind();
        let variant = self.of.host_variant;
        let is_text = matches!(kind, Kind::Text | Kind::Binary);
        match self.host {
            "pandas" => match variant {
                6 if kind == Kind::Text => Kind::Objects,
                6 | 8..=10 => Kind::Other,
                _ => kind,
            },
            "numpy" | "static_frame" => match variant & 7 {
                0 => kind,
                1 | 6 if is_text => kind,
                2 if kind == Kind::Text => Kind::Objects,
                _ => Kind::Other,
            },
            // Other variants hold times as integers of 32 bits, or in the memory of doubles.
            "r" if matches!(kind, Kind::Date | Kind::Timestamp | Kind::Duration) && variant != 0 => {
                Kind::Other
            }
            _ => kind,
        }
    }

    fn logical_kind(&self) -> Kind {
        match (self.of.logical, self.of.physical) {
            (Logical::Plain, Physical::Null) => Kind::Null,
            (Logical::Plain, Physical::Bool) => Kind::Bool,
            (Logical::Plain, Physical::I128) => Kind::Int,
            (Logical::Plain, physical) if physical.is_integer() => Kind::Int,
            (Logical::Plain, Physical::F32 | Physical::F64) => Kind::Float,
            (Logical::Plain, Physical::Utf8) => Kind::Text,
            (Logical::Plain, Physical::Binary) => Kind::Binary,
            (Logical::Decimal, Physical::I32 | Physical::I64 | Physical::I128) => Kind::Decimal,
            (Logical::Categorical, _) => Kind::Categorical,
            (Logical::Date, _) => Kind::Date,
            (Logical::Time, _) => Kind::Time,
            (Logical::Timestamp, _) => Kind::Timestamp,
            (Logical::Duration, _) if self.of.unit != Unit::None => Kind::Duration,
            _ => Kind::Other,
        }
    }

    /// How missing values are marked.
    pub(in crate::change) fn marker(&self) -> Marker {
        let variant = self.of.host_variant;
        let of_numpy = || match (self.of.logical, self.of.physical) {
            (Logical::Plain, Physical::F16 | Physical::F32 | Physical::F64) => Marker::NaN,
            (Logical::Plain, Physical::Complex64 | Physical::Complex128) => Marker::NaN,
            (Logical::Plain, Physical::Null) => Marker::Validity,
            (Logical::Plain, _) => Marker::None,
            _ => Marker::Validity,
        };
        let of_arrow = |variant: u8| match variant & NOT_NULL {
            0 => Marker::Validity,
            _ => Marker::None,
        };
        // Objects with no missing value record no kind of it.
        let of_objects = || match self.of.missing {
            Missing::Unspecified => Marker::None,
            _ => Marker::Validity,
        };
        match self.host {
            "pandas" => match variant {
                0 | 7 => of_numpy(),
                1..=5 | 11 => Marker::Validity,
                6 => of_objects(),
                ARROW.. => of_arrow(variant - ARROW),
                _ => Marker::None,
            },
            "numpy" | "static_frame" => match variant & 7 {
                0 => of_numpy(),
                2 => of_objects(),
                6 if self.has_missing_text() => Marker::Validity,
                _ => Marker::None,
            },
            "polars" | "pyarrow" => of_arrow(variant),
            "r" if self.of.physical == Physical::U8 => Marker::None,
            "r" => Marker::Validity,
            _ => of_objects(),
        }
    }

    /// Whether a dtype of strings of NumPy has a missing value.
    fn has_missing_text(&self) -> bool {
        self.host_detail.is_some_and(|detail| detail.get("na").is_some())
    }

    /// The integer that is a missing value in the memory of the host, so that no value may be it.
    pub(super) fn reserved(&self) -> Option<i128> {
        let is_time = matches!(self.kind(), Kind::Timestamp | Kind::Duration);
        match (self.host, self.of.physical) {
            ("pandas" | "numpy" | "static_frame", Physical::I64) if is_time => Some(i64::MIN.into()),
            ("r", Physical::I32) => Some(i32::MIN.into()),
            ("r", Physical::I64) => Some(i64::MIN.into()),
            _ => None,
        }
    }

    /// The most characters (bytes, for binary) of strings of a fixed width of NumPy.
    pub(super) fn fixed_width(&self) -> Option<u64> {
        let is_numpy = matches!(self.host, "numpy" | "static_frame");
        match self.kind() {
            Kind::Text | Kind::Binary if is_numpy && self.of.host_variant & 7 == 1 => {
                self.host_detail.and_then(Value::as_uint)
            }
            _ => None,
        }
    }

    /// Whether the type says nothing about values, as that of a first frame without rows.
    pub(in crate::change) fn is_untyped(&self) -> bool {
        matches!(self.kind(), Kind::Null | Kind::Objects)
    }

    /// The name in messages.
    pub(in crate::change) fn name(&self) -> String {
        let name = type_name(self.of, self.detail);
        match (self.kind(), self.fixed_width()) {
            (Kind::Objects, _) => "object".to_owned(),
            (_, Some(width)) => format!("{name}[{width}]"),
            _ => name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(host: &str, physical: Physical, variant: u8) -> (Kind, Marker) {
        let column_type = ColumnType { host_variant: variant, ..ColumnType::plain(physical) };
        let of = HostType { host, of: &column_type, detail: None, host_detail: None };
        (of.kind(), of.marker())
    }

    #[test]
    fn hosts_mark_missing_values_in_their_own_ways() {
        use Physical as P;
        for (host, physical, variant, wanted) in [
            ("pandas", P::I64, 0, (Kind::Int, Marker::None)),
            ("pandas", P::I64, 1, (Kind::Int, Marker::Validity)),
            ("pandas", P::F64, 0, (Kind::Float, Marker::NaN)),
            ("pandas", P::F64, 16, (Kind::Float, Marker::Validity)),
            ("pandas", P::F64, 20, (Kind::Float, Marker::None)),
            ("pandas", P::Utf8, 2, (Kind::Text, Marker::Validity)),
            ("pandas", P::Utf8, 6, (Kind::Objects, Marker::None)),
            ("pandas", P::FixedBytes, 9, (Kind::Other, Marker::None)),
            ("numpy", P::F64, 8, (Kind::Float, Marker::NaN)),
            ("numpy", P::Utf8, 1, (Kind::Text, Marker::None)),
            ("polars", P::U64, 0, (Kind::Int, Marker::Validity)),
            ("pyarrow", P::Utf8, 6, (Kind::Text, Marker::None)),
            ("r", P::U8, 0, (Kind::Int, Marker::None)),
            ("r", P::F64, 2, (Kind::Float, Marker::Validity)),
            ("", P::Bool, 0, (Kind::Bool, Marker::None)),
            ("polars", P::U128, 0, (Kind::Other, Marker::Validity)),
        ] {
            assert_eq!(of(host, physical, variant), wanted, "{host} {physical:?} {variant}");
        }
    }
}
