//! Reading returns the written values: every type, shape of data, selection of rows, number of
//! threads and compression.

use crate::common::{self, Model, by_tier, check, file_of, indices, open};
use entasis::{
    Array, Chunk, Column, ColumnType, Frame, HostRead, HostValidity, HostValues, MemorySink, Physical, Rows,
    Value, WriteOptions,
};

/// Reproducible noise.
fn noise(n: usize, seed: u64) -> Vec<u64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB) ^ (z >> 31)
    };
    (0..n).map(|_| next()).collect()
}

/// Columns that lead to every encoding.
fn columns(n: usize) -> Vec<(&'static str, Model)> {
    let r = noise(n, 1);
    let small: Vec<i32> = r.iter().map(|v| (v % 100) as i32 + 1).collect();
    let prices: Vec<f64> = r.iter().map(|v| ((v >> 9) % 20 * 37 + 5) as f64 / 100.0).collect();
    let decimals: Vec<f64> = r.iter().map(|v| (v % 1_000_000) as f64 / 1000.0).collect();
    let mut mixed = decimals.clone();
    for (i, value) in mixed.iter_mut().enumerate() {
        *value = match i % 97 {
            0 => f64::NAN,
            1 => -0.0,
            2 => f64::INFINITY,
            3 => f64::from_bits(0x7FF8_0000_0000_07A2),
            4 => 1e300 / 3.0,
            _ => *value,
        };
    }
    let real: Vec<f64> = r.iter().map(|&v| f64::from_bits(v >> 2 | 0x3000_0000_0000_0000)).collect();
    let singles: Vec<f32> = r.iter().map(|v| (v % 1000) as f32 / 8.0).collect();
    let times: Vec<i64> =
        r.iter().enumerate().map(|(i, v)| i as i64 * 1_000_000 + (v % 1000) as i64).collect();
    let runs: Vec<i16> = (0..n).map(|i| (i / 300 % 7) as i16 - 3).collect();
    let outliers: Vec<u32> =
        r.iter().map(|v| if v % 997 == 0 { *v as u32 } else { (v % 30) as u32 }).collect();
    let steps: Vec<u64> = (0..n).map(|i| ((i / 1024) as u64) << 40 | (r[i] & 0xFF)).collect();
    let bytes: Vec<u8> = r.iter().map(|v| *v as u8).collect();
    let halves: Vec<u16> = r.iter().map(|v| (v % 5000) as u16).collect();
    let pairs: Vec<[f64; 2]> = r.iter().map(|v| [(v % 7) as f64, (v % 3) as f64]).collect();
    let wide: Vec<u128> = r.iter().map(|v| u128::from(*v) << 60 | 7).collect();
    let words: Vec<String> = r.iter().map(|v| format!("word {}", v % 300)).collect();
    let texts: Vec<String> =
        r.iter().map(|v| format!("text {v:x} \u{e9} {}", "lorem ipsum ".repeat((v % 9) as usize))).collect();
    let bools: Vec<bool> = r.iter().map(|v| v % 10 != 0).collect();
    vec![
        ("small", Model::words(Physical::I32, &small)),
        ("small with missing", Model::words(Physical::I32, &small).with_missing(|i| i % 7 != 3)),
        ("prices", Model::words(Physical::F64, &prices)),
        ("decimals", Model::words(Physical::F64, &decimals)),
        ("mixed", Model::words(Physical::F64, &mixed)),
        ("real", Model::words(Physical::F64, &real)),
        ("real with few missing", Model::words(Physical::F64, &real).with_missing(|i| i % 1000 != 3)),
        ("singles", Model::words(Physical::F32, &singles)),
        ("times", Model::words(Physical::I64, &times)),
        ("runs", Model::words(Physical::I16, &runs)),
        ("outliers", Model::words(Physical::U32, &outliers)),
        ("steps", Model::words(Physical::U64, &steps)),
        ("bytes", Model::words(Physical::U8, &bytes)),
        ("halves", Model::words(Physical::F16, &halves)),
        ("complex", Model::words(Physical::Complex128, &pairs)),
        ("wide", Model::words(Physical::Complex128, &wide).with_missing(|i| i % 3 != 0)),
        ("words", Model::text(&words)),
        ("texts", Model::text(&texts)),
        ("texts with missing", Model::text(&texts).with_missing(|i| i % 5 != 0)),
        ("bools", Model::bools(&bools)),
        ("bools with missing", Model::bools(&bools).with_missing(|i| i % 20 != 9)),
        ("constant", Model::words(Physical::I64, &vec![42i64; n])),
        ("constant with missing", Model::words(Physical::I64, &vec![42i64; n]).with_missing(|i| i % 2 == 0)),
        ("all missing", Model::words(Physical::I64, &vec![42i64; n]).with_missing(|_| false)),
        ("all missing texts", Model::text(&texts).with_missing(|_| false)),
        ("one text", Model::text(&vec!["same"; n])),
        ("empty texts", Model::text(&vec![""; n])),
    ]
}

