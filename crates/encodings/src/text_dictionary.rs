//! The entries of a dictionary of strings (format, section 4.5): their lengths, bit-packed, and their bytes, as they are or as
//! codes of symbols.

use entasis_format::{Error, Physical, Result};
use entasis_kernels::{VECTOR, bitpack};

use crate::decode::check_utf8;
use crate::fsst::{self, Matcher};
use crate::profile::{Profile, cost};
use crate::word::bits_of;

/// Zeros behind the last entry: short strings are copied with as many bytes, whatever their length.
pub(crate) const PADDING: usize = 32;

/// Bytes before the lengths: their base, their width, the kind of the bytes.
const HEAD: usize = 8;
const PLAIN: u8 = 0;
const SYMBOLS: u8 = 1;

/// Less than so many bytes are not worth symbols of their own.
const MIN_LEN: usize = 8 << 10;

/// What was found for the bytes of a dictionary in an earlier block of a run.
#[derive(Default)]
pub(crate) enum SymbolHint {
    #[default]
    Unknown,
    None,
    Use(Matcher),
}

/// The payload of a dictionary with these entries, and the nanoseconds that its symbols take to decode, estimated.
pub(crate) fn payload(entries: &[&[u8]], profile: &Profile, hint: &mut SymbolHint) -> (Vec<u8>, f64) {
    let lengths: Vec<u32> = entries.iter().map(|entry| entry.len() as u32).collect();
    let (min, max) = lengths.iter().fold((u32::MAX, 0), |(a, b), &len| (a.min(len), b.max(len)));
    let width = bits_of(max - min);
    let len = lengths.iter().map(|&len| len as usize).sum::<usize>();
    let mut out = Vec::with_capacity(HEAD + bitpack::packed_len(entries.len(), width) + VECTOR / 8 + len);
    out.extend_from_slice(&min.to_le_bytes());
    out.extend_from_slice(&[width as u8, PLAIN, 0, 0]);
    for vector in lengths.chunks(VECTOR) {
        bitpack::pack(vector, min, width, &mut out);
    }
    let start = out.len();
    entries.iter().for_each(|entry| out.extend_from_slice(entry));
    let ns = len as f64 * cost::FSST_BYTE;
    if len < MIN_LEN || profile.score(len as f64 / 4.0, ns) >= len as f64 {
        return (out, 0.0);
    }
    if let SymbolHint::Unknown = hint {
        *hint = SymbolHint::Use(Matcher::new(&fsst::train_on(&out[start..])));
    }
    let SymbolHint::Use(symbols) = hint else { return (out, 0.0) };
    let mut coded = out[..start].to_vec();
    coded[5] = SYMBOLS;
    symbols.emit(&out[start..], &mut coded);
    if profile.score(coded.len() as f64, ns) < out.len() as f64 {
        (coded, ns)
    } else {
        *hint = SymbolHint::None;
        (out, 0.0)
    }
}

/// The entries of a payload: entry i is `bytes[offsets[i]..offsets[i + 1]]`; [`PADDING`] zeros follow the last.
pub(crate) fn parse(payload: &[u8], n: usize, physical: Physical) -> Result<(Vec<u32>, Vec<u8>)> {
    let damaged = || Error::corrupt("the entries of a dictionary are not well-formed");
    let (head, mut rest) = payload.split_at_checked(HEAD).ok_or_else(damaged)?;
    let base = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
    let (width, kind) = (u32::from(head[4]), head[5]);
    if width > 32 || kind > SYMBOLS || head[6..] != [0, 0] {
        return Err(damaged());
    }
    let mut offsets = vec![0u32; n + 1];
    for lengths in offsets[1..].chunks_mut(VECTOR) {
        let bits;
        (bits, rest) =
            rest.split_at_checked(bitpack::packed_len(lengths.len(), width)).ok_or_else(damaged)?;
        if !bitpack::unpack(bits, width, base, lengths) {
            return Err(damaged());
        }
    }
    let mut len = 0u32;
    for end in &mut offsets[1..] {
        len = len.checked_add(*end).ok_or_else(damaged)?;
        *end = len;
    }
    let len = len as usize;
    // A byte is a code for 8 bytes at most: the payload justifies the memory.
    let most = rest.len().saturating_mul(if kind == SYMBOLS { fsst::MAX_LEN } else { 1 });
    if len > most || (kind == PLAIN && len != rest.len()) {
        return Err(damaged());
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len + PADDING).map_err(|_| Error::limit("not enough memory for a dictionary"))?;
    if kind == SYMBOLS {
        bytes.resize(len + PADDING, 0);
        fsst::decode(rest, &mut bytes[..len])?;
    } else {
        bytes.extend_from_slice(rest);
        bytes.resize(len + PADDING, 0);
    }
    if physical == Physical::Utf8 {
        check_utf8(&bytes[..len], offsets.windows(2).map(|pair| (pair[1] - pair[0]) as usize))?;
    }
    Ok((offsets, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(entries: &[String], kind: u8) {
        let all: Vec<&[u8]> = entries.iter().map(|entry| entry.as_bytes()).collect();
        let profile = Profile::new(Profile::DEFAULT).unwrap();
        let mut hint = SymbolHint::default();
        // The second time with the symbols of the first.
        for _ in 0..2 {
            let (payload, ns) = payload(&all, &profile, &mut hint);
            assert_eq!((payload[5], ns > 0.0), (kind, kind == SYMBOLS));
            let (offsets, bytes) = parse(&payload, all.len(), Physical::Utf8).unwrap();
            let entry = |i: usize| &bytes[offsets[i] as usize..offsets[i + 1] as usize];
            assert!((0..all.len()).all(|i| entry(i) == all[i]));
            assert_eq!(bytes.len(), offsets[all.len()] as usize + PADDING);
            for len in 0..payload.len().min(300) {
                assert!(parse(&payload[..len], all.len(), Physical::Utf8).is_err());
            }
            assert!(payload[4] == 0 || parse(&payload, all.len() + 2000, Physical::Utf8).is_err());
            for at in [4, 5, 6, 7] {
                let mut bad = payload.clone();
                bad[at] = 77;
                assert!(parse(&bad, all.len(), Physical::Utf8).is_err());
            }
        }
    }

    #[test]
    fn entries_come_back() {
        let numbers = |n: usize| (0..n).map(|i| format!("0.{:04}", i * 7919 % 10_000)).collect::<Vec<_>>();
        check(&numbers(5), PLAIN);
        check(&[String::new()], PLAIN);
        check(&["a".into(), String::new(), "longer".into()], PLAIN);
        check(&numbers(9000), SYMBOLS);
        let noise = (0..3000u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 2);
        check(
            &noise
                .map(|word| word.to_le_bytes().map(|b| char::from(b & 0x7F)).iter().collect())
                .collect::<Vec<_>>(),
            PLAIN,
        );
    }

    #[test]
    fn lengths_beyond_the_payload_are_damage() {
        let mut payload = vec![255, 255, 255, 255, 0, PLAIN, 0, 0];
        assert!(parse(&payload, 1, Physical::Binary).is_err());
        assert!(parse(&payload, 2, Physical::Binary).is_err());
        payload[5] = SYMBOLS;
        assert!(parse(&payload, 1, Physical::Binary).is_err());
    }
}
