//! ALP: decimal floats as integers, `value = (integer * 10^f) * 10^-e` with two roundings.
//!
//! Both directions use the same two multiplications, never fused. So every machine decodes the bits
//! that the encoder verified.

mod packed;
pub mod residual;

pub use packed::{alp_unpack_f32, alp_unpack_f64};

use crate::dispatch::multiversion;

/// Values whose exceptions are collected in one 64-bit mask.
const BLOCK: usize = u64::BITS as usize;

macro_rules! alp {
    ($float:ident, $unsigned:ident, $signed:ident, $decode:ident, $decode_body:ident, $decode_loop:ident,
     $encode:ident, $encode_body:ident, $encode_loop:ident, $limit:expr, $name:literal, $limit_name:literal) => {
        #[doc = concat!("Writes `(ints[i] * factor) * inverse` to `out[i]`, the integers (two's complement) first converted to ", $name, ".")]
        ///
        /// Returns false, leaving `out` alone, when the lengths differ.
        #[must_use]
        pub fn $decode(ints: &[$unsigned], factor: $float, inverse: $float, out: &mut [$float]) -> bool {
            if ints.len() != out.len() {
                return false;
            }
            $decode_loop(ints, factor, inverse, out);
            true
        }

        #[inline(always)]
        fn $decode_body(ints: &[$unsigned], factor: $float, inverse: $float, out: &mut [$float]) {
            for (out, &int) in out.iter_mut().zip(ints) {
                *out = int as $signed as $float * factor * inverse;
            }
        }

        multiversion! {
            fn $decode_loop[][](ints: &[$unsigned], factor: $float, inverse: $float, out: &mut [$float])
                = $decode_body;
        }

        /// Writes `round(values[i] * exp10 * inv_factor)` to `ints[i]`, where `exp10` is 10^e,
        /// `inv_factor` 10^-f, `factor` 10^f and `inverse` 10^-e.
        ///
        #[doc = concat!("Appends to `exceptions`, ascending, the positions whose integer is not below ", $limit_name, " in magnitude")]
        /// or does not decode to the value's exact bits (so -0.0, NaN and the infinities are
        /// exceptions). Their integers repeat the first other integer, or are zero if all
        /// values are exceptions.
        ///
        /// Returns false, writing nothing, when the lengths differ or there are more than 65,536
        /// values, whose positions a `u16` cannot hold.
        #[must_use]
        pub fn $encode(
            values: &[$float],
            exp10: $float,
            inv_factor: $float,
            factor: $float,
            inverse: $float,
            ints: &mut [$signed],
            exceptions: &mut Vec<u16>,
        ) -> bool {
            if values.len() != ints.len() || values.len() > 1 << 16 {
                return false;
            }
            let start = exceptions.len();
            $encode_loop(values, exp10, inv_factor, factor, inverse, ints, exceptions);
            let found = &exceptions[start..];
            let first_good = found.iter().enumerate().take_while(|&(i, &at)| usize::from(at) == i).count();
            let filler = ints.get(first_good).copied().unwrap_or(0);
            for &at in found {
                ints[usize::from(at)] = filler;
            }
            true
        }

        #[inline(always)]
        fn $encode_body(
            values: &[$float],
            exp10: $float,
            inv_factor: $float,
            factor: $float,
            inverse: $float,
            ints: &mut [$signed],
            exceptions: &mut Vec<u16>,
        ) {
            // The sum with 1.5 * 2^(mantissa bits) has no bits for a fraction. So it is rounded to
            // an integer, which is in its low bits.
            const MAGIC: $float = 3.0 * $limit;
            const MAGIC_BITS: $unsigned = MAGIC.to_bits();
            let attempt = |value: $float| {
                let shifted = value * exp10 * inv_factor + MAGIC;
                let rounded = shifted - MAGIC;
                let decoded = rounded * factor * inverse;
                let good = (rounded.abs() < $limit) & (decoded.to_bits() == value.to_bits());
                (shifted.to_bits().wrapping_sub(MAGIC_BITS) as $signed, good)
            };
            let blocks = values.chunks(BLOCK).zip(ints.chunks_mut(BLOCK));
            for (block, (values, ints)) in blocks.enumerate() {
                let mut failed = 0u64;
                for (i, (&value, int)) in values.iter().zip(ints).enumerate() {
                    let (rounded, good) = attempt(value);
                    *int = rounded;
                    failed |= u64::from(!good) << i;
                }
                while failed != 0 {
                    exceptions.push((block * BLOCK) as u16 + failed.trailing_zeros() as u16);
                    failed &= failed - 1;
                }
            }
        }

        multiversion! {
            fn $encode_loop[][](
                values: &[$float],
                exp10: $float,
                inv_factor: $float,
                factor: $float,
                inverse: $float,
                ints: &mut [$signed],
                exceptions: &mut Vec<u16>,
            ) = $encode_body;
        }
    };
}

