//! The symbols that shorten a sample: in each round those that were found, and pairs of neighbours among them, compete for the codes.

use entasis_kernels::symbols::SymbolIndex;

use super::encode::Matcher;
use super::{MAX_SYMBOLS, Symbol, Symbols};
use crate::dictionary::{Distinct, Key, MIX};
use crate::word::sample_ranges;

/// Parts of 128 of the sample that each round looks at.
const ROUNDS: [usize; 5] = [8, 38, 68, 98, 128];
/// Symbols, and bytes that stand for themselves.
const NUMBERS: usize = 512;

/// Pieces of a sample, and the most bytes of each.
const SAMPLE_PIECES: usize = 32;
const SAMPLE_LEN: usize = 512;

/// Finds symbols, in memory that is kept from one time to the next.
#[derive(Default)]
pub(crate) struct Trainer {
    /// Made when it is used first: its tables are more memory than a small frame.
    matcher: Option<Matcher>,
    counts: Counts,
    sample: Vec<u8>,
    gains: Vec<(u64, Symbol)>,
}

impl Trainer {
    /// What finds the symbols for `bytes`, by a sample of an eighth of them, or of 16 KiB where that is less.
    pub(crate) fn train_on(&mut self, bytes: &[u8]) -> Matcher {
        let len = SAMPLE_LEN.min(bytes.len() / (8 * SAMPLE_PIECES)).max(1);
        let mut sample = std::mem::take(&mut self.sample);
        sample.clear();
        for range in sample_ranges(bytes.len(), SAMPLE_PIECES, len) {
            sample.extend_from_slice(&bytes[range]);
        }
        let matcher = self.train(&sample).clone();
        self.sample = sample;
        matcher
    }

    /// What finds the symbols for bytes that are like `sample`.
    pub(super) fn train(&mut self, sample: &[u8]) -> &Matcher {
        let matcher = self.matcher.get_or_insert_default();
        matcher.set(Symbols::default());
        for part in ROUNDS {
            let is_last = part == 128;
            self.counts.count(&sample[..sample.len() * part / 128], matcher, !is_last);
            self.gains.clear();
            self.counts.candidates(matcher.symbols(), part, &mut self.gains);
            self.counts.clear();
            matcher.set(choose(&mut self.gains));
        }
        matcher
    }
}

/// The symbols that save most.
fn choose(gains: &mut [(u64, Symbol)]) -> Symbols {
    let mut chosen: Vec<Symbol> = Vec::with_capacity(MAX_SYMBOLS);
    let mut taken = [false; SymbolIndex::SLOTS];
    // Few of many candidates are chosen: the best are put in order before the others are.
    let mut rest = gains;
    while !rest.is_empty() && chosen.len() < MAX_SYMBOLS {
        let n = BEST.min(rest.len());
        if n < rest.len() {
            rest.select_nth_unstable_by(n, |a, b| b.cmp(a));
        }
        let best;
        (best, rest) = rest.split_at_mut(n);
        best.sort_unstable_by(|a, b| b.cmp(a));
        for &(_, symbol) in best.iter() {
            // Of long symbols that share a slot only one is found.
            let is_free = symbol.len <= 2 || !taken[SymbolIndex::slot(symbol.word)];
            if is_free && chosen.len() < MAX_SYMBOLS {
                taken[SymbolIndex::slot(symbol.word)] |= symbol.len > 2;
                chosen.push(symbol);
            }
        }
    }
    Symbols::new(chosen)
}

/// Candidates that are put in order at a time.
const BEST: usize = 384;

impl Key for Symbol {
    fn hash(self) -> u64 {
        (self.word ^ self.len as u64).wrapping_mul(MIX)
    }
}

/// How often each number was found, and each pair of neighbours.
struct Counts {
    single: [u32; NUMBERS],
    pairs: Vec<u16>,
    /// The pairs that were found.
    seen: Vec<u32>,
}

impl Default for Counts {
    fn default() -> Self {
        Self { single: [0; NUMBERS], pairs: Vec::new(), seen: Vec::new() }
    }
}

impl Counts {
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
        self.pairs.resize(NUMBERS * NUMBERS, 0);
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

    /// Symbols and pairs of them that were found often enough, and the bytes that each saves.
    fn candidates(&self, symbols: &Symbols, part: usize, gains: &mut Vec<(u64, Symbol)>) {
        let least = 5 * part as u64 / 128;
        let symbol = |number: usize| match number.checked_sub(256) {
            Some(byte) => Symbol::byte(byte as u8),
            None => symbols.as_slice()[number],
        };
        // A symbol may come about in several ways.
        let mut distinct = Distinct::with_room_for(1024);
        let mut add = |symbol: Symbol, count: u64| {
            let code = distinct.code(symbol) as usize;
            if code == gains.len() {
                gains.push((0, symbol));
            }
            // A byte without a symbol costs two, so bytes count for more than their length.
            gains[code].0 += count * if symbol.len == 1 { 8 } else { symbol.len as u64 };
        };
        for (number, &count) in self.single.iter().enumerate() {
            if u64::from(count) > least {
                add(symbol(number), u64::from(count));
            }
        }
        for &pair in &self.seen {
            let count = u64::from(self.pairs[pair as usize]);
            if count > least
                && let Some(joined) = symbol(pair as usize / NUMBERS).join(symbol(pair as usize % NUMBERS))
            {
                add(joined, count);
            }
        }
    }
}
