//! Opening a file and reading one column by name takes few rounds of reads, one after the other.
//! Remote sources wait for each of them.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::common::{self, Memory, Model};
use entasis::{
    Change, Durable, File, Frame, Kind, Limits, MemorySink, MemorySource, Operation, Rows, Silent, Source,
    Value, WriteOptions,
};
use entasis_encodings::restore_part;
use entasis_format::{
    Features, HEADER_LEN, Header, Part, Room, Root, SectionKind, SectionRecords, Slot, SlotState,
    TRAILER_LEN, Trailer, Version, checksum, emit_section, read_records,
};

/// Rows of a wide table: its columns are not bundled.
const N_ROWS: usize = 8192;

/// The reads of a round: offset and length of each.
type Round = Vec<(u64, usize)>;

/// A source that records rounds of reads. A batch is one round.
#[derive(Clone)]
struct Remote {
    inner: MemorySource,
    rounds: Arc<Mutex<Vec<Round>>>,
}

impl Source for Remote {
    fn len(&self) -> u64 {
        self.inner.len()
    }

    fn read_at(&self, at: u64, out: &mut [u8]) -> io::Result<usize> {
        self.rounds.lock().unwrap().push(vec![(at, out.len())]);
        self.inner.read_at(at, out)
    }

    fn read_many(&self, parts: &mut [(u64, &mut [u8])]) -> io::Result<()> {
        self.rounds.lock().unwrap().push(parts.iter().map(|(at, out)| (*at, out.len())).collect());
        self.inner.read_many(parts)
    }
}

/// The rounds for opening a file and reading one column by its name.
fn rounds(bytes: &MemorySource, name: &str, model: &Model) -> Vec<Round> {
    let source = Remote { inner: bytes.clone(), rounds: Arc::default() };
    let file = File::from_source(Box::new(source.clone()), Path::new("remote"), Limits::default()).unwrap();
    let column = file.find(name).unwrap();
    common::check(&file, column, model, &Rows::All, 1);
    let rounds = source.rounds.lock().unwrap();
    rounds.clone()
}

/// A column of bits without an order.
fn model(n: usize) -> Model {
    Model::bools(&(0..n as u64).map(|i| (i * i + 7 * i) % 31 < 13).collect::<Vec<_>>())
}

/// A table of equal columns.
fn table(n_columns: usize, model: &Model, memory: &Memory) -> Frame {
    Frame {
        n_rows: model.n() as u64,
        columns: (0..n_columns).map(|i| memory.column(&format!("column {i}"), model)).collect(),
        extra: Vec::new(),
        host: Value::Null,
    }
}

fn file_of(n_columns: usize, model: &Model, compression: u8) -> MemorySource {
    let memory = Memory::new(model);
    let options = WriteOptions { compression: Some(compression), ..WriteOptions::default() };
    let sink = MemorySink::new();
    entasis::write_to(&sink, &table(n_columns, model, &memory), &options, &Silent).unwrap();
    MemorySource::new(sink.into_bytes())
}

#[test]
fn one_of_20_000_columns_takes_six_rounds() {
    let model = model(N_ROWS);
    for compression in [50, 0] {
        let file = file_of(20_000, &model, compression);
        for i in (0..20_000).step_by(331).chain([1, 629, 630, 2_729, 2_730, 19_999]) {
            let rounds = rounds(&file, &format!("column {i}"), &model);
            // 1. The header with the slots, and the last 64 KiB: all index parts, and the sections
            //    *tables* and *nodes*.
            // 2. The leaf of the name index.
            // 3. The leaf of the column records.
            // 4. The leaves of the names and of the ranges.
            // 5. The leaf of the block records.
            // 6. Pages and directory of the block.
            assert!(rounds.len() <= 6, "column {i}: {rounds:?}");
            assert!(rounds.iter().all(|round| round.len() <= 4), "column {i}: {rounds:?}");
            // The head, the tail, and a leaf of each of five sections, or two where the records are
            // at the end of one.
            let len: usize = rounds.iter().flatten().map(|(_, len)| len).sum();
            assert!(len < 8 * 65_536, "column {i}: {len} bytes");
        }
    }
}

#[test]
fn a_column_of_a_small_file_takes_one_round() {
    let model = model(1_000);
    for (n_columns, compression) in [(5, 50), (5, 0), (100, 50), (100, 0)] {
        let file = file_of(n_columns, &model, compression);
        assert!(file.len() < 65_536);
        // The whole file.
        let rounds = rounds(&file, "column 3", &model);
        assert_eq!(rounds, [[(0, file.len() as usize)]]);
    }
}

/// A longer file whose footer is within the last 64 KiB.
#[test]
fn a_column_of_a_narrow_file_takes_two_rounds() {
    let model = model(50_000);
    for compression in [50, 0] {
        let file = file_of(100, &model, compression);
        assert!(file.len() > 65_536);
        // 1. The header with the slots, and the last 64 KiB: the footer.
        // 2. Pages and directory of the block.
        let rounds = rounds(&file, "column 3", &model);
        assert_eq!(rounds.len(), 2, "{rounds:?}");
    }
}

