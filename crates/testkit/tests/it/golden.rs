//! Core and naive decoder read the values of the golden files' models, and both refuse the bad
//! files.

use std::collections::BTreeSet;
use std::path::Path;

use entasis::{ColumnInfo, Kind, Physical};
use entasis_testkit::compare::assert_holds;
use entasis_testkit::golden::{Form, Golden, bad, bad_table, build, checksums, folder, index, old_folder};
use entasis_testkit::naive::{self, section::kind, segment::features};
use entasis_testkit::probe::{contents, open, verify};

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(".entasis")).collect()
}

#[test]
fn golden_files_hold_what_they_held() {
    let all = build::all();
    let known: BTreeSet<String> = all.iter().map(|golden| golden.file_name()).collect();
    assert_eq!(names(&folder()), known, "every golden file has a model, every model a file");
    let old = names(&old_folder());
    assert!(old.is_subset(&known), "a file of 0.2 has no model");
    let files = all.iter().flat_map(|golden| [folder(), old_folder()].map(|folder| (golden, folder)));
    let is_there = |golden: &Golden, in_: &Path| in_ == folder() || old.contains(&golden.file_name());
    for (golden, folder) in files.filter(|(golden, folder)| is_there(golden, folder)) {
        let bytes = std::fs::read(folder.join(golden.file_name())).unwrap();
        let decoded = assert_holds(&bytes, &golden.table);
        let blocks =
            decoded.columns.iter().flat_map(|column| column.blocks.iter().map(move |block| (column, block)));
        let seen: Vec<String> =
            blocks.flat_map(|(column, block)| features(&bytes, block, &column.record.of).unwrap()).collect();
        if let Form::Changed(operation) = golden.form {
            assert_eq!(decoded.root.operation, operation.code(), "{}", golden.table.name);
        }
        for wanted in golden.features {
            assert!(seen.iter().any(|has| has == wanted), "{}: {wanted} in {seen:?}", golden.table.name);
        }
    }
}

/// The files of 0.2 and 0.3 are what releases have written. No release may need other bytes.
#[test]
fn golden_files_never_change() {
    let (listed, found) = (checksums::listed(), checksums::found());
    for (path, sum) in &listed {
        assert_eq!(found.get(path), Some(sum), "{path} has changed or is gone");
    }
    let new: Vec<_> = found.keys().filter(|path| !listed.contains_key(*path)).collect();
    assert!(new.is_empty(), "`golden write` lists new files: {new:?}");
    assert!(listed.len() > 150, "{}", listed.len());
}

#[test]
fn unsigned_integers_of_version_0_2_have_no_order() {
    let bytes = std::fs::read(old_folder().join("unsigned-128.entasis")).unwrap();
    let file = open(&bytes).unwrap();
    let columns = file.all_columns(0..file.n_columns_total()).unwrap();
    let of = |column: &&ColumnInfo| column.record.column_type.physical == Physical::U128;
    let mut n_blocks = 0;
    for column in columns.iter().filter(of) {
        let layout = column.record.column_type.layout();
        let for_filters = file.statistics_for_filters(column.index, layout).unwrap();
        for found in file.statistics(column.index).unwrap().into_iter().chain(for_filters) {
            assert!(!(found.has_min_max || found.ascending || found.descending), "{}", column.name);
            n_blocks += 1;
        }
    }
    assert!(n_blocks > 0);
    // The file has them, in the order of signed numbers.
    let decoded = naive::decode(&bytes).unwrap();
    let stored = decoded.of_blocks.tiers[0].1.chunks_exact(48);
    let negative =
        stored.map(|record| naive::records::Statistics::parse(record, decoded.root.version).unwrap());
    assert!(negative.filter(|found| found.flags & 1 == 1 && found.min[15] >= 128).count() > 1);
}

/// Sections with and without shuffle, with one leaf and with an index part.
#[test]
fn some_leaves_are_compressed() {
    let bytes = std::fs::read(folder().join("compressed-leaves.entasis")).unwrap();
    let decoded = naive::decode(&bytes).unwrap();
    let sections = decoded.root.sections.iter();
    let seen: Vec<_> =
        sections.filter(|s| s.is_compressed()).map(|s| (s.kind, s.is_shuffled(), s.height)).collect();
    assert_eq!(seen, [(kind::COLUMNS, true, 1), (kind::NAME_INDEX, false, 0)]);
}

#[test]
fn files_of_version_0_1_are_unsupported() {
    let bytes = std::fs::read(folder().join("../v0.1/constant.entasis")).unwrap();
    let error = contents(&bytes).unwrap_err();
    assert!(error.kind() == Kind::Unsupported && error.to_string().contains("0.1"), "{error}");
    assert_eq!(naive::decode(&bytes).unwrap_err().kind, naive::Kind::Unsupported);
}

#[test]
fn the_index_describes_the_models() {
    let index = std::fs::read_to_string(folder().join("index.json")).unwrap();
    assert_eq!(index, index::json(&build::all()));
}

#[test]
fn the_list_of_bad_files_makes_them() {
    let all = bad::all();
    let csv = std::fs::read_to_string(bad_table()).unwrap();
    assert!(csv == bad::csv(&all), "the list is stale: cargo run -p entasis-testkit --bin golden -- write");
    let lines: Vec<&str> = csv.lines().skip(1).collect();
    assert_eq!(lines.len(), all.len());
    for (line, bad) in lines.iter().zip(&all) {
        let edits = line.rsplit(',').next().unwrap();
        assert!(bad::apply(&bad.source(), edits) == bad.bytes, "{line}");
    }
}

#[test]
fn bad_files_are_refused_with_the_error_they_deserve() {
    let all = bad::all();
    let rules: BTreeSet<&str> = all.iter().map(|bad| bad.rule).collect();
    assert_eq!(rules.len(), all.len(), "no two bad files have one name");
    let mut wrong = Vec::new();
    for bad in &all {
        let bytes = &bad.bytes;
        let read =
            std::panic::catch_unwind(|| contents(bytes).map(|_| ()).and_then(|()| verify(bytes)).err());
        let Ok(error) = read else {
            wrong.push(format!("{}: panic", bad.rule));
            continue;
        };
        match error {
            Some(error) if error.kind() == bad.kind && error.to_string().contains(bad.word) => {
                println!("{}: {error}", bad.rule);
            }
            Some(error) => wrong.push(format!("{}: {:?} {error}", bad.rule, error.kind())),
            None => wrong.push(format!("{}: accepted", bad.rule)),
        }
        match verify(bytes) {
            Err(error) if error.kind() == bad.kind => {}
            other => wrong.push(format!("{}: verify alone: {other:?}", bad.rule)),
        }
        match naive::verify(bytes) {
            Err(error) if same_kind(error.kind, bad.kind) => {}
            Err(error) => wrong.push(format!("{}: naive: {error}", bad.rule)),
            Ok(_) => wrong.push(format!("{}: naive: accepted", bad.rule)),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Whether the naive decoder's kind of error is the core's.
fn same_kind(naive: naive::Kind, core: Kind) -> bool {
    match naive {
        naive::Kind::NotEntasis => core == Kind::NotEntasis,
        naive::Kind::Newer => core == Kind::Newer,
        naive::Kind::Corrupt => core == Kind::Corrupt,
        naive::Kind::WrongKey => core == Kind::WrongKey,
        naive::Kind::Tampered => core == Kind::Tampered,
        naive::Kind::Unsupported => core == Kind::Unsupported,
        // The naive decoder limits its memory, where the core knows the length that a page can
        // have.
        naive::Kind::Limit => core == Kind::Limit || core == Kind::Corrupt,
    }
}
