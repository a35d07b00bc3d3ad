//! Finds the symbols that shorten a sample. In each round, current symbols and concatenations of
//! neighbours compete for the codes.

mod pairs;

use entasis_kernels::fsst::SymbolIndex;
use entasis_platform::memory::ScratchVec;

use super::encode::Matcher;
use super::{MAX_LEN, MAX_SYMBOLS, Symbol, Symbols};
use crate::dictionary::{CodeTable, Key, MIX};
use crate::profile::{Profile, cost};
use crate::words::sample_ranges;

/// The part of the sample that each round counts, in units of 1/128.
pub(super) const ROUNDS: [usize; 5] = [8, 38, 68, 98, 128];
/// The rounds for symbols that many runs share. These symbols are worth more time.
pub(super) const MORE_ROUNDS: [usize; 8] = [8, 38, 68, 98, 128, 128, 128, 128];

/// The number of ranges of a sample, and the largest length of each.
const SAMPLE_RANGES: usize = 32;
const SAMPLE_LEN: usize = 512;

/// Finds symbols, in reusable memory.
#[derive(Default)]
pub(crate) struct Trainer {
    /// Matchers for reuse, because their tables are larger than a small frame.
    spare: Vec<Matcher>,
    counts: Counts,
    sample: Vec<u8>,
    gains: Vec<(u64, Symbol)>,
}

/// Symbols, and the ratio of their codes on the bytes they were found for.
#[derive(Debug)]
pub(crate) struct Trained {
    pub matcher: Matcher,
    pub ratio: f64,
}

/// Reuse the previous symbol table if it compresses the new bytes at most 2 % worse.
const MAX_LOSS: f64 = 1.02;
/// Digrams are tried only for at least this many bytes, because the trial takes time.
pub(super) const DIGRAMS_FROM: usize = 512 << 10;

impl Trainer {
    /// The symbols of the previous, similar column if they suit `bytes`, else new ones. Also
    /// returns the `ratio` of their codes.
    pub(crate) fn symbols_for(
        &mut self,
        bytes: &[u8],
        previous: Option<Trained>,
        mut ratio: impl FnMut(&mut Matcher) -> f64,
    ) -> (Trained, f64) {
        if let Some(found) = self.reuse_if_as_good(previous, &mut ratio) {
            return found;
        }
        let mut matcher = self.train_on(bytes);
        let ratio = ratio(&mut matcher);
        (Trained { matcher, ratio }, ratio)
    }

    /// As [`symbols_for`](Self::symbols_for), but also tries digrams if there are many bytes.
    /// Returns the better ones for `profile`.
    pub(crate) fn best_for(
        &mut self,
        profile: &Profile,
        bytes: &[u8],
        previous: Option<Trained>,
        mut ratio: impl FnMut(&mut Matcher) -> f64,
    ) -> (Trained, f64) {
        if bytes.len() < DIGRAMS_FROM {
            return self.symbols_for(bytes, previous, ratio);
        }
        if let Some(found) = self.reuse_if_as_good(previous, &mut ratio) {
            return found;
        }
        let sample = self.sample_of(bytes);
        let trained = self.train_best(profile, &sample, &ROUNDS, ratio);
        self.sample = sample;
        let ratio = trained.ratio;
        (trained, ratio)
    }

    /// The symbols of the previous, similar column, if they suit the new bytes.
    fn reuse_if_as_good(
        &mut self,
        previous: Option<Trained>,
        ratio: &mut impl FnMut(&mut Matcher) -> f64,
    ) -> Option<(Trained, f64)> {
        let mut trained = previous?;
        // Digrams are not reused. They suit most texts about as well, so their ratio does not show
        // whether longer symbols would be better.
        if trained.matcher.byte_cost() == cost::FSST_BYTE {
            let ratio = ratio(&mut trained.matcher);
            if ratio <= trained.ratio * MAX_LOSS {
                return Some((trained, ratio));
            }
        }
        self.recycle(trained.matcher);
        None
    }

    /// Trains symbols for `bytes` on a sample of them.
    pub(crate) fn train_on(&mut self, bytes: &[u8]) -> Matcher {
        let sample = self.sample_of(bytes);
        let matcher = self.train(&sample, &ROUNDS);
        self.sample = sample;
        matcher
    }

