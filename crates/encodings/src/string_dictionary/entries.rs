//! The stored entries of a string dictionary: bit-packed lengths, then bytes, unchanged or as FSST
//! codes (`docs/format/encodings.md`).

use entasis_format::{Codec, Error, Physical, Result, fallible};
use entasis_kernels::{VECTOR, bitpack};
use entasis_platform::memory::ScratchVec;

use crate::fsst::{self, Codes, Matcher, Trained, Trainer};
use crate::packing::unused_bits;
use crate::profile::{Profile, cost};
use crate::string_dictionary::index::DistinctStrings;
use crate::utf8::check_utf8;
use crate::words::{bits_of, sample_ranges};

/// Zeros after the last entry, so that short strings can be copied with a fixed length.
pub(crate) const PADDING: usize = 32;

/// Bytes before the lengths: their base, their width, and the kind of the bytes.
const HEAD: usize = 8;
const PLAIN: u8 = 0;
const SYMBOLS: u8 = 1;

/// The use of the memory, in messages.
const ENTRIES: &str = "the entries of a dictionary";

/// Fewer bytes are not worth a symbol table.
const MIN_LEN: usize = 8 << 10;

/// Bytes of the sample that trains symbols.
const SAMPLE: usize = 64 << 10;
/// Bytes of the sample that test the symbols.
const TRIED: usize = 16 << 10;
/// The number of ranges of the sample.
const RANGES: usize = 32;

/// The finding for dictionary entries in an earlier block of the run.
#[derive(Default)]
pub(crate) enum SymbolHint {
    #[default]
    Unknown,
    None,
    /// Symbols, and the ratio of their codes.
    Use(Trained, f64),
    /// Symbols of the previous column of the same type.
    Similar(Trained),
}

impl SymbolHint {
    /// The initial hint for the next column of the same type.
    pub(crate) fn for_similar_column(self) -> Self {
        self.into_symbols().map_or(Self::Unknown, Self::Similar)
    }

    pub(crate) fn into_symbols(self) -> Option<Trained> {
        match self {
            Self::Use(trained, _) | Self::Similar(trained) => Some(trained),
            Self::Unknown | Self::None => None,
        }
    }
}

/// How to store the entries of a dictionary.
pub(crate) struct EntriesPlan {
    base: u32,
    width: u32,
    /// Whether the bytes become FSST codes.
    pub symbols: bool,
    /// The codes of all bytes, if the trial encoded all bytes.
    codes: Option<Codes>,
    /// Estimated bytes of the payload.
    pub len: f64,
    /// Estimated nanoseconds to decode the symbols.
    pub ns: f64,
}

impl EntriesPlan {
    /// The better of plain bytes and symbols. Symbols are not used with Zstandard, which compresses
    /// the entries better. `joined` is a buffer for the entries.
    pub(crate) fn new(
        entries: &DistinctStrings<'_>,
        codec: Codec,
        profile: &Profile,
        hint: &mut SymbolHint,
        trainer: &mut Trainer,
        joined: &mut ScratchVec<u8>,
    ) -> Self {
        let (mut min, mut max, mut bytes_len) = (u32::MAX, 0, 0);
        for len in entries.lens() {
            (min, max, bytes_len) = (min.min(len), max.max(len), bytes_len + len as usize);
        }
        let width = bits_of(max - min);
        let heads = HEAD + bitpack::packed_len(entries.len(), width);
        let len = (heads + bytes_len) as f64;
        let plain = Self { base: min, width, symbols: false, codes: None, len, ns: 0.0 };
        let ns = bytes_len as f64 * cost::FSST_BYTE;
        let score = |ratio: f64| profile.score(bytes_len as f64 * ratio, ns);
        if bytes_len < MIN_LEN || codec == Codec::Zstd || score(0.25) >= bytes_len as f64 {
            return plain;
        }
        let mut codes = None;
        if let SymbolHint::Unknown | SymbolHint::Similar(_) = hint {
            let sample = sample(entries, bytes_len, joined);
            let previous = std::mem::take(hint).into_symbols();
            let (trained, ratio) = trainer.symbols_for(sample, previous, |matcher| {
                let ratio;
                (ratio, codes) = encoded(matcher, sample, bytes_len);
                ratio
            });
            *hint = if score(ratio) < bytes_len as f64 {
                SymbolHint::Use(trained, ratio)
            } else {
                trainer.recycle(trained.matcher);
                SymbolHint::None
            };
        }
        match hint {
            SymbolHint::Use(trained, ratio) => {
                let len = heads as f64 + bytes_len as f64 * *ratio + trained.matcher.heads_len() as f64;
                if profile.score(len, ns) < plain.len {
                    Self { symbols: true, codes, len, ns, ..plain }
                } else {
                    plain
                }
            }
            _ => plain,
        }
    }

