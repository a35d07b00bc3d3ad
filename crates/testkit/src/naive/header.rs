//! Header, slots, trailer.

use super::bytes::{Kind, Room, Wrong, checksum, is_zero, known, range, rule, u16_at, u32_at, u64_at, wrong};

/// The first bytes of every file.
pub const MAGIC: [u8; 8] = [0x89, 0x45, 0x4E, 0x54, 0x0D, 0x0A, 0x1A, 0x0A];
/// The first bytes of the trailer.
pub const TRAILER_MAGIC: [u8; 8] = [0x45, 0x4E, 0x54, 0x0A, 0x65, 0x6E, 0x64, 0x0A];
/// The offsets of the first slot, slot A and slot B.
pub const SLOTS: [usize; 3] = [64, 4_096, 8_192];
/// Where the room of a file with slot pages starts.
pub const SLOT_PAGES_END: usize = 12_288;

/// One generation: where its root is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The generation, from 1.
    pub generation: u64,
    /// Where the root is.
    pub root_at: u64,
    /// How long it is.
    pub root_len: u32,
    /// Whether the writer did not wait for the medium.
    pub not_synced: bool,
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

/// A major and a minor version.
pub type Version = (u16, u16);

/// The header, and the slots of the file.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// The version with which the file began.
    pub version: Version,
    /// The must-understand flags.
    pub flags: u64,
    /// Whether the first slot may be empty.
    pub is_streamed: bool,
    /// Whether slots A and B exist.
    pub has_slot_pages: bool,
    /// The first slot, slot A and slot B; a slot that does not exist is empty.
    pub slots: [State; 3],
    /// The current generation.
    pub current: Slot,
    /// Whether the reader passed over an unsynced slot.
    pub is_passed_over: bool,
}

/// Reads the header and finds the current generation.
///
/// # Errors
/// As the page says.
pub fn header(file: &[u8]) -> Result<Header, Wrong> {
    let n = file.len().min(8);
    if file[..n] != MAGIC[..n] {
        return wrong(Kind::NotEntasis, "the magic");
    }
    rule(file.len() >= 256, "the file is truncated")?;
    rule(u64_at(file, 56) == checksum(&file[..56]), "the checksum of the header")?;
    let version = (u16_at(file, 8), u16_at(file, 10));
    known(version >= (0, 2), "the version")?;
    let flags = u64_at(file, 16);
    if flags & !7 != 0 {
        return wrong(Kind::Newer, "a must-understand flag");
    }
    rule(flags & 4 == 0 || flags & 7 == 6, "sealed goes with slot pages, and not with streamed")?;
    let is_known = is_zero(&file[12..16]) && is_zero(&file[32..56]);
    known(is_known, "reserved bytes of the header")?;
    rule(is_zero(&file[128..256]), "reserved bytes of the header without a checksum")?;
    let (is_streamed, has_slot_pages) = (flags & 1 != 0, flags & 2 != 0);
    let start = room_start(flags);
    let first = slot(&file[64..128], start)?;
    let mut slots = [first, State::Empty, State::Empty];
    if has_slot_pages {
        rule(file.len() >= SLOT_PAGES_END, "the file is truncated")?;
        for (state, at) in slots.iter_mut().zip(SLOTS).skip(1) {
            *state = slot(&file[at..at + 64], start)?;
        }
    }
    let (current, is_passed_over) = current(file, slots, flags, start)?;
    rule(current.end <= file.len() as u64, "the file is truncated")?;
    Ok(Header { version, flags, is_streamed, has_slot_pages, slots, current, is_passed_over })
}

impl Header {
    /// The bytes of the current generation.
    pub fn room<'a>(&self, file: &'a [u8]) -> Room<'a> {
        Room { file: &file[..self.current.end as usize], start: room_start(self.flags) }
    }
}

/// Where the room of a file with these flags starts.
fn room_start(flags: u64) -> u64 {
    match flags & 6 {
        6 => 20_480,
        2 => SLOT_PAGES_END as u64,
        _ => 256,
    }
}

