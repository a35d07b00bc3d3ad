//! FSST (packing 6): bytes as codes of a table of at most 255 symbols of 1 to 8 bytes.
//!
//! The algorithm follows Boncz, Neumann, Leis, "FSST: Fast Random Access String Compression"
//! (2020): [`train`] finds symbols that shorten a sample, and the encoder takes the longest
//! matching symbol at each position.
//!
//! Three things differ from the paper. The encoder may take two consecutive symbols in one step.
//! The bytes of a page are split into quarters, each with its own stream of codes: a symbol's end
//! is known only after its look-up, so a processor works on one stream while it waits for another.
//! If longer symbols gain little, the table has symbols of at most two bytes (digrams), which need
//! no such wait.

mod decode;
mod encode;
mod shared;
mod train;

use entasis_format::{Error, Result};

pub(crate) use decode::decode;
pub(crate) use encode::{Codes, Matcher};
pub use shared::{SharedSymbols, SymbolSamples};
pub(crate) use train::{Trained, Trainer};

/// Fewer bytes are not worth a symbol table.
pub(crate) const MIN_LEN: usize = 16 << 10;
/// The number of streams of a page.
pub(crate) const STREAMS: usize = 4;
/// The largest number of symbols. The code after the last possible one is the escape: the next byte
/// is a literal.
pub(crate) const MAX_SYMBOLS: usize = 255;
pub(crate) const ESCAPE: u8 = 255;
/// The largest length of a symbol.
pub(crate) const MAX_LEN: usize = 8;

/// The length of each quarter of `len` bytes; the last quarters may be shorter.
pub(crate) fn quarter_len(len: usize) -> usize {
    len.div_ceil(STREAMS)
}

/// Up to 8 bytes in a little-endian word, padded with zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Symbol {
    pub word: u64,
    pub len: usize,
}

impl Symbol {
    pub(crate) const fn byte(byte: u8) -> Self {
        Self { word: byte as u64, len: 1 }
    }

    /// The concatenation with `next`, if short enough for a symbol.
    pub(crate) fn join(self, next: Self) -> Option<Self> {
        let len = self.len + next.len;
        (len <= MAX_LEN).then(|| Self { word: self.word | next.word << (8 * self.len), len })
    }

    /// Whether `other` is a prefix of this symbol.
    pub(crate) const fn begins_with(self, other: Self) -> bool {
        self.len >= other.len && (self.word ^ other.word) << (64 - 8 * other.len) == 0
    }
}

/// Symbols in the order of their codes: shorter ones first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Symbols(Vec<Symbol>);

impl Symbols {
    /// A table of at most [`MAX_SYMBOLS`] symbols.
    pub(crate) fn new(mut symbols: Vec<Symbol>) -> Self {
        debug_assert!(symbols.len() <= MAX_SYMBOLS, "a code for each");
        symbols.sort_by_key(|symbol| symbol.len);
        Self(symbols)
    }

    pub(crate) fn as_slice(&self) -> &[Symbol] {
        &self.0
    }

    /// The length of the stored table.
    pub(crate) fn stored_len(&self) -> usize {
        MAX_LEN + self.0.iter().map(|symbol| symbol.len).sum::<usize>()
    }

    /// Appends the table: the number of symbols of each length, then their bytes.
    pub(crate) fn emit(&self, out: &mut Vec<u8>) {
        // Each symbol is written as 8 bytes; the next one overwrites the excess.
        let (mut table, mut end) = ([0; MAX_LEN + MAX_LEN * MAX_SYMBOLS], MAX_LEN);
        for symbol in &self.0 {
            table[symbol.len - 1] += 1;
            table[end..end + MAX_LEN].copy_from_slice(&symbol.word.to_le_bytes());
            end += symbol.len;
        }
        out.extend_from_slice(&table[..end]);
    }

    /// Splits the table off the start of `bytes`.
    ///
    /// # Errors
    /// *Corrupt* when it has too many symbols, or `bytes` end within it.
    pub(crate) fn parse(bytes: &[u8]) -> Result<(Self, &[u8])> {
        let (counts, mut rest) = bytes.split_at_checked(MAX_LEN).ok_or_else(crate::short_body)?;
        let n: usize = counts.iter().map(|&count| usize::from(count)).sum();
        if n > MAX_SYMBOLS {
            return Err(Error::corrupt("a table has more symbols than codes"));
        }
        let mut symbols = Vec::with_capacity(n);
        for (len, &count) in (1..).zip(counts) {
            for _ in 0..count {
                let (symbol, after) = rest.split_at_checked(len).ok_or_else(crate::short_body)?;
                let mut word = [0; MAX_LEN];
                word[..len].copy_from_slice(symbol);
                symbols.push(Symbol { word: u64::from_le_bytes(word), len });
                rest = after;
            }
        }
        Ok((Self(symbols), rest))
    }
}

