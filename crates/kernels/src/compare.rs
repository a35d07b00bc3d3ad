//! Tests values against intervals, one byte of result per value.

use crate::dispatch::multiversion;
use crate::word::Word;

/// Sets `out[i]` to 1 where `low <= values[i] <= low + span`, in the circle of words modulo
/// 2^BITS, and leaves the other bytes unchanged.
///
/// Both orders of integers are covered: an interval of signed integers is also an interval of their
/// bit patterns. Returns false when `out` and `values` differ in length.
#[must_use]
pub fn mark_interval<T: Word>(values: &[T], low: T, span: T, out: &mut [u8]) -> bool {
    if values.len() != out.len() {
        return false;
    }
    integers(values, low, span, out);
    true
}

/// As [`mark_interval`], for the bit patterns of floats. `low` is the key of the least value: the
/// bits of a positive float, or the bits of a negative float with all but the sign bit inverted.
/// Keys have the order of signed integers; NaN lies beyond the infinities.
#[must_use]
pub fn mark_float_interval<T: Word>(values: &[T], low: T, span: T, out: &mut [u8]) -> bool {
    if values.len() != out.len() {
        return false;
    }
    floats(values, low, span, out);
    true
}

/// The key of a float with these bits.
#[inline(always)]
pub fn float_key<T: Word>(bits: T) -> T {
    // All ones for a negative float, zero for a positive one.
    let sign = T::ZERO.wrapping_sub(bits >> (T::BITS - 1));
    bits ^ (sign >> 1)
}

#[inline(always)]
fn integers_body<T: Word>(values: &[T], low: T, span: T, out: &mut [u8]) {
    for (&value, out) in values.iter().zip(out) {
        *out |= u8::from(value.wrapping_sub(low) <= span);
    }
}

#[inline(always)]
fn floats_body<T: Word>(values: &[T], low: T, span: T, out: &mut [u8]) {
    for (&value, out) in values.iter().zip(out) {
        *out |= u8::from(float_key(value).wrapping_sub(low) <= span);
    }
}

multiversion! {
    fn integers[T: Word][T](values: &[T], low: T, span: T, out: &mut [u8]) = integers_body;
}
multiversion! {
    fn floats[T: Word][T](values: &[T], low: T, span: T, out: &mut [u8]) = floats_body;
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::dispatch::on_every_isa;

    #[test]
    fn lengths_have_to_agree() {
        assert!(!mark_interval(&[1u8, 2], 0, 9, &mut [0]));
        assert!(!mark_float_interval(&[1u32], 0, 9, &mut [0, 0]));
    }

    #[test]
    fn keys_of_floats_ascend() {
        let floats = [
            -f64::NAN,
            f64::NEG_INFINITY,
            f64::MIN,
            -1.0,
            -f64::MIN_POSITIVE,
            -0.0,
            0.0,
            5e-324,
            1.0,
            f64::MAX,
            f64::INFINITY,
            f64::NAN,
        ];
        let keys = floats.map(|float| float_key(float.to_bits()).cast_signed());
        assert!(keys.is_sorted_by(|a, b| a < b), "{keys:?}");
        // Neighbours.
        assert_eq!(keys[6] - keys[5], 1);
    }

    proptest! {
        #[test]
        fn integers_are_marked(values in vec(any::<i16>(), 0..200), a: i16, b: i16) {
            let (low, high) = (a.min(b), a.max(b));
            let words: Vec<u16> = values.iter().map(|value| value.cast_unsigned()).collect();
            let wanted: Vec<u8> = values.iter().map(|value| u8::from((low..=high).contains(value))).collect();
            on_every_isa(|level| {
                let mut out = vec![0; words.len()];
                let span = high.wrapping_sub(low).cast_unsigned();
                assert!(mark_interval(&words, low.cast_unsigned(), span, &mut out));
                assert_eq!(out, wanted, "{level:?}");
                // Other marks stay.
                let mut out = vec![1; words.len()];
                assert!(mark_interval(&words, low.cast_unsigned(), span, &mut out));
                assert!(out.iter().all(|&mark| mark == 1));
            });
        }

        #[test]
        fn floats_are_marked(values in vec(any::<f32>(), 0..200), a: f32, b: f32) {
            prop_assume!(!a.is_nan() && !b.is_nan());
            let (low, high) = (a.min(b), a.max(b));
            let words: Vec<u32> = values.iter().map(|value| value.to_bits()).collect();
            // The keys of both zeros.
            let first = float_key(low.to_bits()).cast_signed() - i32::from(low == 0.0 && low.is_sign_positive());
            let last = float_key(high.to_bits()).cast_signed() + i32::from(high == 0.0 && high.is_sign_negative());
            let wanted: Vec<u8> = values.iter().map(|value| u8::from((low..=high).contains(value))).collect();
            on_every_isa(|level| {
                let mut out = vec![0; words.len()];
                let span = last.wrapping_sub(first).cast_unsigned();
                assert!(mark_float_interval(&words, first.cast_unsigned(), span, &mut out));
                assert_eq!(out, wanted, "{level:?}");
            });
        }
    }
}
