//! The first 256 bytes of a file (`docs/format/container.md`).

use crate::bytes::{Reader, put};
use crate::error::{Error, Result};
use crate::limits::{HEADER_LEN, SLOT_LEN};
use crate::other::other_format;
use crate::slot::{Slot, seal_holds, sealed};

/// The first bytes of every file.
pub const MAGIC: [u8; 8] = *b"\x89ENT\r\n\x1a\n";
/// Major version of this format.
pub const MAJOR: u16 = 0;
/// Minor version of this format.
pub const MINOR: u16 = 1;
/// Must-understand flag: the writer could not go back to the header, so the trailer is
/// authoritative.
pub const FLAG_STREAMED: u64 = 1;

/// The first 256 bytes of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// Major version.
    pub major: u16,
    /// Minor version.
    pub minor: u16,
    /// Flags that a reader has to understand.
    pub flags: u64,
    /// Flags that a reader may ignore.
    pub may_ignore: u64,
    /// The two newest generations, in no order.
    pub slots: [SlotState; 2],
}

/// The contents of a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlotState {
    /// All zero.
    Empty,
    /// A generation.
    Valid(Slot),
    /// The checksum does not match: a torn commit, or damage.
    Damaged,
}

impl Header {
    /// The header of a file that was written in one piece.
    pub const fn whole(slot: Slot) -> Self {
        Self::with(0, SlotState::Valid(slot))
    }

    /// The header of a file whose state is in its trailer.
    pub const fn streamed() -> Self {
        Self::with(FLAG_STREAMED, SlotState::Empty)
    }

    const fn with(flags: u64, first: SlotState) -> Self {
        Self { major: MAJOR, minor: MINOR, flags, may_ignore: 0, slots: [first, SlotState::Empty] }
    }

    /// Whether the state may be in the trailer.
    pub const fn is_streamed(&self) -> bool {
        self.flags & FLAG_STREAMED != 0
    }

    /// The place of slot 0 or 1 in the file.
    pub const fn slot_at(second: bool) -> u64 {
        if second { 128 } else { 64 }
    }

    /// The bytes of the header.
    pub fn emit(&self) -> [u8; HEADER_LEN] {
        let mut fields = Vec::with_capacity(SLOT_LEN);
        fields.extend_from_slice(&MAGIC);
        put!(fields, self.major, self.minor, 0u32, self.flags, self.may_ignore);
        let [first, second] = self.slots.map(SlotState::emit);
        let mut out = [0; HEADER_LEN];
        let parts = sealed(&fields).into_iter().chain(first).chain(second);
        for (to, from) in out.iter_mut().zip(parts) {
            *to = from;
        }
        out
    }

