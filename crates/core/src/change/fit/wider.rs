//! The type that holds the values of two types, as the host's own concatenation gives it.

use entasis_format::{ColumnType, Missing, Physical, Value};

use super::host_type::{HostType, Kind, Marker};
use super::scaled::unit_len;

/// A type of its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::change) struct Wider {
    pub(in crate::change) column_type: ColumnType,
    pub(in crate::change) detail: Option<Value>,
    pub(in crate::change) host_detail: Option<Value>,
}

/// The nullable types of pandas.
const NULLABLE: u8 = 1;
/// The first variant of the types of Arrow in pandas.
const ARROW: u8 = 16;
/// The bit of host variants of Arrow for fields that are not nullable.
const NOT_NULL: u8 = 4;

impl Wider {
    /// A type with the details of another one.
    pub(in crate::change) fn of(of: &HostType<'_>, column_type: ColumnType) -> Self {
        Self { column_type, detail: of.detail.cloned(), host_detail: of.host_detail.cloned() }
    }

    /// The type in a file of a host.
    pub(in crate::change) fn in_host<'a>(&'a self, host: &'a str) -> HostType<'a> {
        let (detail, host_detail) = (self.detail.as_ref(), self.host_detail.as_ref());
        HostType { host, of: &self.column_type, detail, host_detail }
    }
}

/// The type for the values of two types. `None` if there is none of their kind, or it is the type
/// of the file. `has_missing`: the rows have missing values.
pub(in crate::change) fn wider(old: &HostType<'_>, new: &HostType<'_>, has_missing: bool) -> Option<Wider> {
    let found = match (old.kind(), new.kind()) {
        (Kind::Int | Kind::Float, Kind::Int | Kind::Float) => number(old, new, has_missing)?,
        (Kind::Bool, Kind::Bool) if has_missing => with_missing(old, false)?,
        (Kind::Decimal, Kind::Decimal) => Wider::of(old, decimal(old.of, new.of)?),
        (Kind::Timestamp, Kind::Timestamp) if old.detail != new.detail => return None,
        (Kind::Timestamp, Kind::Timestamp) | (Kind::Duration, Kind::Duration) | (Kind::Time, Kind::Time) => {
            unit_len(old.of.unit).and(unit_len(new.of.unit))?;
            // A greater code is a smaller unit.
            let finer = if new.of.unit.code() > old.of.unit.code() { new.of } else { old.of };
            Wider::of(old, ColumnType { unit: finer.unit, physical: finer.physical, ..*old.of })
        }
        (Kind::Text, Kind::Text) | (Kind::Binary, Kind::Binary) => {
            let width = old.fixed_width()?.max(new.fixed_width()?);
            let host_detail = Some(Value::Int(i64::try_from(width).ok()?));
            Wider { host_detail, ..Wider::of(old, *old.of) }
        }
        _ => return None,
    };
    let is_other = found != Wider::of(old, *old.of);
    (is_other && (!has_missing || found.in_host(old.host).marker() != Marker::None)).then_some(found)
}

/// The type that has missing values too. `None` if there is none. Integers of pandas become floats
/// if these hold them.
pub(in crate::change) fn with_missing(of: &HostType<'_>, floats_hold: bool) -> Option<Wider> {
    let variant = of.of.host_variant;
    let found = match (of.host, of.kind()) {
        _ if of.marker() != Marker::None => *of.of,
        ("polars" | "pyarrow", _) => ColumnType { host_variant: variant & !NOT_NULL, ..*of.of },
        ("pandas", _) if variant >= ARROW => ColumnType { host_variant: variant & !NOT_NULL, ..*of.of },
        ("pandas", Kind::Int) if floats_hold => ColumnType::plain(Physical::F64),
        ("pandas", Kind::Int | Kind::Bool) => {
            ColumnType { host_variant: NULLABLE, missing: Missing::NA, ..*of.of }
        }
        _ => return None,
    };
    Some(Wider::of(of, found))
}

/// The type of integers and floats.
fn number(old: &HostType<'_>, new: &HostType<'_>, has_missing: bool) -> Option<Wider> {
    let host = old.host;
    let (a, b) = (old.of.physical, new.of.physical);
    if host == "r" && [a, b].iter().any(|of| !matches!(of, Physical::I32 | Physical::F64)) {
        return None;
    }
    let physical = promoted(a, b, host == "pyarrow");
    let is = |test: fn(u8) -> bool| test(old.of.host_variant) || test(new.of.host_variant);
    let found = match host {
        "pandas" if is(|variant| variant >= ARROW) => {
            ColumnType { host_variant: ARROW, missing: Missing::Null, ..ColumnType::plain(physical) }
        }
        "pandas" if is(|variant| variant == NULLABLE) => {
            ColumnType { host_variant: NULLABLE, missing: Missing::NA, ..ColumnType::plain(physical) }
        }
        "pandas" if has_missing => {
            ColumnType::plain(if is_float(physical) { physical } else { Physical::F64 })
        }
        "pandas" | "numpy" | "static_frame" => ColumnType::plain(physical),
        _ => ColumnType { physical, ..*old.of },
    };
    Some(Wider { column_type: found, detail: None, host_detail: None })
}

