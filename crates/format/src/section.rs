//! Sections: arrays of records in checksummed parts (`docs/format/container.md`).

use std::ops::Range;
use std::sync::Arc;

use crate::bytes::{Reader, len32, len64, put, to_usize};
use crate::checksum::checksum;
use crate::error::{Error, Result, Thousands};
use crate::fallible;
use crate::limits::{Limits, MAX_TIERS, Room, SECTION_LEN};

codes! {
    /// The contents of a section.
    SectionKind: u16 {
        /// Tables.
        Tables = 1, "tables";
        /// Columns.
        Columns = 2, "columns";
        /// The heap of column names.
        Names = 3, "names";
        /// Hash tables of names.
        NameIndex = 4, "name index";
        /// Which blocks each column has.
        Ranges = 5, "ranges";
        /// Block records.
        Blocks = 6, "blocks";
        /// Statistics of blocks.
        Statistics = 7, "statistics";
        /// Nodes of the value tree.
        Nodes = 8, "nodes";
        /// Strings and bytes of the value tree.
        ValueHeap = 9, "value heap";
        /// The columns that each column record stands for.
        Runs = 10, "runs";
    }
}

impl SectionKind {
    /// Bytes of a record.
    pub const fn record_len(self) -> u32 {
        match self {
            Self::Tables | Self::Blocks => 64,
            Self::Columns => 104,
            Self::Names | Self::ValueHeap => 1,
            Self::NameIndex => 16,
            Self::Ranges => 24,
            Self::Runs => 8,
            Self::Statistics => 48,
            Self::Nodes => 32,
        }
    }

    /// Whether changes in place add sections of this kind next to the ones before.
    pub const fn has_tiers(self) -> bool {
        matches!(self, Self::Blocks | Self::Statistics)
    }
}

/// The records of one kind and tier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Section {
    /// The code of a [`SectionKind`], or an unknown one.
    pub kind: u16,
    /// 0 for kinds without tiers.
    pub tier: u16,
    /// Bytes of a record.
    pub record_len: u32,
    /// The number of records.
    pub n_records: u64,
    /// The place of the top part.
    pub part_at: u64,
    /// Bytes of the top part.
    pub part_len: u32,
    /// Index levels above the leaves.
    pub height: u8,
    /// Checksum of the top part.
    pub checksum: u64,
}

/// Sizes of parts: the format's, or smaller ones in tests.
#[derive(Clone, Copy)]
struct Geometry {
    part_len: u64,
    fan_out: u64,
}

const FORMAT: Geometry = Geometry { part_len: 65_536, fan_out: 2_730 };

/// Parts begin at multiples of this.
const PART_ALIGN: u64 = 8;

/// The longest record of a known kind, in bytes.
const MAX_RECORD_LEN: u32 = 4096;

/// Bytes of an entry of an index part.
const ENTRY_LEN: usize = 24;

/// A part: a leaf with records, or an index of parts.
#[derive(Clone, Copy)]
struct Part {
    at: u64,
    len: u32,
    sum: u64,
}

/// How the records of a section spread over its parts.
#[derive(Clone, Copy)]
struct Shape {
    record_len: u64,
    leaf_records: u64,
    fan_out: u64,
}

impl Shape {
    /// The spread; none when a leaf has no room for a record.
    fn new(geometry: Geometry, record_len: u32) -> Option<Self> {
        let record_len = u64::from(record_len);
        let leaf_records = geometry.part_len.checked_div(record_len).filter(|n| *n > 0)?;
        Some(Self { record_len, leaf_records, fan_out: geometry.fan_out })
    }

    /// The records under a part of this height, or `u64::MAX` if they are more.
    fn span(&self, height: u8) -> u64 {
        self.leaf_records.saturating_mul(self.fan_out.saturating_pow(height.into()))
    }

    /// The smallest height that covers `n_records`.
    fn height(&self, n_records: u64) -> u8 {
        (0..u8::MAX).find(|height| self.span(*height) >= n_records).unwrap_or(u8::MAX)
    }

    /// Bytes of a part of this height with `n_records` under it.
    fn part_len(&self, height: u8, n_records: u64) -> Option<u64> {
        match height.checked_sub(1) {
            None => n_records.checked_mul(self.record_len),
            Some(below) => n_records.div_ceil(self.span(below)).checked_mul(ENTRY_LEN as u64),
        }
    }
}

impl Section {
    /// Bytes of a section record.
    pub const LEN: usize = SECTION_LEN;

