//! Files of every kind hold the same after they were compacted.

use std::path::PathBuf;

use entasis::{Durable, Kind, Monitor, Silent, WriteOptions, compact};
use entasis_testkit::compare::assert_holds;
use entasis_testkit::frames::{Table, documents, nested_tables, shapes, tables, write_at};
use entasis_testkit::golden::{build, old_folder};
use entasis_testkit::hostile::{by_tier, is_long, is_release};
use entasis_testkit::naive;
use entasis_testkit::probe::{contents, open};

/// A file that is removed at the end of a test.
struct Temp(PathBuf);

impl Temp {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("entasis-compact-{}-{name}.entasis", std::process::id())))
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn options() -> WriteOptions {
    WriteOptions { durable: Durable::Never, threads: Some(2), ..WriteOptions::default() }
}

/// Compacts a file that is not compact, because bytes follow its end.
fn compact_bytes(name: &str, bytes: &[u8]) -> Vec<u8> {
    let path = Temp::new(name);
    std::fs::write(&path.0, [bytes, &[7; 33]].concat()).unwrap();
    compact(&path.0, &options(), &Silent).unwrap_or_else(|error| panic!("{name}: {error}"));
    std::fs::read(&path.0).unwrap()
}

fn check(name: &str, bytes: &[u8]) {
    let compacted = compact_bytes("file", bytes);
    let (before, after) = (contents(bytes).unwrap(), contents(&compacted).unwrap());
    assert_eq!(before.about, after.about, "{name}");
    assert!(before.columns == after.columns, "{name}");
    open(&compacted).unwrap().verify(Some(1), &Silent).unwrap_or_else(|error| panic!("{name}: {error}"));
    naive::verify(&compacted).unwrap_or_else(|wrong| panic!("{name}: naive: {wrong}"));
    let file = open(&compacted).unwrap();
    assert_eq!(file.generation(), 2, "{name}");
}

#[test]
fn a_file_of_version_0_2_with_unsigned_integers_of_128_bits() {
    for golden in build::all().into_iter().filter(|golden| golden.table.name == "unsigned-128") {
        let bytes = std::fs::read(old_folder().join(golden.file_name())).unwrap();
        let compacted = compact_bytes("unsigned", &bytes);
        assert_holds(&compacted, &golden.table);
        let decoded = naive::decode(&compacted).unwrap();
        // No statistics in the order of signed numbers were copied.
        for (_, statistics) in decoded.of_blocks.tiers {
            for record in statistics.chunks_exact(48) {
                let found = naive::records::Statistics::parse(record, decoded.root.version).unwrap();
                assert!(found.flags & 1 == 0 || found.min[15] < 128, "{found:?}");
            }
        }
    }
}

#[test]
fn tables_of_every_kind() {
    // Tables of one page, and of a few.
    let is_similar = |table: &Table| {
        ["shapes of 1023", "shapes of 1025", "shapes of 8191", "shapes of 8192", "shapes of 20000"]
            .contains(&&*table.name)
    };
    for mut table in tables::all().into_iter().filter(|table| is_release() || !is_similar(table)) {
        if !is_release() && table.name == "long rows" {
            // Blocks of many values, of a few, and of one.
            table.columns.retain(|column| [100, 5000, 131_073].contains(&column.of.value_len));
        }
        if !is_release() && table.name == "shapes of 70000" {
            table.columns = table.columns.into_iter().step_by(3).collect();
        }
        for &compression in if is_long() { &[0, 50][..] } else { &[50] } {
            check(&table.name, &write_at(&table, compression));
        }
    }
    for table in [tables::bundles(3_000), tables::runs(100), nested_tables::every_type(9_000)] {
        check(&table.name, &write_at(&table, 50));
    }
}

#[test]
fn documents_and_cells() {
    for tree in documents::all() {
        check(tree.name, &tree.bytes);
    }
    check("long list", &documents::long_list(100_000));
}

#[test]
fn raw_columns_can_still_be_mapped() {
    let table = Table::new("shapes", shapes::columns(70_000));
    let bytes = write_at(&table, 0);
    let compacted = compact_bytes("raw", &bytes);
    let (before, after) = (open(&bytes).unwrap(), open(&compacted).unwrap());
    let mut n_mappable = 0;
    for column in 0..before.n_columns() {
        let extents = [&before, &after].map(|file| file.extent(column, 0..70_000).is_ok());
        assert_eq!(extents[0], extents[1], "column {column}");
        n_mappable += u32::from(extents[0]);
    }
    assert!(n_mappable > 3);
}

#[test]
fn damaged_blocks_are_refused() {
    let table = Table::new("shapes", shapes::columns(70_000));
    let bytes = write_at(&table, 50);
    let file = open(&bytes).unwrap().whole();
    let path = Temp::new("damaged");
    for column in (0..file.n_columns_total()).step_by(by_tier(3, 1, 1)) {
        for block in file.blocks(column).unwrap().iter() {
            let mut damaged = [&bytes[..], &[7; 33]].concat();
            let at = if block.pages_len > 0 { block.pages_at } else { block.directory_at };
            damaged[at as usize] ^= 1;
            std::fs::write(&path.0, &damaged).unwrap();
            let error = compact(&path.0, &options(), &Silent).unwrap_err();
            assert_eq!(error.kind(), Kind::Corrupt, "column {column}: {error}");
            assert_eq!(error.location().column.as_ref(), Some(&file.column(column).unwrap().name));
            assert!(std::fs::read(&path.0).unwrap() == damaged, "column {column}");
        }
    }
}

/// Stops the work at once, and keeps what was reported.
struct Stop;

impl Monitor for Stop {
    fn interrupted(&self) -> bool {
        true
    }
}

#[test]
fn an_interrupt_leaves_the_file() {
    let table = Table::new("shapes", shapes::columns(by_tier(100_000, 200_000, 200_000)));
    let bytes = [write_at(&table, 50), vec![7; 33]].concat();
    let path = Temp::new("interrupted");
    std::fs::write(&path.0, &bytes).unwrap();
    // The work first asks the monitor after 50 ms. A fast run may end before.
    if let Err(error) = compact(&path.0, &options(), &Stop) {
        assert_eq!(error.kind(), Kind::Interrupted);
        assert!(std::fs::read(&path.0).unwrap() == bytes);
    }
}
