//! qs2 and qdata: blocks of Zstandard with a hash over all of them.

mod blocks;
mod qdata;

use std::hash::Hasher;

use entasis::{Error, Monitor, Result};
use twox_hash::XxHash3_64;

use self::blocks::Blocks;
use crate::bytes::Bytes;
use crate::input::Input;
use crate::r::Values;
use crate::rds;

/// The length of the header.
const HEADER_LEN: usize = 24;
/// The first bytes of each format.
pub(crate) const QS2: [u8; 4] = [0x0B, 0x0E, 0x0A, 0xC1];
pub(crate) const QDATA: [u8; 4] = [0x0B, 0x0E, 0x0A, 0xCD];
pub(crate) const LEGACY: [u8; 4] = [0x0B, 0x0E, 0x0A, 0x0C];

/// The bytes of a file that are hashed at once.
const PIECE: u64 = 1 << 20;

/// Reads the value of a file in qs2 or qdata format.
pub(crate) fn read(
    bytes: Bytes<'_>,
    threads: usize,
    max_bytes: Option<u64>,
    monitor: &dyn Monitor,
) -> Result<Values> {
    let start = bytes.slice(0, bytes.len().min(HEADER_LEN as u64))?;
    if start.starts_with(&LEGACY) {
        return Err(Error::unsupported("the old format of the package qs")
            .advise("read it with qs::qread in R and save it with qs2::qs_save or saveRDS"));
    }
    let Some(header) = start.first_chunk::<HEADER_LEN>() else {
        return Err(Error::corrupt("the file ends in the middle of its header").at(0));
    };
    let [magic @ .., version, codec, order, _has_shuffled, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _] =
        *header;
    if version != 1 || codec != 1 {
        return Err(Error::unsupported(format!("version {version} of qs2 with compression {codec}")));
    }
    if order != 1 && order != 2 || magic != QS2 && magic != QDATA {
        return Err(Error::corrupt("the header is not valid").at(0));
    }
    if order == 1 {
        return Err(Error::unsupported("a file of a big-endian machine").advise("save it with saveRDS"));
    }
    let hash = header.last_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    if hash != 0 && hash != hash_of(bytes, monitor)? {
        return Err(Error::corrupt("the hash of the file does not match its bytes"));
    }
    let blocks = Blocks::new(bytes, HEADER_LEN as u64, threads, max_bytes);
    let input = Input::of_decoder(Box::new(blocks), monitor);
    if magic == QDATA { qdata::read(input) } else { rds::read(input, false, max_bytes) }
}

/// The hash of all bytes after the header.
fn hash_of(bytes: Bytes<'_>, monitor: &dyn Monitor) -> Result<u64> {
    let (mut hasher, mut buffer, mut at) = (XxHash3_64::new(), Vec::new(), HEADER_LEN as u64);
    while at < bytes.len() {
        let len = PIECE.min(bytes.len() - at);
        hasher.write(bytes.read(at, len, &mut buffer)?);
        at += len;
        if monitor.interrupted() {
            return Err(Error::interrupted());
        }
    }
    Ok(hasher.finish())
}

#[cfg(test)]
mod tests {
    use entasis::{MemorySource, Silent};

    use super::*;

    /// Reads the same from memory and by positioned reads.
    fn both(bytes: &[u8]) -> Result<Values> {
        let of_memory = read(Bytes::Memory(bytes), 2, Some(16 << 20), &Silent);
        let source = MemorySource::new(bytes.to_vec());
        let of_source = read(Bytes::Source(&source), 2, Some(16 << 20), &Silent);
        match (&of_memory, &of_source) {
            (Ok(one), Ok(other)) => assert_eq!(format!("{:?}", one.value), format!("{:?}", other.value)),
            (Err(one), Err(other)) => assert_eq!(one.to_string(), other.to_string()),
            (one, other) => panic!("{one:?} and {other:?}"),
        }
        of_memory
    }

    #[test]
    fn positioned_reads_give_what_memory_gives() {
        let values = include_bytes!("../tests/data/values.qs2").to_vec();
        let table = include_bytes!("../tests/data/table.qdata").to_vec();
        for mut bytes in [values, table] {
            both(&bytes).unwrap();
            let wrong = bytes.len() - 1;
            bytes[wrong] ^= 1;
            assert!(both(&bytes).unwrap_err().to_string().contains("hash"));
            bytes[wrong] ^= 1;
            bytes[16..24].fill(0);
            both(&bytes).unwrap();
            for end in (0..bytes.len()).step_by(bytes.len() / 50) {
                assert!(both(&bytes[..end]).is_err(), "{end}");
            }
            for at in (0..bytes.len()).step_by(bytes.len() / 200) {
                bytes[at] ^= 1 << (at % 8);
                let _ = both(&bytes);
                bytes[at] ^= 1 << (at % 8);
            }
        }
    }
}
