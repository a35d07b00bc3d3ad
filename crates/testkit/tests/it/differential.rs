//! Core, naive decoder and model agree on every table at every compression, and the tables reach
//! everything.

use std::collections::BTreeSet;

use entasis_testkit::compare::assert_holds;
use entasis_testkit::frames::{self, Model, Table, shapes, tables};
use entasis_testkit::hostile::{by_tier, is_long, is_release};
use entasis_testkit::naive::{self, segment::features};

const COMPRESSIONS: [u8; 5] = [0, 10, 50, 80, 100];

fn check(table: Table) {
    check_at(table, &COMPRESSIONS);
}

fn check_at(mut table: Table, compressions: &[u8]) {
    let name = table.name.clone();
    for &compression in compressions {
        table.name = format!("{name} at {compression}");
        let bytes = frames::write_at(&table, compression);
        assert_holds(&bytes, &table);
    }
}

fn shapes_of(n: usize) -> Table {
    Table::new(format!("shapes of {n}"), shapes::columns(n))
}

#[test]
fn shapes_of_few_rows() {
    for n in [0, 1, 2, 7, 1023, 1024, 1025] {
        check(shapes_of(n));
    }
}

#[test]
fn shapes_around_a_page() {
    let some: [&[u8]; 4] = [&[10], &[50], &[0, 80], &[50]];
    for (n, some) in [8191, 8192, 8193, 20_000].into_iter().zip(some) {
        let most = if n == 8193 { &COMPRESSIONS[..] } else { &[0, 50] };
        check_at(shapes_of(n), by_tier(some, most, &COMPRESSIONS));
    }
}

#[test]
fn shapes_around_a_block() {
    if is_long() {
        check(shapes_of(65_536));
        check(shapes_of(70_000));
    } else {
        check_at(shapes_of(65_536), &[50]);
        check_at(shapes_of(66_000), by_tier(&[0], &[0, 80], &[]));
    }
}

#[test]
fn types() {
    check(tables::types(20));
    check_at(tables::types(9000), by_tier(&[0, 50, 80], &COMPRESSIONS, &COMPRESSIONS));
}

#[test]
fn categoricals() {
    check(tables::categoricals(50));
    check(tables::categoricals(10_000));
}

#[test]
fn names() {
    check(tables::names());
}

#[test]
fn tables_without_columns() {
    check(tables::no_columns());
    check(tables::rows_without_columns());
}

#[test]
fn bundles() {
    check(tables::bundles(100));
    check(tables::bundles(1));
}

#[test]
fn so_many_columns_that_sections_have_index_parts() {
    check(tables::wide());
}

#[test]
fn texts_longer_than_pages() {
    check_at(tables::long_texts(), by_tier(&[0, 50], &COMPRESSIONS, &COMPRESSIONS));
}

#[test]
fn values_of_every_kind() {
    check(tables::values());
}

/// The features that the blocks of a table use, over all compression settings.
fn reached(table: &Table) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    for &compression in if is_release() { &[0, 10, 30, 50, 60, 80, 100][..] } else { &[0, 10, 50, 80] } {
        let bytes = frames::write_at(table, compression);
        let decoded = naive::decode(&bytes).unwrap();
        for column in &decoded.columns {
            let of = &column.record.of;
            let of_blocks = column.blocks.iter().map(|block| features(&bytes, block, of).unwrap());
            seen.extend(of_blocks.flatten());
        }
    }
    seen
}

#[test]
fn the_tables_reach_every_encoding() {
    let mut seen = reached(&Table::new("shapes", shapes::columns(if is_release() { 20_000 } else { 9_000 })));
    let alike: Vec<String> =
        (0..9000).map(|i| format!("{}{i:x}", "the same again for most of its length ".repeat(5))).collect();
    let texts = vec![
        Model::text("a", &vec!["same"; 9000]),
        Model::text("b", &vec!["other"; 9000]),
        Model::text("c", &alike),
    ];
    seen.extend(reached(&Table::new("texts", texts)));
    for feature in &seen {
        println!("{feature}");
    }
    let wanted = [
        "raw",
        "constant",
        "bit-packed",
        "delta",
        "run-length",
        "strings",
        "fsst",
        "constant dictionary",
        "bit-packed dictionary",
        "run-length dictionary",
        "bit-packed alp",
        "bit-packed residual",
        "raw lz4",
        "raw zstd",
        "raw zstd shuffle",
        "strings lz4",
        "strings zstd",
        "patches",
        "per vector",
        "pages",
        "no pages",
        "validity 1",
        "validity 2",
        "validity 3",
    ];
    let unreached: Vec<_> = wanted.into_iter().filter(|feature| !seen.contains(*feature)).collect();
    assert!(unreached.is_empty(), "no table reaches {unreached:?}");
}
