//! Numbers: integers, decimals, and floats by the fewest digits that read back.

/// Appends an integer.
#[inline(always)]
pub fn integer(value: impl itoa::Integer, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends a decimal of `value` units of `10^-scale`.
pub fn decimal(value: i128, scale: usize, mark: u8, out: &mut Vec<u8>) {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(value.unsigned_abs()).as_bytes();
    if value < 0 {
        out.push(b'-');
    }
    if scale == 0 {
        out.extend_from_slice(digits);
        return;
    }
    let whole = digits.len().saturating_sub(scale);
    if whole == 0 {
        out.push(b'0');
    }
    out.extend_from_slice(&digits[..whole]);
    out.push(mark);
    out.resize(out.len() + scale.saturating_sub(digits.len()), b'0');
    out.extend_from_slice(&digits[whole..]);
}

/// Appends a float by the fewest digits that read back as it (Zverovich, *Żmij*, 2025).
#[inline(always)]
pub fn float(value: impl zmij::Float + Into<f64>, mark: u8, out: &mut Vec<u8>) {
    let wide: f64 = value.into();
    if !wide.is_finite() {
        return not_finite(wide, out);
    }
    with_mark(zmij::Buffer::new().format_finite(value).as_bytes(), mark, out);
}

/// Appends a float by at most 15 significant digits, as `%.15g` does.
pub fn short_float(value: f64, mark: u8, out: &mut Vec<u8>) {
    if !value.is_finite() {
        return not_finite(value, out);
    }
    let text = format!("{value:.14e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    let text = if (-5..15).contains(&exponent) {
        let n_digits = digits.bytes().filter(u8::is_ascii_digit).count() as i32;
        format!("{value:.places$}", places = (n_digits - 1 - exponent).max(0) as usize)
    } else {
        format!("{digits}e{exponent}")
    };
    with_mark(text.as_bytes(), mark, out);
}

fn with_mark(text: &[u8], mark: u8, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(text);
    if mark != b'.'
        && let Some(point) = memchr::memchr(b'.', text)
    {
        out[start + point] = mark;
    }
}

#[cold]
fn not_finite(value: f64, out: &mut Vec<u8>) {
    let text: &[u8] = if value.is_nan() {
        b"NaN"
    } else if value > 0.0 {
        b"inf"
    } else {
        b"-inf"
    };
    out.extend_from_slice(text);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::values::PADDING;
    use crate::values::floats::{self, Number};

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn decimals() {
        for (value, scale, expected) in [
            (12_345, 2, "123.45"),
            (-5, 2, "-0.05"),
            (7, 0, "7"),
            (0, 4, "0.0000"),
            (-1, 18, "-0.000000000000000001"),
            (i128::MIN, 38, "-1.70141183460469231731687303715884105728"),
        ] {
            assert_eq!(text(|out| decimal(value, scale, b'.', out)), expected);
        }
        assert_eq!(text(|out| decimal(-5, 1, b',', out)), "-0,5");
    }

    #[test]
    fn floats_of_few_digits() {
        for (value, expected) in [
            (0.1, "0.1"),
            (1.0 / 3.0, "0.333333333333333"),
            (100.0, "100"),
            (1e15, "1e15"),
            (123_456_789_012_345.0, "123456789012345"),
            (1e-5, "0.00001"),
            (1.5e-7, "1.5e-7"),
            (-0.0, "-0"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(text(|out| short_float(value, b'.', out)), expected);
        }
    }

    proptest! {
        #[test]
        fn floats_come_back(bits: u64, mark in prop::sample::select(&[b'.', b','][..])) {
            let value = f64::from_bits(bits);
            let mut out = Vec::new();
            float(value, mark, &mut out);
            let len = out.len();
            out.resize(len + PADDING, b'x');
            let found = match floats::number(&out, 0, len, mark) {
                Some(Number::Float(found) | Number::Integer(found) | Number::Word(found)) => found,
                None => panic!("{}", String::from_utf8_lossy(&out)),
            };
            prop_assert!(found.to_bits() == bits || (found.is_nan() && value.is_nan()));
        }
    }
}
