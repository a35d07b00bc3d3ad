//! Small files that decode to much memory. A limit refuses each before the memory is touched, and
//! without the limit they are sound files.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use entasis::{
    Array, Chunk, Column, ColumnType, File, Form, Frame, HostRead, HostValidity, HostValues, Kind, Limits,
    MemorySink, MemorySource, Physical, Rows, Silent, TextLayout, Value, WriteOptions,
};
use entasis_testkit::frames::{self, Model, Table, documents};
use entasis_testkit::memory;
use entasis_testkit::mutate::{Map, put};

#[global_allocator]
static ALLOCATOR: memory::Counting = memory::Counting;

/// Only one test measures at a time.
static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A field of `/proc/self/status`, in bytes; 0 where there is none.
fn status(field: &str) -> usize {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(field)).unwrap_or("0");
    line.trim_matches([':', ' ', '\t', 'k', 'B']).parse::<usize>().unwrap_or(0) << 10
}

/// The most memory that some work took: of the heap, and on Linux also of mappings that it touched.
fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    // Sets the most resident memory to the current one.
    let is_reset = std::fs::write("/proc/self/clear_refs", "5").is_ok();
    let resident = status("VmRSS");
    let (result, heap) = memory::peak(work);
    let touched = if is_reset { status("VmHWM").saturating_sub(resident) } else { 0 };
    (result, heap.max(touched))
}

/// Memory that a reader takes in addition to decoded values: buffers of the file, pages, names.
const OVERHEAD: usize = 16 << 20;
/// The limit that each bomb exceeds.
const ALLOWED: u64 = 8 << 20;

fn open(bytes: &[u8], decoded_len: Option<u64>) -> entasis::Result<File> {
    let mut limits = Limits::default();
    limits.decoded_len = decoded_len;
    File::from_source(Box::new(MemorySource::new(bytes.to_vec())), Path::new("bomb"), limits)
}

/// Checks that a file decodes to at least `len` bytes, and that a limit stops it before.
fn explodes(name: &str, bytes: &[u8], len: usize, read: impl Fn(&File) -> entasis::Result<()>) {
    assert!(bytes.len() * 100 < len, "{name}: {} bytes are no bomb of {len}", bytes.len());
    let (result, peak) = peak_of(|| open(bytes, Some(ALLOWED)).and_then(|file| read(&file)));
    let error = result.expect_err(name);
    assert_eq!((error.kind(), error.exceeded_limit()), (Kind::Limit, Some("decoded_len")), "{name}: {error}");
    println!("{name}: {} bytes in the file, peak {peak} of {len}: {error}", bytes.len());
    assert!(peak <= ALLOWED as usize + OVERHEAD, "{name}: {peak} bytes at once");
    let (result, peak) = peak_of(|| open(bytes, None).and_then(|file| read(&file)));
    result.unwrap_or_else(|error| panic!("{name}: {error}"));
    // The kernel counts resident pages in batches.
    assert!(peak >= len / 2, "{name}: only {peak} of {len} bytes at once");
    assert!(peak <= 3 * len + OVERHEAD, "{name}: {peak} bytes at once for {len}");
}

/// Reads a column into memory of the core.
fn read_column(file: &File) -> entasis::Result<()> {
    let form = |_: &entasis::ColumnInfo| Form { text: TextLayout::Large, width: None, is_small: false };
    file.read_nested(&[(0, Rows::All)], &form, Some(1), &Silent).map(|_| ())
}

/// A file with a column of `n` values that all have the same memory.
fn repeated(column_type: ColumnType, values: HostValues, n: usize, compression: u8) -> Vec<u8> {
    let column = Column {
        name: "a".into(),
        run: None,
        column_type,
        detail: None,
        host_detail: None,
        dictionary: None,
        children: Vec::new(),
        array: Array::new(Chunk { n, values, validity: HostValidity::AllValid }),
    };
    let frame = Frame { n_rows: n as u64, columns: vec![column], extra: Vec::new(), host: Value::Null };
    let sink = MemorySink::new();
    let options =
        WriteOptions { compression: Some(compression), threads: Some(2), ..WriteOptions::default() };
    entasis::write_to(&sink, &frame, &options, &Silent).unwrap();
    sink.into_bytes()
}

