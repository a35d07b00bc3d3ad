//! Reads sections: the parts that cover the wanted records.

use std::ops::Range;
use std::sync::Arc;

use super::{COUNTED_ENTRY_LEN, ENTRY_LEN, Entry, FORMAT, Geometry, Part, Section, SectionKind, Shape};
use crate::bytes::{Reader, len64, to_usize};
use crate::error::{Error, Result, Thousands};
use crate::fallible;
use crate::limits::{Limits, Room};

/// The use of the memory, in messages.
const RECORDS: &str = "records of the footer";

/// Returns the bytes of a part. It must [check](Part::check) what it reads from the file, and
/// restore a compressed leaf.
type Fetch<'a> = dyn FnMut(&Part) -> Result<Arc<Vec<u8>>> + 'a;

/// Returns the bytes of a part, checked and restored. After `None`, the walk goes on without the
/// part and the parts below it.
pub type TryFetch<'a> = dyn FnMut(&Part) -> Result<Option<Arc<Vec<u8>>>> + 'a;

/// The bytes of these records. Each record has the length that this version knows for its kind:
/// further bytes are cut off, and fields that an older version lacks are none.
///
/// `fetch` returns the bytes of a part. It must [check](Part::check) bytes that it reads from the
/// file, and restore a compressed leaf.
pub fn read_records(
    section: &Section,
    records: Range<u64>,
    room: Room,
    limits: &Limits,
    fetch: &mut dyn FnMut(&Part) -> Result<Arc<Vec<u8>>>,
) -> Result<Vec<u8>> {
    let known = SectionKind::from_code(section.kind).map_or(section.record_len, SectionKind::record_len);
    read_shaped(FORMAT, section, known, records, room, limits, fetch)
}

/// As [`read_records`], with all bytes of each record.
pub fn read_whole_records(
    section: &Section,
    records: Range<u64>,
    room: Room,
    limits: &Limits,
    fetch: &mut dyn FnMut(&Part) -> Result<Arc<Vec<u8>>>,
) -> Result<Vec<u8>> {
    read_shaped(FORMAT, section, section.record_len, records, room, limits, fetch)
}

/// The bytes of records, each of length `known`.
pub(super) fn read_shaped(
    geometry: Geometry,
    section: &Section,
    known: u32,
    records: Range<u64>,
    room: Room,
    limits: &Limits,
    fetch: &mut Fetch<'_>,
) -> Result<Vec<u8>> {
    let shape = section.shape(geometry, room)?;
    if records.start > records.end || records.end > section.n_records {
        return Err(Error::corrupt(format!(
            "records {}..{} are out of range for a section with {}",
            records.start, records.end, section.n_records
        ))
        .in_section(section.name()));
    }
    let len = (records.end - records.start).saturating_mul(shape.record_len);
    if len > limits.metadata_len {
        let asked = format!("one read of a section needs {} bytes", Thousands(len));
        let error = Error::over_limit("metadata_len", limits.metadata_len, asked);
        return Err(error.in_section(section.name()));
    }
    if records.is_empty() {
        return Ok(Vec::new());
    }
    let is_other = section.record_len != known;
    let known = usize::try_from(known).unwrap_or(usize::MAX);
    let n = records.end - records.start;
    let capacity = to_usize(n.saturating_mul(len64(known)), RECORDS)?;
    let mut out = Vec::new();
    let mut keep = |_: Part, bytes: &[u8]| {
        // Reserve only after the first bytes are read, because the number of records may be false.
        if out.is_empty() {
            fallible::reserve(&mut out, capacity, RECORDS)?;
        }
        if is_other {
            for record in bytes.chunks_exact(section.record_len as usize) {
                let end = out.len().saturating_add(known);
                out.extend_from_slice(record.get(..known).unwrap_or(record));
                // Bytes of a field that is none.
                out.resize(end, u8::MAX);
            }
        } else {
            out.extend_from_slice(bytes);
        }
        Ok(())
    };
    let (wanted, reads_leaves) = (records, true);
    let mut fetch = |part: &Part| fetch(part).map(Some);
    Walk { section, shape, room, wanted, reads_leaves, fetch: &mut fetch, visit: &mut keep }.run()?;
    // The walk checks every length, so nothing can be missing. Callers rely on it all the same.
    if out.len() == capacity {
        Ok(out)
    } else {
        Err(Error::corrupt("some records of a section are missing").in_section(section.name()))
    }
}

