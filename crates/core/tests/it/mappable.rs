//! Extents name exactly the bytes of the values, found without reading them.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::{Cells, Counting, Memory, Model, file_of, frame_of, open};
use entasis::{
    ColumnType, Extent, File, Kind, Limits, Logical, MemorySink, MemorySource, Missing, Physical, Silent,
    WriteOptions,
};

const WIDTHS: [(Physical, usize); 13] = [
    (Physical::I8, 1),
    (Physical::I16, 2),
    (Physical::I32, 4),
    (Physical::I64, 8),
    (Physical::U8, 1),
    (Physical::U16, 2),
    (Physical::U32, 4),
    (Physical::U64, 8),
    (Physical::F16, 2),
    (Physical::F32, 4),
    (Physical::F64, 8),
    (Physical::Complex64, 8),
    (Physical::Complex128, 16),
];

fn raw() -> WriteOptions {
    WriteOptions { compression: Some(0), threads: Some(3), ..WriteOptions::default() }
}

fn words(physical: Physical, width: usize, n: usize) -> Model {
    let bytes = (0..n * width).map(|i| (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes()[5]);
    Model { physical, cells: Cells::Words(bytes.collect()), valid: None }
}

fn bools(n: usize) -> Model {
    Model::bools(&(0..n).map(|i| i % 3 == 0 || i % 7 == 0).collect::<Vec<_>>())
}

/// Compares the bytes of an extent with the model.
fn compare(bytes: &[u8], extent: &Extent, model: &Model, start: usize) {
    let mapped = &bytes[extent.at as usize..(extent.at + extent.len) as usize];
    let n = extent.n_values as usize;
    assert_eq!(extent.physical, model.physical);
    match &model.cells {
        Cells::Words(words) => {
            let width = model.physical.width().unwrap();
            assert!(mapped == &words[width * start..width * (start + n)]);
            assert!(extent.at.is_multiple_of(width as u64) && extent.first_bit == 0);
        }
        Cells::Bools(values) => {
            let first = usize::from(extent.first_bit);
            assert!(first < 8 && mapped.len() == (first + n).div_ceil(8));
            for (i, &value) in values[start..start + n].iter().enumerate() {
                assert_eq!(mapped[(first + i) / 8] >> ((first + i) % 8) & 1 == 1, value);
            }
        }
        Cells::Text(_) => panic!("strings have no extent"),
    }
}

fn refused(result: entasis::Result<Extent>, column: &str, why: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), Kind::Unsupported, "{error}");
    assert_eq!(error.location().column.as_deref(), Some(column));
    assert!(error.to_string().contains(why), "{error}");
    assert!(error.to_string().contains("read without a map"), "{error}");
}

#[test]
fn raw_columns_stand_as_they_are() {
    for n in [1, 9, 1000, 8191, 8192, 65_536, 65_537, 1_200_003] {
        let mut columns: Vec<(&str, Model)> =
            WIDTHS.iter().map(|&(physical, width)| (physical.name(), words(physical, width, n))).collect();
        columns.push(("bool", bools(n)));
        if n > 1_000_000 {
            columns.retain(|(name, _)| ["i16", "complex128", "bool"].contains(name));
        }
        let bytes = file_of(&columns, &raw());
        let file = open(&bytes).unwrap();
        let all: Vec<u64> = (0..file.n_columns()).collect();
        for rows in [0..n, n / 3..n - n / 5, n - 1..n, n / 2..n / 2] {
            let extents = file.extents(&all, rows.start as u64..rows.end as u64).unwrap();
            for ((extent, (_, model)), &column) in extents.iter().zip(&columns).zip(&all) {
                assert_eq!(extent.n_values as usize, rows.len());
                assert_eq!(*extent, file.extent(column, rows.start as u64..rows.end as u64).unwrap());
                compare(&bytes, extent, model, rows.start);
            }
        }
        // Whole columns outside of bundles are aligned for any vector register.
        for extent in file.extents(&all, 0..n as u64).unwrap() {
            assert!(n < 8192 || extent.at.is_multiple_of(64));
        }
    }
}

#[test]
fn bundled_columns_stand_one_after_the_other() {
    let models: Vec<Model> =
        (0..200).map(|i| if i % 2 == 0 { words(Physical::F64, 8, 1001) } else { bools(1001) }).collect();
    let names: Vec<String> = (0..200).map(|i| format!("c{i}")).collect();
    let columns: Vec<(&str, Model)> = names.iter().map(String::as_str).zip(models).collect();
    let bytes = file_of(&columns, &raw());
    let file = open(&bytes).unwrap();
    let extents: Vec<Extent> = (0..200).map(|i| file.extent(i, 0..1001).unwrap()).collect();
    for (i, extent) in extents.iter().enumerate() {
        compare(&bytes, extent, &columns[i].1, 0);
        compare(&bytes, &file.extent(i as u64, 13..900).unwrap(), &columns[i].1, 13);
        if i >= 2 && i % 2 == 0 {
            assert_eq!(extent.at, extents[i - 2].at + 8 * 1001);
        }
    }
}

