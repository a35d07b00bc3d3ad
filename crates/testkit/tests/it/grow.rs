//! Files that change in place hold what a table in memory holds, by the core and by the naive
//! decoder.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use entasis::{
    Change, ColumnSource, Durable, File, FileSource, Limits, Operation, Result, Silent, Source, Value,
    WriteOptions, compact,
};
use entasis_testkit::compare::assert_holds;
use entasis_testkit::frames::host::Memory;
use entasis_testkit::frames::{Model, Table, nested_tables, noise, shapes, tables, write_at};
use entasis_testkit::hostile::{by_tier, is_long, is_release};

/// A file that is removed at the end of a test.
struct Temp(PathBuf);

impl Temp {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("entasis-grow-{}-{name}.entasis", std::process::id())))
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn options(compression: u8) -> WriteOptions {
    WriteOptions { compression: Some(compression), durable: Durable::Never, ..WriteOptions::default() }
}

/// Whether an extra column is the dictionary of a column or of a child.
pub(crate) fn is_dictionary(columns: &[Model], i: usize) -> bool {
    columns.iter().any(|column| column.dictionary == Some(i) || is_dictionary(&column.children, i))
}

/// The rows `from .. to` of a table. Dictionaries stay whole.
pub(crate) fn rows(table: &Table, from: usize, to: usize) -> Table {
    let cut = |model: &Model| {
        let cells = if model.cells.len() == table.n_rows {
            model.cells[from..to].to_vec()
        } else {
            model.cells.clone()
        };
        Model { cells, ..model.clone() }
    };
    let extra = table
        .extra
        .iter()
        .enumerate()
        .map(|(i, model)| if is_dictionary(&table.columns, i) { model.clone() } else { cut(model) });
    Table {
        n_rows: to - from,
        columns: table.columns.iter().map(cut).collect(),
        extra: extra.collect(),
        in_runs: false,
        ..table.clone()
    }
}

fn write(path: &Path, table: &Table, options: &WriteOptions) {
    let memory = Memory::of(table);
    entasis::write(path, &memory.frame(table), options, &Silent).unwrap();
}

fn append(path: &Path, part: &Table, options: &WriteOptions) -> Result<()> {
    let memory = Memory::of(part);
    let change = Change::begin(path, options, &Silent)?;
    let labels: Vec<usize> = (0..part.extra.len()).filter(|i| !is_dictionary(&part.columns, *i)).collect();
    let frame = change.append(memory.frame(part), &labels)?;
    change.commit(frame, Operation::Append, options, &Silent)
}

/// Writes the first rows of a table and appends the remaining ones, up to each of the `ends`.
/// Compares the file after the first append and after the last one.
fn grow(table: &Table, ends: &[usize], compression: u8) {
    let path = Temp::new(&format!("{}-{}-{compression}", table.name.replace(['/', ' '], "-"), ends.len()));
    let options = options(compression);
    write(&path.0, &rows(table, 0, ends[0]), &options);
    for (i, pair) in ends.windows(2).enumerate() {
        append(&path.0, &rows(table, pair[0], pair[1]), &options)
            .unwrap_or_else(|error| panic!("{}: {} to {}: {error}", table.name, pair[0], pair[1]));
        let is_last = i + 2 == ends.len();
        if i > 0 && !is_last {
            continue;
        }
        let whole = Table { name: format!("{} up to {}", table.name, pair[1]), ..rows(table, 0, pair[1]) };
        assert_holds(&std::fs::read(&path.0).unwrap(), &whole);
        if is_last {
            compact_file(&path.0, whole, &options);
        }
    }
}

/// Compacts a grown file. It holds the same table, and is about as long as a file that is written
/// at once.
fn compact_file(path: &Path, mut table: Table, options: &WriteOptions) {
    table.name += " compacted";
    let before = std::fs::metadata(path).unwrap().len();
    compact(path, options, &Silent).unwrap_or_else(|error| panic!("{}: {error}", table.name));
    let bytes = std::fs::read(path).unwrap();
    assert_holds(&bytes, &table);
    let at_once = write_at(&table, options.compression.unwrap_or(50)).len();
    let most = at_once as f64 * 1.05 + 1024.0;
    let len = bytes.len();
    assert!(len as f64 <= most, "{}: {len} of {before} bytes, {at_once} at once", table.name);
    compact(path, options, &Silent).unwrap();
    assert!(std::fs::read(path).unwrap() == bytes, "{}: nothing is left to compact", table.name);
}

#[test]
fn flat_columns() {
    let mut cases = vec![(30, 90), (9_000, 0)];
    // Rows of a second block; other tests append them for each encoding and to nested columns.
    if is_release() {
        cases.extend([(30, 50), (9_000, 90)]);
        cases.push((if is_long() { 70_000 } else { 66_000 }, 50));
    }
    for (n, compression) in cases {
        grow(&tables::types(n), &[n / 3, n / 2, n / 2, n - 1, n], compression);
    }
}