    /// Parses the header at the start of `bytes`, the first bytes of the file (256 are enough).
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        if !bytes.starts_with(&MAGIC) {
            return Err(match bytes {
                [] => Error::corrupt("the file is empty").at(0),
                _ if MAGIC.starts_with(bytes) => truncated(),
                _ => match other_format(bytes) {
                    Some(what) => Error::not_entasis(format!("it looks like {what}"))
                        .advise("read it with a library for that format, or check the path"),
                    None => Error::not_entasis("the file does not start like an Entasis file").at(0),
                },
            });
        }
        let Some((head, rest)) = bytes.split_first_chunk::<64>() else { return Err(truncated()) };
        let Some((first, rest)) = rest.split_first_chunk::<SLOT_LEN>() else { return Err(truncated()) };
        let Some((second, rest)) = rest.split_first_chunk::<SLOT_LEN>() else { return Err(truncated()) };
        let Some((padding, _)) = rest.split_first_chunk::<64>() else { return Err(truncated()) };
        if !seal_holds(head) {
            return Err(Error::corrupt("the checksum of the header does not match").at(0));
        }
        let mut reader = Reader::exact(head, 64, "the header")?;
        reader.array::<8>()?;
        let (major, minor) = (reader.u16()?, reader.u16()?);
        // The version comes first: a newer one may use the reserved bytes.
        if major > MAJOR {
            return Err(Error::newer(format!(
                "the file has format version {major}.{minor}, this release knows {MAJOR}.{MINOR}"
            )));
        }
        if minor != MINOR {
            return Err(Error::unsupported(format!(
                "the file has format version {major}.{minor}, this release reads only {MAJOR}.{MINOR}"
            ))
            .advise("use the version of Entasis that wrote it"));
        }
        let reserved = reader.u32()?;
        let (flags, may_ignore) = (reader.u64()?, reader.u64()?);
        if flags & !FLAG_STREAMED != 0 {
            return Err(Error::newer(format!("the file needs unknown features (flags {flags:#x})")));
        }
        if reserved != 0 {
            return Err(Error::corrupt("reserved bytes of the header are not zero").at(12));
        }
        reader.reserved::<24>().map_err(|error| error.at(32))?;
        if padding != &[0; 64] {
            return Err(Error::corrupt("reserved bytes of the header are not zero").at(192));
        }
        let slots = [SlotState::parse(first, 64)?, SlotState::parse(second, 128)?];
        Ok(Self { major, minor, flags, may_ignore, slots })
    }

    /// The current state of the file; none when it is in the trailer.
    pub fn current(&self) -> Result<Option<Slot>> {
        use SlotState::{Damaged, Empty, Valid};
        match self.slots {
            [Valid(first), Valid(second)] if first.generation == second.generation => {
                Err(Error::corrupt("both slots of the header have the same generation").at(64))
            }
            [Valid(first), Valid(second)] if second.generation > first.generation => Ok(Some(second)),
            [Valid(first), _] => Ok(Some(first)),
            [_, Valid(second)] => Ok(Some(second)),
            [Empty, Empty] if self.is_streamed() => Ok(None),
            [Empty, Empty] => {
                Err(Error::corrupt("the header names no generation: the file was not finished").at(64))
            }
            [Damaged, _] | [_, Damaged] => Err(Error::corrupt("no slot of the header is intact").at(64)),
        }
    }
}

impl SlotState {
    fn emit(self) -> [u8; SLOT_LEN] {
        match self {
            Self::Empty => [0; SLOT_LEN],
            Self::Valid(slot) => slot.emit(),
            // Bytes whose checksum does not match.
            Self::Damaged => [0xFF; SLOT_LEN],
        }
    }

    fn parse(bytes: &[u8; SLOT_LEN], at: u64) -> Result<Self> {
        if bytes == &[0; SLOT_LEN] {
            Ok(Self::Empty)
        } else if seal_holds(bytes) {
            // A matching checksum shows that the bytes are intact, so a broken rule is not a torn
            // commit.
            Slot::parse_sealed(bytes).map(Self::Valid).map_err(|error| error.at(at))
        } else {
            Ok(Self::Damaged)
        }
    }
}

