use proptest::prelude::*;

use super::*;
use crate::error::Kind;
use crate::testing::flips;

/// The block record for a directory of `n_values`.
fn record_of(directory: &Directory, n_values: u32, decoded_len: u64) -> (BlockRecord, Vec<u8>) {
    let mut bytes = Vec::new();
    directory.emit(&mut bytes);
    let stored: u32 = directory.pages.iter().map(|page| page.stored_len).sum();
    let record = BlockRecord {
        first_value: 0,
        n_values,
        encoding: directory.encoding,
        directory_at: 1000,
        pages_at: 2000,
        directory_len: len32(bytes.len()),
        pages_len: stored.wrapping_add(directory.dictionary.stored_len),
        decoded_len,
        directory_checksum: checksum(&bytes),
        first_child: 0,
    };
    (record, bytes)
}

fn parse(directory: &Directory, n_values: u32, decoded_len: u64, of: impl Into<Layout>) -> Result<Directory> {
    let (record, bytes) = record_of(directory, n_values, decoded_len);
    Directory::parse(&bytes, &record, of, &Limits::default())
}

fn page(n_values: u32, width: u32, payload_len: u32) -> PageEntry {
    PageEntry { stored_len: payload_len, payload_len, n_values, decoded_len: n_values * width, checksum: 5 }
}

/// 10,000 values of i32 in 7 bits.
fn packed() -> Directory {
    // 8 vectors; then one vector and 784 values.
    let pages = vec![page(8_192, 4, 8 * 896), page(1_808, 4, 896 + 784 * 7 / 8)];
    Directory { width: 7, base: 0xFFFF_FFFF, pages, ..Directory::new(Encoding::new(Packing::BitPacked)) }
}

fn accepts(directory: &Directory, of: impl Into<Layout>) -> bool {
    let n = directory.pages.iter().map(|page| page.n_values).sum();
    let decoded = directory.pages.iter().map(|page| u64::from(page.decoded_len)).sum();
    match parse(directory, n, decoded, of) {
        Ok(parsed) => {
            assert_eq!(&parsed, directory);
            true
        }
        Err(error) => {
            assert_eq!(error.kind(), Kind::Corrupt);
            assert_eq!(error.location().at, Some(1000));
            false
        }
    }
}

