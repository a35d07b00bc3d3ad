//! Writes sections: the records in leaves, and index parts above them.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::Range;

use super::{
    COUNTED, COUNTED_ENTRY_LEN, COUNTED_FAN_OUT, ENTRY_LEN, Entry, FORMAT, Geometry, PART_ALIGN, Part,
    Section, SectionKind, Shape,
};
use crate::bytes::{len32, len64, put};
use crate::checksum::checksum;
use crate::encoding::{Codec, Filter};

/// The records of a section that is to be written.
#[derive(Clone, Copy, Debug)]
pub struct SectionRecords<'a> {
    /// Their kind.
    pub kind: SectionKind,
    /// Their tier; 0 for kinds without tiers.
    pub tier: u16,
    /// Bytes of a record.
    pub record_len: u32,
    /// All records. Bytes after the last whole one are not written.
    pub bytes: &'a [u8],
}

impl<'a> SectionRecords<'a> {
    /// Records as long as this version knows them.
    pub const fn new(kind: SectionKind, tier: u16, bytes: &'a [u8]) -> Self {
        Self { kind, tier, record_len: kind.record_len(), bytes }
    }
}

/// Compresses leaves with LZ4.
pub struct Compress<'a> {
    /// The filter that `store` applies first.
    pub filter: Filter,
    /// Compresses a leaf and appends it to a buffer if that makes it shorter. Else it returns false
    /// and leaves the buffer as it was.
    pub store: &'a mut dyn FnMut(&[u8], &mut Vec<u8>) -> bool,
}

/// Lays out the sections of a footer. Each level of a section's tree is contiguous. The levels
/// come in descending order of their bytes, so a read of the last bytes of the footer holds all
/// index parts and as many whole sections as possible.
pub struct SectionEmitter<'a> {
    geometry: Geometry,
    sections: Vec<Leaves<'a>>,
}

/// A section whose parts have no offsets yet.
struct Leaves<'a> {
    /// Everything but the top part.
    section: Section,
    bytes: Cow<'a, [u8]>,
    /// The leaves.
    parts: Vec<Placed>,
}

/// A part of a section.
struct Placed {
    entry: Entry,
    /// Whether its offset is one in the file. Otherwise it counts from the start of the bytes of
    /// its section.
    is_in_file: bool,
    /// The number of records before those of the part.
    before: u64,
}

/// A leaf of a counted section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeafSource {
    /// A leaf of the file, which stays where it is.
    Kept(Part),
    /// New leaves for these records.
    New(Range<u64>),
}

impl<'a> SectionEmitter<'a> {
    /// Without sections.
    pub const fn new() -> Self {
        Self::with(FORMAT)
    }

    pub(super) const fn with(geometry: Geometry) -> Self {
        Self { geometry, sections: Vec::new() }
    }

    /// Adds a section. Leaves are stored as they are without `compress`.
    pub fn add(&mut self, records: SectionRecords<'a>, compress: Option<Compress<'_>>) {
        self.add_kind(records.kind.code(), records, compress);
    }

    pub(super) fn add_kind(
        &mut self,
        kind: u16,
        records: SectionRecords<'a>,
        compress: Option<Compress<'_>>,
    ) {
        let SectionRecords { tier, record_len, bytes: records, .. } = records;
        let section = Section { kind, tier, record_len, ..Section::default() };
        let mut leaves = Leaves { section, bytes: Cow::Borrowed(&[]), parts: Vec::new() };
        if let Some(shape) = Shape::new(self.geometry, record_len) {
            let n_records = len64(records.len()).checked_div(shape.record_len).unwrap_or(0);
            let whole = usize::try_from(n_records.saturating_mul(shape.record_len)).unwrap_or(0);
            leaves.section.n_records = n_records;
            let leaf_len = shape.leaf_records.saturating_mul(shape.record_len);
            let leaf_len = usize::try_from(leaf_len).unwrap_or(usize::MAX).max(1);
            leaves.cut(records.get(..whole).unwrap_or(records), leaf_len, compress);
        }
        self.sections.push(leaves);
    }