fn lend(bytes: &[u8]) -> HostRead {
    // SAFETY: each caller keeps the bytes until the file is written.
    unsafe { HostRead::new(bytes.as_ptr(), bytes.len()) }
}

#[test]
fn constant_columns() {
    let _turn = turn();
    let n = 20_000_000;
    let value = 7u64.to_le_bytes();
    let values = HostValues::Words { memory: lend(&value), stride: 0 };
    let bytes = repeated(ColumnType::plain(Physical::I64), values, n, 50);
    explodes("constant words", &bytes, 8 * n, read_column);
    let row = [9u8; 4000];
    let values = HostValues::Words { memory: lend(&row), stride: 0 };
    let bytes = repeated(ColumnType::fixed(4000), values, 20_000, 50);
    explodes("constant rows", &bytes, 4000 * 20_000, read_column);
}

#[test]
fn repeated_strings() {
    let _turn = turn();
    let text = [b'x'; 1000];
    for compression in [50, 100] {
        let values = HostValues::Padded { memory: lend(&text), width: text.len(), stride: 0 };
        let bytes = repeated(ColumnType::plain(Physical::Utf8), values, 60_000, compression);
        explodes("one string", &bytes, 60_000_000, read_column);
    }
    let two = [["a".repeat(5000), "b".repeat(5000)], ["c".repeat(5000), "d".repeat(5000)]].concat();
    let texts: Vec<&String> = (0..16_000).map(|i| &two[i * i % 4]).collect();
    let bytes = frames::write_at(&Table::new("dictionary", vec![Model::text("a", &texts)]), 50);
    explodes("a dictionary", &bytes, 16_000 * 5000, read_column);
}

/// A long string compresses to repeating LZ4 blocks, or to Zstandard blocks that repeat a byte.
#[test]
fn long_strings() {
    let _turn = turn();
    let long = ["ab".repeat(20 << 20), "x".repeat(24 << 20)];
    for compression in [50, 100] {
        let bytes = frames::write_at(&Table::new("long", vec![Model::text("a", &long)]), compression);
        explodes("long strings", &bytes, 64 << 20, read_column);
    }
}

#[test]
fn lists_of_cells() {
    let _turn = turn();
    let n = 2_000_000u64;
    // A kind and an integer each.
    explodes("a list", &documents::long_list(n), 9 * n as usize, |file| {
        let cells = file.cells()?.expect("the file has cells");
        cells.load(0..cells.n_cells(), Some(1), &Silent).map(|_| ())
    });
}

/// Lists of nulls have no values in the file, however long they are.
#[test]
fn lists_that_promise_more_than_any_memory() {
    let _turn = turn();
    let null = Model::new("item", Physical::Null, Vec::new());
    let lists = vec![frames::nested::list(&[None]); 1000];
    let table = Table::new("lists", vec![Model::nested("a", Physical::List, vec![null], lists)]);
    let mut bytes = frames::write_at(&table, 50);
    let map = Map::of(&bytes);
    let len = u64::from(u32::MAX);
    for (name, nth, value) in [
        ("directory.base", 0, len),
        ("statistics.min", 0, len),
        ("statistics.max", 0, len),
        ("column.n_values", 1, 1000 * len),
        ("column.n_missing", 1, 1000 * len),
    ] {
        put(&mut bytes, map.named(name).nth(nth).unwrap(), value);
    }
    map.repair(&mut bytes);
    let (result, peak) = peak_of(|| open(&bytes, None).and_then(|file| read_column(&file)));
    let error = result.unwrap_err();
    assert_eq!(error.exceeded_limit(), Some("decoded_len"), "{error}");
    assert!(peak <= OVERHEAD, "{peak} bytes at once");
    entasis_testkit::probe::verify(&bytes).unwrap();
}
