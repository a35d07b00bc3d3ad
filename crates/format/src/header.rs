//! The first 256 bytes of a file (`docs/format/container.md`).

use std::ops::RangeInclusive;

use crate::bytes::{Reader, put};
use crate::error::{Error, Result};
use crate::features::Version;
use crate::limits::{HEADER_LEN, KEY_PAGES_END, SLOT_LEN, SLOT_OFFSETS, SLOT_PAGES_END};
use crate::other::other_format;
use crate::slot::{Slot, seal_holds, sealed};

/// The first bytes of every file.
pub const MAGIC: [u8; 8] = *b"\x89ENT\r\n\x1a\n";
/// Must-understand flag: the writer could not go back to the header, so the first slot is empty and
/// the trailer names the state.
pub const FLAG_STREAMED: u64 = 1;
/// Must-understand flag: the file has pages for slots A and B.
pub const FLAG_SLOT_PAGES: u64 = 2;
/// Must-understand flag: the file is encrypted (`docs/format/encryption.md`).
pub const FLAG_SEALED: u64 = 4;

/// The first 256 bytes of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// The version with which the file began.
    pub version: Version,
    /// Flags that a reader has to understand.
    pub flags: u64,
    /// Flags that a reader may ignore.
    pub may_ignore: u64,
    /// The generation that was written with the file.
    pub first: SlotState,
}

/// Generations of trailers.
const ALL: RangeInclusive<u64> = 1..=u64::MAX;

