//! Finds the longest symbol, or a pair of symbols, at each position of a text: one look-up in a
//! table for long symbols and one in a table for short ones.
//!
//! The end of a symbol is known only after its look-up, about eighteen cycles later, so several
//! streams are encoded at once. The steps need no bounds checks: their number is such that each may
//! take the longest symbol. A step only stores its match, at the same index for each stream, so
//! that just the positions in the texts occupy registers. `emit` turns the matches into codes
//! afterwards. One address gives access to all tables and a match is one word, so a step takes
//! twelve instructions.
//!
//! Most symbols are short, so few slots of the table for long ones are used. Pairs of consecutive
//! symbols use the others; such a match gives two codes in one step.

use std::hint::select_unpredictable;

use bytemuck::Zeroable;

use super::ESCAPE;
use super::digrams::Digrams;
use super::emit::emit;
use super::match_entry::MatchEntry;
#[cfg(target_arch = "x86_64")]
use crate::dispatch::{Isa, isa};

/// The number of slots for symbols and pairs of three bytes or more, by a hash of their first three
/// bytes. A slot holds one of them.
const SLOTS: usize = 1024;
/// The largest length of a symbol.
const MAX_LEN: usize = 8;
/// The number of streams that are encoded at once.
const STREAMS: usize = 8;
/// The number of steps before their matches are emitted.
const STEPS: usize = 128;

/// An empty slot. It matches no word: the comparison shifts the word left, so its lowest bit is
/// zero.
const NOTHING: (u64, MatchEntry) = (1, MatchEntry::symbol(0, 3));

#[derive(Clone, Copy, Zeroable)]
struct Tables {
    /// The bytes of symbols and pairs of three bytes or more, by hash, aligned to the highest byte.
    words: [u64; SLOTS],
    /// The matches for `words`.
    long: [MatchEntry; SLOTS],
    /// Matches of at most two bytes, by the first two bytes of the text.
    short: [MatchEntry; 1 << 16],
    /// Matches of one byte, for the last byte of a text.
    single: [MatchEntry; 256],
}

/// An index of symbols by their first bytes.
#[derive(Clone)]
pub struct SymbolIndex {
    tables: Box<Tables>,
    /// Present if the symbols were set by `set_digrams`.
    digrams: Option<Box<Digrams>>,
}

impl std::fmt::Debug for SymbolIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SymbolIndex").finish_non_exhaustive()
    }
}

impl Default for SymbolIndex {
    fn default() -> Self {
        let mut index = Self { tables: bytemuck::zeroed_box(), digrams: None };
        index.set(std::iter::empty());
        index
    }
}

impl SymbolIndex {
    /// Replaces the symbols. They have 1 to 8 bytes and the codes 0, 1 and so on; each is a
    /// little-endian word and a length. Of symbols that share a slot the last one is found. Returns
    /// false, leaving no symbols, if there are more than 255 or one has another length.
    pub fn set(&mut self, symbols: impl Iterator<Item = (u64, usize)> + Clone) -> bool {
        self.set_for_followers(0..=u8::MAX, symbols)
    }

    /// As [`set`](Self::set), for texts whose bytes after the first one are all in `followers`,
    /// which must contain zero. Matches in other texts are unspecified: they may come from earlier
    /// symbols. This is faster, because most of the work is per follower and most texts use few
    /// bytes.
    pub fn set_for_followers(
        &mut self,
        followers: impl Iterator<Item = u8>,
        symbols: impl Iterator<Item = (u64, usize)> + Clone,
    ) -> bool {
        self.digrams = None;
        let tables = &mut *self.tables;
        tables.words.fill(NOTHING.0);
        tables.long.fill(NOTHING.1);
        tables.single = std::array::from_fn(|byte| MatchEntry::byte(byte as u8));
        let is_sound = symbols.clone().count() <= usize::from(ESCAPE)
            && symbols.clone().all(|(_, len)| (1..=MAX_LEN).contains(&len));
        // The iterator is cloned, and a clone may differ, so its symbols are checked again.
        let symbols = symbols.enumerate().filter(|&(code, (_, len))| {
            is_sound && code < usize::from(ESCAPE) && (1..=MAX_LEN).contains(&len)
        });
        for (code, (word, _)) in symbols.clone().filter(|(_, (_, len))| *len == 1) {
            tables.single[(word & 0xFF) as usize] = MatchEntry::symbol(code, 1);
        }
        for follower in followers {
            tables.short[usize::from(follower) << 8..][..256].copy_from_slice(&tables.single);
        }
        for (code, (word, len)) in symbols {
            let found = MatchEntry::symbol(code, len);
            match len {
                1 => {}
                2 => tables.short[(word & 0xFFFF) as usize] = found,
                _ => {
                    tables.words[slot_of(word)] = word << (64 - 8 * len);
                    tables.long[slot_of(word)] = found;
                }
            }
        }
        is_sound
    }