fn is_float(of: Physical) -> bool {
    matches!(of, Physical::F32 | Physical::F64)
}

/// The narrowest number for the values of two, as NumPy gives it. Arrow takes i64 for all integers
/// of 64 bits.
fn promoted(a: Physical, b: Physical, is_arrow: bool) -> Physical {
    use Physical as P;
    let width = |of: Physical| of.width().unwrap_or(0);
    if is_float(a) || is_float(b) {
        let is_narrow = |of: Physical| of == P::F32 || (!is_float(of) && width(of) <= 2);
        return if is_narrow(a) && is_narrow(b) { P::F32 } else { P::F64 };
    }
    let is_signed = |of: Physical| of.is_signed() || of == P::I128;
    let widest = width(a).max(width(b));
    if !is_signed(a) && !is_signed(b) {
        return if width(a) >= width(b) { a } else { b };
    }
    // A signed integer for all of an unsigned one has twice its width.
    let needed = [a, b].map(|of| if is_signed(of) { width(of) } else { 2 * width(of) });
    match needed.into_iter().fold(widest, usize::max) {
        1 => P::I8,
        2 => P::I16,
        4 => P::I32,
        8 => P::I64,
        _ if a == P::I128 || b == P::I128 => P::I128,
        _ if is_arrow => P::I64,
        _ => P::F64,
    }
}

/// The decimal with the digits of two on both sides of the point.
fn decimal(old: &ColumnType, new: &ColumnType) -> Option<ColumnType> {
    let whole = |of: &ColumnType| i16::from(of.precision) - i16::from(of.scale);
    let scale = old.scale.max(new.scale);
    let precision = u8::try_from(whole(old).max(whole(new)) + i16::from(scale)).ok().filter(|&n| n <= 38)?;
    let found = ColumnType::decimal(precision, scale)?;
    // The bits of the decimal in the host, by the variant.
    let bits = |variant: u8| [128, 32, 64, 256].get(usize::from(variant & 3)).copied().unwrap_or(128);
    let needed = found.physical.width()? * 8;
    let widest = [old.host_variant, new.host_variant].into_iter().max_by_key(|&variant| bits(variant))?;
    let width = if bits(widest) >= needed { widest & 3 } else { 0 };
    Some(ColumnType { host_variant: (old.host_variant & !3) | width, missing: old.missing, ..found })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_promoted_as_in_numpy() {
        use Physical as P;
        for (a, b, wanted) in [
            (P::I8, P::I64, P::I64),
            (P::U8, P::I8, P::I16),
            (P::U32, P::I8, P::I64),
            (P::U64, P::I8, P::F64),
            (P::U64, P::U8, P::U64),
            (P::I64, P::F32, P::F64),
            (P::I16, P::F32, P::F32),
            (P::F32, P::F32, P::F32),
            (P::U64, P::I128, P::I128),
        ] {
            assert_eq!(promoted(a, b, false), wanted, "{a:?} {b:?}");
            assert_eq!(promoted(b, a, false), wanted, "{b:?} {a:?}");
        }
        assert_eq!(promoted(P::U64, P::I64, true), P::I64);
    }

    #[test]
    fn types_of_pandas_keep_their_family() {
        let of = |physical, variant, missing| ColumnType {
            host_variant: variant,
            missing,
            ..ColumnType::plain(physical)
        };
        let int = of(Physical::I64, 0, Missing::Unspecified);
        let nullable = of(Physical::I64, 1, Missing::NA);
        let float = of(Physical::F64, 0, Missing::Unspecified);
        let host = |of| HostType { host: "pandas", of, detail: None, host_detail: None };
        let found = |old, new, missing| {
            let found = wider(&host(old), &host(new), missing)?;
            Some((found.column_type.physical, found.column_type.host_variant))
        };
        assert_eq!(found(&int, &float, false), Some((Physical::F64, 0)));
        assert_eq!(found(&int, &float, true), Some((Physical::F64, 0)));
        assert_eq!(found(&int, &nullable, true), Some((Physical::I64, 1)));
        assert_eq!(found(&nullable, &float, false), Some((Physical::F64, 1)));
        assert_eq!(found(&float, &int, false), None);
        assert_eq!(with_missing(&host(&int), true).unwrap().column_type, float);
        assert_eq!(with_missing(&host(&int), false).unwrap().column_type, nullable);
    }

    #[test]
    fn decimals_hold_the_digits_of_both() {
        let of = |precision, scale| ColumnType::decimal(precision, scale).unwrap();
        let found = decimal(&of(4, 1), &of(10, 2)).unwrap();
        assert_eq!((found.precision, found.scale, found.host_variant), (10, 2, 0));
        assert_eq!(decimal(&of(38, 0), &of(38, 38)), None);
        let narrow = ColumnType { host_variant: 1, ..of(9, 0) };
        let found = decimal(&narrow, &ColumnType { host_variant: 1, ..of(9, 4) }).unwrap();
        assert_eq!((found.precision, found.scale, found.host_variant), (13, 4, 0));
    }
}