    /// Adds a section that has some of its leaves in the file already. `leaves` covers the records
    /// in order. `filter` is that of the compressed leaves of the file, if any leaf may be
    /// compressed; `compress` has the same one.
    pub fn add_counted(
        &mut self,
        records: SectionRecords<'a>,
        leaves: &[LeafSource],
        filter: Option<Filter>,
        mut compress: Option<Compress<'_>>,
    ) {
        let SectionRecords { kind, tier, record_len, bytes: records } = records;
        let mut section =
            Section { kind: kind.code(), tier, record_len, flags: COUNTED, ..Section::default() };
        if let Some(filter) = filter {
            (section.codec, section.filter) = (Codec::Lz4.code(), filter.code());
        }
        let mut all = Leaves { section, bytes: Cow::Borrowed(&[]), parts: Vec::new() };
        let mut bytes = Vec::new();
        let record_len = u64::from(record_len.max(1));
        let at = |record: u64| usize::try_from(record.saturating_mul(record_len)).unwrap_or(usize::MAX);
        let leaf_len = at(self.geometry.part_len / record_len).max(at(1));
        for leaf in leaves {
            match leaf {
                LeafSource::Kept(part) => all.push_counted(Entry::of(part), true),
                LeafSource::New(range) => {
                    let new = records.get(at(range.start)..at(range.end)).unwrap_or_default();
                    for leaf in new.chunks(leaf_len) {
                        all.push_counted(store_leaf(leaf, &mut bytes, &mut compress), false);
                    }
                }
            }
        }
        all.end(bytes, compress);
        self.sections.push(all);
    }

    /// Appends the parts of all sections, each at a multiple of 8. `at` is the offset in the file
    /// of the next byte of `out`. Returns the sections in the order in which they were added.
    pub fn finish(self, at: u64, out: &mut Vec<u8>) -> Vec<Section> {
        let Self { geometry, mut sections } = self;
        let fan_out = usize::try_from(geometry.fan_out).unwrap_or(usize::MAX).max(2);
        let mut levels = Vec::new();
        for (number, leaves) in sections.iter_mut().enumerate() {
            let fan_out = leaves.fan_out(fan_out);
            // If all leaves are in the file, only index parts are written.
            let has_new = leaves.parts.iter().any(|part| !part.is_in_file);
            let mut n = leaves.parts.len();
            let mut len = if has_new { leaves.bytes.len() } else { usize::MAX };
            levels.extend(has_new.then_some((len, number)));
            while n > 1 {
                // A level needs the offsets of the level below. Only tiny leaves are shorter than
                // their index.
                len = len.min(n.saturating_mul(leaves.entry_len()));
                levels.push((len, number));
                n = n.div_ceil(fan_out);
                leaves.section.height = leaves.section.height.saturating_add(1);
            }
        }
        levels.sort_by_key(|&(len, _)| Reverse(len));
        let start = out.len();
        let mut out = Output { bytes: out, at, start };
        for (_, number) in levels {
            if let Some(leaves) = sections.get_mut(number) {
                leaves.emit_level(fan_out, &mut out);
            }
        }
        let with_top = |Leaves { mut section, parts, .. }: Leaves<'_>| {
            if let Some(top) = parts.first() {
                let Entry { at, len, stored_len, checksum } = top.entry;
                (section.part_at, section.part_len) = (at, len);
                (section.stored_len, section.checksum) = (stored_len, checksum);
            } else {
                section.n_records = 0;
            }
            section
        };
        sections.into_iter().map(with_top).collect()
    }
}

impl Default for SectionEmitter<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a> Leaves<'a> {
    /// Cuts records into leaves. Bytes are copied only if some are compressed or padded.
    fn cut(&mut self, records: &'a [u8], leaf_len: usize, mut compress: Option<Compress<'_>>) {
        let is_aligned = len64(leaf_len).is_multiple_of(PART_ALIGN) || records.len() <= leaf_len;
        self.bytes = Cow::Borrowed(records);
        let mut bytes = Vec::new();
        for leaf in records.chunks(leaf_len) {
            let entry = if compress.is_none() && is_aligned {
                let at = len64(self.parts.len()).saturating_mul(len64(leaf_len));
                Entry { at, len: len32(leaf.len()), stored_len: 0, checksum: checksum(leaf) }
            } else {
                store_leaf(leaf, &mut bytes, &mut compress)
            };
            self.parts.push(Placed { entry, is_in_file: false, before: 0 });
        }
        self.end(bytes, compress);
    }

    /// Appends a leaf of a counted section, whose records follow those so far.
    fn push_counted(&mut self, entry: Entry, is_in_file: bool) {
        let before = self.section.n_records;
        self.parts.push(Placed { entry, is_in_file, before });
        let n = u64::from(entry.len) / u64::from(self.section.record_len.max(1));
        self.section.n_records = before.saturating_add(n);
    }

    /// Takes the stored bytes of the leaves, if they were copied, and enters how new leaves are
    /// compressed.
    fn end(&mut self, bytes: Vec<u8>, compress: Option<Compress<'_>>) {
        let is_compressed = self.parts.iter().any(|part| !part.is_in_file && part.entry.stored_len > 0);
        if let Some(compress) = compress.filter(|_| is_compressed) {
            (self.section.codec, self.section.filter) = (Codec::Lz4.code(), compress.filter.code());
        }
        if !bytes.is_empty() {
            self.bytes = Cow::Owned(bytes);
        }
    }

    /// Appends the next level: the leaves first, then the index parts of the level before.
    fn emit_level(&mut self, fan_out: usize, out: &mut Output<'_>) {
        let bytes = std::mem::take(&mut self.bytes);
        if self.parts.iter().any(|part| !part.is_in_file) {
            let at = out.append(&bytes);
            for part in self.parts.iter_mut().filter(|part| !part.is_in_file) {
                part.entry.at = part.entry.at.saturating_add(at);
                part.is_in_file = true;
            }
            return;
        }
        let mut index = Vec::new();
        let is_counted = self.section.is_counted();
        let parts = self.parts.chunks(self.fan_out(fan_out)).map(|below| {
            index.clear();
            for Placed { entry, before, .. } in below {
                entry.emit(&mut index);
                if is_counted {
                    put!(index, before);
                }
            }
            let (len, checksum) = (len32(index.len()), checksum(&index));
            let entry = Entry { at: out.append(&index), len, stored_len: 0, checksum };
            Placed { entry, is_in_file: true, before: below.first().map_or(0, |part| part.before) }
        });
        self.parts = parts.collect();
    }

    /// The most entries of an index part. `uniform` is that of a section that is not counted.
    fn fan_out(&self, uniform: usize) -> usize {
        if self.section.is_counted() { uniform.min(COUNTED_FAN_OUT) } else { uniform }
    }

    fn entry_len(&self) -> usize {
        if self.section.is_counted() { COUNTED_ENTRY_LEN } else { ENTRY_LEN }
    }
}