fn round_trip(n: usize, compression: u8) {
    let columns = columns(n);
    let options = WriteOptions { compression: Some(compression), ..WriteOptions::default() };
    let one = file_of(&columns, &WriteOptions { threads: Some(1), ..options.clone() });
    let three = file_of(&columns, &WriteOptions { threads: Some(3), ..options });
    assert!(one == three, "the bytes depend on the number of threads");
    let file = open(&one).unwrap();
    assert_eq!((file.n_rows(), file.n_columns()), (n as u64, columns.len() as u64));
    file.verify(Some(2), &entasis::Silent).unwrap();
    let rows = n as u64;
    let picks = noise(200, 9).into_iter().map(|v| v % rows.max(1)).take(if n == 0 { 0 } else { 200 });
    let picks: Vec<u64> = picks.collect();
    let mut ascending = picks.clone();
    ascending.sort_unstable();
    for (i, (name, model)) in columns.iter().enumerate() {
        let column = file.find(name).unwrap();
        assert_eq!(column, i as u64);
        let missing = (0..n).filter(|&i| !model.is_valid(i)).count() as u64;
        assert_eq!(file.column(column).unwrap().record.n_missing, missing, "{name}");
        check(&file, column, model, &Rows::All, 2);
        check(&file, column, model, &Rows::Range(rows / 3..rows - rows / 4), 1);
        check(&file, column, model, &Rows::Range(rows / 2..rows / 2), 1);
        check(&file, column, model, &Rows::Range(rows / 2..rows.min(rows / 2 + 10)), 1);
        check(&file, column, model, &indices(picks.iter().copied()), 1);
        check(&file, column, model, &indices(ascending.iter().copied()), 1);
        check(&file, column, model, &Rows::step(rows.saturating_sub(1), u64::MAX, -7), 1);
    }
}

#[test]
fn tables_of_all_sizes_come_back() {
    let all = [1, 2, 7, 100, 1023, 1024, 1025, 8191, 8192, 8193, 65_536, 65_537, 65_535, 150_000];
    for &n in by_tier(&all[..12], &all) {
        round_trip(n, 50);
    }
}

#[test]
fn tables_come_back_at_every_compression() {
    let all = [0, 10, 25, 50, 60, 79, 80, 100, 1, 49, 51, 70, 95];
    for &compression in by_tier(&all[..8], &all) {
        round_trip(by_tier(9_000, 20_000), compression);
    }
    round_trip(500, 0);
    round_trip(70_000, 0);
    round_trip(by_tier(66_000, 140_000), 80);
}

#[test]
fn long_runs_of_blocks_come_back() {
    let r = noise(2_300_000, 4);
    let values: Vec<i32> = r.iter().map(|v| (v % 1000) as i32).collect();
    let model = Model::words(Physical::I32, &values).with_missing(|i| i % 100 != 0);
    for compression in [0, 50] {
        let options =
            WriteOptions { compression: Some(compression), threads: Some(2), ..WriteOptions::default() };
        let file = open(&file_of(&[("a", model.clone())], &options)).unwrap();
        for rows in [Rows::All, Rows::Range(1_000_001..2_299_999), Rows::Range(65_530..65_550)] {
            check(&file, 0, &model, &rows, 2);
        }
    }
}

#[test]
fn strings_of_all_lengths_come_back() {
    let mut texts: Vec<Vec<u8>> = (0..300usize).map(|i| vec![b'a' + (i % 26) as u8; i * i * 7]).collect();
    texts.push(vec![b'z'; 20_000_000]);
    texts.push(Vec::new());
    texts.push(b"after".to_vec());
    let model = Model::text(&texts).with_missing(|i| i % 50 != 49);
    for &compression in by_tier(&[0, 50][..], &[0, 50, 80]) {
        let options =
            WriteOptions { compression: Some(compression), threads: Some(2), ..WriteOptions::default() };
        let file = open(&file_of(&[("a", model.clone())], &options)).unwrap();
        file.verify(None, &entasis::Silent).unwrap();
        let n = texts.len() as u64;
        for rows in [Rows::All, Rows::Range(100..n - 1), indices([n - 1, 0, 299, n - 3])] {
            check(&file, 0, &model, &rows, 2);
        }
    }
}

