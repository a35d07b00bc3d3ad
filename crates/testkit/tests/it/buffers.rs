//! Compressed buffers and hashes: core, naive decoder and model agree; golden vectors; threads make
//! no difference.

use std::collections::BTreeSet;

use entasis::buffers::{self, Container, Input, LEAF_LEN, Options};
use entasis::{Codec, HostRead, Kind, Monitor, Silent};
use entasis_testkit::golden::{buffer_folder, buffers as golden};
use entasis_testkit::naive::{buffer, checksum};
use proptest::prelude::*;

fn lend(bytes: &[u8]) -> HostRead {
    // SAFETY: every test keeps `bytes` alive and unchanged while they are read.
    unsafe { HostRead::new(bytes.as_ptr(), bytes.len()) }
}

fn compress(input: Input<'_>, options: &Options, threads: usize) -> Vec<u8> {
    let compressed = buffers::compress(input, options, Some(threads), &Silent).unwrap();
    let len = compressed.len();
    let container = compressed.into_vec(Some(threads), &Silent).unwrap();
    assert_eq!(container.len(), len);
    container
}

fn decompress(input: Input<'_>, threads: usize) -> Vec<u8> {
    buffers::decompress(input, None, Some(threads), &Silent).unwrap().to_vec()
}

fn hash(input: Input<'_>, seed: u64, threads: usize) -> u64 {
    buffers::hash(input, seed, Some(threads), &Silent).unwrap()
}

/// Buffers of equal bytes, text and noise.
fn buffers() -> impl Strategy<Value = Vec<u8>> {
    let part = (0u8..3, 0usize..3000, any::<u64>());
    prop::collection::vec(part, 0..6).prop_map(|parts| {
        let mut bytes = Vec::new();
        for (kind, len, seed) in parts {
            match kind {
                0 => bytes.resize(bytes.len() + len, seed as u8),
                1 => bytes.extend(seed.to_string().bytes().cycle().take(len)),
                _ => bytes.extend(
                    entasis_testkit::frames::noise(len / 8, seed).into_iter().flat_map(u64::to_le_bytes),
                ),
            }
        }
        bytes
    })
}

