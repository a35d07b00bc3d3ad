//! The choice of ALP parameters for a block of floats: the ones with the fewest bits in a sample.

use entasis_kernels::Word;

use crate::alp::{Decimals, Float};
use crate::words::{Order, bits_of, sample_ranges};

/// The exponent that encodes the most values exactly. Among the inverse powers of ten, 10^-14 has
/// by far the closest `f64`, relative to its magnitude. So hardly any value fails if its product
/// with 10^14 fits the mantissa.
const EXACT: u8 = 14;

/// The number of exponent pairs that are tried on the whole sample.
const BEST: usize = 6;

/// The length of the sample, and of its part that suggests the number of decimals.
const SAMPLE: usize = 64;
const FEW: usize = 8;

/// If more than this share of the values are exceptions, residuals are tried too.
const ROUGH: f64 = 1.0 / 32.0;

/// ALP must keep values in at most this share of their bits.
const SAVES: f64 = 0.75;

/// The parameters with the fewest bits in a sample, and their bits per value; `None` if they save
/// less than a quarter. `first` are the parameters of the previous block, which are kept while they
/// save enough. If exceptions `may_repeat`, a repeated NaN costs only its position.
pub(crate) fn choose<F: Float>(
    values: &[F],
    first: Option<Decimals>,
    may_repeat: bool,
) -> Option<(Decimals, f64)> {
    let mut trial = Trial::new(values)?;
    trial.nan_bits = PATCH + if may_repeat { 0.0 } else { trial.word };
    let most = trial.word * SAVES;
    if let Some(by) = first {
        let bits = trial.bits(by);
        if bits < most {
            return Some((by, bits));
        }
    }
    let exact = trial.exact();
    let residual = if trial.roughness(exact) > ROUGH { trial.residual() } else { None };
    let best = exact.into_iter().chain(residual).map(|by| (by, trial.bits(by)));
    best.min_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, bits)| *bits < most)
}

/// The numbers of a sample, and buffers to encode them.
struct Trial<F: Float> {
    sample: Vec<F>,
    /// A part of the sample.
    few: Vec<F>,
    /// The share of NaN among all values.
    nans: f64,
    /// Bits of a float.
    word: f64,
    /// Bits of a NaN that is an exception.
    nan_bits: f64,
    ints: Vec<F::Int>,
    exceptions: Vec<u16>,
}

impl<F: Float> Trial<F> {
    /// `None` without numbers.
    fn new(values: &[F]) -> Option<Self> {
        let mut sample = Vec::with_capacity(SAMPLE);
        sample_ranges(values.len(), 8, SAMPLE / 8).for_each(|range| sample.extend_from_slice(&values[range]));
        let n_looked = sample.len();
        sample.retain(|value| !value.is_nan());
        let mut nans = 1.0 - sample.len() as f64 / n_looked as f64;
        if nans > 0.5 {
            // If numbers are rare, or NaN comes in long runs, sample only the numbers.
            let numbers = || values.iter().copied().filter(|value| !value.is_nan());
            let n = numbers().count();
            sample = numbers().step_by(n.div_ceil(SAMPLE).max(1)).collect();
            nans = 1.0 - n as f64 / values.len() as f64;
        }
        let few = sample.iter().step_by(sample.len().div_ceil(FEW).max(1)).copied().collect();
        let ints = vec![F::Int::from_u64(0); sample.len()];
        let word = 8.0 * size_of::<F>() as f64;
        let exceptions = Vec::new();
        (!sample.is_empty()).then_some(Self { sample, few, nans, word, nan_bits: 0.0, ints, exceptions })
    }

