//! Predicted sizes of blocks, from the formulas of `docs/format/encodings.md`, for one encoding at
//! a time.

use std::collections::{HashMap, HashSet};
use std::num::ParseFloatError;
use std::str::FromStr;

use crate::naive::Cell;

/// Values in a page of fixed width.
const PAGE: usize = 8192;
/// Values in a vector.
const VECTOR: usize = 1024;

/// The number of bits that hold the numbers up to `span`.
fn bits(span: u64) -> usize {
    (64 - span.leading_zeros()) as usize
}

/// The number of bytes of a packed vector of `m` values.
fn packed(m: usize, width: usize) -> usize {
    (m * width).div_ceil(8)
}

/// Words that are ordered as signed numbers when `signed`.
#[derive(Clone, Debug)]
pub struct Words {
    /// The words, shifted so that their order is that of `u64`.
    pub words: Vec<u64>,
    /// Bytes of each.
    pub width: usize,
}

impl Words {
    /// The words of cells of at most 8 bytes.
    pub fn of(cells: &[Option<Cell>], width: usize, signed: bool) -> Self {
        let flip = if signed { 1u64 << (8 * width - 1) } else { 0 };
        let word = |cell: &Option<Cell>| {
            let mut wide = [0; 8];
            wide[..width].copy_from_slice(&cell.clone().unwrap_or_default());
            u64::from_le_bytes(wide) ^ flip
        };
        Self { words: cells.iter().map(word).collect(), width }
    }

    fn pages(&self) -> impl Iterator<Item = &[u64]> {
        self.words.chunks(PAGE)
    }

    fn vectors(&self) -> impl Iterator<Item = &[u64]> {
        self.pages().flat_map(|page| page.chunks(VECTOR))
    }

    fn span(values: &[u64]) -> u64 {
        values.iter().max().unwrap_or(&0) - values.iter().min().unwrap_or(&0)
    }

    /// All sizes: (encoding, bytes of the pages).
    pub fn sizes(&self) -> Vec<(&'static str, usize)> {
        let (w, n) = (self.width, self.words.len());
        let width = bits(Self::span(&self.words));
        let uniform: usize = self.vectors().map(|v| packed(v.len(), width)).sum();
        let per_vector: usize = self.vectors().map(|v| w + 1 + packed(v.len(), bits(Self::span(v)))).sum();
        let mut sizes = vec![
            ("raw", n * w),
            ("bit-packed", uniform),
            ("per vector", per_vector),
            ("patches", self.patched(&self.words, w)),
            ("patches per vector", self.vectors().map(|v| w + 1 + self.patched(v, w)).sum()),
            ("delta", self.vectors().map(|v| 2 * w + 1 + self.deltas(v)).sum()),
            ("run-length", self.pages().map(|page| 2 + Self::runs(page, width)).sum()),
        ];
        if width == 0 {
            sizes.push(("constant", 0));
        }
        let distinct: HashSet<u64> = self.words.iter().copied().collect();
        if distinct.len() <= 65_536 && w > 1 {
            sizes.push(("dictionary", distinct.len() * w + self.codes().code_len()));
        }
        sizes
    }

    /// Bit-packing with the base and width that make it smallest, the rest as patches.
    fn patched(&self, values: &[u64], patch: usize) -> usize {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        let size = |width: usize| {
            let span = if width == 64 { u64::MAX } else { (1 << width) - 1 };
            let (mut from, mut inside) = (0, 0);
            for to in 0..sorted.len() {
                while sorted[to] - sorted[from] > span {
                    from += 1;
                }
                inside = inside.max(to + 1 - from);
            }
            let vectors = values.chunks(VECTOR).map(|v| 2 + packed(v.len(), width)).sum::<usize>();
            vectors + (values.len() - inside) * (2 + patch)
        };
        (0..=8 * self.width).map(size).min().unwrap_or(0)
    }

    /// The bits of deltas, in words that wrap.
    fn deltas(&self, vector: &[u64]) -> usize {
        let shift = 64 - 8 * self.width;
        let delta = |pair: &[u64]| (pair[1].wrapping_sub(pair[0]) << shift) as i64 >> shift;
        let deltas: Vec<i64> = vector.windows(2).map(delta).collect();
        let span = match (deltas.iter().min(), deltas.iter().max()) {
            (Some(min), Some(max)) => max.wrapping_sub(*min) as u64,
            _ => 0,
        };
        packed(vector.len(), bits(span))
    }

    fn runs(page: &[u64], width: usize) -> usize {
        let n_runs = 1 + page.windows(2).filter(|pair| pair[0] != pair[1]).count();
        2 * n_runs + packed(n_runs, width)
    }

    /// The words as codes, numbered in the order of their first occurrence.
    fn codes(&self) -> Words {
        let mut known = HashMap::new();
        let mut code = |word: &u64| {
            let next = known.len() as u64;
            *known.entry(*word).or_insert(next)
        };
        Words { words: self.words.iter().map(&mut code).collect(), width: 4 }
    }

    /// The least size as codes of a dictionary.
    fn code_len(&self) -> usize {
        let mut sizes = self.sizes_of_codes();
        sizes.sort_unstable();
        sizes.first().copied().unwrap_or(0)
    }

