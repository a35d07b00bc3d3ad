//! Bytes become codes: the longest symbol that fits, by one look into a table for long ones and one for short ones.

use std::hint::select_unpredictable;

use super::{ESCAPE, MAX_LEN, PIECES, Symbol, Symbols, piece_len};

/// Slots for symbols of three bytes or more, by a hash of the first three. Of symbols that share a slot only one is found.
const SLOTS: usize = 2048;

/// What stands for the bytes at a place: a number, and how many bytes it stands for.
///
/// Numbers below 256 are those of symbols; 256 + b is byte b, for which there is none.
#[derive(Clone, Copy)]
pub(super) struct Found(u32);

impl Found {
    const fn new(number: usize, len: usize) -> Self {
        Self((len << 12 | number) as u32)
    }

    const fn narrow(self) -> u16 {
        self.0 as u16
    }

    #[inline(always)]
    pub(super) const fn number(self) -> usize {
        (self.0 & 0xFFF) as usize
    }

    #[inline(always)]
    pub(super) const fn len(self) -> usize {
        (self.0 >> 12) as usize
    }

    /// The code to write: an escape for a byte.
    #[inline(always)]
    const fn code(self) -> u8 {
        self.0 as u8 | (self.0 >> 8 & 1).wrapping_neg() as u8
    }

    #[inline(always)]
    const fn is_byte(self) -> bool {
        self.0 & 0x100 != 0
    }
}

#[derive(Clone, Copy)]
struct Slot {
    word: u64,
    /// Bits of a place that don't belong to the symbol.
    other_bits: u32,
    found: Found,
}

/// No place has this symbol: its word is longer than what is compared.
const EMPTY: Slot = Slot { word: u64::MAX, other_bits: 63, found: Found::new(0, 0) };

/// Finds symbols.
#[derive(Clone)]
pub(crate) struct Matcher {
    symbols: Symbols,
    long: Box<[Slot; SLOTS]>,
    /// By two bytes. Narrower than what slots have: a compiler that can load either from one place chooses the place, by a
    /// branch that no processor predicts.
    short: Box<[u16; 1 << 16]>,
    /// By the last byte of all.
    single: Box<[u16; 256]>,
    /// Codes of the pieces, before it is known where they stand.
    scratch: Vec<u8>,
}

impl Matcher {
    /// Of these symbols.
    pub(crate) fn new(symbols: &Symbols) -> Self {
        let mut matcher = Self {
            symbols: Symbols::default(),
            long: Box::new([EMPTY; SLOTS]),
            short: vec![0; 1 << 16].try_into().unwrap_or_else(|_| unreachable!("65,536 of them")),
            single: Box::new([0; 256]),
            scratch: Vec::new(),
        };
        matcher.set(symbols);
        matcher
    }

    /// Takes other symbols, the most useful first where two share a slot.
    pub(super) fn set(&mut self, symbols: &Symbols) {
        self.long.fill(EMPTY);
        for (byte, found) in self.single.iter_mut().enumerate() {
            *found = Found::new(256 + byte, 1).narrow();
        }
        for (number, symbol) in symbols.as_slice().iter().enumerate().filter(|(_, symbol)| symbol.len == 1) {
            self.single[usize::from(symbol.first_byte())] = Found::new(number, 1).narrow();
        }
        for row in self.short.chunks_exact_mut(256) {
            row.copy_from_slice(&*self.single);
        }
        for (number, symbol) in symbols.as_slice().iter().enumerate() {
            match symbol.len {
                1 => {}
                2 => self.short[symbol.word as usize] = Found::new(number, 2).narrow(),
                len => {
                    let slot = &mut self.long[slot_of(symbol.word)];
                    *slot = Slot {
                        word: symbol.word,
                        other_bits: (64 - 8 * len) as u32,
                        found: Found::new(number, len),
                    };
                }
            }
        }
        self.symbols.clone_from(symbols);
    }

    /// Whether these symbols could be found beside each other.
    pub(super) fn share_a_slot(a: Symbol, b: Symbol) -> bool {
        a.len > 2 && b.len > 2 && slot_of(a.word) == slot_of(b.word)
    }

    /// What stands for the first bytes of `word`, of which there are 8 at least.
    #[inline(always)]
    fn find(&self, word: u64) -> Found {
        let slot = &self.long[slot_of(word)];
        let short = Found(u32::from(self.short[(word & 0xFFFF) as usize]));
        let is_long = slot.word == word & (u64::MAX >> slot.other_bits);
        select_unpredictable(is_long, slot.found, short)
    }

