//! Tables of fst that are converted window by window, or read in parts, give what the whole gives.
#![allow(unsafe_code, reason = "the writer borrows memory of the table")]

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use entasis::{
    File, HostRead, Kind, Limits, MissingTo, Monitor, Output, Request, Rows, Silent, Text, TextLayout, Value,
    WriteOptions,
};
use entasis_convert::r::PlanOptions;
use entasis_convert::{Parts, ReadOptions, Source, convert};

use crate::common::file;
use crate::fst::{Column, Stored, table};

fn lend(bytes: &[u8]) -> HostRead {
    // SAFETY: the bytes are initialised. The values outlive the document that borrows them, and
    // nobody writes to them meanwhile.
    unsafe { HostRead::new(bytes.as_ptr(), bytes.len()) }
}

/// Converts bytes in windows of some rows.
fn converted(bytes: &[u8], window: Option<u64>, path: &Path, monitor: &dyn Monitor) -> entasis::Result<File> {
    let reading = ReadOptions { threads: 2, window, ..ReadOptions::default() };
    let options = WriteOptions { compression: Some(10), threads: Some(2), ..WriteOptions::default() };
    convert(Source::Bytes(bytes), path, &reading, PlanOptions::default(), &options, &lend, monitor)?;
    File::open(path)
}

/// A column: name, type, detail, values, and which are missing.
type Content = (String, String, Option<Value>, Vec<u8>, Vec<u8>);

/// Rows of a column.
fn content(file: &File, number: u64, rows: Range<u64>) -> Content {
    let info = file.column(number).unwrap();
    let n = (rows.end - rows.start) as usize;
    let mut missing = vec![0; n];
    let of = info.record.column_type;
    let read = |output, missing: &mut [u8]| {
        let missing = MissingTo::Mask(missing);
        let request = Request { column: number, rows: Rows::Range(rows.clone()), output, missing };
        file.read(vec![request], Some(1), &Silent).unwrap();
    };
    let mut values = Vec::new();
    if of.physical == entasis::Physical::Bool {
        values.resize(n, 0);
        read(Output::Bools(&mut values), &mut missing);
        values.iter_mut().zip(&missing).for_each(|(value, &missing)| *value &= 1 - missing);
    } else if let Some(width) = of.layout().width() {
        let mut memory = vec![0u64; (n * width).div_ceil(8)];
        let words = &mut bytemuck::cast_slice_mut(&mut memory)[..n * width];
        read(Output::Words(words), &mut missing);
        // Slots of missing values have any bytes.
        for (value, &missing) in words.chunks_mut(width).zip(&missing) {
            if missing == 1 {
                value.fill(0);
            }
        }
        values.extend_from_slice(words);
    } else {
        let mut text = Text::new(TextLayout::Large);
        read(Output::Text(&mut text), &mut missing);
        for (i, &missing) in missing.iter().enumerate() {
            let text = if missing == 1 { None } else { text.get(i) };
            values.extend(format!("{text:?};").bytes());
        }
    }
    (info.name.clone(), format!("{of:?}"), info.detail.clone(), values, missing)
}

/// Compares all columns, also levels and codes of encodings, and the host map.
fn compare(found: &File, expected: &File, what: &str) {
    assert_eq!((found.n_rows(), found.n_columns()), (expected.n_rows(), expected.n_columns()), "{what}");
    assert_eq!(found.host().unwrap(), expected.host().unwrap(), "{what}");
    let of = |file: &File| {
        let stored = (0..file.n_columns_total()).filter(|&i| !file.column(i).unwrap().record.is_bundle);
        let all = |i| content(file, i, 0..file.column(i).unwrap().record.n_values);
        stored.map(all).collect::<Vec<_>>()
    };
    let (found, expected) = (of(found), of(expected));
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (found, expected)) in found.into_iter().zip(expected).enumerate() {
        assert!(found == expected, "{what}, column {i}: {:?}, not {:?}", found.1, expected.1);
    }
}

fn check(bytes: &[u8], windows: &[u64], what: &str) {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("a"), folder.path().join("b"));
    let whole = converted(bytes, Some(u64::MAX), &path, &Silent).unwrap();
    for &window in windows {
        let parts = converted(bytes, Some(window), &other, &Silent).unwrap();
        compare(&parts, &whole, &format!("{what}, windows of {window} rows"));
    }
}

const FST: [&str; 5] =
    ["table_000.fst.xz", "table_030.fst.xz", "table_050.fst.xz", "table_080.fst.xz", "table_100.fst.xz"];