    fn sizes_of_codes(&self) -> Vec<usize> {
        let width = bits(Self::span(&self.words));
        vec![
            self.vectors().map(|v| packed(v.len(), width)).sum(),
            self.vectors().map(|v| 5 + packed(v.len(), bits(Self::span(v)))).sum(),
            self.pages().map(|page| 2 + Self::runs(page, width)).sum(),
        ]
    }
}

/// A dictionary of values of any kind: entries, and the least size of the codes.
pub fn dictionary(cells: &[Option<Cell>], extra_per_entry: usize) -> usize {
    let mut known: HashMap<&[u8], u64> = HashMap::new();
    let mut words = Vec::new();
    for cell in cells.iter().flatten() {
        let next = known.len() as u64;
        words.push(*known.entry(cell).or_insert(next));
    }
    let entries: usize = known.keys().map(|key| key.len() + extra_per_entry).sum();
    entries + Words { words, width: 4 }.code_len()
}

/// Plain strings, in pages of at most 8,192 values and 256 KiB: starts, lengths, bytes.
pub fn strings(cells: &[Option<Cell>]) -> usize {
    let lengths: Vec<u64> = cells.iter().map(|cell| cell.as_ref().map_or(0, Vec::len) as u64).collect();
    let total: u64 = lengths.iter().sum();
    let of_lengths = Words { words: lengths, width: 4 };
    let width = bits(Words::span(&of_lengths.words));
    of_lengths.vectors().map(|v| 4 + packed(v.len(), width)).sum::<usize>() + total as usize
}

/// ALP with the best exponents, exceptions as patches.
pub fn alp(values: &[f64], single: bool) -> usize {
    let most = if single { 10 } else { 18 };
    let mut best = usize::MAX;
    for e in 0..=most {
        for f in 0..=e {
            let integers: Vec<Option<i64>> = if single {
                let powers = Powers::<f32>::new(e, f);
                values.iter().map(|&value| powers.integer(value as f32)).collect()
            } else {
                let powers = Powers::<f64>::new(e, f);
                values.iter().map(|&value| powers.integer(value)).collect()
            };
            let words: Vec<u64> = integers.into_iter().flatten().map(|word| word as u64 ^ 1 << 63).collect();
            let n_patches = values.len() - words.len();
            if n_patches * 2 > values.len() {
                continue;
            }
            let kept = Words { words, width: if single { 4 } else { 8 } };
            let patch = 2 + kept.width;
            let as_patches = values.len().div_ceil(VECTOR) * 2 * usize::from(n_patches > 0);
            let width = bits(Words::span(&kept.words));
            best = best.min(packed(values.len(), width) + as_patches + n_patches * patch);
        }
    }
    best
}

/// ALP with the best exponent and residual, exceptions as patches.
pub fn residual(values: &[f64]) -> usize {
    let mut best = usize::MAX;
    for e in 0..=18 {
        let powers = Powers::<f64>::new(e, 0);
        let parts = values.iter().map(|&value| {
            let d = (value * powers.e).round();
            let off = i128::from(value.to_bits()) - i128::from((d * powers.minus_e).to_bits());
            (d, off)
        });
        let parts: Vec<_> = parts.filter(|(d, _)| d.abs() < 2f64.powi(51)).collect();
        for bits_off in 1..=12 {
            let half = 1i128 << (bits_off - 1);
            let kept = parts.iter().filter(|(_, off)| off.abs() < half);
            let words: Vec<u64> = kept.map(|(d, _)| *d as i64 as u64 ^ 1 << 63).collect();
            let n_patches = values.len() - words.len();
            if n_patches * 2 > values.len() {
                continue;
            }
            let width = bits(Words::span(&words)) + bits_off as usize;
            let as_patches = values.len().div_ceil(VECTOR) * 2 * usize::from(n_patches > 0);
            best = best.min(packed(values.len(), width) + as_patches + n_patches * 10);
        }
    }
    best
}

/// Powers of ten with the exponents of ALP, each the float nearest to it.
struct Powers<T> {
    e: T,
    minus_e: T,
    f: T,
    minus_f: T,
}

impl<T: FromStr<Err = ParseFloatError>> Powers<T> {
    fn new(e: i32, f: i32) -> Self {
        let power = |n: i32| format!("1e{n}").parse().unwrap_or_else(|error| panic!("1e{n}: {error}"));
        Self { e: power(e), minus_e: power(-e), f: power(f), minus_f: power(-f) }
    }
}

impl Powers<f64> {
    /// The integer that ALP stores for a value, if one gives it back exactly.
    fn integer(&self, value: f64) -> Option<i64> {
        let word = (value * self.e * self.minus_f).round() as i64;
        ((word as f64 * self.f * self.minus_e).to_bits() == value.to_bits()).then_some(word)
    }
}

impl Powers<f32> {
    /// The integer that ALP stores for a value, if one gives it back exactly.
    fn integer(&self, value: f32) -> Option<i64> {
        let word = (value * self.e * self.minus_f).round() as i64;
        let is_exact = (word as f32 * self.f * self.minus_e).to_bits() == value.to_bits();
        (is_exact && i32::try_from(word).is_ok()).then_some(word)
    }
}
