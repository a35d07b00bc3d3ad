//! FSST: kernels that find the symbols of a text and decode codes to bytes.
//!
//! With AVX-512 VBMI2, [`SymbolTable::decode`] decodes 64 codes at a time: it loads eight symbols
//! of up to eight bytes and compresses out the padding, or it expands 64 symbols of up to two
//! bytes. Elsewhere the caller decodes code by code.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod avx512_digrams;
mod digrams;
mod emit;
mod match_entry;
mod matcher;

pub use match_entry::MatchEntry;
pub use matcher::SymbolIndex;

/// The code that marks the next byte as a literal.
pub const ESCAPE: u8 = 255;

/// Symbols by code.
#[derive(Debug)]
pub struct SymbolTable {
    /// The bytes of each symbol as a little-endian word.
    words: [u64; 256],
    /// The length of each symbol; [`UNKNOWN`](Self::UNKNOWN) for unused codes.
    lens: [u8; 256],
    n: u8,
    /// The number of one-byte symbols, if these come first and all others have two bytes.
    n_single: Option<u8>,
}

impl SymbolTable {
    /// The length of codes without a symbol, larger than any other.
    pub const UNKNOWN: u8 = u8::MAX;

    /// A table of symbols with the codes 0, 1 and so on: each is a little-endian word and a length
    /// of 1 to 8. `None` if there are more than 255 symbols, or one of another length.
    pub fn new(symbols: impl Iterator<Item = (u64, usize)>) -> Option<Self> {
        let mut table = Self { words: [0; 256], lens: [Self::UNKNOWN; 256], n: 0, n_single: None };
        for (word, len) in symbols {
            if !(1..=8).contains(&len) || table.n == ESCAPE {
                return None;
            }
            let code = usize::from(table.n);
            table.words[code] = word & u64::MAX >> (64 - 8 * len);
            table.lens[code] = len as u8;
            table.n += 1;
        }
        let lens = &table.lens[..usize::from(table.n)];
        let n_single = lens.iter().take_while(|&&len| len == 1).count();
        table.n_single = lens[n_single..].iter().all(|&len| len == 2).then_some(n_single as u8);
        Some(table)
    }

    /// Whether the table consists of one-byte symbols followed by at least one two-byte symbol.
    pub fn has_digrams(&self) -> bool {
        self.n_single.is_some_and(|n_single| n_single < self.n)
    }

    /// The symbol of a code, padded with zeros to eight bytes.
    #[inline(always)]
    pub const fn bytes(&self, code: u8) -> [u8; 8] {
        self.words[code as usize].to_le_bytes()
    }

    /// The length of the symbol of a code; [`UNKNOWN`](Self::UNKNOWN) if it has none.
    #[inline(always)]
    pub const fn len(&self, code: u8) -> u8 {
        self.lens[code as usize]
    }

    /// Decodes codes from the start of `stream` to the start of `out` while whole groups fit. Stops
    /// before the end of either slice and before a code without a symbol. Returns the numbers of
    /// bytes read and written. The bytes of `out` after those written are unspecified.
    pub fn decode(&self, stream: &[u8], out: &mut [u8]) -> (usize, usize) {
        #[cfg(target_arch = "x86_64")]
        if avx512::is_supported() {
            // SAFETY: `is_supported` found every feature that both are compiled for.
            return unsafe {
                match self.n_single {
                    Some(n_single) => avx512_digrams::decode(self, n_single, stream, out),
                    None => avx512::decode(self, stream, out),
                }
            };
        }
        let _ = (stream, out);
        (0, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// Decodes code by code.
    fn model(symbols: &[Vec<u8>], stream: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        let mut codes = stream.iter();
        while let Some(&code) = codes.next() {
            match code {
                ESCAPE => out.push(*codes.next()?),
                code => out.extend_from_slice(symbols.get(usize::from(code))?),
            }
        }
        Some(out)
    }

    proptest! {
        #[test]
        fn bytes_are_those_of_the_symbols(
            mut symbols in prop_oneof![vec(vec(any::<u8>(), 1..=8), 1..=255), vec(vec(any::<u8>(), 1..=2), 1..=255)],
            is_sorted: bool,
            codes in vec((any::<u8>(), 0..100u8), 0..2000),
            room in 0..9000usize,
        ) {
            if is_sorted {
                symbols.sort_by_key(Vec::len);
            }
            let word = |symbol: &Vec<u8>| {
                let mut word = [0xEE; 8];
                word[..symbol.len()].copy_from_slice(symbol);
                (u64::from_le_bytes(word), symbol.len())
            };
            let table = SymbolTable::new(symbols.iter().map(word)).unwrap();
            let n = symbols.len() as u16;
            let mut stream = Vec::new();
            for (code, chance) in codes {
                match chance {
                    0 => stream.push(code),
                    1..4 => stream.extend([ESCAPE, code]),
                    _ => stream.push((u16::from(code) % n) as u8),
                }
            }
            let mut out = vec![0; room];
            let (read, written) = table.decode(&stream, &mut out);
            prop_assert!(read <= stream.len() && written <= room);
            prop_assert_eq!(model(&symbols, &stream[..read]), Some(out[..written].to_vec()));
        }
    }

    #[test]
    fn most_of_a_stream_is_decoded() {
        let table = SymbolTable::new([(0x6261, 2), (0x63, 1)].into_iter()).unwrap();
        let stream = [0, 1, 0, 255, 7].repeat(1000);
        let mut out = vec![0; 6000];
        let (read, written) = table.decode(&stream, &mut out);
        if read > 0 {
            assert!(read > 4400 && read % 5 != 4 && written == read / 5 * 6 + [0, 2, 3, 5, 0][read % 5]);
            assert_eq!(out[..6], *b"abcab\x07");
        }
    }

    #[test]
    fn impossible_tables_are_refused() {
        assert!(SymbolTable::new([(1, 0)].into_iter()).is_none());
        assert!(SymbolTable::new([(1, 9)].into_iter()).is_none());
        assert!(SymbolTable::new((0..256).map(|i| (i, 2))).is_none());
        assert!(SymbolTable::new((0..255).map(|i| (i, 2))).is_some());
    }
}
