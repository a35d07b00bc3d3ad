//! ALP (transform 2): floats that were written as decimals become integers, bit-exactly.
//!
//! Afroozeh, Kuffo, Boncz, "ALP: Adaptive Lossless floating-Point Compression" (2023). A value v is kept as
//! `d = round(v x 10^e x 10^-f)` when `(d x 10^f) x 10^-e` gives back its bits, else as an exception. Unlike there, the exponents
//! are chosen per block, and blocks whose sample has many exceptions are left alone.

use entasis_kernels::{Word, alp as kernel};

use crate::word::{Order, bits_of, sample_ranges};

/// A float type that ALP applies to.
pub(crate) trait Float: Copy + 'static {
    /// The integers of the encoded values, as unsigned words.
    type Int: entasis_kernels::Word;
    /// The largest exponent.
    const MAX_EXPONENT: u8;
    fn power(exponent: u8) -> Self;
    fn inverse_power(exponent: u8) -> Self;
    /// Encodes with exponents (e, f); positions that don't come back are added to `exceptions`.
    fn encode(values: &[Self], e: u8, f: u8, ints: &mut [Self::Int], exceptions: &mut Vec<u16>);
    fn decode(ints: &[Self::Int], e: u8, f: u8, out: &mut [Self]);
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
    ($float:ty, $int:ty, $powers:ident, $inverse:ident, $encode:ident, $decode:ident) => {
        impl Float for $float {
            type Int = $int;
            const MAX_EXPONENT: u8 = ($powers.len() - 1) as u8;

            fn power(exponent: u8) -> Self {
                $powers[usize::from(exponent.min(Self::MAX_EXPONENT))]
            }

            fn inverse_power(exponent: u8) -> Self {
                $inverse[usize::from(exponent.min(Self::MAX_EXPONENT))]
            }

            fn encode(values: &[Self], e: u8, f: u8, ints: &mut [$int], exceptions: &mut Vec<u16>) {
                let encoded = kernel::$encode(
                    values,
                    Self::power(e),
                    Self::inverse_power(f),
                    Self::power(f),
                    Self::inverse_power(e),
                    bytemuck::cast_slice_mut(ints),
                    exceptions,
                );
                debug_assert!(encoded, "a page of values and integers each");
            }

            fn decode(ints: &[$int], e: u8, f: u8, out: &mut [Self]) {
                let decoded = kernel::$decode(ints, Self::power(f), Self::inverse_power(e), out);
                debug_assert!(decoded, "as many integers as values");
            }
        }
    };
}
float!(f64, u64, POWERS_64, INVERSE_64, alp_encode_f64, alp_decode_f64);
float!(f32, u32, POWERS_32, INVERSE_32, alp_encode_f32, alp_decode_f32);

/// The exponents that keep a sample in the fewest bits, and these bits per value; none when they don't save a quarter of them.
pub(crate) fn exponents<F: Float>(values: &[F], first: Option<(u8, u8)>) -> Option<((u8, u8), f64)> {
    let sample: Vec<F> = sample_ranges(values.len(), 8, 8).flat_map(|r| values[r].iter().copied()).collect();
    let word = 8.0 * size_of::<F>() as f64;
    let mut trial = Trial { ints: vec![F::Int::from_u64(0); sample.len()], exceptions: Vec::new() };
    // The choice for the block before is kept while it serves.
    if let Some(pair) = first {
        let bits = trial.bits(&sample, pair, word);
        if bits < word * 0.75 {
            return Some((pair, bits));
        }
    }
    // How many decimals to keep is seen on a few values, by which exponents on all.
    let few: Vec<F> = sample.iter().step_by(sample.len().div_ceil(FEW)).copied().collect();
    let pairs_of = |decimals| (decimals..=F::MAX_EXPONENT).rev().map(move |e| (e, e - decimals));
    let mut decimals: Vec<(f64, u8)> = (0..=F::MAX_EXPONENT)
        .map(|decimals| {
            // The exponents that serve most decimals: the smallest, the largest, and one at which powers of ten are exact yet.
            let exponents = [decimals, decimals.max(EXACT.min(F::MAX_EXPONENT)), F::MAX_EXPONENT];
            let bits = exponents.map(|e| trial.bits(&few, (e, e - decimals), word)).into_iter();
            (bits.min_by(f64::total_cmp).unwrap_or(f64::INFINITY), decimals)
        })
        .collect();
    decimals.sort_by(|a, b| a.0.total_cmp(&b.0));
    let pairs: Vec<_> = decimals.iter().take(2).flat_map(|&(_, decimals)| pairs_of(decimals)).collect();
    let best = pairs.into_iter().map(|pair| (trial.bits(&sample, pair, word), pair));
    let best = best.min_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 < word * 0.75).then_some((best.1, best.0))
}

/// An exponent whose product with most values fits into the mantissa of f64.
const EXACT: u8 = 14;

/// Values that the number of decimals is guessed from.
const FEW: usize = 8;

/// Memory for a trial of exponents.
struct Trial<I> {
    ints: Vec<I>,
    exceptions: Vec<u16>,
}

impl<I: Word> Trial<I> {
    /// The bits per value that these exponents give.
    fn bits<F: Float<Int = I>>(&mut self, sample: &[F], (e, f): (u8, u8), word: f64) -> f64 {
        let ints = &mut self.ints[..sample.len()];
        self.exceptions.clear();
        F::encode(sample, e, f, ints, &mut self.exceptions);
        let n_kept = sample.len() - self.exceptions.len();
        if n_kept == 0 {
            return f64::INFINITY;
        }
        let mut exceptions = self.exceptions.iter().map(|&at| usize::from(at)).peekable();
        let (mut min, mut max) = (u64::MAX, 0);
        for (i, int) in ints.iter().enumerate() {
            if exceptions.next_if_eq(&i).is_none() {
                let key = Order::Signed.key(*int);
                (min, max) = (min.min(key), max.max(key));
            }
        }
        let width = bits_of(max - min);
        (n_kept as f64 * f64::from(width) + (sample.len() - n_kept) as f64 * (word + 16.0))
            / sample.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_become_integers_and_noise_is_left_alone() {
        let prices: Vec<f64> = (0..5000).map(|i| f64::from(i * 7 % 10_000) / 100.0).collect();
        let ((e, f), _) = exponents(&prices, None).unwrap();
        let mut ints = vec![0; prices.len()];
        let mut exceptions = Vec::new();
        f64::encode(&prices, e, f, &mut ints, &mut exceptions);
        assert!(exceptions.is_empty());
        let mut back = vec![0.0; prices.len()];
        f64::decode(&ints, e, f, &mut back);
        assert_eq!(back, prices);
        let noise: Vec<f64> = (1..5000).map(|i| f64::from(i).sin()).collect();
        assert_eq!(exponents(&noise, None), None);
    }
}