#[test]
fn what_stands_otherwise_is_refused() {
    let n = 70_000;
    let columns = [
        ("text", Model::text(&vec!["x"; n])),
        ("missing", words(Physical::F64, 8, n).with_missing(|i| i != 5)),
        ("missing bool", bools(n).with_missing(|i| i != 69_000)),
        ("plain", words(Physical::F64, 8, n)),
    ];
    let file = open(&file_of(&columns, &raw())).unwrap();
    let rows = n as u64;
    refused(file.extent(0, 0..rows), "text", "strings and bytes");
    refused(file.extent(1, 0..rows), "missing", "missing values");
    refused(file.extent(2, 0..10), "missing bool", "missing values");
    refused(file.extents(&[3, 1], 0..rows).map(|extents| extents[0]), "missing", "missing values");
    assert_eq!(file.extent(3, 0..rows + 1).unwrap_err().kind(), Kind::Argument);
    assert!(file.extent(99, 0..1).is_err());
    for compression in [1, 50, 80] {
        let options = WriteOptions { compression: Some(compression), ..raw() };
        let ints: Vec<i32> = (0..n as i32).map(|i| i % 100).collect();
        let columns = [("a", Model::words(Physical::I32, &ints)), ("b", words(Physical::F64, 8, n))];
        let file = open(&file_of(&columns, &options)).unwrap();
        refused(file.extent(0, 0..rows), "a", "compression 0");
        // Noise is stored raw at any compression, but not contiguously.
        refused(file.extent(1, 0..rows), "b", "compression 0");
    }
}

#[test]
fn neighbours_in_a_bundle_with_missing_values_are_refused() {
    let columns =
        [("a", words(Physical::F64, 8, 10).with_missing(|i| i != 3)), ("b", words(Physical::F64, 8, 10))];
    let file = open(&file_of(&columns, &raw())).unwrap();
    refused(file.extent(1, 0..10), "b", "whose bundle has missing values");
}

#[test]
fn codes_are_refused() {
    let columns = [("codes", words(Physical::U8, 1, 9000)), ("values", Model::text(&vec!["v"; 256]))];
    let memory: Vec<Memory> = columns.iter().map(|(_, model)| Memory::new(model)).collect();
    let mut frame = frame_of(&columns, &memory);
    frame.extra.push(frame.columns.pop().unwrap());
    frame.columns[0].dictionary = Some(0);
    frame.columns[0].column_type = ColumnType {
        logical: Logical::Categorical,
        missing: Missing::Null,
        ..ColumnType::plain(Physical::U8)
    };
    let sink = MemorySink::new();
    entasis::write_to(&sink, &frame, &raw(), &Silent).unwrap();
    let file = open(&sink.into_bytes()).unwrap();
    refused(file.extent(0, 0..9000), "codes", "codes must be checked");
}

#[test]
fn the_mark_tells_files_apart() {
    let (a, b) = ([("a", words(Physical::I8, 1, 9000))], [("a", words(Physical::U8, 1, 9000))]);
    let changed = Model::words(Physical::I8, &vec![1i8; 9000]);
    let files = [file_of(&a, &raw()), file_of(&b, &raw()), file_of(&[("a", changed)], &raw())];
    for bytes in &files {
        let (at, fingerprint) = open(bytes).unwrap().fingerprint();
        let there = |bytes: &[u8]| bytes[at as usize..][..fingerprint.len()] == fingerprint;
        assert_eq!(files.iter().filter(|other| there(other)).count(), 1);
        assert!(there(bytes));
    }
}

#[test]
fn only_the_footer_is_read() {
    for n in [100_000, 10_000_000] {
        let bytes = file_of(&[("a", words(Physical::F64, 8, n))], &raw());
        let (len, n_read) = (bytes.len() as u64, Arc::new(AtomicU64::new(0)));
        let source = Counting {
            inner: MemorySource::new(bytes),
            n_read: Arc::clone(&n_read),
            n_reads: Arc::default(),
        };
        let file = File::from_source(Box::new(source), Path::new("counted"), Limits::default()).unwrap();
        let extent = file.extent(0, 0..n as u64).unwrap();
        assert_eq!(extent.len, 8 * n as u64);
        let read = n_read.load(Ordering::Relaxed);
        // The head with the slots, and the tail, including 64 bytes for each of 153 blocks.
        assert!(read <= 65_536 + 12_288, "{read} of {len} bytes were read");
    }
}
