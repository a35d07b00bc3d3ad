//! A repaired file and a view without damage hold all values except those of damaged blocks.

use std::path::PathBuf;

use entasis::{Durable, File, Kind, Silent, WriteOptions, repair};
use entasis_testkit::frames::read::{self, open};
use entasis_testkit::frames::{Table, documents, nested_tables, shapes, tables, write_at};
use entasis_testkit::hostile::by_tier;
use entasis_testkit::naive::{self, Cell};

/// Two files that are removed at the end of a test.
struct Temp([PathBuf; 2]);

impl Temp {
    fn new(name: &str) -> Self {
        let name = name.replace(['/', ' '], "-");
        let path = |what: &str| format!("entasis-repair-{}-{name}-{what}.entasis", std::process::id());
        Self(["damaged", "repaired"].map(|what| std::env::temp_dir().join(path(what))))
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        for path in &self.0 {
            let _ = std::fs::remove_file(path);
        }
    }
}

fn options() -> WriteOptions {
    WriteOptions { durable: Durable::Never, threads: Some(2), ..WriteOptions::default() }
}

fn columns(file: &File, n: u64) -> Vec<entasis::Result<Vec<Option<Cell>>>> {
    (0..n).map(|column| read::column(file, column)).collect()
}

/// Damages every `step`th block of a file by itself. Returns how many could be repaired, and how
/// many not.
fn repair_blocks(table: &Table, step: usize) -> (u32, u32) {
    let temp = Temp::new(&table.name);
    let [path, out] = &temp.0;
    let bytes = write_at(table, 50);
    let sound = open(&bytes).unwrap();
    let file = sound.whole();
    let n = table.columns.len() as u64;
    let wanted: Vec<_> = columns(&sound, n).into_iter().map(Result::unwrap).collect();
    let (mut n_repaired, mut n_refused, mut n_blocks) = (0, 0, 0);
    for number in 0..file.n_columns_total() {
        for (i, block) in file.blocks(number).unwrap().iter().enumerate() {
            n_blocks += 1;
            if n_blocks % step != 0 {
                continue;
            }
            let info = file.column(number).unwrap();
            let here = format!("{}: column {number} {}, block {i}", table.name, info.name);
            let mut bytes = bytes.clone();
            let at = if block.pages_len > 0 { block.pages_at } else { block.directory_at };
            bytes[at as usize] ^= 1;
            std::fs::write(path, &bytes).unwrap();
            let (view, survey) = File::open(path).unwrap().without_damage(Some(2), &Silent).unwrap();
            let read = columns(&view, n);
            let repaired = repair(path, out, &options(), &Silent);
            assert!(std::fs::read(path).unwrap() == bytes, "{here}");
            if let Err(error) = repaired {
                assert_eq!(error.kind(), Kind::Corrupt, "{here}");
                assert!(error.location().column.is_some(), "{here}: {error}");
                n_refused += 1;
                // Other columns can be read.
                for (column, cells) in read.iter().enumerate() {
                    let is_damaged = survey.damages.iter().any(|d| d.number == Some(column as u64));
                    assert!(
                        is_damaged || cells.as_ref().is_ok_and(|cells| *cells == wanted[column]),
                        "{here}"
                    );
                }
                continue;
            }
            n_repaired += 1;
            let read: Vec<_> =
                read.into_iter().map(|cells| cells.unwrap_or_else(|e| panic!("{here}: {e}"))).collect();
            for (column, (cells, wanted)) in read.iter().zip(&wanted).enumerate() {
                let lost = |row: usize| {
                    survey.damages.iter().any(|damage| {
                        let rows = damage.values.as_ref().unwrap();
                        damage.number == Some(column as u64) && rows.contains(&(row as u64))
                    })
                };
                assert_eq!(cells.len(), wanted.len(), "{here}");
                for (row, (cell, wanted)) in cells.iter().zip(wanted).enumerate() {
                    if !lost(row) {
                        assert!(cell == wanted, "{here}: row {row} of column {column} is not damaged");
                    } else if info.record.parent.is_none() {
                        assert!(cell.is_none(), "{here}: row {row} of column {column} is damaged");
                    }
                }
            }
            let repaired = std::fs::read(out).unwrap();
            let opened = open(&repaired).unwrap();
            opened.verify(Some(1), &Silent).unwrap_or_else(|error| panic!("{here}: {error}"));
            naive::verify(&repaired).unwrap_or_else(|wrong| panic!("{here}: naive: {wrong}"));
            for (column, cells) in columns(&opened, n).into_iter().enumerate() {
                assert!(cells.unwrap() == read[column], "{here}: column {column}");
            }
            assert_eq!(opened.host().unwrap(), sound.host().unwrap());
        }
    }
    (n_repaired, n_refused)
}

