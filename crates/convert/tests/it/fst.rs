//! Tables of a naive writer of fst, in all forms of blocks.

use std::time::Instant;

use entasis::Silent;
use entasis_convert::fst::{Selection, Table};
use entasis_convert::r::{Data, Mark, Strings, Value};
use proptest::prelude::*;

use crate::common::bits;

/// The order of values in bytes and in planes of words of 4 bytes.
const ORDER_8: [usize; 8] = [6, 4, 2, 0, 7, 5, 3, 1];
const ORDER_4: [usize; 4] = [2, 0, 3, 1];

/// A column: type, class, values as stored, and the algorithm of its blocks.
pub struct Column {
    pub of: u16,
    pub class: u16,
    pub values: Stored,
    pub algorithm: u16,
    /// Whether the column is one block of fixed ratio.
    pub is_whole: bool,
}

pub enum Stored {
    Words4(Vec<i32>),
    Words8(Vec<u64>),
    Bytes(Vec<u8>),
    Text(Vec<Option<Vec<u8>>>, u8),
    Factor(Vec<i32>, Vec<String>),
}

fn hash(structure: &mut [u8]) {
    let hash = twox_hash::XxHash64::oneshot(912_824_571, &structure[8..]);
    structure[..8].copy_from_slice(&hash.to_le_bytes());
}

fn compress(algorithm: u16, bytes: &[u8]) -> Vec<u8> {
    match algorithm {
        0 | 8 | 12 | 13 => bytes.to_vec(),
        1 | 2 | 5 | 7 | 10 | 11 => lz4_flex::block::compress(bytes),
        _ => {
            let mut packed = vec![0; zstd_safe::compress_bound(bytes.len())];
            let n = zstd_safe::compress(&mut packed[..], bytes, 1).unwrap();
            packed.truncate(n);
            packed
        }
    }
}

/// Values in the form of an algorithm.
fn formed(algorithm: u16, bytes: &[u8]) -> Vec<u8> {
    let words = || bytes.chunks(4).map(|word| i32::from_le_bytes(word.try_into().unwrap()));
    match algorithm {
        2 | 4 => planes(bytes, 4, |i| ORDER_8[i]),
        5 | 6 => planes(bytes, 8, |i| 7 - i),
        7..=9 => {
            let mut halves = vec![0u32; bytes.len().div_ceil(128) * 2];
            for (i, value) in words().enumerate() {
                let (half, bit) = (i / 32 * 2 + i % 2, i % 32 / 2);
                halves[half] |= if value == i32::MIN { 1 << (31 - bit) } else { (value as u32) << bit };
            }
            halves.iter().flat_map(|half| half.to_le_bytes()).collect()
        }
        10 | 12 | 14 => {
            let codes: Vec<u8> =
                words().map(|code| if code == i32::MIN { 0x80 } else { code as u8 }).collect();
            let order = |group: &[u8]| ORDER_8.map(|i| group.get(i).copied().unwrap_or(0));
            codes.chunks(8).flat_map(order).collect()
        }
        11 | 13 | 15 => {
            let codes: Vec<u16> =
                words().map(|code| if code == i32::MIN { 0x8000 } else { code as u16 }).collect();
            let order = |group: &[u16]| ORDER_4.map(|i| group.get(i).copied().unwrap_or(0).to_le_bytes());
            codes.chunks(4).flat_map(order).flatten().collect()
        }
        _ => bytes.to_vec(),
    }
}

fn planes(bytes: &[u8], width: usize, order: impl Fn(usize) -> usize) -> Vec<u8> {
    let n = bytes.len() / (8 * width);
    let mut planes = Vec::new();
    for plane in (0..width).rev() {
        for group in 0..n {
            planes.extend((0..8).map(|i| bytes[(group * 8 + order(i)) * width + plane]));
        }
    }
    planes.extend(&bytes[n * 8 * width..]);
    planes
}

