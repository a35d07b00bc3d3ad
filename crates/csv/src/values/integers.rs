//! Integers, in the one way to write each: no sign but a minus, no zeros before the first digit.

use super::word;

const ZEROS: u64 = u64::from_le_bytes([b'0'; 8]);

/// The value of `len` digits from `at` on, at most 8; `None` if one is another byte.
///
/// The digits become one number by three multiplications (Muła, *SIMD-ized parsing of integers*;
/// Lemire, *Quickly parsing eight digits*, 2018).
#[inline(always)]
fn up_to_eight(text: &[u8], at: usize, len: usize) -> Option<u64> {
    let bits = 8 * len as u32;
    // The digits move to the end, after zeros.
    let digits = word(text, at).unbounded_shl(64 - bits) | ZEROS.unbounded_shr(bits);
    let above = digits.wrapping_add(0x4646_4646_4646_4646);
    let below = digits.wrapping_sub(ZEROS);
    if (above | below) & 0x8080_8080_8080_8080 != 0 {
        return None;
    }
    let pairs = below.wrapping_mul(10) + (below >> 8);
    let low = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(0x000f_4240_0000_0064);
    let high = (pairs >> 16 & 0x0000_00ff_0000_00ff).wrapping_mul(0x0000_2710_0000_0001);
    Some(low.wrapping_add(high) >> 32)
}

/// The value of `len` digits from `at` on, at most 19, zeros before the first other digit allowed;
/// `None` if one is another byte, or there are more.
#[inline(always)]
pub(crate) fn digits(text: &[u8], at: usize, len: usize) -> Option<u64> {
    match len {
        0..=8 => up_to_eight(text, at, len),
        9..=16 => {
            let high = up_to_eight(text, at, len - 8)?;
            Some(high * 100_000_000 + up_to_eight(text, at + len - 8, 8)?)
        }
        17..=19 => {
            let high = up_to_eight(text, at, len - 16)?;
            let low =
                up_to_eight(text, at + len - 16, 8)? * 100_000_000 + up_to_eight(text, at + len - 8, 8)?;
            Some(high * 10_000_000_000_000_000 + low)
        }
        _ => None,
    }
}

/// The integer without sign in `text[start..end]`.
#[inline(always)]
pub fn unsigned(text: &[u8], start: usize, end: usize) -> Option<u64> {
    let len = end - start;
    if len == 0 || (len > 1 && text[start] == b'0') {
        return None;
    }
    match len {
        0..=19 => digits(text, start, len),
        20 => {
            let high = digits(text, start, 19)?;
            high.checked_mul(10)?.checked_add(digits(text, start + 19, 1)?)
        }
        _ => None,
    }
}

/// The integer in `text[start..end]`. `-0` is none, as it is not written like zero.
#[inline(always)]
pub fn signed(text: &[u8], start: usize, end: usize) -> Option<i64> {
    if start < end && text[start] == b'-' {
        let value = unsigned(text, start + 1, end)?;
        return if value == 0 { None } else { 0i64.checked_sub_unsigned(value) };
    }
    i64::try_from(unsigned(text, start, end)?).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(field: &str) -> (Option<i64>, Option<u64>) {
        let text = [b"77".as_slice(), field.as_bytes(), &[b'7'; 32]].concat();
        (signed(&text, 2, 2 + field.len()), unsigned(&text, 2, 2 + field.len()))
    }

    #[test]
    fn only_the_shortest_form_is_an_integer() {
        for text in
            ["", "-", "007", "-01", "00", "+1", "-0", "1_000", "1,234", "1 ", "0x1F", "1e3", "--1", "١"]
        {
            assert_eq!(parse(text), (None, None), "{text}");
        }
        assert_eq!(parse("0"), (Some(0), Some(0)));
        assert_eq!(parse("18446744073709551615"), (None, Some(u64::MAX)));
        assert_eq!(parse("18446744073709551616"), (None, None));
        assert_eq!(parse("-9223372036854775808"), (Some(i64::MIN), None));
        assert_eq!(parse("-9223372036854775809"), (None, None));
        assert_eq!(parse("99999999999999999999"), (None, None));
    }

    proptest! {
        #[test]
        fn integers_are_those_of_the_standard_library(value in any::<i64>(), shift in 0u32..64) {
            let value = value >> shift;
            let expected = (Some(value), u64::try_from(value).ok());
            prop_assert_eq!(parse(&value.to_string()), expected);
        }

        #[test]
        fn a_byte_that_is_no_digit_is_found(value in any::<u64>(), at in 0usize..20, byte in any::<u8>()) {
            let mut field = value.to_string().into_bytes();
            let at = at % field.len();
            field[at] = byte;
            let text = [field.as_slice(), &[b'0'; 32]].concat();
            let is_canonical = field.len() == 1 || field[0] != b'0';
            let expected = std::str::from_utf8(&field).ok()
                .filter(|text| is_canonical && text.bytes().all(|byte| byte.is_ascii_digit()))
                .and_then(|text| text.parse::<u64>().ok());
            prop_assert_eq!(unsigned(&text, 0, field.len()), expected);
        }
    }
}
