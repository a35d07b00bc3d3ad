//! The hash table of column names (section 2.5).

use crate::bytes::{Reader, len64, put, put_optional};
use crate::checksum::checksum;
use crate::error::{Error, Result};

/// A slot of the name index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NameSlot {
    /// Hash of the name; 0 in an empty slot.
    pub hash: u64,
    /// The column, counted from the table's first; none in an empty slot.
    pub position: Option<u64>,
}

impl NameSlot {
    /// Bytes of the slot.
    pub const LEN: usize = 16;

    /// Appends the slot.
    pub fn emit(&self, out: &mut Vec<u8>) {
        put!(out, if self.position.is_some() { self.hash } else { 0 });
        put_optional(out, self.position);
    }

    /// The slot in exactly these bytes.
    #[inline]
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::exact(bytes, Self::LEN, "a name slot")?;
        let (hash, position) = (reader.u64()?, reader.optional()?);
        if position.is_none() && hash != 0 {
            return Err(Error::corrupt("an empty slot of the name index has a hash"));
        }
        Ok(Self { hash, position })
    }
}

/// The hash of a name.
#[inline]
pub fn name_hash(name: &str) -> u64 {
    checksum(name.as_bytes())
}

/// The slot where the search for a hash starts; it goes on with the next ones, wrapping.
#[inline]
pub const fn first_slot(hash: u64, n_slots: u64) -> u64 {
    match hash.checked_rem(n_slots) {
        Some(slot) => slot,
        None => 0,
    }
}

/// The slots that [`build_name_index`] makes for so many columns: the least power of two of at least twice as many.
pub fn n_name_slots(n_columns: u64) -> u64 {
    if n_columns == 0 { 0 } else { n_columns.saturating_mul(2).checked_next_power_of_two().unwrap_or(0) }
}

/// The slots of a table with columns of these names, in this order. None without columns.
pub fn build_name_index<Name: AsRef<str>>(names: impl IntoIterator<Item = Name>) -> Vec<u8> {
    let hashes: Vec<u64> = names.into_iter().map(|name| name_hash(name.as_ref())).collect();
    let n_slots = n_name_slots(len64(hashes.len()));
    let len = usize::try_from(n_slots).unwrap_or(0);
    // `next` leads from a slot to the first that may be free: one more than its own number when the slot is free
    // would be a second table, so a free slot leads to itself. Many columns of one name would otherwise take time
    // square in their number.
    let mut next: Vec<usize> = (0..len).collect();
    let mut slots = vec![NameSlot { hash: 0, position: None }; len];
    for (position, hash) in hashes.into_iter().enumerate() {
        let start = usize::try_from(first_slot(hash, n_slots)).unwrap_or(0);
        let free = find_free(&mut next, start);
        if let (Some(slot), Some(link)) = (slots.get_mut(free), next.get_mut(free)) {
            *slot = NameSlot { hash, position: Some(len64(position)) };
            *link = (free + 1) % len.max(1);
        }
    }
    let mut out = Vec::with_capacity(len.saturating_mul(NameSlot::LEN));
    for slot in &slots {
        slot.emit(&mut out);
    }
    out
}

/// Follows the links to the free slot at their end, and halves the way for the next search. There is always a free
/// slot, as there are twice as many as columns.
fn find_free(next: &mut [usize], mut slot: usize) -> usize {
    loop {
        let Some(&link) = next.get(slot) else { return slot };
        if link == slot {
            return slot;
        }
        let Some(&after) = next.get(link) else { return slot };
        if let Some(here) = next.get_mut(slot) {
            *here = after;
        }
        slot = after;
    }
}
