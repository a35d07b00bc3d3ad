//! Unpacks and decodes decimals in one step, instead of [`unpack`](crate::bitpack::unpack) and a
//! decode.
//!
//! The base is added as a float, which is exact for these ranges, so that integers stay narrow
//! words.

use crate::bitpack::{VECTOR, lane_bits, with_lanes};
use crate::dispatch::multiversion;
use crate::word::Word;

macro_rules! packed {
    ($float:ident, $unsigned:ident, $signed:ident, $narrow:ident, $unpack:ident, $through:ident, $convert:ident, $convert_body:ident,
     $most_bits:literal, $base_bits:literal, $name:literal, $limits:literal) => {
        #[doc = concat!("Writes `(base + n) * factor * inverse` to `out`, for each integer n of a full vector of ", $name, " packed to `width` bits.")]
        ///
        #[doc = concat!("Returns false, with `out` in an unspecified state, unless ", $limits, " (`base` in two's complement; all sums are exact then),")]
        /// and when `packed` is too short.
        #[must_use]
        pub fn $unpack(
            packed: &[u8],
            width: u32,
            base: $unsigned,
            factor: $float,
            inverse: $float,
            out: &mut [$float; VECTOR],
        ) -> bool {
            let base = base as $signed;
            if !(1..=$most_bits).contains(&width) || base.unsigned_abs() >= 1 << $base_bits {
                return false;
            }
            let by = (base as $float, factor, inverse);
            match lane_bits(width) {
                8 => $through::<u8>(packed, width, by, out),
                16 => $through::<u16>(packed, width, by, out),
                _ => $through::<u32>(packed, width, by, out),
            }
        }

        fn $through<L: Word>(
            packed: &[u8],
            width: u32,
            by: ($float, $float, $float),
            out: &mut [$float; VECTOR],
        ) -> bool {
            with_lanes::<L>(packed, width, |ints| $convert(ints, by, out))
        }

        #[inline(always)]
        fn $convert_body<L: Word>(
            ints: &[L; VECTOR],
            (base, factor, inverse): ($float, $float, $float),
            out: &mut [$float; VECTOR],
        ) {
            for (out, int) in out.iter_mut().zip(ints) {
                *out = (int.to_u64() as $narrow as $float + base) * factor * inverse;
            }
        }

        multiversion! {
            fn $convert[L: Word][L](ints: &[L; VECTOR], by: ($float, $float, $float), out: &mut [$float; VECTOR])
                = $convert_body;
        }
    };
}

packed!(
    f64,
    u64,
    i64,
    u32,
    alp_unpack_f64,
    through_f64,
    convert_f64,
    convert_body_f64,
    32,
    52,
    "f64",
    "there are 1 to 32 bits and `base` is below 2^52 in magnitude"
);
packed!(
    f32,
    u32,
    i32,
    i32,
    alp_unpack_f32,
    through_f32,
    convert_f32,
    convert_body_f32,
    22,
    23,
    "f32",
    "there are 1 to 22 bits and `base` is below 2^23 in magnitude"
);

#[cfg(test)]
mod tests {
    use super::super::{alp_decode_f32, alp_decode_f64};
    use super::*;
    use crate::bitpack::{pack, unpack};
    use crate::dispatch::on_every_isa;

    macro_rules! same_in_two_steps {
        ($test:ident, $float:ident, $unsigned:ident, $unpack:ident, $decode:ident, $most_bits:literal, $limit:expr) => {
            #[test]
            fn $test() {
                let limit: $unsigned = $limit;
                let bases = [0, 1, 5, limit - 1, 5 * limit / 7, limit / 3];
                let bases = bases.into_iter().flat_map(|base| [base, base.wrapping_neg()]);
                for (k, base) in bases.enumerate() {
                    for width in 1..=$most_bits {
                        let mut state = (k as u64 + 1) << 32 | u64::from(width);
                        let mut values = [base; VECTOR];
                        for value in &mut values[1..] {
                            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                            *value = base.wrapping_add((state >> (64 - width)) as $unsigned);
                        }
                        let mut packed = Vec::new();
                        pack(&values, base, width, &mut packed);
                        let (factor, inverse) = [(1.0, 0.01), (100.0, 1e-5), (1.0, 1.0)][k % 3];
                        let (mut ints, mut expected) = ([0; VECTOR], [0.0; VECTOR]);
                        assert!(unpack(&packed, width, base, &mut ints));
                        assert_eq!(ints, values);
                        assert!($decode(&ints, factor, inverse, &mut expected));
                        on_every_isa(|isa| {
                            let mut out = [<$float>::NAN; VECTOR];
                            assert!($unpack(&packed, width, base, factor, inverse, &mut out));
                            let bits = |of: &[$float]| of.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                            assert_eq!(bits(&out), bits(&expected), "{isa:?} {base} {width}");
                        });
                        let short = &packed[..packed.len() - 1];
                        assert!(!$unpack(short, width, base, factor, inverse, &mut expected));
                    }
                }
                let packed = [0; 128 * 64];
                let mut out = [0.0; VECTOR];
                assert!(!$unpack(&packed, 0, 0, 1.0, 1.0, &mut out));
                assert!(!$unpack(&packed, $most_bits + 1, 0, 1.0, 1.0, &mut out));
                assert!(!$unpack(&packed, 3, limit, 1.0, 1.0, &mut out));
                assert!(!$unpack(&packed, 3, limit.wrapping_neg(), 1.0, 1.0, &mut out));
                assert!(!$unpack(&packed, 3, 1 << (<$unsigned>::BITS - 1), 1.0, 1.0, &mut out));
            }
        };
    }
    same_in_two_steps!(f64_as_in_two_steps, f64, u64, alp_unpack_f64, alp_decode_f64, 32, 1 << 52);
    same_in_two_steps!(f32_as_in_two_steps, f32, u32, alp_unpack_f32, alp_decode_f32, 22, 1 << 23);
}
