//! Blocks of any shape decode range by range. Damaged blocks give an error or values, never a
//! panic.

use entasis_encodings::{BlockDecoder, Codecs, Encoder, Page, PageScratch, Profile, TextScratch, Values};
use entasis_format::{BlockRecord, Directory, Limits, Physical, Result, Transform, checksum};
use entasis_kernels::Word;
use proptest::prelude::*;

/// An encoded block with its stored bytes.
struct Stored {
    record: BlockRecord,
    directory: Vec<u8>,
    pages: Vec<u8>,
}

fn encode(physical: Physical, values: Values<'_>, validity: Option<&[u8]>, compression: u8) -> Stored {
    let n = values.n();
    let mut pages = Vec::new();
    let mut encoder = Encoder::new(Profile::new(compression).unwrap());
    let encoded = encoder.encode(physical, values, validity, &|| Ok(()), &mut pages).unwrap();
    let mut directory = Vec::new();
    encoded.directory.emit(&mut directory);
    let record = BlockRecord {
        first_value: 0,
        n_values: n as u32,
        encoding: encoded.directory.encoding,
        directory_at: 256 + pages.len() as u64,
        pages_at: 256,
        directory_len: directory.len() as u32,
        pages_len: pages.len() as u32,
        decoded_len: encoded.decoded_len,
        directory_checksum: checksum(&directory),
        first_child: 0,
    };
    encoded.statistics.check(physical, n as u32).unwrap();
    Stored { record, directory, pages }
}

impl Stored {
    /// Visits the pages of the block with the position of their first value.
    fn visit(
        &self,
        physical: Physical,
        visit: impl FnMut(&BlockDecoder<'_>, &Page<'_>, usize) -> Result<()>,
    ) -> Result<()> {
        self.visit_with(physical, false, visit)
    }

    /// As `visit`; if `packed`, FSST codes stay undecoded.
    fn visit_with(
        &self,
        physical: Physical,
        packed: bool,
        mut visit: impl FnMut(&BlockDecoder<'_>, &Page<'_>, usize) -> Result<()>,
    ) -> Result<()> {
        let directory = Directory::parse(&self.directory, &self.record, physical, &Limits::default())?;
        let mut codecs = Codecs::new();
        let (dictionary, mut rest) = self.pages.split_at(directory.dictionary.stored_len as usize);
        let decoder = BlockDecoder::open(&directory, physical, dictionary, &mut codecs)?;
        if directory.pages.is_empty() {
            return visit(&decoder, &Page::constant(self.record.n_values as usize), 0);
        }
        let (mut at, mut scratch) = (0, PageScratch::default());
        for (i, entry) in directory.pages.iter().enumerate() {
            let (stored, after) = rest.split_at(entry.stored_len as usize);
            let open = if packed { Page::open_packed } else { Page::open };
            let page = open(&directory, physical, i, stored, &mut codecs, &mut scratch)?;
            visit(&decoder, &page, at)?;
            (at, rest) = (at + page.n_values(), after);
        }
        Ok(())
    }
}