    /// As [`set`](Self::set), for symbols of one or two bytes, which are found faster. Returns
    /// false if a symbol is longer, or if the symbols of two bytes have more than 31 different
    /// first or second bytes.
    pub fn set_digrams(&mut self, symbols: impl Iterator<Item = (u64, usize)> + Clone) -> bool {
        if !self.set(symbols.clone()) {
            return false;
        }
        self.digrams = Digrams::new(symbols);
        self.digrams.is_some()
    }

    /// Whether the symbols were set as digrams.
    pub fn has_digrams(&self) -> bool {
        self.digrams.is_some()
    }

    /// Adds a pair of consecutive symbols that is found in one step: their codes, and the bytes and
    /// length of both. Returns false, adding nothing, if a symbol occupies the slot, the length is
    /// not 3 to 8, or a code is the escape. Of pairs that share a slot the last one is found.
    pub fn add_pair(&mut self, codes: [u8; 2], word: u64, len: usize) -> bool {
        let tables = &mut *self.tables;
        let slot = slot_of(word);
        let there = (tables.words[slot], tables.long[slot]);
        let is_free = there == NOTHING || there.1.written().1 == 2;
        let is_fit = self.digrams.is_none() && (3..=MAX_LEN).contains(&len);
        if codes.contains(&ESCAPE) || !is_fit || !is_free {
            return false;
        }
        tables.words[slot] = word << (64 - 8 * len);
        tables.long[slot] = MatchEntry::pair(codes, len);
        true
    }

    /// The number of slots for symbols and pairs of three bytes or more.
    pub const SLOTS: usize = SLOTS;

    /// The largest number of different first bytes of digrams, and of second bytes.
    pub const DIGRAM_BYTES: usize = super::digrams::MOST;

    /// The slot, below [`SLOTS`](Self::SLOTS), of a symbol of three bytes or more that begins with
    /// `word`. Of symbols that share a slot the last one is found.
    pub fn slot(word: u64) -> usize {
        slot_of(word)
    }

    /// The match at the start of `word`. `SHORT` says that no symbol has more than two bytes.
    #[inline(always)]
    fn find<const SHORT: bool>(&self, word: u64) -> MatchEntry {
        let tables = &*self.tables;
        if SHORT {
            return tables.short[(word & 0xFFFF) as usize];
        }
        let slot = slot_of(word);
        // Both are loaded before one is selected, because a branch here would be unpredictable.
        let long = tables.long[slot];
        let short = tables.short[(word & 0xFFFF) as usize];
        let is_long = tables.words[slot] == word << long.other_bits();
        select_unpredictable(is_long, long, short)
    }

    /// As [`find`](Self::find), for the last bytes of a text, fewer than 8.
    fn find_last(&self, bytes: &[u8]) -> MatchEntry {
        let mut word = [0; MAX_LEN];
        let len = bytes.len().min(MAX_LEN);
        word[..len].copy_from_slice(&bytes[..len]);
        let word = u64::from_le_bytes(word);
        let found = self.find::<false>(word);
        if found.len() <= len {
            return found;
        }
        let short = self.tables.short[(word & 0xFFFF) as usize];
        if short.len() <= len { short } else { self.tables.single[(word & 0xFF) as usize] }
    }

    /// The match at the start of `bytes`, which are not empty: one symbol, or a pair if pairs were
    /// added.
    #[inline(always)]
    pub fn find_at(&self, bytes: &[u8]) -> MatchEntry {
        match bytes.first_chunk() {
            Some(word) => self.find::<false>(u64::from_le_bytes(*word)),
            None => self.find_last(bytes),
        }
    }