#[test]
fn windows_give_the_file_of_the_whole() {
    for name in FST {
        check(&file(name), &[61, 999, 2047, 4096, 4999], name);
    }
    check(&file("small.fst"), &[1, 2, 3, 7, 69], "small.fst");
}

const NA: u64 = 0x7FF0_0000_0000_07A2;
const QUIET: u64 = 0x7FF8_0000_0000_07A2;

/// Columns whose form is known late: times, missing doubles, encodings.
fn late(n: usize) -> Vec<Column> {
    let mut columns = Vec::new();
    let mut push = |of, class, values| {
        columns.push(Column { of, class, values, algorithm: 1, is_whole: false });
    };
    let doubles = |special: &[(usize, u64)]| {
        let mut values: Vec<u64> = (0..n).map(|i| (i as f64).to_bits()).collect();
        special.iter().for_each(|&(i, bits)| values[i] = bits);
        Stored::Words8(values)
    };
    let (last, middle) = (n - 1, n / 2);
    for class in [11, 12, 13] {
        for special in [
            &[][..],
            &[(last, 0.5f64.to_bits())],
            &[(middle, 0.5f64.to_bits()), (last, 1763744436.123457f64.to_bits())],
            &[(1, 9e15f64.to_bits()), (last, 0.000_001f64.to_bits())],
            &[(0, 0.000_001f64.to_bits()), (last, 9e15f64.to_bits())],
            &[(middle, f64::INFINITY.to_bits())],
            &[(middle, NA)],
            &[(middle, QUIET), (last, NA)],
            &[(1, NA), (last, QUIET)],
        ] {
            push(9, class, doubles(special));
        }
    }
    for special in [
        &[(middle, QUIET)][..],
        &[(middle, NA), (last, QUIET)],
        &[(middle, QUIET), (last, NA)],
        &[(2, f64::NAN.to_bits())],
    ] {
        push(9, 10, doubles(special));
    }
    push(11, 16, doubles(&[(middle, NA), (last, i64::MIN as u64)]));
    push(11, 17, doubles(&[(last, i64::MIN as u64)]));
    for class in [6, 7, 8, 9] {
        push(
            8,
            class,
            Stored::Words4((0..n).map(|i| if i == middle { i32::MIN } else { i as i32 }).collect()),
        );
    }
    for mark in [0, 1, 2] {
        for bytes in [&b"plain"[..], "\u{e9}".as_bytes(), b"\xe9", b"\xff\xfe"] {
            let text = |i| Some(if i == last { bytes.to_vec() } else { format!("row {i}").into_bytes() });
            push(6, 2, Stored::Text((0..n).map(text).collect(), mark));
            let text = |i| (i != middle).then(|| if i == 0 { bytes.to_vec() } else { "\u{fc}".into() });
            push(6, 2, Stored::Text((0..n).map(text).collect(), mark));
        }
    }
    columns
}

#[test]
fn forms_that_are_known_late_hold_for_all_windows() {
    let bytes = table(&late(40), 40, &[]);
    check(&bytes, &[1, 2, 3, 7, 19, 20, 39], "late forms");
}

/// A source that notes which ranges are read.
struct Watched {
    bytes: Vec<u8>,
    read: Arc<Mutex<Vec<Range<u64>>>>,
}

impl entasis::Source for Watched {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, at: u64, out: &mut [u8]) -> std::io::Result<usize> {
        let rest = self.bytes.get(at as usize..).unwrap_or_default();
        let n = rest.len().min(out.len());
        out[..n].copy_from_slice(&rest[..n]);
        self.read.lock().unwrap().push(at..at + n as u64);
        Ok(n)
    }
}

/// A table of columns of 100,000 rows: doubles, times, texts.
pub(crate) fn long() -> Vec<u8> {
    let n = 100_000;
    let doubles = || Stored::Words8((0..n).map(|i| (i as f64 / 8.0).to_bits()).collect());
    let texts = (0..n).map(|i| Some(format!("row {i}").into_bytes())).collect();
    let column = |of, class, values| Column { of, class, values, algorithm: 1, is_whole: false };
    let columns = [
        column(9, 10, doubles()),
        column(9, 12, doubles()),
        column(6, 2, Stored::Text(texts, 2)),
        column(9, 10, doubles()),
    ];
    table(&columns, n as u64, &[])
}

