//! The golden files hold what their models say, by the core and by the naive decoder; the bad ones are refused.

use std::collections::BTreeSet;
use std::path::Path;

use entasis_testkit::compare::assert_holds;
use entasis_testkit::golden::{bad, bad_folder, build, folder, index};
use entasis_testkit::naive::segment::features;
use entasis_testkit::probe::{contents, verify};

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
    for golden in &all {
        let bytes = std::fs::read(folder().join(golden.file_name())).unwrap();
        let decoded = assert_holds(&bytes, &golden.table);
        let blocks =
            decoded.columns.iter().flat_map(|column| column.blocks.iter().map(move |block| (column, block)));
        let seen: Vec<String> =
            blocks.flat_map(|(column, block)| features(&bytes, block, &column.record.of).unwrap()).collect();
        for wanted in golden.features {
            assert!(seen.iter().any(|has| has == wanted), "{}: {wanted} in {seen:?}", golden.table.name);
        }
    }
}

#[test]
fn the_index_tells_the_models() {
    let index = std::fs::read_to_string(folder().join("index.json")).unwrap();
    assert_eq!(index, index::json(&build::all()));
}

#[test]
fn bad_files_are_refused_with_the_error_they_deserve() {
    let all = bad::all();
    let known: BTreeSet<String> = all.iter().map(|bad| bad.file_name()).collect();
    assert_eq!(names(&bad_folder()), known, "every bad file has an expectation, every expectation a file");
    let mut wrong = Vec::new();
    for bad in &all {
        let bytes = std::fs::read(bad_folder().join(bad.file_name())).unwrap();
        let read =
            std::panic::catch_unwind(|| contents(&bytes).map(|_| ()).and_then(|()| verify(&bytes)).err());
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
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
