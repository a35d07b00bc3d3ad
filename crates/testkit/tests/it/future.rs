//! Files of later versions: what a program reads, keeps, drops and refuses
//! (`docs/format/compatibility.md`).

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use entasis::{Change, Document, Kind, Operation, Result, Silent, WriteOptions, compact, repair};
use entasis_format::{COPY, Features, READERS_MUST_KNOW, SectionKind, Value, Version, WRITERS_MUST_KNOW};
use entasis_testkit::compare::assert_holds;
use entasis_testkit::frames::{self, Model, Table, grown, host::Memory};
use entasis_testkit::future::{Future, UNKNOWN, sections};
use entasis_testkit::golden::{Form, build, folder, old_folder};
use entasis_testkit::mutate::{Map, get, put};
use entasis_testkit::naive;
use entasis_testkit::probe::{contents, open, verify};

const LATER: Version = Version { major: 0, minor: 4 };

/// A file on disk, which is removed at the end.
struct Temp(PathBuf);

impl Temp {
    fn of(bytes: &[u8]) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("entasis-future-{}-{number}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        Self(path)
    }

    fn bytes(&self) -> Vec<u8> {
        std::fs::read(&self.0).unwrap()
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn table() -> Table {
    grown::table(300)
}

/// A file of one generation that can be changed in place.
fn file() -> Vec<u8> {
    let table = table();
    let temp = Temp::of(&[]);
    let memory = Memory::of(&table);
    let mut stream = entasis::Stream::create(&temp.0, &WriteOptions::default(), &Silent).unwrap();
    stream.append(memory.frame(&table), &[], &WriteOptions::default(), &Silent).unwrap();
    stream.finish().unwrap();
    temp.bytes()
}

/// The same table in a file so short that a change writes a new one.
fn small() -> Vec<u8> {
    frames::write_at(&table(), 50)
}

/// A change of the file, by its name.
fn change(temp: &Temp, operation: &str) -> Result<()> {
    let options = WriteOptions { threads: Some(1), ..WriteOptions::default() };
    let begin = || Change::begin(&temp.0, &options, &Silent);
    match operation {
        "append" => {
            let rows = table();
            let memory = Memory::of(&rows);
            let change = begin()?;
            let content = change.append(memory.frame(&rows), &[])?;
            change.commit(content, Operation::Append, &options, &Silent)
        }
        "metadata" => {
            let change = begin()?;
            let content = change.with_metadata(None)?;
            change.commit(content, Operation::Metadata, &options, &Silent)
        }
        "rename" => {
            let change = begin()?;
            let nothing = Table { columns: Vec::new(), ..Table::new("", Vec::new()) };
            let memory = Memory::of(&nothing);
            let sources: Vec<_> = (0..4).map(entasis::ColumnSource::Kept).collect();
            let names = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
            let mut frame = memory.frame(&nothing);
            frame.n_rows = change.file().n_rows();
            let content = change.with_columns(frame, &sources, names)?;
            change.commit(content, Operation::RenameColumns, &options, &Silent)
        }
        "compact" => begin()?.compact(&options, &Silent),
        _ => panic!("{operation}"),
    }
}

const CHANGES: [&str; 4] = ["append", "metadata", "rename", "compact"];

/// The records of the sections of unknown kinds.
fn unknown(bytes: &[u8]) -> Vec<(u16, u8, Vec<u8>)> {
    let all = sections(bytes).into_iter().filter(|(section, _)| section.kind >= UNKNOWN);
    all.map(|(section, records)| (section.kind, section.flags, records)).collect()
}

#[test]
fn a_later_version_without_unknown_features_is_read() {
    for version in [LATER, Version { major: 1, minor: 0 }, Version { major: 9, minor: 7 }] {
        let needs = Features { needed: LATER, may_ignore: u64::MAX, ..Features::CURRENT };
        for features in [Features::CURRENT, needs] {
            let bytes = Future { version, features, ..Future::default() }.forge(&file());
            assert_holds(&bytes, &table());
            let temp = Temp::of(&bytes);
            change(&temp, "append").unwrap();
            assert_eq!(open(&temp.bytes()).unwrap().n_rows(), 600);
            verify(&temp.bytes()).unwrap();
            naive::verify(&temp.bytes()).unwrap();
        }
    }
}

#[test]
fn features_that_readers_must_know() {
    for bit in [0, 1, 47, 48, 63] {
        let features = Features { readers: 1 << bit, needed: LATER, ..Features::CURRENT };
        let bytes = Future { version: LATER, features, ..Future::default() }.forge(&file());
        let errors = [contents(&bytes).unwrap_err(), verify(&bytes).unwrap_err()];
        for error in errors {
            assert!(error.kind() == Kind::Newer && error.to_string().contains("0.4"), "{error}");
        }
        assert_eq!(naive::decode(&bytes).unwrap_err().kind, naive::Kind::Newer);
        for operation in CHANGES {
            let temp = Temp::of(&bytes);
            assert_eq!(change(&temp, operation).unwrap_err().kind(), Kind::Newer, "{operation}");
            assert_eq!(temp.bytes(), bytes);
        }
    }
}

#[test]
fn features_that_writers_must_know() {
    let features = Features { writers: 4, needed: LATER, ..Features::CURRENT };
    let bytes = Future { features, ..Future::default() }.forge(&file());
    assert_holds(&bytes, &table());
    for operation in CHANGES {
        let temp = Temp::of(&bytes);
        let error = change(&temp, operation).unwrap_err();
        assert!(error.kind() == Kind::Newer && error.to_string().contains("0.4"), "{operation}: {error}");
        assert_eq!(temp.bytes(), bytes, "{operation}");
    }
}

#[test]
fn sections_of_unknown_kinds_are_kept_or_refused_as_their_flags_say() {
    for flags in 0..8u8 {
        let records: Vec<u8> = (0..30_000u32).flat_map(u32::to_le_bytes).collect();
        let sections = vec![(flags, 12, records.clone())];
        let future = Future { sections, ..Future::default() };
        check_flags(flags, &records, &future.forge(&file()));
        check_flags(flags, &records, &future.forge(&small()));
    }
}

fn check_flags(flags: u8, records: &[u8], bytes: &[u8]) {
    if flags & READERS_MUST_KNOW != 0 {
        assert_eq!(contents(bytes).unwrap_err().kind(), Kind::Newer);
        assert_eq!(naive::decode(bytes).unwrap_err().kind, naive::Kind::Newer);
        return;
    }
    assert_holds(bytes, &table());
    for operation in CHANGES {
        let temp = Temp::of(bytes);
        let result = change(&temp, operation);
        if flags & WRITERS_MUST_KNOW != 0 {
            assert_eq!(result.unwrap_err().kind(), Kind::Newer, "{operation}");
            assert_eq!(temp.bytes(), bytes);
            continue;
        }
        // Nothing is to be compacted in a file of one generation.
        let is_changed = operation != "compact" || bytes[16] != 0;
        result.unwrap_or_else(|error| panic!("{operation}: {error}"));
        verify(&temp.bytes()).unwrap();
        naive::verify(&temp.bytes()).unwrap();
        let kept = vec![(UNKNOWN, flags, records.to_vec())];
        let expected = if flags & COPY != 0 || !is_changed { kept } else { Vec::new() };
        assert_eq!(unknown(&temp.bytes()), expected, "{operation}");
        change(&temp, "metadata").unwrap();
        change(&temp, "compact").unwrap();
        let expected = if flags & COPY != 0 { expected } else { Vec::new() };
        assert_eq!(unknown(&temp.bytes()), expected, "{operation}, then compact");
        verify(&temp.bytes()).unwrap();
        naive::verify(&temp.bytes()).unwrap();
    }
    let (temp, out) = (Temp::of(bytes), Temp::of(&[]));
    let repaired = repair(&temp.0, &out.0, &WriteOptions::default(), &Silent);
    match flags & WRITERS_MUST_KNOW {
        0 => assert_eq!(unknown(&out.bytes()).len(), usize::from(flags & COPY != 0), "{repaired:?}"),
        _ => assert_eq!(repaired.unwrap_err().kind(), Kind::Newer),
    }
}

/// Nothing but flags, order and reserved bytes of an unknown section is looked at.
#[test]
fn the_parts_of_unknown_sections_may_have_any_form() {
    let sections = vec![(0, 12, vec![1; 1200])];
    let bytes = Future { sections, ..Future::default() }.forge(&file());
    let map = Map::of(&bytes);
    let last = map.named("section.kind").position(|field| get(&bytes, field) == UNKNOWN.into()).unwrap();
    let names = ["record_len", "n_records", "part_at", "part_len", "height", "codec", "filter", "stored_len"];
    for name in names {
        let name = format!("section.{name}");
        let field = map.named(&name).nth(last).unwrap();
        for value in [0, 1, 77, u64::MAX] {
            let mut changed = bytes.clone();
            put(&mut changed, field, value);
            map.repair(&mut changed);
            assert_holds(&changed, &table());
        }
    }
    let field = map.named("section.flags").nth(last).unwrap();
    let changed = map.changed(&bytes, field, 16);
    assert_eq!(contents(&changed).unwrap_err().kind(), Kind::Unsupported);
    assert_eq!(naive::decode(&changed).unwrap_err().kind, naive::Kind::Unsupported);
}

#[test]
fn a_root_of_64_kib_is_read() {
    let n = sections(&file()).len();
    let sections = vec![(COPY, 8, vec![3; 8]); 1_360 - n];
    let bytes = Future { sections: sections.clone(), ..Future::default() }.forge(&file());
    assert_eq!(naive::decode(&bytes).unwrap().header.current.root_len, 65_440);
    assert_holds(&bytes, &table());
    let temp = Temp::of(&bytes);
    change(&temp, "rename").unwrap();
    assert_eq!(unknown(&temp.bytes()).len(), sections.len());
    let too_many = [&sections[..], &[(COPY, 8, vec![3; 8])]].concat();
    let bytes = Future { sections: too_many, ..Future::default() }.forge(&file());
    assert_eq!(contents(&bytes).unwrap_err().kind(), Kind::Corrupt);
    assert_eq!(naive::decode(&bytes).unwrap_err().kind, naive::Kind::Corrupt);
}

#[test]
fn longer_records_are_read_and_kept_or_refused() {
    use SectionKind::{Blocks, Columns, NameIndex, Nodes, Ranges, Runs, Statistics, Tables};
    for kind in [Tables, Columns, NameIndex, Ranges, Blocks, Statistics, Nodes, Runs] {
        let future = Future { longer: vec![(kind, 8)], ..Future::default() };
        for golden in build::all().into_iter().filter(|golden| golden.form != Form::Later) {
            let old = std::fs::read(folder().join(golden.file_name())).unwrap();
            // The forger makes files of one generation.
            if old[16] == 0 && !sections(&old).iter().any(|(section, _)| section.n_records > 20_000) {
                assert_holds(&future.forge(&old), &golden.table);
            }
        }
        let bytes = future.forge(&file());
        assert_holds(&bytes, &table());
        if !sections(&bytes).iter().any(|(section, _)| section.kind == kind.code()) {
            continue;
        }
        let is_there = |bytes: &[u8]| {
            let all = sections(bytes);
            let mut tails = all.iter().filter(|(section, _)| section.kind == kind.code());
            tails.any(|(section, records)| {
                section.record_len == kind.record_len() + 8
                    && records[kind.record_len() as usize..][..8] == [1; 8]
            })
        };
        for operation in CHANGES {
            let temp = Temp::of(&bytes);
            let result = change(&temp, operation);
            let is_kept = matches!(kind, Tables | Columns | Blocks | Statistics);
            if operation == "compact" || is_kept {
                let is_made_anew = operation == "compact" && matches!(kind, Blocks | Statistics | Ranges);
                assert_eq!(result.is_ok(), !is_made_anew, "{operation} {}", kind.name());
            } else {
                assert_eq!(result.unwrap_err().kind(), Kind::Unsupported, "{operation} {}", kind.name());
                continue;
            }
            verify(&temp.bytes()).unwrap();
            naive::verify(&temp.bytes()).unwrap();
            // An append may replace the only block.
            if operation != "append" || matches!(kind, Tables | Columns) {
                assert!(is_there(&temp.bytes()), "{operation} {}", kind.name());
            }
        }
    }
}

#[test]
fn bytes_after_the_page_entries_are_ignored() {
    for name in ["delta", "blocks", "strings", "zstd"] {
        let all = build::all();
        let golden = all.iter().find(|golden| golden.table.name == name).unwrap();
        let bytes = std::fs::read(folder().join(golden.file_name())).unwrap();
        for parameters_len in [1, 24, 65_536] {
            let future = Future { parameters_len, ..Future::default() };
            assert_holds(&future.forge(&bytes), &golden.table);
        }
        let future = Future { parameters_len: 65_537, ..Future::default() };
        let bytes = future.forge(&bytes);
        assert_eq!(contents(&bytes).unwrap_err().kind(), Kind::Corrupt, "{name}");
        assert_eq!(naive::decode(&bytes).unwrap_err().kind, naive::Kind::Corrupt, "{name}");
    }
}

#[test]
fn files_of_0_2_are_read_and_change_after_compact() {
    let table = table();
    let golden = |name: &str| std::fs::read(old_folder().join(name)).unwrap();
    let mut n_in_place = 0;
    for golden_file in build::all() {
        let Ok(bytes) = std::fs::read(old_folder().join(golden_file.file_name())) else { continue };
        let temp = Temp::of(&bytes);
        let has_slot_pages = bytes[16] & 2 != 0;
        let options = WriteOptions::default();
        let begin = || Change::begin(&temp.0, &options, &Silent).unwrap();
        let kept = begin().kept().unwrap();
        let result = begin().commit(kept, Operation::Metadata, &options, &Silent);
        if has_slot_pages {
            n_in_place += 1;
            let error = result.unwrap_err();
            assert!(error.kind() == Kind::Unsupported && error.to_string().contains("compact"), "{error}");
            assert_eq!(temp.bytes(), bytes);
        } else {
            result.unwrap();
        }
        compact(&temp.0, &options, &Silent).unwrap();
        let file = open(&temp.bytes()).unwrap();
        assert_eq!(file.format_version(), Version::CURRENT);
        assert_holds(&temp.bytes(), &golden_file.table);
        // The file can be changed now.
        let kept = begin().kept().unwrap();
        begin().commit(kept, Operation::Metadata, &options, &Silent).unwrap();
        assert_holds(&temp.bytes(), &golden_file.table);
    }
    assert!(n_in_place > 5, "{n_in_place}");
    assert!(golden("generations.entasis")[10] == 2 && table.n_rows == 300);
}

#[test]
fn a_model_of_an_unknown_type_does_not_hide_the_others() {
    let models =
        vec![Model::words("a", entasis::Physical::I32, &[1, 2, 3]), Model::text("b", &["x", "y", "z"])];
    let bytes = frames::write_at(&Table::new("two", models), 50);
    let map = Map::of(&bytes);
    let field = map.named("column.physical").next().unwrap();
    let bytes = map.changed(&bytes, field, 200);
    let file = open(&bytes).unwrap();
    assert_eq!(file.column(0).unwrap_err().kind(), Kind::Unsupported);
    assert_eq!(file.column(1).unwrap().name, "b");
    assert_eq!(verify(&bytes).unwrap_err().kind(), Kind::Unsupported);
}

#[test]
fn unknown_keys_of_the_value_are_kept_or_the_change_is_refused() {
    let table = table();
    let memory = Memory::of(&table);
    let pairs = vec![
        (Value::from("value"), Value::Table(0)),
        (Value::from("later"), Value::List(vec![Value::from("kept"), Value::Int(7)])),
    ];
    let value = Value::Map(pairs);
    let document = Document { frames: vec![memory.frame(&table)], columns: Vec::new(), value: value.clone() };
    let temp = Temp::of(&[]);
    entasis::write_document(&temp.0, &document, &WriteOptions::default(), &Silent).unwrap();
    let before = temp.bytes();
    let error = change(&temp, "metadata").unwrap_err();
    assert_eq!(error.kind(), Kind::Unsupported);
    assert!(error.to_string().contains("\"later\""), "{error}");
    assert_eq!(temp.bytes(), before);
    for operation in ["append", "rename", "compact"] {
        change(&temp, operation).unwrap();
        assert_eq!(open(&temp.bytes()).unwrap().value(), &value, "{operation}");
        naive::verify(&temp.bytes()).unwrap();
    }
}

/// Columns of a table in any order, some of them of no table.
#[test]
#[allow(clippy::single_range_in_vec_init, reason = "one range is a case of several")]
fn tables_of_column_ranges() {
    let file = small();
    let orders: [&[std::ops::Range<u64>]; 4] = [&[2..4, 0..2], &[3..4, 1..2, 0..1, 2..3], &[1..3], &[0..4]];
    for ranges in orders {
        let bytes = Future { column_ranges: ranges.to_vec(), ..Future::default() }.forge(&file);
        let columns = ranges
            .iter()
            .flat_map(|range| table().columns[range.start as usize..range.end as usize].to_vec());
        let expected = Table { columns: columns.collect(), ..table() };
        let opened = open(&bytes).unwrap();
        assert_eq!(opened.find("price").unwrap_or(99), ranges_position(ranges, 3));
        assert_holds(&bytes, &expected);
        // A change of a short footer and compact number the columns anew.
        for kind in ["metadata", "compact"] {
            let temp = Temp::of(&bytes);
            match change(&temp, kind) {
                // Nothing shows where the first column belongs, which is of no table.
                Err(error) if ranges == [1..3] => assert_eq!(error.kind(), Kind::Unsupported),
                done => done.unwrap(),
            }
            let decoded = assert_holds(&temp.bytes(), &expected);
            assert_eq!(decoded.tables[0].record.column_ranges.1, if ranges == [1..3] { 1 } else { 0 });
        }
    }
    let bad: [&[std::ops::Range<u64>]; 4] = [&[0..2, 1..3], &[0..2, 2..2], &[0..2, 3..5], &[3..9]];
    for ranges in bad {
        let bytes = Future { column_ranges: ranges.to_vec(), ..Future::default() }.forge(&file);
        assert_eq!(contents(&bytes).unwrap_err().kind(), Kind::Corrupt, "{ranges:?}");
        assert_eq!(naive::decode(&bytes).unwrap_err().kind, naive::Kind::Corrupt, "{ranges:?}");
    }
}

/// The position of a column in ranges; 99 if none has it.
fn ranges_position(ranges: &[std::ops::Range<u64>], column: u64) -> u64 {
    ranges
        .iter()
        .cloned()
        .flatten()
        .position(|number| number == column)
        .map_or(99, |position| position as u64)
}
