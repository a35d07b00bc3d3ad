//! Decimal numbers to the nearest double.
//!
//! Numbers of at most 19 digits, zeros at their start apart, and without an exponent have a path of
//! their own: one exact division
//! for those of at most 53 bits (Clinger, *How to read floating point numbers accurately*, 1990),
//! one or two multiplications for the others (Lemire, *Number parsing at a gigabyte per second*,
//! 2021). `fast-float2` parses the rest.

use memchr::memchr;

use super::integers::digits;
use super::word;

const EXACT: u64 = 1 << 53;
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];
const TENS: [u64; 20] = {
    let mut tens = [1; 20];
    let mut i = 1;
    while i < 20 {
        tens[i] = 10 * tens[i - 1];
        i += 1;
    }
    tens
};

/// The form of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// With a point or an exponent, or `-0`.
    Float(f64),
    /// Like an integer that a double holds.
    Integer(f64),
    /// `NaN` or an infinity.
    Word(f64),
}

/// The number in `text[start..end]`, whose decimal mark is `mark`.
///
/// `None` for other texts, for integers that a double does not hold, for zeros before the first
/// other digit of the integer part, and for numbers that would become infinite, or zero without
/// being it.
#[inline(always)]
pub fn number(text: &[u8], start: usize, end: usize, mark: u8) -> Option<Number> {
    match short(text, start, end, mark) {
        Some(value) => Some(value),
        None => long(&text[start..end], mark),
    }
}

/// Numbers with a point that fit the exact way.
#[inline(always)]
fn short(text: &[u8], start: usize, end: usize, mark: u8) -> Option<Number> {
    let is_negative = text[start] == b'-';
    let at = start + usize::from(is_negative);
    let point = first(text, at, end, mark)?;
    let (before, after) = (point - at, end - point - 1);
    if before == 0 || after == 0 || (before > 1 && text[at] == b'0') {
        return None;
    }
    let mantissa = if before + after <= 19 {
        digits(text, at, before)? * TENS[after] + digits(text, point + 1, after)?
    } else if text[at] == b'0' && after < POWERS.len() {
        // Zeros at the start are not digits of the mantissa.
        let n_zeros = after.saturating_sub(19);
        let (zeros, from) = (&text[point + 1..], point + 1 + n_zeros);
        if zeros[..n_zeros].iter().any(|&byte| byte != b'0') {
            return None;
        }
        digits(text, from, after - n_zeros)?
    } else {
        return None;
    };
    let value = if mantissa <= EXACT { mantissa as f64 / POWERS[after] } else { scaled(mantissa, after) };
    Some(Number::Float(if is_negative { -value } else { value }))
}

/// 128 bits of `1 / 5^i`, the highest one set, rounded up.
const RECIPROCALS: [u128; POWERS.len()] = {
    let mut table = [0; POWERS.len()];
    let (mut i, mut power) = (0, 1u64);
    while i < table.len() {
        let n_bits = 127 + (if power == 1 { 0 } else { 64 - (power - 1).leading_zeros() });
        // Long division of 2^n_bits.
        let (mut quotient, mut rest, mut bit) = (0u128, 1u128, 0);
        while bit < n_bits {
            rest *= 2;
            quotient *= 2;
            if rest >= power as u128 {
                rest -= power as u128;
                quotient += 1;
            }
            bit += 1;
        }
        table[i] = if power == 1 { 1 << 127 } else { quotient + 1 };
        power *= 5;
        i += 1;
    }
    table
};

/// The double that is nearest to `mantissa / 10^places`, for a mantissa above 2^53 and at most 22
/// places.
///
/// The mantissa is multiplied by the reciprocal of a power of five. The 128 bits of it suffice for
/// these powers, except to see ties, which need an exact quotient (Lemire 2021, section 6).
#[inline(always)]
fn scaled(mantissa: u64, places: usize) -> f64 {
    let shift = mantissa.leading_zeros();
    let mantissa = mantissa << shift;
    let reciprocal = RECIPROCALS[places];
    let mut product = u128::from(mantissa) * u128::from((reciprocal >> 64) as u64);
    if (product >> 64) as u64 & 0x1ff == 0x1ff {
        product += (u128::from(mantissa) * u128::from(reciprocal as u64)) >> 64;
    }
    let (high, low) = ((product >> 64) as u64, product as u64);
    let upper = (high >> 63) as u32;
    let mut bits = high >> (upper + 9);
    // The power of two of the quotient.
    let mut power = ((-(places as i32) * 217_706) >> 16) + 63 + upper as i32 - shift as i32;
    if low <= 1 && places <= 4 && bits & 3 == 1 && bits << (upper + 9) == high {
        bits &= !1;
    }
    bits = (bits + (bits & 1)) >> 1;
    if bits == 1 << 53 {
        bits >>= 1;
        power += 1;
    }
    f64::from_bits((bits & ((1 << 52) - 1)) | ((power + 1023) as u64) << 52)
}

