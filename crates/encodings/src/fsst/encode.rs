//! Encodes pages as FSST codes.

use std::sync::Arc;

use entasis_kernels::fsst::{MatchEntry, SymbolIndex};
use entasis_platform::memory::ScratchVec;

use super::{STREAMS, Symbol, Symbols, quarter_len};
use crate::profile::cost;

/// A symbol table with the index that finds its symbols.
#[derive(Debug, Default)]
pub(crate) struct Matcher {
    symbols: Symbols,
    /// Runs of a column with the same symbols share the index, because it exceeds the L1 cache.
    index: Arc<SymbolIndex>,
    /// Codes of the parts, before their final positions are known.
    scratch: ScratchVec<u8>,
    /// As `scratch`, for calls that only measure codes.
    counted: ScratchVec<u8>,
}

impl Matcher {
    /// Replaces the symbols.
    pub(super) fn set(&mut self, symbols: Symbols) {
        let is_sound = Arc::make_mut(&mut self.index)
            .set(symbols.as_slice().iter().map(|symbol| (symbol.word, symbol.len)));
        debug_assert!(is_sound, "a code for each symbol");
        self.symbols = symbols;
    }

    /// As [`set`](Self::set), for symbols of one or two bytes, which are found and decoded faster.
    /// Returns false if they have too many different first or second bytes; they then count as
    /// ordinary symbols.
    pub(super) fn set_digrams(&mut self, symbols: Symbols) -> bool {
        let all = symbols.as_slice().iter().map(|symbol| (symbol.word, symbol.len));
        let is_sound = Arc::make_mut(&mut self.index).set_digrams(all);
        self.symbols = symbols;
        is_sound
    }

    /// The decoding cost of a byte, in nanoseconds.
    pub(crate) fn byte_cost(&self) -> f64 {
        if self.index.has_digrams() { cost::DIGRAM_BYTE } else { cost::FSST_BYTE }
    }

    /// As [`set`](Self::set), for texts whose bytes after the first one are all in `followers`.
    /// `followers` must contain zero.
    pub(super) fn set_for_followers(&mut self, followers: &[u8], symbols: Symbols) {
        let all = symbols.as_slice().iter().map(|symbol| (symbol.word, symbol.len));
        let is_sound = Arc::make_mut(&mut self.index).set_for_followers(followers.iter().copied(), all);
        debug_assert!(is_sound, "a code for each symbol");
        self.symbols = symbols;
    }

    /// Takes the symbols of another matcher.
    pub(super) fn copy(&mut self, other: &Self) {
        self.symbols.clone_from(&other.symbols);
        self.index = Arc::clone(&other.index);
    }

    /// Lets the matcher find two consecutive symbols in one step, unless a symbol occupies the slot
    /// of the pair.
    pub(super) fn add_pair(&mut self, codes: [u8; 2], both: Symbol) {
        Arc::make_mut(&mut self.index).add_pair(codes, both.word, both.len);
    }

    pub(super) fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    /// The symbol (or pair) at the start of the non-empty `bytes`.
    #[inline(always)]
    pub(super) fn find_at(&self, bytes: &[u8]) -> MatchEntry {
        self.index.find_at(bytes)
    }

    /// Appends the table, the lengths of the streams, and the streams of a page from the last
    /// encoding call.
    pub(crate) fn put(&self, codes: &Codes, out: &mut Vec<u8>) {
        self.symbols.emit(out);
        for len in codes.stream_lens() {
            out.extend_from_slice(&(len as u32).to_le_bytes());
        }
        for (part, &len) in self.scratch[codes.at..].chunks_exact(codes.room).zip(codes.parts()) {
            out.extend_from_slice(&part[..len]);
        }
    }

    /// Bytes of a page before its streams.
    pub(crate) fn heads_len(&self) -> usize {
        self.symbols.stored_len() + 4 * STREAMS
    }

    /// Encodes one page. Splits each quarter in halves, so that as many streams run at once as for
    /// two pages.
    pub(crate) fn encode_all(&mut self, bytes: &[u8]) -> Codes {
        let half = quarter_len(bytes.len()).div_ceil(2);
        let halves = std::array::from_fn(|i| {
            let (first, second) = quarter(bytes, i / 2).split_at(half.min(quarter(bytes, i / 2).len()));
            if i % 2 == 0 { first } else { second }
        });
        let room = room(half);
        let lens = self.encode_parts(halves, [room; PARTS]);
        Codes { at: 0, room, lens, n: PARTS }
    }

    /// The number of bytes of a page's codes. Codes of earlier pages stay valid.
    pub(crate) fn codes_len(&mut self, bytes: &[u8]) -> usize {
        std::mem::swap(&mut self.scratch, &mut self.counted);
        let len = self.encode_all(bytes).len();
        std::mem::swap(&mut self.scratch, &mut self.counted);
        len
    }

    /// Encodes two pages at once, which takes less time than one after the other.
    pub(crate) fn encode(&mut self, pages: [&[u8]; 2]) -> [Codes; 2] {
        let [first, second] = pages;
        if second.is_empty() {
            return [self.encode_all(first), Codes { at: 0, room: 1, lens: [0; PARTS], n: STREAMS }];
        }
        let rooms = pages.map(|page| room(quarter_len(page.len())));
        let quarters = std::array::from_fn(|i| quarter(pages[i / STREAMS], i % STREAMS));
        let lens = self.encode_parts(quarters, std::array::from_fn(|i| rooms[i / STREAMS]));
        let of_page = |page: usize| {
            let mut of_page = [0; PARTS];
            of_page[..STREAMS].copy_from_slice(&lens[page * STREAMS..][..STREAMS]);
            of_page
        };
        [0, 1].map(|page| Codes {
            at: page * STREAMS * rooms[0],
            room: rooms[page],
            lens: of_page(page),
            n: STREAMS,
        })
    }

    /// Encodes the parts into consecutive regions of `scratch` with these sizes.
    fn encode_parts(&mut self, parts: [&[u8]; PARTS], rooms: [usize; PARTS]) -> [usize; PARTS] {
        self.scratch.overwrite(rooms.iter().sum());
        let mut rest = &mut *self.scratch;
        let outs = rooms.map(|room| rest.split_off_mut(..room).unwrap_or_default());
        self.index.encode(parts, outs).expect("room for twice the bytes of each part")
    }
}

/// The number of parts that are encoded at once.
const PARTS: usize = 2 * STREAMS;

/// The location of a page's codes in `scratch`.
pub(crate) struct Codes {
    /// The offset of its first part.
    at: usize,
    /// The distance between parts.
    room: usize,
    /// The length of each part, and the number of parts. A stream has one part or two.
    lens: [usize; PARTS],
    n: usize,
}

impl Codes {
    fn parts(&self) -> &[usize] {
        &self.lens[..self.n]
    }

    fn stream_lens(&self) -> impl Iterator<Item = usize> {
        self.parts().chunks(self.n / STREAMS).map(|parts| parts.iter().sum())
    }

    /// The length of all streams.
    pub(crate) fn len(&self) -> usize {
        self.parts().iter().sum()
    }
}

/// Quarter `i` of a page.
fn quarter(page: &[u8], i: usize) -> &[u8] {
    let len = quarter_len(page.len());
    &page[(i * len).min(page.len())..((i + 1) * len).min(page.len())]
}

/// The largest length of codes for `len` bytes: one escape per byte.
fn room(len: usize) -> usize {
    2 * len.max(1)
}
