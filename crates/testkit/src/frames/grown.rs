//! Files with several generations: tables that were changed in place.

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use entasis::{Change, ColumnSource, Operation, Physical, Result, Silent, Stream, WriteOptions, compact};

use super::{Model, Table, host, noise};

/// The rows `from..to` of a table without extra columns.
fn rows(table: &Table, from: usize, to: usize) -> Table {
    let of = |model: &Model| Model { cells: model.cells[from..to].to_vec(), ..model.clone() };
    Table { n_rows: to - from, columns: table.columns.iter().map(of).collect(), ..table.clone() }
}

/// The bytes of a file that grew: it is written with the first `parts[0]` rows of a table. Appends
/// then add the rows up to `parts[1]` and so on, and the remaining rows.
///
/// # Panics
/// When the table can't be written.
pub fn grown(table: &Table, parts: &[usize], options: &WriteOptions) -> Vec<u8> {
    bytes_of(table, |path| grow(path, table, parts, options))
}

/// The bytes of a file whose last change was `operation`, after which it holds a table of at least
/// two columns and 200 rows.
///
/// # Panics
/// When the table can't be written.
pub fn changed(table: &Table, operation: Operation, options: &WriteOptions) -> Vec<u8> {
    bytes_of(table, |path| {
        let others = |i: usize, change: &dyn Fn(&mut Model)| {
            let mut before = table.clone();
            change(&mut before.columns[i]);
            before
        };
        let parts = &[100][..];
        let kept = || (0..table.columns.len()).map(ColumnSource::Kept);
        let last = table.columns.len() - 1;
        match operation {
            Operation::AddColumns => {
                let mut before = table.clone();
                before.columns.truncate(last);
                grow(path, &before, parts, options)?;
                let sources: Vec<_> = kept().take(last).chain([ColumnSource::New(0)]).collect();
                set_columns(path, table, last..last + 1, &sources, operation, options)
            }
            Operation::ReplaceColumns => {
                grow(path, &others(0, &|column| column.cells.reverse()), parts, options)?;
                let sources: Vec<_> = [ColumnSource::New(0)].into_iter().chain(kept().skip(1)).collect();
                set_columns(path, table, 0..1, &sources, operation, options)
            }
            Operation::DropColumns => {
                let mut before = table.clone();
                before.columns.push(Model { name: "dropped".into(), ..table.columns[0].clone() });
                grow(path, &before, parts, options)?;
                set_columns(path, table, 0..0, &kept().collect::<Vec<_>>(), operation, options)
            }
            Operation::RenameColumns => {
                grow(path, &others(1, &|column| column.name.push_str(" before")), parts, options)?;
                set_columns(path, table, 0..0, &kept().collect::<Vec<_>>(), operation, options)
            }
            Operation::Metadata => {
                grow(path, table, parts, options)?;
                let change = Change::begin(path, options, &Silent)?;
                let content = change.with_metadata(None)?;
                change.commit(content, operation, options, &Silent)
            }
            Operation::Rollback => {
                grow(path, table, parts, options)?;
                append(path, &rows(table, 0, 50), options)?;
                Change::begin(path, options, &Silent)?.rollback(2, options, &Silent)
            }
            Operation::Compact => {
                grow(path, table, &[100, 150], options)?;
                compact(path, options, &Silent)
            }
            Operation::Write => {
                let mut stream = Stream::create(path, options, &Silent)?;
                for (from, to) in [(0, 100), (100, table.n_rows)] {
                    let part = rows(table, from, to);
                    stream.append(host::Memory::of(&part).frame(&part), &[], options, &Silent)?;
                }
                stream.finish()
            }
            _ => panic!("no golden file has the operation {}", operation.name()),
        }
    })
}

/// The bytes of a file that `make` writes for a table.
fn bytes_of(table: &Table, make: impl FnOnce(&Path) -> Result<()>) -> Vec<u8> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("entasis-grown-{}-{number}", std::process::id()));
    let bytes = make(&path).map_err(|error| error.to_string()).and_then(|()| {
        let bytes = std::fs::read(&path);
        std::fs::remove_file(&path).and(bytes).map_err(|error| error.to_string())
    });
    bytes.unwrap_or_else(|error| panic!("{}: {error}", table.name))
}

