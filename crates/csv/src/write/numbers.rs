//! Numbers: integers, decimals, and floats by the fewest digits that read back.

use super::cells::Slot;

/// The eight digits of a number below 10^8, the first one in the lowest byte, without `b'0'`:
/// halves, quarters and eighths are split off by multiplications, all at once.
#[inline(always)]
fn eight(value: u64) -> u64 {
    let halves = (value / 10_000) | ((value % 10_000) << 32);
    let hundreds = ((halves * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let quarters = hundreds | ((halves - 100 * hundreds) << 16);
    let tens = ((quarters * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | ((quarters - 10 * tens) << 8)
}

const ZEROS: u64 = 0x3030_3030_3030_3030;
const EIGHT: u64 = 100_000_000;

/// Writes a number below 10^8 without leading zeros from `at` on. Returns the end.
#[inline(always)]
fn first_digits(value: u64, slot: &mut Slot, at: usize) -> usize {
    let digits = eight(value);
    let n_zeros = (digits | (1 << 56)).trailing_zeros() / 8;
    slot[at..at + 8].copy_from_slice(&((digits | ZEROS) >> (8 * n_zeros)).to_le_bytes());
    at + 8 - n_zeros as usize
}

/// Writes all eight digits of a number below 10^8.
#[inline(always)]
fn more_digits(value: u64, slot: &mut Slot, at: usize) -> usize {
    slot[at..at + 8].copy_from_slice(&(eight(value) | ZEROS).to_le_bytes());
    at + 8
}

/// Writes an integer from `at` on. Returns the end.
#[inline(always)]
pub fn unsigned(value: u64, slot: &mut Slot, at: usize) -> usize {
    if value < EIGHT {
        return first_digits(value, slot, at);
    }
    let (rest, low) = (value / EIGHT, value % EIGHT);
    let at = if rest < EIGHT {
        first_digits(rest, slot, at)
    } else {
        let at = first_digits(rest / EIGHT, slot, at);
        more_digits(rest % EIGHT, slot, at)
    };
    more_digits(low, slot, at)
}

/// Writes an integer. Returns its length.
#[inline(always)]
pub fn signed(value: i64, slot: &mut Slot) -> usize {
    slot[0] = b'-';
    unsigned(value.unsigned_abs(), slot, usize::from(value < 0))
}

/// Writes an integer of 128 bits. Returns its length.
pub fn wide(value: impl itoa::Integer, slot: &mut Slot) -> usize {
    put(itoa::Buffer::new().format(value).as_bytes(), slot)
}

/// Writes a decimal of `value` units of `10^-scale`, `scale` at most 38. Returns its length.
pub fn decimal(value: i128, scale: usize, mark: u8, slot: &mut Slot) -> usize {
    let mut digits = [0; super::cells::SLOT];
    let size = value.unsigned_abs();
    let n_digits = match u64::try_from(size) {
        Ok(size) => unsigned(size, &mut digits, 0),
        Err(_) => wide(size, &mut digits),
    };
    slot[0] = b'-';
    let mut at = usize::from(value < 0);
    let mut put = |bytes: &[u8]| {
        slot[at..at + bytes.len()].copy_from_slice(bytes);
        at += bytes.len();
    };
    let n_whole = n_digits.saturating_sub(scale);
    put(if n_whole == 0 { b"0" } else { &digits[..n_whole] });
    if scale > 0 {
        put(&[mark]);
        put(&[b'0'; 38][..scale.saturating_sub(n_digits)]);
        put(&digits[n_whole..n_digits]);
    }
    at
}

/// Writes a float by the fewest digits that read back as it (Zverovich, *Żmij*, 2025). Returns its
/// length.
#[inline(always)]
pub fn float(value: impl zmij::Float + Into<f64>, mark: u8, slot: &mut Slot) -> usize {
    let wide: f64 = value.into();
    if !wide.is_finite() {
        return not_finite(wide, slot);
    }
    let len = put(zmij::Buffer::new().format_finite(value).as_bytes(), slot);
    with_mark(mark, slot, len)
}

/// Writes a float by at most 15 significant digits, as `%.15g` does. Returns its length.
pub fn short_float(value: f64, mark: u8, slot: &mut Slot) -> usize {
    if !value.is_finite() {
        return not_finite(value, slot);
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
    let len = put(text.as_bytes(), slot);
    with_mark(mark, slot, len)
}

/// Replaces the point.
#[inline(always)]
fn with_mark(mark: u8, slot: &mut Slot, len: usize) -> usize {
    if mark != b'.'
        && let Some(point) = memchr::memchr(b'.', &slot[..len])
    {
        slot[point] = mark;
    }
    len
}

#[cold]
fn not_finite(value: f64, slot: &mut Slot) -> usize {
    let text: &[u8] = if value.is_nan() {
        b"NaN"
    } else if value > 0.0 {
        b"inf"
    } else {
        b"-inf"
    };
    put(text, slot)
}

/// Copies a text by two words that overlap if it is short, which takes no call. Returns its length.
#[inline(always)]
fn put(text: &[u8], slot: &mut Slot) -> usize {
    let len = text.len();
    let is_put = put_words::<16>(text, slot) || put_words::<8>(text, slot) || put_words::<4>(text, slot);
    if !is_put {
        slot[..len].copy_from_slice(text);
    }
    len
}

/// Copies a text of `N` to `2 * N` bytes by its first and its last ones; `false` for other lengths.
#[inline(always)]
fn put_words<const N: usize>(text: &[u8], slot: &mut Slot) -> bool {
    let (Some(first), Some(last)) = (text.first_chunk::<N>(), text.last_chunk::<N>()) else { return false };
    let Some(rest) = text.len().checked_sub(N).filter(|&rest| rest <= N) else { return false };
    if let Some(to) = slot.first_chunk_mut() {
        *to = *first;
    }
    if let Some(to) = slot[rest..].first_chunk_mut() {
        *to = *last;
    }
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::cells::SLOT;
    use super::*;
    use crate::values::floats::{self, Number};

    fn text(write: impl FnOnce(&mut Slot) -> usize) -> String {
        let mut slot = [b'?'; SLOT];
        let len = write(&mut slot);
        String::from_utf8(slot[..len].to_vec()).unwrap()
    }

    #[test]
    fn decimals() {
        for (value, scale, expected) in [
            (12_345, 2, "123.45"),
            (-5, 2, "-0.05"),
            (7, 0, "7"),
            (0, 4, "0.0000"),
            (-1, 18, "-0.000000000000000001"),
            (10, 38, "0.00000000000000000000000000000000000010"),
            (i128::MIN, 38, "-1.70141183460469231731687303715884105728"),
        ] {
            assert_eq!(text(|slot| decimal(value, scale, b'.', slot)), expected);
        }
        assert_eq!(text(|slot| decimal(-5, 1, b',', slot)), "-0,5");
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
            assert_eq!(text(|slot| short_float(value, b'.', slot)), expected);
        }
    }

    #[test]
    fn integers_at_the_borders_of_their_groups() {
        let borders = (0..20).map(|i| 10u64.pow(i));
        for value in borders.flat_map(|border| [border - 1, border, border + 1]).chain([u64::MAX, 12_345_678])
        {
            assert_eq!(text(|slot| unsigned(value, slot, 0)), value.to_string());
        }
        for value in [0, -1, i64::MIN, i64::MAX, -100_000_000] {
            assert_eq!(text(|slot| signed(value, slot)), value.to_string());
        }
        assert_eq!(text(|slot| wide(u128::MAX, slot)), u128::MAX.to_string());
    }

    #[test]
    fn all_groups_of_eight_digits() {
        // Each step of the split looks at four, two, or one digit.
        for value in (0..10_000).flat_map(|four| [four, 10_000 * four]).chain([99_999_999]) {
            assert_eq!(text(|slot| more_digits(value, slot, 0)), format!("{value:08}"));
        }
    }

    proptest! {
        #[test]
        fn integers_are_printed(value: i64, shift in 0u32..64) {
            let value = value >> shift;
            prop_assert_eq!(text(|slot| signed(value, slot)), value.to_string());
        }

        #[test]
        fn floats_come_back(bits: u64, mark in prop::sample::select(&[b'.', b','][..])) {
            let value = f64::from_bits(bits);
            let mut out = [b'?'; SLOT];
            let len = float(value, mark, &mut out);
            let found = match floats::number(&out, 0, len, mark) {
                Some(Number::Float(found) | Number::Integer(found) | Number::Word(found)) => found,
                None => panic!("{}", String::from_utf8_lossy(&out)),
            };
            prop_assert!(found.to_bits() == bits || (found.is_nan() && value.is_nan()));
        }
    }
}