/// Appends without a compression of their own store the rows as the file's last write did.
#[test]
fn compression_of_the_last_write() {
    let n = if is_release() { 20_000 } else { 3_000 };
    let table = Table::new("last write", shapes::columns(n));
    let len_after = |first: u8, second: Option<u8>, third: Option<u8>| {
        let path = Temp::new("last-write");
        write(&path.0, &rows(&table, 0, 100), &options(first));
        for (from, to, compression) in [(100, n / 2, second), (n / 2, n, third)] {
            append(&path.0, &rows(&table, from, to), &WriteOptions { compression, ..options(first) })
                .unwrap();
        }
        assert_holds(&std::fs::read(&path.0).unwrap(), &table);
        std::fs::metadata(&path.0).unwrap().len()
    };
    let raw = len_after(0, Some(0), Some(0));
    let small = len_after(0, Some(100), Some(100));
    assert!(small * 2 < raw, "{small} {raw}");
    assert_eq!(len_after(0, None, None), raw);
    assert_eq!(len_after(100, None, None), len_after(100, Some(100), Some(100)));
    assert_eq!(len_after(0, Some(100), None), small);
}

/// A source whose file changes between opening and reading the first byte.
struct Changing<F: Fn() + Send + Sync> {
    source: FileSource,
    change: F,
    is_changed: AtomicBool,
}

impl<F: Fn() + Send + Sync> Source for Changing<F> {
    fn len(&self) -> u64 {
        self.source.len()
    }

    fn measure(&mut self) -> io::Result<u64> {
        self.source.measure()
    }

    fn read_at(&self, at: u64, out: &mut [u8]) -> io::Result<usize> {
        if !self.is_changed.swap(true, Ordering::Relaxed) {
            (self.change)();
        }
        self.source.read_at(at, out)
    }
}

#[test]
fn a_change_while_a_file_is_opened_is_seen() {
    let table = tables::types(20_000);
    let path = Temp::new("while-opened");
    for durable in [Durable::Never, Durable::Always] {
        let options = WriteOptions { durable, ..options(50) };
        write(&path.0, &rows(&table, 0, 10_000), &options);
        append(&path.0, &rows(&table, 10_000, 15_000), &options).unwrap();
        let changing = Changing {
            source: FileSource::open(&path.0).unwrap(),
            change: {
                let (path, part) = (path.0.clone(), rows(&table, 15_000, 20_000));
                move || append(&path, &part, &options).unwrap()
            },
            is_changed: AtomicBool::new(false),
        };
        let file = File::from_source(Box::new(changing), &path.0, Limits::default()).unwrap();
        assert_eq!(file.n_rows(), 20_000);
        file.verify(None, &Silent).unwrap();
    }
}

#[test]
fn forms_of_every_encoding() {
    let (ends, step): (&[usize], _) = by_tier(
        (&[65_500, 65_550], 2),
        (&[65_000, 65_001, 65_900, 66_000], 1),
        (&[66_000, 66_001, 69_000, 70_000], 1),
    );
    let columns = shapes::columns(ends[ends.len() - 1]).into_iter().step_by(step);
    grow(&Table::new("shapes", columns.collect()), ends, 50);
    if !is_release() {
        let ends = [8_000, 8_001, 8_400, 8_500];
        grow(&Table::new("shapes", shapes::columns(ends[3])), &ends, 50);
    }
}

#[test]
fn categoricals() {
    for n in [30, 9_000] {
        grow(&tables::categoricals(n), &[0, 10, n - 1, n], 50);
    }
}

#[test]
fn nested_columns() {
    for &n in if is_release() { &[30, 9_000][..] } else { &[30] } {
        grow(&nested_tables::every_type(n), &[n / 4, n / 2, n / 2 + 1, n - 5, n], 50);
    }
    let ends: &[usize] =
        if is_long() { &[17_500, 35_000, 35_001, 69_995, 70_000] } else { &[65_530, 66_000] };
    grow(&nested_tables::every_type(ends[ends.len() - 1]), ends, 50);
    let ends: &[usize] = if is_release() { &[8_200, 8_500, 8_501, 9_000] } else { &[8_100, 8_500] };
    let n = ends[ends.len() - 1];
    for table in [nested_tables::one_type(n), nested_tables::many_types(n), nested_tables::deep(20, n)] {
        grow(&table, ends, 50);
    }
}

#[test]
fn tables_that_outgrow_their_bundles() {
    let ends: &[usize] = by_tier(&[8_191, 8_192], &[100, 8_191, 8_192], &[1, 100, 8_191, 8_192, 9_000]);
    let mut table = tables::bundles(ends[ends.len() - 1]);
    table.columns = table.columns.into_iter().step_by(by_tier(3, 1, 1)).collect();
    grow(&table, ends, 50);
}

#[test]
fn many_small_appends() {
    let (n, first, most, n_appends) =
        by_tier((8_500, 7_900, 100, 8), (9_000, 7_000, 100, 40), (20_000, 10_000, 400, 40));
    let table = tables::types(n);
    let mut ends = vec![first];
    for step in noise(n_appends, 11) {
        ends.push(n.min(ends[ends.len() - 1] + (step % most) as usize));
    }
    assert!(ends[ends.len() - 1] > 8_192, "the appends cross a page");
    grow(&table, &ends, 50);
}