    /// A sample: an eighth of `bytes`, at most 16 KiB.
    fn sample_of(&mut self, bytes: &[u8]) -> Vec<u8> {
        let len = SAMPLE_LEN.min(bytes.len() / (8 * SAMPLE_RANGES)).max(1);
        let mut sample = std::mem::take(&mut self.sample);
        sample.clear();
        for range in sample_ranges(bytes.len(), SAMPLE_RANGES, len) {
            sample.extend_from_slice(&bytes[range]);
        }
        sample
    }

    /// Trains symbols of any length and digrams on `sample`, for many similar bytes. Digrams are
    /// found and decoded faster. Returns the symbols with the better score per byte.
    pub(super) fn train_best(
        &mut self,
        profile: &Profile,
        sample: &[u8],
        rounds: &[usize],
        mut ratio: impl FnMut(&mut Matcher) -> f64,
    ) -> Trained {
        /// The least possible ratio of digrams: a code stands for at most two bytes.
        const LEAST: f64 = 0.5;
        let mut trained_by = |mut matcher| Trained { ratio: ratio(&mut matcher), matcher };
        let symbols = trained_by(self.train(sample, rounds));
        let bound = profile.score(symbols.ratio, cost::FSST_BYTE);
        if profile.score(LEAST, cost::DIGRAM_BYTE) >= bound {
            return symbols;
        }
        let digrams = trained_by(self.train_digrams(sample, rounds));
        let (better, other) = if profile.score(digrams.ratio, cost::DIGRAM_BYTE) < bound {
            (digrams, symbols)
        } else {
            (symbols, digrams)
        };
        self.recycle(other.matcher);
        better
    }

    /// Trains digrams and single bytes on `sample`. Digrams consist of frequent bytes.
    pub(super) fn train_digrams(&mut self, sample: &[u8], rounds: &[usize]) -> Matcher {
        let mut counts = [(0u32, 0u8); 256];
        counts.iter_mut().zip(0..=u8::MAX).for_each(|(count, byte)| count.1 = byte);
        sample.iter().for_each(|&byte| counts[usize::from(byte)].0 += 1);
        counts.sort_unstable_by_key(|&(count, byte)| (std::cmp::Reverse(count), byte));
        let mut is_frequent = [false; 256];
        counts[..SymbolIndex::DIGRAM_BYTES].iter().for_each(|count| is_frequent[usize::from(count.1)] = true);
        let mut matcher = self.find(sample, rounds, &|symbol| {
            let [first, second, ..] = symbol.word.to_le_bytes();
            symbol.len == 2 && is_frequent[usize::from(first)] && is_frequent[usize::from(second)]
        });
        let symbols = matcher.symbols().clone();
        let is_sound = matcher.set_digrams(symbols);
        debug_assert!(is_sound, "symbols are of frequent bytes");
        matcher
    }

    /// Trains symbols on `sample`.
    pub(super) fn train(&mut self, sample: &[u8], rounds: &[usize]) -> Matcher {
        let mut matcher = self.find(sample, rounds, &|_| true);
        self.counts.count(sample, &matcher, Pairs::Short);
        self.counts.add_pairs(&mut matcher);
        self.counts.clear();
        matcher
    }

    /// Trains symbols on `sample`. `is_fit` filters symbols of several bytes. Leaves `counts` ready
    /// to count them.
    fn find(&mut self, sample: &[u8], rounds: &[usize], is_fit: &dyn Fn(Symbol) -> bool) -> Matcher {
        let mut matcher = self.spare.pop().unwrap_or_default();
        let mut is_there = [false; 256];
        is_there[0] = true;
        sample.iter().for_each(|&byte| is_there[usize::from(byte)] = true);
        let followers: Vec<u8> = (0..=u8::MAX).filter(|&byte| is_there[usize::from(byte)]).collect();
        matcher.set_for_followers(&followers, Symbols::default());
        for (round, &part) in (1..).zip(rounds) {
            let is_last = round == rounds.len();
            self.counts.begin(matcher.symbols(), &followers);
            let pairs = if is_last { Pairs::None } else { Pairs::Possible };
            self.counts.count(&sample[..sample.len() * part / 128], &matcher, pairs);
            self.gains.clear();
            self.counts.candidates(part, is_fit, &mut self.gains);
            self.counts.clear();
            match choose(&mut self.gains) {
                symbols if is_last => matcher.set(symbols),
                symbols => matcher.set_for_followers(&followers, symbols),
            }
        }
        self.counts.begin(matcher.symbols(), &followers);
        matcher
    }