/// An append names long equal leaves again where they are, and writes index parts and short
/// sections anew. The last rounds are reads of the blocks, one after the other.
#[test]
fn appends_add_rounds() {
    let model = model(N_ROWS);
    let path = std::env::temp_dir().join(format!("entasis-rounds-{}", std::process::id()));
    let options = WriteOptions { durable: Durable::Never, ..WriteOptions::default() };
    let memory = Memory::new(&model);
    entasis::write(&path, &table(4_000, &model, &memory), &options, &Silent).unwrap();
    let mut all = model.clone();
    for n_rows in [100, 10] {
        let part = self::model(n_rows);
        let memory = Memory::new(&part);
        let change = Change::begin(&path, &options, &Silent).unwrap();
        let content = change.append(table(4_000, &part, &memory), &[]).unwrap();
        change.commit(content, Operation::Append, &options, &Silent).unwrap();
        let common::Cells::Bools(values) = &mut all.cells else { panic!("bools") };
        let common::Cells::Bools(more) = part.cells else { panic!("bools") };
        values.extend(more);
    }
    let file = MemorySource::new(std::fs::read(&path).unwrap());
    std::fs::remove_file(&path).unwrap();
    let rounds = rounds(&file, "column 3210", &all);
    // 1. The header with the slots, and the last 64 KiB.
    // 2. The leaf of the name index.
    // 3. The leaf of the column records, unless it is in the last 64 KiB.
    // 4. The leaves of the block records of both tiers.
    // 5. and 6. Pages and directory of each block.
    assert!(rounds.len() <= 6, "{rounds:?}");
}

/// The same file with other records, and with its sections in another order, each with its index
/// parts after its leaves.
fn rewritten(
    file: &MemorySource,
    order: impl Fn(u16) -> u16,
    change: impl Fn(SectionKind, &mut Vec<u8>),
    version: Version,
) -> MemorySource {
    let bytes = file.bytes();
    let header = Header::parse(&bytes[..HEADER_LEN]).unwrap();
    let SlotState::Valid(slot) = header.first else { panic!("a whole file") };
    let start = header.room_start();
    let root = &bytes[slot.root_at as usize..][..slot.root_len as usize];
    let mut root = Root::read(root, &slot, start).unwrap();
    let room = Room { start, end: slot.end };
    root.sections.sort_by_key(|section| order(section.kind));
    let mut out = bytes[..slot.root_at as usize].to_vec();
    for section in &mut root.sections {
        let mut fetch = |part: &Part| {
            let stored = bytes[part.at as usize..][..part.stored_len as usize].to_vec();
            part.check(&stored)?;
            restore_part(part, stored).map(Arc::new)
        };
        let n = section.n_records;
        let mut records = read_records(section, 0..n, room, &Limits::default(), &mut fetch).unwrap();
        let kind = SectionKind::from_code(section.kind).unwrap();
        change(kind, &mut records);
        let record_len = (records.len() as u64 / n) as u32;
        let records = SectionRecords { kind, tier: section.tier, record_len, bytes: &records };
        *section = emit_section(records, out.len() as u64, None, &mut out);
    }
    if version == Version::OLDEST {
        (root.features, root.edition, root.footer_at) = (Features::OF_0_2, 0, 0);
    }
    let root_at = out.len() as u64;
    let root = root.emit();
    out.extend(&root);
    let (root_checksum, end) = (checksum(&root), out.len() as u64 + TRAILER_LEN as u64);
    let slot = Slot { root_at, root_len: root.len() as u32, end, root_checksum, ..slot };
    let header = Header { first: SlotState::Valid(slot), ..header };
    out.extend(Trailer::new(&slot, &header, version).emit());
    out[..HEADER_LEN].copy_from_slice(&header.emit());
    MemorySource::new(out)
}

#[test]
fn sections_in_any_order_are_read() {
    let model = model(N_ROWS);
    let file = file_of(4_000, &model, 50);
    let check = |file: &MemorySource| {
        for i in [0, 1, 1_234, 3_999] {
            let rounds = rounds(file, &format!("column {i}"), &model);
            // Index parts are read in rounds of their own.
            assert!(rounds.len() <= 12, "column {i}: {rounds:?}");
        }
    };
    for order in [|kind| kind, |kind| 100 - kind, |kind| kind * 7 % 11] {
        check(&rewritten(&file, order, |_, _| {}, Version::CURRENT));
        // Column records of 0.2 do not name the first range, and tables have no metadata.
        let shorter = |kind, records: &mut Vec<u8>| match kind {
            SectionKind::Columns => {
                *records = records.chunks(120).flat_map(|record| &record[..104]).copied().collect();
            }
            SectionKind::Tables => records[56..].fill(0),
            _ => {}
        };
        check(&rewritten(&file, order, shorter, Version::OLDEST));
    }
}

#[test]
fn a_wrong_first_range_is_damage() {
    let model = model(N_ROWS);
    let file = file_of(300, &model, 50);
    let last = 299;
    for (column, first) in [(7, 6), (7, 8), (7, 0), (7, 299), (7, 300), (7, u64::MAX - 1), (0, 1), (last, 0)]
    {
        let change = |kind, records: &mut Vec<u8>| {
            if kind == SectionKind::Columns {
                records[column * 120 + 104..][..8].copy_from_slice(&u64::to_le_bytes(first));
            }
        };
        let bytes = rewritten(&file, |kind| kind, change, Version::CURRENT);
        let file = common::open(bytes.bytes()).unwrap();
        let error = common::read(&file, column as u64, &Rows::All, 1).unwrap_err();
        assert_eq!(error.kind(), Kind::Corrupt);
        assert!(error.to_string().contains("wrong first range"), "{error}");
        common::check(&file, 100, &model, &Rows::All, 1);
        assert!(file.verify(None, &Silent).is_err());
    }
    // A column that seems to have no range has too few blocks.
    let change = |kind, records: &mut Vec<u8>| {
        if kind == SectionKind::Columns {
            records[7 * 120 + 104..][..8].fill(255);
        }
    };
    let bytes = rewritten(&file, |kind| kind, change, Version::CURRENT);
    let error = common::read(&common::open(bytes.bytes()).unwrap(), 7, &Rows::All, 1).unwrap_err();
    assert_eq!(error.kind(), Kind::Corrupt);
}
