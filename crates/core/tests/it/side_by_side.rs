//! Columns of a row-major matrix make the same file as contiguous columns.

use crate::common::lend;
use entasis::{
    Array, Chunk, Column, ColumnType, Frame, HostValidity, HostValues, MemorySink, NameList, Physical,
    Silent, Value, WriteOptions,
};

fn bytes_of(n_rows: usize, columns: Vec<Column>, threads: usize) -> Vec<u8> {
    let frame = Frame {
        n_rows: n_rows as u64,
        columns,
        extra: Vec::new(),
        host: Value::map([("host", Value::Str("test".into()))]),
    };
    let sink = MemorySink::new();
    let options = WriteOptions { threads: Some(threads), ..WriteOptions::default() };
    entasis::write_to(&sink, &frame, &options, &Silent).unwrap();
    sink.into_bytes()
}

fn column(name: String, run: Option<NameList>, physical: Physical, n: usize, values: HostValues) -> Column {
    Column {
        name,
        run,
        column_type: ColumnType::plain(physical),
        detail: None,
        host_detail: None,
        dictionary: None,
        children: Vec::new(),
        array: Array::new(Chunk { n, values, validity: HostValidity::AllValid }),
    }
}

/// Numbers that differ from row to row and from column to column, as bytes: row by row, and column
/// by column.
fn values(n_rows: usize, n_columns: usize, width: usize) -> (Vec<u8>, Vec<u8>) {
    let value = |row: usize, column: usize| ((row * 31 + column * 17) as u64 % 60_013).to_le_bytes();
    let cells = |outer: usize, inner: usize, by_rows: bool| {
        (0..outer * inner)
            .flat_map(|i| {
                let (a, b) = (i / inner, i % inner);
                let value = if by_rows { value(a, b) } else { value(b, a) };
                value.into_iter().take(width)
            })
            .collect::<Vec<u8>>()
    };
    (cells(n_rows, n_columns, true), cells(n_columns, n_rows, false))
}

#[test]
fn columns_by_themselves() {
    let shapes =
        [(9, 20), (100, 8), (1_000, 33), (8_191, 9), (8_192, 19), (10_000, 40), (16_385, 12), (70_000, 10)];
    for (n_rows, n_columns) in shapes {
        let (by_rows, by_columns) = values(n_rows, n_columns, 8);
        let stride = 8 * n_columns;
        // In order, some of them, some of them twice, and shuffled.
        let orders: [Vec<usize>; 4] = [
            (0..n_columns).collect(),
            (0..n_columns).flat_map(|c| [c, c / 3 * 3]).take(n_columns).collect(),
            (0..n_columns).filter(|c| c % 5 != 3).collect(),
            (0..n_columns).map(|c| (c * 7 + 3) % n_columns).collect(),
        ];
        // Without missing values, and with a sentinel that occurs in the second column.
        for (order, sentinel) in orders.iter().flat_map(|order| [(order, None), (order, Some(17))]) {
            let missing = |mut column: Column| {
                column.array.chunks[0].validity =
                    sentinel.map_or(HostValidity::AllValid, HostValidity::Sentinel);
                column
            };
            let expected: Vec<Column> = order
                .iter()
                .enumerate()
                .map(|(i, c)| {
                    let memory = lend(&by_columns[c * 8 * n_rows..(c + 1) * 8 * n_rows]);
                    let values = HostValues::Words { memory, stride: 8 };
                    missing(column(format!("c{i}"), None, Physical::I64, n_rows, values))
                })
                .collect();
            let expected = bytes_of(n_rows, expected, 1);
            for threads in [1, 3, 12] {
                let columns = order.iter().enumerate().map(|(i, c)| {
                    // Lend no bytes before the first value or after the last one.
                    let memory = lend(&by_rows[8 * c..(n_rows - 1) * stride + 8 * (c + 1)]);
                    let values = HostValues::Words { memory, stride: stride as isize };
                    missing(column(format!("c{i}"), None, Physical::I64, n_rows, values))
                });
                assert!(bytes_of(n_rows, columns.collect(), threads) == expected, "{n_rows} x {n_columns}");
            }
        }
    }
}

#[test]
fn columns_of_a_run() {
    let types = [(Physical::I8, 1), (Physical::I16, 2), (Physical::I32, 4), (Physical::F64, 8)];
    for (physical, width) in types {
        for (n_rows, n_columns) in [(1, 40), (7, 9), (100, 1_000), (999, 150), (8_000, 17)] {
            let (by_rows, by_columns) = values(n_rows, n_columns, width);
            let run = |bytes: &[u8], row_stride: usize, column_stride: usize| {
                let mut names = NameList::with_capacity(n_columns);
                assert!((0..n_columns).all(|c| names.push(&format!("c{c}"))));
                let values = HostValues::Matrix {
                    memory: lend(bytes),
                    first: 0,
                    row_stride: row_stride as isize,
                    column_stride: column_stride as isize,
                    n_rows,
                };
                vec![column(String::new(), Some(names), physical, n_rows * n_columns, values)]
            };
            let expected = bytes_of(n_rows, run(&by_columns, width, width * n_rows), 1);
            for threads in [1, 3] {
                let written = bytes_of(n_rows, run(&by_rows, width * n_columns, width), threads);
                assert!(written == expected, "{physical:?} {n_rows} x {n_columns}");
            }
        }
    }
}
