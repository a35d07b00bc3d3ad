//! Finds the leaves of old sections that a changed file can name again, so that a small change of a
//! long footer writes few bytes (`docs/format/container.md`).

use std::ops::Range;

use entasis_format::{
    Codec, Filter, LeafSource, Part, Result, Section, SectionKind, SectionRecords, fallible, visit_leaves,
};

use crate::file::File;

/// The use of memory, in messages.
const LEAVES: &str = "the leaves of a section";

/// A kept leaf next to new ones is stored anew if it has fewer bytes than this. Otherwise each
/// change would leave a short leaf.
const SHORT: u32 = 32 << 10;

/// The most records by which the distance from the start may change between two leaves.
const NEAR: usize = 64;

/// A section with fewer bytes is stored anew, near the root. Opening the file then reads it
/// together with the root.
const SMALL: usize = 8 << 10;

/// The parts of the old file that a new section takes.
pub(super) enum Reuse {
    /// Nothing.
    None,
    /// The whole section.
    Section(Section),
    /// Some leaves. New leaves may be compressed with this filter.
    Leaves(Vec<LeafSource>, Option<Filter>),
}

/// Compares the records of a new section with those of the old one.
///
/// Costs a comparison of all records, which the change has read already.
///
/// # Errors
/// As for reading.
pub(super) fn reuse(file: &File, new: &SectionRecords<'_>, filter: Option<Filter>) -> Result<Reuse> {
    let is_candidate = !new.kind.has_tiers() && new.bytes.len() >= SMALL;
    let Some(old) = file.root().section(new.kind, 0).filter(|_| is_candidate) else {
        return Ok(Reuse::None);
    };
    let is_like_new = old.record_len == new.record_len && old.n_records > 0;
    let old_filter = (old.codec != Codec::None.code()).then(|| Filter::from_code(old.filter)).flatten();
    if !is_like_new || (old_filter.is_some() && old_filter != filter) {
        return Ok(Reuse::None);
    }
    let mut search = Search::new(old, new.bytes);
    let fetch = &mut |part: &Part| file.fetch(part);
    visit_leaves(old, file.room(), fetch, &mut |part, records| search.leaf(part, records))
        .map_err(|e| e.in_section(new.kind.name()).in_file(file.path()))?;
    // Index parts are stored anew near the root, like small sections.
    if search.is_equal() && old.height == 0 {
        return Ok(Reuse::Section(*old));
    }
    let leaves = search.leaves()?;
    if leaves.iter().any(|leaf| matches!(leaf, LeafSource::Kept(_))) {
        return Ok(Reuse::Leaves(leaves, filter));
    }
    Ok(Reuse::None)
}

/// Matches old leaves with new records, from the first to the last. An old leaf may be as far
/// from the start of the section as before, as far from its end, or near the place that follows
/// the leaf before it.
struct Search<'a> {
    new: &'a [u8],
    record_len: usize,
    /// The bytes that the new records have more than the old ones.
    shift: isize,
    /// The bytes that were added before the last kept leaf.
    last_shift: isize,
    /// The bytes of the old leaves so far.
    old_len: usize,
    /// The bytes of new records that are matched or passed.
    end: usize,
    /// Kept leaves with their bytes in the new records, ascending.
    kept: Vec<(Range<usize>, Part)>,
}

impl<'a> Search<'a> {
    fn new(old: &Section, new: &'a [u8]) -> Self {
        let old_len = old.records_len().and_then(|len| isize::try_from(len).ok()).unwrap_or(0);
        Self {
            new,
            record_len: old.record_len as usize,
            shift: new.len() as isize - old_len,
            last_shift: 0,
            old_len: 0,
            end: 0,
            kept: Vec::new(),
        }
    }

    fn leaf(&mut self, part: &Part, records: &[u8]) -> Result<()> {
        let at = self.old_len;
        self.old_len += records.len();
        for shift in [0, self.shift, self.last_shift].into_iter().chain(self.near_shifts()) {
            let from = at.checked_add_signed(shift).filter(|&from| from >= self.end);
            let range = from.map(|from| from..from.saturating_add(records.len()));
            let Some(range) = range.filter(|range| self.new.get(range.clone()) == Some(records)) else {
                continue;
            };
            (self.end, self.last_shift) = (range.end, shift);
            return fallible::push(&mut self.kept, (range, *part), LEAVES);
        }
        Ok(())
    }

    /// Shifts that differ from the last one by few records. Heaps of bytes have none.
    fn near_shifts(&self) -> impl Iterator<Item = isize> + use<> {
        let (last, record_len) = (self.last_shift, self.record_len as isize);
        let n = if record_len > 1 { NEAR as isize } else { 0 };
        (1..=n).flat_map(move |i| [last + i * record_len, last - i * record_len])
    }

    /// Whether the new records are the old ones.
    fn is_equal(&self) -> bool {
        let kept: usize = self.kept.iter().map(|(range, _)| range.len()).sum();
        self.shift == 0 && kept == self.new.len()
    }