fn options() -> impl Strategy<Value = Options> {
    let level = prop_oneof![Just(None), (-20i32..=-1).prop_map(Some), (1i32..=22).prop_map(Some)];
    (any::<bool>(), level, prop_oneof![Just(None), (1u32..5000).prop_map(Some)]).prop_map(
        |(zstd, level, block_len)| {
            let (codec, level) = if zstd { (Codec::Zstd, level) } else { (Codec::Lz4, None) };
            Options { codec, level, block_len }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_compressed_comes_back(bytes in buffers(), options in options(), threads in 1usize..4) {
        let container = compress(Input::from(bytes.as_slice()), &options, threads);
        prop_assert_eq!(&container, &compress(Input::from(lend(&bytes)), &options, 1));
        prop_assert_eq!(&buffer::decompress(&container).unwrap(), &bytes);
        prop_assert_eq!(&decompress(Input::from(container.as_slice()), threads), &bytes);
        prop_assert_eq!(&decompress(Input::from(lend(&container)), threads), &bytes);
    }

    #[test]
    fn hashes_are_those_of_the_page(bytes in buffers(), seed in any::<u64>()) {
        let expected = buffer::hash(&bytes, seed);
        prop_assert_eq!(hash(Input::from(bytes.as_slice()), seed, 1), expected);
        prop_assert_eq!(hash(Input::from(lend(&bytes)), seed, 2), expected);
    }
}

/// Long enough that several threads are started.
#[test]
fn threads_make_no_difference() {
    let mut bytes = golden::hashed(35 << 20);
    bytes.extend(entasis_testkit::frames::noise(1 << 18, 3).into_iter().flat_map(u64::to_le_bytes));
    bytes.extend(std::iter::repeat_n(b"a text that repeats itself; ", 100_000).flatten());
    for codec in [Codec::Lz4, Codec::Zstd] {
        let part = &bytes[33 << 20..];
        let containers: Vec<_> = [1, 2, 3, 7]
            .iter()
            .map(|&threads| compress(part.into(), &Options::new(codec), threads))
            .collect();
        assert!(containers.windows(2).all(|pair| pair[0] == pair[1]));
        assert!(containers[0].len() < part.len());
        for threads in [1, 2, 5] {
            assert!(decompress(containers[0].as_slice().into(), threads) == part);
        }
    }
    for len in [LEAF_LEN, LEAF_LEN + 1, bytes.len()] {
        let part = &bytes[..len];
        let expected = buffer::hash(part, 5);
        for threads in [1, 2, 3, 8] {
            assert_eq!(hash(part.into(), 5, threads), expected);
            assert_eq!(hash(lend(part).into(), 5, threads), expected);
        }
    }
}

#[test]
fn every_level_comes_back() {
    let bytes = golden::all()[3].decoded();
    for level in (-7..=-1).chain(1..=22).chain([-131_072]) {
        let options = Options { level: Some(level), ..Options::new(Codec::Zstd) };
        assert_eq!(decompress(compress(bytes.as_slice().into(), &options, 1).as_slice().into(), 1), bytes);
    }
}

#[test]
fn golden_containers_hold_what_they_held() {
    let vectors = golden::all();
    let entries = std::fs::read_dir(buffer_folder()).unwrap();
    let there: BTreeSet<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let known = vectors.iter().map(golden::Vector::file_name).chain(["vectors.json".to_owned()]).collect();
    assert_eq!(there, known, "every container has a line, every line a container");
    for vector in vectors {
        let container = std::fs::read(buffer_folder().join(vector.file_name())).unwrap();
        let decoded = vector.decoded();
        assert!(buffer::decompress(&container).unwrap() == decoded, "{}", vector.name);
        assert!(decompress(container.as_slice().into(), 2) == decoded, "{}", vector.name);
    }
    let json = std::fs::read_to_string(buffer_folder().join("vectors.json")).unwrap();
    assert_eq!(json, golden::json());
}

#[test]
fn golden_hashes_are_what_they_were() {
    let json = std::fs::read_to_string(buffer_folder().join("vectors.json")).unwrap();
    let hashes: Vec<&str> = json.lines().filter(|line| line.contains("\"len\"")).collect();
    assert!(hashes.len() >= 72);
    for line in hashes {
        let field = |name: &str| {
            let rest = line.split_once(&format!("\"{name}\": ")).unwrap().1;
            rest.split([',', '}']).next().unwrap().trim_matches('"').to_owned()
        };
        let hex = |name: &str| u64::from_str_radix(&field(name), 16).unwrap();
        let input = golden::hashed(field("len").parse().unwrap());
        assert_eq!(hash(input.as_slice().into(), hex("seed"), 2), hex("hash"), "{line}");
        assert_eq!(hash(lend(&input).into(), hex("seed"), 1), hex("hash"), "{line}");
    }
}

#[test]
fn arguments_that_make_no_sense_are_refused() {
    let refused = |options: Options| {
        let error = buffers::compress(b"abc".as_slice().into(), &options, None, &Silent).unwrap_err();
        assert_eq!(error.kind(), Kind::Argument, "{error}");
    };
    refused(Options::new(Codec::None));
    refused(Options { level: Some(1), ..Options::new(Codec::Lz4) });
    for level in [0, 23, i32::MIN, i32::MAX, -131_073] {
        refused(Options { level: Some(level), ..Options::new(Codec::Zstd) });
    }
    for block_len in [0, buffers::MAX_BLOCK_LEN + 1] {
        refused(Options { block_len: Some(block_len), ..Options::new(Codec::Lz4) });
    }
    let compressed =
        buffers::compress(b"abc".as_slice().into(), &Options::new(Codec::Lz4), None, &Silent).unwrap();
    assert_eq!(compressed.write(&mut [0; 3], None, &Silent).unwrap_err().kind(), Kind::Argument);
}

#[test]
fn errors_say_what_and_where() {
    let bytes = golden::hashed(3000);
    let options = Options { block_len: Some(1000), ..Options::new(Codec::Lz4) };
    let container = compress(bytes.as_slice().into(), &options, 1);
    let error =
        |bytes: &[u8], max_len| buffers::decompress(bytes.into(), max_len, None, &Silent).unwrap_err();

    let limit = error(&container, Some(2999));
    assert_eq!((limit.kind(), limit.location().at), (Kind::Limit, Some(16)));
    assert!(
        limit.to_string().contains("3000 bytes") && limit.to_string().contains("raise max_len"),
        "{limit}"
    );
    assert!(buffers::decompress(container.as_slice().into(), Some(3000), None, &Silent).is_ok());

    // Without `max_len` a small container may promise 4 GiB.
    let promise = |decoded_len: u64, max_len| {
        let mut forged = container.clone();
        forged[16..24].copy_from_slice(&decoded_len.to_le_bytes());
        let sum = checksum(&forged[..32]);
        forged[32..40].copy_from_slice(&sum.to_le_bytes());
        error(&forged, max_len)
    };
    let limit = promise((4 << 30) + 1, None);
    assert_eq!(limit.kind(), Kind::Limit);
    assert!(limit.to_string().contains("max_len is 4294967296"), "{limit}");
    assert_eq!(promise(4 << 30, None).kind(), Kind::Corrupt);
    assert_eq!(promise((4 << 30) + 1, Some(u64::MAX)).kind(), Kind::Corrupt);

    let mut damaged = container.clone();
    *damaged.last_mut().unwrap() ^= 1;
    let corrupt = error(&damaged, None);
    assert_eq!((corrupt.kind(), corrupt.location().block), (Kind::Corrupt, Some(2)));
    let opened = Container::open(damaged.as_slice().into(), None).unwrap();
    assert_eq!(opened.decoded_len(), 3000);
    assert_eq!(opened.read(&mut [0; 2999], None, &Silent).unwrap_err().kind(), Kind::Argument);

    let file = error(b"\x89ENT\r\n\x1a\nand more", None);
    assert_eq!(file.kind(), Kind::NotEntasis);
    assert!(file.to_string().contains("`read`"), "{file}");
    assert_eq!(error(b"something else", None).kind(), Kind::NotEntasis);
    assert!(error(b"", None).to_string().contains("truncated"));
    assert!(error(&container[..39], None).to_string().contains("truncated"));
}

/// Cancels the work when it is asked, which is at the earliest after 50 ms.
struct Stop;

impl Monitor for Stop {
    fn interrupted(&self) -> bool {
        true
    }
}

#[test]
fn the_monitor_ends_it() {
    // This level takes some seconds, so that the work can be cancelled.
    let bytes = golden::hashed(64 << 20);
    let options = Options { level: Some(19), ..Options::new(Codec::Zstd) };
    for threads in [1, 2] {
        let stopped = buffers::compress(bytes.as_slice().into(), &options, Some(threads), &Stop);
        assert_eq!(stopped.unwrap_err().kind(), Kind::Interrupted);
    }
}