alp!(
    f64,
    u64,
    i64,
    alp_decode_f64,
    decode_body_f64,
    decode_loop_f64,
    alp_encode_f64,
    encode_body_f64,
    encode_loop_f64,
    2251799813685248.0,
    "f64",
    "2^51"
);
alp!(
    f32,
    u32,
    i32,
    alp_decode_f32,
    decode_body_f32,
    decode_loop_f32,
    alp_encode_f32,
    encode_body_f32,
    encode_loop_f32,
    4194304.0,
    "f32",
    "2^22"
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::on_every_isa;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn decimal() -> impl Strategy<Value = f64> {
        prop_oneof![
            4 => (-1_000_000_000i64..1_000_000_000).prop_map(|i| i as f64 / 1000.0),
            1 => any::<u64>().prop_map(f64::from_bits),
            1 => proptest::sample::select(vec![
                0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN_POSITIVE,
                2251799813685247.0, 2251799813685248.0, -2251799813685248.0, -2251799813685249.0,
            ]),
        ]
    }

    proptest! {
        #[test]
        fn f64_round_trips(values in vec(decimal(), 0..300), e in 0i32..=18, f in 0i32..=18) {
            let f = f.min(e);
            let (exp10, inv_factor, factor, inverse) =
                (10f64.powi(e), 10f64.powi(-f), 10f64.powi(f), 10f64.powi(-e));
            let mut first: Option<(Vec<i64>, Vec<u16>)> = None;
            on_every_isa(|_| {
                let mut ints = vec![77; values.len()];
                let mut exceptions = vec![5];
                assert!(alp_encode_f64(&values, exp10, inv_factor, factor, inverse, &mut ints, &mut exceptions));
                let unsigned: Vec<u64> = ints.iter().map(|&i| i as u64).collect();
                let mut decoded = vec![0.0; values.len()];
                assert!(alp_decode_f64(&unsigned, factor, inverse, &mut decoded));
                for i in 0..values.len() {
                    let model = ints[i] as f64 * factor * inverse;
                    assert_eq!(decoded[i].to_bits(), model.to_bits());
                    let exact = (values[i] * exp10 * inv_factor).round_ties_even();
                    let good = exact.abs() < 2251799813685248.0
                        && (exact as i64 as f64 * factor * inverse).to_bits() == values[i].to_bits();
                    assert_eq!(exceptions[1..].contains(&(i as u16)), !good);
                    if good {
                        assert_eq!(ints[i], exact as i64);
                    }
                }
                let this = (ints, exceptions);
                assert_eq!(first.get_or_insert_with(|| this.clone()), &this);
            });
        }

        #[test]
        fn f32_round_trips(values in vec(prop_oneof![
            (-99_999i32..99_999).prop_map(|i| i as f32 / 100.0),
            any::<u32>().prop_map(f32::from_bits),
            Just(-0.0f32),
        ], 0..300), e in 0i32..=10) {
            let (exp10, inverse) = (10f32.powi(e), 10f32.powi(-e));
            on_every_isa(|_| {
                let mut ints = vec![77; values.len()];
                let mut exceptions = Vec::new();
                assert!(alp_encode_f32(&values, exp10, 1.0, 1.0, inverse, &mut ints, &mut exceptions));
                let unsigned: Vec<u32> = ints.iter().map(|&i| i as u32).collect();
                let mut decoded = vec![0.0; values.len()];
                assert!(alp_decode_f32(&unsigned, 1.0, inverse, &mut decoded));
                for i in 0..values.len() {
                    let exact = (values[i] * exp10).round_ties_even();
                    let good = exact.abs() < 4194304.0
                        && (exact as i32 as f32 * inverse).to_bits() == values[i].to_bits();
                    assert_eq!(exceptions.contains(&(i as u16)), !good);
                    assert!(!good || decoded[i].to_bits() == values[i].to_bits());
                }
            });
        }

        #[test]
        fn every_isa_converts_any_integer_equally(ints in vec(any::<u64>(), 0..200)) {
            on_every_isa(|_| {
                let mut out = vec![0.0; ints.len()];
                assert!(alp_decode_f64(&ints, 100.0, 0.001, &mut out));
                for (out, &int) in out.iter().zip(&ints) {
                    assert_eq!(out.to_bits(), (int as i64 as f64 * 100.0 * 0.001).to_bits());
                }
            });
        }
    }

    #[test]
    fn exceptions_repeat_the_first_good_integer() {
        let values = [f64::NAN, -0.0, 1.5, f64::INFINITY, 2.5];
        let (mut ints, mut exceptions) = ([0; 5], Vec::new());
        assert!(alp_encode_f64(&values, 10.0, 1.0, 1.0, 0.1, &mut ints, &mut exceptions));
        assert_eq!((ints, exceptions), ([15, 15, 15, 15, 25], vec![0, 1, 3]));
    }

    #[test]
    fn unequal_lengths_are_refused() {
        assert!(!alp_decode_f64(&[1, 2], 1.0, 1.0, &mut [0.0]));
        assert!(!alp_decode_f32(&[], 1.0, 1.0, &mut [0.0]));
        assert!(!alp_encode_f64(&[1.0], 1.0, 1.0, 1.0, 1.0, &mut [], &mut Vec::new()));
        let long = vec![1.0f32; 65_537];
        assert!(!alp_encode_f32(&long, 1.0, 1.0, 1.0, 1.0, &mut vec![0; 65_537], &mut Vec::new()));
    }
}
