//! `File::survey` lists every damaged block with its column and rows, and nothing else.

use entasis::{File, Rows, Silent, Survey, WriteOptions, write};
use entasis_testkit::frames::nested::read as read_nested;
use entasis_testkit::frames::read::{Target, open};
use entasis_testkit::frames::{Table, nested_tables, shapes, tables, write_at};
use entasis_testkit::hostile::is_long;

fn survey(bytes: &[u8]) -> Survey {
    open(bytes).unwrap().survey(Some(2), &Silent).unwrap()
}

/// Whether rows of a column of the table can be read.
fn is_readable(file: &File, column: u64, rows: std::ops::Range<u64>) -> bool {
    if rows.is_empty() {
        return true;
    }
    let of = file.column(column).unwrap().record.column_type;
    if of.physical.is_nested() {
        return read_nested(file, column, Rows::Range(rows)).is_ok();
    }
    let mut target = Target::new(of.layout(), (rows.end - rows.start) as usize, 0);
    file.read(vec![target.request(column, Rows::Range(rows))], Some(1), &Silent).is_ok()
}

/// Damages each block of a file by itself. The rows that the survey names cannot be read; the rows
/// before and after them can. Returns the number of damages.
fn damages_of_each_block(table: &Table) -> usize {
    let bytes = write_at(table, 50);
    let sound = survey(&bytes);
    assert_eq!((sound.n_damages, sound.n_sound), (0, sound.report.n_columns), "{}", table.name);
    let file = open(&bytes).unwrap().whole();
    let mut n_found = 0;
    for number in 0..file.n_columns_total() {
        for (i, block) in file.blocks(number).unwrap().iter().enumerate() {
            let mut bytes = bytes.clone();
            let at = if block.pages_len > 0 { block.pages_at } else { block.directory_at };
            bytes[at as usize] ^= 1;
            let found = survey(&bytes);
            let info = file.column(number).unwrap();
            let here = format!("{}: column {number} {}, block {i}", table.name, info.name);
            assert!(found.n_damages > 0 && found.n_sound < found.report.n_columns, "{here}: {found:?}");
            if !info.record.is_bundle {
                assert_eq!(found.n_damages, 1, "{here}: {found:?}");
            }
            for damage in &found.damages {
                n_found += 1;
                let (Some(path), Some(rows)) = (&damage.column, &damage.values) else {
                    panic!("{here}: {damage:?}")
                };
                if damage.table.is_none() {
                    assert_eq!(*rows, block.first_value..block.end_value(), "{here}");
                    continue;
                }
                let damaged = open(&bytes).unwrap();
                let top = damage.number.unwrap();
                assert!(path.starts_with(&damaged.column(top).unwrap().name), "{here}: {path}");
                // Bundled columns may lie in other pages of a damaged block, and nothing needs the
                // validity of structs without missing values.
                let is_needed = !info.record.is_bundle && block.pages_len > 0;
                assert!(!is_needed || !is_readable(&damaged, top, rows.clone()), "{here}: {rows:?}");
                assert!(is_readable(&damaged, top, 0..rows.start), "{here}: before {rows:?}");
                let n_rows = table.n_rows as u64;
                assert!(is_readable(&damaged, top, rows.end..n_rows), "{here}: after {rows:?} of {n_rows}");
            }
        }
    }
    n_found
}

fn damage_each_block(table: &Table) {
    assert!(damages_of_each_block(table) > 0, "{}", table.name);
}

#[test]
fn each_block_of_flat_columns() {
    let shapes = shapes::columns(70_000);
    // Each survey reads the whole file, so files of few columns take a fraction of the time.
    let mut n_found = 0;
    for columns in shapes.chunks(if is_long() { shapes.len() } else { 6 }) {
        n_found += damages_of_each_block(&Table::new("shapes", columns.to_vec()));
    }
    assert!(n_found > shapes.len(), "{n_found} damages of {} columns", shapes.len());
    damage_each_block(&tables::types(300));
    damage_each_block(&tables::categoricals(9_000));
}

#[test]
fn each_block_of_bundles_and_runs() {
    damage_each_block(&tables::bundles(3_000));
    damage_each_block(&tables::runs(100));
}

#[test]
fn each_block_of_nested_columns() {
    damage_each_block(&nested_tables::every_type(30_000));
    damage_each_block(&nested_tables::deep(6, 9_000));
}

#[test]
fn many_damages_are_counted() {
    let table = Table::new("shapes", shapes::columns(70_000));
    let mut bytes = write_at(&table, 50);
    let file = open(&bytes).unwrap().whole();
    let (mut n_damaged, mut n_sound) = (0, 0);
    for number in 0..file.n_columns_total() {
        n_sound += u64::from(file.blocks(number).unwrap().is_empty());
        for block in file.blocks(number).unwrap().iter() {
            bytes[block.directory_at as usize] ^= 1;
            n_damaged += 1;
        }
    }
    let found = survey(&bytes);
    assert_eq!((found.n_damages, found.n_sound), (n_damaged, n_sound));
    assert_eq!(found.damages.len(), (n_damaged as usize).min(entasis::MOST_DAMAGES));
    let first = found.damages[0].describe(0);
    assert!(
        first.contains("rows 0 to 65,535: the checksum of a directory does not match (block 0"),
        "{first}"
    );
    let message = found.into_result().unwrap_err().to_string();
    assert!(message.contains(&format!("; {n_damaged} places are damaged, {n_sound} of")), "{message}");
}

#[test]
fn damage_outside_of_blocks() {
    let table = tables::types(300);
    let bytes = write_at(&table, 50);
    let n = bytes.len();
    let mut damaged = bytes.clone();
    damaged.extend([7; 9]);
    damaged[n - 60] ^= 1;
    let found = survey(&damaged);
    assert_eq!(found.n_sound, found.report.n_columns, "{found:?}");
    let all: Vec<String> = found.damages.iter().map(|damage| damage.describe(0)).collect();
    assert!(all.iter().any(|text| text.starts_with("9 bytes after the end")), "{all:?}");
}

#[test]
fn bytes_that_a_change_left_are_no_damage() {
    let path = std::env::temp_dir().join(format!("entasis-damage-{}.entasis", std::process::id()));
    let table = Table::new("shapes", shapes::columns(70_000));
    let memory = entasis_testkit::frames::host::Memory::of(&table);
    write(&path, &memory.frame(&table), &WriteOptions::default(), &Silent).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let sound = survey(&bytes).into_result().unwrap();
    assert_eq!((sound.n_generations, sound.leftover_len), (1, 0));
    let len = bytes.len() as u64;
    bytes.extend([7; 100]);
    let found = survey(&bytes);
    assert_eq!((found.n_damages, found.n_sound), (0, found.report.n_columns));
    let report = found.into_result().unwrap();
    assert_eq!((report.checked_len, report.leftover_len), (len, 100));
}
