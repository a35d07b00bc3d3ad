//! Changes of files with long footers: parts that stay equal are named where they lie.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use entasis::{
    Change, Column, Content, Document, File, Frame, Operation, Silent, Value, WriteOptions, compact,
};
use entasis_format::{COUNTED, SectionKind};
use entasis_testkit::frames::host::Memory;
use entasis_testkit::frames::{Model, Table};
use entasis_testkit::future::sections;
use entasis_testkit::hostile::{is_long, is_release};
use entasis_testkit::naive;
use entasis_testkit::probe::{contents, open, verify};

/// The number of columns of each table.
const COLUMNS: usize = 10;
/// The most bytes that a change of one of many tables may add to the file.
const MOST: u64 = 40_000;

fn options() -> WriteOptions {
    WriteOptions { threads: Some(1), ..WriteOptions::default() }
}

/// Rows `from..to` of table number `table`.
fn rows(table: usize, from: usize, to: usize) -> Table {
    let column = |i: usize| {
        let value = |row: usize| (table * 31 + row * 7 + i) as i64;
        let words: Vec<i64> = (from..to).map(value).collect();
        match i % 3 {
            0 => Model::words(format!("number {i}"), entasis::Physical::I64, &words),
            1 => Model::text(format!("text {i}"), &words.iter().map(i64::to_string).collect::<Vec<_>>()),
            _ => Model::bools(format!("flag {i}"), &words.iter().map(|v| v % 3 == 0).collect::<Vec<_>>()),
        }
    };
    let host = Value::map([("host", Value::from("testkit")), ("rows", Value::Int(to as i64))]);
    Table {
        n_rows: to - from,
        host,
        ..Table::new(format!("table {table}"), (0..COLUMNS).map(column).collect())
    }
}

/// A file with many tables of three rows, which can be changed in place.
fn file(name: &str, n_tables: usize) -> PathBuf {
    let path = std::env::temp_dir().join(format!("entasis-parts-{}-{name}", std::process::id()));
    let tables: Vec<Table> = (0..n_tables).map(|table| rows(table, 0, 3)).collect();
    let memories: Vec<Memory> = tables.iter().map(Memory::of).collect();
    let frames = memories.iter().zip(&tables).map(|(memory, table)| memory.frame(table)).collect();
    let value = Value::map([("value", Value::Table(0))]);
    let document = Document { frames, columns: Vec::new(), value };
    entasis::write_document(&path, &document, &options(), &Silent).unwrap();
    // The first change of a short file makes one with slot pages.
    let change = Change::begin(&path, &options(), &Silent).unwrap();
    let kept = change.kept().unwrap();
    change.commit(kept, Operation::Update, &options(), &Silent).unwrap();
    path
}

/// The number of tables of the file of many tables.
fn n_many() -> usize {
    if is_long() { 10_000 } else { 2_000 }
}

/// A file of many tables.
fn many(name: &str) -> PathBuf {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    let path = std::env::temp_dir().join(format!("entasis-parts-{}-{name}", std::process::id()));
    let bytes = BYTES.get_or_init(|| {
        let made = file("many", n_many());
        let bytes = std::fs::read(&made).unwrap();
        std::fs::remove_file(&made).unwrap();
        bytes
    });
    std::fs::write(&path, bytes).unwrap();
    path
}

/// Appends a row to a table that has `n` rows.
fn append(path: &Path, table: usize, n: usize) {
    let more = rows(table, n, n + 1);
    let memory = Memory::of(&more);
    let change = Change::begin(path, &options(), &Silent).unwrap();
    let Content::Document(mut document) = change.kept().unwrap() else { panic!("several tables") };
    let frame = &mut document.frames[table];
    frame.n_rows += 1;
    frame.host = more.host.clone();
    for (column, new) in frame.columns.iter_mut().zip(memory.frame(&more).columns) {
        column.array.chunks.extend(new.array.chunks);
    }
    change.commit(document, Operation::Update, &options(), &Silent).unwrap();
}

/// Asserts that every table has its values.
fn holds(bytes: &[u8], n_rows: &[usize]) {
    let file = open(bytes).unwrap();
    for (table, &n) in n_rows.iter().enumerate() {
        let view = file.table(table as u64).unwrap();
        let expected = rows(table, 0, n);
        assert_eq!(view.n_rows(), n as u64);
        assert_eq!(view.host().unwrap(), expected.host, "table {table}");
    }
    verify(bytes).unwrap();
    let decoded = naive::verify(bytes).unwrap();
    for (table, &n) in n_rows.iter().enumerate() {
        for (column, model) in decoded.columns_of(table).iter().zip(rows(table, 0, n).columns) {
            assert_eq!(column.cells, model.cells, "table {table}, {}", model.name);
        }
    }
}

