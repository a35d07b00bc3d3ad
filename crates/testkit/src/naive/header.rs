//! Header, slots, trailer.

use super::bytes::{Kind, Wrong, checksum, is_zero, range, rule, u16_at, u32_at, u64_at, wrong};

/// The first bytes of every file.
pub const MAGIC: [u8; 8] = [0x89, 0x45, 0x4E, 0x54, 0x0D, 0x0A, 0x1A, 0x0A];
/// The first bytes of the trailer.
pub const TRAILER_MAGIC: [u8; 8] = [0x45, 0x4E, 0x54, 0x0A, 0x65, 0x6E, 0x64, 0x0A];

/// One generation: where its root is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The generation, from 1.
    pub generation: u64,
    /// Where the root is.
    pub root_at: u64,
    /// How long it is.
    pub root_len: u32,
    /// The length of the file.
    pub end: u64,
    /// The checksum of the root.
    pub root_checksum: u64,
}

/// The state of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// All zero.
    Empty,
    /// The checksum holds.
    Valid(Slot),
    /// The checksum does not hold.
    Damaged,
}

/// The states of both slots, and the current one.
///
/// # Errors
/// As the page says.
pub fn header(file: &[u8]) -> Result<([State; 2], Slot), Wrong> {
    let n = file.len().min(8);
    if file[..n] != MAGIC[..n] {
        return wrong(Kind::NotEntasis, "the magic");
    }
    rule(file.len() >= 256, "the file is truncated")?;
    rule(u64_at(file, 56) == checksum(&file[..56]), "the checksum of the header")?;
    if u16_at(file, 8) > 0 {
        return wrong(Kind::Newer, "the major version");
    }
    if u16_at(file, 10) != 1 {
        return wrong(Kind::Unsupported, "the minor version");
    }
    let flags = u64_at(file, 16);
    if flags & !1 != 0 {
        return wrong(Kind::Newer, "a must-understand flag");
    }
    let reserved = is_zero(&file[12..16]) && is_zero(&file[32..56]) && is_zero(&file[192..256]);
    rule(reserved, "reserved bytes of the header")?;
    let states = [slot(&file[64..128])?, slot(&file[128..192])?];
    let current = match states {
        [State::Valid(a), State::Valid(b)] => {
            rule(a.generation != b.generation, "two slots of one generation")?;
            if a.generation > b.generation { a } else { b }
        }
        [State::Valid(slot), _] | [_, State::Valid(slot)] => slot,
        [State::Empty, State::Empty] if flags & 1 == 1 => {
            rule(file.len() >= 320, "the file is truncated")?;
            trailer(&file[file.len() - 64..])?
        }
        _ => return wrong(Kind::Corrupt, "no valid slot"),
    };
    rule(current.end <= file.len() as u64, "the file is truncated")?;
    Ok((states, current))
}

fn slot(bytes: &[u8]) -> Result<State, Wrong> {
    if is_zero(bytes) {
        return Ok(State::Empty);
    }
    if u64_at(bytes, 56) != checksum(&bytes[..56]) {
        return Ok(State::Damaged);
    }
    rule(is_zero(&bytes[20..24]) && is_zero(&bytes[40..56]), "reserved bytes of a slot")?;
    let slot = Slot {
        generation: u64_at(bytes, 0),
        root_at: u64_at(bytes, 8),
        root_len: u32_at(bytes, 16),
        end: u64_at(bytes, 24),
        root_checksum: u64_at(bytes, 32),
    };
    check(&slot)?;
    Ok(State::Valid(slot))
}

fn check(slot: &Slot) -> Result<(), Wrong> {
    rule(slot.generation >= 1, "generations count from 1")?;
    rule(slot.end >= 320, "the end of a slot")?;
    let root_end = slot.root_at.checked_add(u64::from(slot.root_len));
    let inside = slot.root_at >= 256 && root_end.is_some_and(|end| end <= slot.end - 64);
    rule(inside, "the root lies in [256, end - 64]")?;
    rule((64..=4096).contains(&slot.root_len), "the length of the root")
}

/// The trailer, as the slot that it repeats.
///
/// # Errors
/// *Corrupt*.
pub fn trailer(bytes: &[u8]) -> Result<Slot, Wrong> {
    let bytes = range(bytes, 0, 64)?;
    rule(bytes[..8] == TRAILER_MAGIC, "the magic of the trailer")?;
    rule(u64_at(bytes, 56) == checksum(&bytes[..56]), "the checksum of the trailer")?;
    rule(is_zero(&bytes[28..32]) && is_zero(&bytes[48..56]), "reserved bytes of the trailer")?;
    let slot = Slot {
        generation: u64_at(bytes, 8),
        root_at: u64_at(bytes, 16),
        root_len: u32_at(bytes, 24),
        end: u64_at(bytes, 32),
        root_checksum: u64_at(bytes, 40),
    };
    check(&slot)?;
    Ok(slot)
}