    /// The name of the kind, for messages.
    pub fn name(&self) -> &'static str {
        SectionKind::from_code(self.kind).map_or("unknown", SectionKind::name)
    }

    /// Bytes of all records.
    pub const fn records_len(&self) -> Option<u64> {
        self.n_records.checked_mul(self.record_len as u64)
    }

    /// Appends the section record.
    pub fn emit(&self, out: &mut Vec<u8>) {
        put!(out, self.kind, self.tier, self.record_len, self.n_records, self.part_at, self.part_len);
        put!(out, self.height, 0u8, 0u16, self.checksum, 0u64);
    }

    /// Parses the section record in exactly these bytes. [`Section::check`] checks its contents.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::exact(bytes, Self::LEN, "a section record")?;
        let (kind, tier, record_len) = (reader.u16()?, reader.u16()?, reader.u32()?);
        let (n_records, part_at, part_len) = (reader.u64()?, reader.u64()?, reader.u32()?);
        let height = reader.u8()?;
        reader.reserved::<3>()?;
        let checksum = reader.u64()?;
        reader.reserved::<8>()?;
        Ok(Self { kind, tier, record_len, n_records, part_at, part_len, height, checksum })
    }

    /// Checks that a file with this room can have this section.
    ///
    /// # Errors
    /// *Corrupt*.
    pub fn check(&self, room: Room) -> Result<()> {
        self.shape(FORMAT, room).map(|_| ())
    }

    /// The checked shape.
    fn shape(&self, geometry: Geometry, room: Room) -> Result<Shape> {
        let damage = |problem: &'static str| Err(Error::corrupt(problem).in_section(self.name()));
        if let Some(kind) = SectionKind::from_code(self.kind) {
            if self.tier >= if kind.has_tiers() { MAX_TIERS } else { 1 } {
                return damage("a section has an impossible tier");
            }
            // Longer records have fields of a later version.
            let len = kind.record_len();
            let is_longer = len > 1 && (len..=MAX_RECORD_LEN).contains(&self.record_len);
            if self.record_len != len && !is_longer {
                return damage("the record length of a section is wrong");
            }
        }
        let Some(shape) = Shape::new(geometry, self.record_len) else {
            return damage("the record length of a section is impossible");
        };
        if self.n_records == 0 {
            return if (self.part_at, self.part_len, self.height, self.checksum) == (0, 0, 0, 0) {
                Ok(shape)
            } else {
                damage("an empty section has a place")
            };
        }
        // Leaves do not overlap, so a section longer than the file is damage. This bounds the work
        // of a walk.
        if self.records_len().is_none_or(|len| len > room.end) {
            return damage("a section has more records than the file has room for");
        }
        if self.height != shape.height(self.n_records)
            || shape.part_len(self.height, self.n_records) != Some(self.part_len.into())
        {
            return damage("the height or length of a section does not match its records");
        }
        if !room.has(self.part_at, self.part_len.into()) {
            return damage("a part of a section is outside of the file");
        }
        Ok(shape)
    }

    const fn top(&self) -> Part {
        Part { at: self.part_at, len: self.part_len, sum: self.checksum }
    }
}

/// Appends the parts of a section with these contiguous records, each at a multiple of 8. `at` is
/// the place in the file of the next byte of `out`. Bytes after the last whole record are not
/// written.
pub fn emit_section(
    kind: SectionKind,
    tier: u16,
    record_len: u32,
    records: &[u8],
    at: u64,
    out: &mut Vec<u8>,
) -> Section {
    emit_parts(FORMAT, kind.code(), tier, record_len, records, at, out)
}

fn emit_parts(
    geometry: Geometry,
    kind: u16,
    tier: u16,
    record_len: u32,
    records: &[u8],
    mut at: u64,
    out: &mut Vec<u8>,
) -> Section {
    let empty =
        Section { kind, tier, record_len, n_records: 0, part_at: 0, part_len: 0, height: 0, checksum: 0 };
    let Some(shape) = Shape::new(geometry, record_len) else { return empty };
    let n_records = len64(records.len()).checked_div(shape.record_len).unwrap_or(0);
    let whole = usize::try_from(n_records.saturating_mul(shape.record_len)).unwrap_or(0);
    let records = records.get(..whole).unwrap_or(records);

    let mut put_part = |bytes: &[u8]| {
        let padding = at.wrapping_neg() % PART_ALIGN;
        out.resize(out.len().saturating_add(usize::try_from(padding).unwrap_or(0)), 0);
        at = at.saturating_add(padding);
        let part = Part { at, len: len32(bytes.len()), sum: checksum(bytes) };
        out.extend_from_slice(bytes);
        at = at.saturating_add(len64(bytes.len()));
        part
    };
    let leaf_len = usize::try_from(shape.leaf_records.saturating_mul(shape.record_len)).unwrap_or(usize::MAX);
    let mut level: Vec<Part> = records.chunks(leaf_len.max(1)).map(&mut put_part).collect();
    let mut height = 0;
    let fan_out = usize::try_from(shape.fan_out).unwrap_or(usize::MAX).max(2);
    let mut bytes = Vec::new();
    while level.len() > 1 {
        let mut above = Vec::with_capacity(level.len().div_ceil(fan_out));
        for parts in level.chunks(fan_out) {
            bytes.clear();
            for part in parts {
                put!(bytes, part.at, part.len, 0u32, part.sum);
            }
            above.push(put_part(&bytes));
        }
        level = above;
        height += 1;
    }
    match level.first() {
        None => empty,
        Some(top) => {
            Section { n_records, part_at: top.at, part_len: top.len, height, checksum: top.sum, ..empty }
        }
    }
}

