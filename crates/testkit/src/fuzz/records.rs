//! Records of the footer: any bytes are refused, or come back from the record as they were.

use entasis_format::{
    BlockRange, BlockRecord, ColumnRecord, Header, Layout, NameSlot, Node, Physical, Result, Root, RunNames,
    Runs, Section, Statistics, TableRecord, Trailer, Version,
};

use super::file;
use super::footer::Sections;
use crate::memory;
use crate::probe::is_fit;

/// Parses a record of bytes; returns the bytes that it emits.
type Parse = fn(&[u8]) -> Result<Vec<u8>>;

/// The records. The first byte of an input is an index here.
const RECORDS: &[Parse] = &[
    |bytes| Header::parse(bytes).map(|header| header.emit().to_vec()),
    |bytes| Trailer::parse(bytes).map(|trailer| trailer.emit().to_vec()),
    |bytes| Root::parse(bytes).map(|root| root.emit()),
    |bytes| emitted(Section::parse(bytes)?, Section::emit),
    |bytes| emitted(TableRecord::parse(bytes, Version::CURRENT)?, TableRecord::emit),
    |bytes| emitted(ColumnRecord::parse(bytes)?, ColumnRecord::emit),
    |bytes| emitted(BlockRecord::parse(bytes)?, BlockRecord::emit),
    |bytes| {
        let statistics = Statistics::parse(bytes, Version::CURRENT)?;
        for physical in Physical::ALL {
            // The result depends on the type. Here the check must only return.
            let _ = statistics.check(Layout { physical: *physical, value_len: 3 }, 7);
        }
        emitted(statistics, Statistics::emit)
    },
    |bytes| emitted(NameSlot::parse(bytes)?, NameSlot::emit),
    |bytes| emitted(Node::parse(bytes)?, Node::emit),
    |bytes| {
        let mut out = Vec::new();
        BlockRange::parse_all(bytes)?.iter().for_each(|range| range.emit(&mut out));
        Ok(out)
    },
    |bytes| {
        let n = (bytes.len() / 8).saturating_sub(1) as u64;
        let runs = Runs::parse(bytes, n)?;
        let starts = (0..n).map(|record| runs.columns_of(record));
        for (record, columns) in starts.enumerate() {
            let number = [columns.start, columns.end - 1].map(|column| runs.record_of(column));
            assert_eq!(number, [record as u64; 2], "a column belongs to the record that holds it");
        }
        let last = runs.n_columns(n);
        let starts = (0..n).map(|record| runs.columns_of(record).start);
        Ok(starts.chain([last]).flat_map(u64::to_le_bytes).collect())
    },
    |bytes| {
        let Some((&n, bytes)) = bytes.split_first() else { return Ok(Vec::new()) };
        let names = RunNames::parse(bytes, n.into())?;
        let mut out = vec![n];
        let ends: Vec<u32> = names.ends().collect();
        let joined: String = (0..ends.len()).map(|k| names.name(k)).collect();
        assert_eq!(joined, names.text(), "the names are the text");
        entasis_format::emit_run_names(&ends, names.text(), &mut out);
        Ok(out)
    },
];

fn emitted<T>(record: T, emit: fn(&T, &mut Vec<u8>)) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    emit(&record, &mut out);
    Ok(out)
}

/// Parses the record that the first byte names.
///
/// # Panics
/// When the record emits other bytes.
pub fn run(bytes: &[u8]) {
    let Some((&which, bytes)) = bytes.split_first() else { return };
    let which = usize::from(which) % RECORDS.len();
    let (result, used) = memory::peak(|| RECORDS[which](bytes));
    let most = (64 << 10) + 16 * bytes.len();
    assert!(used <= most, "record {which} of {} bytes took {used} bytes", bytes.len());
    match result {
        // A parsed header records that a slot is damaged, but not its bytes.
        Ok(emitted) if which == 0 => {
            let again = Header::parse(&emitted).map(|header| header.emit().to_vec());
            assert!(again.is_ok_and(|again| again == emitted), "a header comes back");
        }
        Ok(emitted) => assert!(emitted == bytes, "record {which} emits other bytes"),
        Err(error) => assert!(is_fit(&error), "{:?}: {error}", error.kind()),
    }
}

/// The records of the golden and small files.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = Vec::new();
    let mut add = |which: u8, bytes: &[u8]| {
        let seed = [&[which], bytes].concat();
        if !seeds.contains(&seed) {
            seeds.push(seed);
        }
    };
    for (file, decoded) in file::decoded() {
        add(0, &file[..256]);
        add(1, &file[file.len() - 64..]);
        let slot = decoded.header.current;
        let root = slot.root_at as usize..(slot.root_at as usize + slot.root_len as usize);
        add(2, &file[root.clone()]);
        add(3, &file[root.start + 160..root.start + 208]);
        let Some(sections) = Sections::of(&file) else { continue };
        for (which, kind, len) in [(4, 1, 96), (5, 2, 120), (6, 6, 64), (7, 7, 48), (8, 4, 16), (9, 8, 32)] {
            sections.records[kind - 1].chunks_exact(len).take(3).for_each(|record| add(which, record));
        }
        add(10, &sections.records[4]);
        add(11, &sections.records[9]);
    }
    add(12, &[&[2][..], &2u32.to_le_bytes(), &3u32.to_le_bytes(), b"abc"].concat());
    seeds.retain(|seed| seed.len() < 1000);
    seeds
}
