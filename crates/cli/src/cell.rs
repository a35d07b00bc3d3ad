//! A value of a column as text, for people and as JSON.

use std::fmt::Write;

use entasis::{ColumnType, Logical, Physical, Unit};
use entasis_csv::write::half;

use crate::array::{Array, Values};
use crate::calendar::{self, Form};
use crate::json;
use crate::nested;
use crate::types::time_zone;

/// The bytes of a binary value that people see.
const MOST_BYTES: usize = 32;
/// The characters of a string that people see.
const MOST_CHARS: usize = 10_000;

/// The value for people, with control characters that are not yet escaped; `None` if missing.
pub(crate) fn text(array: &Array, i: usize) -> Option<String> {
    if let Values::Objects(objects) = &array.values {
        return objects.get(i).map(|object| object.text.clone());
    }
    if array.is_missing(i) {
        return None;
    }
    if let Values::Nested(inside) = &array.values {
        let mut text = String::new();
        nested::json(array, inside, i, &json, &mut text);
        return Some(text).filter(|text| text != "null");
    }
    let bytes = array.value(i)?;
    let column_type = &array.column_type;
    Some(match column_type.logical {
        Logical::Categorical => return text(array.categories.as_deref()?, code(column_type, bytes)?),
        Logical::Decimal => decimal(column_type, bytes)?,
        Logical::Uuid => uuid(bytes),
        Logical::Interval => interval(bytes)?,
        Logical::Plain | Logical::Period | Logical::Json | Logical::Extension => match column_type.physical {
            Physical::Utf8 => match str::from_utf8(bytes) {
                Ok(text) => text.chars().take(MOST_CHARS).collect(),
                Err(_) => hex(bytes),
            },
            Physical::Binary | Physical::FixedBytes => hex(bytes),
            _ => number(column_type, bytes),
        },
        _ => moment(array, bytes, Form::Plain)?,
    })
}

/// Appends the value as JSON: null if it is missing, text for times, hexadecimal digits for bytes,
/// and strings for floats that JSON does not have.
pub(crate) fn json(array: &Array, i: usize, out: &mut String) {
    if let Values::Objects(objects) = &array.values {
        return out.push_str(objects.get(i).map_or("null", |object| &object.text));
    }
    if let Values::Nested(inside) = &array.values
        && !array.is_missing(i)
    {
        return nested::json(array, inside, i, &json, out);
    }
    let Some(bytes) = array.value(i).filter(|_| !array.is_missing(i)) else {
        out.push_str("null");
        return;
    };
    let column_type = &array.column_type;
    match (column_type.logical, column_type.physical) {
        (Logical::Categorical, _) => match (array.categories.as_deref(), code(column_type, bytes)) {
            (Some(categories), Some(code)) => json(categories, code, out),
            _ => out.push_str("null"),
        },
        // All digits are printed, although a reader of JSON may not keep them.
        (Logical::Decimal, _) => out.push_str(&decimal(column_type, bytes).unwrap_or_default()),
        (Logical::Uuid, _) => json::string(out, &uuid(bytes)),
        (Logical::Interval, _) => json::string(out, &interval(bytes).unwrap_or_default()),
        (Logical::Plain | Logical::Json | Logical::Extension, Physical::Utf8) => {
            json::string(out, &String::from_utf8_lossy(bytes))
        }
        (Logical::Plain | Logical::Extension, Physical::Binary | Physical::FixedBytes) => {
            let _ = write!(out, "\"{}\"", Hex(bytes));
        }
        (Logical::Plain | Logical::Extension, Physical::Complex64 | Physical::Complex128) => {
            let _ = write!(out, "\"{}\"", number(column_type, bytes));
        }
        (Logical::Plain | Logical::Period | Logical::Extension, _) => {
            let text = number(column_type, bytes);
            match text.as_str() {
                "NaN" => out.push_str("\"NaN\""),
                "inf" => out.push_str("\"Infinity\""),
                "-inf" => out.push_str("\"-Infinity\""),
                text => out.push_str(text),
            }
        }
        _ => match moment(array, bytes, Form::Iso) {
            Some(text) if column_type.unit == Unit::None => out.push_str(&text),
            Some(text) => json::string(out, &text),
            None => out.push_str("null"),
        },
    }
}