#[test]
fn many_columns_of_few_rows_share_bundles() {
    let models: Vec<Model> = (0..300)
        .map(|c| {
            let r = noise(100, c);
            match c % 4 {
                0 => Model::words(Physical::I64, &r),
                1 => Model::words(Physical::F64, &r.iter().map(|v| (v % 100) as f64).collect::<Vec<_>>()),
                2 => Model::bools(&r.iter().map(|v| v % 2 == 0).collect::<Vec<_>>())
                    .with_missing(|i| i % 3 != 0),
                _ => Model::text(&r.iter().map(|v| format!("{}", v % 50)).collect::<Vec<_>>()),
            }
        })
        .collect();
    let names: Vec<String> = (0..300).map(|c| format!("column {c}")).collect();
    let columns: Vec<(&str, Model)> = names.iter().map(String::as_str).zip(models).collect();
    let file = open(&file_of(&columns, &WriteOptions::default())).unwrap();
    assert_eq!(file.n_columns_total(), 304);
    file.verify(None, &entasis::Silent).unwrap();
    for (name, model) in &columns {
        let column = file.find(name).unwrap();
        check(&file, column, model, &Rows::All, 1);
        check(&file, column, model, &Rows::Range(17..80), 1);
        check(&file, column, model, &indices([99, 0, 5, 5]), 1);
    }
    let all = file.columns(0..300).unwrap();
    assert!(all.iter().zip(&names).all(|(column, name)| column.name == *name && column.record.is_bundled));
}

#[test]
fn empty_tables_come_back() {
    let file = open(&file_of(&[], &WriteOptions::default())).unwrap();
    assert_eq!((file.n_rows(), file.n_columns()), (0, 0));
    file.verify(None, &entasis::Silent).unwrap();
    let columns = [("a", Model::words::<i32>(Physical::I32, &[])), ("b", Model::text::<&str>(&[]))];
    let file = open(&file_of(&columns, &WriteOptions::default())).unwrap();
    file.verify(None, &entasis::Silent).unwrap();
    for (i, (_, model)) in columns.iter().enumerate() {
        check(&file, i as u64, model, &Rows::All, 1);
    }
}

#[test]
fn names_may_repeat_but_not_be_selected_then() {
    let column = || Model::words(Physical::I32, &[1i32, 2, 3]);
    let file = open(&file_of(&[("a", column()), ("b", column()), ("a", column())], &WriteOptions::default()))
        .unwrap();
    assert_eq!(file.find("b").unwrap(), 1);
    assert_eq!(file.find_all("a").unwrap(), [0, 2]);
    let error = file.find("a").unwrap_err();
    assert!(error.to_string().contains("2 columns"), "{error}");
    assert_eq!(file.find("c").unwrap_err().kind(), entasis::Kind::Argument);
    assert_eq!(file.column(2).unwrap().name, "a");
}

#[test]
fn rows_out_of_range_are_refused() {
    let file = open(&file_of(&[("a", Model::words(Physical::I32, &[1i32, 2, 3]))], &WriteOptions::default()))
        .unwrap();
    for rows in [Rows::Range(0..4), Rows::Range(4..4), indices([0, 3])] {
        let error = common::read(&file, 0, &rows, 1).unwrap_err();
        assert_eq!(error.kind(), entasis::Kind::Argument);
        assert!(error.to_string().contains("out of range"), "{error}");
    }
}

/// Integers of `width` bytes in memory, to be stored as a narrower type.
fn wide_column(
    name: &str,
    of: ColumnType,
    width: usize,
    memory: &[u8],
    mask: &[u8],
    stride: isize,
) -> Column {
    // SAFETY: the callers keep the memory until the write is done.
    let lend = |bytes: &[u8]| unsafe { HostRead::new(bytes.as_ptr(), bytes.len()) };
    let values = HostValues::Wide { memory: lend(memory), width, stride };
    let validity = HostValidity::Mask { memory: lend(mask), stride: 1 };
    let array = Array::new(Chunk { n: mask.len(), values, validity });
    Column {
        run: None,
        name: name.to_owned(),
        column_type: of,
        detail: None,
        host_detail: None,
        dictionary: None,
        children: Vec::new(),
        array,
    }
}

fn extended(value: i128, width: usize) -> Vec<u8> {
    let sign = if value < 0 { 255 } else { 0 };
    let mut bytes = vec![sign; width];
    let len = width.min(16);
    bytes[..len].copy_from_slice(&value.to_le_bytes()[..len]);
    bytes
}

