//! Columns that a change keeps, in unusual files.

use std::path::{Path, PathBuf};

use entasis::{
    Array, Change, Column, Content, Document, Kind, Logical, Operation, Physical, Role, Silent, Value,
    WriteOptions, compact, repair,
};
use entasis_testkit::frames::host::Memory;
use entasis_testkit::frames::{Model, Table, tables, write_at};
use entasis_testkit::future::Future;
use entasis_testkit::probe::{open, verify};

fn options() -> WriteOptions {
    WriteOptions { threads: Some(1), ..WriteOptions::default() }
}

fn path(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("entasis-kept-{}-{name}", std::process::id()))
}

/// Writes the tables, and then a generation in place that keeps all of them.
fn write(path: &Path, tables: &[Table]) {
    let memories: Vec<Memory> = tables.iter().map(Memory::of).collect();
    let frames = memories.iter().zip(tables).map(|(memory, table)| memory.frame(table)).collect();
    let value = Value::map([("value", Value::Table(0))]);
    let document = Document { frames, columns: Vec::new(), value };
    entasis::write_document(path, &document, &options(), &Silent).unwrap();
    for _ in 0..2 {
        let change = Change::begin(path, &options(), &Silent).unwrap();
        let kept = change.kept().unwrap();
        change.commit(kept, Operation::Update, &options(), &Silent).unwrap();
    }
}

fn table(number: i64) -> Table {
    let column = |i: i64| match i {
        2 => Model::text("text", &["a", "b", "c"]),
        _ => Model::words(format!("number {i}"), Physical::I64, &[number, i, 7]),
    };
    Table::new(format!("table {number}"), (0..10).map(column).collect())
}

#[test]
fn a_column_is_kept_once() {
    let path = path("twice");
    write(&path, &[table(0), table(1)]);
    let before = std::fs::read(&path).unwrap();
    for is_in_place in [true, false] {
        let change = Change::begin(&path, &options(), &Silent).unwrap();
        let Content::Document(mut document) = change.kept().unwrap() else { panic!("several tables") };
        let first = &document.frames[0].columns[0];
        let copy = Column {
            name: "copy".into(),
            run: None,
            column_type: first.column_type,
            detail: None,
            host_detail: None,
            dictionary: None,
            children: Vec::new(),
            array: Array::kept(0),
        };
        document.frames[0].columns.push(copy);
        let done = match is_in_place {
            true => change.commit(document, Operation::Update, &options(), &Silent),
            false => change.replace(document, Operation::Update, &options(), &Silent),
        };
        assert_eq!(done.unwrap_err().kind(), Kind::Argument);
        let file = open(&std::fs::read(&path).unwrap()[..before.len()]).unwrap();
        assert_eq!((file.generation(), file.n_columns()), (3, 10));
    }
    std::fs::remove_file(&path).unwrap();
}

/// A table without columns may begin at any column.
#[test]
fn a_file_with_a_table_without_columns_is_repaired() {
    for at in [1, 3, 60, 118] {
        let (path, out) = (path("empty"), path("empty-out"));
        let _ = std::fs::remove_file(&out);
        let mut all: Vec<Table> = (0..120).map(table).collect();
        all[at] = tables::rows_without_columns();
        write(&path, &all);
        let mut bytes = std::fs::read(&path).unwrap();
        verify(&bytes).unwrap();
        let block = open(&bytes).unwrap().table(0).unwrap().blocks(2).unwrap()[0];
        bytes[block.pages_at as usize] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        repair(&path, &out, &options(), &Silent).unwrap_or_else(|error| panic!("{at}: {error}"));
        verify(&std::fs::read(&out).unwrap()).unwrap();
        std::fs::remove_file(&path).unwrap();
        std::fs::remove_file(&out).unwrap();
    }
}

/// How many columns of a file have a role.
fn n_of_role(bytes: &[u8], role: Role) -> usize {
    let info = open(bytes).unwrap().info().unwrap();
    info.columns.iter().filter(|column| column.role == role).count()
}

#[test]
fn free_columns_have_a_role_of_their_own() {
    let path = path("free");
    write(&path, &(0..120).map(table).collect::<Vec<_>>());
    let change = Change::begin(&path, &options(), &Silent).unwrap();
    let Content::Document(mut document) = change.kept().unwrap() else { panic!("several tables") };
    document.frames[5].columns.remove(3);
    change.commit(document, Operation::Update, &options(), &Silent).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!((n_of_role(&bytes, Role::Free), n_of_role(&bytes, Role::Table)), (1, 1_199));
    compact(&path, &options(), &Silent).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!((n_of_role(&bytes, Role::Free), n_of_role(&bytes, Role::Table)), (0, 1_199));
    std::fs::remove_file(&path).unwrap();
}

/// A dictionary without values, name and type looks like a free column, but a column names it.
#[test]
fn an_empty_dictionary_is_not_free() {
    let mut codes = Model::words("codes", Physical::I8, &[0, 0]);
    codes.cells = vec![None, None];
    codes.of.logical = Logical::Categorical;
    codes.dictionary = Some(0);
    let dictionary = Model::new("", Physical::Null, Vec::new());
    let table = Table { extra: vec![dictionary], ..Table::new("categorical", vec![codes]) };
    let bytes = write_at(&table, 50);
    verify(&bytes).unwrap();
    assert_eq!((n_of_role(&bytes, Role::Free), n_of_role(&bytes, Role::Extra)), (0, 1));
}

/// A run of columns lies in one range of its table. A file that breaks this rule keeps its columns.
#[test]
fn compact_does_not_reorder_a_run_in_two_ranges() {
    let column = |i: i64| Model::words(format!("c{i}"), Physical::I64, &[10 * i, 1]);
    let table = Table { in_runs: true, ..Table::new("runs", (0..6).map(column).collect()) };
    let memory = Memory::of(&table);
    let path = path("runs");
    entasis::write(&path, &memory.frame(&table), &options(), &Silent).unwrap();
    let written = std::fs::read(&path).unwrap();
    let forged = Future { column_ranges: vec![3..6, 0..3], ..Future::default() }.forge(&written);
    std::fs::write(&path, &forged).unwrap();
    assert_eq!(verify(&forged).unwrap_err().kind(), Kind::Corrupt);
    let names = || {
        let file = open(&std::fs::read(&path).unwrap()).unwrap();
        (0..6).map(|column| file.column(column).unwrap().name.clone()).collect::<Vec<_>>()
    };
    let before = names();
    // Refused, or stored as it is.
    let _ = compact(&path, &options(), &Silent);
    assert_eq!(names(), before);
    std::fs::remove_file(&path).unwrap();
}
