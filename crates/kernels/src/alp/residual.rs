//! Decimal floats with small errors in their last places, for example sums of decimals:
//! `bits(value) = bits(integer * 10^-e) + residual`, with both parts in one word.
//!
//! A word is `integer * 2^b + residual + 2^(b-1)`, with a residual of less than `2^(b-1)` in
//! magnitude. So the low b bits of a value are never all zero; a word in which they are is the
//! canonical NaN.

use crate::dispatch::multiversion;

/// Values whose exceptions are collected in one 64-bit mask.
const BLOCK: usize = u64::BITS as usize;

macro_rules! residual {
    ($float:ident, $unsigned:ident, $signed:ident, $decode:ident, $decode_body:ident, $decode_loop:ident,
     $encode:ident, $encode_body:ident, $encode_loop:ident, $limit:expr, $most:literal, $limit_name:literal) => {
        #[doc = concat!("Restores values from words with residuals of `bits` bits, 1 to ", $most, "; `inverse` is 10^-e.")]
        ///
        /// Returns false, leaving `out` unchanged, if the lengths differ or `bits` is out of range.
        #[must_use]
        pub fn $decode(words: &[$unsigned], bits: u32, inverse: $float, out: &mut [$float]) -> bool {
            if words.len() != out.len() || !(1..=$most).contains(&bits) {
                return false;
            }
            $decode_loop(words, bits, inverse, out);
            true
        }

        #[inline(always)]
        fn $decode_body(words: &[$unsigned], bits: u32, inverse: $float, out: &mut [$float]) {
            const NAN: $unsigned = $float::NAN.to_bits();
            let (half, mask) = ((1 as $unsigned) << (bits - 1), ((1 as $unsigned) << bits) - 1);
            for (out, &word) in out.iter_mut().zip(words) {
                let decimal = (word as $signed >> bits) as $float * inverse;
                let code = word & mask;
                let value = decimal.to_bits().wrapping_add(code).wrapping_sub(half);
                *out = $float::from_bits(if code == 0 { NAN } else { value });
            }
        }

        multiversion! {
            fn $decode_loop[][](words: &[$unsigned], bits: u32, inverse: $float, out: &mut [$float])
                = $decode_body;
        }

        /// Writes the words of `values`, whose integers are `round(value * exp10)`, where `exp10`
        /// is 10^e and `inverse` 10^-e. The canonical NaN takes the integer of the value before it,
        /// or of the first value that has one.
        ///
        #[doc = concat!("Appends to `exceptions`, ascending, the positions whose integer is not below ", $limit_name, " in magnitude")]
        /// or whose residual needs more bits; their words are those of a NaN.
        ///
        /// Returns false, writing nothing, if the lengths differ, there are more than 65,536
        /// values, or `bits` is out of range.
        #[must_use]
        pub fn $encode(
            values: &[$float],
            bits: u32,
            exp10: $float,
            inverse: $float,
            words: &mut [$unsigned],
            exceptions: &mut Vec<u16>,
        ) -> bool {
            if values.len() != words.len() || values.len() > 1 << 16 || !(1..=$most).contains(&bits) {
                return false;
            }
            $encode_loop(values, bits, exp10, inverse, words, exceptions);
            true
        }

        #[inline(always)]
        fn $encode_body(
            values: &[$float],
            bits: u32,
            exp10: $float,
            inverse: $float,
            words: &mut [$unsigned],
            exceptions: &mut Vec<u16>,
        ) {
            // The sum with 1.5 * 2^(mantissa bits) has no bits for a fraction. So it is rounded to
            // an integer, which is in its low bits.
            const MAGIC: $float = 3.0 * $limit;
            const MAGIC_BITS: $unsigned = MAGIC.to_bits();
            const NAN: $unsigned = $float::NAN.to_bits();
            let (half, mask) = ((1 as $unsigned) << (bits - 1), ((1 as $unsigned) << bits) - 1);
            // The integer that NaN takes, and the number of leading NaN that wait for it.
            let (mut last, mut waiting) = (None, 0);
            let attempt = |value: $float| {
                let shifted = value * exp10 + MAGIC;
                let rounded = shifted - MAGIC;
                let residual =
                    value.to_bits().wrapping_sub((rounded * inverse).to_bits()).wrapping_add(half);
                let good = (rounded.abs() < $limit) & (residual.wrapping_sub(1) < mask);
                ((shifted.to_bits().wrapping_sub(MAGIC_BITS) << bits).wrapping_add(residual), good)
            };
            let blocks = values.chunks(BLOCK).zip(words.chunks_mut(BLOCK));
            for (block, (values, words)) in blocks.enumerate() {
                let mut failed = 0u64;
                for (i, (&value, word)) in values.iter().zip(&mut *words).enumerate() {
                    let (made, good) = attempt(value);
                    *word = made;
                    failed |= u64::from(!good) << i;
                }
                while failed != 0 {
                    let i = failed.trailing_zeros() as usize;
                    // The word before belongs to a value, or to an exception that was filled from
                    // one.
                    if i > 0 && (last.is_some() || words[i - 1] & mask != 0) {
                        last = Some(words[i - 1] & !mask);
                    }
                    words[i] = last.unwrap_or(0);
                    waiting += usize::from(last.is_none());
                    if values[i].to_bits() != NAN {
                        exceptions.push((block * BLOCK + i) as u16);
                    }
                    failed &= failed - 1;
                }
                if let Some(&word) = words.last()
                    && (last.is_some() || word & mask != 0)
                {
                    last = Some(word & !mask);
                }
            }
            if waiting > 0 && waiting < words.len() {
                let first = words[waiting] & !mask;
                words[..waiting].fill(first);
            }
        }

        multiversion! {
            fn $encode_loop[][](
                values: &[$float],
                bits: u32,
                exp10: $float,
                inverse: $float,
                words: &mut [$unsigned],
                exceptions: &mut Vec<u16>,
            ) = $encode_body;
        }
    };
}