#[test]
fn an_append_to_one_of_many_tables_writes_few_parts() {
    let path = many("appends");
    let middle = n_many() / 2;
    let len = || std::fs::metadata(&path).unwrap().len();
    let mut lens = Vec::new();
    for (i, table) in [middle, middle, 17].into_iter().enumerate() {
        let before = len();
        append(&path, table, if i == 1 { 4 } else { 3 });
        lens.push(len() - before);
    }
    println!("bytes of each append: {lens:?}, of the file {}", len());
    assert!(lens.iter().all(|&len| len <= MOST), "{lens:?}");
    let bytes = std::fs::read(&path).unwrap();
    let kinds: Vec<u16> = sections(&bytes)
        .iter()
        .filter(|(section, _)| section.flags & COUNTED != 0)
        .map(|(section, _)| section.kind)
        .collect();
    use SectionKind::{Columns, Nodes, Ranges, Tables};
    for kind in [Tables, Columns, Ranges, Nodes] {
        assert!(kinds.contains(&kind.code()), "{} in {kinds:?}", kind.name());
    }
    verify(&bytes).unwrap();
    let file = open(&bytes).unwrap();
    assert_eq!(file.table(middle as u64).unwrap().n_rows(), 5);
    assert_eq!(file.table(17).unwrap().n_rows(), 4);
    assert_eq!(file.table(middle as u64 + 1).unwrap().n_rows(), 3);
    std::fs::remove_file(&path).unwrap();
}

/// Changes the columns of a table of three rows: `change` gets its frame and a frame of columns
/// that may replace others.
fn change_columns(path: &Path, table: usize, of: usize, change: impl FnOnce(&mut Frame, Frame)) {
    let others = rows(of, 0, 3);
    let memory = Memory::of(&others);
    let begun = Change::begin(path, &options(), &Silent).unwrap();
    let Content::Document(mut document) = begun.kept().unwrap() else { panic!("several tables") };
    change(&mut document.frames[table], memory.frame(&others));
    begun.commit(document, Operation::Update, &options(), &Silent).unwrap();
}

/// The names of the columns of a table.
fn names(file: &File, table: u64) -> Vec<String> {
    let table = file.table(table).unwrap();
    table.columns(0..table.n_columns()).unwrap().into_iter().map(|column| column.name).collect()
}

#[test]
fn changed_columns_of_one_of_many_tables_write_few_parts() {
    let path = many("columns");
    let (middle, late) = (n_many() / 2, n_many() * 19 / 20);
    let len = || std::fs::metadata(&path).unwrap().len();
    let mut lens = Vec::new();
    let mut counted = |what: &str, change: &mut dyn FnMut()| {
        let before = len();
        change();
        println!("{what}: {} bytes", len() - before);
        lens.push(len() - before);
    };
    let host = |n: i64| Value::map([("host", Value::from("testkit")), ("columns", Value::Int(n))]);
    counted("add at the end", &mut || {
        change_columns(&path, middle, 7, |frame, others| {
            let column = others.columns.into_iter().next().unwrap();
            frame.columns.push(Column { name: "added".into(), ..column });
            frame.host = host(11);
        });
    });
    counted("add in the middle", &mut || {
        change_columns(&path, 17, 7, |frame, others| {
            let column = others.columns.into_iter().nth(1).unwrap();
            frame.columns.insert(4, Column { name: "a longer name of a column".into(), ..column });
        });
    });
    counted("replace", &mut || {
        change_columns(&path, late, 7, |frame, others| {
            frame.columns[3] = others.columns.into_iter().nth(1).unwrap();
        });
    });
    counted("drop", &mut || {
        change_columns(&path, middle, 7, |frame, _| _ = frame.columns.remove(2));
    });
    counted("rename", &mut || {
        change_columns(&path, 300, 7, |frame, _| frame.columns[2].name = "renamed, to a longer name".into());
    });
    counted("append", &mut || append(&path, 400, 3));
    println!("bytes of the file {}", len());
    let bytes = std::fs::read(&path).unwrap();
    verify(&bytes).unwrap();
    let file = open(&bytes).unwrap();
    assert_eq!(names(&file, middle as u64).len(), 10);
    assert_eq!(names(&file, middle as u64)[2..4], ["number 3", "text 4"]);
    assert_eq!(names(&file, middle as u64)[9], "added");
    assert_eq!(names(&file, 17)[4], "a longer name of a column");
    assert_eq!(names(&file, 300)[2], "renamed, to a longer name");
    assert_eq!(names(&file, late as u64)[3], "text 1");
    assert!(lens.iter().all(|&len| len <= MOST), "{lens:?}");
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn appends_to_many_tables_keep_all_values() {
    let (n_tables, n_appends) = if is_release() { (700, 40) } else { (350, 15) };
    let path = file("values", n_tables);
    let mut n_rows = vec![3; n_tables];
    for i in 0..n_appends {
        let table = (i * i * 37 + 11) % n_tables;
        append(&path, table, n_rows[table]);
        n_rows[table] += 1;
    }
    let bytes = std::fs::read(&path).unwrap();
    let counted = sections(&bytes).iter().filter(|(section, _)| section.flags & COUNTED != 0).count();
    assert!(counted > 0, "no section names parts of an earlier generation");
    holds(&bytes, &n_rows);
    let changed = contents(&bytes).unwrap();
    compact(&path, &options(), &Silent).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert!(sections(&bytes).iter().all(|(section, _)| section.flags == 0));
    holds(&bytes, &n_rows);
    assert_eq!(contents(&bytes).unwrap().columns.len(), changed.columns.len());
    std::fs::remove_file(&path).unwrap();
}
