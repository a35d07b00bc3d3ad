//! Encodes text as digrams (symbols of two bytes) and single bytes.
//!
//! If no symbol is longer than two bytes, each position by itself determines whether a digram may
//! start there. The positions that start a symbol then follow: a run of candidates has a
//! non-candidate before it, so a symbol starts at the beginning of the run and at every second
//! position after it. This allows many positions per step on a processor that can look up bytes in
//! registers.

use super::ESCAPE;

/// The largest number of different first bytes of digrams, and of second bytes.
pub(super) const MOST: usize = 31;
/// The number of all bytes that no digram has at this position. It is also the row length of the
/// tables minus one.
pub(super) const NONE: u8 = MOST as u8;
pub(super) const SECONDS: usize = MOST + 1;

/// Digrams and single bytes, indexed by their bytes.
#[derive(Clone, Debug)]
pub(super) struct Digrams {
    /// The codes of digrams, by the number of the first byte, then of the second; an escape if
    /// there is none.
    pub codes: [u8; SECONDS * SECONDS],
    /// The number of each byte as a first byte.
    pub firsts: [u8; 256],
    /// The number of each byte as a second byte.
    pub seconds: [u8; 256],
    /// The codes of single bytes; an escape if there is none.
    pub singles: [u8; 256],
}

impl Digrams {
    /// Tables for symbols with the codes 0, 1 and so on: each is a little-endian word and a length.
    /// `None` if a symbol has more than two bytes, or digrams have too many different first or
    /// second bytes.
    pub(super) fn new(symbols: impl Iterator<Item = (u64, usize)>) -> Option<Box<Self>> {
        let mut digrams = Box::new(Self {
            codes: [ESCAPE; SECONDS * SECONDS],
            firsts: [NONE; 256],
            seconds: [NONE; 256],
            singles: [ESCAPE; 256],
        });
        let (mut n_firsts, mut n_seconds) = (0, 0);
        let number = |numbers: &mut [u8; 256], n: &mut u8, byte: u8| {
            let number = &mut numbers[usize::from(byte)];
            if *number == NONE && *n < NONE {
                *number = *n;
                *n += 1;
            }
            Some(usize::from(*number)).filter(|&number| number < MOST)
        };
        for (code, (word, len)) in symbols.enumerate() {
            let code = u8::try_from(code).ok().filter(|&code| code != ESCAPE)?;
            let [first, second, ..] = word.to_le_bytes();
            match len {
                1 => digrams.singles[usize::from(first)] = code,
                2 => {
                    let first = number(&mut digrams.firsts, &mut n_firsts, first)?;
                    let second = number(&mut digrams.seconds, &mut n_seconds, second)?;
                    digrams.codes[first * SECONDS + second] = code;
                }
                _ => return None,
            }
        }
        Some(digrams)
    }
}
