//! Short files stay short under many changes: a change writes a new file without the bytes that
//! neither the current generation nor a kept one uses.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use entasis::{
    Change, ColumnSource, File, Keep, Operation, Result, Silent, Stream, Value, WriteOptions, compact, write,
};
use entasis_fault::FaultDisk;
use entasis_io::{Disk, NativeDisk};
use entasis_testkit::compare::{assert_holds, core_holds};
use entasis_testkit::frames::grown::of_pieces;
use entasis_testkit::frames::host::Memory;
use entasis_testkit::frames::{Model, Table, read, tables};
use entasis_testkit::hostile::{by_tier, is_release};

struct Temp(PathBuf);

impl Temp {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("entasis-retained-{name}-{}", std::process::id())))
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn options() -> WriteOptions {
    WriteOptions { threads: Some(1), durable: entasis::Durable::Never, ..WriteOptions::default() }
}

fn keeping(kind: u8, value: u64) -> WriteOptions {
    WriteOptions { keep: Some(Keep { kind, value }), ..options() }
}

fn rows(table: &Table, rows: Range<usize>) -> Table {
    let of = |model: &Model| Model { cells: model.cells[rows.clone()].to_vec(), ..model.clone() };
    Table { n_rows: rows.len(), columns: table.columns.iter().map(of).collect(), ..table.clone() }
}

fn create(path: &Path, table: &Table) {
    let memory = Memory::of(table);
    write(path, &memory.frame(table), &options(), &Silent).unwrap();
}

fn append_on(disk: Arc<dyn Disk>, path: &Path, part: &Table, options: &WriteOptions) -> Result<()> {
    let change = Change::begin_on(disk, path, options, &Silent)?;
    let memory = Memory::of(part);
    let content = change.append(memory.frame(part), &[])?;
    change.commit(content, Operation::Append, options, &Silent)
}

fn append(path: &Path, part: &Table, options: &WriteOptions) {
    append_on(Arc::new(NativeDisk), path, part, options).unwrap();
}

fn drop_first(path: &Path, table: &mut Table) {
    let change = Change::begin(path, &options(), &Silent).unwrap();
    let kept: Vec<_> = (1..table.columns.len()).map(ColumnSource::Kept).collect();
    table.columns.remove(0);
    let names = table.columns.iter().map(|column| column.name.clone()).collect();
    let nothing = Table { n_rows: 0, columns: Vec::new(), ..table.clone() };
    let memory = Memory::of(&nothing);
    let content = change.with_columns(memory.frame(&nothing), &kept, names).unwrap();
    change.commit(content, Operation::DropColumns, &options(), &Silent).unwrap();
}

fn numbers(path: &Path) -> Vec<u64> {
    let file = File::open(path).unwrap();
    file.generations().unwrap().iter().map(|generation| generation.number).collect()
}

fn len(path: &Path) -> u64 {
    std::fs::metadata(path).unwrap().len()
}

/// Checks an earlier generation against the table that it had.
fn assert_generation(path: &Path, number: u64, table: &Table) {
    let earlier = File::open(path).unwrap().at_generation(number).unwrap();
    assert_eq!((earlier.n_rows(), earlier.n_columns()), (table.n_rows as u64, table.columns.len() as u64));
    for (i, model) in table.columns.iter().enumerate() {
        let cells = entasis_testkit::frames::read::column(&earlier, i as u64).unwrap();
        assert!(cells == model.cells, "generation {number}: {}", model.name);
    }
}

/// Columns of many types in few rows, so that they come in pieces.
fn of_types(n: usize) -> Table {
    let mut table = tables::types(n);
    table.columns.retain(|column| column.dictionary.is_none());
    table.host = Value::map([("host", Value::from("testkit"))]);
    table
}

