//! Compressed buffers, of any bytes.

use entasis::buffers::{self, Options};
use entasis::{Codec, Kind, Silent, checksum};

use crate::golden::buffer_folder;
use crate::memory;
use crate::naive::buffer;
use crate::naive::bytes::{u32_at, u64_at};
use crate::probe::is_fit;

/// The most decoded bytes of an input.
const MOST: u64 = 8 << 20;

/// Decodes a container as it is and with its checksums repaired. Then compresses and decompresses
/// the bytes themselves.
///
/// # Panics
/// When a promise is broken.
pub fn run(bytes: &[u8]) {
    survive(bytes);
    let mut repaired = bytes.to_vec();
    repair(&mut repaired);
    survive(&repaired);
    let codec = if bytes.len().is_multiple_of(2) { Codec::Lz4 } else { Codec::Zstd };
    let block_len = bytes.first().map(|&byte| 1 + 16 * u32::from(byte));
    let options = Options { block_len, ..Options::new(codec) };
    let compressed = buffers::compress(bytes.into(), &options, Some(1), &Silent);
    let container = compressed.and_then(|compressed| compressed.into_vec(Some(1), &Silent));
    match container {
        Ok(container) => assert!(survive(&container).as_deref() == Some(bytes), "bytes come back"),
        Err(error) => panic!("{error}"),
    }
}

/// Decodes a container: data, or an error of a fitting kind where the naive decoder gives one too.
///
/// # Panics
/// When a promise is broken.
pub fn survive(container: &[u8]) -> Option<Vec<u8>> {
    let decode = || buffers::decompress(container.into(), Some(MOST), Some(1), &Silent);
    let (decoded, used) = memory::peak(|| decode().map(|buffer| buffer.to_vec()));
    let len = decoded.as_ref().map_or(MOST as usize, Vec::len);
    let most = (2 << 20) + 64 * container.len() + 4 * len;
    assert!(used <= most, "{len} decoded bytes took {used} bytes");
    match decoded {
        Ok(decoded) => {
            let is_same = buffer::decompress(container).is_ok_and(|naive| naive == decoded);
            assert!(is_same, "the naive decoder gives other bytes");
            Some(decoded)
        }
        Err(error) => {
            assert!(is_fit(&error), "{error}");
            assert!(error.kind() == Kind::NotEntasis || error.location().at.is_some(), "{error}");
            let is_refused = matches!(error.kind(), Kind::Limit | Kind::OutOfMemory)
                || buffer::decompress(container).is_err();
            assert!(is_refused, "only the core refuses: {error}");
            None
        }
    }
}

/// Repairs the checksums of header and table, and of the blocks when the table still fits.
pub fn repair(container: &mut [u8]) {
    if container.len() < 40 {
        return;
    }
    let (block_len, decoded_len) = (u64::from(u32_at(container, 12)), u64_at(container, 16));
    let n_blocks = decoded_len.div_ceil(block_len.max(1)).min(container.len() as u64) as usize;
    let end = 40 + 16 * n_blocks;
    if end <= container.len() {
        let mut at = end;
        for entry in (40..end).step_by(16) {
            let len = u32_at(container, entry) as usize;
            let Some(stored) = container.get(at..at + len) else { break };
            let sum = checksum(stored);
            container[entry + 8..entry + 16].copy_from_slice(&sum.to_le_bytes());
            at += len;
        }
        let sum = checksum(&container[40..end]);
        container[24..32].copy_from_slice(&sum.to_le_bytes());
    }
    let sum = checksum(&container[..32]);
    container[32..40].copy_from_slice(&sum.to_le_bytes());
}

/// The golden containers.
pub fn seeds() -> Vec<Vec<u8>> {
    super::files(&buffer_folder(), "enb")
}
