//! The symbols that shorten a sample: in each round those that were found, and pairs of neighbours among them, compete for the codes.

use super::encode::Matcher;
use super::{MAX_LEN, MAX_SYMBOLS, Symbol, Symbols};
use crate::word::sample_ranges;

/// Parts of 128 of the sample that each round looks at.
const ROUNDS: [usize; 5] = [8, 38, 68, 98, 128];
/// Symbols, and bytes that stand for themselves.
const NUMBERS: usize = 512;

/// Pieces of a sample, and the most bytes of each.
const SAMPLE_PIECES: usize = 32;
const SAMPLE_LEN: usize = 512;

/// The symbols for `bytes`, by a sample of an eighth of them, or of 16 KiB where that is less.
pub(crate) fn train_on(bytes: &[u8]) -> Symbols {
    let len = SAMPLE_LEN.min(bytes.len() / (8 * SAMPLE_PIECES)).max(1);
    let mut sample = Vec::with_capacity(len * SAMPLE_PIECES);
    for range in sample_ranges(bytes.len(), SAMPLE_PIECES, len) {
        sample.extend_from_slice(&bytes[range]);
    }
    train(&sample)
}

/// The symbols for bytes that are like `sample`.
pub(crate) fn train(sample: &[u8]) -> Symbols {
    let mut symbols = Symbols::default();
    let mut matcher = Matcher::new(&symbols);
    let mut counts = Counts::new();
    for part in ROUNDS {
        let is_last = part == 128;
        counts.count(&sample[..sample.len() * part / 128], &matcher, !is_last);
        symbols = choose(&counts.candidates(&symbols, part, !is_last));
        matcher.set(&symbols);
        counts.clear();
    }
    symbols
}

/// How often each number was found, and each pair of neighbours.
struct Counts {
    single: [u32; NUMBERS],
    pairs: Vec<u16>,
    /// The pairs that were found.
    seen: Vec<u32>,
}

impl Counts {
    fn new() -> Self {
        Self { single: [0; NUMBERS], pairs: vec![0; NUMBERS * NUMBERS], seen: Vec::new() }
    }

    fn clear(&mut self) {
        self.single.fill(0);
        for &pair in &self.seen {
            self.pairs[pair as usize] = 0;
        }
        self.seen.clear();
    }

    fn add_pair(&mut self, first: usize, second: usize) {
        let pair = first * NUMBERS + second;
        if self.pairs[pair] == 0 {
            self.seen.push(pair as u32);
        }
        self.pairs[pair] = self.pairs[pair].saturating_add(1);
    }

    fn count(&mut self, sample: &[u8], matcher: &Matcher, with_pairs: bool) {
        let mut last = None;
        let mut at = 0;
        while at < sample.len() {
            let found = matcher.find_at(&sample[at..]);
            let byte = 256 + usize::from(sample[at]);
            let number = if found.is_byte() { byte } else { usize::from(found.code()) };
            self.single[number] += 1;
            // A single byte stays a candidate where a longer symbol took its place.
            if found.len() > 1 {
                self.single[byte] += 1;
            }
            if with_pairs && let Some(last) = last {
                self.add_pair(last, number);
                if found.len() > 1 {
                    self.add_pair(last, byte);
                }
            }
            last = Some(number);
            at += found.len();
        }
    }

    /// Symbols and how often they were found.
    fn candidates(&self, symbols: &Symbols, part: usize, with_pairs: bool) -> Vec<(Symbol, u64)> {
        let least = (5 * part / 128) as u64;
        let symbol = |number: usize| match number.checked_sub(256) {
            Some(byte) => Symbol::byte(byte as u8),
            None => symbols.as_slice()[number],
        };
        let mut candidates = Vec::new();
        for (number, &count) in self.single.iter().enumerate() {
            if u64::from(count) > least {
                candidates.push((symbol(number), u64::from(count)));
            }
        }
        if with_pairs {
            for &pair in &self.seen {
                let count = u64::from(self.pairs[pair as usize]);
                let (first, second) = (symbol(pair as usize / NUMBERS), symbol(pair as usize % NUMBERS));
                if count > least
                    && first.len < MAX_LEN
                    && let Some(joined) = first.join(second)
                {
                    candidates.push((joined, count));
                }
            }
        }
        candidates
    }
}

/// The candidates that save most. A byte without a symbol costs two, so bytes count for more than their length.
fn choose(candidates: &[(Symbol, u64)]) -> Symbols {
    let mut sorted = candidates.to_vec();
    sorted.sort_unstable();
    let mut gains: Vec<(u64, Symbol)> = Vec::with_capacity(sorted.len());
    for same in sorted.chunk_by(|a, b| a.0 == b.0) {
        let symbol = same[0].0;
        let count: u64 = same.iter().map(|candidate| candidate.1).sum();
        let weight = if symbol.len == 1 { 8 } else { symbol.len as u64 };
        gains.push((count * weight, symbol));
    }
    gains.sort_unstable_by(|a, b| b.cmp(a));
    let mut chosen: Vec<Symbol> = Vec::with_capacity(MAX_SYMBOLS);
    for (_, symbol) in gains {
        if chosen.len() == MAX_SYMBOLS {
            break;
        }
        if !chosen.iter().any(|&other| Matcher::share_a_slot(symbol, other)) {
            chosen.push(symbol);
        }
    }
    Symbols::new(chosen)
}