#[test]
fn flat_columns() {
    let (n, step) = by_tier((66_000, 9), (66_000, 29), (70_000, 11));
    // Each repair reads the whole file several times.
    let columns = shapes::columns(n).into_iter().step_by(by_tier(3, 1, 1));
    for (table, step) in [(Table::new("shapes", columns.collect()), step), (tables::types(300), 3)] {
        let (n_repaired, n_refused) = repair_blocks(&table, step);
        assert!(n_repaired > 2 && n_refused == 0, "{n_repaired} {n_refused}");
    }
}

#[test]
fn bundles_and_runs() {
    for table in [tables::bundles(300), tables::runs(100)] {
        let (n_repaired, _) = repair_blocks(&table, 1);
        assert!(n_repaired > 2, "{n_repaired}");
    }
}

#[test]
fn dictionaries_are_refused_and_codes_are_not() {
    let (n_repaired, n_refused) = repair_blocks(&tables::categoricals(9_000), 1);
    assert!(n_repaired > 0 && n_refused > 0, "{n_repaired} {n_refused}");
}

#[test]
fn nested_columns() {
    let (n_repaired, n_refused) = repair_blocks(&nested_tables::every_type(2_000), 2);
    assert!(n_repaired > 3 && n_refused > 3, "{n_repaired} {n_refused}");
}

#[test]
fn cells_are_refused() {
    let temp = Temp::new("cells");
    let [path, out] = &temp.0;
    for tree in documents::all() {
        let file = open(&tree.bytes).unwrap().whole();
        let kinds = (0..file.n_columns_total()).find(|&i| {
            file.value().get("cells").and_then(|cells| cells.get("kinds")) == Some(&entasis::Value::Column(i))
        });
        let Some(block) = kinds.and_then(|kinds| file.blocks(kinds).unwrap().first().copied()) else {
            continue;
        };
        let mut bytes = tree.bytes.clone();
        bytes[block.directory_at as usize] ^= 1;
        std::fs::write(path, &bytes).unwrap();
        let error = repair(path, out, &options(), &Silent).unwrap_err();
        assert!(error.to_string().contains("cannot be missing"), "{}: {error}", tree.name);
        assert!(!out.exists());
    }
}

#[test]
fn damaged_statistics_are_made_anew() {
    let temp = Temp::new("statistics");
    let [path, out] = &temp.0;
    let table = tables::types(300);
    let bytes = write_at(&table, 50);
    let wanted = columns(&open(&bytes).unwrap(), table.columns.len() as u64);
    let mut n_repaired = 0;
    for at in (0..bytes.len()).rev().step_by(41).take(1000) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        let Ok(file) = open(&damaged) else { continue };
        let survey = file.survey(Some(1), &Silent).unwrap();
        let is_statistics = |damage: &entasis::Damage| damage.location.section == Some("statistics");
        if survey.n_damages == 0 || !survey.damages.iter().all(is_statistics) {
            continue;
        }
        std::fs::write(path, &damaged).unwrap();
        repair(path, out, &options(), &Silent).unwrap();
        let repaired = File::open(out).unwrap();
        repaired.verify(Some(1), &Silent).unwrap();
        for (read, wanted) in columns(&repaired, table.columns.len() as u64).into_iter().zip(&wanted) {
            assert!(read.unwrap() == *wanted.as_ref().unwrap());
        }
        n_repaired += 1;
        if n_repaired == 3 {
            break;
        }
    }
    assert!(n_repaired > 0);
}

#[test]
fn a_file_is_not_repaired_in_place() {
    let temp = Temp::new("place");
    let [path, out] = &temp.0;
    let bytes = [write_at(&tables::types(300), 50), vec![1; 5]].concat();
    std::fs::write(path, &bytes).unwrap();
    assert_eq!(repair(path, path, &options(), &Silent).unwrap_err().kind(), Kind::Argument);
    assert!(std::fs::read(path).unwrap() == bytes);
    let survey = repair(path, out, &options(), &Silent).unwrap();
    assert_eq!(survey.n_damages, 1);
    File::open(out).unwrap().verify(Some(1), &Silent).unwrap();
}
