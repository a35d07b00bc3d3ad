//! Decimals of at most 38 digits.

use memchr::memchr;

use super::integers::digits;

/// The most digits of a decimal.
pub const MOST_DIGITS: u8 = 38;

/// The powers of ten that 128 bits hold.
const TENS: [i128; 39] = {
    let mut tens = [1; 39];
    let mut i = 1;
    while i < 39 {
        tens[i] = 10 * tens[i - 1];
        i += 1;
    }
    tens
};

/// The number in `text[start..end]` as an integer of units of `10^-scale`, with the decimal mark
/// `mark`. `-0` is zero, which has no sign here.
///
/// `None` for texts that are not written like a number (see [`number`](super::floats::number)), for
/// words such as `NaN`, for numbers that have digits after the scale other than zeros, and for
/// those that have more than `precision` digits.
#[inline(always)]
pub fn decimal(
    text: &[u8],
    start: usize,
    end: usize,
    mark: u8,
    (precision, scale): (u8, u8),
) -> Option<i128> {
    let is_negative = text[start] == b'-';
    let unsigned = start + usize::from(is_negative);
    let value = match short(text, unsigned, end, mark, scale) {
        Some(value) => value,
        None => long(&text[unsigned..end], mark, scale)?,
    };
    let most = TENS[usize::from(precision.min(MOST_DIGITS))];
    (value < most).then_some(if is_negative { -value } else { value })
}

/// Numbers of at most 19 digits without an exponent, and with no more places than the scale.
#[inline(always)]
fn short(text: &[u8], at: usize, end: usize, mark: u8, scale: u8) -> Option<i128> {
    let point = memchr(mark, &text[at..end]).map_or(end, |point| at + point);
    let before = point - at;
    let after = end.saturating_sub(point + 1);
    let is_padded = before > 1 && text[at] == b'0';
    if before + after == 0 || before + after > 19 || is_padded || after > usize::from(scale) {
        return None;
    }
    let (whole, part) = (digits(text, at, before)?, digits(text, point + 1, after)?);
    let mantissa = i128::from(whole) * TENS[after] + i128::from(part);
    mantissa.checked_mul(*TENS.get(usize::from(scale) - after)?)
}

#[inline(never)]
fn long(unsigned: &[u8], mark: u8, scale: u8) -> Option<i128> {
    let count = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let before = count(unsigned);
    if before > 1 && unsigned[0] == b'0' {
        return None;
    }
    let mut rest = &unsigned[before..];
    let mut part: &[u8] = &[];
    if rest.first() == Some(&mark) {
        (part, rest) = rest[1..].split_at(count(&rest[1..]));
    }
    if before + part.len() == 0 {
        return None;
    }
    let exponent = match rest {
        [] => 0,
        [b'e' | b'E', exponent @ ..] => power(exponent)?,
        _ => return None,
    };
    let all = || unsigned[..before].iter().chain(part);
    let n_after = all().rev().take_while(|&&byte| byte == b'0').count();
    let significant = all().take(before + part.len() - n_after).skip_while(|&&byte| byte == b'0');
    let mut value = 0i128;
    for byte in significant {
        // More than 38 digits do not fit, since the last one is not zero.
        value = value.checked_mul(10)?.checked_add(i128::from(byte - b'0'))?;
    }
    if value == 0 {
        return Some(0);
    }
    let places = (part.len() as i64).checked_sub(n_after as i64)?;
    let shift = exponent.checked_sub(places)?.checked_add(i64::from(scale))?;
    value.checked_mul(*TENS.get(usize::try_from(shift).ok()?)?)
}

/// An exponent with or without a sign. One that 64 bits do not hold is the nearest that they do.
fn power(text: &[u8]) -> Option<i64> {
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let add = |power: i64, byte: &u8| power.saturating_mul(10).saturating_add(i64::from(byte - b'0'));
    let power = digits.iter().fold(0, add);
    Some(if is_negative { -power } else { power })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::values::PADDING;
    use crate::values::floats::{Number, number};

    fn parse(field: &str, precision: u8, scale: u8) -> Option<i128> {
        let text = [b"9.9".as_slice(), field.as_bytes(), &[b'9'; PADDING]].concat();
        decimal(&text, 3, 3 + field.len(), b'.', (precision, scale))
    }

    #[test]
    fn values_must_fit_precision_and_scale() {
        for (field, expected) in [
            ("0", Some(0)),
            ("-0", Some(0)),
            ("-0.00", Some(0)),
            ("1", Some(100)),
            ("1.5", Some(150)),
            ("-1.05", Some(-105)),
            (".5", Some(50)),
            ("5.", Some(500)),
            ("1.500", Some(150)),
            ("1.505", None),
            ("999.99", Some(99_999)),
            ("1000", None),
            ("-1000.00", None),
            ("1e2", Some(10_000)),
            ("1E-2", Some(1)),
            ("12.5e+1", Some(12_500)),
            ("1e-3", None),
            ("0e99999999999999999999", Some(0)),
            ("1e99999999999999999999", None),
            ("1e-99999999999999999999", None),
            ("0.0000000000000000000000000000000000000000000", Some(0)),
            ("100000000000000000000000000000000000000000e-40", Some(1000)),
        ] {
            assert_eq!(parse(field, 5, 2), expected, "{field}");
        }
        let most = "99999999999999999999999999999999999999";
        assert_eq!(parse(most, 38, 0), Some(TENS[38] - 1));
        assert_eq!(parse(&format!("-0.{most}"), 38, 38), Some(1 - TENS[38]));
        assert_eq!(parse(&format!("1{}", "0".repeat(38)), 38, 0), None);
        assert_eq!(parse(&format!("0.{most}1"), 38, 38), None);
        assert_eq!(parse("9999999999999999999", 38, 20), None);
        assert_eq!(parse("999999999999999999", 38, 20), Some((TENS[18] - 1) * TENS[20]));
    }

    #[test]
    fn other_forms_are_no_decimals() {
        for field in [
            "", "-", ".", "-.", "+1", "007", "00.5", "1,5", "1 ", "1_0", "NaN", "inf", "e5", "1e", "1e+",
            "0x1",
        ] {
            assert_eq!(if field.is_empty() { None } else { parse(field, 38, 2) }, None, "{field}");
        }
    }

    proptest! {
        #[test]
        fn decimals_are_written_back(value in -(10i128.pow(20))..10i128.pow(20), scale in 1u8..19, zeros in 0usize..3) {
            let unit = 10u128.pow(u32::from(scale));
            let sign = if value < 0 { "-" } else { "" };
            let (whole, part) = (value.unsigned_abs() / unit, value.unsigned_abs() % unit);
            let field = format!("{sign}{whole}.{part:0width$}{}", "0".repeat(zeros), width = usize::from(scale));
            prop_assert_eq!(parse(&field, 38, scale), Some(value));
            prop_assert_eq!(parse(&field, 38, scale + 4), Some(value * 10_000));
        }

        #[test]
        fn they_have_the_forms_of_doubles(field in "-?[0-9]{0,4}(\\.[0-9]{0,3})?(e[+-]?[0-9]{0,2})?") {
            prop_assume!(!field.is_empty());
            let text = [field.as_bytes(), &[b'9'; PADDING]].concat();
            let is_number = matches!(number(&text, 0, field.len(), b'.'), Some(Number::Float(_) | Number::Integer(_)));
            // Powers up to 99 do not fit.
            let is_small = !field.contains('e') || parse(&field, 38, 18).is_some();
            prop_assume!(is_small);
            prop_assert_eq!(parse(&field, 38, 18).is_some(), is_number);
        }
    }
}