/// Where the current state of a file is: the trailer, if there is a reason to look at it, then the
/// slots in order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Order {
    /// The trailer counts if its generation is among these and its root is intact.
    pub trailer: Option<RangeInclusive<u64>>,
    /// The slots. If the first of them was not synced and its root is not intact, the second one
    /// counts.
    pub slots: Vec<Slot>,
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
    /// The header of a file that was written in one piece, whose room begins at `start`: after the
    /// header, after slot pages, or after the key pages of a sealed file.
    pub const fn whole(slot: Slot, start: u64) -> Self {
        let flags = match start {
            KEY_PAGES_END => FLAG_SLOT_PAGES | FLAG_SEALED,
            SLOT_PAGES_END => FLAG_SLOT_PAGES,
            _ => 0,
        };
        Self::with(flags, SlotState::Valid(slot))
    }

    /// The header of a file whose first state is in its trailer.
    pub const fn streamed() -> Self {
        Self::with(FLAG_STREAMED | FLAG_SLOT_PAGES, SlotState::Empty)
    }

    const fn with(flags: u64, first: SlotState) -> Self {
        let version = if flags & FLAG_SEALED == 0 { Version::CURRENT } else { Version::SEALED };
        Self { version, flags, may_ignore: 0, first }
    }

    /// Whether the first bytes of a file are the header of a sealed file. Its slots have to be
    /// opened before the header is parsed.
    pub fn is_of_sealed(bytes: &[u8]) -> bool {
        let Some(head) = bytes.first_chunk::<64>() else { return false };
        let flags = head[16..].first_chunk().map_or(0, |flags| u64::from_le_bytes(*flags));
        let kind = flags & (FLAG_SEALED | FLAG_STREAMED | FLAG_SLOT_PAGES);
        bytes.starts_with(&MAGIC) && kind == FLAG_SEALED | FLAG_SLOT_PAGES && seal_holds(head)
    }

    /// Checks that this release knows all features of a sealed file. `bytes` are its stored ones.
    ///
    /// # Errors
    /// *Newer*.
    pub fn check_sealed(bytes: &[u8]) -> Result<()> {
        let mut reader = Reader::exact(bytes.get(..64).unwrap_or(bytes), 64, "the header")?;
        reader.array::<8>()?;
        let version = Version { major: reader.u16()?, minor: reader.u16()? };
        reader.u32()?;
        check_flags(reader.u64()?, version)
    }

    /// Whether the file is encrypted.
    pub const fn is_sealed(&self) -> bool {
        self.flags & FLAG_SEALED != 0
    }

    /// The header of the same state without encryption, for its bytes in memory.
    #[must_use]
    pub const fn unsealed(self) -> Self {
        Self { flags: self.flags & !FLAG_SEALED, ..self }
    }

    /// Whether the file has pages for slots A and B.
    pub const fn has_slot_pages(&self) -> bool {
        self.flags & FLAG_SLOT_PAGES != 0
    }

    /// Where the room of the file starts.
    pub const fn room_start(&self) -> u64 {
        match self.has_slot_pages() {
            true if self.is_sealed() => KEY_PAGES_END,
            true => SLOT_PAGES_END,
            false => HEADER_LEN as u64,
        }
    }

    /// Whether the state may be in the trailer.
    pub const fn is_streamed(&self) -> bool {
        self.flags & FLAG_STREAMED != 0
    }

    /// The offset of the first slot.
    pub const FIRST_AT: u64 = 64;

    /// The bytes of the header.
    pub fn emit(&self) -> [u8; HEADER_LEN] {
        let mut fields = Vec::with_capacity(SLOT_LEN);
        fields.extend_from_slice(&MAGIC);
        put!(fields, self.version.major, self.version.minor, 0u32, self.flags, self.may_ignore);
        let mut out = [0; HEADER_LEN];
        let parts = sealed(&fields).into_iter().chain(self.first.emit());
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
        let Some((padding, _)) = rest.split_first_chunk::<128>() else { return Err(truncated()) };
        if !seal_holds(head) {
            return Err(Error::corrupt("the checksum of the header does not match").at(0));
        }
        let mut reader = Reader::exact(head, 64, "the header")?;
        reader.array::<8>()?;
        let version = Version { major: reader.u16()?, minor: reader.u16()? };
        if version < Version::OLDEST {
            return Err(Error::unsupported(format!(
                "the file has format version {version}, this release reads files from {} on",
                Version::OLDEST
            ))
            .advise("use the version of Entasis that wrote it"));
        }
        let reserved = reader.reserved::<4>();
        let (flags, may_ignore) = (reader.u64()?, reader.u64()?);
        check_flags(flags, version)?;
        if flags & FLAG_SEALED != 0 && flags & (FLAG_STREAMED | FLAG_SLOT_PAGES) != FLAG_SLOT_PAGES {
            return Err(Error::corrupt("an encrypted file has impossible flags").at(16));
        }
        reserved.map_err(|error| error.at(12))?;
        reader.reserved::<24>().map_err(|error| error.at(32))?;
        if padding != &[0; 128] {
            return Err(Error::corrupt("reserved bytes of the header are not zero").at(128));
        }
        let first = SlotState::parse(first, Self::FIRST_AT)?;
        let header = Self { version, flags, may_ignore, first };
        if let SlotState::Valid(slot) = first {
            slot.check(header.room_start()).map_err(|error| error.at(Self::FIRST_AT))?;
        }
        Ok(header)
    }

    /// Where the current state is, in a file with these slots A and B (empty ones without slot
    /// pages).
    ///
    /// # Errors
    /// *Corrupt* when no slot and no trailer can name it.
    pub fn order(&self, pages: [SlotState; 2]) -> Result<Order> {
        use SlotState::{Damaged, Empty, Valid};
        let first = if let Valid(slot) = self.first { Some(slot) } else { None };
        let mut order = Order::default();
        match pages {
            [Empty, Empty] => match self.first {
                Valid(slot) => order.slots.push(slot),
                Empty if self.is_streamed() => order.trailer = Some(ALL),
                Empty => {
                    let message = "the header names no generation: the file was not finished";
                    return Err(Error::corrupt(message).at(Self::FIRST_AT));
                }
                Damaged => return Err(Error::corrupt("no slot is intact").at(Self::FIRST_AT)),
            },
            [Valid(a), Valid(b)] if a.generation == b.generation => {
                let [at, _] = SLOT_OFFSETS;
                return Err(Error::corrupt("both slots have the same generation").at(at));
            }
            [Valid(a), Valid(b)] => {
                order.slots.extend(if a.generation > b.generation { [a, b] } else { [b, a] });
            }
            [Valid(slot), other] | [other, Valid(slot)] => {
                let above = slot.generation.saturating_add(1)..=u64::MAX;
                order.trailer = (other == Damaged).then_some(above);
                order.slots.push(slot);
                // A damaged slot may have named later rows than the first slot.
                order.slots.extend(first.filter(|_| other == Empty));
            }
            [Empty, _] | [_, Empty] if self.is_sealed() => {
                // Without the key nobody makes an earlier generation the current one by a trailer.
                let next = first.map_or(1, |slot| slot.generation.saturating_add(1));
                order.trailer = Some(next..=next);
            }
            _ if self.is_sealed() => {
                let [at, _] = SLOT_OFFSETS;
                return Err(Error::corrupt("no slot is intact").at(at));
            }
            _ => order.trailer = Some(ALL),
        }
        Ok(order)
    }
}

fn check_flags(flags: u64, version: Version) -> Result<()> {
    if flags & !(FLAG_STREAMED | FLAG_SLOT_PAGES | FLAG_SEALED) == 0 {
        return Ok(());
    }
    Err(Error::newer(format!(
        "the file needs unknown features (flags {flags:#x} of format version {version}), \
         this release knows version {}",
        Version::SEALED
    ))
    .advise("update Entasis"))
}

impl SlotState {
    /// Slots A and B, in the first bytes of a file with slot pages.
    ///
    /// # Errors
    /// *Corrupt* for a slot that breaks the rules, and for a file that ends before the room.
    pub fn pages(head: &[u8]) -> Result<[Self; 2]> {
        let slot = |at: u64| {
            let at = usize::try_from(at).ok()?;
            head.get(at..)?.first_chunk::<SLOT_LEN>()
        };
        let [Some(a), Some(b)] = SLOT_OFFSETS.map(slot) else { return Err(truncated()) };
        let [at_a, at_b] = SLOT_OFFSETS;
        let states = [Self::parse(a, at_a)?, Self::parse(b, at_b)?];
        for (state, at) in states.iter().zip(SLOT_OFFSETS) {
            if let Self::Valid(slot) = state {
                slot.check(SLOT_PAGES_END).map_err(|error| error.at(at))?;
            }
        }
        Ok(states)
    }

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
mod tests;