#[cfg(test)]
mod tests {
    use entasis_kernels::dispatch::on_every_isa;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::train::DIGRAMS_FROM;
    use super::*;
    use crate::profile::{Profile, cost};

    fn train(sample: &[u8]) -> Matcher {
        Trainer::default().train(sample, &train::ROUNDS)
    }

    /// The body of a page after its lengths.
    fn page(matcher: &mut Matcher, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let codes = matcher.encode_all(bytes);
        matcher.put(&codes, &mut out);
        out
    }

    fn round_trip(bytes: &[u8], matcher: &mut Matcher) -> usize {
        let body = page(matcher, bytes);
        let mut back = vec![1; bytes.len()];
        on_every_isa(|_| {
            back.fill(1);
            decode(&body, &mut back).unwrap();
            assert_eq!(back, bytes);
        });
        for cut in 0..body.len().min(2000) {
            assert!(decode(&body[..cut], &mut back).is_err());
        }
        let mut longer = vec![0; bytes.len() + 1];
        assert!(decode(&body, &mut longer).is_err());
        if let Some((_, shorter)) = back.split_first_mut() {
            assert!(decode(&body, shorter).is_err());
        }
        body.len()
    }

    pub(super) fn text(n: usize) -> Vec<u8> {
        let words = ["carefully ", "final ", "deposits ", "sleep ", "quickly ", "among ", "the ", "pending "];
        let mut state = 7u64;
        let mut text = Vec::new();
        while text.len() < n {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.extend_from_slice(words[(state >> 60) as usize % words.len()].as_bytes());
        }
        text.truncate(n);
        text
    }

    #[test]
    fn text_becomes_shorter() {
        let text = text(100_000);
        let len = round_trip(&text, &mut train(&text[..16_000]));
        assert!(len * 4 < text.len(), "{len} bytes");
        // Bytes that the sample does not contain.
        let other: Vec<u8> = (0..=255).cycle().take(10_000).collect();
        assert!(round_trip(&other, &mut train(&text)) > other.len());
    }

    #[test]
    fn a_recycled_matcher_keeps_nothing() {
        let (first, second) = (text(50_000), b"0.125 0.25 0.375 -1 12 ".repeat(900));
        let mut trainer = Trainer::default();
        let matcher = trainer.train_on(&first);
        trainer.recycle(matcher);
        let (mut again, mut fresh) = (trainer.train_on(&second), Trainer::default().train_on(&second));
        assert_eq!(again.symbols(), fresh.symbols());
        let other: Vec<u8> = first.iter().chain(&second).copied().chain(0..=255).collect();
        let all = [&mut again, &mut fresh].map(|matcher| {
            let (codes, mut out) = (matcher.encode_all(&other), Vec::new());
            matcher.put(&codes, &mut out);
            out
        });
        assert_eq!(all[0], all[1]);
    }

    #[test]
    fn symbols_are_reused_while_they_compress_as_well() {
        let (first, alike, other) = (text(50_000), text(80_000), b"0.125 0.25 0.375 -1 12 ".repeat(900));
        let mut trainer = Trainer::default();
        let mut symbols_for = |bytes: &[u8], previous| {
            let ratio = |matcher: &mut Matcher| matcher.encode_all(bytes).len() as f64 / bytes.len() as f64;
            trainer.symbols_for(bytes, previous, ratio)
        };
        let (trained, ratio) = symbols_for(&first, None);
        let before = trained.matcher.symbols().clone();
        let (same, of_alike) = symbols_for(&alike, Some(trained));
        assert_eq!(same.matcher.symbols(), &before);
        assert!((of_alike / ratio - 1.0).abs() < 0.02);
        let (own, of_other) = symbols_for(&other, Some(same));
        assert!(own.matcher.symbols() != &before && of_other < 0.3);
    }