/// Walks the parts with these records, and goes on without those for which `fetch` returns `None`.
/// So `fetch` can list the parts that are to be read together.
///
/// # Errors
/// *Corrupt*, and errors of `fetch`.
pub fn visit_known_parts(
    section: &Section,
    records: Range<u64>,
    room: Room,
    fetch: &mut TryFetch<'_>,
) -> Result<()> {
    walk(FORMAT, section, room, records, true, fetch, &mut |_, _| Ok(()))
}

/// Reads all leaves of a section in order, by a `fetch` as for [`read_records`]. Visits each with
/// its records.
pub fn visit_leaves(
    section: &Section,
    room: Room,
    fetch: &mut dyn FnMut(&Part) -> Result<Arc<Vec<u8>>>,
    visit: &mut dyn FnMut(&Part, &[u8]) -> Result<()>,
) -> Result<()> {
    // A leaf has a record; for an index part the records are empty.
    let mut visit_leaf =
        |part: Part, records: &[u8]| if records.is_empty() { Ok(()) } else { visit(&part, records) };
    let all = 0..section.n_records;
    walk(FORMAT, section, room, all, true, &mut |part| fetch(part).map(Some), &mut visit_leaf)
}

/// Visits each part of a section, and fetches only those that are an index.
pub fn visit_part_entries(
    section: &Section,
    room: Room,
    fetch: &mut dyn FnMut(&Part) -> Result<Arc<Vec<u8>>>,
    visit: &mut dyn FnMut(&Part) -> Result<()>,
) -> Result<()> {
    visit_shaped(FORMAT, section, room, false, fetch, visit)
}

/// Reads all parts of a section, by a `fetch` as for [`read_records`]. Visits each part, an index
/// before the parts that it covers.
pub fn visit_parts(
    section: &Section,
    room: Room,
    fetch: &mut dyn FnMut(&Part) -> Result<Arc<Vec<u8>>>,
    visit: &mut dyn FnMut(&Part) -> Result<()>,
) -> Result<()> {
    visit_shaped(FORMAT, section, room, true, fetch, visit)
}

pub(super) fn visit_shaped(
    geometry: Geometry,
    section: &Section,
    room: Room,
    reads_leaves: bool,
    fetch: &mut Fetch<'_>,
    visit: &mut dyn FnMut(&Part) -> Result<()>,
) -> Result<()> {
    let mut fetch = |part: &Part| fetch(part).map(Some);
    let all = 0..section.n_records;
    walk(geometry, section, room, all, reads_leaves, &mut fetch, &mut |part, _| visit(&part))
}

/// Visits the parts with the `wanted` records, each with its wanted records if it is a leaf. Does
/// nothing if no records are wanted, or some that the section lacks.
fn walk(
    geometry: Geometry,
    section: &Section,
    room: Room,
    wanted: Range<u64>,
    reads_leaves: bool,
    fetch: &mut TryFetch<'_>,
    visit: &mut dyn FnMut(Part, &[u8]) -> Result<()>,
) -> Result<()> {
    let shape = section.shape(geometry, room)?;
    if wanted.is_empty() || wanted.end > section.n_records {
        return Ok(());
    }
    Walk { section, shape, room, wanted, reads_leaves, fetch, visit }.run()
}

/// A walk over the parts that cover the wanted records.
struct Walk<'a, 'f> {
    section: &'a Section,
    shape: Shape,
    room: Room,
    wanted: Range<u64>,
    /// Whether leaves are fetched, or only visited.
    reads_leaves: bool,
    fetch: &'a mut TryFetch<'f>,
    /// Visits each part, with the wanted records of a leaf.
    visit: &'a mut dyn FnMut(Part, &[u8]) -> Result<()>,
}

impl Walk<'_, '_> {
    fn run(mut self) -> Result<()> {
        self.part(self.section.top()?, self.section.height, 0..self.section.n_records)
    }

