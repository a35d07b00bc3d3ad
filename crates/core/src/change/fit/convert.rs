//! Converts the values of a column to another type.

use entasis_format::{Error, Physical, Result, fallible};

use super::VALUES;
use super::host_type::{HostType, Kind, Marker};
use super::numbers::{Number, WIDEST, integer, integer_word, number, word};
use super::scaled::{decimal, decimal_text, rescaled, unit_len};
use super::unfit::{Refusal, Unfit};
use super::values::{Builder, bytes, is_missing, missing_mask};
use crate::frame::{Chunk, HostValidity, HostValues};

/// A converted value.
enum Converted<'a> {
    Word([u8; WIDEST]),
    Bytes(&'a [u8]),
}

/// The values of a decoded chunk in another type. Categoricals are not converted here.
///
/// # Errors
/// A refusal names the first value that the type does not hold.
pub(in crate::change) fn convert(
    chunk: &Chunk,
    from: &HostType<'_>,
    to: &HostType<'_>,
) -> std::result::Result<Chunk, Refusal> {
    let is_objects = to.kind() == Kind::Objects;
    check_kinds(from, to)?;
    let mask = mask(chunk, from, to)?;
    if let Some(row) = mask.iter().position(|&missing| missing != 0)
        && (to.marker() == Marker::None || (is_objects && from.of.missing != to.of.missing))
    {
        return Err(Unfit::at("a missing value", row));
    }
    let mut values = Builder::new(to.of.layout(), chunk.n)?;
    for (row, &missing) in mask.iter().enumerate() {
        if missing != 0 {
            push_missing(&mut values, to)?;
            continue;
        }
        let value = bytes(chunk, row)?;
        match converted(value, from, to) {
            Some(Converted::Word(word)) => values.push(&word)?,
            Some(Converted::Bytes(bytes)) => values.push(bytes)?,
            None => return Err(refused(value, from, row)),
        }
    }
    Ok(finish(values, mask, to))
}

/// Checks that the values of two types mean the same.
fn check_kinds(from: &HostType<'_>, to: &HostType<'_>) -> std::result::Result<(), Refusal> {
    use Kind as K;
    let is_same = match (from.kind(), to.kind()) {
        (K::Int | K::Float, K::Int | K::Float) | (K::Objects, K::Text) => true,
        (K::Null | K::Categorical | K::Other, _) => false,
        (K::Timestamp, K::Timestamp) => from.detail == to.detail,
        (from, to) => from == to,
    };
    if is_same { Ok(()) } else { Err(Unfit::kind()) }
}

/// The missing values. NaN is a value for a type that stores it as one.
fn mask(chunk: &Chunk, from: &HostType<'_>, to: &HostType<'_>) -> Result<Vec<u8>> {
    if to.kind() != Kind::Float || to.marker() != Marker::NaN {
        return missing_mask(chunk, from);
    }
    let mut mask: Vec<u8> = fallible::defaults(chunk.n, VALUES)?;
    for (i, missing) in mask.iter_mut().enumerate() {
        *missing = u8::from(is_missing(chunk, i));
    }
    Ok(mask)
}

/// The value in the other type; `None` if that does not hold it.
fn converted<'a>(value: &'a [u8], from: &HostType<'_>, to: &HostType<'_>) -> Option<Converted<'a>> {
    let found = match to.kind() {
        Kind::Int | Kind::Float if from.of.physical == to.of.physical => {
            return Some(Converted::Bytes(value));
        }
        Kind::Int | Kind::Float => word(to.of.physical, number(from.of.physical, value)?)?,
        Kind::Decimal => {
            let value = integer(from.of.physical, value)?;
            let value = decimal(value, from.of.scale, to.of.scale, to.of.precision)?;
            integer_word(to.of.physical, value)?
        }
        Kind::Date | Kind::Time | Kind::Timestamp | Kind::Duration => {
            let value = integer(from.of.physical, value)?;
            let value = match from.of.unit == to.of.unit {
                true => value,
                false => rescaled(value, unit_len(from.of.unit)?, unit_len(to.of.unit)?)?,
            };
            integer_word(to.of.physical, value)?
        }
        _ => return fits_width(value, to).then_some(Converted::Bytes(value)),
    };
    let value = || integer(to.of.physical, found.get(..to.of.physical.width()?)?);
    if to.reserved().is_some() && value() == to.reserved() { None } else { Some(Converted::Word(found)) }
}

/// Whether a string has a place in strings of a fixed width, which drop zeros at the end.
fn fits_width(value: &[u8], to: &HostType<'_>) -> bool {
    let Some(width) = to.fixed_width() else { return true };
    let n = match to.of.physical {
        // Continuation bytes begin no character.
        Physical::Utf8 => value.iter().filter(|&&byte| byte & 0xc0 != 0x80).count(),
        _ => value.len(),
    };
    n as u64 <= width && value.last() != Some(&0)
}