fn moment(array: &Array, bytes: &[u8], form: Form) -> Option<String> {
    let column_type = &array.column_type;
    let (count, unit) = (i64::try_from(integer(column_type.physical, bytes)?).ok()?, column_type.unit);
    Some(match column_type.logical {
        Logical::Date if unit == Unit::Day => calendar::date(count.into()),
        Logical::Date if count % 86_400_000 == 0 => calendar::date(i128::from(count / 86_400_000)),
        Logical::Date => calendar::timestamp(count, unit, false, form),
        Logical::Time => calendar::time(count, unit),
        Logical::Duration => calendar::duration(count, unit, form),
        _ => calendar::timestamp(count, unit, time_zone(array.detail.as_ref()).is_some(), form),
    })
}

fn code(column_type: &ColumnType, bytes: &[u8]) -> Option<usize> {
    usize::try_from(integer(column_type.physical, bytes)?).ok()
}

fn integer(physical: Physical, bytes: &[u8]) -> Option<i128> {
    let mut wide = [0; 16];
    wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
    let unsigned = u64::from_le_bytes(*wide.first_chunk()?);
    Some(match physical {
        Physical::I8 => i128::from(unsigned as i8),
        Physical::I16 => i128::from(unsigned as i16),
        Physical::I32 => i128::from(unsigned as i32),
        Physical::I64 => i128::from(unsigned as i64),
        Physical::I128 => i128::from_le_bytes(wide),
        _ => i128::from(unsigned),
    })
}

/// A decimal with all its digits after the point.
fn decimal(column_type: &ColumnType, bytes: &[u8]) -> Option<String> {
    let text = number(column_type, bytes);
    let (sign, mut digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits.to_owned()),
        None => ("", text),
    };
    let scale = usize::from(column_type.scale.unsigned_abs());
    if column_type.scale < 0 {
        if digits != "0" {
            digits.extend(std::iter::repeat_n('0', scale));
        }
    } else if scale > 0 {
        let digits_and_zeros = format!("{digits:0>width$}", width = scale + 1);
        let (whole, rest) = digits_and_zeros.split_at(digits_and_zeros.len() - scale);
        digits = format!("{whole}.{rest}");
    }
    Some(format!("{sign}{digits}"))
}

/// A number or a boolean. Floats are the shortest text that reads back as the same float.
fn number(column_type: &ColumnType, bytes: &[u8]) -> String {
    let f32_at =
        |at: usize| bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0.0, |b| f32::from_le_bytes(*b));
    let f64_at =
        |at: usize| bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0.0, |b| f64::from_le_bytes(*b));
    match column_type.physical {
        Physical::U128 => bytes.first_chunk().map_or(0, |b| u128::from_le_bytes(*b)).to_string(),
        Physical::Bool => (bytes != [0]).to_string(),
        Physical::F16 => format!("{:?}", half(bytes.first_chunk().map_or(0, |b| u16::from_le_bytes(*b)))),
        Physical::F32 => format!("{:?}", f32_at(0)),
        Physical::F64 => format!("{:?}", f64_at(0)),
        Physical::Complex64 => format!("{:?}{:+?}i", f32_at(0), f32_at(4)),
        Physical::Complex128 => format!("{:?}{:+?}i", f64_at(0), f64_at(8)),
        Physical::I256 => long_integer(bytes),
        Physical::LongDouble => format!("{:?}", long_double(bytes)),
        physical => integer(physical, bytes).unwrap_or_default().to_string(),
    }
}

/// A universally unique identifier.
pub(crate) fn uuid(bytes: &[u8]) -> String {
    let group = |from: usize, to: usize| Hex(bytes.get(from..to).unwrap_or_default());
    format!("{}-{}-{}-{}-{}", group(0, 4), group(4, 6), group(6, 8), group(8, 10), group(10, 16))
}

