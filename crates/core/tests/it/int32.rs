//! Integers of 32 bits with a sentinel for missing values, as in R, are stored narrower and read
//! from narrower columns.

use std::path::Path;

use crate::common::indices;
use entasis::{
    Array, Chunk, Column, ColumnType, File, Frame, HostRead, HostValidity, HostValues, Kind, Limits, Logical,
    MemorySink, MemorySource, MissingTo, Output, Physical, Request, Result, Rows, Silent, Value,
    WriteOptions, write_to,
};

const NA: i32 = i32::MIN;
const SENTINEL: u64 = NA as u32 as u64;

fn lend<T: bytemuck::Pod>(values: &[T]) -> HostRead {
    let bytes: &[u8] = bytemuck::cast_slice(values);
    // SAFETY: the tests keep the values while they write.
    unsafe { HostRead::new(bytes.as_ptr(), bytes.len()) }
}

fn column(column_type: ColumnType, chunk: Chunk, dictionary: Option<usize>) -> Column {
    Column {
        run: None,
        name: "x".into(),
        column_type,
        detail: None,
        host_detail: None,
        dictionary,
        array: Array::new(chunk),
        children: Vec::new(),
    }
}

fn host(values: &[i32], first: i32, n: u32) -> Chunk {
    let values_of = HostValues::Int32 { memory: lend(values), first, n };
    Chunk { n: values.len(), values: values_of, validity: HostValidity::Sentinel(SENTINEL) }
}

fn write(columns: Vec<Column>, extra: Vec<Column>, compression: u8) -> Result<File> {
    let n_rows = columns[0].array.n_values();
    let sink = MemorySink::new();
    let options = WriteOptions { compression: Some(compression), ..WriteOptions::default() };
    write_to(&sink, &Frame { n_rows, columns, extra, host: Value::Null }, &options, &Silent)?;
    File::from_source(Box::new(MemorySource::new(sink.into_bytes())), Path::new("test"), Limits::default())
}

fn read(file: &File, rows: Rows, plus: i32) -> Result<Vec<i32>> {
    let mut out = vec![77; rows.n(file.n_rows()) as usize];
    let memory = bytemuck::cast_slice_mut(&mut out);
    let output = Output::Int32 { memory, plus };
    file.read(
        vec![Request { column: 0, rows, output, missing: MissingTo::Sentinel(SENTINEL) }],
        Some(2),
        &Silent,
    )?;
    Ok(out)
}

fn check(file: &File, values: &[i32], plus: i32) {
    let n = values.len() as u64;
    assert_eq!(read(file, Rows::All, plus).unwrap(), values);
    let part = n / 3..n - n / 7;
    assert_eq!(
        read(file, Rows::Range(part.clone()), plus).unwrap(),
        values[part.start as usize..part.end as usize]
    );
    let rows: Vec<u64> = (0..50).map(|i| (i * 7_919 + 5) % n).collect();
    let expected: Vec<i32> = rows.iter().map(|&row| values[row as usize]).collect();
    assert_eq!(read(file, indices(rows), plus).unwrap(), expected);
}

/// Values from `first` on, some of them missing.
fn values(n: usize, first: i32, below: u32, missing: usize) -> Vec<i32> {
    let value =
        |i: usize| first + (i as u32).wrapping_mul(2_654_435_761).wrapping_shr(7).rem_euclid(below) as i32;
    (0..n).map(|i| if missing > 0 && i % missing == 3 { NA } else { value(i) }).collect()
}

#[test]
fn logicals_and_codes_come_back() {
    for n in [1, 100, 9_000, 150_000] {
        for missing in [0, 5, 10_000] {
            for compression in [0, 50] {
                let logicals = values(n, 0, 2, missing);
                let file = write(
                    vec![column(ColumnType::plain(Physical::Bool), host(&logicals, 0, 2), None)],
                    vec![],
                    compression,
                );
                check(&file.unwrap(), &logicals, 0);
                for (physical, n_levels) in
                    [(Physical::I8, 127), (Physical::I16, 300), (Physical::I32, 70_000)]
                {
                    let codes = values(n, 1, n_levels, missing);
                    let levels: Vec<u32> = (0..n_levels).collect();
                    let of = ColumnType { logical: Logical::Categorical, ..ColumnType::plain(physical) };
                    let dictionary = Chunk {
                        n: levels.len(),
                        values: HostValues::Words { memory: lend(&levels), stride: 4 },
                        validity: HostValidity::AllValid,
                    };
                    let dictionary = column(ColumnType::plain(Physical::U32), dictionary, None);
                    let columns = vec![column(of, host(&codes, 1, n_levels), Some(0))];
                    check(&write(columns, vec![dictionary], compression).unwrap(), &codes, 1);
                }
            }
        }
    }
}