/// The refusal of a value.
fn refused(value: &[u8], from: &HostType<'_>, row: usize) -> Refusal {
    let int = || integer(from.of.physical, value).unwrap_or_default();
    match from.kind() {
        Kind::Int | Kind::Float => match number(from.of.physical, value) {
            Some(number) => Unfit::at(&number.to_string(), row),
            None => Unfit::kind(),
        },
        Kind::Decimal => Unfit::at(&decimal_text(int(), from.of.scale), row),
        Kind::Date | Kind::Time | Kind::Timestamp | Kind::Duration => {
            Unfit::at(&format!("{} {}", Number::Int(int()), from.of.unit.name()), row)
        }
        Kind::Binary => Unfit::at("bytes", row),
        _ => Unfit::text_at(value, row),
    }
}

/// Whether a column has no rows, or only values that its host counts as missing.
pub(in crate::change) fn is_empty(chunk: &Chunk, of: &HostType<'_>) -> Result<bool> {
    Ok(missing_mask(chunk, of)?.iter().all(|&missing| missing != 0))
}

/// Whether a column has values that its host counts as missing.
pub(in crate::change) fn has_missing(chunk: &Chunk, of: &HostType<'_>) -> Result<bool> {
    Ok(missing_mask(chunk, of)?.contains(&1))
}

/// Missing values of a type; `None` if it has none.
pub(in crate::change) fn missing(of: &HostType<'_>, n: usize) -> Result<Option<Chunk>> {
    if of.of.physical == Physical::Null {
        return Ok(Some(Chunk { n, values: HostValues::Null, validity: HostValidity::AllValid }));
    }
    if of.marker() == Marker::None && n > 0 {
        return Ok(None);
    }
    let mut values = Builder::new(of.of.layout(), n)?;
    for _ in 0..n {
        push_missing(&mut values, of)?;
    }
    let mut mask: Vec<u8> = Vec::new();
    fallible::resize(&mut mask, n, 1, VALUES)?;
    Ok(Some(finish(values, mask, of)))
}

/// Adds what stands for a missing value.
fn push_missing(values: &mut Builder, of: &HostType<'_>) -> Result<()> {
    if of.marker() != Marker::NaN {
        return values.push_blank();
    }
    match of.of.physical {
        Physical::F16 => values.push(&0x7e00_u16.to_le_bytes()),
        Physical::F32 => values.push(&f32::NAN.to_le_bytes()),
        Physical::F64 => values.push(&f64::NAN.to_le_bytes()),
        Physical::Complex64 => values.push([f32::NAN, 0.0].map(f32::to_le_bytes).as_flattened()),
        Physical::Complex128 => values.push([f64::NAN, 0.0].map(f64::to_le_bytes).as_flattened()),
        _ => Err(Error::argument("a type has no NaN")),
    }
}

/// The chunk of values and missing ones.
fn finish(values: Builder, mut mask: Vec<u8>, of: &HostType<'_>) -> Chunk {
    if of.marker() == Marker::NaN {
        mask.fill(0);
    }
    values.chunk(mask)
}

#[cfg(test)]
mod tests {
    use entasis_format::{ColumnType, Logical, Missing, Unit, Value};

    use super::*;

    fn plain(physical: Physical, host_variant: u8) -> ColumnType {
        ColumnType { host_variant, ..ColumnType::plain(physical) }
    }

    fn host<'a>(host: &'a str, of: &'a ColumnType) -> HostType<'a> {
        HostType { host, of, detail: None, host_detail: None }
    }

    fn chunk<const W: usize>(of: &ColumnType, values: &[[u8; W]], mask: &[u8]) -> Chunk {
        let mut builder = Builder::new(of.layout(), values.len()).unwrap();
        values.iter().for_each(|value| builder.push(value).unwrap());
        builder.chunk(mask.to_vec())
    }

    fn texts(values: &[&str]) -> Chunk {
        let mut builder = Builder::new(Physical::Utf8.into(), values.len()).unwrap();
        values.iter().for_each(|value| builder.push(value.as_bytes()).unwrap());
        builder.chunk(vec![0; values.len()])
    }