#[test]
fn wide_integers_are_stored_as_narrow_ones() {
    for (n, precision) in [(100, 5), (100, 15), (70_000, 9), (70_000, 18), (20_000, 30)] {
        let of = ColumnType::decimal(precision, 2).unwrap();
        let narrow = of.physical.width().unwrap();
        let most = 10i128.pow(precision.into());
        let values: Vec<i128> =
            noise(n, 3).iter().map(|&v| i128::from(v as i64) * 3_000_007 % most).collect();
        let mask: Vec<u8> = (0..n).map(|i| u8::from(i % 11 == 4)).collect();
        for width in [8, 16, 32].into_iter().filter(|&width| width > narrow) {
            // Slots of missing values are unspecified. Half of the widths are laid out backwards.
            let is_backwards = width == 16;
            let mut cells: Vec<Vec<u8>> = values.iter().map(|&v| extended(v, width)).collect();
            cells.iter_mut().zip(&mask).filter(|(_, m)| **m == 1).for_each(|(cell, _)| cell.fill(0x5A));
            if is_backwards {
                cells.reverse();
            }
            let memory = cells.concat();
            let stride = if is_backwards { -(width as isize) } else { width as isize };
            let columns: Vec<Column> =
                ["a", "b"].iter().map(|name| wide_column(name, of, width, &memory, &mask, stride)).collect();
            let frame = Frame { n_rows: n as u64, columns, extra: Vec::new(), host: Value::Null };
            let sink = MemorySink::new();
            entasis::write_to(&sink, &frame, &WriteOptions::default(), &entasis::Silent).unwrap();
            let file = open(&sink.into_bytes()).unwrap();
            assert_eq!(file.column(1).unwrap().record.column_type, of);
            file.verify(Some(1), &entasis::Silent).unwrap();
            let picks: Vec<u64> = noise(300, 5).iter().map(|v| v % n as u64).collect();
            let n = n as u64;
            let selections =
                [Rows::All, Rows::Range(n / 3..n - 7), Rows::step(n - 1, u64::MAX, -3), indices(picks)];
            for rows in selections {
                let wanted: Vec<usize> = match &rows {
                    Rows::All => (0..n as usize).collect(),
                    Rows::Range(range) => range.clone().map(|i| i as usize).collect(),
                    Rows::Step { start, n, step } => {
                        (0..*n).map(|i| start.wrapping_add_signed(i as i64 * step) as usize).collect()
                    }
                    Rows::Indices(indices) => indices.iter().map(|&i| i as usize).collect(),
                };
                for out_width in [8, 16, 32].into_iter().filter(|&width| width > narrow) {
                    let (bytes, bits) = common::read_wide(&file, 1, &rows, out_width).unwrap();
                    for (k, &i) in wanted.iter().enumerate() {
                        let is_valid = bits[k / 8] >> (k % 8) & 1 == 1;
                        assert_eq!(is_valid, mask[i] == 0, "{rows:?} {k}");
                        let got = &bytes[k * out_width..(k + 1) * out_width];
                        assert!(!is_valid || got == extended(values[i], out_width), "{rows:?} {k}");
                    }
                }
                if narrow < 16 {
                    let (bytes, _) = common::read_wide(&file, 0, &rows, 16).unwrap();
                    assert_eq!(bytes, common::read_wide(&file, 1, &rows, 16).unwrap().0);
                }
            }
            assert!(common::read_wide(&file, 0, &Rows::All, narrow).is_err());
        }
    }
}

#[test]
fn wide_integers_that_do_not_fit_are_refused() {
    let of = ColumnType::decimal(18, 2).unwrap();
    for n in [20, 200_000] {
        let (good, none) = (extended(-5, 16).repeat(n), vec![0; n]);
        let mut memory = good.clone();
        let mut mask = vec![0; n];
        for row in [0, 7, n - 1] {
            let old = memory[16 * row + 8];
            memory[16 * row + 8] = 1;
            for is_missing in [false, true] {
                mask[row] = u8::from(is_missing);
                let columns = vec![
                    wide_column("good", of, 16, &good, &none, 16),
                    wide_column("bad", of, 16, &memory, &mask, 16),
                ];
                let frame = Frame { n_rows: n as u64, columns, extra: Vec::new(), host: Value::Null };
                let options = WriteOptions { threads: Some(1), ..WriteOptions::default() };
                let written = entasis::write_to(&MemorySink::new(), &frame, &options, &entasis::Silent);
                if is_missing {
                    written.unwrap();
                    continue;
                }
                let error = written.unwrap_err();
                assert_eq!(error.kind(), entasis::Kind::Unsupported);
                let text = error.to_string();
                assert!(text.contains(&format!("row {row} ")) && text.contains("\"bad\""), "{text}");
            }
            mask[row] = 0;
            memory[16 * row + 8] = old;
        }
    }
    // Memory that is narrower than the type is refused.
    let (memory, mask) = ([0; 8], [0; 2]);
    let column = wide_column("a", of, 4, &memory, &mask, 4);
    let frame = Frame { n_rows: 2, columns: vec![column], extra: Vec::new(), host: Value::Null };
    assert!(
        entasis::write_to(&MemorySink::new(), &frame, &WriteOptions::default(), &entasis::Silent).is_err()
    );
}
