//! Reads sections: the parts that cover the wanted records.

use std::ops::Range;
use std::sync::Arc;

use super::{ENTRY_LEN, FORMAT, Geometry, Part, Section, SectionKind, Shape};
use crate::bytes::{Reader, len64, to_usize};
use crate::error::{Error, Result, Thousands};
use crate::fallible;
use crate::limits::{Limits, Room};

/// The use of the memory, in messages.
const RECORDS: &str = "records of the footer";

/// Returns the bytes of a part. It must [check](Part::check) what it reads from the file, and
/// restore a compressed leaf.
type Fetch<'a> = dyn FnMut(&Part) -> Result<Arc<Vec<u8>>> + 'a;

/// The bytes of these records. Each record has the length that this version knows for its kind.
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
    read_shaped(FORMAT, section, records, room, limits, fetch)
}

pub(super) fn read_shaped(
    geometry: Geometry,
    section: &Section,
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
    let known = SectionKind::from_code(section.kind).map_or(section.record_len, SectionKind::record_len);
    let known = usize::try_from(known).unwrap_or(usize::MAX);
    let is_longer = u64::from(section.record_len) > len64(known);
    let n = records.end - records.start;
    let capacity = to_usize(if is_longer { n.saturating_mul(len64(known)) } else { len }, RECORDS)?;
    let mut out = Vec::new();
    let mut keep = |_: Part, bytes: &[u8]| {
        // Reserve only after the first bytes are read, because the number of records may be false.
        if out.is_empty() {
            fallible::reserve(&mut out, capacity, RECORDS)?;
        }
        if is_longer {
            for record in bytes.chunks_exact(section.record_len as usize) {
                out.extend_from_slice(record.get(..known).unwrap_or(record));
            }
        } else {
            out.extend_from_slice(bytes);
        }
        Ok(())
    };
    let (wanted, reads_leaves) = (records, true);
    let mut walk = Walk { section, shape, room, wanted, reads_leaves, fetch, visit: &mut keep };
    walk.part(section.top()?, section.height, 0..section.n_records)?;
    // The walk checks every length, so nothing can be missing. Callers rely on it all the same.
    if out.len() == capacity {
        Ok(out)
    } else {
        Err(Error::corrupt("some records of a section are missing").in_section(section.name()))
    }
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
    let shape = section.shape(geometry, room)?;
    if section.n_records == 0 {
        return Ok(());
    }
    let wanted = 0..section.n_records;
    let mut tell = |part: Part, _: &[u8]| visit(&part);
    let mut walk = Walk { section, shape, room, wanted, reads_leaves, fetch, visit: &mut tell };
    walk.part(section.top()?, section.height, 0..section.n_records)
}

/// A walk over the parts that cover the wanted records.
struct Walk<'a, 'f> {
    section: &'a Section,
    shape: Shape,
    room: Room,
    wanted: Range<u64>,
    /// Whether leaves are fetched, or only visited.
    reads_leaves: bool,
    fetch: &'a mut Fetch<'f>,
    /// Visits each part, with the wanted records of a leaf.
    visit: &'a mut dyn FnMut(Part, &[u8]) -> Result<()>,
}

impl Walk<'_, '_> {
    /// Walks a part of this height that covers these records. The recursion is as deep as the
    /// height, at most six.
    fn part(&mut self, part: Part, height: u8, covered: Range<u64>) -> Result<()> {
        if height == 0 && !self.reads_leaves {
            return (self.visit)(part, &[]);
        }
        let bytes = self.get(part)?;
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
            let (at, len, stored_len) = (reader.u64()?, reader.u32()?, reader.u32()?);
            let entry = (at, len, stored_len, reader.u64()?);
            let child = self.section.part(below, entry).map_err(|error| error.at(part.at))?;
            let n_records = child_covers.end.saturating_sub(child_covers.start);
            if self.shape.part_len(below, n_records) != Some(len.into()) {
                return Err(damage("the length of a part does not match its records"));
            }
            self.part(child, below, child_covers)?;
        }
        Ok(())
    }

    /// The bytes of a part.
    fn get(&mut self, part: Part) -> Result<Arc<Vec<u8>>> {
        let name = self.section.name();
        let placed = |error: Error| error.in_section(name).at(part.at);
        if !self.room.has(part.at, part.stored_len.into()) {
            return Err(placed(Error::corrupt("a part of a section is outside of the file")));
        }
        let bytes = (self.fetch)(&part).map_err(placed)?;
        if len64(bytes.len()) != u64::from(part.len) {
            return Err(placed(Error::corrupt("a part of a section has another length")));
        }
        Ok(bytes)
    }
}
