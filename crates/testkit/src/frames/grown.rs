//! Files with several generations: tables to which rows were appended in place.

use std::sync::atomic::{AtomicU64, Ordering};

use entasis::{Change, Operation, Physical, Silent, WriteOptions};

use super::{Model, Table, host, noise, write};

/// The rows `from..to` of a table without extra columns.
fn rows(table: &Table, from: usize, to: usize) -> Table {
    let of = |model: &Model| Model { cells: model.cells[from..to].to_vec(), ..model.clone() };
    Table { n_rows: to - from, columns: table.columns.iter().map(of).collect(), ..table.clone() }
}

/// The bytes of a file with the first `parts[0]` rows of a table, to which the rows up to
/// `parts[1]`, and so on, and the last ones were appended.
///
/// # Panics
/// When the table can't be written.
pub fn grown(table: &Table, parts: &[usize], options: &WriteOptions) -> Vec<u8> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("entasis-grown-{}-{number}", std::process::id()));
    let fail = |error: &dyn std::fmt::Display| -> ! { panic!("{}: {error}", table.name) };
    let [first, rest @ ..] = parts else { return write(table, options) };
    std::fs::write(&path, write(&rows(table, 0, *first), options)).unwrap_or_else(|e| fail(&e));
    let ends = rest.iter().copied().chain([table.n_rows]);
    for (from, to) in parts.iter().copied().zip(ends) {
        let part = rows(table, from, to);
        let memory = host::Memory::of(&part);
        let change = Change::begin(&path, options, &Silent).unwrap_or_else(|e| fail(&e));
        let appended = change.append(memory.frame(&part), &[]).unwrap_or_else(|e| fail(&e));
        change.commit(appended, Operation::Append, options, &Silent).unwrap_or_else(|e| fail(&e));
    }
    let bytes = std::fs::read(&path).unwrap_or_else(|e| fail(&e));
    std::fs::remove_file(&path).unwrap_or_else(|e| fail(&e));
    bytes
}

/// A table of one column, whose first rows take six blocks. Rows that are appended take few of
/// them, so that they are listed in a tier of their own.
pub fn of_tiers() -> Table {
    let values: Vec<i16> = (0..330_100).map(|i| (i / 65_536) as i16 * 300).collect();
    Table::new("tiers", vec![Model::words("step", Physical::I16, &values)])
}

/// A table of one column of each of some types, so that none is bundled.
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
