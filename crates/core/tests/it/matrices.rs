//! Columns grouped by type, and read into row-major matrices.

use crate::common::{Cells, Model, file_of, open};
use entasis::{File, Group, Matrix, Physical, Side, Silent, WriteOptions};

const TYPES: [Physical; 7] = [
    Physical::F64,
    Physical::Bool,
    Physical::I8,
    Physical::F16,
    Physical::I32,
    Physical::Complex128,
    Physical::I64,
];

fn model(physical: Physical, n: usize, seed: usize) -> Model {
    let numbers = (0..n).map(|i| (i * 31 + seed * 17) % 251);
    if physical == Physical::Bool {
        return Model::bools(&numbers.map(|x| x % 3 == 0).collect::<Vec<_>>());
    }
    let width = physical.width().unwrap();
    let bytes: Vec<u8> = numbers.flat_map(|x| std::iter::repeat_n(x as u8, width)).collect();
    Model { physical, cells: Cells::Words(bytes), valid: None }
}

fn columns(physical: Physical, n_rows: usize, n_columns: usize) -> Vec<(String, Model)> {
    (0..n_columns).map(|c| (format!("c{c}"), model(physical, n_rows, c))).collect()
}

fn file(columns: &[(String, Model)], compression: u8) -> File {
    let columns: Vec<_> = columns.iter().map(|(name, model)| (name.as_str(), model.clone())).collect();
    open(&file_of(&columns, &WriteOptions { compression: Some(compression), ..WriteOptions::default() }))
        .unwrap()
}

fn side(group: &Group, n_rows: usize, from: usize, to: usize) -> Side {
    match group.storage {
        Some(column) => Side::Stored { column, first: (from * n_rows) as u64, n: to - from },
        None => Side::Each(group.columns[from..to].to_vec()),
    }
}

/// The rows of the columns, one after the other.
fn rowwise(columns: &[(String, Model)]) -> Vec<u8> {
    let n_rows = columns.first().map_or(0, |(_, model)| model.n());
    (0..n_rows).flat_map(|row| columns.iter().flat_map(move |(_, model)| model.get(row).unwrap())).collect()
}

#[test]
fn matrices_are_the_rows() {
    let shapes = [(1, 3), (3, 40), (100, 1), (100, 500), (1_000, 33), (8_191, 10), (8_192, 9), (70_000, 11)];
    for physical in TYPES {
        for (n_rows, n_columns) in shapes {
            if n_rows * n_columns > 200_000 && !matches!(physical, Physical::F64 | Physical::Bool) {
                continue;
            }
            let columns = columns(physical, n_rows, n_columns);
            let width = physical.width().unwrap_or(1);
            for compression in [0, 50] {
                let file = file(&columns, compression);
                let groups = file.groups().unwrap();
                assert!(groups.others.is_empty());
                let [group] = groups.groups.as_slice() else { panic!("one type, one group") };
                assert_eq!(group.columns, (0..n_columns as u64).collect::<Vec<_>>());
                assert_eq!(group.storage.is_some(), n_rows < 8_192 && n_columns > 1);
                let cut = n_columns / 3;
                for threads in [1, 4] {
                    let mut left = vec![7u8; n_rows * cut * width];
                    let mut right = vec![7u8; n_rows * (n_columns - cut) * width];
                    let matrices = vec![
                        Matrix { columns: side(group, n_rows, 0, cut), out: &mut left, sentinel: None },
                        Matrix {
                            columns: side(group, n_rows, cut, n_columns),
                            out: &mut right,
                            sentinel: None,
                        },
                    ];
                    file.read_matrices(matrices, Some(threads), &Silent).unwrap();
                    assert_eq!(left, rowwise(&columns[..cut]), "{physical:?} {n_rows} x {n_columns}");
                    assert_eq!(right, rowwise(&columns[cut..]), "{physical:?} {n_rows} x {n_columns}");
                }
            }
        }
    }
}

#[test]
fn missing_values_are_marked() {
    let columns: Vec<_> = columns(Physical::I64, 500, 20)
        .into_iter()
        .map(|(n, m)| (n, m.with_missing(|i| i % 7 != 0)))
        .collect();
    let file = file(&columns, 50);
    let groups = file.groups().unwrap();
    assert!(groups.groups[0].has_missing);
    let mut out = vec![0u8; 500 * 20 * 8];
    let columns_of = side(&groups.groups[0], 500, 0, 20);
    file.read_matrices(
        vec![Matrix { columns: columns_of, out: &mut out, sentinel: Some(u64::MAX) }],
        None,
        &Silent,
    )
    .unwrap();
    let expected: Vec<u8> = (0..500)
        .flat_map(|row| columns.iter().flat_map(move |(_, m)| m.get(row).unwrap_or(vec![0xff; 8])))
        .collect();
    assert_eq!(out, expected);
}

#[test]
fn groups_of_several_types() {
    let n = 50;
    let mut columns = Vec::new();
    for c in 0..30 {
        columns.push((format!("n\u{e9}{c}"), model(TYPES[c % 3], n, c)));
        if c % 10 == 0 {
            columns.push((format!("t{c}"), Model::text(&vec!["x"; n])));
        }
    }
    let file = file(&columns, 50);
    let groups = file.groups().unwrap();
    assert_eq!(groups.groups.len(), 3);
    assert_eq!(groups.others, [1, 12, 23]);
    assert!(groups.groups.iter().all(|group| group.columns.len() == 10 && group.storage.is_some()));
    let mut names = Vec::new();
    file.visit_names(&groups.names, |name| {
        names.push(name.to_owned());
        Ok(())
    })
    .unwrap();
    assert_eq!(names, columns.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>());
}

#[test]
fn what_does_not_fit_is_refused() {
    let file = file(&columns(Physical::I32, 100, 9), 50);
    let group = file.groups().unwrap().groups.remove(0);
    let storage = group.storage.unwrap();
    let mut out = vec![0u8; 100 * 9 * 4];
    let wrong = [
        (side(&group, 100, 0, 9), 4),
        (Side::Stored { column: storage, first: 100, n: 9 }, 0),
        (Side::Stored { column: storage, first: u64::MAX, n: 9 }, 0),
        (Side::Each(vec![0, 1, 99]), 0),
    ];
    for (columns, less) in wrong {
        let len = out.len() - less;
        let matrix = Matrix { columns, out: &mut out[..len], sentinel: None };
        assert!(file.read_matrices(vec![matrix], None, &Silent).is_err());
    }
}