/// Months; days and milliseconds; or months, days and nanoseconds.
fn interval(bytes: &[u8]) -> Option<String> {
    let i32_at = |at: usize| bytes.get(at..)?.first_chunk().map(|b| i64::from(i32::from_le_bytes(*b)));
    let parts = match bytes.len() {
        4 => vec![(i32_at(0)?, "months")],
        8 => vec![(i32_at(0)?, "days"), (i32_at(4)?, "ms")],
        _ => {
            let ns = i64::from_le_bytes(*bytes.get(8..)?.first_chunk()?);
            vec![(i32_at(0)?, "months"), (i32_at(4)?, "days"), (ns, "ns")]
        }
    };
    let last = parts.len() - 1;
    let is_shown =
        |(i, (n, _)): &(usize, &(i64, &str))| *n != 0 || (*i == last && parts.iter().all(|(n, _)| *n == 0));
    let shown = parts.iter().enumerate().filter(is_shown).map(|(_, (n, unit))| format!("{n} {unit}"));
    Some(shown.collect::<Vec<_>>().join(" "))
}

/// A signed integer of any number of bytes.
pub(crate) fn long_integer(bytes: &[u8]) -> String {
    // Digits to the base 10^9, least significant first. Bytes are added from the most significant
    // on.
    const BASE: u64 = 1_000_000_000;
    let is_negative = bytes.last().is_some_and(|&byte| byte >= 128);
    let mut digits: Vec<u64> = vec![0];
    let mut add = |value: u64| {
        let mut carry = value;
        for digit in &mut digits {
            carry += *digit << 8;
            (*digit, carry) = (carry % BASE, carry / BASE);
        }
        if carry > 0 {
            digits.push(carry);
        }
    };
    // A negative number is the complement of its absolute value minus one.
    bytes.iter().rev().for_each(|&byte| add(u64::from(if is_negative { !byte } else { byte })));
    if is_negative {
        let mut carry = 1;
        for digit in &mut digits {
            (*digit, carry) = ((*digit + carry) % BASE, (*digit + carry) / BASE);
        }
        if carry > 0 {
            digits.push(carry);
        }
    }
    let mut text = if is_negative { "-".to_owned() } else { String::new() };
    for (i, digit) in digits.iter().rev().enumerate() {
        let _ = if i == 0 { write!(text, "{digit}") } else { write!(text, "{digit:09}") };
    }
    text
}

/// The nearest 64-bit float to an 80-bit one, whose 64-bit fraction has an explicit leading one.
fn long_double(bytes: &[u8]) -> f64 {
    let mut wide = [0; 16];
    wide.iter_mut().zip(bytes).for_each(|(out, byte)| *out = *byte);
    let wide = u128::from_le_bytes(wide);
    let (fraction, exponent) = (wide as u64, (wide >> 64) as u32 & 0x7fff);
    let size = match exponent {
        0x7fff if fraction << 1 == 0 => f64::INFINITY,
        0x7fff => f64::NAN,
        // The result is rounded once, because both powers are exact. Outside of the range of f64,
        // they are 0 or infinite.
        _ => {
            let power = f64::from(exponent.max(1)) - 16_383.0 - 63.0;
            fraction as f64 * (power / 2.0).floor().exp2() * (power - (power / 2.0).floor()).exp2()
        }
    };
    if wide >> 79 & 1 == 1 { -size } else { size }
}

/// Bytes as hexadecimal digits: the first ones for people, all for JSON.
pub(crate) fn bytes_text(bytes: &[u8], for_people: bool) -> String {
    if for_people { hex(bytes) } else { Hex(bytes).to_string() }
}

fn hex(bytes: &[u8]) -> String {
    match bytes.get(..MOST_BYTES) {
        Some(start) if bytes.len() > MOST_BYTES => format!("{}… ({} bytes)", Hex(start), bytes.len()),
        _ => Hex(bytes).to_string(),
    }
}

/// Bytes as hexadecimal digits.
struct Hex<'a>(&'a [u8]);

