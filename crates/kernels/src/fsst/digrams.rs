//! Texts become codes of digrams, two bytes that stand beside each other, and of single bytes.
//!
//! Where no symbol is longer, it is known of each place by itself which digram begins there, if any, and which of the places begin a
//! symbol follows from that: a run of places with digrams has one before it without, so a symbol begins where the run does, and at each
//! second place from there on. So many places are looked at together, where a processor can look up bytes in a register.

use super::ESCAPE;

/// The most first bytes of digrams, and the most second ones.
pub(super) const MOST: usize = 31;
/// The number of a byte that is none of them, and of the places for the second bytes behind a first one.
pub(super) const NONE: u8 = MOST as u8;
pub(super) const SECONDS: usize = MOST + 1;

/// Digrams and single bytes by what they are.
#[derive(Clone, Debug)]
pub(super) struct Digrams {
    /// The codes of digrams, by the numbers of their first bytes, then of their second ones; escapes where there is none.
    pub codes: [u8; SECONDS * SECONDS],
    /// The numbers of first bytes, by the byte.
    pub firsts: [u8; 256],
    /// The same of second ones.
    pub seconds: [u8; 256],
    /// The codes of single bytes; an escape where there is none.
    pub singles: [u8; 256],
}

impl Digrams {
    /// Of symbols with the codes 0, 1 ...: their bytes, the first one lowest, and their lengths. None where one has more than two bytes, or
    /// digrams begin or end with too many different ones.
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
