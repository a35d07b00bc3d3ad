//! A slot: one generation of the file (`docs/format/container.md`).

use crate::bytes::{Reader, put};
use crate::checksum::checksum;
use crate::error::{Error, Result};
use crate::limits::{HEADER_LEN, SLOT_LEN, TRAILER_LEN, is_root_len};

/// One generation: its root, and the length of the file at that time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot {
    /// From 1.
    pub generation: u64,
    /// Offset of the root.
    pub root_at: u64,
    /// Bytes of the root.
    pub root_len: u32,
    /// Length of the file.
    pub end: u64,
    /// Checksum of the root.
    pub root_checksum: u64,
    /// Whether the bytes of the generation may not be on the medium.
    pub not_synced: bool,
}

impl Slot {
    /// The bytes of the slot.
    pub fn emit(&self) -> [u8; SLOT_LEN] {
        let mut fields = Vec::with_capacity(SLOT_LEN);
        let flags = u32::from(self.not_synced);
        put!(fields, self.generation, self.root_at, self.root_len, flags, self.end, self.root_checksum);
        sealed(&fields)
    }

    /// Parses a slot whose checksum was verified.
    pub(crate) fn parse_sealed(bytes: &[u8; SLOT_LEN]) -> Result<Self> {
        let mut reader = Reader::exact(bytes, SLOT_LEN, "a slot")?;
        let (generation, root_at, root_len) = (reader.u64()?, reader.u64()?, reader.u32()?);
        let flags = reader.u32()?;
        let (end, root_checksum) = (reader.u64()?, reader.u64()?);
        reader.reserved::<16>()?;
        if flags > 1 {
            return Err(Error::newer(format!("a slot needs unknown features (flags {flags:#x})")));
        }
        let slot = Self { generation, root_at, root_len, end, root_checksum, not_synced: flags == 1 };
        slot.check(HEADER_LEN as u64)?;
        Ok(slot)
    }

    /// The rules that slots and trailers share. The room of the file starts at `start`.
    pub(crate) fn check(&self, start: u64) -> Result<()> {
        if self.generation == 0 {
            return Err(Error::corrupt("the generation is 0"));
        }
        if !is_root_len(self.root_len) {
            return Err(Error::corrupt("the length of the root is impossible"));
        }
        // The root ends where its trailer begins, and the trailer ends the generation.
        let end = self.root_at.checked_add(u64::from(self.root_len) + TRAILER_LEN as u64);
        if self.root_at < start || end != Some(self.end) {
            return Err(Error::corrupt("the root is not right before the trailer"));
        }
        Ok(())
    }
}

/// The fields of a slot, header or trailer, with zeros up to the checksum at the end.
pub(crate) fn sealed(fields: &[u8]) -> [u8; 64] {
    let mut out = [0; 64];
    for (to, from) in out.iter_mut().take(56).zip(fields) {
        *to = *from;
    }
    let sum = checksum(out.first_chunk::<56>().map_or(&[], |body| body)).to_le_bytes();
    for (to, from) in out.iter_mut().skip(56).zip(sum) {
        *to = from;
    }
    out
}

/// Whether the checksum at the end of 64 bytes matches.
pub(crate) fn seal_holds(bytes: &[u8; 64]) -> bool {
    match (bytes.first_chunk::<56>(), bytes.last_chunk::<8>()) {
        (Some(body), Some(sum)) => checksum(body) == u64::from_le_bytes(*sum),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_bytes() {
        let slot = Slot {
            generation: 1,
            root_at: 256,
            root_len: 160,
            end: 480,
            root_checksum: 7,
            not_synced: false,
        };
        let unsynced = Slot { not_synced: true, ..slot };
        assert_eq!(Slot::parse_sealed(&slot.emit()).unwrap(), slot);
        assert_eq!(Slot::parse_sealed(&unsynced.emit()).unwrap(), unsynced);
        for at in [20, 23, 40, 55] {
            let mut bytes = slot.emit();
            bytes[at] = 2;
            assert!(!seal_holds(&bytes));
            let bytes = sealed(&bytes[..56]);
            assert!(seal_holds(&bytes));
            assert!(Slot::parse_sealed(&bytes).is_err());
        }
    }
}