    #[test]
    fn digrams_are_taken_where_longer_symbols_do_little_better() {
        let (words, mut state) = (text(DIGRAMS_FROM), 7u64);
        // Sixteen letters at random, without repeated words.
        let letters: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            b'a' + (state >> 60) as u8
        })
        .take(DIGRAMS_FROM)
        .collect();
        let mut trainer = Trainer::default();
        let mut best_for = |bytes: &[u8]| {
            let profile = Profile::new(Profile::DEFAULT).unwrap();
            let ratio = |matcher: &mut Matcher| matcher.encode_all(bytes).len() as f64 / bytes.len() as f64;
            let (mut trained, ratio) = trainer.best_for(&profile, bytes, None, ratio);
            assert_eq!(trained.ratio, ratio);
            // Without the header before the codes.
            let n_codes = round_trip(bytes, &mut trained.matcher) as f64;
            assert!(ratio < 0.65 && (n_codes / bytes.len() as f64 - ratio).abs() < 0.01);
            let byte_cost = trained.matcher.byte_cost();
            trainer.recycle(trained.matcher);
            byte_cost
        };
        assert_eq!(best_for(&letters), cost::DIGRAM_BYTE);
        assert_eq!(best_for(&words), cost::FSST_BYTE);
        // Short inputs do not try digrams.
        assert_eq!(best_for(&letters[1..]), cost::FSST_BYTE);
    }

    #[test]
    fn a_code_without_a_symbol_is_damage() {
        let (mut of_a, mut of_ab) = (vec![Symbol::byte(b'a')], vec![Symbol::byte(b'a')]);
        of_a.push(Symbol { word: u64::from_le_bytes(*b"abc\0\0\0\0\0"), len: 3 });
        of_ab.push(Symbol { word: u64::from_le_bytes(*b"ab\0\0\0\0\0\0"), len: 2 });
        for symbols in [of_a, of_ab] {
            // The number of other codes would be correct if the bad code stood for 0 to 255 bytes.
            // The bad code comes first or after other codes.
            for (len, before) in (0..=255).flat_map(|len| [(len, 0), (len, 1), (len, 300)]) {
                let codes = [vec![0; before], vec![200], vec![0; 1000 - before - len]].concat();
                let mut body = Vec::new();
                Symbols::new(symbols.clone()).emit(&mut body);
                body.extend((0..STREAMS).flat_map(|i| {
                    let n = if i == 1 { codes.len() } else { 1000 };
                    (n as u32).to_le_bytes()
                }));
                for i in 0..STREAMS {
                    body.extend_from_slice(if i == 1 { &codes } else { &[0; 1000] });
                }
                on_every_isa(|_| assert!(decode(&body, &mut [0; 4000]).is_err()));
            }
        }
    }

    #[test]
    fn every_short_length() {
        let text = text(100);
        for mut matcher in [Matcher::default(), train(&text), train(b"ab"), train(b"")] {
            for n in 0..text.len() {
                round_trip(&text[..n], &mut matcher);
            }
        }
    }

    #[test]
    fn tables_are_what_they_were() {
        let symbols = train(&text(20_000)).symbols().clone();
        assert!(symbols.as_slice().len() > 20);
        let mut out = Vec::new();
        symbols.emit(&mut out);
        assert_eq!(out.len(), symbols.stored_len());
        out.extend_from_slice(b"rest");
        assert_eq!(Symbols::parse(&out).unwrap(), (symbols, &b"rest"[..]));
        for cut in 0..out.len() - 4 {
            assert!(Symbols::parse(&out[..cut]).is_err());
        }
        assert!(Symbols::parse(&[128, 128, 0, 0, 0, 0, 0, 0]).is_err());
    }

    proptest! {
        #[test]
        fn anything_comes_back(bytes: Vec<u8>, sample: Vec<u8>, repeats in 1usize..50) {
            round_trip(&bytes.repeat(repeats), &mut train(&bytes));
            round_trip(&bytes, &mut train(&sample));
            let mut digrams = Trainer::default().train_digrams(&sample, &train::ROUNDS);
            round_trip(&bytes, &mut digrams);
            round_trip(&sample.repeat(repeats), &mut digrams);
        }

        #[test]
        fn damage_gives_the_same_result_on_every_isa(sample in vec(0..20u8, 40..400), at: Index, to: u8, is_digrams: bool) {
            let mut trainer = Trainer::default();
            let mut matcher = if is_digrams {
                trainer.train_digrams(&sample, &train::ROUNDS)
            } else {
                trainer.train(&sample, &train::ROUNDS)
            };
            let bytes = sample.repeat(7);
            let mut body = page(&mut matcher, &bytes);
            let at = at.index(body.len());
            body[at] = to;
            let mut all = Vec::new();
            on_every_isa(|_| {
                let mut back = vec![0; bytes.len()];
                all.push(decode(&body, &mut back).map(|()| back).ok());
            });
            assert!(all.iter().all(|back| *back == all[0]));
        }

        #[test]
        fn any_bytes_decode_or_not(body: Vec<u8>, len in 0usize..100) {
            let _ = decode(&body, &mut vec![0; len]);
        }
    }
}