    /// The best exponents without a residual.
    fn exact(&mut self) -> Option<Decimals> {
        // A few values suggest how many decimals to keep; the whole sample decides on the
        // exponents.
        let of = |e, decimals| Decimals::Exact { e, f: e - decimals };
        let usual = |decimals: u8| decimals.max(EXACT.min(F::MAX_EXPONENT));
        let mut decimals: Vec<(f64, u8)> = Vec::new();
        for n in 0..=F::MAX_EXPONENT {
            // Three exponents cover most decimals: one with exact powers of ten, the smallest, and
            // the largest.
            let exponents = [usual(n), n, F::MAX_EXPONENT];
            let (mut best, mut exact) = (f64::INFINITY, None);
            for by in exponents.map(|e| of(e, n)) {
                best = self.bits_of_few(by).min(best);
                if self.exceptions.is_empty() {
                    exact = Some(by);
                    break;
                }
            }
            decimals.push((best, n));
            let Some(exact) = exact else { continue };
            let bits = self.bits(exact);
            // If the whole sample is exact, other exponents give the same integers. Then only fewer
            // decimals can take fewer bits, despite their exceptions.
            if self.exceptions.is_empty()
                && !decimals[..decimals.len() - 1]
                    .iter()
                    .any(|&(of_few, n)| of_few < self.word && self.bits(of(usual(n), n)) < bits)
            {
                return Some(exact);
            }
            // The few values are exact with these decimals. More would only make the integers
            // longer.
            if decimals.len() > 1 {
                break;
            }
        }
        decimals.sort_by(|a, b| a.0.total_cmp(&b.0));
        // Noise is rejected here, before the expensive trials.
        decimals.first().filter(|(bits, _)| *bits < self.word)?;
        let mut pairs: Vec<(f64, Decimals)> = decimals
            .iter()
            .take(2)
            .flat_map(|&(_, decimals)| (decimals..=F::MAX_EXPONENT).rev().map(move |e| of(e, decimals)))
            .map(|by| (self.bits_of_few(by), by))
            .collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let best = pairs.into_iter().take(BEST).map(|(_, by)| (self.bits(by), by));
        best.min_by(|a, b| a.0.total_cmp(&b.0)).filter(|(bits, _)| bits.is_finite()).map(|(_, by)| by)
    }

    /// The share of all values that would be exceptions.
    fn roughness(&mut self, exact: Option<Decimals>) -> f64 {
        let Some(by) = exact else { return 1.0 };
        self.exceptions.clear();
        F::encode(&self.sample, by, &mut self.ints, &mut self.exceptions);
        self.nans + self.exceptions.len() as f64 / self.sample.len() as f64
    }

    /// The best exponent with a residual of the best width.
    fn residual(&self) -> Option<Decimals> {
        let by_bits = |values: &[F], e| residual_bits(values, e).map(|(bits, residual)| (bits, e, residual));
        let mut exponents: Vec<(f64, u8, u8)> =
            (0..=F::MAX_EXPONENT).filter_map(|e| by_bits(&self.few, e)).collect();
        exponents.sort_by(|a, b| a.0.total_cmp(&b.0));
        let best = exponents.iter().take(2).filter_map(|&(_, e, _)| by_bits(&self.sample, e));
        best.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, e, bits)| Decimals::Residual { e, bits })
    }

    fn bits_of_few(&mut self, by: Decimals) -> f64 {
        self.exceptions.clear();
        let ints = &mut self.ints[..self.few.len()];
        F::encode(&self.few, by, ints, &mut self.exceptions);
        packed_bits(ints, &self.exceptions, self.word)
    }

    /// The bits per value with these parameters, including NaN. NaN is an exception unless there
    /// are residuals.
    fn bits(&mut self, by: Decimals) -> f64 {
        self.exceptions.clear();
        F::encode(&self.sample, by, &mut self.ints, &mut self.exceptions);
        let bits = packed_bits(&self.ints, &self.exceptions, self.word);
        match by {
            Decimals::Exact { .. } => bits + self.nan_bits * self.nans,
            Decimals::Residual { .. } => bits,
        }
    }
}

/// Bits of an exception in addition to its value: its position.
const PATCH: f64 = 16.0;

/// The bits per value: packed integers except the exceptions' integers, plus the exceptions.
fn packed_bits<I: Word>(ints: &[I], exceptions: &[u16], word: f64) -> f64 {
    let n_kept = ints.len() - exceptions.len();
    if n_kept == 0 {
        return f64::INFINITY;
    }
    let mut skipped = exceptions.iter().map(|&at| usize::from(at)).peekable();
    let (mut min, mut max) = (u64::MAX, 0);
    for (i, int) in ints.iter().enumerate() {
        if skipped.next_if_eq(&i).is_none() {
            let key = Order::Signed.key(*int);
            (min, max) = (min.min(key), max.max(key));
        }
    }
    let width = f64::from(bits_of(max - min));
    width + exceptions.len() as f64 * (word + PATCH) / ints.len() as f64
}