/// The use of the memory, in messages.
const RECORDS: &str = "records of the footer";

/// Returns the bytes of a part, given its place and length in the file.
type Fetch<'a> = dyn FnMut(u64, usize) -> Result<Arc<Vec<u8>>> + 'a;

/// The bytes of these records, each as long as this version knows records of its kind. `fetch`
/// returns the bytes at a place of the file and may cache them: their length and checksum are
/// verified every time.
pub fn read_records(
    section: &Section,
    records: Range<u64>,
    room: Room,
    limits: &Limits,
    fetch: &mut dyn FnMut(u64, usize) -> Result<Arc<Vec<u8>>>,
) -> Result<Vec<u8>> {
    read_shaped(FORMAT, section, records, room, limits, fetch)
}

fn read_shaped(
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
        // Not before the first bytes are there: the number of records may be false.
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
    let mut walk = Walk { section, shape, room, wanted: records, fetch, visit: &mut keep };
    walk.part(section.top(), section.height, 0..section.n_records)?;
    // The walk checks every length, so nothing can be missing. Callers rely on it all the same.
    if out.len() == capacity {
        Ok(out)
    } else {
        Err(Error::corrupt("some records of a section are missing").in_section(section.name()))
    }
}

/// Reads and verifies all parts of a section. Visits the place and length of each, an index before
/// the parts that it covers.
pub fn visit_parts(
    section: &Section,
    room: Room,
    fetch: &mut dyn FnMut(u64, usize) -> Result<Arc<Vec<u8>>>,
    visit: &mut dyn FnMut(u64, u32) -> Result<()>,
) -> Result<()> {
    visit_shaped(FORMAT, section, room, fetch, visit)
}

fn visit_shaped(
    geometry: Geometry,
    section: &Section,
    room: Room,
    fetch: &mut Fetch<'_>,
    visit: &mut dyn FnMut(u64, u32) -> Result<()>,
) -> Result<()> {
    let shape = section.shape(geometry, room)?;
    if section.n_records == 0 {
        return Ok(());
    }
    let wanted = 0..section.n_records;
    let mut tell = |part: Part, _: &[u8]| visit(part.at, part.len);
    let mut walk = Walk { section, shape, room, wanted, fetch, visit: &mut tell };
    walk.part(section.top(), section.height, 0..section.n_records)
}

/// A walk over the parts that cover the wanted records.
struct Walk<'a, 'f> {
    section: &'a Section,
    shape: Shape,
    room: Room,
    wanted: Range<u64>,
    fetch: &'a mut Fetch<'f>,
    /// Visits each part, with the wanted records of a leaf.
    visit: &'a mut dyn FnMut(Part, &[u8]) -> Result<()>,
}

impl Walk<'_, '_> {
    /// Walks a part of this height that covers these records. The recursion is as deep as the
    /// height, at most six.
    fn part(&mut self, part: Part, height: u8, covered: Range<u64>) -> Result<()> {
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
            let (at, len) = (reader.u64()?, reader.u32()?);
            if reader.u32()? != 0 {
                return Err(damage("reserved bytes of an index part are not zero"));
            }
            let child = Part { at, len, sum: reader.u64()? };
            let n_records = child_covers.end.saturating_sub(child_covers.start);
            if self.shape.part_len(below, n_records) != Some(len.into()) {
                return Err(damage("the length of a part does not match its records"));
            }
            self.part(child, below, child_covers)?;
        }
        Ok(())
    }

    /// The verified bytes of a part.
    fn get(&mut self, part: Part) -> Result<Arc<Vec<u8>>> {
        let name = self.section.name();
        let placed = |error: Error| error.in_section(name).at(part.at);
        if !self.room.has(part.at, part.len.into()) {
            return Err(placed(Error::corrupt("a part of a section is outside of the file")));
        }
        let len = to_usize(part.len.into(), "a part of a section").map_err(placed)?;
        let bytes = (self.fetch)(part.at, len).map_err(placed)?;
        if bytes.len() != len {
            return Err(placed(Error::corrupt("the file ends within a part of a section: it is truncated")));
        }
        if checksum(&bytes) != part.sum {
            return Err(placed(Error::corrupt("the checksum of a part of a section does not match")));
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests;