    /// Writes the codes of each input to the start of its part of `outs`, and returns their
    /// lengths. `None` if a part has less than twice the length of its input, which escapes alone
    /// may need.
    pub fn encode(&self, inputs: [&[u8]; STREAMS], outs: [&mut [u8]; STREAMS]) -> Option<[usize; STREAMS]> {
        let mut number = 0;
        let mut streams = outs.map(|out| {
            number += 1;
            Stream { number: number - 1, bytes: inputs[number - 1], out, at: 0, end: 0 }
        });
        if streams.iter().any(|stream| stream.out.len() / 2 < stream.bytes.len()) {
            return None;
        }
        match &self.digrams {
            Some(digrams) => {
                for stream in &mut streams {
                    (stream.at, stream.end) = encode_digrams(digrams, stream.bytes, stream.out);
                }
                steps::<true>(self, &mut streams);
            }
            None => steps::<false>(self, &mut streams),
        }
        let mut lens = [0; STREAMS];
        for stream in &mut streams {
            while stream.at < stream.bytes.len() {
                let found = self.find_last(&stream.bytes[stream.at..]);
                stream.end += emit(&[found], &mut stream.out[stream.end..]);
                stream.at += found.len();
            }
            lens[stream.number] = stream.end;
        }
        Some(lens)
    }
}

/// An input during encoding. Invariant: `end <= 2 * at`, and `out` has twice the length of `bytes`,
/// so that there is room for the codes of each remaining byte.
struct Stream<'a> {
    number: usize,
    bytes: &'a [u8],
    out: &'a mut [u8],
    at: usize,
    end: usize,
}

impl Stream<'_> {
    /// The number of steps that fit before the end even if each takes the longest symbol.
    fn steps(&self) -> usize {
        (self.bytes.len() - self.at) / MAX_LEN
    }
}

/// Encodes most of `bytes` if the processor can do so for many positions at once. Returns the
/// number of bytes encoded and the number of bytes written; the bytes of `out` after these are
/// unspecified. `out` has at least twice the length of `bytes`.
fn encode_digrams(digrams: &Digrams, bytes: &[u8], out: &mut [u8]) -> (usize, usize) {
    #[cfg(target_arch = "x86_64")]
    if super::avx512::is_supported() {
        // SAFETY: `is_supported` found every feature that the function is compiled for.
        return unsafe { super::avx512_digrams::encode(digrams, bytes, out) };
    }
    let _ = (bytes, out);
    (0, 0)
}

