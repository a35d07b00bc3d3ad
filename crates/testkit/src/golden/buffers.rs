//! Golden containers and hashes of buffers. As with files, these functions must never change: new
//! vectors get new lines.

use entasis::buffers::{self, Options};
use entasis::{Codec, Silent, json_string};

use crate::naive::buffer::hash;

/// A piece of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// This number of zeros.
    Zero(usize),
    /// This number of bytes of a text that repeats.
    Text(usize),
    /// This number of bytes that no codec makes smaller.
    Noise(usize),
}

impl Part {
    fn name_and_len(self) -> (&'static str, usize) {
        match self {
            Self::Zero(len) => ("zero", len),
            Self::Text(len) => ("text", len),
            Self::Noise(len) => ("noise", len),
        }
    }

    fn append_to(self, bytes: &mut Vec<u8>) {
        match self {
            Self::Zero(len) => bytes.resize(bytes.len() + len, 0),
            Self::Text(len) => bytes.extend(b"column of numbers, ".iter().cycle().take(len)),
            Self::Noise(len) => {
                let mut state = 1u64;
                bytes.extend((0..len).map(|_| {
                    state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    (state >> 56) as u8
                }));
            }
        }
    }
}

/// A golden container.
#[derive(Clone, Debug)]
pub struct Vector {
    /// The name; the file is called `NAME.enb`.
    pub name: &'static str,
    /// The options of compression.
    pub options: Options,
    /// Its content.
    pub parts: &'static [Part],
}

impl Vector {
    /// The file's name.
    pub fn file_name(&self) -> String {
        format!("{}.enb", self.name)
    }

    /// The decoded bytes.
    pub fn decoded(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.parts.iter().for_each(|part| part.append_to(&mut bytes));
        bytes
    }

    /// The container that the current writer gives.
    ///
    /// # Panics
    /// When compression fails.
    pub fn compress(&self) -> Vec<u8> {
        let decoded = self.decoded();
        let compressed = buffers::compress(decoded.as_slice().into(), &self.options, Some(1), &Silent);
        let container = compressed.and_then(|compressed| compressed.into_vec(Some(1), &Silent));
        container.unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }
}

const MIXED: &[Part] = &[Part::Zero(1000), Part::Text(1500), Part::Noise(2500), Part::Zero(7)];

/// All golden containers.
pub fn all() -> Vec<Vector> {
    let vector = |name, codec, level, block_len, parts| Vector {
        name,
        options: Options { codec, level, block_len },
        parts,
    };
    vec![
        vector("empty", Codec::Lz4, None, None, &[]),
        vector("one-byte", Codec::Zstd, None, None, &[Part::Noise(1)]),
        vector("lz4", Codec::Lz4, None, None, &[Part::Text(300_000)]),
        vector("lz4-blocks", Codec::Lz4, None, Some(1000), MIXED),
        vector("zstd", Codec::Zstd, None, None, &[Part::Zero(1_100_000)]),
        vector("zstd-blocks", Codec::Zstd, Some(19), Some(1000), MIXED),
        vector("zstd-fast", Codec::Zstd, Some(-5), Some(2048), MIXED),
    ]
}

/// The input of the hashes: byte i is the highest byte of the low 32 bits of `2654435761 i`.
pub fn hashed(len: usize) -> Vec<u8> {
    (0..len).map(|i| ((i as u32).wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

/// The lengths that are hashed: on both sides of every change of formula in XXH3, and of every
/// border of leaves.
const LENGTHS: [usize; 24] = [
    0, 1, 3, 4, 8, 9, 16, 17, 128, 129, 240, 241, 1023, 1024, 1025, 65_537, 1_048_575, 1_048_576, 1_048_577,
    2_097_151, 2_097_152, 2_097_153, 3_145_728, 3_200_001,
];

/// The description of the vectors for other languages: containers by their parts, hashes by length
/// and seed.
pub fn json() -> String {
    let container = |vector: &Vector| {
        let parts = vector.parts.iter().map(|part| part.name_and_len());
        let parts: Vec<String> = parts.map(|(name, len)| format!("[\"{name}\", {len}]")).collect();
        format!(
            "    {{\"file\": {}, \"codec\": \"{}\", \"parts\": [{}], \"hash\": \"{:016x}\"}}",
            json_string(&vector.file_name()),
            vector.options.codec,
            parts.join(", "),
            hash(&vector.decoded(), 0)
        )
    };
    let containers: Vec<String> = all().iter().map(container).collect();
    let seeds = [0, 1, u64::MAX];
    let hashes = LENGTHS.iter().flat_map(|&len| {
        let input = hashed(len);
        seeds.map(|seed| {
            format!(
                "    {{\"len\": {len}, \"seed\": \"{seed:016x}\", \"hash\": \"{:016x}\"}}",
                hash(&input, seed)
            )
        })
    });
    let hashes: Vec<String> = hashes.collect();
    format!(
        "{{\n  \"version\": 1,\n  \"containers\": [\n{}\n  ],\n  \"hashes\": [\n{}\n  ]\n}}\n",
        containers.join(",\n"),
        hashes.join(",\n")
    )
}
