//! Writes the sections of a footer. Long ones that describe columns are compressed.

use entasis_encodings::{Codecs, LeafEncoder};
use entasis_format::{Compress, Filter, Section, SectionKind, SectionRecords, emit_section};

/// Shorter sections are stored as they are: LZ4 would take longer than it takes to read them.
const MIN_LEN: usize = 8 << 10;

/// The filter under which LZ4 compresses the records of a kind. None for kinds that are stored as
/// they are: scans look at all blocks first, and block records take little next to values.
fn filter(kind: SectionKind) -> Option<Filter> {
    match kind {
        SectionKind::Blocks | SectionKind::Statistics | SectionKind::Ranges | SectionKind::Tables => None,
        // Half of the index are hashes and empty slots. A shuffle would spread the matches.
        SectionKind::NameIndex | SectionKind::Names | SectionKind::ValueHeap => Some(Filter::None),
        SectionKind::Columns | SectionKind::Nodes | SectionKind::Runs => Some(Filter::Shuffle),
    }
}

/// Appends the parts of a section to `out`, whose next byte is at `at` in the file. `compression`
/// is the setting of the values; 0 stores all sections as they are.
pub(super) fn emit(
    records: SectionRecords<'_>,
    compression: Option<u8>,
    at: u64,
    codecs: &mut Codecs,
    out: &mut Vec<u8>,
) -> Section {
    let is_stored = compression == Some(0) || records.bytes.len() < MIN_LEN;
    let Some(filter) = filter(records.kind).filter(|_| !is_stored) else {
        return emit_section(records, at, None, out);
    };
    let mut encoder = LeafEncoder::new(codecs, filter, records.record_len);
    let store = &mut |leaf: &[u8], out: &mut Vec<u8>| encoder.store(leaf, out);
    emit_section(records, at, Some(Compress { filter, store }), out)
}
