//! The first 256 bytes of a file (section 1.1).

use crate::bytes::{Reader, put};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::slot::{SLOT_LEN, Slot, seal_holds, sealed};

/// Bytes of the header.
pub const HEADER_LEN: usize = 256;
/// The first bytes of every file.
pub const MAGIC: [u8; 8] = *b"\x89ENT\r\n\x1a\n";
/// Major version of this format.
pub const MAJOR: u16 = 0;
/// Minor version of this format.
pub const MINOR: u16 = 1;
/// Must-understand flag: the file was written without a way back to its header.
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

/// What stands in a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlotState {
    /// All zero.
    Empty,
    /// A generation.
    Valid(Slot),
    /// Its checksum does not hold: a torn commit, or damage.
    Damaged,
}

impl Header {
    /// The header of a file written whole.
    pub const fn whole(slot: Slot) -> Self {
        Self::with(0, SlotState::Valid(slot))
    }

    /// The header of a file whose trailer tells its state.
    pub const fn streamed() -> Self {
        Self::with(FLAG_STREAMED, SlotState::Empty)
    }

    const fn with(flags: u64, first: SlotState) -> Self {
        Self { major: MAJOR, minor: MINOR, flags, may_ignore: 0, slots: [first, SlotState::Empty] }
    }

    /// Whether the trailer may be the truth.
    pub const fn is_streamed(&self) -> bool {
        self.flags & FLAG_STREAMED != 0
    }

    /// Where slot 0 or 1 stands in the file.
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

    /// The header at the start of these bytes (as many of the file's first bytes as there are, 256 are enough).
    pub fn parse(bytes: &[u8], _limits: &Limits) -> Result<Self> {
        if !bytes.starts_with(&MAGIC) {
            return Err(match bytes {
                [] => Error::corrupt("the file is empty").at(0),
                _ if MAGIC.starts_with(bytes) => truncated(),
                _ => Error::not_entasis("the file does not start with the bytes of one").at(0),
            });
        }
        let Some((head, rest)) = bytes.split_first_chunk::<64>() else { return Err(truncated()) };
        let Some((first, rest)) = rest.split_first_chunk::<SLOT_LEN>() else { return Err(truncated()) };
        let Some((second, rest)) = rest.split_first_chunk::<SLOT_LEN>() else { return Err(truncated()) };
        let Some((padding, _)) = rest.split_first_chunk::<64>() else { return Err(truncated()) };
        if !seal_holds(head) {
            return Err(Error::corrupt("checksum of the header does not match").at(0));
        }
        let mut reader = Reader::exact(head, 64, "the header")?;
        reader.array::<8>()?;
        let (major, minor) = (reader.u16()?, reader.u16()?);
        // The version comes before all else: a newer one may have given the reserved bytes a meaning.
        if major > MAJOR {
            return Err(Error::newer(format!(
                "the file has format version {major}.{minor}, known are {MAJOR}.{MINOR}"
            )));
        }
        if minor != MINOR {
            return Err(Error::unsupported(format!(
                "the file has format version {major}.{minor}, only {MAJOR}.{MINOR} can be read"
            ))
            .advise("use the version of Entasis that wrote it"));
        }
        let reserved = reader.u32()?;
        let (flags, may_ignore) = (reader.u64()?, reader.u64()?);
        if flags & !FLAG_STREAMED != 0 {
            return Err(Error::newer(format!(
                "the file needs features that are not known here (flags {flags:#x})"
            )));
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

    /// The state of the file; none when the trailer tells it.
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
            [Damaged, _] | [_, Damaged] => Err(Error::corrupt("no slot of the header holds").at(64)),
        }
    }
}

impl SlotState {
    fn emit(self) -> [u8; SLOT_LEN] {
        match self {
            Self::Empty => [0; SLOT_LEN],
            Self::Valid(slot) => slot.emit(),
            // Bytes whose checksum does not hold.
            Self::Damaged => [0xFF; SLOT_LEN],
        }
    }

    fn parse(bytes: &[u8; SLOT_LEN], at: u64) -> Result<Self> {
        if bytes == &[0; SLOT_LEN] {
            Ok(Self::Empty)
        } else if seal_holds(bytes) {
            // A checksum that holds means that these bytes were meant: what breaks a rule here is no torn commit.
            Slot::parse_sealed(bytes).map(Self::Valid).map_err(|error| error.at(at))
        } else {
            Ok(Self::Damaged)
        }
    }
}

fn truncated() -> Error {
    Error::corrupt("the file ends within its header: it is truncated").at(0)
}
