//! `entasis convert` takes the same memory for a table of fst of any length.
#![cfg(target_os = "linux")]

use std::path::Path;

use crate::common::{Folder, by_tier, entasis};
use crate::csv_memory::peak_of;
use crate::fst_file::{Column, headline, mixed, write};

/// The columns of the articles about fst, and times and strings.
fn columns() -> Vec<(&'static str, Column)> {
    let mut columns = headline();
    columns
        .push(("Time", Column::Time(|row| 1.7e9 + (row / 4) as f64 + (mixed(row) % 1000) as f64 / 1000.0)));
    columns.push((
        "Text",
        Column::Text(|row| {
            let n = mixed(row);
            (!n.is_multiple_of(9)).then(|| format!("row {n:x}, {}", "note ".repeat((n >> 20) as usize % 8)))
        }),
    ));
    columns
}

/// Converts a table of some rows, and returns the peak of resident memory in KiB and the bytes of
/// the table.
fn peak(path: &Path, n_rows: u64, out: &Path) -> (usize, u64) {
    write(path, n_rows, &columns());
    let len = std::fs::metadata(path).unwrap().len();
    let found = peak_of(path, out);
    assert_eq!(entasis(args!["count", out]).fine().trim(), n_rows.to_string());
    let rows = format!("{}:{}", n_rows - 3, n_rows);
    let lines = |path: &Path| entasis(args!["head", "--json", "--rows", rows, path]).fine();
    assert_eq!(lines(path), lines(out));
    (found, len)
}

#[test]
fn the_memory_of_convert_does_not_grow_with_the_table() {
    let folder = Folder::new();
    let (path, out) = (folder.path().join("in.fst"), folder.path().join("out.entasis"));
    let (short, len) = peak(&path, 2_000_000, &out);
    println!("{} MB: {} MiB", len / 1_000_000, short >> 10);
    assert!(short < 400 << 10, "{short} KiB");
    if std::env::var_os("ENTASIS_TEST_LONG").is_some() {
        let (long, len) = peak(&path, 70_000_000, &out);
        println!("{} MB: {} MiB", len / 1_000_000, long >> 10);
        assert!(len > 2_000_000_000, "{len} bytes");
        assert!(long < 256 << 10, "{long} KiB, {short} KiB for a short table");
    }
}

/// Strings that take few bytes in the file, and very many in memory.
#[test]
fn long_strings_are_converted_within_the_limit() {
    let folder = Folder::new();
    let (path, out) = (folder.path().join("in.fst"), folder.path().join("out.entasis"));
    // Values of 750 MB or 1.8 GB.
    let n_rows = by_tier(50_000, 120_000);
    write(&path, n_rows, &[("Long", Column::Text(|row| Some(format!("{row} {}", "long ".repeat(3000)))))]);
    let found = peak_of(&path, &out);
    println!("long strings: {} MiB", found >> 10);
    assert_eq!(entasis(args!["count", out]).fine().trim(), n_rows.to_string());
}
