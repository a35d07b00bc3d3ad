//! Nested columns: core, naive decoder and model agree, for any selection of rows.

use entasis::{Physical, Rows, WriteOptions};
use entasis_testkit::compare::{assert_holds, assert_same};
use entasis_testkit::frames::{self, Model, Table, nested, nested_tables, noise, read};
use entasis_testkit::hostile::{by_tier, is_long};
use entasis_testkit::mutate::{Map, get, put};
use entasis_testkit::naive::Cell;

fn check(mut table: Table) {
    let name = table.name.clone();
    for compression in [0, 50, 90] {
        table.name = format!("{name} at {compression}");
        let bytes = frames::write_at(&table, compression);
        assert_holds(&bytes, &table);
    }
}

#[test]
fn every_type() {
    for n in [0, 1, 2, 30, 1100] {
        check(nested_tables::every_type(n));
    }
}

#[test]
fn around_a_block() {
    let around: &[usize] = if is_long() { &[65_535, 65_536, 65_537, 140_000] } else { &[65_537] };
    for &n in around {
        let table = nested_tables::every_type(n);
        assert_holds(&frames::write_at(&table, 50), &table);
    }
}

/// A dense union of one type has child offsets in its last child alone, not in block records.
#[test]
fn one_type() {
    for n in [0, 1, 1100] {
        check(nested_tables::one_type(n));
    }
    let around: &[usize] = if is_long() { &[65_536, 65_537, 140_000] } else { &[65_537] };
    for &n in around {
        let table = nested_tables::one_type(n);
        assert_holds(&frames::write_at(&table, 50), &table);
    }
}

/// Readers accept child offsets in block records, which version 0.1.0 wrote for one type.
#[test]
fn begins_of_one_type_in_block_records() {
    for physical in [Physical::Union, Physical::ValueColumn] {
        let r = noise(140_000, 3);
        let cells = r.iter().map(|v| nested::typed(0, &Some(v.to_le_bytes().to_vec())));
        let item = Model::new("item", Physical::U64, Vec::new());
        let union = Model::nested("u", physical, vec![item], cells.collect());
        let table = Table::new("begins in block records", vec![union]);
        let mut bytes = frames::write_at(&table, 0);
        let map = Map::of(&bytes);
        let of_first = |name: &'static str| map.named(name).take(3).cloned().collect::<Vec<_>>();
        let counts: Vec<u64> = of_first("block.first_value").iter().map(|at| get(&bytes, at)).collect();
        assert_eq!(counts, [0, 65_536, 131_072]);
        for (field, count) in of_first("block.first_child").iter().zip(counts) {
            put(&mut bytes, field, count);
        }
        map.repair(&mut bytes);
        assert_holds(&bytes, &table);
        // The numbers have to ascend.
        let last = of_first("block.first_child").remove(2);
        let error = read::open(&map.changed(&bytes, &last, 1)).unwrap().blocks(0).unwrap_err();
        assert_eq!(error.kind(), entasis::Kind::Corrupt);
    }
}

#[test]
fn many_types() {
    check(nested_tables::many_types(3000));
}

#[test]
fn deep() {
    for depth in [2, 63, 64] {
        check(nested_tables::deep(depth, 200));
    }
    let table = nested_tables::deep(65, 3);
    let memory = frames::host::Memory::of(&table);
    let error = entasis::write_to(
        &entasis::MemorySink::new(),
        &memory.frame(&table),
        &WriteOptions::default(),
        &entasis::Silent,
    )
    .unwrap_err();
    assert_eq!(error.kind(), entasis::Kind::Unsupported);
    assert!(error.to_string().contains("item.item.item"), "{error}");
}

#[test]
fn rows_are_those_of_the_whole() {
    for n in [1, 50, 3000, 70_000] {
        let table = nested_tables::every_type(n);
        let file = read::open(&frames::write_at(&table, 50)).unwrap();
        let random: Vec<u64> = noise(20, 5).iter().map(|v| v % n as u64).collect();
        let mut twice: Vec<u64> = random.iter().chain(&random).copied().collect();
        twice.sort_unstable();
        let n = n as u64;
        let selections = [
            Rows::Range(0..0),
            Rows::Range(n..n),
            Rows::Range(0..1),
            Rows::Range(n - 1..n),
            Rows::Range(n / 3..n - n / 4),
            Rows::Range(n / 2..(n / 2 + 5).min(n)),
            Rows::step(n - 1, u64::MAX, -7),
            Rows::step(0, n, 3),
            Rows::Indices(random.into()),
            Rows::Indices(twice.into()),
            Rows::Indices(Vec::new().into()),
        ];
        for (i, model) in table.columns.iter().enumerate() {
            for rows in &selections {
                let wanted: Vec<Option<Cell>> = match rows {
                    Rows::Range(range) => model.cells[range.start as usize..range.end as usize].to_vec(),
                    Rows::Indices(indices) => {
                        indices.iter().map(|&row| model.cells[row as usize].clone()).collect()
                    }
                    Rows::Step { start, n, step } => (0..*n as i64)
                        .map(|k| model.cells[(*start as i64 + k * step) as usize].clone())
                        .collect(),
                    Rows::All => unreachable!(),
                };
                let got = nested::read(&file, i as u64, rows.clone());
                let at = format!("{} {}: {rows:?}", table.name, model.name);
                assert_same(&at, &got.unwrap_or_else(|error| panic!("{at}: {error}")), &wanted);
            }
        }
    }
}

#[test]
fn the_same_bytes_from_any_number_of_threads() {
    let table = nested_tables::every_type(by_tier(70_000, 140_000, 140_000));
    let write =
        |threads| frames::write(&table, &WriteOptions { threads: Some(threads), ..WriteOptions::default() });
    assert!(write(1) == write(4));
}
