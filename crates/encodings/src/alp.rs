//! ALP (transforms 2 and 3): floats that were written as decimals become integers, bit for bit.
//!
//! The algorithm is from Afroozeh, Kuffo, Boncz, "ALP: Adaptive Lossless floating-Point
//! Compression" (2023). A value v is stored as `d = round(v x 10^e x 10^-f)` if `(d x 10^f) x
//! 10^-e` has the same bits as v, else as an exception. Two things differ from the paper. The
//! exponents are chosen per block, and a block with many exceptions in its sample is not
//! transformed.
//!
//! Sums of decimals are inexact in their last places. Such a v is stored as `d x 10^-e` plus a few
//! units in the last place, the *residual*, which takes a few bits next to d.

use entasis_format::{Directory, Transform};
use entasis_kernels::VECTOR;
use entasis_kernels::alp::{self as kernel, residual};

/// A float type that ALP supports.
pub(crate) trait Float: Copy + 'static {
    /// The unsigned word that holds an encoded integer.
    type Int: entasis_kernels::Word;
    /// The largest exponent of ten.
    const MAX_EXPONENT: u8;
    /// The largest number of bits of a residual.
    const MAX_RESIDUAL: u8;
    /// Encodes `values` to `ints`. Appends to `exceptions` the positions whose integers do not
    /// decode to the same bits.
    fn encode(values: &[Self], by: Decimals, ints: &mut [Self::Int], exceptions: &mut Vec<u16>);
    fn decode(ints: &[Self::Int], by: Decimals, out: &mut [Self]);
    /// Unpacks and decodes a full vector in one step. Returns false if these parameters lack a
    /// fused kernel; the caller then takes two steps.
    fn unpack(packed: &[u8], width: u32, base: u64, by: Decimals, out: &mut [Self]) -> bool;
    /// The integer of the value with `e` decimals, and its residual; `None` if the integer is too
    /// large.
    fn residual(self, e: u8) -> Option<(i64, i64)>;
    /// Whether the value is the canonical NaN, which residuals can represent.
    fn is_nan(self) -> bool;
    /// Whether both values have the same bits.
    fn is_same(self, other: Self) -> bool;
}

/// The parameters that turn floats into integers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Decimals {
    /// The value is `(d x 10^f) x 10^-e`.
    Exact { e: u8, f: u8 },
    /// The value is `d x 10^-e` plus a residual of `bits` bits.
    Residual { e: u8, bits: u8 },
}

impl Decimals {
    /// The parameters in the directory of a block.
    pub(crate) fn of(directory: &Directory) -> Self {
        match directory.encoding.transform {
            Transform::Residual => Self::Residual { e: directory.exponent, bits: directory.factor },
            _ => Self::Exact { e: directory.exponent, f: directory.factor },
        }
    }

    /// The transform, and the numbers that the directory stores as exponent and factor.
    pub(crate) fn parameters(self) -> (Transform, u8, u8) {
        match self {
            Self::Exact { e, f } => (Transform::Alp, e, f),
            Self::Residual { e, bits } => (Transform::Residual, e, bits),
        }
    }
}

const POWERS_64: [f64; 19] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18];
const INVERSE_64: [f64; 19] = [
    1e-0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15,
    1e-16, 1e-17, 1e-18,
];
const POWERS_32: [f32; 11] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10];
const INVERSE_32: [f32; 11] = [1e-0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10];

macro_rules! float {
    ($float:ty, $int:ty, $signed:ty, $powers:ident, $inverse:ident, $encode:ident, $decode:ident,
     $unpack:ident, $residual_encode:ident, $residual_decode:ident, $bits:literal, $limit:literal) => {
        impl Float for $float {
            type Int = $int;
            const MAX_EXPONENT: u8 = ($powers.len() - 1) as u8;

            const MAX_RESIDUAL: u8 = $bits;

            fn encode(values: &[Self], by: Decimals, ints: &mut [$int], exceptions: &mut Vec<u16>) {
                let encoded = match by {
                    Decimals::Exact { e, f } => kernel::$encode(
                        values,
                        power(&$powers, e),
                        power(&$inverse, f),
                        power(&$powers, f),
                        power(&$inverse, e),
                        bytemuck::cast_slice_mut(ints),
                        exceptions,
                    ),
                    Decimals::Residual { e, bits } => {
                        let (bits, to, back) = (bits.into(), power(&$powers, e), power(&$inverse, e));
                        residual::$residual_encode(values, bits, to, back, ints, exceptions)
                    }
                };
                debug_assert!(encoded, "a page of values and integers each");
            }

            fn decode(ints: &[$int], by: Decimals, out: &mut [Self]) {
                let decoded = match by {
                    Decimals::Exact { e, f } => {
                        kernel::$decode(ints, power(&$powers, f), power(&$inverse, e), out)
                    }
                    Decimals::Residual { e, bits } => {
                        residual::$residual_decode(ints, bits.into(), power(&$inverse, e), out)
                    }
                };
                debug_assert!(decoded, "as many integers as values");
            }

            fn unpack(packed: &[u8], width: u32, base: u64, by: Decimals, out: &mut [Self]) -> bool {
                match (by, <&mut [Self; VECTOR]>::try_from(out)) {
                    (Decimals::Exact { e, f }, Ok(out)) => {
                        let (factor, inverse) = (power(&$powers, f), power(&$inverse, e));
                        kernel::$unpack(packed, width, base as $int, factor, inverse, out)
                    }
                    _ => false,
                }
            }

            fn is_nan(self) -> bool {
                self.to_bits() == <$float>::NAN.to_bits()
            }

            fn is_same(self, other: Self) -> bool {
                self.to_bits() == other.to_bits()
            }

            fn residual(self, e: u8) -> Option<(i64, i64)> {
                let integer = (self * power(&$powers, e)).round_ties_even() + 0.0;
                let decimal = integer * power(&$inverse, e);
                let off = self.to_bits().wrapping_sub(decimal.to_bits()) as $signed;
                (integer.abs() < $limit).then_some((integer as i64, i64::from(off)))
            }
        }
    };
}
float!(
    f64,
    u64,
    i64,
    POWERS_64,
    INVERSE_64,
    alp_encode_f64,
    alp_decode_f64,
    alp_unpack_f64,
    residual_encode_f64,
    residual_decode_f64,
    12,
    2251799813685248.0
);
float!(
    f32,
    u32,
    i32,
    POWERS_32,
    INVERSE_32,
    alp_encode_f32,
    alp_decode_f32,
    alp_unpack_f32,
    residual_encode_f32,
    residual_decode_f32,
    8,
    4194304.0
);

fn power<F: Copy>(powers: &[F], exponent: u8) -> F {
    powers[usize::from(exponent).min(powers.len() - 1)]
}
