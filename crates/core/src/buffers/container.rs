//! The container of a compressed buffer (`docs/format/buffers.md`): header, block table, blocks.

use entasis_format::{Codec, Error, Result, checksum, fallible};

use super::Input;

/// The first bytes of a container.
const MAGIC: [u8; 8] = *b"\x89ENB\r\n\x1a\n";
/// The first bytes of an Entasis file. A caller who passes one gets an error that explains it.
const FILE_MAGIC: [u8; 8] = *b"\x89ENT\r\n\x1a\n";
const VERSION: u16 = 1;

/// Bytes of the header.
pub(super) const HEADER_LEN: usize = 40;
/// Bytes of an entry of the block table.
pub(super) const ENTRY_LEN: usize = 16;
/// The most decoded bytes of a block.
pub const MAX_BLOCK_LEN: u32 = 16 << 20;

/// The fields of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub codec: Codec,
    /// Decoded bytes of every block but the last.
    pub block_len: u32,
    /// Decoded bytes of all blocks.
    pub decoded_len: u64,
}

/// The offset of a block's stored bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub at: usize,
    pub stored_len: usize,
    pub checksum: u64,
}

/// The error for damage.
#[cold]
pub(super) fn damaged(message: &'static str) -> Error {
    Error::corrupt(message).advise("compress the data again")
}

/// The error for reserved bytes that are not zero under a checksum that holds.
fn unknown(of: &str) -> Error {
    let message = format!("reserved bytes of {of} are not zero: this release does not know what they mean");
    Error::unsupported(message).advise("update Entasis")
}

impl Header {
    /// The number of blocks.
    pub fn n_blocks(&self) -> u64 {
        self.decoded_len.div_ceil(u64::from(self.block_len))
    }

    /// Decoded bytes of a block.
    fn len_of(&self, block: u64) -> u64 {
        let block_len = u64::from(self.block_len);
        self.decoded_len.saturating_sub(block * block_len).min(block_len)
    }

    /// Appends header and block table.
    pub fn emit(&self, blocks: impl Iterator<Item = (usize, u64)>, out: &mut Vec<u8>) {
        let start = out.len();
        out.resize(start + HEADER_LEN, 0);
        for (stored_len, checksum) in blocks {
            // A stored block is never longer than a decoded one.
            out.extend_from_slice(&(stored_len as u32).to_le_bytes());
            out.extend_from_slice(&[0; 4]);
            out.extend_from_slice(&checksum.to_le_bytes());
        }
        let table = checksum(&out[start + HEADER_LEN..]);
        let header = &mut out[start..start + HEADER_LEN];
        header[..8].copy_from_slice(&MAGIC);
        header[8..10].copy_from_slice(&VERSION.to_le_bytes());
        header[10] = self.codec.code();
        header[12..16].copy_from_slice(&self.block_len.to_le_bytes());
        header[16..24].copy_from_slice(&self.decoded_len.to_le_bytes());
        header[24..32].copy_from_slice(&table.to_le_bytes());
        let sum = checksum(&header[..32]);
        header[32..].copy_from_slice(&sum.to_le_bytes());
    }

    /// Parses the header at the start of `input`. Also returns the checksum of its block table.
    pub fn parse(input: Input<'_>) -> Result<(Self, u64)> {
        let mut bytes = [0; HEADER_LEN];
        let n = input.len().min(HEADER_LEN);
        if !input.copy_to(0, &mut bytes[..n]) || bytes[..n.min(8)] != MAGIC[..n.min(8)] {
            let advice = if bytes[..8] == FILE_MAGIC {
                "read it with `read`"
            } else {
                "pass the result of `compress`"
            };
            return Err(Error::not_entasis("the bytes are not a compressed buffer").at(0).advise(advice));
        }
        if n < HEADER_LEN {
            return Err(damaged("the bytes end in the header: they are truncated").at(n as u64));
        }
        if checksum(&bytes[..32]) != u64_at(&bytes, 32) {
            return Err(damaged("the checksum of the header does not match").at(32));
        }
        let version = u16::from_le_bytes([bytes[8], bytes[9]]);
        match version {
            VERSION => {}
            0 => return Err(damaged("there is no version 0").at(8)),
            _ => {
                let message = format!(
                    "the compressed buffer has version {version}; this release knows version {VERSION}"
                );
                return Err(Error::newer(message).at(8));
            }
        }
        let codec = match Codec::from_code(bytes[10]) {
            Some(codec) if codec != Codec::None => codec,
            _ => return Err(Error::unsupported(format!("codec {} is not known", bytes[10])).at(10)),
        };
        if bytes[11] != 0 {
            return Err(unknown("the header").at(11));
        }
        let block_len = u32::from_le_bytes([bytes[12], bytes[13], bytes[14], bytes[15]]);
        if !(1..=MAX_BLOCK_LEN).contains(&block_len) {
            return Err(damaged("a block has 1 to 16,777,216 bytes").at(12));
        }
        Ok((Self { codec, block_len, decoded_len: u64_at(&bytes, 16) }, u64_at(&bytes, 24)))
    }

    /// Parses the block table. The blocks must fill all bytes after the table.
    pub fn parse_table(&self, input: Input<'_>, table_sum: u64) -> Result<Vec<Entry>> {
        let left = input.len() - HEADER_LEN;
        let table_len = usize::try_from(self.n_blocks()).ok().and_then(|n| n.checked_mul(ENTRY_LEN));
        let Some(table_len) = table_len.filter(|&table_len| table_len <= left) else {
            return Err(damaged("the bytes end in the block table: they are truncated").at(HEADER_LEN as u64));
        };
        let mut scratch = Vec::new();
        let table = input.part(HEADER_LEN, table_len, &mut scratch);
        let table = table?;
        if checksum(table) != table_sum {
            return Err(damaged("the checksum of the block table does not match").at(24));
        }
        let mut at = HEADER_LEN + table_len;
        let mut entries = fallible::with_capacity(table.len() / ENTRY_LEN, "the block table")?;
        for (block, entry) in (0u64..).zip(table.as_chunks::<ENTRY_LEN>().0) {
            let here = (HEADER_LEN as u64) + block * ENTRY_LEN as u64;
            let stored_len = u64_at(entry, 0) & 0xFFFF_FFFF;
            let len = self.len_of(block);
            if u64_at(entry, 0) >> 32 != 0 {
                return Err(unknown("the block table").in_block(block).at(here));
            }
            if stored_len == 0 || stored_len > len || stored_len.saturating_mul(most_from(self.codec)) < len {
                return Err(damaged("the stored length of a block is impossible").in_block(block).at(here));
            }
            let stored_len = stored_len as usize;
            if stored_len > input.len() - at {
                return Err(damaged("the bytes end in a block: they are truncated")
                    .in_block(block)
                    .at(at as u64));
            }
            entries.push(Entry { at, stored_len, checksum: u64_at(entry, 8) });
            at += stored_len;
        }
        if at == input.len() {
            Ok(entries)
        } else {
            Err(damaged("there are bytes after the last block").at(at as u64))
        }
    }
}

/// The most bytes that a codec decodes from one stored byte. Limits the memory for a short
/// container.
fn most_from(codec: Codec) -> u64 {
    match codec {
        Codec::None => 1,
        // One more byte makes a match 255 bytes longer.
        Codec::Lz4 => 255,
        // Each 128 KiB need a header of three bytes and at least one more byte.
        Codec::Zstd => 32_768,
    }
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
}