    /// A matcher with the same symbols and its own buffers.
    pub(super) fn copy_of(&mut self, matcher: &Matcher) -> Matcher {
        let mut copy = self.spare.pop().unwrap_or_default();
        copy.copy(matcher);
        copy
    }

    /// Takes back a matcher for reuse.
    pub(crate) fn recycle(&mut self, matcher: Matcher) {
        self.spare.push(matcher);
    }
}

/// The symbols that save the most bytes.
fn choose(gains: &mut Vec<(u64, Symbol)>) -> Symbols {
    if gains.len() > MAX_CANDIDATES {
        gains.select_nth_unstable_by(MAX_CANDIDATES, |a, b| b.cmp(a));
        gains.truncate(MAX_CANDIDATES);
    }
    // The index finds only one of the long symbols that share a slot, so only the best is kept.
    // `positions` holds its position plus one.
    let mut positions = [0u16; SymbolIndex::SLOTS];
    let mut n = 0;
    for i in 0..gains.len() {
        let (gain, symbol) = gains[i];
        if symbol.len > 2 {
            let position = &mut positions[SymbolIndex::slot(symbol.word)];
            if let Some(before) = usize::from(*position).checked_sub(1) {
                gains[before] = gains[before].max((gain, symbol));
                continue;
            }
            *position = n as u16 + 1;
        }
        gains[n] = (gain, symbol);
        n += 1;
    }
    gains.truncate(n);
    if n > MAX_SYMBOLS {
        gains.select_nth_unstable_by(MAX_SYMBOLS, |a, b| b.cmp(a));
        gains.truncate(MAX_SYMBOLS);
    }
    Symbols::new(gains.iter().map(|&(_, symbol)| symbol).collect())
}

/// The number of candidates to compare. It exceeds the number of symbols, because some candidates
/// share their slot with a better one.
const MAX_CANDIDATES: usize = 768;

impl Key for Symbol {
    fn hash(self) -> u64 {
        (self.word ^ self.len as u64).wrapping_mul(MIX)
    }
}

/// The pairs of neighbours to count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pairs {
    None,
    /// Pairs that may be found in one step: two symbols, the first one shorter than three bytes.
    Short,
    /// All pairs, and each predecessor with the first byte of its successor.
    Possible,
}

/// Counts symbols and pairs of neighbours. Symbols are numbered by code, followed by the bytes of
/// the sample. The dense numbers keep the counters in the caches.
struct Counts {
    /// The symbol of each number.
    symbols: Vec<Symbol>,
    /// The number of symbols shorter than three bytes, which come first.
    n_short: u16,
    /// The number of each byte.
    bytes: [u16; 256],
    single: Vec<u32>,
    /// Counts of pairs, by the first symbol, then by the second.
    pairs: ScratchVec<u16>,
    /// The pairs that occurred, and their number.
    seen: ScratchVec<[u16; 2]>,
    n_seen: usize,
}

/// The rest of a range of the sample, and the symbol before it.
struct Stream<'a> {
    rest: &'a [u8],
    last: Option<u16>,
}

/// Ranges of the sample that are counted at once.
const STREAMS: usize = 2;

impl Default for Counts {
    fn default() -> Self {
        Self {
            symbols: Vec::new(),
            n_short: 0,
            bytes: [0; 256],
            single: Vec::new(),
            pairs: ScratchVec::new(),
            seen: ScratchVec::new(),
            n_seen: 0,
        }
    }
}

impl Counts {
    /// Sets the symbols to count, and the bytes of the sample.
    fn begin(&mut self, symbols: &Symbols, bytes: &[u8]) {
        self.symbols.clear();
        self.symbols.extend_from_slice(symbols.as_slice());
        self.n_short = self.symbols.partition_point(|symbol| symbol.len < 3) as u16;
        for &byte in bytes {
            self.bytes[usize::from(byte)] = self.symbols.len() as u16;
            self.symbols.push(Symbol::byte(byte));
        }
        let n = self.symbols.len();
        self.single.resize(n.max(self.single.len()), 0);
        self.pairs.resize((n * n).max(self.pairs.len()), 0);
    }