    /// Walks a part of this height that covers these records. The recursion is as deep as the
    /// height, at most eight.
    fn part(&mut self, part: Part, height: u8, covered: Range<u64>) -> Result<()> {
        if height == 0 && !self.reads_leaves {
            return (self.visit)(part, &[]);
        }
        let Some(bytes) = self.get(part)? else { return Ok(()) };
        let damage =
            |problem: &'static str| Error::corrupt(problem).in_section(self.section.name()).at(part.at);
        let wanted = self.wanted.start.max(covered.start)..self.wanted.end.min(covered.end);
        let Some(below) = height.checked_sub(1) else {
            let offset = |record: u64| {
                let records = record.checked_sub(covered.start)?;
                usize::try_from(records.checked_mul(self.shape.record_len)?).ok()
            };
            let range = offset(wanted.start).zip(offset(wanted.end)).map(|(from, to)| from..to);
            let Some(leaf) = range.and_then(|range| bytes.get(range)) else {
                return Err(damage("a part of a section is too short"));
            };
            (self.visit)(part, leaf)?;
            return Ok(());
        };
        (self.visit)(part, &[])?;
        if self.section.is_counted() {
            return self.counted_children(&bytes, part.at, below, covered);
        }
        // At least one record of a leaf, so never zero.
        let span = self.shape.span(below).max(1);
        let first = wanted.start.saturating_sub(covered.start) / span;
        let past = wanted.end.saturating_sub(covered.start).div_ceil(span);
        let (entries, _) = bytes.as_chunks::<ENTRY_LEN>();
        for number in first..past {
            let entry = usize::try_from(number).ok().and_then(|number| entries.get(number));
            let Some(entry) = entry else { return Err(damage("an index part is too short")) };
            let start = covered.start.saturating_add(number.saturating_mul(span));
            let child_covers = start..start.saturating_add(span).min(covered.end);
            let mut reader = Reader::exact(entry, ENTRY_LEN, "an index part")?;
            let child = Entry::parse(&mut reader)?;
            let child = self.section.part(below, child).map_err(|error| error.at(part.at))?;
            let n_records = child_covers.end.saturating_sub(child_covers.start);
            if self.shape.part_len(below, n_records) != Some(child.len.into()) {
                return Err(damage("the length of a part does not match its records"));
            }
            self.part(child, below, child_covers)?;
        }
        Ok(())
    }

    /// Walks the wanted children of an index part of a counted section. The part begins at `at` and
    /// covers these records.
    fn counted_children(&mut self, bytes: &[u8], at: u64, below: u8, covered: Range<u64>) -> Result<()> {
        let damage = |problem: &'static str| Error::corrupt(problem).in_section(self.section.name()).at(at);
        let (entries, _) = bytes.as_chunks::<COUNTED_ENTRY_LEN>();
        let before = |entry: &[u8; COUNTED_ENTRY_LEN]| {
            entry.last_chunk().map_or(u64::MAX, |before| u64::from_le_bytes(*before))
        };
        if entries.first().map(before) != Some(covered.start) {
            return Err(damage("an index part does not begin with its first record"));
        }
        let wanted = self.wanted.start.max(covered.start)..self.wanted.end.min(covered.end);
        let first = entries.partition_point(|entry| before(entry) <= wanted.start).saturating_sub(1);
        let mut rest = entries.get(first..).unwrap_or_default();
        while let Some((entry, next)) = rest.split_first() {
            let (start, end) = (before(entry), next.first().map_or(covered.end, before));
            if start >= wanted.end {
                break;
            }
            if start >= end || start < covered.start || end > covered.end {
                return Err(damage("the records of an index part do not ascend"));
            }
            let mut reader = Reader::exact(entry, COUNTED_ENTRY_LEN, "an index part")?;
            let child = Entry::parse(&mut reader)?;
            let child = self.section.part(below, child).map_err(|error| error.at(at))?;
            if !self.shape.is_counted_len(below, end.saturating_sub(start), child.len) {
                return Err(damage("the length of a part does not match its records"));
            }
            self.part(child, below, start..end)?;
            rest = next;
        }
        Ok(())
    }

    /// The bytes of a part.
    fn get(&mut self, part: Part) -> Result<Option<Arc<Vec<u8>>>> {
        let name = self.section.name();
        let placed = |error: Error| error.in_section(name).at(part.at);
        if !self.room.has(part.at, part.stored_len.into()) {
            return Err(placed(Error::corrupt("a part of a section is outside of the file")));
        }
        let Some(bytes) = (self.fetch)(&part).map_err(placed)? else { return Ok(None) };
        if len64(bytes.len()) != u64::from(part.len) {
            return Err(placed(Error::corrupt("a part of a section has another length")));
        }
        Ok(Some(bytes))
    }
}