#[test]
fn the_first_change_keeps_the_first_generation() {
    for table in [of_types(500), of_pieces(500)] {
        let path = Temp::new("first");
        create(&path.0, &rows(&table, 0..300));
        append(&path.0, &rows(&table, 300..500), &options());
        assert_eq!(numbers(&path.0), [1, 2]);
        assert_holds(&std::fs::read(&path.0).unwrap(), &table);
        assert_generation(&path.0, 1, &rows(&table, 0..300));
        let change = Change::begin(&path.0, &options(), &Silent).unwrap();
        change.rollback(1, &options(), &Silent).unwrap();
        assert_holds(&std::fs::read(&path.0).unwrap(), &rows(&table, 0..300));
    }
}

#[test]
fn small_appends_stay_small() {
    let n = by_tier(870, 1000, 4000);
    let table = of_pieces(n);
    let path = Temp::new("small");
    create(&path.0, &rows(&table, 0..1));
    let reader = File::open(&path.0).unwrap();
    let (mut longest, mut n_shorter, mut before) = (0, 0, 0);
    for i in 1..n {
        append(&path.0, &rows(&table, i..i + 1), &options());
        let now = len(&path.0);
        (longest, n_shorter) = (longest.max(now), n_shorter + usize::from(now < before));
        before = now;
        if i % 499 == 0 {
            assert_holds(&std::fs::read(&path.0).unwrap(), &rows(&table, 0..i + 1));
        }
    }
    assert!(longest < 3 << 20, "{longest}");
    assert!(n_shorter > 1, "{n_shorter}");
    assert_holds(&std::fs::read(&path.0).unwrap(), &table);
    // A reader keeps the state that it opened.
    assert_eq!(reader.n_rows(), 1);
    assert_eq!(
        entasis_testkit::frames::read::column(&reader, 0).unwrap(),
        rows(&table, 0..1).columns[0].cells
    );
}

#[test]
fn a_stream_starts_a_new_file_too() {
    let table = of_pieces(2000);
    let path = Temp::new("stream");
    create(&path.0, &rows(&table, 0..1));
    let n = by_tier(500, 1400, 1400);
    for i in 1..n {
        let change = Change::begin(&path.0, &options(), &Silent).unwrap();
        let mut stream = Stream::extend(change, &options()).unwrap();
        let part = rows(&table, i..i + 1);
        let memory = Memory::of(&part);
        stream.append(memory.frame(&part), &[], &options(), &Silent).unwrap();
        stream.finish().unwrap();
    }
    assert!(len(&path.0) < 3 << 20, "{}", len(&path.0));
    assert_holds(&std::fs::read(&path.0).unwrap(), &rows(&table, 0..n));
}

#[test]
fn generations_that_hold_more_stay() {
    let table = of_pieces(3000);
    let path = Temp::new("more");
    let first = rows(&table, 0..40);
    create(&path.0, &first);
    append(&path.0, &rows(&table, 40..50), &options());
    let mut now = table.clone();
    drop_first(&path.0, &mut now);
    let mut n_shorter = 0;
    let n = by_tier(500, 1500, 1500);
    for i in 50..n {
        let before = len(&path.0);
        append(&path.0, &rows(&now, i..i + 1), &options());
        n_shorter += usize::from(len(&path.0) < before);
    }
    assert!(n_shorter > 0 && len(&path.0) < 4 << 20, "{n_shorter}, {}", len(&path.0));
    assert_holds(&std::fs::read(&path.0).unwrap(), &rows(&now, 0..n));
    assert_eq!(numbers(&path.0)[..3], [1, 2, 3]);
    assert_generation(&path.0, 1, &first);
    assert_generation(&path.0, 2, &rows(&table, 0..50));
    assert_generation(&path.0, 3, &rows(&now, 0..50));
    // Blocks that generations share are there once.
    let change = Change::begin(&path.0, &options(), &Silent).unwrap();
    change.rollback(2, &options(), &Silent).unwrap();
    assert_holds(&std::fs::read(&path.0).unwrap(), &rows(&table, 0..50));
    compact(&path.0, &options(), &Silent).unwrap();
    assert_eq!(numbers(&path.0).len(), 1);
}

