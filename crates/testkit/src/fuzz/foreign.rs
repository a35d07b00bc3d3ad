//! Files of R in other formats: any bytes give a value or an error, in bounded memory.

use std::path::PathBuf;

use entasis::{Kind, MemorySource, Silent};
use entasis_convert::fst::{Selection, Table};
use entasis_convert::{ReadOptions, read_r};

use super::files;
use crate::memory;

/// The most bytes that compressed bytes and compact sequences may become.
const EXPANDED: u64 = 256 << 10;

/// Reads the value of a file, whatever it is. A file of qs2 is also read without its hash, and one
/// of fst with the right hash of its first structure.
///
/// # Panics
/// When a promise is broken.
pub fn run(bytes: &[u8]) {
    read(bytes);
    if bytes.starts_with(&[0x0B, 0x0E, 0x0A]) && bytes.len() > 24 {
        let mut unhashed = bytes.to_vec();
        unhashed[16..24].fill(0);
        read(&unhashed);
    }
    if bytes.get(44..48) == Some(b"PAAP") {
        let mut hashed = bytes.to_vec();
        let hash = twox_hash::XxHash64::oneshot(912_824_571, &hashed[8..48]);
        hashed[..8].copy_from_slice(&hash.to_le_bytes());
        read(&hashed);
    }
}

fn read(bytes: &[u8]) {
    let options = ReadOptions { threads: 1, max_bytes: Some(EXPANDED), ..ReadOptions::default() };
    if bytes.get(44..48) == Some(b"PAAP") {
        read_parts(bytes, &options);
    }
    let (result, used) = memory::peak(|| read_r(bytes, &options, &Silent).map(drop));
    // A list of NULL takes a byte an element in the file, and the memory of a value.
    let most = (96 << 20) + 200 * bytes.len();
    assert!(used <= most, "a file of {} bytes took {used} bytes", bytes.len());
    if let Err(error) = result {
        let is_fit = !matches!(error.kind(), Kind::Io(_) | Kind::OutOfMemory | Kind::Interrupted);
        assert!(is_fit, "{:?}: {error}", error.kind());
        let message = error.to_string();
        assert!(!message.chars().any(char::is_control), "{message:?}");
    }
}

/// Reads a table of fst by positioned reads, and its rows one by one.
fn read_parts(bytes: &[u8], options: &ReadOptions) {
    let source = MemorySource::new(bytes.to_vec());
    let (result, used) = memory::peak(|| {
        let table = Table::of_source(&source)?;
        let read = |rows| {
            let selection = Selection { rows, max_bytes: options.max_bytes, ..Selection::default() };
            table.read(&selection, 1, &Silent).map(drop)
        };
        let parts = (0..table.n_rows().min(4)).try_for_each(|row| read(Some(row..row + 1)));
        read(None)?;
        // A table that can be read has parts that can.
        assert!(parts.is_ok());
        entasis::Result::Ok(())
    });
    assert!(used <= (96 << 20) + 200 * bytes.len(), "a file of {} bytes took {used} bytes", bytes.len());
    assert_eq!(result.is_ok(), read_r(bytes, options, &Silent).is_ok());
}

/// The small files of the tests of the readers.
pub fn seeds() -> Vec<Vec<u8>> {
    let folder: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", "convert", "tests", "data"].iter().collect();
    let mut seeds: Vec<Vec<u8>> =
        ["rds", "RData", "qs2", "fst"].iter().flat_map(|suffix| files(&folder, suffix)).collect();
    seeds.retain(|seed| seed.len() <= 16 << 10);
    seeds
}