/// Encodes all but the last bytes of each stream, fewer than eight.
fn steps<const SHORT: bool>(index: &SymbolIndex, streams: &mut [Stream<'_>; STREAMS]) {
    #[cfg(target_arch = "x86_64")]
    {
        // Not compiled for AVX-512: the compiler might then gather eight look-ups, which takes
        // three times as long.
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn avx2<const SHORT: bool>(index: &SymbolIndex, streams: &mut [Stream<'_>; STREAMS]) {
            steps_body::<SHORT>(index, streams);
        }
        if isa() >= Isa::Avx2 {
            // SAFETY: `isa()` only returns levels that the processor has.
            return unsafe { avx2::<SHORT>(index, streams) };
        }
    }
    steps_body::<SHORT>(index, streams);
}

#[inline(always)]
fn steps_body<const SHORT: bool>(index: &SymbolIndex, streams: &mut [Stream<'_>; STREAMS]) {
    loop {
        // Streams that are done come last.
        streams.sort_unstable_by_key(|stream| std::cmp::Reverse(stream.steps()));
        let n_left = streams.iter().take_while(|stream| stream.steps() > 0).count();
        let [a, b, c, d, rest @ ..] = streams;
        match (n_left, rest) {
            (0, _) => return,
            (1, _) => together::<SHORT, _>(index, [a]),
            (2, _) => together::<SHORT, _>(index, [a, b]),
            (3, _) => together::<SHORT, _>(index, [a, b, c]),
            (STREAMS, [e, f, g, h]) => together::<SHORT, _>(index, [a, b, c, d, e, f, g, h]),
            _ => together::<SHORT, _>(index, [a, b, c, d]),
        }
    }
}

/// Steps through all streams in turn until one of them has no step left.
#[inline(always)]
fn together<const SHORT: bool, const N: usize>(index: &SymbolIndex, mut streams: [&mut Stream<'_>; N]) {
    let mut found = [[MatchEntry::zeroed(); STEPS]; N];
    loop {
        let n_steps = streams.iter().map(|stream| stream.steps()).min().unwrap_or(0).min(STEPS);
        if n_steps == 0 {
            return;
        }
        let mut from: [*const u8; N] = std::array::from_fn(|i| streams[i].bytes[streams[i].at..].as_ptr());
        #[expect(clippy::needless_range_loop, reason = "each stream has its own")]
        for step in 0..n_steps {
            for i in 0..N {
                // SAFETY: `steps` guarantees that 8 bytes follow after this many steps of at most 8
                // bytes each (`MatchEntry::len`).
                let word = u64::from_le(unsafe { from[i].cast::<u64>().read_unaligned() });
                let here = index.find::<SHORT>(word);
                found[i][step] = here;
                // SAFETY: as above.
                from[i] = unsafe { from[i].add(here.len()) };
            }
        }
        for ((stream, found), from) in streams.iter_mut().zip(&found).zip(from) {
            stream.end += emit(&found[..n_steps], &mut stream.out[stream.end..]);
            stream.at = from.addr() - stream.bytes.as_ptr().addr();
        }
    }
}

#[inline(always)]
fn slot_of(word: u64) -> usize {
    // A multiplicative hash of the first three bytes by 2^24 divided by the golden ratio.
    ((word as u32).wrapping_mul(0x009E_3779 << 8) >> (32 - SLOTS.trailing_zeros())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::on_every_isa;
    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;

    fn word(bytes: &[u8]) -> u64 {
        let mut word = [0; MAX_LEN];
        let len = bytes.len().min(MAX_LEN);
        word[..len].copy_from_slice(&bytes[..len]);
        u64::from_le_bytes(word)
    }

    fn index_of(symbols: &[Vec<u8>]) -> SymbolIndex {
        let mut index = SymbolIndex::default();
        assert!(index.set(symbols.iter().map(|symbol| (word(symbol), symbol.len()))));
        index
    }

    /// Adds pairs of these symbols.
    fn join(index: &mut SymbolIndex, symbols: &[Vec<u8>], pairs: &[[usize; 2]]) {
        for pair in pairs {
            let both = pair.map(|code| symbols[code].as_slice()).concat();
            let has_slot =
                |s: &&Vec<u8>| s.len() > 2 && SymbolIndex::slot(word(s)) == SymbolIndex::slot(word(&both));
            let is_free = symbols.iter().find(has_slot).is_none();
            let is_joined = index.add_pair(pair.map(|code| code as u8), word(&both), both.len());
            assert_eq!(is_joined, is_free && (3..=8).contains(&both.len()));
        }
    }

    /// Symbol by symbol: a long symbol by its slot, or a pair in a slot without a symbol, else a
    /// symbol of two bytes, else of one byte, else an escape.
    fn model(symbols: &[Vec<u8>], pairs: &[[usize; 2]], bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut rest = bytes;
        let find = |fits: &dyn Fn(&Vec<u8>) -> bool| symbols.iter().rposition(fits);
        while !rest.is_empty() {
            let here = word(rest);
            let has_slot = |s: &[u8]| s.len() > 2 && SymbolIndex::slot(word(s)) == SymbolIndex::slot(here);
            let of_slot = find(&|s| has_slot(s));
            let both = |pair: &[usize; 2]| pair.map(|code| symbols[code].as_slice()).concat();
            let pair = pairs.iter().rfind(|pair| both(pair).len() <= 8 && has_slot(&both(pair)));
            if let Some(pair) = pair.filter(|pair| of_slot.is_none() && rest.starts_with(&both(pair))) {
                out.extend(pair.map(|code| code as u8));
                rest = &rest[both(pair).len()..];
                continue;
            }
            let long = of_slot.filter(|&code| rest.starts_with(&symbols[code]));
            let of_len = |len| find(&|s| s.len() == len && rest.starts_with(s));
            match long.or_else(|| of_len(2)).or_else(|| of_len(1)) {
                Some(code) => {
                    out.push(code as u8);
                    rest = &rest[symbols[code].len()..];
                }
                None => {
                    out.extend([ESCAPE, rest[0]]);
                    rest = &rest[1..];
                }
            }
        }
        out
    }

    fn encode(index: &SymbolIndex, inputs: [&[u8]; STREAMS]) -> [Vec<u8>; STREAMS] {
        let mut outs = inputs.map(|input| vec![7; 2 * input.len()]);
        let mut parts = outs.iter_mut();
        let parts = std::array::from_fn(|_| parts.next().expect("one for each stream").as_mut_slice());
        let lens = index.encode(inputs, parts).unwrap();
        outs.iter_mut().zip(lens).for_each(|(out, len)| out.truncate(len));
        outs
    }

    #[test]
    fn few_followers_give_the_same_matches() {
        let symbols = |all: &[&str]| -> Vec<Vec<u8>> { all.iter().map(|s| s.as_bytes().to_vec()).collect() };
        let before = symbols(&["x", "b", "ca", "zz", "abc", "\0"]);
        let after = symbols(&["a", "bb", "ab", "z", "cab", "bca"]);
        let mut index = index_of(&before);
        assert!(index.set_for_followers(
            b"\0abc".iter().copied(),
            after.iter().map(|symbol| (word(symbol), symbol.len()))
        ));
        let all = index_of(&after);
        let text = b"zabcabbaccabcabbbacaabcbcaab";
        for at in 0..text.len() {
            for end in at + 1..=text.len() {
                assert_eq!(index.find_at(&text[at..end]), all.find_at(&text[at..end]));
            }
        }
    }

    prop_compose! {
        /// Symbols of bytes up to `most`, mostly short, and pairs of them.
        fn symbols_and_pairs(most: u8)(
            symbols in vec(prop_oneof![vec(0..=most, 1..=3), vec(0..=most, 1..=8)], 0..=255),
        )(
            pairs in vec([0..symbols.len().max(1), 0..symbols.len().max(1)], 0..if symbols.is_empty() { 1 } else { 99 }),
            symbols in Just(symbols),
        ) -> (Vec<Vec<u8>>, Vec<[usize; 2]>) {
            (symbols, pairs)
        }
    }

    proptest! {
        #[test]
        fn codes_are_those_of_the_model(
            (symbols, pairs) in symbols_and_pairs(3),
            // Groups of steps with one literal, with some, and without.
            all in vec(vec(prop_oneof![99 => 0..4u8, 1 => Just(4)], 0..1500), STREAMS),
        ) {
            let mut index = index_of(&symbols);
            join(&mut index, &symbols, &pairs);
            let inputs: [&[u8]; STREAMS] = std::array::from_fn(|i| all[i].as_slice());
            let expected = inputs.map(|input| model(&symbols, &pairs, input));
            on_every_isa(|_| assert_eq!(encode(&index, inputs), expected));
        }

        #[test]
        fn any_bytes_have_codes((symbols, pairs) in symbols_and_pairs(u8::MAX), all in vec(any::<u8>(), 0..2000)) {
            let mut index = index_of(&symbols);
            join(&mut index, &symbols, &pairs);
            // Streams of any lengths: most of them end long before the last one.
            let inputs = [&all[..], &all[..all.len() / 3], &[], &all[all.len() / 2..]];
            let inputs = std::array::from_fn(|i| if i < 4 { inputs[i] } else { &all[..all.len() * (i - 4) / 4] });
            assert_eq!(encode(&index, inputs), inputs.map(|input| model(&symbols, &pairs, input)));
        }
    }

    proptest! {
        #[test]
        fn codes_of_digrams_are_those_of_the_model(
            symbols in btree_set(vec(prop_oneof![5 => 0..6u8, 4 => 0..25u8, 1 => 250..=255u8], 1..=2), 0..200),
            // Streams of digrams alone, of few and of none. Runs of them begin at any position and
            // cross groups of 64.
            all in vec(vec(prop_oneof![30 => 0..6u8, 30 => 0..25u8, 5 => any::<u8>()], 0..700), STREAMS),
            even in vec(0..6u8, 2),
        ) {
            let symbols: Vec<Vec<u8>> = symbols.into_iter().collect();
            let mut index = SymbolIndex::default();
            prop_assert!(index.set_digrams(symbols.iter().map(|symbol| (word(symbol), symbol.len()))));
            for all in [all, (0..STREAMS).map(|i| even.repeat(37 * i)).collect()] {
                let inputs: [&[u8]; STREAMS] = std::array::from_fn(|i| all[i].as_slice());
                let expected = inputs.map(|input| model(&symbols, &[], input));
                on_every_isa(|_| assert_eq!(encode(&index, inputs), expected));
            }
        }
    }

    #[test]
    fn digrams_begin_and_end_with_few_bytes() {
        let digrams = |n: u64, m: u64| (0..n * m).map(move |i| (((i / m) << 8) | (i % m), 2));
        let mut index = SymbolIndex::default();
        assert!(index.set_digrams(digrams(8, 31)) && index.set_digrams(digrams(31, 8)));
        assert!(!index.set_digrams(digrams(2, 32)) && !index.set_digrams(digrams(32, 2)));
        assert!(!index.set_digrams([(1, 3)].into_iter()) && !index.set_digrams(digrams(16, 16)));
        // No codes of earlier symbols are left.
        assert!(index.set_digrams([(7, 1)].into_iter()));
        let text = [5u8, 7].repeat(99);
        let inputs = [text.as_slice(); STREAMS];
        on_every_isa(|_| assert_eq!(encode(&index, inputs)[3], [ESCAPE, 5, 0].repeat(99)));
    }

    #[test]
    fn the_longest_symbol_is_taken() {
        let symbols = ["a", "ab", "abc", "abcdefgh", "b"].map(|s| s.as_bytes().to_vec());
        let index = index_of(&symbols);
        let found = |bytes: &[u8]| (index.find_at(bytes).code(), index.find_at(bytes).len());
        // One of the symbols that share the first three bytes occupies their slot.
        assert_eq!(found(b"abcdefghi"), (3, 8));
        assert_eq!(found(b"abcdefgi"), (1, 2));
        assert_eq!(found(b"ab"), (1, 2));
        assert_eq!(found(b"a"), (0, 1));
        assert!(index.find_at(b"cab").is_byte());
        assert!(index.find_at(b"\0").is_byte() && index.find_at(&[255; 9]).is_byte());
    }

    #[test]
    fn a_pair_is_found_where_no_symbol_has_its_slot() {
        let symbols = ["th", "e ", "th ", "a"].map(|s| s.as_bytes().to_vec());
        let mut index = index_of(&symbols);
        assert!(index.add_pair([0, 1], word(b"the "), 4));
        let found = |index: &SymbolIndex, bytes: &[u8]| index.find_at(bytes).written();
        assert_eq!(found(&index, b"the mill"), ([0, 1], 2));
        assert_eq!(found(&index, b"them").0[0], 0);
        assert_eq!(index.find_at(b"the").len(), 2);
        // Too short, too long, an escape, the slot of a symbol.
        assert!(!index.add_pair([3, 3], word(b"aa"), 2) && !index.add_pair([3, 3], word(b"aaaaaaaa"), 9));
        assert!(!index.add_pair([3, ESCAPE], word(b"abc"), 3) && !index.add_pair([2, 3], word(b"th a"), 4));
        assert_eq!(found(&index, b"th a "), ([2, 0], 1));
        // The last of the pairs that share a slot; new symbols remove all pairs.
        assert!(index.add_pair([0, 3], word(b"thea"), 4));
        assert_eq!(found(&index, b"theatre"), ([0, 3], 2));
        assert_eq!(found(&index, b"the mill").1, 1);
        // A symbol that equals the value of an empty slot.
        let mut one = index_of(&[b"\x01\0\0\0\0\0\0\0".to_vec(), b"\x01\0".to_vec(), b"\0a".to_vec()]);
        assert!(!one.add_pair([1, 2], word(b"\x01\0\0a"), 4));
        assert_eq!(one.find_at(&[1, 0, 0, 0, 0, 0, 0, 0, 7]).len(), 8);
        assert!(index.set(symbols.iter().map(|symbol| (word(symbol), symbol.len()))));
        assert_eq!(found(&index, b"theatre").1, 1);
    }

    #[test]
    fn impossible_symbols_and_short_memory_are_refused() {
        let mut index = index_of(&[b"ab".to_vec()]);
        assert!(!index.set([(1, 0)].into_iter()) && !index.set([(1, 9)].into_iter()));
        assert!(index.find_at(b"ab").is_byte());
        assert!(!index.set((0..256).map(|i| (i, 2))));
        assert!(index.set((0..255).map(|i| (i, 2))));
        let (mut enough, mut short) = ([[0; 8]; STREAMS - 1], [0; 7]);
        let mut outs = enough.iter_mut().map(|out| out.as_mut_slice()).chain([short.as_mut_slice()]);
        let outs = std::array::from_fn(|_| outs.next().expect("one for each stream"));
        assert!(index.encode([b"abcd"; STREAMS], outs).is_none());
    }
}