residual!(
    f64,
    u64,
    i64,
    residual_decode_f64,
    decode_body_f64,
    decode_loop_f64,
    residual_encode_f64,
    encode_body_f64,
    encode_loop_f64,
    2251799813685248.0,
    12,
    "2^51"
);
residual!(
    f32,
    u32,
    i32,
    residual_decode_f32,
    decode_body_f32,
    decode_loop_f32,
    residual_encode_f32,
    encode_body_f32,
    encode_loop_f32,
    4194304.0,
    8,
    "2^22"
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::on_every_isa;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn sum() -> impl Strategy<Value = f64> {
        prop_oneof![
            4 => (-100_000i64..100_000, -5000i64..5000).prop_map(|(a, b)| a as f64 / 1000.0 + b as f64 / 1000.0),
            1 => any::<u64>().prop_map(f64::from_bits),
            1 => proptest::sample::select(vec![
                0.0, -0.0, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE, 2251799813685247.0, -2251799813685248.0,
            ]),
        ]
    }

    proptest! {
        #[test]
        fn f64_round_trips(values in vec(sum(), 0..300), e in 0i32..=18, bits in 1u32..=12) {
            let (exp10, inverse) = (10f64.powi(e), 10f64.powi(-e));
            let mut first: Option<(Vec<u64>, Vec<u16>)> = None;
            on_every_isa(|_| {
                let (mut words, mut exceptions) = (vec![77; values.len()], vec![5]);
                assert!(residual_encode_f64(&values, bits, exp10, inverse, &mut words, &mut exceptions));
                let mut decoded = vec![0.0; values.len()];
                assert!(residual_decode_f64(&words, bits, inverse, &mut decoded));
                for i in 0..values.len() {
                    let integer = (values[i] * exp10).round_ties_even() + 0.0;
                    let off = i128::from(values[i].to_bits()) - i128::from((integer * inverse).to_bits());
                    let half = 1i128 << (bits - 1);
                    let good = integer.abs() < 2251799813685248.0 && off.abs() < half;
                    let is_nan = values[i].to_bits() == f64::NAN.to_bits();
                    assert_eq!(exceptions[1..].contains(&(i as u16)), !good && !is_nan);
                    if good {
                        assert_eq!(i128::from(words[i] as i64), integer as i128 * 2 * half + off + half);
                    } else {
                        assert_eq!(words[i] & ((1 << bits) - 1), 0);
                        assert_eq!(decoded[i].to_bits(), f64::NAN.to_bits());
                    }
                    assert!(!(good || is_nan) || decoded[i].to_bits() == values[i].to_bits());
                }
                let this = (words, exceptions);
                assert_eq!(first.get_or_insert_with(|| this.clone()), &this);
            });
        }

        #[test]
        fn f32_round_trips(values in vec(prop_oneof![
            (-9_999i32..9_999, -99i32..99).prop_map(|(a, b)| a as f32 / 10.0 + b as f32 / 100.0),
            any::<u32>().prop_map(f32::from_bits),
            proptest::sample::select(vec![-0.0, f32::NAN]),
        ], 0..300), e in 0i32..=10, bits in 1u32..=8) {
            let (exp10, inverse) = (10f32.powi(e), 10f32.powi(-e));
            on_every_isa(|_| {
                let (mut words, mut exceptions) = (vec![77; values.len()], Vec::new());
                assert!(residual_encode_f32(&values, bits, exp10, inverse, &mut words, &mut exceptions));
                let mut decoded = vec![0.0; values.len()];
                assert!(residual_decode_f32(&words, bits, inverse, &mut decoded));
                for i in 0..values.len() {
                    let is_exception = exceptions.contains(&(i as u16));
                    assert!(is_exception || decoded[i].to_bits() == values[i].to_bits());
                }
            });
        }

        #[test]
        fn every_isa_restores_any_word_equally(words in vec(any::<u64>(), 0..200), bits in 1u32..=12) {
            on_every_isa(|_| {
                let mut out = vec![0.0; words.len()];
                assert!(residual_decode_f64(&words, bits, 0.001, &mut out));
                for (out, &word) in out.iter().zip(&words) {
                    let (high, low) = (word as i64 >> bits, word & ((1 << bits) - 1));
                    let decimal = (high as f64 * 0.001).to_bits();
                    let value = decimal.wrapping_add(low).wrapping_sub(1 << (bits - 1));
                    assert_eq!(out.to_bits(), if low == 0 { f64::NAN.to_bits() } else { value });
                }
            });
        }
    }

    #[test]
    fn nan_takes_the_integer_of_a_neighbour() {
        let values = [f64::NAN, f64::INFINITY, 1.5, f64::NAN, 2.5, f64::NAN];
        let (mut words, mut exceptions) = ([0; 6], Vec::new());
        assert!(residual_encode_f64(&values, 1, 10.0, 0.1, &mut words, &mut exceptions));
        assert_eq!((words, exceptions), ([30, 30, 31, 30, 51, 50], vec![1]));
        assert!(residual_encode_f64(&[f64::NAN; 2], 4, 10.0, 0.1, &mut words[..2], &mut Vec::new()));
        assert_eq!(words[..2], [0, 0]);
    }

    #[test]
    fn impossible_arguments_are_refused() {
        assert!(!residual_decode_f64(&[1, 2], 3, 1.0, &mut [0.0]));
        assert!(!residual_decode_f64(&[1], 0, 1.0, &mut [0.0]));
        assert!(!residual_decode_f32(&[1], 9, 1.0, &mut [0.0]));
        assert!(!residual_encode_f64(&[1.0], 13, 1.0, 1.0, &mut [0], &mut Vec::new()));
        assert!(!residual_encode_f64(&[1.0], 3, 1.0, 1.0, &mut [], &mut Vec::new()));
    }
}
