//! Writes sections: the records in leaves, and index parts above them.

use super::{Entry, FORMAT, Geometry, PART_ALIGN, Section, SectionKind, Shape};
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

/// Appends the parts of a section, each at a multiple of 8. `at` is the offset in the file of the
/// next byte of `out`. Leaves are stored as they are without `compress`.
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
    SectionRecords { tier, record_len, bytes: records, .. }: SectionRecords<'_>,
    at: u64,
    mut compress: Option<Compress<'_>>,
    out: &mut Vec<u8>,
) -> Section {
    let mut section = Section { kind, tier, record_len, ..Section::default() };
    let Some(shape) = Shape::new(geometry, record_len) else { return section };
    let n_records = len64(records.len()).checked_div(shape.record_len).unwrap_or(0);
    let whole = usize::try_from(n_records.saturating_mul(shape.record_len)).unwrap_or(0);
    let records = records.get(..whole).unwrap_or(records);

    let start = out.len();
    let mut put_part = |bytes: &[u8], compress: &mut Option<Compress<'_>>| -> Entry {
        let offset = |len: usize| at.saturating_add(len64(len.saturating_sub(start)));
        let padding = offset(out.len()).wrapping_neg() % PART_ALIGN;
        out.resize(out.len().saturating_add(usize::try_from(padding).unwrap_or(0)), 0);
        let from = out.len();
        let is_compressed = compress.as_mut().is_some_and(|compress| (compress.store)(bytes, out));
        if !is_compressed {
            out.extend_from_slice(bytes);
        }
        let stored = out.get(from..).unwrap_or_default();
        let stored_len = if is_compressed { len32(stored.len()) } else { 0 };
        (offset(from), len32(bytes.len()), stored_len, checksum(stored))
    };
    let leaf_len = usize::try_from(shape.leaf_records.saturating_mul(shape.record_len)).unwrap_or(usize::MAX);
    let leaves = records.chunks(leaf_len.max(1));
    let mut level: Vec<Entry> = leaves.map(|leaf| put_part(leaf, &mut compress)).collect();
    let is_compressed = level.iter().any(|(_, _, stored_len, _)| *stored_len > 0);
    if let Some(compress) = compress.filter(|_| is_compressed) {
        (section.codec, section.filter) = (Codec::Lz4.code(), compress.filter.code());
    }
    let fan_out = usize::try_from(shape.fan_out).unwrap_or(usize::MAX).max(2);
    let mut bytes = Vec::new();
    while level.len() > 1 {
        let mut above = Vec::with_capacity(level.len().div_ceil(fan_out));
        for parts in level.chunks(fan_out) {
            bytes.clear();
            for (at, len, stored_len, checksum) in parts {
                put!(bytes, at, len, stored_len, checksum);
            }
            above.push(put_part(&bytes, &mut None));
        }
        level = above;
        section.height = section.height.saturating_add(1);
    }
    if let Some(top) = level.first() {
        section.n_records = n_records;
        (section.part_at, section.part_len, section.stored_len, section.checksum) = *top;
    }
    section
}
