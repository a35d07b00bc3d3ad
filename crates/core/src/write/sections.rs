//! Writes the sections of a footer. Long ones that describe columns are compressed.

use entasis_encodings::{Codecs, LeafEncoder};
use entasis_format::{
    Compress, Filter, MIN_COLUMN_LEN, Result, Section, SectionEmitter, SectionKind, SectionRecords,
    sections_fit,
};

use super::reuse::{Reuse, filter_of_changes, reuse};
use crate::file::File;

/// Shorter sections are stored as they are: they take few bytes, and need no time to restore.
pub(super) const MIN_LEN: usize = 8 << 10;

/// The filter for records of a kind that LZ4 compresses; `None` for kinds stored as they are. Block
/// records stay as they are: scans read all of them first, and they are small next to values.
fn filter(kind: SectionKind) -> Option<Filter> {
    match kind {
        SectionKind::Blocks
        | SectionKind::Statistics
        | SectionKind::Ranges
        | SectionKind::Tables
        | SectionKind::Pieces
        | SectionKind::ColumnRanges => None,
        // Half of the index consists of hashes and empty slots. A shuffle would spread the matches.
        SectionKind::NameIndex | SectionKind::Names | SectionKind::ValueHeap => Some(Filter::None),
        SectionKind::Columns | SectionKind::Nodes | SectionKind::Runs => Some(Filter::Shuffle),
    }
}

/// The parts of sections with these records, and the non-empty sections. The first part is at `at`
/// in the file. `compression` is the setting of the values; 0 stores all sections as they are. A
/// change in place of `file` names its sections and leaves again, where they are equal.
///
/// # Errors
/// As for reading `file`.
pub(super) fn emit(
    records: &[SectionRecords<'_>],
    compression: Option<u8>,
    file: Option<&File>,
    at: u64,
) -> Result<(Vec<u8>, Vec<Section>)> {
    if compression == Some(0) {
        return emit_all(records, false, file, at);
    }
    let (bytes, sections) = emit_all(records, true, file, at)?;
    let end = at + bytes.len() as u64;
    // Many nearly equal columns or nodes can take fewer bytes than the format allows.
    if sections_fit(&sections, end) && n_columns(records) <= end / MIN_COLUMN_LEN {
        return Ok((bytes, sections));
    }
    emit_all(records, false, None, at)
}

fn emit_all(
    records: &[SectionRecords<'_>],
    compresses: bool,
    file: Option<&File>,
    at: u64,
) -> Result<(Vec<u8>, Vec<Section>)> {
    let mut codecs = Codecs::new();
    let mut emitter = SectionEmitter::new();
    let mut kept = Vec::new();
    for &records in records {
        let filter = filter(records.kind).filter(|_| compresses && records.bytes.len() >= MIN_LEN);
        let of_changes = filter_of_changes(records.kind, filter).filter(|_| compresses);
        let reuse = file.map_or(Ok(Reuse::None), |file| reuse(file, &records, of_changes))?;
        let filter = if let Reuse::Leaves(..) = reuse { of_changes } else { filter };
        let mut encoder =
            filter.map(|filter| (filter, LeafEncoder::new(&mut codecs, filter, records.record_len)));
        let mut store;
        let compress = match &mut encoder {
            None => None,
            Some((filter, encoder)) => {
                store = |leaf: &[u8], out: &mut Vec<u8>| encoder.store(leaf, out);
                Some(Compress { filter: *filter, store: &mut store })
            }
        };
        match reuse {
            Reuse::None => emitter.add(records, compress),
            Reuse::Section(section) => kept.push(section),
            Reuse::Leaves(leaves, filter) => emitter.add_counted(records, &leaves, filter, compress),
        }
    }
    let mut out = Vec::new();
    let mut sections = emitter.finish(at, &mut out);
    sections.retain(|section| section.n_records > 0);
    sections.extend(kept);
    Ok((out, sections))
}

/// The number of columns of a file with these records.
fn n_columns(records: &[SectionRecords<'_>]) -> u64 {
    let of = |wanted| records.iter().find(|records| records.kind == wanted);
    match (of(SectionKind::Runs).and_then(|runs| runs.bytes.last_chunk()), of(SectionKind::Columns)) {
        (Some(last), _) => u64::from_le_bytes(*last),
        (None, Some(columns)) => columns.bytes.len() as u64 / u64::from(columns.record_len.max(1)),
        (None, None) => 0,
    }
}

#[cfg(test)]
mod tests {
    use entasis_format::ColumnRecord;

    use super::*;

    #[test]
    fn short_files_compress_nothing() {
        let columns = vec![0; 20_000 * ColumnRecord::LEN];
        let names: Vec<u8> = (0..20_000u32).flat_map(|i| i.wrapping_mul(0x9E37_79B9).to_le_bytes()).collect();
        let codecs = |records: &[(SectionKind, &[u8])], compression| {
            let records: Vec<_> =
                records.iter().map(|(kind, bytes)| SectionRecords::new(*kind, 0, bytes)).collect();
            let (_, sections) = emit(&records, compression, None, 300).unwrap();
            sections.iter().map(|section| section.codec).collect::<Vec<_>>()
        };
        // 20,000 equal records take less than 4 bytes each.
        assert_eq!(codecs(&[(SectionKind::Columns, &columns)], Some(50)), [0]);
        let records = [(SectionKind::Columns, &columns[..]), (SectionKind::Names, &names)];
        assert_eq!(codecs(&records, Some(50)), [1, 0]);
        assert_eq!(codecs(&records, Some(0)), [0, 0]);
        // A run makes them more.
        let runs = [0u64, 30_000].map(u64::to_le_bytes).concat();
        let records = [records[0], records[1], (SectionKind::Runs, &runs)];
        assert_eq!(codecs(&records, Some(50)), [0, 0, 0]);
        let blocks = vec![0; 20_000 * SectionKind::Blocks.record_len() as usize];
        assert_eq!(codecs(&[(SectionKind::Blocks, &blocks)], Some(50)), [0]);
    }
}