    /// Appends the payload. `joined` is a buffer for the entries.
    pub(crate) fn emit(
        &self,
        entries: &DistinctStrings<'_>,
        hint: &mut SymbolHint,
        joined: &mut ScratchVec<u8>,
        out: &mut Vec<u8>,
    ) {
        let symbols = match hint {
            SymbolHint::Use(trained, _) if self.symbols => Some(&mut trained.matcher),
            _ => None,
        };
        let kind = if symbols.is_some() { SYMBOLS } else { PLAIN };
        out.extend_from_slice(&self.base.to_le_bytes());
        out.extend_from_slice(&[self.width as u8, kind, 0, 0]);
        let (mut lengths, mut lens) = ([0u32; VECTOR], entries.lens());
        for first in (0..entries.len()).step_by(VECTOR) {
            let lengths = &mut lengths[..VECTOR.min(entries.len() - first)];
            lengths.iter_mut().zip(&mut lens).for_each(|(length, len)| *length = len);
            bitpack::pack(lengths, self.base, self.width, out);
        }
        match (symbols, &self.codes) {
            (Some(symbols), Some(codes)) => symbols.put(codes, out),
            (Some(symbols), None) => {
                let codes = symbols.encode_all(entries.join(joined));
                symbols.put(&codes, out);
            }
            (None, _) => out.extend_from_slice(entries.join(joined)),
        }
    }
}

/// The ratio of the codes, measured on a sample. Also returns the codes if the sample has all
/// bytes.
fn encoded(matcher: &mut Matcher, sample: &[u8], bytes_len: usize) -> (f64, Option<Codes>) {
    if sample.len() == bytes_len {
        let codes = matcher.encode_all(sample);
        return (codes.len() as f64 / bytes_len as f64, Some(codes));
    }
    let (mut before, mut after) = (0, 0);
    for range in sample_ranges(sample.len(), TRIED / 4096, 4096) {
        before += range.len();
        after += matcher.codes_len(&sample[range]);
    }
    (after as f64 / before as f64, None)
}

/// Concatenates entries from the whole dictionary in `memory`, which is overwritten.
fn sample<'m>(entries: &DistinctStrings<'_>, bytes_len: usize, memory: &'m mut ScratchVec<u8>) -> &'m [u8] {
    if bytes_len <= SAMPLE {
        return entries.join(memory);
    }
    memory.clear();
    for start in (0..RANGES).map(|range| range * entries.len() / RANGES) {
        let end = memory.len() + SAMPLE / RANGES;
        for entry in (start..entries.len()).map(|code| entries.get(code)) {
            if memory.len() >= end {
                break;
            }
            memory.extend_from_slice(&entry[..entry.len().min(end - memory.len())]);
        }
    }
    memory
}