/// The current slot, by the table of the states of slots A and B. True when a slot is passed over.
fn current(file: &[u8], slots: [State; 3], flags: u64, start: u64) -> Result<(Slot, bool), Wrong> {
    use State::{Damaged, Empty, Valid};
    let (is_streamed, is_sealed) = (flags & 1 != 0, flags & 4 != 0);
    let rescue = || match last_trailer(file, start) {
        Err(wrong) if wrong.kind != Kind::Corrupt => Err(wrong),
        trailer => Ok(trailer.ok().filter(|slot| is_intact(file, slot))),
    };
    let [first, a, b] = slots;
    let (chosen, other) = match (a, b) {
        (Empty, Empty) => {
            return match first {
                Valid(slot) => Ok((slot, false)),
                Empty if is_streamed => Ok((last_trailer(file, start)?, false)),
                Empty => wrong(Kind::Corrupt, "the file was not finished"),
                Damaged => wrong(Kind::Corrupt, "the first slot is damaged"),
            };
        }
        (Valid(a), Valid(b)) => {
            rule(a.generation != b.generation, "two slots of one generation")?;
            if a.generation > b.generation { (a, Valid(b)) } else { (b, Valid(a)) }
        }
        (Valid(slot), Damaged) | (Damaged, Valid(slot)) => match rescue()? {
            Some(newer) if newer.generation > slot.generation => return Ok((newer, false)),
            _ => (slot, Damaged),
        },
        (Valid(slot), Empty) | (Empty, Valid(slot)) => (slot, Empty),
        (Damaged, Damaged) if is_sealed => return wrong(Kind::Corrupt, "no valid slot"),
        (Damaged, _) | (_, Damaged) => match rescue()? {
            Some(slot) if !is_sealed || is_next(&first, &slot) => return Ok((slot, false)),
            Some(_) => return wrong(Kind::Corrupt, "no valid slot"),
            None => return wrong(Kind::Corrupt, "no valid slot"),
        },
    };
    if !chosen.not_synced || is_intact(file, &chosen) {
        return Ok((chosen, false));
    }
    match (other, first) {
        (Valid(slot), _) | (Empty, Valid(slot)) => Ok((slot, true)),
        _ => wrong(Kind::Corrupt, "no valid slot with an intact root"),
    }
}

/// Whether a generation follows that of the first slot.
fn is_next(first: &State, slot: &Slot) -> bool {
    match first {
        State::Valid(first) => slot.generation == first.generation + 1,
        _ => slot.generation == 1,
    }
}

/// Whether the generation is inside the file and the checksum of its root holds.
fn is_intact(file: &[u8], slot: &Slot) -> bool {
    let root = range(file, slot.root_at, slot.root_len.into());
    slot.end <= file.len() as u64 && root.is_ok_and(|root| checksum(root) == slot.root_checksum)
}

fn slot(bytes: &[u8], start: u64) -> Result<State, Wrong> {
    if is_zero(bytes) {
        return Ok(State::Empty);
    }
    if u64_at(bytes, 56) != checksum(&bytes[..56]) {
        return Ok(State::Damaged);
    }
    let flags = u32_at(bytes, 20);
    if flags > 1 {
        return wrong(Kind::Newer, "a flag of a slot");
    }
    known(is_zero(&bytes[40..56]), "reserved bytes of a slot")?;
    let slot = Slot {
        generation: u64_at(bytes, 0),
        root_at: u64_at(bytes, 8),
        root_len: u32_at(bytes, 16),
        not_synced: flags == 1,
        end: u64_at(bytes, 24),
        root_checksum: u64_at(bytes, 32),
    };
    check(&slot, start)?;
    Ok(State::Valid(slot))
}

/// Whether a root can have this length.
pub fn is_root_len(len: u32) -> bool {
    (160..=65_472).contains(&len) && (len - 160).is_multiple_of(48)
}

fn check(slot: &Slot, start: u64) -> Result<(), Wrong> {
    rule(slot.generation >= 1, "generations count from 1")?;
    rule(is_root_len(slot.root_len), "the length of the root")?;
    let root_end = slot.root_at.checked_add(u64::from(slot.root_len));
    let trailer_end = root_end.and_then(|end| end.checked_add(64));
    rule(slot.root_at >= start, "the root lies in the room")?;
    rule(trailer_end == Some(slot.end), "the root ends where its trailer begins")
}

/// The trailer in the last 64 bytes of the file.
fn last_trailer(file: &[u8], start: u64) -> Result<Slot, Wrong> {
    rule(file.len() as u64 >= start + 64, "the file is truncated")?;
    let (slot, _) = trailer(&file[file.len() - 64..], start)?;
    rule(slot.end == file.len() as u64, "the trailer is that of a file of another length")?;
    Ok(slot)
}

/// The trailer: the slot that it repeats, and version and flags of the header. The room of the file
/// starts at `start`.
///
/// # Errors
/// *Corrupt*.
pub fn trailer(bytes: &[u8], start: u64) -> Result<(Slot, (Version, u64)), Wrong> {
    let bytes = range(bytes, 0, 64)?;
    rule(bytes[..8] == TRAILER_MAGIC, "the magic of the trailer")?;
    rule(u64_at(bytes, 56) == checksum(&bytes[..56]), "the checksum of the trailer")?;
    let slot = Slot {
        generation: u64_at(bytes, 8),
        root_at: u64_at(bytes, 16),
        root_len: u32_at(bytes, 24),
        not_synced: false,
        end: u64_at(bytes, 32),
        root_checksum: u64_at(bytes, 40),
    };
    check(&slot, start)?;
    let version = (u16_at(bytes, 28), u16_at(bytes, 30));
    Ok((slot, (version, u64_at(bytes, 48))))
}