    fn reason(result: std::result::Result<Chunk, Refusal>) -> Option<String> {
        match result {
            Err(Refusal::Unfit(unfit)) => unfit.reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn nan_of_numpy_is_missing_where_the_type_has_missing_values() {
        let (float, nullable, int) =
            (plain(Physical::F64, 0), plain(Physical::I64, 1), plain(Physical::I64, 0));
        let rows = chunk(&float, &[3.0, f64::NAN].map(f64::to_le_bytes), &[0, 0]);
        let found = convert(&rows, &host("pandas", &float), &host("pandas", &nullable)).unwrap();
        assert_eq!(bytes(&found, 0).unwrap(), 3_i64.to_le_bytes());
        assert!(is_missing(&found, 1) && !is_missing(&found, 0));
        let refusal = reason(convert(&rows, &host("pandas", &float), &host("pandas", &int)));
        assert_eq!(refusal.unwrap(), "a missing value in row 1");
        // NaN of Polars is a value.
        let refusal = reason(convert(&rows, &host("polars", &float), &host("polars", &int)));
        assert_eq!(refusal.unwrap(), "NaN in row 1");
    }

    #[test]
    fn missing_values_become_nan() {
        let (float, nullable) = (plain(Physical::F64, 0), plain(Physical::I64, 1));
        let rows = chunk(&nullable, &[3, i64::MAX].map(i64::to_le_bytes), &[0, 1]);
        let found = convert(&rows, &host("pandas", &nullable), &host("pandas", &float)).unwrap();
        assert_eq!(bytes(&found, 0).unwrap(), 3_f64.to_le_bytes());
        assert!(
            !is_missing(&found, 1) && is_empty(&found, &host("pandas", &float)).is_ok_and(|empty| !empty)
        );
        let Some(Number::Float(nan)) = number(Physical::F64, bytes(&found, 1).unwrap()) else { panic!() };
        assert!(nan.is_nan());
        let found = missing(&host("pandas", &float), 2).unwrap().unwrap();
        assert!(is_empty(&found, &host("pandas", &float)).unwrap());
        assert!(missing(&host("pandas", &plain(Physical::I64, 0)), 1).unwrap().is_none());
        assert!(missing(&host("pandas", &plain(Physical::I64, 0)), 0).unwrap().is_some());
    }

    #[test]
    fn markers_of_the_host_are_no_values() {
        let (float, int) = (plain(Physical::F64, 0), plain(Physical::I32, 0));
        let rows = chunk(&float, &[(-2_147_483_648.0_f64).to_le_bytes()], &[0]);
        assert!(convert(&rows, &host("polars", &float), &host("polars", &int)).is_ok());
        let refusal = reason(convert(&rows, &host("r", &float), &host("r", &int)));
        assert_eq!(refusal.unwrap(), "-2147483648.0 in row 0");
    }

    #[test]
    fn times_of_one_zone_change_their_unit() {
        let stamp = |unit| ColumnType {
            logical: Logical::Timestamp,
            missing: Missing::NaT,
            unit,
            ..ColumnType::plain(Physical::I64)
        };
        let (coarse, fine) = (stamp(Unit::Second), stamp(Unit::Millisecond));
        let rows = chunk(&fine, &[2000, 1500].map(i64::to_le_bytes), &[0, 0]);
        let refusal = reason(convert(&rows, &host("pandas", &fine), &host("pandas", &coarse)));
        assert_eq!(refusal.unwrap(), "1500 ms in row 1");
        let rows = chunk(&coarse, &[2, 0].map(i64::to_le_bytes), &[0, 1]);
        let found = convert(&rows, &host("pandas", &coarse), &host("pandas", &fine)).unwrap();
        assert_eq!(bytes(&found, 0).unwrap(), 2000_i64.to_le_bytes());
        assert!(is_missing(&found, 1));
        let zone = Value::from("UTC");
        let zoned = HostType { detail: Some(&zone), ..host("pandas", &fine) };
        assert_eq!(reason(convert(&rows, &host("pandas", &coarse), &zoned)), None);
    }

    #[test]
    fn strings_fit_a_width() {
        let of = plain(Physical::Utf8, 1);
        let width = Value::Int(2);
        let to = HostType { host_detail: Some(&width), ..host("numpy", &of) };
        assert!(convert(&texts(&["é€", ""]), &to, &to).is_ok());
        for text in ["abc", "a\0"] {
            let refusal = reason(convert(&texts(&["ab", text]), &to, &to)).unwrap();
            assert!(refusal.ends_with(" in row 1"), "{refusal}");
        }
        let long = reason(convert(&texts(&[&"x".repeat(1000)]), &to, &to)).unwrap();
        assert!(long.len() < 100, "{long}");
    }

    #[test]
    fn other_kinds_are_refused() {
        let (bools, ints, text) =
            (plain(Physical::Bool, 0), plain(Physical::I8, 0), plain(Physical::Utf8, 0));
        for (from, to) in [(&bools, &ints), (&ints, &bools), (&text, &ints), (&ints, &text)] {
            assert_eq!(reason(convert(&texts(&[]), &host("polars", from), &host("polars", to))), None);
        }
    }
}