#[test]
fn layout() {
    let mut bytes = Vec::new();
    packed().emit(&mut bytes);
    assert_eq!(bytes.len(), Directory::len(2));
    assert_eq!(bytes[..16], [2, 0, 0, 0, 7, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0]);
    assert_eq!(bytes[16..24], [2, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(bytes[40..56], [0, 28, 0, 0, 0, 28, 0, 0, 0, 32, 0, 0, 0, 128, 0, 0]);
}

#[test]
fn every_flipped_bit_is_seen_and_every_other_length() {
    let (record, bytes) = record_of(&packed(), 10_000, 40_000);
    let limits = Limits::default();
    assert_eq!(Directory::parse(&bytes, &record, Physical::I32, &limits).unwrap(), packed());
    for flipped in flips(&bytes) {
        assert!(Directory::parse(&flipped, &record, Physical::I32, &limits).is_err());
        // A matching checksum: the reader takes the bytes as they are.
        let record = BlockRecord { directory_checksum: checksum(&flipped), ..record };
        if let Ok(directory) = Directory::parse(&flipped, &record, Physical::I32, &limits) {
            let mut again = Vec::new();
            directory.emit(&mut again);
            assert_eq!(again, flipped);
        }
    }
    for len in 0..bytes.len() {
        let (cut, directory_len) = (&bytes[..len], len32(len));
        assert!(Directory::parse(cut, &record, Physical::I32, &limits).is_err());
        let record = BlockRecord { directory_len, directory_checksum: checksum(cut), ..record };
        assert!(Directory::parse(cut, &record, Physical::I32, &limits).is_err());
    }
}

#[test]
fn parameters_after_the_pages_are_ignored() {
    let limits = Limits::default();
    let (record, bytes) = record_of(&packed(), 10_000, 40_000);
    for (n, is_good) in [(1, true), (24, true), (65_536, true), (65_537, false)] {
        let longer = [&bytes[..], &vec![7; n]].concat();
        let (directory_len, directory_checksum) = (len32(longer.len()), checksum(&longer));
        let record = BlockRecord { directory_len, directory_checksum, ..record };
        let found = Directory::parse(&longer, &record, Physical::I32, &limits);
        assert_eq!(
            found.map_err(|error| error.kind()),
            if is_good { Ok(packed()) } else { Err(Kind::Corrupt) }
        );
    }
}

#[test]
fn sums() {
    assert!(parse(&packed(), 10_000, 40_000, Physical::I32).is_ok());
    assert!(parse(&packed(), 10_001, 40_000, Physical::I32).is_err());
    assert!(parse(&packed(), 10_000, 40_004, Physical::I32).is_err());
    assert!(parse(&packed(), 10_000, 40_000, Physical::I64).is_err());
    let (record, bytes) = record_of(&packed(), 10_000, 40_000);
    let limits = Limits::default();
    let record = BlockRecord { pages_len: record.pages_len + 1, ..record };
    assert!(Directory::parse(&bytes, &record, Physical::I32, &limits).is_err());
}

#[test]
fn parameters() {
    let ok = |directory: Directory| accepts(&directory, Physical::I32);
    assert!(ok(packed()));
    assert!(!ok(Directory { base: 1 << 32, ..packed() }));
    assert!(!ok(Directory { width: 8, ..packed() }));
    assert!(!ok(Directory { width: 33, ..packed() }));
    assert!(!ok(Directory { exponent: 1, ..packed() }));
    assert!(!ok(Directory { n_dictionary: 1, ..packed() }));
    assert!(!ok(Directory { dictionary: Stored { checksum: 1, ..Stored::default() }, ..packed() }));
    assert!(!ok(Directory { validity: true, pages: vec![page(1_808, 4, 896 + 784 * 7 / 8)], ..packed() }));
    assert!(ok(Directory { validity: true, pages: vec![page(1_808, 4, 1 + 896 + 784 * 7 / 8)], ..packed() }));
    // A base and width each: 8 x 5 bytes, then up to 32 bits a value.
    let per_vector =
        |len| Directory { per_vector: true, width: 0, base: 0, pages: vec![page(8_192, 4, len)], ..packed() };
    assert!(ok(per_vector(40)));
    assert!(ok(per_vector(40 + 32_768)));
    assert!(!ok(per_vector(39)));
    assert!(!ok(per_vector(41 + 32_768)));
    assert!(!ok(Directory { base: 1, ..per_vector(40) }));
    assert!(!ok(Directory { width: 1, ..per_vector(40) }));
    // Patches: 8 x 2 bytes, then up to 6 bytes a value.
    let patches = |len| Directory { patches: true, pages: vec![page(8_192, 4, len)], ..packed() };
    assert!(ok(patches(8 * 896 + 16)));
    assert!(!ok(patches(8 * 896 + 15)));
    assert!(ok(patches(8 * 896 + 16 + 8_192 * 6)));
    assert!(!ok(patches(8 * 896 + 17 + 8_192 * 6)));
}

#[test]
fn sizes_of_pages() {
    let raw = |pages: Vec<PageEntry>| Directory { pages, ..Directory::new(Encoding::default()) };
    let ok = |directory: Directory| accepts(&directory, Physical::U8);
    assert!(ok(raw(vec![page(8_192, 1, 8_192), page(1, 1, 1)])));
    assert!(!ok(raw(vec![page(1, 1, 1), page(8_192, 1, 8_192)])));
    assert!(!ok(raw(vec![page(8_193, 1, 8_193)])));
    assert!(!ok(raw(vec![page(8_192, 1, 8_192), page(0, 1, 0)])));
    assert!(!ok(raw(vec![])));
    assert!(!ok(raw(vec![PageEntry { stored_len: 9, ..page(10, 1, 10) }])));
    assert!(!ok(raw(vec![PageEntry { payload_len: 11, ..page(10, 1, 10) }])));
    let codec = Encoding { codec: Codec::Lz4, ..Encoding::default() };
    let coded =
        |stored_len| Directory { encoding: codec, ..raw(vec![PageEntry { stored_len, ..page(10, 1, 10) }]) };
    assert!(ok(coded(9)) && ok(coded(10)) && ok(coded(1)));
    assert!(!ok(coded(11)) && !ok(coded(0)));
    // Words of 256 KiB are too many, but a single value may be longer.
    let strings = |n_values: u32, decoded_len: u32| {
        let len = decoded_len + n_values.div_ceil(1_024) * 4 + (n_values * 19).div_ceil(8);
        let page = PageEntry { decoded_len, ..page(n_values, 0, len) };
        Directory { width: 19, pages: vec![page; 2], ..Directory::new(Encoding::new(Packing::Strings)) }
    };
    assert!(accepts(&strings(2, MAX_PAGE_LEN), Physical::Utf8));
    assert!(!accepts(&strings(2, MAX_PAGE_LEN + 1), Physical::Utf8));
    assert!(accepts(&strings(1, MAX_PAGE_LEN + 1), Physical::Binary));
    assert!(!accepts(&Directory { width: 33, ..strings(2, 5) }, Physical::Utf8));
}

#[test]
fn constants() {
    let constant = |base| Directory { base, ..Directory::new(Encoding::new(Packing::Constant)) };
    assert!(parse(&constant(1), 100, 100, Physical::Bool).is_ok());
    assert!(parse(&constant(2), 100, 100, Physical::Bool).is_err());
    assert!(parse(&constant(0xFFFF), 100, 200, Physical::F16).is_ok());
    assert!(parse(&constant(0x1_0000), 100, 200, Physical::F16).is_err());
    assert!(parse(&constant(0), 100, 201, Physical::F16).is_err());
    assert!(parse(&constant(u64::MAX), 100, 800, Physical::Complex64).is_ok());
    assert!(parse(&constant(0), 100, 1_600, Physical::Complex128).is_err());
    assert!(parse(&Directory { validity: true, ..constant(0) }, 100, 200, Physical::F16).is_err());
    let pages = vec![page(100, 2, 0)];
    assert!(accepts(&Directory { pages: pages.clone(), ..constant(0) }, Physical::F16));
    assert!(!accepts(&Directory { validity: true, pages, ..constant(0) }, Physical::F16));
    let pages = vec![page(100, 2, 1 + 13)];
    assert!(accepts(&Directory { validity: true, pages, ..constant(0) }, Physical::F16));
}

#[test]
fn dictionaries() {
    let encoding = Encoding { transform: Transform::Dictionary, ..Encoding::new(Packing::BitPacked) };
    let stored = |len| Stored { stored_len: len, payload_len: len, checksum: 9 };
    let with = |n_dictionary, len| Directory {
        width: 2,
        n_dictionary,
        dictionary: stored(len),
        pages: vec![PageEntry { decoded_len: 160, ..page(10, 0, 3) }],
        ..Directory::new(encoding)
    };
    assert!(accepts(&with(4, 64), Physical::Complex128));
    assert!(!accepts(&with(4, 63), Physical::Complex128));
    assert!(!accepts(&with(0, 0), Physical::Complex128));
    assert!(!accepts(&with(65_537, 65_537 * 16), Physical::Complex128));
    assert!(accepts(&with(4, 8), Physical::Utf8));
    assert!(!accepts(&with(4, 7), Physical::Utf8));
    assert!(!accepts(&Directory { patches: true, ..with(4, 20) }, Physical::Utf8));
    assert!(!accepts(&Directory { base: 1 << 32, ..with(4, 20) }, Physical::Utf8));
    // A constant code needs no pages, but the dictionary.
    let encoding = Encoding { packing: Packing::Constant, ..encoding };
    let constant = Directory { encoding, width: 0, pages: vec![], ..with(1, 12) };
    assert!(parse(&constant, 10, 40, Physical::Utf8).is_ok());
}

#[test]
fn decimals_runs_and_differences() {
    let alp = |packing| Encoding { transform: Transform::Alp, ..Encoding::new(packing) };
    let decimals = Directory {
        exponent: 18,
        factor: 18,
        width: 3,
        base: u64::MAX,
        pages: vec![page(8, 8, 3)],
        ..Directory::new(alp(Packing::BitPacked))
    };
    assert!(accepts(&decimals, Physical::F64));
    assert!(!accepts(&Directory { exponent: 19, ..decimals.clone() }, Physical::F64));
    assert!(!accepts(&Directory { exponent: 17, ..decimals.clone() }, Physical::F64));
    assert!(!accepts(&decimals, Physical::U64));
    let single = Directory { exponent: 10, factor: 0, base: 1, pages: vec![page(8, 4, 3)], ..decimals };
    assert!(accepts(&single, Physical::F32));
    assert!(!accepts(&Directory { exponent: 11, ..single.clone() }, Physical::F32));
    let residual = Encoding { transform: Transform::Residual, ..single.encoding };
    let sums = |factor| Directory { encoding: residual, exponent: 2, factor, ..single.clone() };
    assert!(accepts(&sums(1), Physical::F32) && accepts(&sums(8), Physical::F32));
    assert!(!accepts(&sums(0), Physical::F32) && !accepts(&sums(9), Physical::F32));
    let double = |factor| Directory { pages: vec![page(8, 8, 3)], ..sums(factor) };
    assert!(accepts(&double(12), Physical::F64) && !accepts(&double(13), Physical::F64));
    assert!(!accepts(&double(3), Physical::I64));

    let runs = |len| Directory {
        width: 8,
        base: 200,
        pages: vec![page(100, 1, len)],
        ..Directory::new(Encoding::new(Packing::RunLength))
    };
    assert!(accepts(&runs(5), Physical::I8));
    assert!(!accepts(&runs(4), Physical::I8));
    assert!(accepts(&runs(302), Physical::I8));
    assert!(!accepts(&runs(303), Physical::I8));

    let delta = |len| Directory {
        width: 4,
        pages: vec![page(1_025, 8, len)],
        ..Directory::new(Encoding::new(Packing::Delta))
    };
    assert!(accepts(&delta(34), Physical::I64));
    assert!(accepts(&delta(34 + 513), Physical::I64));
    assert!(!accepts(&delta(34 + 514), Physical::I64));
    assert!(!accepts(&Directory { base: 1, ..delta(34) }, Physical::I64));
}

#[test]
fn limit_of_a_page() {
    let (record, bytes) = record_of(&packed(), 10_000, 40_000);
    let mut limits = Limits { page_payload_len: 8 * 896, ..Limits::default() };
    assert!(Directory::parse(&bytes, &record, Physical::I32, &limits).is_ok());
    limits.page_payload_len -= 1;
    assert_eq!(Directory::parse(&bytes, &record, Physical::I32, &limits).unwrap_err().kind(), Kind::Limit);
}

fn all_encodings() -> impl Iterator<Item = Encoding> {
    let codes =
        (0..6).flat_map(|p| (0..3).flat_map(move |t| (0..3).flat_map(move |c| [[p, t, c, 0], [p, t, c, 1]])));
    codes.map(|codes| Encoding::from_codes(codes).unwrap())
}

/// All layouts, with fixed bytes of some lengths.
fn layouts() -> Vec<Layout> {
    let lengths = [0, 1, 3, 8, 33, 100, 1 << 17, MAX_PAGE_LEN];
    let others = Physical::ALL.iter().filter(|physical| **physical != Physical::FixedBytes);
    others.map(|&physical| physical.into()).chain(lengths.map(Layout::fixed)).collect()
}

fn legal_encoding() -> impl Strategy<Value = (Encoding, Layout)> {
    let on = |of: Layout| all_encodings().map(move |encoding| (encoding, of));
    let all = layouts().into_iter().flat_map(on);
    prop::sample::select(all.filter(|(encoding, of)| encoding.problem(*of).is_none()).collect::<Vec<_>>())
}

fn any_encoding() -> impl Strategy<Value = Encoding> {
    prop::sample::select(all_encodings().collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    /// A reader accepts everything that a correct encoder can write.
    #[test]
    fn round_trip((encoding, of) in legal_encoding(), n_values in 1u32..=65_536, width: u8, base: u64,
                  flags: [bool; 3], share in 0u64..=100, checksum: u64) {
        // As many values as a block can have.
        let n_values = n_values.min((16 << 20) / of.width().unwrap_or(1).max(1) as u32);
        let bits = u8::try_from(word_bytes(encoding, of) * 8).unwrap_or(u8::MAX);
        let mut directory = Directory { validity: flags[0], ..Directory::new(encoding) };
        if encoding.packing == Packing::BitPacked {
            directory.per_vector = flags[1];
            directory.patches = flags[2] && encoding.transform != Transform::Dictionary && !encoding.is_narrow(of);
        }
        if !matches!(encoding.packing, Packing::Raw | Packing::Constant) && !directory.per_vector {
            directory.width = width % (bits + 1);
        }
        if !matches!(encoding.packing, Packing::Raw | Packing::Delta) && !directory.per_vector {
            let base_bits = if of.physical == Physical::Bool { 1 } else { bits };
            directory.base = base & u64::MAX.checked_shr(u32::from(64 - base_bits)).unwrap_or(0);
        }
        match encoding.transform {
            Transform::Alp => (directory.exponent, directory.factor) = (width % 11, width % 11 / 2),
            Transform::Residual => (directory.exponent, directory.factor) = (width % 11, 1 + width % 8),
            _ => {}
        }
        let store = |payload_len: u32| {
            let stored_len = if encoding.codec == Codec::None { payload_len } else { payload_len.div_ceil(2) };
            Stored { stored_len, payload_len, checksum }
        };
        if encoding.transform == Transform::Dictionary {
            directory.n_dictionary = 1 + u32::from(width);
            let entry = of.width().map_or(4, len64);
            let len = entry * u64::from(directory.n_dictionary) + if of.physical.is_var() { 4 } else { 0 };
            directory.dictionary = store(u32::try_from(len).unwrap());
        }
        let mut left = n_values;
        while left > 0 {
            let n = left.min(of.page_values());
            let each = of.width().map_or(1, |width| u32::try_from(width).unwrap());
            let mut page = PageEntry { stored_len: 0, payload_len: 0, n_values: n, decoded_len: n * each, checksum };
            let (least, most) = directory.payload_bounds(&page, of);
            let stored = store(u32::try_from(least + (most - least) * share / 100).unwrap());
            (page.stored_len, page.payload_len) = (stored.stored_len, stored.payload_len);
            directory.pages.push(page);
            left -= n;
        }
        let decoded = directory.pages.iter().map(|page| u64::from(page.decoded_len)).sum();
        prop_assert_eq!(parse(&directory, n_values, decoded, of).unwrap(), directory);
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200), encoding in any_encoding(), of in prop::sample::select(layouts()),
                 n_values in 1u32..=65_536, known: bool) {
        let mut bytes = bytes;
        if known && bytes.len() >= 20 {
            bytes[..4].copy_from_slice(&encoding.codes());
            bytes[7] &= 7;
            let pages = u32::try_from(bytes.len().saturating_sub(40) / 24).unwrap();
            bytes[16..20].copy_from_slice(&pages.to_le_bytes());
        }
        let record = BlockRecord {
            first_value: 0, n_values, encoding, directory_at: 0, pages_at: 0, directory_len: len32(bytes.len()),
            pages_len: 100, decoded_len: 100, directory_checksum: checksum(&bytes), first_child: 0,
        };
        let _ = Directory::parse(&bytes, &record, of, &Limits::default());
    }
}
