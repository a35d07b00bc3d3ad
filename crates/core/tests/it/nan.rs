//! `MissingTo::BitsWithNan`: NaN counts as missing, for any rows and any encoding.

use crate::common::{self, Model, check, file_of, indices};
use entasis::{File, MissingTo, Output, Physical, Request, Rows, Silent, WriteOptions};

/// Halves, floats and doubles, each with NaN in every third row, and two bundled columns.
fn columns(n: usize) -> Vec<(&'static str, Model)> {
    let is_nan = |i: usize| i.wrapping_mul(2_654_435_761).is_multiple_of(3);
    let double = |i: usize| if is_nan(i) { -f64::NAN } else { i as f64 / 8.0 };
    let noise = |i: usize| if is_nan(i) { f64::NAN } else { (i as f64).sqrt() };
    let half = |i: usize| if is_nan(i) { 0xfe01u16 } else { 0x3c00 + (i % 700) as u16 };
    vec![
        ("half", Model::words(Physical::F16, &(0..n).map(half).collect::<Vec<_>>())),
        ("float", Model::words(Physical::F32, &(0..n).map(|i| double(i) as f32).collect::<Vec<_>>())),
        ("double", Model::words(Physical::F64, &(0..n).map(double).collect::<Vec<_>>())),
        ("noise", Model::words(Physical::F64, &(0..n).map(noise).collect::<Vec<_>>())),
    ]
}

fn is_nan(physical: Physical, bytes: &[u8]) -> bool {
    match physical {
        Physical::F16 => u16::from_le_bytes(bytes.try_into().unwrap()) & 0x7fff > 0x7c00,
        Physical::F32 => f32::from_le_bytes(bytes.try_into().unwrap()).is_nan(),
        _ => f64::from_le_bytes(bytes.try_into().unwrap()).is_nan(),
    }
}

/// The bits of a column, and its bytes, which must stay unchanged.
fn read(file: &File, column: u64, rows: &Rows, threads: usize) -> (Vec<u8>, Vec<u8>) {
    let info = file.column(column).unwrap();
    let n = rows.n(info.record.n_values) as usize;
    let width = info.record.column_type.physical.width().unwrap();
    let mut words = vec![0u64; (n * width).div_ceil(8)];
    let memory = &mut bytemuck::cast_slice_mut(&mut words)[..n * width];
    let mut bits = vec![0x5a; n.div_ceil(8)];
    let missing = MissingTo::BitsWithNan(&mut bits);
    let request = Request { column, rows: rows.clone(), output: Output::Words(&mut *memory), missing };
    file.read(vec![request], Some(threads), &Silent).unwrap();
    let bytes = memory.to_vec();
    (bits, bytes)
}

#[test]
fn nan_is_missing_in_all_rows_that_are_read() {
    for (n, compression) in [(5, 50), (1_000, 50), (140_001, 0), (140_001, 50), (140_001, 100)] {
        let columns = columns(n);
        let file = common::open(&file_of(
            &columns,
            &WriteOptions { compression: Some(compression), ..Default::default() },
        ))
        .unwrap();
        let n = n as u64;
        let scattered: Vec<u64> = (0..n).filter(|i| i % 7 == 3 || i % 11 == 0).collect();
        for rows in [
            Rows::All,
            Rows::Range(n / 5..n - n / 7),
            Rows::Step { start: n - 1, n: n / 3, step: -3 },
            indices(scattered.iter().copied()),
            indices(scattered.iter().rev().copied().take(9)),
            indices([0, n - 1]),
            Rows::Range(1..1),
        ] {
            for (column, (name, model)) in columns.iter().enumerate() {
                check(&file, column as u64, model, &rows, 2);
                let (bits, bytes) = read(&file, column as u64, &rows, 2);
                let width = model.physical.width().unwrap();
                for (i, value) in bytes.chunks_exact(width).enumerate() {
                    let is_valid = bits[i / 8] >> (i % 8) & 1 == 1;
                    assert_eq!(is_valid, !is_nan(model.physical, value), "{name} of {n}, {rows:?}, row {i}");
                }
                let expected = common::read(&file, column as u64, &rows, 1).unwrap();
                assert!(expected.into_iter().flatten().flatten().eq(bytes), "{name} of {n}, {rows:?}");
            }
        }
    }
}

#[test]
fn only_floats_have_nan() {
    let file =
        common::open(&file_of(&[("a", Model::words(Physical::I64, &[1i64, 2]))], &WriteOptions::default()))
            .unwrap();
    let (mut words, mut bits) = ([0u64; 2], [0]);
    let output = Output::Words(bytemuck::cast_slice_mut(&mut words));
    let missing = MissingTo::BitsWithNan(&mut bits);
    let request = Request { column: 0, rows: Rows::All, output, missing };
    assert!(file.read(vec![request], None, &Silent).is_err());
}