/// Writes the first `parts[0]` rows of a table, and appends the rows up to each other part and to
/// the end. The first append to a file without slot pages writes all rows anew.
fn grow(path: &Path, table: &Table, parts: &[usize], options: &WriteOptions) -> Result<()> {
    let mut ends = parts.iter().copied().chain([table.n_rows]);
    let mut from = ends.next().unwrap_or(0);
    let first = rows(table, 0, from);
    entasis::write(path, &host::Memory::of(&first).frame(&first), options, &Silent)?;
    for to in ends {
        if has_slot_pages(path) {
            append(path, &rows(table, from, to), options)?;
        } else {
            let whole = rows(table, 0, to);
            let memory = host::Memory::of(&whole);
            let change = Change::begin(path, options, &Silent)?;
            change.replace(memory.frame(&whole), Operation::Append, options, &Silent)?;
        }
        from = to;
    }
    Ok(())
}

/// Whether the header of a file says that it has slot pages.
fn has_slot_pages(path: &Path) -> bool {
    std::fs::read(path).is_ok_and(|bytes| bytes[16] & 2 != 0)
}

fn append(path: &Path, part: &Table, options: &WriteOptions) -> Result<()> {
    let memory = host::Memory::of(part);
    let change = Change::begin(path, options, &Silent)?;
    let appended = change.append(memory.frame(part), &[])?;
    change.commit(appended, Operation::Append, options, &Silent)
}

/// Replaces a file's columns with `sources`, named as the columns of `table`. `new` is the range of
/// columns in `table` that supplies the new ones.
fn set_columns(
    path: &Path,
    table: &Table,
    new: Range<usize>,
    sources: &[ColumnSource],
    operation: Operation,
    options: &WriteOptions,
) -> Result<()> {
    let new = Table { columns: table.columns[new].to_vec(), ..table.clone() };
    let names = table.columns.iter().map(|column| column.name.clone()).collect();
    let memory = host::Memory::of(&new);
    let change = Change::begin(path, options, &Silent)?;
    let content = change.with_columns(memory.frame(&new), sources, names)?;
    change.commit(content, operation, options, &Silent)
}

/// A table of one column, whose first rows take six blocks. Appended rows take few blocks, so that
/// these blocks are listed in a separate tier.
pub fn of_tiers() -> Table {
    let values: Vec<i16> = (0..330_100).map(|i| (i / 65_536) as i16 * 300).collect();
    Table::new("tiers", vec![Model::words("step", Physical::I16, &values)])
}

/// A table of several columns of each of some types, so that rows are appended to it in pieces.
pub fn of_pieces(n_rows: usize) -> Table {
    let r = noise(3 * n_rows, 18);
    let columns = (0..3).flat_map(|c| {
        let r = &r[c * n_rows..(c + 1) * n_rows];
        let numbers: Vec<i32> = r.iter().map(|v| (v % 900) as i32 - 450).collect();
        let prices: Vec<f64> = r.iter().map(|v| (v % 500) as f64 / 4.0).collect();
        let texts: Vec<String> = r.iter().map(|v| format!("{:x}", v >> (v % 60))).collect();
        let flags: Vec<bool> = r.iter().map(|v| v % 3 == 0).collect();
        [
            Model::words(format!("number {c}"), Physical::I32, &numbers).with_missing(|i| i % 5 != c),
            Model::words(format!("price {c}"), Physical::F64, &prices),
            Model::text(format!("text {c}"), &texts).with_missing(|i| c != 1 || i % 7 != 3),
            Model::bools(format!("flag {c}"), &flags),
        ]
    });
    let mut columns: Vec<Model> = columns.collect();
    // Neighbours of one type share a record.
    columns.sort_by_key(|column| (column.of.physical.code(), column.name.clone()));
    let alone: Vec<u16> = r[..n_rows].iter().map(|v| *v as u16).collect();
    columns.push(Model::words("alone", Physical::U16, &alone));
    Table::new("pieces", columns)
}

/// A table with columns of different types, so that none of them is bundled.
pub fn table(n_rows: usize) -> Table {
    let r = noise(n_rows, 17);
    let columns = vec![
        Model::words("number", Physical::I64, &r),
        Model::text("text", &r.iter().map(|v| format!("{}", v % 100)).collect::<Vec<_>>()),
        Model::bools("flag", &r.iter().map(|v| v % 3 == 0).collect::<Vec<_>>()).with_missing(|i| i % 7 != 3),
        Model::words("price", Physical::F64, &r.iter().map(|v| (v % 500) as f64 / 4.0).collect::<Vec<_>>()),
    ];
    Table::new("grown", columns)
}
