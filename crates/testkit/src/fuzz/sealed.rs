//! Encrypted files of any bytes: as they are stored, and with any inner file under a right key.

use std::path::Path;
use std::sync::Arc;

use entasis::{File, Key, Kind, Limits, MemorySink, MemorySource, Opening, Secret, Silent, Suite, Unlocked};
use entasis_format::{KEY_PAGES_END, SLOT_OFFSETS, checksum};
use entasis_io::Sink;
use entasis_seal::Sealer;

use crate::frames::grown;
use crate::naive;

const KEY: [u8; 32] = [7; 32];
const CHUNK: usize = 8192;
/// The bits of an input's first byte: whether it is the inner file; whether checksums of stored
/// bytes are repaired.
const INNER: u8 = 1;
const REPAIRS: u8 = 2;

/// Opens, reads and verifies a file.
///
/// # Panics
/// When a promise is broken.
pub fn run(input: &[u8]) {
    let Some((mode, bytes)) = input.split_first() else { return };
    let stored = match (mode & INNER != 0, mode & REPAIRS != 0) {
        (true, _) => match sealed(bytes) {
            Some(stored) => stored,
            None => return,
        },
        (false, true) => repaired(bytes),
        (false, false) => bytes.to_vec(),
    };
    let opening = Opening { secret: Some(secret()), ..Opening::default() };
    let source = Box::new(MemorySource::new(stored));
    let found = File::from_source(source, Path::new("sealed"), opening).and_then(|file| {
        file.verify(Some(1), &Silent)?;
        file.info().map(|_| ())
    });
    if let Err(error) = found {
        let kinds = [
            Kind::Corrupt,
            Kind::Tampered,
            Kind::WrongKey,
            Kind::Unsupported,
            Kind::Newer,
            Kind::NotEntasis,
            Kind::Limit,
            // The bytes are a plain file.
            Kind::Argument,
        ];
        assert!(kinds.contains(&error.kind()), "{:?}: {error}", error.kind());
    }
}

fn secret() -> Secret {
    Key::new(&KEY).map_or_else(|error| panic!("{error}"), Secret::Key)
}

/// An encrypted file with these bytes as its inner file.
fn sealed(inner: &[u8]) -> Option<Vec<u8>> {
    let sink = MemorySink::new();
    let unlocked = Unlocked::new(&secret(), Suite::default(), &Limits::default()).ok()?;
    let sealer = Sealer::new(Arc::new(unlocked)).ok()?;
    let (clear, rest) = inner.split_at_checked(KEY_PAGES_END as usize)?;
    sink.write_all_at(0, clear).ok()?;
    sealer.write_all_at(&sink, 0, clear.get(..256)?).ok()?;
    for at in SLOT_OFFSETS {
        let slot = clear.get(at as usize..)?.first_chunk()?;
        sink.write_all_at(at, &sealer.slot(at, slot)).ok()?;
    }
    sealer.write_key_pages(&sink).ok()?;
    sealer.write_all_at(&sink, KEY_PAGES_END, rest).ok()?;
    sealer.flush(&sink).ok()?;
    Some(sink.into_bytes())
}

/// The stored bytes with checksums that hold.
fn repaired(bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let chunks = (KEY_PAGES_END as usize..out.len()).step_by(CHUNK).map(|at| at..at + CHUNK);
    let places = [0..64, 64..128, 4096..4160, 8192..8256, 12_288..16_384, 16_384..20_480];
    for place in places.into_iter().chain(chunks) {
        let Some(part) = out.get_mut(place) else { continue };
        let (body, sum) = part.split_at_mut(part.len() - 8);
        sum.copy_from_slice(&checksum(body).to_le_bytes());
    }
    out
}

/// Small files, stored and inner.
pub fn seeds() -> Vec<Vec<u8>> {
    let options = entasis::WriteOptions {
        threads: Some(1),
        secret: Some(secret()),
        ..entasis::WriteOptions::default()
    };
    let stored =
        [grown::grown(&grown::table(200), &[10], &options), grown::grown(&grown::table(200), &[], &options)];
    let inner = stored.iter().filter_map(|file| naive::unseal(file, naive::Secret::Key(&KEY), true).ok());
    let inner = inner.map(|inner| [&[INNER][..], &inner].concat());
    let as_they_are = stored.iter().flat_map(|file| [0, REPAIRS].map(|mode| [&[mode][..], file].concat()));
    as_they_are.chain(inner).collect()
}
