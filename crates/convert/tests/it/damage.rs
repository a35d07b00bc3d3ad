//! Truncated files and files with a wrong bit give a value or an error.

use entasis::{Kind, MemorySource, Silent};
use entasis_convert::fst::{Selection, Table};
use entasis_convert::{ReadOptions, read_r};

use crate::common::{bits, by_tier, decompressed, file};

/// Reads bytes, whatever they are.
fn survives(bytes: &[u8], what: &str) {
    let options = ReadOptions { threads: 1, max_bytes: Some(16 << 20), ..ReadOptions::default() };
    let found = read_r(bytes, &options, &Silent);
    if bytes.get(44..48) == Some(b"PAAP") {
        // Positioned reads give the same.
        let source = MemorySource::new(bytes.to_vec());
        let selection = Selection { max_bytes: options.max_bytes, ..Selection::default() };
        let read = Table::of_source(&source).and_then(|table| table.read(&selection, 1, &Silent));
        match (&found, &read) {
            (Ok(found), Ok(read)) => assert!(bits(&found.value) == bits(read), "{what}"),
            (found, read) => assert_eq!(found.is_ok(), read.is_ok(), "{what}"),
        }
    }
    if let Err(error) = found {
        let is_fit = matches!(
            error.kind(),
            Kind::Corrupt | Kind::Unsupported | Kind::Limit | Kind::Argument | Kind::Text
        );
        assert!(is_fit, "{what}: {error:?}");
        let message = error.to_string();
        assert!(!message.chars().any(char::is_control), "{what}: {message:?}");
    }
}

/// A generator of numbers that differ (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ z >> 31) % n as u64) as usize
    }
}

/// Some or all truncations and wrong bits: at most `most` of each in a release, and half of them in
/// a change.
fn damage(bytes: &[u8], what: &str, most: usize) {
    let most = by_tier(most / 2, most);
    let mut random = Random(bytes.len() as u64);
    let n_bits = bytes.len() * 8;
    for i in 0..bytes.len().min(most) {
        let len = if bytes.len() <= most { i } else { random.below(bytes.len()) };
        survives(&bytes[..len], what);
    }
    let mut damaged = bytes.to_vec();
    for i in 0..n_bits.min(most) {
        let bit = if n_bits <= most { i } else { random.below(n_bits) };
        damaged[bit / 8] ^= 1 << (bit % 8);
        survives(&damaged, what);
        damaged[bit / 8] ^= 1 << (bit % 8);
    }
    // Several wrong bytes.
    for _ in 0..most / 4 {
        let mut damaged = bytes.to_vec();
        for _ in 0..1 + random.below(4) {
            let at = random.below(damaged.len());
            damaged[at] = [0, 0xff, 0x80, 0x7f, random.below(256) as u8][random.below(5)];
        }
        survives(&damaged, what);
    }
}

#[test]
fn damaged_streams_of_rds() {
    for name in ["kinds.rds", "kinds_v2.rds", "kinds_hex.rds", "kinds_le.rds", "ascii.RData", "code.rds"] {
        damage(&decompressed(file(name)), name, 30_000);
    }
    for name in ["values_v3_none.rds", "values_ascii.rds"] {
        damage(&decompressed(file(name)), name, 300);
    }
}

#[test]
fn damaged_compressed_files() {
    for name in ["kinds.rds", "values_v2_xz.rds", "values_v3_bzip2.rds", "values_v3_gzip.rds"] {
        damage(&file(name), name, 100);
    }
}

#[test]
fn damaged_qs2_and_qdata() {
    for name in ["values.qs2", "table.qdata"] {
        let mut bytes = file(name);
        damage(&bytes, name, 60);
        // Without a hash, blocks are decoded.
        bytes[16..24].fill(0);
        damage(&bytes, name, 60);
        // Content that is not compressed shows wrong lengths.
        let plain = unpacked(&bytes);
        damage(&plain, name, 150);
    }
}

/// The same content in blocks of zstd that store it as it is.
fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let mut all = bytes[..24].to_vec();
    let mut rest = &bytes[24..];
    let mut content = vec![0; 1 << 20];
    while let Some((len, tail)) = rest.split_first_chunk::<4>() {
        let len = u32::from_le_bytes(*len) as usize;
        let mut context = zstd_safe::DCtx::create();
        let n = context.decompress(&mut content[..], &tail[..len]).unwrap();
        let frame = frame(&content[..n]);
        all.extend((frame.len() as u32).to_le_bytes());
        all.extend(frame);
        rest = &tail[len..];
    }
    all
}

/// A frame of zstd with blocks that are not compressed (RFC 8878, sections 3.1.1.1 and 3.1.1.2).
fn frame(content: &[u8]) -> Vec<u8> {
    let mut frame = b"\x28\xB5\x2F\xFD\xA0".to_vec();
    frame.extend((content.len() as u32).to_le_bytes());
    let mut chunks = content.chunks(100_000).peekable();
    while let Some(chunk) = chunks.next() {
        let head = (chunk.len() as u32) << 3 | u32::from(chunks.peek().is_none());
        frame.extend(&head.to_le_bytes()[..3]);
        frame.extend(chunk);
    }
    frame
}

#[test]
fn damaged_fst() {
    for name in
        ["table_000.fst.xz", "table_030.fst.xz", "table_050.fst.xz", "table_080.fst.xz", "table_100.fst.xz"]
    {
        let bytes = file(name);
        damage(&bytes, name, 60);
        // Structures and indexes: most wrong bits in values change nothing but these.
        let mut random = Random(7);
        let mut damaged = bytes.clone();
        for _ in 0..by_tier(120, 300) {
            let at = random.below(2_000);
            let old = damaged[at];
            damaged[at] ^= 1 << random.below(8);
            survives(&damaged, name);
            damaged[at] = old;
        }
    }
}

/// Headers whose hashes fit, with wrong words.
#[test]
fn damaged_fst_with_right_hashes() {
    let bytes = file("table_050.fst.xz");
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let chunkset = word(32) as usize;
    let n = 13;
    let names = chunkset + 80 + 8 * n;
    let index = (names + 24..).find(|&at| hash(&bytes[at..at + 96]) == word(at)).unwrap();
    let data = word(index + 32) as usize;
    let structures = [(0, 48), (chunkset, 80 + 8 * n), (names, 24), (index, 96), (data, 24 + 8 * n)];
    let mut random = Random(3);
    for (at, len) in structures {
        assert_eq!(hash(&bytes[at..at + len]), word(at));
        for _ in 0..by_tier(120, 300) {
            let mut damaged = bytes.clone();
            let to = at + 8 + random.below(len - 8);
            match random.below(3) {
                0 => damaged[to] ^= 1 << random.below(8),
                1 => damaged[to] = random.below(256) as u8,
                _ => damaged[at + 8..at + len][random.below(len - 8)] = 0xff,
            }
            let right = hash(&damaged[at..at + len]).to_le_bytes();
            damaged[at..at + 8].copy_from_slice(&right);
            survives(&damaged, "fst");
        }
    }
}

fn hash(structure: &[u8]) -> u64 {
    twox_hash::XxHash64::oneshot(912_824_571, &structure[8..])
}