impl std::fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        let cases: [(Physical, &[u8], &str); 10] = [
            (Physical::Bool, &[1], "true"),
            (Physical::I8, &[255], "-1"),
            (Physical::U8, &[255], "255"),
            (Physical::I64, &i64::MIN.to_le_bytes(), "-9223372036854775808"),
            (Physical::U64, &u64::MAX.to_le_bytes(), "18446744073709551615"),
            (Physical::F64, &1e300f64.to_le_bytes(), "1e300"),
            (Physical::F64, &(-0.0f64).to_le_bytes(), "-0.0"),
            (Physical::F32, &0.1f32.to_le_bytes(), "0.1"),
            (Physical::F16, &0x3555u16.to_le_bytes(), "0.33325195"),
            (Physical::Complex64, &[0, 0, 128, 63, 0, 0, 0, 192], "1.0-2.0i"),
        ];
        for (physical, bytes, text) in cases {
            assert_eq!(number(&ColumnType::plain(physical), bytes), text);
        }
        let unsigned = ColumnType::plain(Physical::U128);
        assert_eq!(number(&unsigned, &[255; 16]), u128::MAX.to_string());
    }

    #[test]
    fn decimals() {
        let cases: [(u8, i8, i128, &str); 12] = [
            (5, 2, 12_345, "123.45"),
            (5, 2, -5, "-0.05"),
            (5, 0, 7, "7"),
            (18, 4, 0, "0.0000"),
            (18, 18, -1, "-0.000000000000000001"),
            (5, 8, 12_345, "0.00012345"),
            (38, -3, -12, "-12000"),
            (38, -3, 0, "0"),
            (38, 38, i128::MIN, "-1.70141183460469231731687303715884105728"),
            (60, 2, i128::MIN, "-1701411834604692317316873037158841057.28"),
            (60, 0, -1, "-1"),
            (60, -1, 1_000_000_000_000_000_001, "10000000000000000010"),
        ];
        for (precision, scale, value, text) in cases {
            let of = ColumnType::decimal(precision, scale).unwrap();
            let mut bytes = [if value < 0 { 255 } else { 0 }; 32];
            bytes[..16].copy_from_slice(&value.to_le_bytes());
            assert_eq!(decimal(&of, &bytes[..of.physical.width().unwrap()]).as_deref(), Some(text));
        }
    }

    #[test]
    fn intervals() {
        let of = |parts: &[&[u8]]| interval(&parts.concat()).unwrap();
        assert_eq!(of(&[&(-3i32).to_le_bytes()]), "-3 months");
        assert_eq!(of(&[&1i32.to_le_bytes(), &0i32.to_le_bytes()]), "1 days");
        assert_eq!(of(&[&0i32.to_le_bytes(), &0i32.to_le_bytes()]), "0 ms");
        let long = of(&[&1i32.to_le_bytes(), &2i32.to_le_bytes(), &(-5i64).to_le_bytes()]);
        assert_eq!(long, "1 months 2 days -5 ns");
        let bytes: Vec<u8> = (0..16).collect();
        assert_eq!(uuid(&bytes), "00010203-0405-0607-0809-0a0b0c0d0e0f");
    }

    #[test]
    fn long_numbers() {
        let two_to_the_255 = "57896044618658097711785492504343953926634992332820282019728792003956564819968";
        let mut least = [0; 32];
        least[31] = 128;
        assert_eq!(long_integer(&least), format!("-{two_to_the_255}"));
        assert_eq!(long_integer(&[255; 32]), "-1");
        assert_eq!(long_integer(&[0; 32]), "0");
        let of = |fraction: u64, sign_and_exponent: u16| {
            let mut bytes = [0; 16];
            bytes[..8].copy_from_slice(&fraction.to_le_bytes());
            bytes[8..10].copy_from_slice(&sign_and_exponent.to_le_bytes());
            long_double(&bytes)
        };
        assert_eq!(of(1 << 63, 16_383), 1.0);
        assert_eq!(of(0xA000_0000_0000_0000, 16_384 | 0x8000), -2.5);
        assert_eq!(of(0xCCCC_CCCC_CCCC_CCCD, 16_383 - 4), 0.1);
        assert_eq!(of(1 << 63, 16_383 - 1074), f64::from_bits(1));
        assert_eq!((of(0, 0), of(1 << 63, 0x7ffe), of(1 << 63, 1)), (0.0, f64::INFINITY, 0.0));
        assert!(of(0, 0x8000).is_sign_negative() && of(3 << 62, 0x7fff).is_nan());
        assert_eq!(of(1 << 63, 0xffff), f64::NEG_INFINITY);
    }

    #[test]
    fn halves() {
        let cases =
            [(0, 0.0), (0x8000, -0.0), (1, 5.960_464_5e-8), (0x3c00, 1.0), (0x7bff, 65504.0), (0xc000, -2.0)];
        for (bits, value) in cases {
            assert_eq!(half(bits).to_bits(), f32::to_bits(value));
        }
        assert!(half(0x7e00).is_nan() && half(0xfc00) == f32::NEG_INFINITY);
    }
}
