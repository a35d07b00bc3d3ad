//! Collects the name indexes of tables. In a change of a long footer, equal ones stay where they
//! are.

use std::collections::HashSet;

use entasis_format::{NameSlot, Result, SectionKind, fallible};

use super::waste::is_wasteful;
use crate::file::File;

/// The use of memory, in messages.
const INDEXES: &str = "the name indexes";

/// The section *name index*.
#[derive(Default)]
pub(super) struct NameIndexes {
    pub bytes: Vec<u8>,
    /// Whether an index may stay where it is, or take the place of the old one.
    keeps_places: bool,
    /// The first slots of the old indexes whose place is taken.
    taken: HashSet<u64>,
    /// Bytes of the indexes that were added.
    live_len: usize,
}

impl NameIndexes {
    /// No indexes yet. Those of `old` stay where they are, if they are added again.
    ///
    /// # Errors
    /// As for reading.
    pub(super) fn after(old: Option<&File>) -> Result<Self> {
        let Some(file) = old else { return Ok(Self::default()) };
        // Another writer may share an index between tables.
        if !are_apart(file)? {
            return Ok(Self::default());
        }
        let bytes = file.section_bytes(SectionKind::NameIndex)?;
        Ok(Self { bytes, keeps_places: true, ..Self::default() })
    }

    /// Adds an index. `old` has the first slot and the number of slots of the table's old index.
    /// Returns the number of the first slot.
    pub(super) fn add(&mut self, index: &[u8], old: Option<(u64, u64)>) -> u64 {
        self.live_len += index.len();
        let old = old.filter(|_| self.keeps_places);
        if let (true, Some((first, 0))) = (index.is_empty(), old) {
            return first;
        }
        let untaken = old.filter(|(first, _)| !index.is_empty() && !self.taken.contains(first));
        let place = untaken.and_then(|(first, n_slots)| {
            let at = |slot: u64| usize::try_from(slot).ok()?.checked_mul(NameSlot::LEN);
            let place = self.bytes.get_mut(at(first)?..at(first.checked_add(n_slots)?)?)?;
            (place.len() == index.len()).then_some((first, place))
        });
        if let Some((first, place)) = place {
            place.copy_from_slice(index);
            self.taken.insert(first);
            return first;
        }
        let first = self.bytes.len() / NameSlot::LEN;
        self.bytes.extend_from_slice(index);
        first as u64
    }

    /// Whether most bytes are of no index.
    pub(super) fn is_wasteful(&self) -> bool {
        is_wasteful(self.bytes.len(), self.live_len)
    }
}

/// Whether no two tables of a file have a slot in common.
fn are_apart(file: &File) -> Result<bool> {
    let mut places = Vec::new();
    for table in 0..file.n_tables() {
        let (first, n_slots) = file.table(table)?.name_slots();
        if n_slots > 0 {
            fallible::push(&mut places, (first, first.saturating_add(n_slots)), INDEXES)?;
        }
    }
    places.sort_unstable();
    Ok(places.windows(2).all(|pair| pair[0].1 <= pair[1].0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_of_equal_length_takes_the_place_of_the_old_one() {
        let index = |byte: u8, n_slots: usize| vec![byte; n_slots * NameSlot::LEN];
        let mut indexes = NameIndexes { bytes: index(1, 6), keeps_places: true, ..NameIndexes::default() };
        assert_eq!(indexes.add(&index(2, 2), Some((4, 2))), 4);
        assert_eq!(indexes.add(&index(3, 4), Some((0, 2))), 6);
        assert_eq!(indexes.add(&index(4, 2), None), 10);
        assert_eq!((indexes.add(&[], Some((5, 0))), indexes.add(&[], Some((0, 2)))), (5, 12));
        assert_eq!(indexes.bytes, [index(1, 4), index(2, 2), index(3, 4), index(4, 2)].concat());
        let mut indexes = NameIndexes::default();
        assert_eq!(indexes.add(&index(2, 2), Some((4, 2))), 0);
    }
}