    fn clear(&mut self) {
        self.single.fill(0);
        for &pair in &self.seen[..self.n_seen] {
            self.pairs[pair_index(pair, self.symbols.len())] = 0;
        }
        self.n_seen = 0;
    }

    /// Counts the symbols in a sample, in a few ranges at once: a symbol's end is known only after
    /// its look-up, so a processor works on one range while it waits for another. Nothing that
    /// depends on the bytes is a branch, because it could not be predicted.
    fn count(&mut self, sample: &[u8], matcher: &Matcher, pairs: Pairs) {
        // At most two pairs per byte.
        self.seen.resize(2 * sample.len() + 2 * STREAMS, [0; 2]);
        let mut streams = sample.chunks(sample.len().div_ceil(STREAMS).max(1));
        let mut streams: [Stream<'_>; STREAMS] =
            std::array::from_fn(|_| Stream { rest: streams.next().unwrap_or_default(), last: None });
        while streams.iter().all(|stream| stream.rest.len() >= MAX_LEN) {
            streams.iter_mut().for_each(|stream| self.step(stream, matcher, pairs));
        }
        for stream in &mut streams {
            while !stream.rest.is_empty() {
                self.step(stream, matcher, pairs);
            }
        }
    }

    #[inline(always)]
    fn step(&mut self, stream: &mut Stream<'_>, matcher: &Matcher, pairs: Pairs) {
        let found = matcher.find_at(stream.rest);
        let byte = self.bytes[usize::from(stream.rest[0])];
        let number = if found.is_byte() { byte } else { u16::from(found.code()) };
        // A single byte stays a candidate even if a longer symbol was found.
        let is_long = found.len() > 1;
        self.single[usize::from(number)] += 1;
        self.single[usize::from(byte)] += u32::from(is_long);
        match (pairs, stream.last) {
            (Pairs::Short, Some(last)) => {
                self.add_pair([last, number], u16::from(last < self.n_short && !found.is_byte()));
            }
            (Pairs::Possible, Some(last)) => {
                self.add_pair([last, number], 1);
                self.add_pair([last, byte], u16::from(is_long));
            }
            _ => {}
        }
        stream.last = Some(number);
        stream.rest = &stream.rest[found.len()..];
    }

    #[inline(always)]
    fn add_pair(&mut self, pair: [u16; 2], times: u16) {
        let count = &mut self.pairs[pair_index(pair, self.symbols.len())];
        self.seen[self.n_seen] = pair;
        self.n_seen += usize::from(*count == 0) & usize::from(times);
        *count = count.saturating_add(times);
    }

    /// The symbols and pairs that occur often enough, with the bytes that each would save.
    fn candidates(&self, part: usize, is_fit: &dyn Fn(Symbol) -> bool, gains: &mut Vec<(u64, Symbol)>) {
        let least = 5 * part as u64 / 128;
        // Different pairs can give the same symbol.
        let mut distinct = CodeTable::with_room_for(1024);
        let mut add = |symbol: Symbol, count: u64| {
            let code = distinct.code(symbol) as usize;
            if code == gains.len() {
                gains.push((0, symbol));
            }
            // A byte without a symbol takes two bytes, so single bytes count for more than their
            // length.
            gains[code].0 += count * if symbol.len == 1 { 8 } else { symbol.len as u64 };
        };
        for (&symbol, &count) in self.symbols.iter().zip(&self.single) {
            if u64::from(count) > least {
                add(symbol, u64::from(count));
            }
        }
        for &pair in &self.seen[..self.n_seen] {
            let count = u64::from(self.pairs[pair_index(pair, self.symbols.len())]);
            let [first, second] = pair.map(|number| self.symbols[usize::from(number)]);
            if count > least
                && let Some(joined) = first.join(second)
                && is_fit(joined)
            {
                add(joined, count);
            }
        }
    }
}

/// The index of a pair's counter among `n` numbers.
#[inline(always)]
fn pair_index([first, second]: [u16; 2], n: usize) -> usize {
    usize::from(first) * n + usize::from(second)
}