#[test]
fn narrower_columns_are_extended() {
    fn one<T: bytemuck::Pod>(physical: Physical, values: &[T], expected: &[i32]) {
        let chunk = Chunk {
            n: values.len(),
            values: HostValues::Words { memory: lend(values), stride: size_of::<T>() as isize },
            validity: HostValidity::AllValid,
        };
        check(
            &write(vec![column(ColumnType::plain(physical), chunk, None)], vec![], 50).unwrap(),
            expected,
            0,
        );
    }
    let numbers = || (0..20_000).map(|i| i * 37 % 65_536);
    one(
        Physical::I8,
        &numbers().map(|i| i as i8).collect::<Vec<_>>(),
        &numbers().map(|i| i32::from(i as i8)).collect::<Vec<_>>(),
    );
    one(
        Physical::U8,
        &numbers().map(|i| i as u8).collect::<Vec<_>>(),
        &numbers().map(|i| i32::from(i as u8)).collect::<Vec<_>>(),
    );
    one(
        Physical::I16,
        &numbers().map(|i| i as i16).collect::<Vec<_>>(),
        &numbers().map(|i| i32::from(i as i16)).collect::<Vec<_>>(),
    );
    one(Physical::U16, &numbers().map(|i| i as u16).collect::<Vec<_>>(), &numbers().collect::<Vec<_>>());
    one(
        Physical::I32,
        &numbers().map(|i| i - 30_000).collect::<Vec<_>>(),
        &numbers().map(|i| i - 30_000).collect::<Vec<_>>(),
    );
}

#[test]
fn what_a_type_does_not_have_is_refused() {
    let error = |values: &[i32], first, below, column_type| {
        let error =
            write(vec![column(column_type, host(values, first, below), None)], vec![], 50).unwrap_err();
        assert_eq!(error.location().column.as_deref(), Some("x"));
        (error.kind(), error.message().to_owned())
    };
    let bool = ColumnType::plain(Physical::Bool);
    let (kind, message) = error(&[0, NA, 1, 256], 0, 2, bool);
    assert!(kind == Kind::Unsupported && message.contains("row 3"), "{message}");
    assert_eq!(error(&[-1], 0, 2, bool).0, Kind::Unsupported);
    assert_eq!(error(&[0], 1, 127, ColumnType::plain(Physical::I8)).0, Kind::Unsupported);
    // The type does not fit the form of the memory.
    assert_eq!(error(&[0], 0, 2, ColumnType::plain(Physical::Utf8)).0, Kind::Argument);
}

/// A file with one column of 64-bit integers.
fn wide(values: &[i64]) -> File {
    let chunk = Chunk {
        n: values.len(),
        values: HostValues::Words { memory: lend(values), stride: 8 },
        validity: HostValidity::AllValid,
    };
    write(vec![column(ColumnType::plain(Physical::I64), chunk, None)], vec![], 50).unwrap()
}

#[test]
fn wider_integers_are_read_where_all_fit() {
    let most = i64::from(i32::MAX);
    let values = [1, -most, most];
    let file = wide(&values);
    assert_eq!(read(&file, Rows::All, 0).unwrap(), values.map(|value| value as i32));
    // `i32::MIN` is the sentinel for missing values.
    for beyond in [most + 1, -most - 1, i64::MIN, i64::MAX] {
        let file = wide(&[1, beyond]);
        assert_eq!(read(&file, Rows::All, 0).unwrap_err().kind(), Kind::Unsupported, "{beyond}");
        assert_eq!(read(&file, Rows::Range(0..1), 0).unwrap(), [1]);
    }
    assert_eq!(read(&file, Rows::All, 1).unwrap_err().kind(), Kind::Argument);
}

#[test]
fn columns_that_do_not_fit_are_refused() {
    let values = [1.0f64, 2.0];
    let chunk = Chunk {
        n: 2,
        values: HostValues::Words { memory: lend(&values), stride: 8 },
        validity: HostValidity::AllValid,
    };
    let file = write(vec![column(ColumnType::plain(Physical::F64), chunk, None)], vec![], 50).unwrap();
    assert_eq!(read(&file, Rows::All, 0).unwrap_err().kind(), Kind::Argument);
    let mut out = [0i32; 1];
    let output = Output::Int32 { memory: bytemuck::cast_slice_mut(&mut out), plus: 0 };
    let request = Request { column: 0, rows: Rows::All, output, missing: MissingTo::Ignore };
    assert_eq!(file.read(vec![request], None, &Silent).unwrap_err().kind(), Kind::Argument);
}