fn numbers(into: &mut Vec<u8>, bytes: &[u8], width: usize, column: &Column) {
    into.extend(0u32.to_le_bytes());
    if bytes.is_empty() {
        return;
    }
    let at = into.len();
    if column.is_whole {
        into.extend(0u32.to_le_bytes());
        into.extend(u32::from(column.algorithm).to_le_bytes());
        into.extend(formed(column.algorithm, bytes));
        return;
    }
    into.extend(16_384u32.to_le_bytes());
    into.extend((16_384 / width as u32).to_le_bytes());
    let blocks: Vec<_> = bytes
        .chunks(16_384)
        .map(|block| compress(column.algorithm, &formed(column.algorithm, block)))
        .collect();
    let mut end = (8 + 8 * (blocks.len() + 1)) as u64;
    for block in &blocks {
        into.extend((end | u64::from(column.algorithm) << 48).to_le_bytes());
        end += block.len() as u64;
    }
    into.extend(end.to_le_bytes());
    blocks.iter().for_each(|block| into.extend(block));
    assert_eq!(into.len() as u64, at as u64 + end);
}

/// A text vector. `algorithms`: of lengths and text; `None` for one without compression.
fn text(into: &mut Vec<u8>, strings: &[Option<Vec<u8>>], encoding: u8, algorithms: Option<[u16; 2]>) {
    let at = into.len();
    into.extend((u32::from(encoding) << 1 | u32::from(algorithms.is_some())).to_le_bytes());
    into.extend(2047u32.to_le_bytes());
    let [of_lens, of_text] = algorithms.unwrap_or([0, 0]);
    let mut blocks = Vec::new();
    for block in strings.chunks(2047) {
        let (mut lens, mut bytes, mut missing) = (Vec::new(), Vec::new(), vec![0u32; 1 + block.len() / 32]);
        for (i, string) in block.iter().enumerate() {
            bytes.extend(string.as_deref().unwrap_or(b"NA"));
            lens.extend((bytes.len() as u32).to_le_bytes());
            if string.is_none() {
                missing[i / 32] |= 1 << (i % 32);
                missing[block.len() / 32] |= 1 << (block.len() % 32);
            }
        }
        let lens = compress(of_lens, &formed(of_lens, &lens));
        let missing = missing.iter().flat_map(|word| word.to_le_bytes());
        let len = lens.len() as u32;
        blocks.push((
            len,
            lens.into_iter().chain(missing).chain(compress(of_text, &bytes)).collect::<Vec<u8>>(),
        ));
    }
    let mut end = 8 + blocks.len() as u64 * if algorithms.is_some() { 16 } else { 8 };
    for (lens_len, block) in &blocks {
        end += block.len() as u64;
        into.extend(end.to_le_bytes());
        if algorithms.is_some() {
            into.extend(of_lens.to_le_bytes());
            into.extend(of_text.to_le_bytes());
            into.extend(lens_len.to_le_bytes());
        }
    }
    blocks.iter().for_each(|(_, block)| into.extend(block));
    assert_eq!(into.len() as u64, at as u64 + end);
}

/// The bytes of a table.
pub fn table(columns: &[Column], n_rows: u64, keys: &[u32]) -> Vec<u8> {
    let n = columns.len() as u64;
    let mut header = vec![0; 48];
    header[8..12].copy_from_slice(&1u32.to_le_bytes());
    header[12] = 1;
    header[24] = 1;
    header[28..32].copy_from_slice(&(n as u32).to_le_bytes());
    header[40..44].copy_from_slice(&(keys.len() as u32).to_le_bytes());
    header[44..48].copy_from_slice(b"PAAP");
    let mut key = vec![0; 8];
    keys.iter().for_each(|key_of| key.extend(key_of.to_le_bytes()));
    key.resize(key.len().next_multiple_of(8), 0);
    hash(&mut key);
    let chunkset_at = 48 + if keys.is_empty() { 0 } else { key.len() as u64 };
    header[32..40].copy_from_slice(&chunkset_at.to_le_bytes());
    hash(&mut header);
    let mut file = header;
    if !keys.is_empty() {
        file.extend(key);
    }
    let mut chunkset = vec![0; 80];
    chunkset[64..72].copy_from_slice(&n_rows.to_le_bytes());
    chunkset[72..76].copy_from_slice(&(n as u32).to_le_bytes());
    let lists: [fn(&Column) -> u16; 4] =
        [|column| column.class, |column| column.of, |column| column.of, |_| 4];
    lists
        .iter()
        .for_each(|list| chunkset.extend(columns.iter().flat_map(|column| list(column).to_le_bytes())));
    hash(&mut chunkset);
    file.extend(chunkset);
    let mut names = vec![0; 24];
    hash(&mut names);
    file.extend(names);
    if n > 0 {
        text(&mut file, &(0..n).map(|i| Some(format!("c{i}").into_bytes())).collect::<Vec<_>>(), 0, None);
    }
    let mut index = vec![0; 96];
    index[24] = 4;
    index[32..40].copy_from_slice(&(file.len() as u64 + 96).to_le_bytes());
    index[64..72].copy_from_slice(&n_rows.to_le_bytes());
    hash(&mut index);
    file.extend(index);
    let data_at = file.len();
    file.resize(data_at + 24 + 8 * columns.len(), 0);
    for (i, column) in columns.iter().enumerate() {
        let at = (file.len() as u64).to_le_bytes();
        file[data_at + 24 + 8 * i..][..8].copy_from_slice(&at);
        column_bytes(&mut file, column);
    }
    hash(&mut file[data_at..data_at + 24 + 8 * columns.len()]);
    file
}

