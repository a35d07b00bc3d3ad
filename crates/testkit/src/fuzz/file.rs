//! Whole files, of any bytes.

use crate::frames::small;
use crate::future::Future;
use crate::golden::{bad, folder, tree_folder};
use crate::hostile;
use crate::memory;
use crate::naive;
use crate::probe::{contents, is_fit, metadata, open, verify, work};

/// Longest seed, in bytes. The golden files with pieces and with parts named again are shorter.
const LONGEST: usize = 32_000;
/// The most bytes of values that one input may have decoded. More take longer than a second.
const WORK: u64 = 4 << 20;
/// The same for the naive decoder.
const NAIVE_WORK: u64 = 1 << 18;

/// The most bytes that metadata take: caches and windows, and memory in proportion to the file.
fn metadata_budget(len: usize) -> usize {
    (1 << 20) + 256 * len
}

/// The most bytes that reading takes, with the memory of the test: pages, and memory in proportion
/// to the values.
fn budget(len: usize, work: u64) -> usize {
    (16 << 20) + 256 * len + 64 * work as usize
}

/// Opens a file, reads everything in several ways, and verifies it.
///
/// # Panics
/// When a promise is broken.
pub fn read(bytes: &[u8]) {
    examine(bytes);
}

/// As [`read`]; then reads the file with the naive decoder and compares the values.
///
/// # Panics
/// When a promise is broken.
pub fn compare(bytes: &[u8]) {
    let Some((error, work)) = examine(bytes) else { return };
    if work > NAIVE_WORK {
        return;
    }
    if let Err(difference) = hostile::compare(bytes, error) {
        panic!("{difference}");
    }
}

/// The error of reading or verifying, if any, and the bytes of all values. None when the file does
/// not open, or has more values than a target decodes.
fn examine(bytes: &[u8]) -> Option<(Option<String>, u64)> {
    let (opened, used) = memory::peak(|| {
        let opened = open(bytes)?;
        let about = metadata(&opened).map(|_| ());
        Ok((opened, about))
    });
    let most = metadata_budget(bytes.len());
    assert!(used <= most, "metadata of a file of {} bytes took {used} bytes, not {most}", bytes.len());
    let opened = match opened {
        Ok((opened, Ok(()))) => opened,
        Ok((opened, Err(error))) => {
            assert!(is_fit(&error), "{:?}: {error}", error.kind());
            opened
        }
        Err(error) => {
            let error: entasis::Error = error;
            assert!(is_fit(&error), "{:?}: {error}", error.kind());
            return None;
        }
    };
    let work = work(&opened);
    if work > WORK {
        return None;
    }
    let ((read, verified), used) = memory::peak(|| (contents(bytes), verify(bytes)));
    let most = budget(bytes.len(), work);
    assert!(used <= most, "{work} bytes of values took {used} bytes, not {most}");
    for error in [read.as_ref().err(), verified.as_ref().err()].into_iter().flatten() {
        assert!(is_fit(error), "{:?}: {error}", error.kind());
    }
    if let (Err(error), Ok(())) = (&read, &verified) {
        panic!("`verify` accepts a file that cannot be read: {error}");
    }
    let error = read.err().or(verified.err());
    Some((error.map(|error| error.to_string()), work))
}

/// Golden files, good and bad, small files, and a file of a later version.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = super::files(&folder(), "entasis");
    seeds.extend(super::files(&tree_folder(), "entasis"));
    seeds.extend(bad::all().into_iter().map(|bad| bad.bytes));
    seeds.extend(small::all().into_iter().map(|small| small.bytes));
    seeds.push(later());
    seeds.retain(|seed| seed.len() <= LONGEST);
    seeds
}

/// A file whose directories have parameters of a later version.
fn later() -> Vec<u8> {
    let golden = std::fs::read(folder().join("delta.entasis")).expect("a golden file");
    Future { parameters_len: 8, ..Future::default() }.forge(&golden)
}

/// Golden and small files that can be read, as the naive decoder decodes them.
pub(super) fn decoded() -> Vec<(Vec<u8>, naive::Decoded)> {
    let mut files = super::files(&folder(), "entasis");
    files.extend(super::files(&tree_folder(), "entasis"));
    files.extend(small::all().into_iter().map(|small| small.bytes));
    let decode = |file: Vec<u8>| naive::decode(&file).ok().map(|decoded| (file, decoded));
    files.into_iter().filter_map(decode).collect()
}