/// Appends the stored bytes of a leaf at a multiple of 8. Returns its entry, whose offset is one in
/// `bytes`.
fn store_leaf(leaf: &[u8], bytes: &mut Vec<u8>, compress: &mut Option<Compress<'_>>) -> Entry {
    pad(bytes, 0);
    let from = bytes.len();
    let is_shorter = compress.as_mut().is_some_and(|compress| (compress.store)(leaf, bytes));
    if !is_shorter {
        bytes.extend_from_slice(leaf);
    }
    let stored = bytes.get(from..).unwrap_or_default();
    let stored_len = if is_shorter { len32(stored.len()) } else { 0 };
    Entry { at: len64(from), len: len32(leaf.len()), stored_len, checksum: checksum(stored) }
}

/// The bytes of the footer.
struct Output<'a> {
    bytes: &'a mut Vec<u8>,
    /// The offset in the file of the byte `start`.
    at: u64,
    start: usize,
}

impl Output<'_> {
    /// Appends bytes at a multiple of 8. Returns their offset in the file.
    fn append(&mut self, bytes: &[u8]) -> u64 {
        let before = self.at.wrapping_sub(len64(self.start));
        pad(self.bytes, before);
        let at = before.wrapping_add(len64(self.bytes.len()));
        self.bytes.extend_from_slice(bytes);
        at
    }
}

/// Appends zeros up to a multiple of 8. `before` bytes come before these.
fn pad(bytes: &mut Vec<u8>, before: u64) {
    let padding = before.wrapping_add(len64(bytes.len())).wrapping_neg() % PART_ALIGN;
    bytes.resize(bytes.len().saturating_add(usize::try_from(padding).unwrap_or(0)), 0);
}

/// Appends the parts of one section, as a [`SectionEmitter`].
pub fn emit_section(
    records: SectionRecords<'_>,
    at: u64,
    compress: Option<Compress<'_>>,
    out: &mut Vec<u8>,
) -> Section {
    emit_parts(FORMAT, records.kind.code(), records, at, compress, out)
}

/// As [`emit_section`], for records of the kind, tier, record length and flags of `section`, whose
/// kind may be unknown. Leaves are stored as they are.
pub fn emit_like(section: &Section, records: &[u8], at: u64, out: &mut Vec<u8>) -> Section {
    let &Section { tier, record_len, flags, .. } = section;
    let records = SectionRecords { kind: SectionKind::Tables, tier, record_len, bytes: records };
    Section { flags, ..emit_parts(FORMAT, section.kind, records, at, None, out) }
}

pub(super) fn emit_parts(
    geometry: Geometry,
    kind: u16,
    records: SectionRecords<'_>,
    at: u64,
    compress: Option<Compress<'_>>,
    out: &mut Vec<u8>,
) -> Section {
    let mut emitter = SectionEmitter::with(geometry);
    emitter.add_kind(kind, records, compress);
    emitter.finish(at, out).pop().unwrap_or_default()
}
