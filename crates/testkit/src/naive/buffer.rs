//! Compressed buffers, and the hash of a buffer.

use super::bytes::{Kind, Wrong, checksum, is_zero, known, range, rule, u16_at, u32_at, u64_at, wrong};
use super::payload::restored;

const MAGIC: [u8; 8] = [0x89, 0x45, 0x4E, 0x42, 0x0D, 0x0A, 0x1A, 0x0A];

/// The most bytes that a test decodes.
const TOO_MANY: u64 = 1 << 30;

/// The bytes of a compressed buffer (`docs/format/buffers.md`).
///
/// # Errors
/// The first rule that is broken.
pub fn decompress(container: &[u8]) -> Result<Vec<u8>, Wrong> {
    let seen = container.len().min(8);
    if container[..seen] != MAGIC[..seen] {
        return wrong(Kind::NotEntasis, "the magic of a compressed buffer");
    }
    let header = range(container, 0, 40)?;
    rule(checksum(&header[..32]) == u64_at(header, 32), "the checksum of the header")?;
    match u16_at(header, 8) {
        0 => return wrong(Kind::Corrupt, "version 0"),
        1 => {}
        _ => return wrong(Kind::Newer, "the version"),
    }
    let (codec, block_len, decoded_len) = (header[10], u64::from(u32_at(header, 12)), u64_at(header, 16));
    if codec != 1 && codec != 2 {
        return wrong(Kind::Unsupported, "the codec");
    }
    known(header[11] == 0, "the reserved byte")?;
    rule((1..=16_777_216).contains(&block_len), "block_len")?;

    let n_blocks = decoded_len.div_ceil(block_len);
    rule(n_blocks <= container.len() as u64 / 16, "the block table doesn't fit")?;
    let table = range(container, 40, 16 * n_blocks)?;
    rule(checksum(table) == u64_at(header, 24), "the checksum of the block table")?;
    let mut stored_at = 40 + 16 * n_blocks;
    let mut blocks = Vec::new();
    for (i, entry) in table.chunks_exact(16).enumerate() {
        let len = block_len.min(decoded_len - i as u64 * block_len);
        let stored_len = u64::from(u32_at(entry, 0));
        known(is_zero(&entry[4..8]), "reserved bytes of the block table")?;
        rule((1..=len).contains(&stored_len), "stored_len")?;
        rule(len <= stored_len * if codec == 1 { 255 } else { 32_768 }, "more than a codec can give")?;
        blocks.push((range(container, stored_at, stored_len)?, u64_at(entry, 8), len as usize));
        stored_at += stored_len;
    }
    rule(stored_at == container.len() as u64, "bytes after the last block")?;

    if decoded_len > TOO_MANY {
        return wrong(Kind::Limit, "too many bytes for a test");
    }
    let mut decoded = Vec::new();
    for (stored, sum, len) in blocks {
        rule(checksum(stored) == sum, "the checksum of a block")?;
        if stored.len() == len {
            decoded.extend_from_slice(stored);
            continue;
        }
        let block = restored(stored, len, codec)?;
        decoded.extend_from_slice(&block);
    }
    Ok(decoded)
}

/// The hash of a buffer (`docs/format/buffers.md`).
pub fn hash(buffer: &[u8], seed: u64) -> u64 {
    let h = |bytes: &[u8]| twox_hash::XxHash3_64::oneshot_with_seed(seed, bytes);
    if buffer.len() <= 1_048_576 {
        return h(buffer);
    }
    let mut hashes = Vec::new();
    for leaf in buffer.chunks(1_048_576) {
        hashes.extend_from_slice(&h(leaf).to_le_bytes());
    }
    hashes.extend_from_slice(&(buffer.len() as u64).to_le_bytes());
    h(&hashes)
}