fn truncated() -> Error {
    Error::corrupt("the file ends within its header: it is truncated").at(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::error::Kind;
    use crate::testing::flips;

    fn parse(bytes: &[u8]) -> Result<Header> {
        Header::parse(bytes)
    }

    fn slot(generation: u64) -> Slot {
        Slot { generation, root_at: 256, root_len: 64, end: 384, root_checksum: 7 }
    }

    #[test]
    fn layout() {
        let bytes = Header::whole(slot(1)).emit();
        assert_eq!(bytes[..12], *b"\x89ENT\r\n\x1a\n\0\0\x01\0");
        assert_eq!(
            bytes[64..104],
            [
                [1, 0, 0, 0, 0, 0, 0, 0],
                [0, 1, 0, 0, 0, 0, 0, 0],
                [64, 0, 0, 0, 0, 0, 0, 0],
                [128, 1, 0, 0, 0, 0, 0, 0],
                [7, 0, 0, 0, 0, 0, 0, 0]
            ]
            .concat()
        );
        assert_eq!(bytes[128..], [0; 128]);
        assert_eq!(Header::streamed().emit()[16], 1);
    }

    #[test]
    fn not_one_or_cut_off() {
        let bytes = Header::whole(slot(1)).emit();
        for len in 0..HEADER_LEN {
            assert_eq!(parse(&bytes[..len]).unwrap_err().kind(), Kind::Corrupt);
        }
        assert_eq!(parse(b"PAR1").unwrap_err().kind(), Kind::NotEntasis);
        assert_eq!(parse(&[0; 256]).unwrap_err().kind(), Kind::NotEntasis);
        assert!(parse(&[&bytes[..], b"more"].concat()).is_ok());
    }

    #[test]
    fn versions_and_flags() {
        let header = Header::whole(slot(1));
        let kind = |header: Header| parse(&header.emit()).unwrap_err().kind();
        assert_eq!(kind(Header { major: 1, ..header }), Kind::Newer);
        assert_eq!(kind(Header { minor: 2, ..header }), Kind::Unsupported);
        assert_eq!(kind(Header { flags: 2, ..header }), Kind::Newer);
        assert!(parse(&Header { may_ignore: u64::MAX, ..header }.emit()).is_ok());
    }

    #[test]
    fn current_generation() {
        use SlotState::{Damaged, Empty, Valid};
        let now = |slots, flags| Header { slots, flags, ..Header::streamed() }.current();
        let (one, two) = (Valid(slot(1)), Valid(slot(2)));
        assert_eq!(now([one, Empty], 0).unwrap(), Some(slot(1)));
        assert_eq!(now([one, two], 0).unwrap(), Some(slot(2)));
        assert_eq!(now([two, one], 0).unwrap(), Some(slot(2)));
        assert_eq!(now([Damaged, one], 0).unwrap(), Some(slot(1)));
        assert_eq!(now([Empty, one], 1).unwrap(), Some(slot(1)));
        assert_eq!(now([Empty, Empty], 1).unwrap(), None);
        for slots in [[one, one], [Empty, Empty], [Damaged, Empty], [Empty, Damaged], [Damaged, Damaged]] {
            assert_eq!(now(slots, 0).unwrap_err().kind(), Kind::Corrupt);
        }
        assert!(now([Damaged, Empty], 1).is_err());
    }

    #[test]
    fn slots_are_checked() {
        let kind = |slot| parse(&Header::whole(slot).emit()).map(|header| header.slots[0]);
        assert_eq!(kind(slot(1)).unwrap(), SlotState::Valid(slot(1)));
        for broken in [
            Slot { generation: 0, ..slot(1) },
            Slot { root_at: 255, ..slot(1) },
            Slot { root_at: 257, ..slot(1) },
            Slot { root_at: u64::MAX, ..slot(1) },
            Slot { root_len: 65, ..slot(1) },
            Slot { root_len: 63, ..slot(1) },
            Slot { root_len: 64 + 48 * 85, end: 1 << 40, ..slot(1) },
            Slot { end: 383, ..slot(1) },
            Slot { end: 0, ..slot(1) },
        ] {
            assert_eq!(kind(broken).unwrap_err().kind(), Kind::Corrupt);
        }
    }

    #[test]
    fn every_flipped_bit_is_seen() {
        let two = Header {
            slots: [SlotState::Valid(slot(3)), SlotState::Valid(slot(4))],
            ..Header::whole(slot(1))
        };
        for header in [Header::whole(slot(1)), Header::streamed(), two] {
            let truth = header.current().unwrap();
            for (bit, bytes) in flips(&header.emit()).enumerate() {
                // A damaged slot does not match its checksum; the file then has its other state, or
                // none.
                match parse(&bytes).and_then(|header| header.current()) {
                    Err(_) => {}
                    Ok(now) if now == truth => assert!((64..192).contains(&(bit / 8))),
                    Ok(now) => assert_eq!((header, now), (two, Some(slot(3)))),
                }
            }
        }
    }

    proptest! {
        #[test]
        fn round_trip(generation in 1u64.., root_at in 256u64..1 << 50, sections in 0u32..=84, more in 0u64..1 << 50,
                      root_checksum: u64, may_ignore: u64, streamed: bool, second in 0usize..3) {
            let root_len = 64 + 48 * sections;
            let end = root_at + u64::from(root_len) + 64 + more;
            let slot = Slot { generation, root_at, root_len, end, root_checksum };
            let second = [SlotState::Empty, SlotState::Damaged, SlotState::Valid(slot)][second];
            let slots = [SlotState::Valid(slot), second];
            let header = Header { may_ignore, flags: streamed.into(), slots, ..Header::streamed() };
            prop_assert_eq!(parse(&header.emit()).unwrap(), header);
        }

        #[test]
        fn any_bytes(mut bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse(&bytes);
            bytes.splice(..MAGIC.len().min(bytes.len()), MAGIC);
            let _ = parse(&bytes);
        }
    }
}
