//! The pages of a run become codes: the symbols, and what finds them.

use entasis_kernels::symbols::{Found, SymbolIndex};

use super::{PIECES, Symbols, piece_len};

/// Symbols, and what finds them.
#[derive(Clone, Default)]
pub(crate) struct Matcher {
    symbols: Symbols,
    index: SymbolIndex,
    /// Codes of the pieces, before it is known where they stand.
    scratch: Vec<u8>,
}

impl Matcher {
    /// Takes other symbols.
    pub(super) fn set(&mut self, symbols: Symbols) {
        let is_sound = self.index.set(symbols.as_slice().iter().map(|symbol| (symbol.word, symbol.len)));
        debug_assert!(is_sound, "a code for each symbol");
        self.symbols = symbols;
    }

    /// The same where it is only asked for what has no other bytes than these behind the first one, and zero.
    pub(super) fn set_before(&mut self, followers: &[u8], symbols: Symbols) {
        let all = symbols.as_slice().iter().map(|symbol| (symbol.word, symbol.len));
        let is_sound = self.index.set_before(followers.iter().copied(), all);
        debug_assert!(is_sound, "a code for each symbol");
        self.symbols = symbols;
    }

    pub(super) fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    /// What stands for the first bytes of `bytes`, which are not empty.
    #[inline(always)]
    pub(super) fn find_at(&self, bytes: &[u8]) -> Found {
        self.index.find_at(bytes)
    }

    /// Appends the table, the lengths of the streams, and the streams of a page that was encoded last.
    pub(crate) fn put(&self, codes: &Codes, out: &mut Vec<u8>) {
        self.symbols.emit(out);
        for len in codes.lens {
            out.extend_from_slice(&(len as u32).to_le_bytes());
        }
        for (part, len) in self.scratch[codes.at..].chunks_exact(codes.room).zip(codes.lens) {
            out.extend_from_slice(&part[..len]);
        }
    }

    /// Bytes of a page before its streams.
    pub(crate) fn heads_len(&self) -> usize {
        self.symbols.stored_len() + 4 * PIECES
    }

    /// Encodes one page.
    pub(crate) fn encode_all(&mut self, bytes: &[u8]) -> Codes {
        let [codes, _] = self.encode([bytes, &[]]);
        codes
    }

    /// Encodes two pages, each piece of them into its part of the scratch. Together they take less time than one after the other.
    pub(crate) fn encode(&mut self, pages: [&[u8]; 2]) -> [Codes; 2] {
        let [first, second] = pages.map(|page| room(page.len()));
        let (at, len) = (first * PIECES, (first + second) * PIECES);
        if self.scratch.len() < len {
            self.scratch.resize(len, 0);
        }
        let pieces = std::array::from_fn(|i| piece(pages[i / PIECES], i % PIECES));
        let (of_first, of_second) = self.scratch.split_at_mut(at);
        let parts = of_first.chunks_exact_mut(first).chain(of_second.chunks_exact_mut(second));
        let mut parts = parts.take(2 * PIECES);
        let parts = std::array::from_fn(|_| parts.next().unwrap_or_default());
        let lens = self.index.shrink(pieces, parts).expect("room for twice the bytes of each piece");
        let of_page = |page: usize| std::array::from_fn(|i| lens[page * PIECES + i]);
        [Codes { at: 0, room: first, lens: of_page(0) }, Codes { at, room: second, lens: of_page(1) }]
    }
}

/// The codes of a page in the scratch.
pub(crate) struct Codes {
    /// Where its first piece stands.
    at: usize,
    /// From one piece to the next.
    room: usize,
    /// Bytes of each.
    lens: [usize; PIECES],
}

impl Codes {
    /// Bytes of all pieces.
    pub(crate) fn len(&self) -> usize {
        self.lens.iter().sum()
    }
}

/// Piece `i` of a page.
fn piece(page: &[u8], i: usize) -> &[u8] {
    let len = piece_len(page.len());
    &page[(i * len).min(page.len())..((i + 1) * len).min(page.len())]
}

/// Bytes that the codes of a piece may take, of `len` bytes in all: each byte an escape.
fn room(len: usize) -> usize {
    2 * piece_len(len).max(1)
}