fn column_bytes(file: &mut Vec<u8>, column: &Column) {
    let of_text =
        || (column.algorithm != 0).then_some([if column.algorithm == 1 { 2 } else { 4 }, column.algorithm]);
    let bytes_of = |values: &[i32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    match &column.values {
        Stored::Words4(values) => numbers(file, &bytes_of(values), 4, column),
        Stored::Words8(values) => {
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            numbers(file, &bytes, 8, column);
        }
        Stored::Bytes(values) => numbers(file, values, 1, column),
        Stored::Text(strings, encoding) => text(file, strings, *encoding, of_text()),
        Stored::Factor(codes, levels) => {
            let at = file.len();
            file.extend(1u32.to_le_bytes());
            file.extend((levels.len() as u32).to_le_bytes());
            file.extend([0; 8]);
            let levels: Vec<_> = levels.iter().map(|level| Some(level.clone().into_bytes())).collect();
            text(file, &levels, 2, None);
            let codes_at = (file.len() as u64).to_le_bytes();
            file[at + 8..at + 16].copy_from_slice(&codes_at);
            if !levels.is_empty() {
                numbers(file, &bytes_of(codes), 4, column);
            }
        }
    }
}

fn strings(texts: &[Option<Vec<u8>>]) -> Data {
    let mut strings = Strings::default();
    for text in texts {
        match text {
            Some(text) => strings.push(text, Mark::Utf8),
            None => strings.push_missing(),
        }
    }
    Data::Strings(Box::new(strings))
}

/// The vector that a column must give, without attributes.
fn expected(column: &Column) -> Data {
    match &column.values {
        Stored::Words4(values) if column.of == 10 => Data::Logical(values.clone()),
        Stored::Words4(values) | Stored::Factor(values, _) => Data::Integer(values.clone()),
        Stored::Words8(values) => Data::Double(values.iter().map(|&value| f64::from_bits(value)).collect()),
        Stored::Bytes(values) => Data::Raw(values.clone()),
        Stored::Text(texts, _) => strings(texts),
    }
}

/// A column of every form with `n` rows, from random words.
fn columns(n: usize, words: impl Fn(usize) -> u64) -> Vec<Column> {
    let mut columns = Vec::new();
    let words8 = || Stored::Words8((0..n).map(&words).collect());
    let words4 = || Stored::Words4((0..n).map(|i| words(i) as i32).collect());
    let some = |i: usize, value: i32| if words(i).is_multiple_of(7) { i32::MIN } else { value };
    let mut push = |of, class, values, algorithm, is_whole| {
        columns.push(Column { of, class, values, algorithm, is_whole });
    };
    for algorithm in [0, 1, 3, 5, 6] {
        push(9, 10, words8(), algorithm, algorithm == 0 && n.is_multiple_of(2));
    }
    for algorithm in [0, 1, 2, 3, 4] {
        push(8, 5, words4(), algorithm, algorithm == 0 && n.is_multiple_of(2));
    }
    for (algorithm, is_whole) in [(7, false), (8, false), (8, true), (9, false)] {
        let values = (0..n).map(|i| some(i, (words(i) >> 8 & 1) as i32)).collect();
        push(10, 15, Stored::Words4(values), algorithm, is_whole);
    }
    for (algorithm, is_whole) in [(10, false), (12, false), (12, true), (14, false)] {
        let codes = (0..n)
            .map(|i| some(i, (words(i) >> 8) as i32 % 100 + 1))
            .map(|code| if code == i32::MIN { code } else { code.abs().max(1) });
        let levels = (0..127).map(|i| format!("l{i}é")).collect();
        push(7, 3, Stored::Factor(codes.collect(), levels), algorithm, is_whole);
    }
    for (algorithm, is_whole) in [(11, false), (13, false), (13, true), (15, false)] {
        let codes = (0..n).map(|i| some(i, (words(i) >> 8 & 0x3ff) as i32 + 1));
        let levels = (0..1024).map(|i| format!("level {i}")).collect();
        push(7, 4, Stored::Factor(codes.collect(), levels), algorithm, is_whole);
    }
    push(7, 3, Stored::Factor(vec![i32::MIN; n], Vec::new()), 0, false);
    push(12, 18, Stored::Bytes((0..n).map(|i| words(i) as u8).collect()), 1, false);
    for algorithm in [0, 1, 3] {
        let texts = (0..n).map(|i| {
            (!words(i).is_multiple_of(5)).then(|| ("é".repeat(words(i) as usize % 9) + "x").into_bytes())
        });
        push(6, 2, Stored::Text(texts.collect(), 2), algorithm, false);
        push(
            6,
            2,
            Stored::Text((0..n).map(|i| Some(format!("row {i}").into_bytes())).collect(), 0),
            algorithm,
            false,
        );
    }
    columns
}

fn check(n: usize, words: impl Fn(usize) -> u64, rows: std::ops::Range<usize>) {
    let columns = columns(n, words);
    let bytes = table(&columns, n as u64, &[2, 0, 1]);
    let table = Table::open(&bytes).unwrap();
    assert_eq!((table.n_rows(), table.keys()), (n as u64, &[2, 0, 1][..]));
    let read = |rows: Option<std::ops::Range<u64>>, threads| {
        let selection = Selection { rows, ..Selection::default() };
        let Data::List(values) = table.read(&selection, threads, &Silent).unwrap().data else { panic!() };
        values
    };
    let (whole, part) = (read(None, 2), read(Some(rows.start as u64..rows.end as u64), 1));
    for (i, column) in columns.iter().enumerate() {
        let expected = Value::from(expected(column));
        let plain = |value: &Value| bits(&Value::from(value.data.clone()));
        let what = format!("{n} rows, column {i}, type {}, algorithm {}", column.of, column.algorithm);
        assert!(plain(&whole[i]) == bits(&expected), "{what}: {:?}", whole[i]);
        let of_rows = crate::table::rows(&expected, rows.clone());
        assert!(plain(&part[i]) == bits(&of_rows), "{what}, {rows:?}");
    }
}

#[test]
fn a_table_without_columns_or_rows_is_read() {
    let bytes = table(&[], 3, &[]);
    let value = Table::open(&bytes).unwrap().read(&Selection::default(), 2, &Silent).unwrap();
    assert_eq!(value.attribute("row.names").unwrap().data, Data::Integer(vec![i32::MIN, -3]));
    check(0, |_| 0, 0..0);
}

#[test]
fn classes_are_those_of_r() {
    let classes = [
        (8, 6, "POSIXct"),
        (8, 7, "difftime"),
        (8, 8, "IDate"),
        (8, 9, "ITime"),
        (9, 11, "Date"),
        (9, 12, "POSIXct"),
        (9, 13, "difftime"),
        (9, 14, "ITime"),
        (11, 16, "integer64"),
        (11, 17, "nanotime"),
    ];
    let values = |of| if of == 8 { Stored::Words4(vec![1]) } else { Stored::Words8(vec![1]) };
    let column = |&(of, class, _): &(u16, u16, &str)| Column {
        of,
        class,
        values: values(of),
        algorithm: 1,
        is_whole: false,
    };
    let bytes = table(&classes.iter().map(column).collect::<Vec<_>>(), 1, &[]);
    let frame = Table::open(&bytes).unwrap().read(&Selection::default(), 1, &Silent).unwrap();
    let Data::List(columns) = &frame.data else { panic!() };
    for (column, (_, of, class)) in columns.iter().zip(classes) {
        assert!(column.inherits(class), "{class}");
        assert_eq!(column.is_s4, of == 17);
        let units = column.attribute("units").and_then(Value::strings);
        assert_eq!(units.and_then(|units| units.get(0)), (class == "difftime").then_some("secs"));
    }
}

#[test]
fn a_code_without_level_is_damage() {
    let column = |codes: Vec<i32>| Column {
        of: 7,
        class: 3,
        values: Stored::Factor(codes, vec!["a".into(), "b".into()]),
        algorithm: 1,
        is_whole: false,
    };
    for (codes, is_right) in [
        (vec![1, 2, i32::MIN], true),
        (vec![0, 1, 1], false),
        (vec![1, 3, 1], false),
        (vec![-1, 1, 1], false),
    ] {
        let bytes = table(&[column(codes)], 3, &[]);
        assert_eq!(Table::open(&bytes).unwrap().read(&Selection::default(), 1, &Silent).is_ok(), is_right);
    }
}

/// The seed of the fuzz target. `WRITE_SEED=1` writes it again.
#[test]
fn the_small_file_is_read() {
    let words = |i: usize| (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 5;
    if std::env::var_os("WRITE_SEED").is_some() {
        let columns: Vec<Column> = columns(70, words)
            .into_iter()
            .filter(|column| !matches!(&column.values, Stored::Factor(_, levels) if levels.len() > 200))
            .collect();
        let path =
            [env!("CARGO_MANIFEST_DIR"), "tests", "data", "small.fst"].iter().collect::<std::path::PathBuf>();
        std::fs::write(path, table(&columns, 70, &[2, 0, 1])).unwrap();
    }
    let bytes = crate::common::file("small.fst");
    let table = Table::open(&bytes).unwrap();
    assert_eq!((table.n_rows(), table.names().len()), (70, 26));
    assert!(table.read(&Selection::default(), 1, &Silent).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn tables_of_a_naive_writer_are_read(n in 1usize..9000, seed in any::<u64>(), start in 0usize..9000, len in 0usize..9000) {
        let words = |i: usize| (i as u64 / 3 + 1).wrapping_mul(seed | 1).rotate_left(23).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let start = start.min(n);
        check(n, words, start..(start + len).min(n));
    }
}

/// Measures how fast columns are read:
/// `cargo test --release -p entasis-convert -- --ignored speed`.
#[test]
#[ignore = "a measurement"]
fn speed_of_fst() {
    let n = 4_000_000;
    let words = |i: usize| ((i / 3) as f64 * 0.25).to_bits();
    for (what, of, algorithm) in [
        ("double plain", 9, 0),
        ("double LZ4", 9, 1),
        ("double LZ4 planes", 9, 5),
        ("double zstd planes", 9, 6),
        ("integer LZ4 planes", 8, 2),
        ("logical LZ4", 10, 7),
        ("factor LZ4", 7, 10),
        ("text LZ4", 6, 1),
    ] {
        let values = match of {
            9 => Stored::Words8((0..n).map(words).collect()),
            6 => Stored::Text((0..n).map(|i| Some(format!("row-{}", i % 1000).into_bytes())).collect(), 0),
            10 => Stored::Words4((0..n).map(|i| i as i32 / 3 % 2).collect()),
            7 => Stored::Factor(
                (0..n).map(|i| i as i32 % 9 + 1).collect(),
                ["a"; 20].map(str::to_owned).to_vec(),
            ),
            _ => Stored::Words4((0..n).map(|i| i as i32 / 3).collect()),
        };
        let bytes = table(&[Column { of, class: of, values, algorithm, is_whole: false }], n as u64, &[]);
        let table = Table::open(&bytes).unwrap();
        for threads in [1, 2] {
            let best = (0..5).map(|_| {
                let start = Instant::now();
                let value = table.read(&Selection::default(), threads, &Silent).unwrap();
                (start.elapsed(), value).0
            });
            let seconds = best.min().unwrap().as_secs_f64();
            let width = match of {
                9 => 8.0,
                6 => 15.0,
                _ => 4.0,
            };
            println!("{what}, {threads} threads: {:.0} MB/s", n as f64 * width / seconds / 1e6);
        }
    }
}
