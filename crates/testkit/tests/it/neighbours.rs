//! A damaged column does not disturb its neighbours: only reading it gives the error, which names
//! it.

use entasis::{Error, File, Kind, Physical, Rows, Silent};
use entasis_testkit::frames::{self, Model, Table, read};
use entasis_testkit::hostile::is_long;
use entasis_testkit::mutate::{Map, get};
use entasis_testkit::naive::Cell;

/// Enough rows to avoid bundles, and types that alternate, so that each column has its own record
/// and block.
fn table(n: usize) -> Table {
    const N_ROWS: usize = 9000;
    let column = |i: usize| {
        let name = format!("c{i}");
        match i % 3 {
            0 => Model::words(name, Physical::I64, &frames::noise(N_ROWS, i as u64)),
            1 => Model::text(name, &(0..N_ROWS).map(|row| format!("{}", row % (i + 7))).collect::<Vec<_>>()),
            _ => Model::bools(name, &(0..N_ROWS).map(|row| row % (i + 2) == 0).collect::<Vec<_>>()),
        }
    };
    Table::new(format!("{n} neighbours"), (0..n).map(column).collect())
}

/// Reads columns in one call.
fn together(file: &File, columns: &[u64]) -> Result<Vec<Vec<Option<Cell>>>, Error> {
    let infos: Vec<_> = columns.iter().map(|&column| file.column(column)).collect::<Result<_, _>>()?;
    requested(
        file,
        &infos.iter().map(|info| (info.index, info.record.column_type.layout())).collect::<Vec<_>>(),
    )
}

/// Reads columns in one call, without reading their records first.
fn requested(file: &File, columns: &[(u64, entasis::Layout)]) -> Result<Vec<Vec<Option<Cell>>>, Error> {
    let n = file.n_rows() as usize;
    let mut targets: Vec<_> = columns.iter().map(|&(_, of)| read::Target::new(of, n, 0xA5)).collect();
    let requests =
        targets.iter_mut().zip(columns).map(|(target, &(column, _))| target.request(column, Rows::All));
    file.read(requests.collect(), Some(1), &Silent)?;
    Ok(targets.iter().map(read::Target::cells).collect())
}

/// Changes the `at`-th field of a name, which damages the given columns, and reads all columns of
/// the table.
fn check(table: &Table, sound: &[u8], (name, at, value): (&str, usize, u64), damaged: &[usize]) {
    let map = Map::of(sound);
    let field = map.named(name).nth(at).unwrap();
    assert_ne!(get(sound, field), value);
    let bytes = map.changed(sound, field, value);
    let case = format!("{}: {name} {at} = {value:#x}", table.name);
    let of = |i: usize| table.columns[i].of.layout();
    let is_named = |error: &Error, i: usize| {
        let column = error.location().column.as_deref();
        column == Some(&table.columns[i].name) || column == Some(&format!("#{i}"))
    };

    let others: Vec<_> = (0..table.columns.len()).filter(|i| !damaged.contains(i)).collect();
    let file = read::open(&bytes).unwrap();
    let numbers: Vec<_> = others.iter().map(|&i| i as u64).collect();
    let cells = together(&file, &numbers).unwrap_or_else(|error| panic!("{case}: {error}"));
    for (&i, cells) in others.iter().zip(&cells) {
        assert_eq!(cells, &table.columns[i].cells, "{case}: column {i}");
    }

    // Reads all columns in one call on a fresh handle, then each by itself.
    let file = read::open(&bytes).unwrap();
    let all: Vec<_> = (0..table.columns.len()).map(|i| (i as u64, of(i))).collect();
    let error = requested(&file, &all).unwrap_err();
    assert_eq!(error.kind(), Kind::Corrupt, "{case}: {error}");
    assert!(damaged.iter().any(|&i| is_named(&error, i)), "{case}: {error}");
    for &i in &others {
        assert_eq!(
            requested(&file, &[(i as u64, of(i))]).unwrap(),
            [table.columns[i].cells.clone()],
            "{case}"
        );
    }
    for &i in damaged {
        let error = requested(&file, &[(i as u64, of(i))]).unwrap_err();
        assert_eq!(error.kind(), Kind::Corrupt, "{case}: {error}");
        assert!(is_named(&error, i), "{case}, column {i}: {error}");
    }
}

#[test]
fn one_of_a_few_neighbours_is_damaged() {
    let lengths: Vec<_> =
        if is_long() { (2..=16).chain([40]).collect() } else { vec![2, 3, 5, 8, 15, 16, 40] };
    for n in lengths {
        let table = table(n);
        let sound = frames::write_at(&table, 50);
        for i in (0..n).step_by(1 + n / if is_long() { 4 } else { 2 }) {
            check(&table, &sound, ("column.flags", i, 8), &[i]);
            check(&table, &sound, ("column.n_values", i, 8999), &[i]);
            check(&table, &sound, ("block.n_values", i, 0), &[i]);
            check(&table, &sound, ("block.directory_at", i, 1 << 40), &[i]);
            check(&table, &sound, ("range.first_block", i, 1 << 40), &[i]);
            check(&table, &sound, ("range.tier", i, 1), &[i]);
        }
    }
}

/// A column between requested ones is read ahead; its damage does not affect them.
#[test]
fn columns_between_those_that_are_asked_for_may_be_damaged() {
    let table = table(60);
    let sound = frames::write_at(&table, 50);
    let map = Map::of(&sound);
    let numbers: Vec<u64> = (0..60).step_by(3).collect();
    for (name, value) in [("column.flags", 8), ("block.n_values", 0), ("range.first_block", 1 << 40)] {
        let bytes = map.changed(&sound, map.named(name).nth(32).unwrap(), value);
        let file = read::open(&bytes).unwrap();
        let cells = together(&file, &numbers).unwrap_or_else(|error| panic!("{name}: {error}"));
        for (&i, cells) in numbers.iter().zip(&cells) {
            assert_eq!(cells, &table.columns[i as usize].cells, "{name}: column {i}");
        }
    }
}
