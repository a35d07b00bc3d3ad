//! What was found in a text becomes codes: one byte each, or an escape and the byte that it stands for.

use super::ESCAPE;

/// Of so many without an escape the codes are copied.
const GROUP: usize = 64;

/// Writes codes to the start of `out`, which has at least twice as many bytes, and returns how many bytes these are; the bytes behind
/// them, up to twice as many, hold anything. The higher byte of what was found is a code; where that is an escape, the lower one is the byte
/// that it stands for.
#[inline(always)]
pub(super) fn put(found: &[u16], out: &mut [u8]) -> usize {
    let out = &mut out[..2 * found.len()];
    #[cfg(target_arch = "x86_64")]
    if super::avx512::is_supported() {
        // SAFETY: the processor has what it is compiled for.
        return unsafe { super::avx512::put(found, out) };
    }
    put_groups(found, out)
}

fn put_groups(found: &[u16], out: &mut [u8]) -> usize {
    let mut end = 0;
    let (groups, rest) = found.as_chunks::<GROUP>();
    for group in groups {
        let codes = group.map(|found| (found >> 8) as u8);
        if codes.iter().fold(false, |any, &code| any | (code == ESCAPE)) {
            end += put_each(group, &mut out[end..]);
        } else {
            out[end..end + GROUP].copy_from_slice(&codes);
            end += GROUP;
        }
    }
    end + put_each(rest, &mut out[end..])
}

/// The same one by one.
#[inline(always)]
pub(super) fn put_each(found: &[u16], out: &mut [u8]) -> usize {
    let mut end = 0;
    for &found in found {
        let [byte, code] = found.to_le_bytes();
        out[end..end + 2].copy_from_slice(&[code, byte]);
        end += 1 + usize::from(code == ESCAPE);
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::on_every_isa;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn codes_and_escaped_bytes_follow_each_other(
            // Groups without escapes, with some, and with many; bytes that look like escapes.
            found in vec((prop_oneof![Just(ESCAPE), any::<u8>()], any::<u8>(), 0..200u8), 0..600),
            often in prop_oneof![Just(0), Just(2), Just(100)],
        ) {
            let code = |(_, code, chance): (u8, u8, u8)| if chance < often { ESCAPE } else { code.min(ESCAPE - 1) };
            let narrow: Vec<u16> = found.iter().map(|&here| u16::from_le_bytes([here.0, code(here)])).collect();
            let expected: Vec<u8> = found
                .iter()
                .flat_map(|&here| [code(here), here.0].into_iter().take(1 + usize::from(code(here) == ESCAPE)))
                .collect();
            on_every_isa(|_| {
                let mut out = vec![7; 2 * narrow.len() + 3];
                let n = put(&narrow, &mut out);
                assert_eq!(out[..n], expected);
                assert_eq!(out[2 * narrow.len()..], [7; 3]);
            });
        }
    }

    #[test]
    #[should_panic(expected = "range end index")]
    fn room_for_escapes_alone_is_asked_for() {
        put(&[0; 65], &mut [0; 129]);
    }
}