/// A file gets a table's columns in another order, with other names, and columns of a second table.
fn change_columns(table: &Table, more: &Table, n_rounds: usize) {
    let path = Temp::new(&format!("{}-columns", table.name.replace(['/', ' '], "-")));
    let options = options(50);
    write(&path.0, table, &options);
    let mut wanted = Table { in_runs: false, ..table.clone() };
    for round in 0..n_rounds {
        // Every third column is dropped; new ones come in between.
        let n = wanted.columns.len();
        let old = (0..n).rev().filter(|i| i % 3 != round).map(ColumnSource::Kept);
        let new = (0..more.columns.len()).map(ColumnSource::New);
        let mut sources: Vec<_> = old.collect();
        let middle = sources.len() / 2;
        sources.splice(middle..middle, new);
        let n_extra = wanted.extra.len();
        let moved = |source: &ColumnSource| match *source {
            ColumnSource::Kept(i) => wanted.columns[i].clone(),
            ColumnSource::New(i) => later(&more.columns[i], n_extra),
        };
        let mut columns: Vec<Model> = sources.iter().map(moved).collect();
        for (i, column) in columns.iter_mut().enumerate() {
            column.name = format!("{round}:{i}");
        }
        let names = columns.iter().map(|column| column.name.clone()).collect();
        let memory = Memory::of(more);
        let change = Change::begin(&path.0, &options, &Silent).unwrap();
        let content = change.with_columns(memory.frame(more), &sources, names).unwrap();
        change.commit(content, Operation::ReplaceColumns, &options, &Silent).unwrap();
        let extra = wanted.extra.iter().cloned().chain(more.extra.iter().map(|model| later(model, n_extra)));
        wanted = without_unused(Table { columns, extra: extra.collect(), ..wanted.clone() });
        assert_holds(&std::fs::read(&path.0).unwrap(), &wanted);
    }
}

/// A column whose dictionaries come `by` columns later among the extra columns.
fn later(model: &Model, by: usize) -> Model {
    Model {
        dictionary: model.dictionary.map(|index| index + by),
        children: model.children.iter().map(|child| later(child, by)).collect(),
        ..model.clone()
    }
}

/// A table whose only extra columns are dictionaries.
fn without_unused(mut table: Table) -> Table {
    fn renumber(models: &mut [Model], numbers: &[usize]) {
        for model in models {
            model.dictionary = model.dictionary.map(|index| numbers[index]);
            renumber(&mut model.children, numbers);
        }
    }
    let used: Vec<bool> = (0..table.extra.len()).map(|i| is_dictionary(&table.columns, i)).collect();
    let numbers: Vec<usize> =
        (0..used.len()).map(|i| used[..i].iter().filter(|used| **used).count()).collect();
    renumber(&mut table.columns, &numbers);
    let mut is_used = used.iter();
    table.extra.retain(|_| *is_used.next().unwrap());
    table
}

#[test]
fn columns_are_added_moved_renamed_and_dropped() {
    for n in [30, 9_000] {
        let host = Value::map([("host", Value::from("testkit"))]);
        let (mut first, mut second) = (tables::categoricals(n), nested_tables::every_type(n));
        (first.host, second.host) = (host.clone(), host);
        let n_rounds = if n == 30 { 3 } else { by_tier(1, 3, 3) };
        change_columns(&first, &second, n_rounds);
        change_columns(&second, &first, n_rounds);
    }
    let table = tables::types(if is_release() { 20_000 } else { 8_200 });
    change_columns(&table, &table, by_tier(2, 3, 3));
    change_columns(&tables::bundles(100), &tables::types(100), 3);
}

/// Blocks of long strings have few values, and are not written again because of that.
#[test]
fn appended_strings_of_any_length_take_their_own_bytes() {
    for len in [4, 40, 100, 1000, 20_000] {
        let n_rows = 4_000_000 / len.max(40) + 3_000;
        let text = |r: u64| (0..len as u64).map(|i| char::from(b'a' + (r >> (i % 50)) as u8 % 26)).collect();
        let texts: Vec<String> = noise(n_rows, 4).into_iter().map(text).collect();
        let table = Table::new("texts", vec![Model::text("text", &texts)]);
        let temp = Temp::new(&format!("texts-{len}"));
        let (path, options) = (&temp.0, options(0));
        let first = n_rows - 2_000;
        // The first change copies a file without slot pages.
        write(path, &rows(&table, 0, first - 1), &options);
        append(path, &rows(&table, first - 1, first), &options).unwrap();
        let before = std::fs::metadata(path).unwrap().len();
        for start in (first..n_rows).step_by(200) {
            append(path, &rows(&table, start, start + 200), &options).unwrap();
        }
        let added = std::fs::metadata(path).unwrap().len() - before;
        let of_rows = (2_000 * (len + 16)) as u64;
        // The last block of the first write may be short, and is written again once.
        assert!(added < 3 * of_rows + (1 << 20), "{len}: {added} bytes for {of_rows}");
        assert_holds(&std::fs::read(path).unwrap(), &table);
    }
}