    /// The same at the end of `bytes`, which has fewer than 8.
    pub(super) fn find_last(&self, bytes: &[u8]) -> Found {
        let mut word = [0; 8];
        let len = bytes.len().min(MAX_LEN);
        word[..len].copy_from_slice(&bytes[..len]);
        let word = u64::from_le_bytes(word);
        let found = self.find(word);
        if found.len() <= len {
            return found;
        }
        let short = Found(u32::from(self.short[(word & 0xFFFF) as usize]));
        if short.len() <= len { short } else { Found(u32::from(self.single[(word & 0xFF) as usize])) }
    }

    /// What stands for the first bytes of `bytes`, which are not empty.
    #[inline(always)]
    pub(super) fn find_at(&self, bytes: &[u8]) -> Found {
        match bytes.first_chunk::<8>() {
            Some(word) => self.find(u64::from_le_bytes(*word)),
            None => self.find_last(bytes),
        }
    }

    /// The codes of the first bytes of a piece; false when it has fewer than 8, or `out` no room.
    #[inline(always)]
    fn step(&self, piece: &[u8], at: &mut usize, out: &mut [u8], end: &mut usize) -> bool {
        let Some(word) = piece.get(*at..).and_then(|rest| rest.first_chunk::<8>()) else { return false };
        let Some(out) = out.get_mut(*end..*end + 2) else { return false };
        let word = u64::from_le_bytes(*word);
        let found = self.find(word);
        out[0] = found.code();
        out[1] = word as u8;
        *end += 1 + usize::from(found.is_byte());
        *at += found.len();
        true
    }

    /// Appends the table, the lengths of the streams, and the streams of `bytes`.
    pub(crate) fn emit(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        self.symbols.emit(out);
        let mut lens = [0; PIECES];
        let piece = piece_len(bytes.len());
        let mut scratch = std::mem::take(&mut self.scratch);
        // Twice the bytes are codes that all are escapes.
        let room = 2 * piece + 2;
        scratch.resize(room * PIECES, 0);
        self.encode(bytes, &mut scratch, &mut lens);
        for len in lens {
            out.extend_from_slice(&(len as u32).to_le_bytes());
        }
        for (codes, len) in scratch.chunks_exact(room).zip(lens) {
            out.extend_from_slice(&codes[..len]);
        }
        self.scratch = scratch;
    }

    /// Bytes of a page before its streams.
    pub(crate) fn heads_len(&self) -> usize {
        self.symbols.stored_len() + 4 * PIECES
    }

    /// The number of bytes of the streams of `bytes`.
    pub(crate) fn codes_len(&mut self, bytes: &[u8]) -> usize {
        let mut lens = [0; PIECES];
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.resize((2 * piece_len(bytes.len()) + 2) * PIECES, 0);
        self.encode(bytes, &mut scratch, &mut lens);
        self.scratch = scratch;
        lens.iter().sum()
    }

    /// Encodes each piece into its part of `out`.
    fn encode(&self, bytes: &[u8], out: &mut [u8], ends: &mut [usize; PIECES]) {
        let piece = piece_len(bytes.len());
        let cut = |i: usize| &bytes[(i * piece).min(bytes.len())..((i + 1) * piece).min(bytes.len())];
        let pieces: [&[u8]; PIECES] = std::array::from_fn(cut);
        let room = out.len() / PIECES;
        let mut parts = out.chunks_exact_mut(room.max(1));
        let mut parts: [&mut [u8]; PIECES] = std::array::from_fn(|_| parts.next().unwrap_or_default());
        let mut at = [0; PIECES];
        let [at0, at1, at2, at3] = &mut at;
        let [end0, end1, end2, end3] = ends;
        let [out0, out1, out2, out3] = &mut parts;
        while self.step(pieces[0], at0, out0, end0)
            && self.step(pieces[1], at1, out1, end1)
            && self.step(pieces[2], at2, out2, end2)
            && self.step(pieces[3], at3, out3, end3)
        {}
        for i in 0..PIECES {
            while self.step(pieces[i], &mut at[i], parts[i], &mut ends[i]) {}
            while at[i] < pieces[i].len() {
                let rest = &pieces[i][at[i]..];
                let found = self.find_last(rest);
                if found.is_byte() {
                    parts[i][ends[i]] = ESCAPE;
                    parts[i][ends[i] + 1] = rest[0];
                    ends[i] += 2;
                } else {
                    parts[i][ends[i]] = found.number() as u8;
                    ends[i] += 1;
                }
                at[i] += found.len();
            }
        }
    }
}

#[inline(always)]
fn slot_of(word: u64) -> usize {
    // The first three bytes, mixed; the high bits of the product are.
    ((word << 40).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - SLOTS.trailing_zeros())) as usize
}
