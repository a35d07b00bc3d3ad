//! Emits codes for the matches in a text: one byte for a symbol, two for a pair of symbols or for
//! an escape with its literal.

use super::match_entry::{MatchEntry, emit_each};
#[cfg(target_arch = "x86_64")]
use crate::dispatch::{Isa, isa};

/// Writes the codes of `found` to the start of `out` and returns their length. `out` has at least
/// twice as many bytes as there are matches; bytes after the codes are unspecified.
#[inline(always)]
pub(super) fn emit(found: &[MatchEntry], out: &mut [u8]) -> usize {
    let out = &mut out[..2 * found.len()];
    #[cfg(target_arch = "x86_64")]
    {
        if super::avx512::is_supported() {
            // SAFETY: `is_supported` found every feature that the function is compiled for.
            return unsafe { super::avx512::emit(found, out) };
        }
        if isa() >= Isa::Avx2 {
            // SAFETY: `isa()` only returns levels that the processor has.
            return unsafe { super::avx2::emit(found, out) };
        }
    }
    emit_each(found, out)
}

#[cfg(test)]
mod tests {
    use super::super::ESCAPE;
    use super::*;
    use crate::dispatch::on_every_isa;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn codes_and_escaped_bytes_follow_each_other(
            // Groups in which none, some, many or all matches take two bytes.
            found in vec((any::<u8>(), any::<u8>(), 0..200u8, 1..=8usize), 0..600),
            often in prop_oneof![Just(0), Just(2), Just(100), Just(200)],
        ) {
            let here = |&(first, second, chance, len): &(u8, u8, u8, usize)| match chance {
                _ if chance >= often => MatchEntry::symbol(first.into(), len),
                _ if chance % 2 == 0 => MatchEntry::pair([first, second], len),
                _ => MatchEntry::byte(second),
            };
            let expected: Vec<u8> = found
                .iter()
                .flat_map(|&(first, second, chance, _)| match chance {
                    _ if chance >= often => vec![first],
                    _ if chance % 2 == 0 => vec![first, second],
                    _ => vec![ESCAPE, second],
                })
                .collect();
            let found: Vec<MatchEntry> = found.iter().map(here).collect();
            on_every_isa(|_| {
                let mut out = vec![7; 2 * found.len() + 3];
                let n = emit(&found, &mut out);
                assert_eq!(out[..n], expected);
                assert_eq!(out[2 * found.len()..], [7; 3]);
            });
        }
    }

    #[test]
    #[should_panic(expected = "range end index")]
    fn room_for_two_bytes_each_is_asked_for() {
        emit(&[MatchEntry::symbol(0, 1); 65], &mut [0; 129]);
    }
}
