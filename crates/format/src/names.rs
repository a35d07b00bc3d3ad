//! The hash table of column names (`docs/format/columns.md`).

use crate::bytes::{Reader, len64, put, put_optional};
use crate::checksum::checksum;
use crate::error::{Error, Result};
use crate::fallible;

/// A slot of the name index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NameSlot {
    /// Hash of the name; 0 in an empty slot.
    pub hash: u64,
    /// The index of the column in the table; none in an empty slot.
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

/// The slot where the search for a hash starts. It continues with the next slots, from the last to
/// the first.
#[inline]
pub const fn first_slot(hash: u64, n_slots: u64) -> u64 {
    match hash.checked_rem(n_slots) {
        Some(slot) => slot,
        None => 0,
    }
}

/// The number of slots that [`build_name_index`] makes for `n_columns`: the least power of two that
/// is at least twice as many.
pub fn n_name_slots(n_columns: u64) -> u64 {
    if n_columns == 0 { 0 } else { n_columns.saturating_mul(2).checked_next_power_of_two().unwrap_or(0) }
}

/// The use of the memory, in messages.
const INDEX: &str = "the name index";

/// The name index of a table whose columns have these names. Empty without columns.
///
/// # Errors
/// *Out of memory*.
pub fn build_name_index<Name: AsRef<str>>(names: impl IntoIterator<Item = Name>) -> Result<Vec<u8>> {
    let mut hashes = Vec::new();
    for name in names {
        fallible::push(&mut hashes, name_hash(name.as_ref()), INDEX)?;
    }
    let n_slots = n_name_slots(len64(hashes.len()));
    let len = usize::try_from(n_slots).unwrap_or(0);
    // Leads from a full slot towards the next free one; a free slot leads to itself. Without it,
    // many columns of one name would take quadratic time.
    let mut next: Vec<usize> = fallible::collect(0..len, INDEX)?;
    let mut slots = Vec::new();
    fallible::resize(&mut slots, len, NameSlot { hash: 0, position: None }, INDEX)?;
    for (position, hash) in hashes.into_iter().enumerate() {
        let start = usize::try_from(first_slot(hash, n_slots)).unwrap_or(0);
        let free = find_free(&mut next, start);
        if let (Some(slot), Some(link)) = (slots.get_mut(free), next.get_mut(free)) {
            *slot = NameSlot { hash, position: Some(len64(position)) };
            *link = (free + 1) % len.max(1);
        }
    }
    let mut out = fallible::with_capacity(len.saturating_mul(NameSlot::LEN), INDEX)?;
    for slot in &slots {
        slot.emit(&mut out);
    }
    Ok(out)
}

/// Follows the links to a free slot and halves the path for the next search. There is always a free
/// slot, because there are twice as many slots as columns.
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

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;
    use crate::testing::exact;

    /// The positions of the columns with this name, found as `docs/format/columns.md` says.
    fn find(name: &str, names: &[String], index: &[u8]) -> Vec<u64> {
        let slots: Vec<NameSlot> =
            index.chunks(NameSlot::LEN).map(|bytes| NameSlot::parse(bytes).unwrap()).collect();
        let n_slots = len64(slots.len());
        let mut found = Vec::new();
        if n_slots == 0 {
            return found;
        }
        let mut slot = first_slot(name_hash(name), n_slots);
        while let NameSlot { hash, position: Some(position) } = slots[usize::try_from(slot).unwrap()] {
            if hash == name_hash(name) && names[usize::try_from(position).unwrap()] == name {
                found.push(position);
            }
            slot = (slot + 1) % n_slots;
        }
        found
    }

    #[test]
    fn slots_are_exact() {
        exact(&NameSlot { hash: 77, position: Some(3) }, NameSlot::emit, NameSlot::parse);
        exact(&NameSlot { hash: 0, position: None }, NameSlot::emit, NameSlot::parse);
    }

    #[test]
    fn numbers_of_slots() {
        let cases = [(0, 0), (1, 2), (2, 4), (3, 8), (4, 8), (5, 16), (u64::MAX, 0)];
        for (n_columns, n_slots) in cases {
            assert_eq!(n_name_slots(n_columns), n_slots);
        }
        assert_eq!(first_slot(5, 0), 0);
        assert!(build_name_index::<&str>([]).unwrap().is_empty());
    }

    #[test]
    fn many_columns_of_one_name() {
        let start = Instant::now();
        let index = build_name_index(std::iter::repeat_n("x", 200_000)).unwrap();
        assert!(start.elapsed() < Duration::from_secs(5));
        let names = vec!["x".to_owned(); 200_000];
        assert_eq!(find("x", &names, &index), (0..200_000).collect::<Vec<_>>());
    }

    proptest! {
        #[test]
        fn every_name_is_found_in_order(names in prop::collection::vec("[ab]{0,4}", 0..100)) {
            let index = build_name_index(&names).unwrap();
            prop_assert_eq!(len64(index.len()), n_name_slots(len64(names.len())) * 16);
            for name in &names {
                let expected: Vec<u64> =
                    (0u64..).zip(&names).filter(|(_, other)| *other == name).map(|(position, _)| position).collect();
                prop_assert_eq!(find(name, &names, &index), expected);
            }
            prop_assert!(find("c", &names, &index).is_empty());
        }
    }
}