/// The first place of `mark` in `text[at..end]`.
#[inline(always)]
fn first(text: &[u8], mut at: usize, end: usize, mark: u8) -> Option<usize> {
    while at < end {
        let differs = word(text, at) ^ u64::from_le_bytes([mark; 8]);
        // The lowest zero byte is found exactly; bytes above it may be found wrongly.
        let zeros = differs.wrapping_sub(0x0101_0101_0101_0101) & !differs & 0x8080_8080_8080_8080;
        if zeros != 0 {
            let point = at + zeros.trailing_zeros() as usize / 8;
            return (point < end).then_some(point);
        }
        at += 8;
    }
    None
}

#[inline(never)]
fn long(field: &[u8], mark: u8) -> Option<Number> {
    let is_negative = field.first() == Some(&b'-');
    let unsigned = &field[usize::from(is_negative)..];
    let before = unsigned.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut rest = &unsigned[before..];
    if before > 1 && unsigned[0] == b'0' {
        return None;
    }
    let mut n_digits = before;
    if rest.first() == Some(&mark) {
        let after = rest[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        n_digits += after;
        rest = &rest[1 + after..];
    }
    if n_digits == 0 {
        return words(field);
    }
    if let Some(exponent) = rest.strip_prefix(b"e").or_else(|| rest.strip_prefix(b"E")) {
        let unsigned = exponent.strip_prefix(b"-").or_else(|| exponent.strip_prefix(b"+"));
        let unsigned = unsigned.unwrap_or(exponent);
        if unsigned.is_empty() || !unsigned.iter().all(u8::is_ascii_digit) {
            return None;
        }
    } else if !rest.is_empty() {
        return None;
    }
    if before == unsigned.len() {
        return integer(unsigned, is_negative);
    }
    let value: f64 = if mark == b'.' {
        fast_float2::parse(field).ok()?
    } else {
        let mut with_point = field.to_vec();
        if let Some(at) = memchr(mark, field) {
            with_point[at] = b'.';
        }
        fast_float2::parse(with_point).ok()?
    };
    let mantissa = unsigned.iter().take_while(|&&byte| byte != b'e' && byte != b'E');
    let is_zero = mantissa.clone().all(|&byte| byte == b'0' || byte == mark);
    (value.is_finite() && is_zero == (value == 0.0)).then_some(Number::Float(value))
}

/// The nearest float of 32 bits to the number in `text[start..end]`, under the rules of [`number`].
pub fn single(text: &[u8], start: usize, end: usize, mark: u8) -> Option<f32> {
    let double = match number(text, start, end, mark)? {
        Number::Word(value) => return Some(value as f32),
        Number::Integer(value) => {
            return (f64::from(value as f32) == value).then_some(value as f32);
        }
        Number::Float(value) => value,
    };
    // The nearest float of the double need not be the nearest one of the text.
    let mut field = text[start..end].to_vec();
    if let Some(at) = memchr(mark, &field) {
        field[at] = b'.';
    }
    let value: f32 = fast_float2::parse(&field).ok()?;
    (value.is_finite() && (value == 0.0) == (double == 0.0)).then_some(value)
}

/// An integer of 64 bits that a double holds.
fn integer(digits: &[u8], is_negative: bool) -> Option<Number> {
    let value: u64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    let float = value as f64;
    if float as u128 != u128::from(value) {
        return None;
    }
    Some(match (is_negative, value) {
        (true, 0) => Number::Float(-0.0),
        (true, _) if value > 1 << 63 => return None,
        (true, _) => Number::Integer(-float),
        (false, _) => Number::Integer(float),
    })
}

fn words(field: &[u8]) -> Option<Number> {
    let (sign, word) = match field {
        [b'-', word @ ..] => (-1.0, word),
        [b'+', word @ ..] => (1.0, word),
        word => (1.0, word),
    };
    match word {
        b"NaN" => Some(Number::Word(f64::NAN.copysign(sign))),
        b"inf" | b"Inf" | b"Infinity" => Some(Number::Word(f64::INFINITY.copysign(sign))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(field: &str) -> Option<Number> {
        let text = [b"9.9".as_slice(), field.as_bytes(), &[b'9'; 32]].concat();
        number(&text, 3, 3 + field.len(), b'.')
    }

    #[test]
    fn other_forms_are_no_numbers() {
        let texts = [
            "-",
            ".",
            "-.",
            "e5",
            "1e",
            "1e+",
            "007",
            "00.5",
            "+1.5",
            "1.5 ",
            "1_0.5",
            "1,5",
            "5 %",
            "1.5.2",
            "0x1p3",
            "1e400",
            "-1e400",
            "1e-400",
            "9007199254740993",
            "nan",
            "INF",
            "infin",
            "--1.5",
            "340282366920938463463374607431768211456",
        ];
        for text in texts {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn each_form_has_its_kind() {
        for (text, value) in
            [("1.5", 1.5), (".5", 0.5), ("5.", 5.0), ("1e3", 1e3), ("2E-2", 0.02), ("-0.0", -0.0)]
        {
            let Some(Number::Float(parsed)) = parse(text) else { panic!("{text}") };
            assert_eq!(parsed.to_bits(), f64::to_bits(value), "{text}");
        }
        assert_eq!(parse("-7"), Some(Number::Integer(-7.0)));
        assert_eq!(parse("18446744073709551615"), None);
        assert_eq!(parse("9223372036854775808"), Some(Number::Integer(9_223_372_036_854_775_808.0)));
        let Some(Number::Float(zero)) = parse("-0") else { panic!() };
        assert!(zero == 0.0 && zero.is_sign_negative());
        assert_eq!(parse("-Infinity"), Some(Number::Word(f64::NEG_INFINITY)));
        assert!(matches!(parse("NaN"), Some(Number::Word(nan)) if nan.is_nan()));
    }

    #[test]
    fn the_decimal_mark_is_the_given_one() {
        let text = [b"1234,5".as_slice(), &[0; 32]].concat();
        assert_eq!(number(&text, 0, 6, b','), Some(Number::Float(1234.5)));
        let text = [b"1,5e300".as_slice(), &[0; 32]].concat();
        assert_eq!(number(&text, 0, 7, b','), Some(Number::Float(1.5e300)));
        assert_eq!(number(&text, 0, 7, b'.'), None);
    }

    proptest! {
        #[test]
        fn doubles_come_back(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            for text in [format!("{value:e}"), format!("{value:?}"), format!("{value:.20e}")] {
                let Some(Number::Float(parsed)) = parse(&text) else { panic!("{text}") };
                prop_assert_eq!(parsed.to_bits(), bits, "{}", text);
            }
        }

        #[test]
        fn short_numbers_are_the_nearest_doubles(mantissa in 9_007_199_254_740_993u64..10_000_000_000_000_000_000, places in 1usize..20) {
            let digits = format!("{mantissa:020}");
            let text = format!("{}.{}", digits[..20 - places].trim_start_matches('0'), &digits[20 - places..]);
            let text = if text.starts_with('.') { format!("0{text}") } else { text };
            let Some(Number::Float(parsed)) = parse(&text) else { panic!("{text}") };
            prop_assert_eq!(parsed.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{}", text);
        }

        #[test]
        fn small_numbers_are_the_nearest_doubles(
            mantissa in 0u64..10_000_000_000_000_000_000,
            shift in 0u32..64,
            places in 17usize..25,
        ) {
            let text = format!("0.{:0places$}", mantissa >> shift);
            let Some(Number::Float(parsed)) = parse(&text) else { panic!("{text}") };
            prop_assert_eq!(parsed.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{}", text);
        }

        #[test]
        fn ties_are_even(value in 9_007_199_254_740_992u64..1_000_000_000_000_000_000, places in 1usize..5) {
            // Halfway between two doubles: an odd number of halves of the last bit.
            let exponent = 63 - value.leading_zeros();
            let half = 1u64 << (exponent - 53);
            let tie = value / (2 * half) * (2 * half) + half;
            let Some(scaled) = tie.checked_mul(10u64.pow(places as u32)) else { return Ok(()) };
            if scaled.to_string().len() > 19 {
                return Ok(());
            }
            let text = format!("{tie}.{}", "0".repeat(places));
            let Some(Number::Float(parsed)) = parse(&text) else { panic!("{text}") };
            prop_assert_eq!(parsed.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{}", text);
        }

        #[test]
        fn decimals_are_the_nearest_doubles(whole in any::<u64>(), shift in 0u32..64, places in 1usize..18, fraction in any::<u64>()) {
            let fraction = format!("{fraction:020}");
            let text = format!("{}.{}", whole >> shift, &fraction[..places]);
            let Some(Number::Float(parsed)) = parse(&text) else { panic!("{text}") };
            prop_assert_eq!(parsed.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{}", text);
        }
    }
}
