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

    pub(super) fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    /// What stands for the first bytes of `bytes`, which are not empty.
    #[inline(always)]
    pub(super) fn find_at(&self, bytes: &[u8]) -> Found {
        self.index.find_at(bytes)
    }

    /// Appends the table, the lengths of the streams, and the streams of `bytes`.
    pub(crate) fn emit(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        self.symbols.emit(out);
        let lens = self.encode(bytes);
        for len in lens {
            out.extend_from_slice(&(len as u32).to_le_bytes());
        }
        for (codes, len) in self.scratch.chunks_exact(room(bytes.len())).zip(lens) {
            out.extend_from_slice(&codes[..len]);
        }
    }

    /// Bytes of a page before its streams.
    pub(crate) fn heads_len(&self) -> usize {
        self.symbols.stored_len() + 4 * PIECES
    }

    /// The number of bytes of the streams of `bytes`.
    pub(crate) fn codes_len(&mut self, bytes: &[u8]) -> usize {
        self.encode(bytes).iter().sum()
    }

    /// Encodes each piece of `bytes` into its part of the scratch; how many bytes each takes.
    fn encode(&mut self, bytes: &[u8]) -> [usize; PIECES] {
        let room = room(bytes.len());
        if self.scratch.len() < room * PIECES {
            self.scratch.resize(room * PIECES, 0);
        }
        let piece = piece_len(bytes.len());
        let pieces =
            std::array::from_fn(|i| &bytes[(i * piece).min(bytes.len())..((i + 1) * piece).min(bytes.len())]);
        let mut parts = self.scratch.chunks_exact_mut(room);
        let parts = std::array::from_fn(|_| parts.next().unwrap_or_default());
        self.index.shrink(pieces, parts).expect("room for twice the bytes of each piece")
    }
}

/// Bytes that the codes of a piece may take, of `len` bytes in all: each byte an escape.
fn room(len: usize) -> usize {
    2 * piece_len(len).max(1)
}
