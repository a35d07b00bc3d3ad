//! Signed integers that a host stores wider than the file: truncated on write, sign-extended on
//! read.

use crate::dispatch::multiversion;

/// The bit pattern of a signed integer of 32, 64 or 128 bits, convertible to 64-bit limbs.
pub trait Narrow: bytemuck::Pod + Default + Send + Sync {
    /// The sign extension of the value, in little-endian limbs.
    fn extend<const L: usize>(self) -> [u64; L];

    /// The low bits of a wide value, and a number that is zero if and only if the other bits are
    /// their sign extension.
    fn cut<const L: usize>(wide: &[u64; L]) -> (Self, u64);
}

macro_rules! narrow {
    ($($t:ty, $signed:ty;)*) => {$(
        impl Narrow for $t {
            #[inline(always)]
            fn extend<const L: usize>(self) -> [u64; L] {
                let value = self as $signed;
                let sign = (value >> (<$t>::BITS - 1)) as u64;
                let mut limbs = [sign; L];
                limbs[0] = value as u64;
                if <$t>::BITS == 128 && L > 1 {
                    limbs[1] = (value as i128 >> 64) as u64;
                }
                limbs
            }

            #[inline(always)]
            fn cut<const L: usize>(wide: &[u64; L]) -> (Self, u64) {
                let mut low = u128::from(wide[0]);
                if <$t>::BITS == 128 && L > 1 {
                    low |= u128::from(wide[1]) << 64;
                }
                let value = low as $t;
                let extended: [u64; L] = value.extend();
                let rest = wide.iter().zip(extended).fold(0, |rest, (limb, wanted)| rest | (limb ^ wanted));
                (value, rest)
            }
        }
    )*};
}

narrow! {
    u32, i32;
    u64, i64;
    u128, i128;
}

/// Writes each value sign-extended to `width` bytes (8, 16 or 32) as 64-bit limbs, the low one
/// first.
///
/// Returns false, leaving `out` unchanged, for another width or if `out` has another length.
#[must_use]
pub fn extend<T: Narrow>(values: &[T], width: usize, out: &mut [u64]) -> bool {
    if values.len().checked_mul(width) != Some(size_of_val(out)) {
        return false;
    }
    match width {
        8 => extend_to::<T, 1>(values, out),
        16 => extend_to::<T, 2>(values, out),
        32 => extend_to::<T, 4>(values, out),
        _ => return false,
    }
    true
}

/// Takes the low bits of values of `width` bytes (8, 16 or 32), given as 64-bit limbs, the low one
/// first.
///
/// Returns whether every value is the sign extension of its low bits. `None`, leaving `out`
/// unchanged, for another width or if the lengths do not fit.
#[must_use]
pub fn cut<T: Narrow>(wide: &[u64], width: usize, out: &mut [T]) -> Option<bool> {
    if out.len().checked_mul(width) != Some(size_of_val(wide)) {
        return None;
    }
    let rest = match width {
        8 => cut_from::<T, 1>(wide, out),
        16 => cut_from::<T, 2>(wide, out),
        32 => cut_from::<T, 4>(wide, out),
        _ => return None,
    };
    Some(rest == 0)
}

#[inline(always)]
fn extend_body<T: Narrow, const L: usize>(values: &[T], out: &mut [u64]) {
    for (out, value) in out.as_chunks_mut::<L>().0.iter_mut().zip(values) {
        *out = value.extend();
    }
}

multiversion! {
    fn extend_to[T: Narrow, const L: usize][T, L](values: &[T], out: &mut [u64]) = extend_body;
}

#[inline(always)]
fn cut_body<T: Narrow, const L: usize>(wide: &[u64], out: &mut [T]) -> u64 {
    let mut rest = 0;
    for (out, wide) in out.iter_mut().zip(wide.as_chunks::<L>().0) {
        let (value, of_value) = T::cut(wide);
        *out = value;
        rest |= of_value;
    }
    rest
}

multiversion! {
    fn cut_from[T: Narrow, const L: usize][T, L](wide: &[u64], out: &mut [T]) -> u64 = cut_body;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::on_every_isa;

    fn there_and_back<T: Narrow + PartialEq + std::fmt::Debug>(
        values: &[T],
        width: usize,
        naive: impl Fn(T) -> i128,
    ) {
        let limbs = width / 8;
        let mut wide = vec![7u64; values.len() * limbs];
        assert!(extend(values, width, &mut wide));
        for (value, wide) in values.iter().zip(wide.chunks(limbs)) {
            let value = naive(*value);
            assert_eq!(wide[0], value as u64);
            for (i, limb) in wide.iter().enumerate().skip(1) {
                let shift = (64 * i).min(127);
                assert_eq!(*limb, (value >> shift) as u64);
            }
        }
        let mut back = vec![T::default(); values.len()];
        assert_eq!(cut(&wide, width, &mut back), Some(true));
        assert_eq!(back, values);
        for i in 0..values.len() {
            for bit in 8 * size_of::<T>()..8 * width {
                let mut wide = wide.clone();
                wide[i * limbs + bit / 64] ^= 1 << (bit % 64);
                assert_eq!(cut(&wide, width, &mut back), Some(false), "value {i}, bit {bit}");
            }
        }
    }

    #[test]
    fn values_go_there_and_back() {
        on_every_isa(|_| {
            let edges = [0i128, 1, -1, 5, i32::MAX.into(), i32::MIN.into(), i64::MAX.into(), i64::MIN.into()];
            let words: Vec<u64> = edges.iter().map(|&v| v as u64).collect();
            let shorts: Vec<u32> = edges.iter().map(|&v| v as u32).collect();
            let longs: Vec<u128> = edges.iter().map(|&v| (v << 60) as u128 ^ v as u128).collect();
            there_and_back::<u32>(&shorts, 8, |v| i128::from(v as i32));
            there_and_back::<u32>(&shorts, 16, |v| i128::from(v as i32));
            there_and_back::<u32>(&shorts, 32, |v| i128::from(v as i32));
            there_and_back::<u64>(&words, 16, |v| i128::from(v as i64));
            there_and_back::<u64>(&words, 32, |v| i128::from(v as i64));
            there_and_back::<u128>(&longs, 32, |v| v as i128);
        });
    }

    #[test]
    fn lengths_are_checked() {
        let mut out = [3u64; 4];
        assert!(!extend(&[1u64], 16, &mut out) && !extend(&[1u64], 24, &mut out[..3]) && out == [3; 4]);
        assert!(extend::<u64>(&[], 16, &mut []));
        assert_eq!(cut::<u64>(&out, 16, &mut [0]), None);
        assert_eq!(cut::<u64>(&out[..3], 24, &mut [0]), None);
    }
}