/// The entries of a payload: entry i is `bytes[offsets[i]..offsets[i + 1]]`. [`PADDING`] zeros
/// follow the last entry.
///
/// # Errors
/// *Corrupt* when the payload is not well-formed; *out of memory*.
pub(crate) fn parse(payload: &[u8], n: usize, physical: Physical) -> Result<(Vec<u32>, Vec<u8>)> {
    let damaged = || Error::corrupt("the entries of a dictionary are not well-formed");
    let (head, mut rest) = payload.split_at_checked(HEAD).ok_or_else(damaged)?;
    let base = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
    let (width, kind) = (u32::from(head[4]), head[5]);
    if kind > SYMBOLS || head[6..] != [0, 0] {
        return Err(Error::unsupported(format!("the entries of a dictionary have the unknown kind {kind}"))
            .advise("update Entasis, or read other columns"));
    }
    if width > 32 {
        return Err(damaged());
    }
    let mut offsets: Vec<u32> = fallible::defaults(n + 1, ENTRIES)?;
    for lengths in offsets[1..].chunks_mut(VECTOR) {
        let bits;
        (bits, rest) =
            rest.split_at_checked(bitpack::packed_len(lengths.len(), width)).ok_or_else(damaged)?;
        if lengths.len() < VECTOR {
            unused_bits::check(bits, lengths.len() * width as usize)?;
        }
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
    // A code stands for at most 8 bytes, so the payload justifies the allocation.
    let most = rest.len().saturating_mul(if kind == SYMBOLS { fsst::MAX_LEN } else { 1 });
    if len > most || (kind == PLAIN && len != rest.len()) {
        return Err(damaged());
    }
    let mut bytes = fallible::with_capacity(len + PADDING, ENTRIES)?;
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
    use crate::dictionary::{Estimate, MAX_ENTRIES, up_to};
    use crate::string_dictionary::index::{CodeTables, Strings};

    /// Distinct strings in a dictionary.
    fn with_distincts<R>(strings: &[String], f: impl FnOnce(&DistinctStrings<'_>) -> R) -> R {
        let bytes = strings.concat();
        let mut offsets = vec![0];
        for string in strings {
            offsets.push(offsets[offsets.len() - 1] + string.len() as u32);
        }
        let longest = strings.iter().map(String::len).max().unwrap_or(0);
        let texts = Strings { offsets: &offsets, bytes: bytes.as_bytes(), longest };
        let estimate = Estimate { len: 0.0, ns: 0.0, n_entries: strings.len(), runs: false, nearby: false };
        let found =
            texts.build(up_to(MAX_ENTRIES), estimate, &mut CodeTables::default(), &mut Vec::new()).unwrap();
        assert_eq!(found.len(), strings.len());
        f(&found)
    }

    /// A plan for the entries, and the payload.
    fn payload(
        all: &DistinctStrings<'_>,
        hint: &mut SymbolHint,
        trainer: &mut Trainer,
    ) -> (EntriesPlan, Vec<u8>) {
        let profile = Profile::new(Profile::DEFAULT).unwrap();
        let (mut joined, mut payload) = (ScratchVec::new(), b"before".to_vec());
        let plan = EntriesPlan::new(all, Codec::None, &profile, hint, trainer, &mut joined);
        plan.emit(all, hint, &mut joined, &mut payload);
        (plan, payload.split_off(6))
    }

    fn check(entries: &[String], kind: u8) {
        with_distincts(entries, |all| check_entries(all, entries, kind));
    }

    fn check_entries(distincts: &DistinctStrings<'_>, all: &[String], kind: u8) {
        let mut hint = SymbolHint::default();
        // The second round uses the symbols of the first.
        for _ in 0..2 {
            let (plan, payload) = payload(distincts, &mut hint, &mut Trainer::default());
            assert_eq!((payload[5], plan.symbols, plan.ns > 0.0), (kind, kind == SYMBOLS, kind == SYMBOLS));
            let off = payload.len() as f64 - plan.len;
            assert!(off.abs() < 0.1 * plan.len, "{} of {}", payload.len(), plan.len);
            let (offsets, bytes) = parse(&payload, all.len(), Physical::Utf8).unwrap();
            let entry = |i: usize| &bytes[offsets[i] as usize..offsets[i + 1] as usize];
            assert!((0..all.len()).all(|i| entry(i) == all[i].as_bytes()));
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
    fn symbols_of_a_similar_column_encode_entries() {
        let decimals = |factor: usize| -> Vec<String> {
            (0..9000).map(|i| format!("0.{:04}", i * factor % 10_000)).collect()
        };
        let words = (0..9000).map(|i| format!("word {} of many", i * 7919 % 10_000)).collect();
        let (mut hint, mut trainer) = (SymbolHint::default(), Trainer::default());
        for all in [decimals(7919), decimals(6007), words, decimals(7919)] {
            let (plan, payload) = with_distincts(&all, |all| payload(all, &mut hint, &mut trainer));
            assert!(plan.symbols && (payload.len() as f64 / plan.len - 1.0).abs() < 0.05);
            let (offsets, bytes) = parse(&payload, all.len(), Physical::Utf8).unwrap();
            let back = offsets.windows(2).map(|pair| &bytes[pair[0] as usize..pair[1] as usize]);
            assert!(back.eq(all.iter().map(String::as_bytes)));
            hint = hint.for_similar_column();
            assert!(matches!(hint, SymbolHint::Similar(_)));
        }
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
