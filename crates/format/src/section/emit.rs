//! Writes sections: the records in leaves, and index parts above them.

use std::borrow::Cow;
use std::cmp::Reverse;

use super::{ENTRY_LEN, Entry, FORMAT, Geometry, PART_ALIGN, Section, SectionKind, Shape};
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
    /// The leaves. Their offsets count from the start of `bytes`.
    parts: Vec<Entry>,
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

    /// Appends the parts of all sections, each at a multiple of 8. `at` is the offset in the file
    /// of the next byte of `out`. Returns the sections in the order in which they were added.
    pub fn finish(self, at: u64, out: &mut Vec<u8>) -> Vec<Section> {
        let Self { geometry, mut sections } = self;
        let fan_out = usize::try_from(geometry.fan_out).unwrap_or(usize::MAX).max(2);
        let mut levels = Vec::new();
        for (number, leaves) in sections.iter_mut().enumerate() {
            let (mut n, mut len) = (leaves.parts.len(), leaves.bytes.len());
            levels.extend((n > 0).then_some((len, number)));
            while n > 1 {
                // A level needs the offsets of the level below. Only tiny leaves are shorter than
                // their index.
                len = len.min(n.saturating_mul(ENTRY_LEN));
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
                (section.part_at, section.part_len, section.stored_len, section.checksum) = *top;
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
        let mut bytes = Vec::new();
        let mut is_compressed = false;
        for leaf in records.chunks(leaf_len) {
            let len = len32(leaf.len());
            if compress.is_none() && is_aligned {
                let at = len64(self.parts.len()).saturating_mul(len64(leaf_len));
                self.parts.push((at, len, 0, checksum(leaf)));
                continue;
            }
            pad(&mut bytes, 0);
            let from = bytes.len();
            let is_shorter = compress.as_mut().is_some_and(|compress| (compress.store)(leaf, &mut bytes));
            if !is_shorter {
                bytes.extend_from_slice(leaf);
            }
            let stored = bytes.get(from..).unwrap_or_default();
            let stored_len = if is_shorter { len32(stored.len()) } else { 0 };
            self.parts.push((len64(from), len, stored_len, checksum(stored)));
            is_compressed |= is_shorter;
        }
        if let Some(compress) = compress.filter(|_| is_compressed) {
            (self.section.codec, self.section.filter) = (Codec::Lz4.code(), compress.filter.code());
        }
        self.bytes = if bytes.is_empty() { Cow::Borrowed(records) } else { Cow::Owned(bytes) };
    }

    /// Appends the next level: the leaves first, then the index parts of the level before.
    fn emit_level(&mut self, fan_out: usize, out: &mut Output<'_>) {
        let bytes = std::mem::take(&mut self.bytes);
        if !bytes.is_empty() {
            let at = out.append(&bytes);
            self.parts.iter_mut().for_each(|part| part.0 = part.0.saturating_add(at));
            return;
        }
        let mut index = Vec::new();
        let parts = self.parts.chunks(fan_out).map(|below| {
            index.clear();
            for (at, len, stored_len, checksum) in below {
                put!(index, at, len, stored_len, checksum);
            }
            (out.append(&index), len32(index.len()), 0, checksum(&index))
        });
        self.parts = parts.collect();
    }
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