/// The bits per value with `e` decimals and the best residual width, and that width.
fn residual_bits<F: Float>(values: &[F], e: u8) -> Option<(f64, u8)> {
    let mut counts = [0usize; 66];
    let (mut min, mut max) = (i64::MAX, i64::MIN);
    for (integer, off) in values.iter().filter_map(|value| value.residual(e)) {
        let bits = 1 + bits_of(off.unsigned_abs()) as usize;
        counts[bits] += 1;
        if bits <= usize::from(F::MAX_RESIDUAL) {
            (min, max) = (min.min(integer), max.max(integer));
        }
    }
    let width = f64::from(bits_of(max.checked_sub(min)?.unsigned_abs()));
    let (n, word) = (values.len() as f64, 8.0 * size_of::<F>() as f64);
    let mut n_kept = 0;
    (1..=F::MAX_RESIDUAL)
        .map(|bits| {
            n_kept += counts[usize::from(bits)];
            let exceptions = (values.len() - n_kept) as f64 / n;
            (width + f64::from(bits) + exceptions * (word + PATCH), bits)
        })
        .min_by(|a, b| a.0.total_cmp(&b.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[f64], by: Decimals) {
        let (mut ints, mut exceptions) = (vec![0; values.len()], Vec::new());
        f64::encode(values, by, &mut ints, &mut exceptions);
        assert!(exceptions.is_empty());
        let mut back = vec![0.0; values.len()];
        f64::decode(&ints, by, &mut back);
        assert!(back.iter().zip(values).all(|(back, value)| back.to_bits() == value.to_bits()));
    }

    #[test]
    fn decimals_become_integers_and_noise_is_left_alone() {
        let prices: Vec<f64> = (0..5000).map(|i| f64::from(i * 7 % 10_000) / 100.0).collect();
        let (by, _) = choose(&prices, None, false).unwrap();
        assert!(matches!(by, Decimals::Exact { .. }));
        check(&prices, by);
        let noise: Vec<f64> = (1..5000).map(|i| f64::from(i).sin()).collect();
        assert_eq!(choose(&noise, None, false), None);
    }

    #[test]
    fn sums_of_decimals_have_a_residual() {
        let tenths = |i: i32, n: i32| f64::from(i * 7919 % n) / 10.0;
        let sums: Vec<f64> = (0..5000).map(|i| 20.0 + tenths(i, 61) * 0.1 + tenths(i / 7, 37)).collect();
        let (by, bits) = choose(&sums, None, false).unwrap();
        assert!(matches!(by, Decimals::Residual { e: 2, bits: 2..=4 }), "{by:?}");
        assert!(bits < 16.0, "{bits}");
        check(&sums, Decimals::Residual { e: 2, bits: 6 });
        assert_eq!(choose(&sums, Some(by), false).unwrap(), (by, bits));
    }

    #[test]
    fn residuals_have_a_value_for_nan() {
        let prices = (0..60_000u32).map(|i| f64::from(i * 7919 % 10_007) / 100.0);
        let rare: Vec<f64> =
            prices.clone().enumerate().map(|(i, p)| if i % 2999 == 17 { f64::NAN } else { p }).collect();
        assert!(matches!(choose(&rare, None, false), Some((Decimals::Exact { .. }, _))));
        for every in [3, 29] {
            let many: Vec<f64> =
                prices.clone().enumerate().map(|(i, p)| if i % 30 < every { f64::NAN } else { p }).collect();
            let (by, bits) = choose(&many, None, false).unwrap();
            assert!(matches!(by, Decimals::Residual { e: 2, .. }) && bits < 18.0, "{by:?} {bits}");
            check(&many, by);
        }
        assert_eq!(choose(&[f64::NAN; 100], None, false), None);
    }
}