impl Stored {
    /// Compares the values of parts of pages with the block's values. Only the bytes that a part
    /// requests are available.
    fn check_parts<T: Word>(&self, physical: Physical, values: &[T], valid: &[bool]) {
        let directory =
            Directory::parse(&self.directory, &self.record, physical, &Limits::default()).unwrap();
        let (dictionary, mut rest) = self.pages.split_at(directory.dictionary.stored_len as usize);
        let decoder = BlockDecoder::open(&directory, physical, dictionary, &mut Codecs::new()).unwrap();
        let (mut at, mut scratch) = (0, PageScratch::default());
        for (i, entry) in directory.pages.iter().enumerate() {
            let n = entry.n_values as usize;
            let (stored, after) = rest.split_at(entry.stored_len as usize);
            for range in [0..1, n / 2..(n / 2 + 3).min(n), n / 3..n, n - 1..n] {
                let mut n_read = 0;
                let mut read = |from: usize, out: &mut [u8]| {
                    out.copy_from_slice(&stored[from..from + out.len()]);
                    n_read += out.len();
                    Ok(())
                };
                let part = Page::open_part(&directory, physical, i, range.clone(), &mut scratch, &mut read);
                let Some(page) = part.unwrap() else { continue };
                let mut out = vec![T::from_u64(0xAA); range.len()];
                decoder.decode(&page, range.clone(), &mut out).unwrap();
                for (i, value) in range.clone().zip(out) {
                    assert_eq!(page.validity.is_valid(i), valid[at + i]);
                    let is_same = !valid[at + i] || value == values[at + i];
                    assert!(is_same, "{i} of {:?}", self.record.encoding);
                }
                // Few values need at most two vectors, the parameters of all vectors, and the
                // validity.
                let most = 2 * 1024 * size_of::<T>() + 8 * (size_of::<T>() + 1) + 1025;
                assert!(range.len() > 3 || n_read <= most.max(2048), "{n_read} bytes were read");
            }
            (at, rest) = (at + n, after);
        }
    }
}

fn bits(valid: &[bool]) -> Vec<u8> {
    let mut bits = vec![0; valid.len().div_ceil(8)];
    valid.iter().enumerate().filter(|(_, v)| **v).for_each(|(i, _)| bits[i / 8] |= 1 << (i % 8));
    bits
}