    /// The leaves of the new section.
    fn leaves(mut self) -> Result<Vec<LeafSource>> {
        self.drop_short();
        let mut leaves = Vec::new();
        let mut end = 0;
        let record = |byte: usize| (byte / self.record_len.max(1)) as u64;
        for (range, part) in self.kept {
            if range.start > end {
                fallible::push(&mut leaves, LeafSource::New(record(end)..record(range.start)), LEAVES)?;
            }
            end = range.end;
            fallible::push(&mut leaves, LeafSource::Kept(part), LEAVES)?;
        }
        if self.new.len() > end {
            fallible::push(&mut leaves, LeafSource::New(record(end)..record(self.new.len())), LEAVES)?;
        }
        Ok(leaves)
    }

    /// Drops short leaves next to new records.
    fn drop_short(&mut self) {
        let len = self.new.len();
        let mut before = 0;
        let ends: Vec<usize> = self.kept.iter().skip(1).map(|(range, _)| range.start).chain([len]).collect();
        let mut next = ends.into_iter();
        self.kept.retain(|(range, part)| {
            let after = next.next().unwrap_or(len);
            let is_next_to_new = range.start > before || after > range.end;
            let is_kept = part.len >= SHORT || !is_next_to_new;
            if is_kept {
                before = range.end;
            }
            is_kept
        });
    }
}

/// The filter with which a change in place compresses leaves of a kind next to kept ones. Leaves of
/// tables and ranges differ from old ones in few bytes.
pub(super) fn filter_of_changes(kind: SectionKind, filter: Option<Filter>) -> Option<Filter> {
    match kind {
        SectionKind::Tables | SectionKind::Ranges | SectionKind::Pieces | SectionKind::ColumnRanges => {
            Some(Filter::Shuffle)
        }
        _ => filter,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The leaves of a new section with these records, after one of `old` records of one byte, in
    /// leaves of `of` records.
    fn leaves(old: &[u8], of: usize, new: &[u8]) -> Vec<LeafSource> {
        let section = Section { record_len: 1, n_records: old.len() as u64, ..Section::default() };
        let mut search = Search::new(&section, new);
        for (at, leaf) in (0u64..).step_by(of).zip(old.chunks(of)) {
            let part = Part { at, len: SHORT, stored_len: SHORT, checksum: 0, shuffle_len: 0 };
            search.leaf(&part, leaf).unwrap();
        }
        search.leaves().unwrap()
    }

    fn text(leaves: &[LeafSource]) -> String {
        let of = |leaf: &LeafSource| match leaf {
            LeafSource::Kept(part) => format!("{}", part.at),
            LeafSource::New(range) => format!("new {}-{}", range.start, range.end),
        };
        leaves.iter().map(of).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn changes_inserts_and_cuts() {
        let old = b"aaabbbcccddd";
        for (new, expected) in [
            (&b"aaabXbcccddd"[..], "0, new 3-6, 6, 9"),
            (b"aaabbbcccdddee", "0, 3, 6, 9, new 12-14"),
            (b"aaaXXbbbcccddd", "0, new 3-5, 3, 6, 9"),
            (b"aaacccddd", "0, 6, 9"),
            (b"aaabbbddd", "0, 3, 9"),
            (b"Xaaabbbcccddd", "new 0-1, 0, 3, 6, 9"),
            (b"XYZ", "new 0-3"),
            (b"", ""),
        ] {
            assert_eq!(text(&leaves(old, 3, new)), expected, "{}", String::from_utf8_lossy(new));
        }
    }

    #[test]
    fn leaves_between_two_inserts_are_found() {
        let record = |name: u8| [name; 4];
        let bytes = |names: &[u8]| names.iter().flat_map(|&name| record(name)).collect::<Vec<u8>>();
        let (old, new) = (bytes(b"abcdefghi"), bytes(b"aXXbcdefghiY"));
        let section = Section { record_len: 4, n_records: 9, ..Section::default() };
        let mut search = Search::new(&section, &new);
        for (at, leaf) in (0u64..).step_by(3).zip(old.chunks(12)) {
            let part = Part { at, len: SHORT, stored_len: SHORT, checksum: 0, shuffle_len: 0 };
            search.leaf(&part, leaf).unwrap();
        }
        assert_eq!(text(&search.leaves().unwrap()), "new 0-5, 3, 6, new 11-12");
    }

    #[test]
    fn short_leaves_next_to_new_ones_are_stored_anew() {
        let part = |at, len| Part { at, len, stored_len: len, checksum: 0, shuffle_len: 0 };
        let new = vec![7; 300_000];
        let leaves = |kept: Vec<(Range<usize>, Part)>| {
            let search =
                Search { new: &new, record_len: 1, shift: 0, last_shift: 0, old_len: 0, end: 0, kept };
            text(&search.leaves().unwrap())
        };
        let (short, long) = (0..1_000, 1_000..60_000);
        let kept = vec![(short.clone(), part(1, 1_000)), (long.clone(), part(2, 59_000))];
        assert_eq!(leaves(kept), "1, 2, new 60000-300000");
        let kept = vec![(long, part(2, 59_000)), (60_000..61_000, part(3, 1_000))];
        assert_eq!(leaves(kept), "new 0-1000, 2, new 60000-300000");
        let kept = vec![(short, part(1, 1_000)), (1_000..2_000, part(2, 1_000))];
        assert_eq!(leaves(kept), "1, new 1000-300000");
    }
}