#[test]
fn a_wish_keeps_generations() {
    let table = of_pieces(2000);
    let path = Temp::new("wish");
    create(&path.0, &rows(&table, 0..1));
    append(&path.0, &rows(&table, 1..2), &keeping(Keep::GENERATIONS, 5));
    let mut n_shorter = 0;
    // The file is replaced twice within `n` rows. Without a wish, `n_more` rows would replace it
    // again.
    let (n, n_more) = by_tier((870, 430), (1600, 300), (1600, 300));
    for i in 2..n {
        let before = len(&path.0);
        append(&path.0, &rows(&table, i..i + 1), &options());
        if len(&path.0) < before {
            n_shorter += 1;
            let last = i as u64 + 1;
            // Five before the state that was copied, and the change.
            assert_eq!(numbers(&path.0), (last - 6..=last).collect::<Vec<_>>());
            for number in [last - 6, last - 3, last] {
                assert_generation(&path.0, number, &rows(&table, 0..number as usize));
            }
        }
    }
    assert!(n_shorter > 1, "{n_shorter}");
    assert_holds(&std::fs::read(&path.0).unwrap(), &rows(&table, 0..n));
    let error =
        append_on(Arc::new(NativeDisk), &path.0, &rows(&table, n..n + 1), &keeping(Keep::GENERATIONS, 0));
    assert_eq!(error.unwrap_err().kind(), entasis::Kind::Argument);
    // All generations of the last hour.
    let hour = Duration::from_secs(3600).as_nanos() as u64;
    append(&path.0, &rows(&table, n..n + 1), &keeping(Keep::NANOSECONDS, hour));
    let before = numbers(&path.0);
    for i in n + 1..n + n_more {
        append(&path.0, &rows(&table, i..i + 1), &options());
    }
    assert_eq!(numbers(&path.0).len(), before.len() + n_more - 1);
}

#[test]
fn long_files_are_never_replaced() {
    let values: Vec<u64> = entasis_testkit::frames::noise(2 << 20, 3);
    let long =
        |n: usize| Table::new("long", vec![Model::words("noise", entasis::Physical::U64, &values[..n])]);
    let path = Temp::new("long");
    create(&path.0, &long(2 << 20));
    let mut table = long(2 << 20);
    for _ in 0..4 {
        let change = Change::begin(&path.0, &options(), &Silent).unwrap();
        table.columns[0].cells.reverse();
        let memory = Memory::of(&table);
        let sources = [ColumnSource::New(0)];
        let content = change.with_columns(memory.frame(&table), &sources, vec!["noise".into()]).unwrap();
        change.commit(content, Operation::ReplaceColumns, &options(), &Silent).unwrap();
        assert!(len(&path.0) > 16 << 20);
    }
    let file = File::open(&path.0).unwrap();
    assert_eq!(file.generations().unwrap().len(), 5);
    assert!(file.is_worth_compacting().unwrap());
    compact(&path.0, &options(), &Silent).unwrap();
    assert!(!File::open(&path.0).unwrap().is_worth_compacting().unwrap());
}

/// A crash at any call of the disk leaves the state before or after the change that writes a new
/// file.
#[test]
fn crashes_leave_one_of_two_states() {
    let table = of_pieces(1500);
    let path = Temp::new("crash");
    create(&path.0, &rows(&table, 0..1));
    // The bytes before the first change that makes the file shorter.
    let mut n = 1;
    let bytes = loop {
        let bytes = std::fs::read(&path.0).unwrap();
        append(&path.0, &rows(&table, n..n + 1), &options());
        if len(&path.0) < bytes.len() as u64 {
            break bytes;
        }
        n += 1;
    };
    let durable = WriteOptions { durable: entasis::Durable::Always, ..options() };
    for call in 0.. {
        std::fs::write(&path.0, &bytes).unwrap();
        let done = append_on(Arc::new(FaultDisk::crashing(call)), &path.0, &rows(&table, n..n + 1), &durable);
        let found = std::fs::read(&path.0).unwrap();
        let is_new = File::open(&path.0).unwrap().n_rows() == n as u64 + 1;
        let wanted = rows(&table, 0..n + usize::from(is_new));
        if is_release() || call % 4 == 3 || done.is_ok() {
            assert_holds(&found, &wanted);
        } else {
            core_holds(&read::open(&found).unwrap(), &wanted);
        }
        if done.is_ok() {
            assert!(is_new && call > 5, "{call}");
            break;
        }
    }
}