#[test]
fn parts_read_their_blocks_alone() {
    let bytes = long();
    let read: Arc<Mutex<Vec<Range<u64>>>> = Arc::default();
    let open = || {
        let source = Watched { bytes: bytes.clone(), read: Arc::clone(&read) };
        Parts::of_source(Box::new(source), Path::new("x.fst"), Limits::default()).unwrap()
    };
    let len = || read.lock().unwrap().drain(..).map(|range| range.end - range.start).sum::<u64>();
    let parts = open();
    assert_eq!((parts.n_rows(), parts.names().len()), (100_000, 4));
    let header = len();
    assert!(header < 1000, "{header}");
    let whole = parts.part(None, 0..100_000, &lend, &Silent).unwrap();
    let all = len();
    assert!(all > bytes.len() as u64 / 10 * 9, "{all}");
    // The header, two entries of an index and one block, for each column.
    for (columns, rows, most) in [
        (vec![0], 0..10, 20_000),
        (vec![2], 50_000..50_010, 45_000),
        (vec![3, 0], 99_999..100_000, 40_000),
        (vec![2], 0..0, 1_500),
    ] {
        let part = parts.part(Some(&columns), rows.clone(), &lend, &Silent).unwrap();
        let n = len();
        assert!(n < most, "{columns:?}, {rows:?}: {n} bytes");
        assert_eq!((part.n_rows(), part.n_columns()), (rows.end - rows.start, columns.len() as u64));
        for (i, &column) in columns.iter().enumerate() {
            let expected = content(&whole, column as u64, rows.clone());
            assert!(content(&part, i as u64, 0..part.n_rows()) == expected, "{columns:?}, {rows:?}");
        }
    }
    // Only the times decide about a type.
    let schema = parts.schema(&lend, &Silent).unwrap();
    let of_times = len();
    assert!(of_times < bytes.len() as u64 / 3, "{of_times} of {}", bytes.len());
    assert_eq!((schema.n_rows(), schema.n_columns()), (0, 4));
    for i in 0..4 {
        let of = |file: &File| format!("{:?}", file.column(i).unwrap().record.column_type);
        assert_eq!(of(&schema), of(&whole));
    }
    let kind = |columns: &[usize], rows| parts.part(Some(columns), rows, &lend, &Silent).unwrap_err().kind();
    assert_eq!((kind(&[4], 0..1), kind(&[0], 0..100_001)), (Kind::Argument, Kind::Argument));
}

#[test]
fn all_parts_of_the_fixtures_are_those_of_the_whole() {
    for name in ["table_050.fst.xz", "table_000.fst.xz"] {
        let source = Box::new(entasis::MemorySource::new(file(name)));
        let parts = Parts::of_source(source, Path::new(name), Limits::default()).unwrap();
        let whole = parts.part(None, 0..5000, &lend, &Silent).unwrap();
        for rows in [0..1, 0..5000, 2046..2049, 4095..4097, 4999..5000] {
            let part = parts.part(None, rows.clone(), &lend, &Silent).unwrap();
            for i in 0..whole.n_columns() {
                let (found, expected) =
                    (content(&part, i, 0..part.n_rows()), content(&whole, i, rows.clone()));
                // The unit of times is that of the rows.
                if found.1 == expected.1 {
                    assert!(found == expected, "{name}, {rows:?}, column {i}");
                } else {
                    assert!(found.1.contains("Timestamp") || found.1.contains("Duration"), "{}", found.1);
                }
            }
        }
    }
}

/// Stops the work after some windows.
struct Stop {
    after: u64,
    rows: AtomicU64,
    is_done: AtomicBool,
}

impl Monitor for Stop {
    fn interrupted(&self) -> bool {
        self.rows.load(Ordering::Relaxed) >= self.after
    }

    fn progress(&self, done: u64, total: u64) {
        assert!(self.rows.swap(done, Ordering::Relaxed) <= done && done <= total);
        self.is_done.store(done == total, Ordering::Relaxed);
    }
}

#[test]
fn progress_is_reported_and_the_work_stops_between_windows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.entasis");
    let bytes = long();
    let stop = |after| Stop { after, rows: AtomicU64::new(0), is_done: AtomicBool::new(false) };
    let stopping = stop(30_000);
    let error = converted(&bytes, Some(10_000), &path, &stopping).unwrap_err();
    assert_eq!(error.kind(), Kind::Interrupted);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let watching = stop(u64::MAX);
    assert_eq!(converted(&bytes, Some(10_000), &path, &watching).unwrap().n_rows(), 100_000);
    assert!(watching.is_done.load(Ordering::Relaxed));
}

#[test]
fn damage_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.entasis");
    let bytes = long();
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for cut in [bytes.len() - 1, bytes.len() / 2, 3000] {
        let error = converted(&bytes[..cut], Some(10_000), &path, &Silent).unwrap_err();
        *kinds.entry(format!("{:?}", error.kind())).or_default() += 1;
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{error}");
    }
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), [("Corrupt".to_owned(), 3)]);
}
