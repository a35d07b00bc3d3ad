//! The last 64 bytes of a file (`docs/format/container.md`).

use crate::bytes::{Reader, put};
use crate::error::{Error, Result};
use crate::features::Version;
use crate::header::Header;
use crate::limits::{HEADER_LEN, Room, TRAILER_LEN};
use crate::slot::{Slot, seal_holds, sealed};

/// The first bytes of the trailer.
const MAGIC: [u8; 8] = *b"ENT\nend\n";

/// Repeats the slot at the end of the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trailer {
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
    /// The version of the header; 0.0 for a generation of 0.2.
    pub version: Version,
    /// The must-understand flags of the header; 0 for a generation of 0.2.
    pub flags: u64,
}

impl Trailer {
    /// The trailer of a generation that follows the rules of `version`, in a file with this header.
    pub fn new(slot: &Slot, header: &Header, version: Version) -> Self {
        let &Slot { generation, root_at, root_len, end, root_checksum, .. } = slot;
        let (version, flags) =
            if version > Version::OLDEST { (header.version, header.flags) } else { Default::default() };
        Self { generation, root_at, root_len, end, root_checksum, version, flags }
    }

    /// The slot that the trailer repeats.
    pub const fn slot(&self) -> Slot {
        let &Self { generation, root_at, root_len, end, root_checksum, .. } = self;
        Slot { generation, root_at, root_len, end, root_checksum, not_synced: false }
    }

    /// Checks that the trailer can be the last bytes of a file with this room.
    ///
    /// # Errors
    /// *Corrupt*.
    pub fn check(&self, room: Room) -> Result<()> {
        if self.end != room.end {
            return Err(Error::corrupt("the trailer is that of a file of another length"));
        }
        self.slot().check(room.start)
    }

    /// The bytes of the trailer.
    pub fn emit(&self) -> [u8; TRAILER_LEN] {
        let mut fields = Vec::with_capacity(TRAILER_LEN);
        fields.extend_from_slice(&MAGIC);
        put!(fields, self.generation, self.root_at, self.root_len, self.version.major, self.version.minor);
        put!(fields, self.end, self.root_checksum, self.flags);
        sealed(&fields)
    }

    /// The trailer in exactly these 64 bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let Ok(bytes) = <&[u8; TRAILER_LEN]>::try_from(bytes) else {
            return Err(Error::corrupt("the file is too short for a trailer: it is truncated"));
        };
        if !bytes.starts_with(&MAGIC) {
            return Err(Error::corrupt(
                "the file does not end with a trailer: it is truncated, or was not finished",
            ));
        }
        if !seal_holds(bytes) {
            return Err(Error::corrupt("the checksum of the trailer does not match"));
        }
        let mut reader = Reader::exact(bytes, TRAILER_LEN, "the trailer")?;
        reader.array::<8>()?;
        let (generation, root_at, root_len) = (reader.u64()?, reader.u64()?, reader.u32()?);
        let version = Version { major: reader.u16()?, minor: reader.u16()? };
        let (end, root_checksum, flags) = (reader.u64()?, reader.u64()?, reader.u64()?);
        let trailer = Self { generation, root_at, root_len, end, root_checksum, version, flags };
        trailer.slot().check(HEADER_LEN as u64)?;
        Ok(trailer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::SLOT_PAGES_END;
    use crate::testing::flips;

    const SLOT: Slot =
        Slot { generation: 5, root_at: 1000, root_len: 208, end: 1272, root_checksum: 99, not_synced: false };

    #[test]
    fn round_trip_and_damage() {
        let trailer = Trailer::new(&SLOT, &Header::whole(SLOT, SLOT_PAGES_END), Version::CURRENT);
        let bytes = trailer.emit();
        assert_eq!(Trailer::parse(&bytes).unwrap(), trailer);
        assert_eq!(trailer.slot(), SLOT);
        for flipped in flips(&bytes) {
            assert!(Trailer::parse(&flipped).is_err());
        }
        for len in 0..TRAILER_LEN {
            assert!(Trailer::parse(&bytes[..len]).is_err());
        }
        assert!(Trailer::parse(&[&bytes[..], &[0]].concat()).is_err());
        assert!(Trailer::parse(&Trailer { generation: 0, ..trailer }.emit()).is_err());
        for end in [1175, 1271, 1273, 1336] {
            assert!(Trailer::parse(&Trailer { end, ..trailer }.emit()).is_err());
        }
        assert!(Trailer::parse(&SLOT.emit()).is_err());
    }

    #[test]
    fn version_and_flags_repeat_the_header() {
        let header = Header::whole(SLOT, SLOT_PAGES_END);
        let bytes = Trailer::new(&SLOT, &header, Version::CURRENT).emit();
        assert_eq!((&bytes[28..32], bytes[48]), (&[0, 0, 3, 0][..], 2));
        let bytes = Trailer::new(&SLOT, &header, Version::OLDEST).emit();
        assert!(bytes[28..32].iter().chain(&bytes[48..56]).all(|byte| *byte == 0));
    }
}