/// The new file would leave the old content at the other link.
#[cfg(unix)]
#[test]
fn a_file_with_hard_links_is_never_replaced_unasked() {
    let n = by_tier(600, 1200, 1200);
    let table = of_pieces(n);
    let (path, link) = (Temp::new("linked"), Temp::new("link"));
    create(&path.0, &rows(&table, 0..1));
    append(&path.0, &rows(&table, 1..2), &options());
    std::fs::hard_link(&path.0, &link.0).unwrap();
    for i in 2..n {
        append(&path.0, &rows(&table, i..i + 1), &options());
    }
    assert!(len(&path.0) > 3 << 20, "{}", len(&path.0));
    assert_holds(&std::fs::read(&link.0).unwrap(), &table);
    std::fs::remove_file(&link.0).unwrap();
    let before = len(&path.0);
    for _ in 0..200 {
        append(&path.0, &rows(&table, 0..1), &options());
    }
    assert!(len(&path.0) < before / 2, "{}", len(&path.0));
}

/// A copy verifies all blocks, an append does not.
#[test]
fn a_damaged_file_still_grows() {
    let table = of_pieces(1150);
    let path = Temp::new("damaged");
    create(&path.0, &rows(&table, 0..600));
    append(&path.0, &rows(&table, 600..601), &options());
    let file = File::open(&path.0).unwrap();
    let storage = file.column(0).unwrap().record.storage.unwrap();
    let at = file.whole().blocks(storage).unwrap()[0].pages_at as usize;
    let mut bytes = std::fs::read(&path.0).unwrap();
    bytes[at + 8] ^= 1;
    std::fs::write(&path.0, &bytes).unwrap();
    let before = len(&path.0);
    for i in 601..1150 {
        append(&path.0, &rows(&table, i..i + 1), &options());
    }
    assert!(len(&path.0) > before + (2 << 20));
    let file = File::open(&path.0).unwrap();
    assert_eq!((file.n_rows(), file.generations().unwrap().len()), (1150, 551));
    assert!(file.verify(Some(1), &Silent).is_err());
}

/// The wish of a change holds for this change, too.
#[test]
fn a_change_that_states_a_wish_follows_it() {
    let table = of_pieces(1200);
    let path = Temp::new("stated");
    create(&path.0, &rows(&table, 0..1));
    let mut bytes = Vec::new();
    for i in 1..1200 {
        bytes = std::fs::read(&path.0).unwrap();
        append(&path.0, &rows(&table, i..i + 1), &options());
        if len(&path.0) < bytes.len() as u64 {
            break;
        }
    }
    std::fs::write(&path.0, &bytes).unwrap();
    let n = File::open(&path.0).unwrap().n_rows() as usize;
    append(&path.0, &rows(&table, n..n + 1), &keeping(Keep::GENERATIONS, 3));
    assert_eq!(numbers(&path.0).len(), 5, "three generations, the last one, and the change");
    assert_holds(&std::fs::read(&path.0).unwrap(), &rows(&table, 0..n + 1));
}

/// A file with nothing to drop is not stored anew, unless that states a wish.
#[test]
fn compacting_states_a_wish() {
    let table = of_pieces(1300);
    let path = Temp::new("compacted");
    create(&path.0, &rows(&table, 0..100));
    compact(&path.0, &options(), &Silent).unwrap();
    assert_eq!(numbers(&path.0), [1]);
    compact(&path.0, &keeping(Keep::GENERATIONS, 2), &Silent).unwrap();
    for i in 100..1300 {
        let before = len(&path.0);
        append(&path.0, &rows(&table, i..i + 1), &options());
        if len(&path.0) < before {
            assert_eq!(numbers(&path.0).len(), 4);
            return;
        }
    }
    panic!("the file was never replaced");
}