/// Integers of a shape that suits one of the encodings.
fn shaped() -> impl Strategy<Value = Vec<u64>> {
    let n = prop_oneof![1..40usize, 1000..1100usize, 8100..8300usize, 20_000..20_001usize];
    (n, any::<u64>(), 0..7u8).prop_map(|(n, seed, shape)| {
        let mut state = seed;
        let mut next = move || {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let z = (state ^ (state >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z ^ (z >> 31)
        };
        let width = next() % 64;
        let (mut sum, mut last) = (next(), next());
        (0..n)
            .map(|i| match shape {
                0 => next() >> width,
                1 => {
                    sum = sum.wrapping_add(next() % 1000);
                    sum
                }
                2 => {
                    if next() % 50 == 0 {
                        last = next();
                    }
                    last
                }
                3 => (next() % 11).wrapping_mul(0x1234_5678_9ABC_DEF1),
                4 if next() % 500 == 0 => next(),
                4 => next() % 100,
                5 => ((i as u64 / 1024) << 50) | (next() % 16),
                _ => (f64::from((next() % 100_000) as u32) / 100.0).to_bits(),
            })
            .collect()
    })
}

fn check_words<T: Word>(
    physical: Physical,
    values: &[u64],
    valid: &[bool],
    compression: u8,
    wrap: fn(&mut [T]) -> Values<'_>,
) {
    let mut words: Vec<T> = values.iter().map(|&v| T::from_u64(v)).collect();
    let original = words.clone();
    let validity = bits(valid);
    let stored = encode(physical, wrap(&mut words), Some(&validity), compression);
    let mut seen = 0;
    stored
        .visit(physical, |decoder, page, at| {
            let n = page.n_values();
            let alone = (0..n).step_by(1 + n / 50).map(|i| i..i + 1);
            for range in [0..n, n / 3..n, n / 2..(n / 2 + 3).min(n), n - 1..n].into_iter().chain(alone) {
                let mut out = vec![T::from_u64(0xAA); range.len()];
                decoder.decode(page, range.clone(), &mut out)?;
                for (i, value) in range.zip(out) {
                    assert_eq!(page.validity.is_valid(i), valid[at + i]);
                    assert!(
                        !valid[at + i] || value == original[at + i],
                        "{i} of {:?}",
                        stored.record.encoding
                    );
                }
            }
            seen += n;
            Ok(())
        })
        .unwrap();
    assert_eq!(seen, values.len());
    stored.check_parts(physical, &original, valid);
}

fn check_all(values: &[u64], valid: &[bool], compression: u8) {
    check_words::<u8>(Physical::U8, values, valid, compression, |v| Values::W8(v));
    check_words::<u16>(Physical::I16, values, valid, compression, |v| Values::W16(v));
    check_words::<u32>(Physical::I32, values, valid, compression, |v| Values::W32(v));
    check_words::<u32>(Physical::F32, values, valid, compression, |v| Values::W32(v));
    check_words::<u64>(Physical::U64, values, valid, compression, |v| Values::W64(v));
    check_words::<u64>(Physical::I64, values, valid, compression, |v| Values::W64(v));
    check_words::<u64>(Physical::F64, values, valid, compression, |v| Values::W64(v));
    check_words::<u64>(Physical::Complex64, values, valid, compression, |v| Values::W64(v));
}

fn check_strings(texts: &[Vec<u8>], valid: &[bool], compression: u8) {
    let mut offsets = vec![0u32];
    let mut bytes = Vec::new();
    for (text, &valid) in texts.iter().zip(valid) {
        bytes.extend_from_slice(if valid { text } else { b"" });
        offsets.push(bytes.len() as u32);
    }
    let validity = bits(valid);
    let values = Values::Strings { offsets: &offsets, bytes: &bytes };
    let stored = encode(Physical::Binary, values, Some(&validity), compression);
    for packed in [false, true] {
        check_pages(&stored, packed, texts, valid);
    }
}

fn check_pages(stored: &Stored, packed: bool, texts: &[Vec<u8>], valid: &[bool]) {
    let (mut scratch, mut other) = (TextScratch::default(), TextScratch::default());
    stored
        .visit_with(Physical::Binary, packed, |decoder, page, at| {
            let n = page.n_values();
            for range in [0..n, n / 3..n, n / 2..(n / 2 + 3).min(n)] {
                let strings = decoder.strings(page, range.clone(), &mut scratch)?;
                let mut out = vec![0; strings.total_len()];
                strings.write(&mut out)?;
                let mut written = vec![1; out.len()];
                let place = &mut written;
                let (lengths, place) = decoder.write_strings(page, range.clone(), &mut other, |len| {
                    assert_eq!(len, place.len());
                    Ok(place)
                })?;
                assert_eq!((lengths, place), (strings.lengths(), &*out));
                let mut before = 0;
                for (i, at) in range.map(|i| i + at).enumerate() {
                    let expected: &[u8] = if valid[at] { &texts[at] } else { b"" };
                    assert_eq!(strings.get(i, before), expected);
                    assert_eq!(&out[before..before + expected.len()], expected);
                    before += expected.len();
                }
            }
            Ok(())
        })
        .unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn words_come_back(values in shaped(), seed in any::<u64>(), density in 0..4u8, compression in 0..=100u8) {
        let valid: Vec<bool> = (0..values.len() as u64)
            .map(|i| match density {
                0 => true,
                1 => (i ^ seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 60 != 0,
                2 => i % 700 != 5,
                _ => false,
            })
            .collect();
        check_all(&values, &valid, compression);
    }

    #[test]
    fn strings_come_back(values in shaped(), kind in 0..3u8, compression in 0..=100u8) {
        let texts: Vec<Vec<u8>> = values
            .iter()
            .map(|v| match kind {
                0 => v.to_string().into_bytes(),
                1 => format!("{} {}", "abc".repeat((v % 40) as usize), v % 17).into_bytes(),
                _ => v.to_le_bytes()[..(v % 9) as usize].to_vec(),
            })
            .collect();
        let valid: Vec<bool> = values.iter().map(|v| v % 13 != 0).collect();
        check_strings(&texts, &valid, compression);
    }

    /// Corrects the checksums of damaged pages, so that only the decoders protect the caller.
    #[test]
    fn damage_with_valid_checksums_is_survived(
        values in shaped(),
        compression in 0..=100u8,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        in_directory in any::<bool>(),
    ) {
        let mut words = values.clone();
        let valid: Vec<bool> = values.iter().map(|v| v % 13 != 0).collect();
        for physical in [Physical::I64, Physical::F64, Physical::Utf8] {
            let mut stored = if physical == Physical::Utf8 {
                let texts: Vec<String> = values.iter().map(|v| (v % 1000).to_string()).collect();
                let mut offsets = vec![0];
                texts.iter().for_each(|t| offsets.push(offsets[offsets.len() - 1] + t.len() as u32));
                let bytes = texts.concat();
                encode(physical, Values::Strings { offsets: &offsets, bytes: bytes.as_bytes() }, None, compression)
            } else {
                encode(physical, Values::W64(&mut words), Some(&bits(&valid)), compression)
            };
            mend(&mut stored, physical, &damage, in_directory);
            let (mut out, mut scratch) = (vec![0u64; 8192], TextScratch::default());
            let mut other = TextScratch::default();
            // Values and errors are both acceptable; a panic is not.
            let packed = damage.len() % 2 == 0;
            let _ = stored.visit_with(physical, packed, |decoder, page, _| {
                let n = page.n_values().min(out.len());
                if physical == Physical::Utf8 {
                    let strings = decoder.strings(page, 0..n, &mut scratch)?;
                    let mut bytes = vec![0; strings.total_len()];
                    strings.write(&mut bytes)?;
                    assert!(std::str::from_utf8(&bytes).is_ok());
                    let place = &mut bytes;
                    let (lengths, bytes) = decoder.write_strings(page, 0..n, &mut other, |len| {
                        assert_eq!(len, place.len());
                        Ok(place)
                    })?;
                    assert!(std::str::from_utf8(bytes).is_ok() && lengths.len() == n);
                    return Ok(());
                }
                decoder.decode(page, 0..n, &mut out[..n])?;
                page.validity.write_sentinel(0..n, 7, &mut out[..n]);
                Ok(())
            });
        }
    }
}

/// Damages the pages or the directory, and corrects the checksums.
fn mend(stored: &mut Stored, physical: Physical, damage: &[(prop::sample::Index, u8)], in_directory: bool) {
    let target = if in_directory { &mut stored.directory } else { &mut stored.pages };
    for (at, mask) in damage {
        if !target.is_empty() {
            let at = at.index(target.len());
            target[at] ^= mask;
        }
    }
    stored.record.directory_checksum = checksum(&stored.directory);
    if let Ok(mut directory) =
        Directory::parse(&stored.directory, &stored.record, physical, &Limits::default())
    {
        let (dictionary, mut rest) = stored.pages.split_at(directory.dictionary.stored_len as usize);
        directory.dictionary.checksum = checksum(dictionary);
        if directory.n_dictionary == 0 {
            directory.dictionary.checksum = 0;
        }
        for entry in &mut directory.pages {
            let (page, after) = rest.split_at(entry.stored_len as usize);
            entry.checksum = checksum(page);
            rest = after;
        }
        stored.directory.clear();
        directory.emit(&mut stored.directory);
        stored.record.directory_checksum = checksum(&stored.directory);
    }
}

#[test]
fn dictionaries_are_for_what_is_far_apart() {
    let few = |i: u64| ((i * i * 7919) >> 5) % 7;
    let of = |step: u64| {
        let mut words: Vec<u64> = (0..20_000).map(|i| few(i) * step).collect();
        encode(Physical::I64, Values::W64(&mut words), None, 50).record.encoding.transform
    };
    // Codes would be no shorter than these small integers.
    assert_eq!((of(1), of(1_000_003)), (Transform::None, Transform::Dictionary));
    for text in ["a city", "two"] {
        let texts: Vec<String> = (0..20_000).map(|i| format!("{text}{}", few(i))).collect();
        let offsets: Vec<u32> = (0..=texts.len() as u32).map(|i| i * (text.len() as u32 + 1)).collect();
        let bytes = texts.concat();
        let values = Values::Strings { offsets: &offsets, bytes: bytes.as_bytes() };
        let stored = encode(Physical::Utf8, values, None, 50);
        assert_eq!(stored.record.encoding.transform, Transform::Dictionary);
    }
}
