//! Tables of few rows that grow in place: their rows lie in several pieces, and an append of a row
//! costs little.

use std::path::{Path, PathBuf};

use crate::common::{Memory, Model, by_tier, check, frame_of, indices, read_wide};
use entasis::{
    Change, ColumnSource, Durable, File, Matrix, MissingTo, Operation, Output, Physical, Request, Rows, Side,
    Silent, WriteOptions, compact,
};

struct Temp(PathBuf);

impl Temp {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("entasis-pieces-{}-{name}", std::process::id())))
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn options(compression: u8) -> WriteOptions {
    WriteOptions { compression: Some(compression), durable: Durable::Never, ..WriteOptions::default() }
}

fn noise(i: usize) -> u64 {
    (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23).wrapping_mul(0xD134_2543_DE82_EF95)
}

type Columns = Vec<(String, Model)>;

/// Three columns of each of several types, and one that no bundle has.
fn columns(rows: std::ops::Range<usize>) -> Columns {
    let mut columns = Vec::new();
    for c in 0..3 {
        let values = || rows.clone().map(move |i| noise(i * 8 + c));
        let is_there = |i: usize| noise(i * 8 + c) % 5 != 1;
        let from = rows.start;
        let i64s: Vec<i64> = values().map(|v| (v % 5000) as i64).collect();
        let i32s: Vec<i32> = values().map(|v| (v % 100) as i32 - 50).collect();
        let f64s: Vec<f64> = values().map(|v| (v % 10_000) as f64 / 100.0).collect();
        let bools: Vec<bool> = values().map(|v| v % 3 == 0).collect();
        let texts: Vec<String> = values().map(|v| format!("{:x}", v >> (v % 60))).collect();
        let few: Vec<String> = values().map(|v| format!("value {}", v % 7)).collect();
        let mut add = |name: &str, model| columns.push((format!("{name} {c}"), model));
        add("i64", Model::words(Physical::I64, &i64s));
        add("i32", Model::words(Physical::I32, &i32s).with_missing(|i| is_there(from + i)));
        add("f64", Model::words(Physical::F64, &f64s));
        add("bool", Model::bools(&bools).with_missing(|i| c != 1 || is_there(from + i)));
        add("text", Model::text(&texts).with_missing(|i| is_there(from + i)));
        let mut few = Model::text(&few);
        few.physical = Physical::Binary;
        add("few", few);
    }
    columns.push((
        "alone".to_owned(),
        Model::words(Physical::U8, &rows.map(|i| noise(i) as u8).collect::<Vec<_>>()),
    ));
    columns
}

fn borrowed(columns: &Columns) -> Vec<(&str, Model)> {
    columns.iter().map(|(name, model)| (name.as_str(), model.clone())).collect()
}

fn write(path: &Path, columns: &Columns, options: &WriteOptions) {
    let columns = borrowed(columns);
    let memory: Vec<Memory> = columns.iter().map(|(_, model)| Memory::new(model)).collect();
    entasis::write(path, &frame_of(&columns, &memory), options, &Silent).unwrap();
}

fn append(path: &Path, columns: &Columns, options: &WriteOptions) {
    let columns = borrowed(columns);
    let memory: Vec<Memory> = columns.iter().map(|(_, model)| Memory::new(model)).collect();
    let change = Change::begin(path, options, &Silent).unwrap();
    let content = change.append(frame_of(&columns, &memory), &[]).unwrap();
    change.commit(content, Operation::Append, options, &Silent).unwrap();
}

/// A file with rows up to each of the ends. Its second generation has slot pages, and the same rows
/// as the first one.
fn grown(name: &str, ends: &[usize], options: &WriteOptions) -> Temp {
    let path = Temp::new(name);
    write(&path.0, &columns(0..ends[0]), options);
    let change = Change::begin(&path.0, options, &Silent).unwrap();
    let content = change.kept().unwrap();
    change.commit(content, Operation::Metadata, options, &Silent).unwrap();
    for pair in ends.windows(2) {
        append(&path.0, &columns(pair[0]..pair[1]), options);
    }
    path
}

fn lens(file: &File) -> Vec<u64> {
    let pieces = file.pieces().unwrap();
    pieces.iter().flat_map(|pieces| pieces.rows()).map(|rows| rows.end - rows.start).collect()
}

#[test]
fn rows_in_pieces_are_read_in_any_selection() {
    let ends = [201, 700, 701, 950, 951, 952];
    for compression in [0, 50] {
        let path = grown(&format!("selections-{compression}"), &ends, &options(compression));
        let file = File::open(&path.0).unwrap();
        assert_eq!(lens(&file), [201, 499, 1, 249, 1, 1]);
        let n = 952;
        for (number, (name, model)) in columns(0..n).iter().enumerate() {
            let column = number as u64;
            let n = n as u64;
            assert_eq!(file.column(column).unwrap().name, *name);
            check(&file, column, model, &Rows::All, 2);
            for rows in [0..1, 0..201, 201..702, 199..203, 690..703, 701..n, n - 1..n, 300..300, 5..n - 1] {
                check(&file, column, model, &Rows::Range(rows), 1);
            }
            for (start, step) in [(0, 3), (n - 1, -1), (200, 1), (7, 201)] {
                let n = if step > 0 { (n - start).div_ceil(step as u64) } else { n };
                check(&file, column, model, &Rows::Step { start, n, step }, 1);
            }
            check(&file, column, model, &indices((0..n).step_by(7)), 1);
            check(&file, column, model, &indices((0..3000).map(|i| noise(i) % n)), 2);
            check(&file, column, model, &indices([701, 200, 201, 950, 0, 951, 200]), 1);
        }
        file.verify(None, &Silent).unwrap();
    }
}

/// All columns in one request, as bits and as wider integers.
#[test]
fn bits_and_wide_integers_of_pieces() {
    let path = grown("bits", &[101, 103, 510, 511, 777], &options(50));
    let file = File::open(&path.0).unwrap();
    assert!(lens(&file).len() > 2);
    let of = columns(0..777);
    let range = 100..776u64;
    let n = (range.end - range.start) as usize;
    let bools: Vec<usize> = (0..of.len()).filter(|&c| of[c].1.physical == Physical::Bool).collect();
    let mut memory: Vec<_> =
        bools.iter().map(|_| (vec![0xFFu8; n.div_ceil(8)], vec![0xFFu8; n.div_ceil(8)])).collect();
    let requests = bools.iter().zip(&mut memory).map(|(&column, (bits, valid))| Request {
        column: column as u64,
        rows: Rows::Range(range.clone()),
        output: Output::Bits(bits),
        missing: MissingTo::Bits(valid),
    });
    file.read(requests.collect(), Some(2), &Silent).unwrap();
    for (&column, (bits, valid)) in bools.iter().zip(&memory) {
        for i in 0..n {
            let bit = |bytes: &[u8]| bytes[i / 8] >> (i % 8) & 1 == 1;
            let got = bit(valid).then(|| vec![u8::from(bit(bits))]);
            assert_eq!(got, of[column].1.get(range.start as usize + i), "column {column}, row {i}");
        }
    }
    for (column, (_, model)) in
        of.iter().enumerate().filter(|(_, (_, model))| model.physical == Physical::I32)
    {
        let (bytes, valid) = read_wide(&file, column as u64, &Rows::Range(range.clone()), 8).unwrap();
        for (i, wide) in bytes.as_chunks::<8>().0.iter().enumerate() {
            let narrow = model.get(range.start as usize + i);
            assert_eq!(valid[i / 8] >> (i % 8) & 1 == 1, narrow.is_some());
            if let Some(narrow) = narrow {
                assert_eq!(wide[..4], narrow[..]);
            }
        }
    }
}

#[test]
fn matrices_of_pieces() {
    let path = grown("matrices", &[301, 500], &options(50));
    let file = File::open(&path.0).unwrap();
    assert_eq!(lens(&file), [301, 199]);
    let of = columns(0..500);
    for group in file.groups().unwrap().groups.iter().filter(|group| !group.has_missing) {
        assert_eq!(group.storage, None);
        let models: Vec<&Model> = group.columns.iter().map(|&column| &of[column as usize].1).collect();
        let width = models[0].physical.width().unwrap();
        let mut out = vec![7u8; 500 * models.len() * width];
        let columns = Side::Each(group.columns.clone());
        file.read_matrices(vec![Matrix { columns, out: &mut out, sentinel: None }], Some(2), &Silent)
            .unwrap();
        let expected: Vec<u8> =
            (0..500).flat_map(|row| models.iter().flat_map(move |model| model.get(row).unwrap())).collect();
        assert!(out == expected);
        if let Some(column) = file.column(group.columns[0]).unwrap().record.storage {
            let n = models.len();
            let matrix =
                Matrix { columns: Side::Stored { column, first: 0, n }, out: &mut out, sentinel: None };
            assert!(file.read_matrices(vec![matrix], Some(1), &Silent).is_err());
        }
    }
}

#[test]
fn extents_lie_in_one_piece() {
    let path = grown("extents", &[301, 500], &options(0));
    let file = File::open(&path.0).unwrap();
    let bytes = std::fs::read(&path.0).unwrap();
    for (number, (name, model)) in
        columns(0..500).iter().enumerate().filter(|(_, (name, _))| name.starts_with("i64"))
    {
        let column = number as u64;
        for rows in [0..301usize, 301..500, 20..30, 400..401] {
            let extent = file.extent(column, rows.start as u64..rows.end as u64).unwrap();
            let mapped = &bytes[extent.at as usize..(extent.at + extent.len) as usize];
            let expected: Vec<u8> = rows.flat_map(|row| model.get(row).unwrap()).collect();
            assert!(mapped == expected, "{name}");
        }
        let error = file.extent(column, 300..302).unwrap_err();
        assert!(error.to_string().contains("compact"), "{error}");
    }
}

/// Changes that add no rows keep the pieces, or bundle all anew.
#[test]
fn other_changes_of_pieces() {
    let options = options(50);
    let ends = [201, 700, 701];
    let path = grown("others", &ends, &options);
    let all = columns(0..701);
    let n = all.len();
    let len = |path: &Path| std::fs::metadata(path).unwrap().len();
    let before = len(&path.0);
    // Renamed.
    let mut names: Vec<String> = all.iter().map(|(name, _)| name.clone()).collect();
    names[4] = "renamed".to_owned();
    let change = Change::begin(&path.0, &options, &Silent).unwrap();
    let nothing = frame_of(&[], &[]);
    let sources: Vec<_> = (0..n).map(ColumnSource::Kept).collect();
    let content = change.with_columns(nothing, &sources, names.clone()).unwrap();
    change.commit(content, Operation::RenameColumns, &options, &Silent).unwrap();
    let file = File::open(&path.0).unwrap();
    assert_eq!(lens(&file), [201, 499, 1]);
    assert!(len(&path.0) - before < 8192, "a new name takes {} bytes", len(&path.0) - before);
    assert_eq!(file.column(4).unwrap().name, "renamed");
    // A column that shares no bundle is dropped.
    let change = Change::begin(&path.0, &options, &Silent).unwrap();
    let content =
        change.with_columns(frame_of(&[], &[]), &sources[..n - 1], names[..n - 1].to_vec()).unwrap();
    change.commit(content, Operation::DropColumns, &options, &Silent).unwrap();
    assert_eq!(lens(&File::open(&path.0).unwrap()), [201, 499, 1]);
    // A member of a bundle is dropped.
    let change = Change::begin(&path.0, &options, &Silent).unwrap();
    let content =
        change.with_columns(frame_of(&[], &[]), &sources[1..n - 1], names[1..n - 1].to_vec()).unwrap();
    change.commit(content, Operation::DropColumns, &options, &Silent).unwrap();
    let file = File::open(&path.0).unwrap();
    assert_eq!(lens(&file), [0; 0]);
    let hold = |file: &File, columns: &[(String, Model)]| {
        for (column, (_, model)) in columns.iter().enumerate() {
            check(file, column as u64, model, &Rows::All, 1);
        }
        file.verify(None, &Silent).unwrap();
    };
    hold(&file, &all[1..n - 1]);
    // A rollback has the pieces of its generation.
    Change::begin(&path.0, &options, &Silent).unwrap().rollback(4, &options, &Silent).unwrap();
    let file = File::open(&path.0).unwrap();
    assert_eq!(lens(&file), [201, 499, 1]);
    hold(&file, &all);
    append(&path.0, &columns(701..702), &options);
    assert_eq!(lens(&File::open(&path.0).unwrap()), [201, 499, 1, 1]);
    compact(&path.0, &options, &Silent).unwrap();
    let file = File::open(&path.0).unwrap();
    assert_eq!(lens(&file), [0; 0]);
    hold(&file, &columns(0..702));
    let bytes = std::fs::read(&path.0).unwrap();
    compact(&path.0, &options, &Silent).unwrap();
    assert!(std::fs::read(&path.0).unwrap() == bytes);
}

/// The missing rows of a file with damaged blocks are those of the blocks.
#[test]
fn damage_of_a_piece() {
    let path = grown("damage", &[201, 700, 701], &options(50));
    let file = File::open(&path.0).unwrap();
    let of = columns(0..701);
    let (column, model) = (2, &of[2].1);
    let storage = file.column(column).unwrap().record.storage.unwrap();
    let block = file.whole().blocks(storage).unwrap()[1];
    assert_eq!(block.first_value, 3 * 201);
    let mut bytes = std::fs::read(&path.0).unwrap();
    bytes[block.pages_at as usize + 40] ^= 1;
    std::fs::write(&path.0, &bytes).unwrap();
    let file = File::open(&path.0).unwrap();
    let survey = file.survey(Some(1), &Silent).unwrap();
    let damaged: Vec<_> = survey.damages.iter().filter(|damage| damage.generation.is_none()).collect();
    assert_eq!(damaged.len(), 3);
    assert!(damaged.iter().all(|damage| damage.values == Some(201..700)));
    let (view, _) = file.without_damage(Some(1), &Silent).unwrap();
    let lost = model.clone().with_missing(|i| !(201..700).contains(&i));
    check(&view, column, &lost, &Rows::All, 1);
    check(&view, 0, &of[0].1, &Rows::All, 1);
    let out = Temp::new("damage-repaired");
    file.repair(&out.0, &options(50), &Silent).unwrap();
    let repaired = File::open(&out.0).unwrap();
    check(&repaired, column, &lost, &Rows::All, 1);
    check(&repaired, 4, &of[4].1, &Rows::All, 1);
    repaired.verify(None, &Silent).unwrap();
}

/// 1,000 columns of prices, amounts and rates. With `missing`, every column has another number of
/// missing values.
fn wide(rows: std::ops::Range<usize>, missing: bool) -> Columns {
    (0..1000).map(|c| wide_column(c, rows.clone(), missing)).collect()
}

fn wide_column(c: usize, rows: std::ops::Range<usize>, missing: bool) -> (String, Model) {
    let values = rows.clone().map(|i| noise(i * 1000 + c));
    let model = match c % 4 {
        0 | 1 => {
            let prices: Vec<f64> = values.map(|v| (v % 100_000) as f64 / 100.0).collect();
            Model::words(Physical::F64, &prices)
        }
        2 => Model::words(Physical::I64, &values.map(|v| (v % 5000) as i64).collect::<Vec<_>>()),
        _ => Model::words(Physical::F32, &values.map(|v| (v % 1000) as f32 / 10.0).collect::<Vec<_>>()),
    };
    let first = rows.start;
    let model = if missing {
        model.with_missing(|i| !noise((first + i) * 1000 + c).is_multiple_of(2 + c as u64 % 50))
    } else {
        model
    };
    (format!("measurement {c:04}"), model)
}

/// An append of a row to 1,000 columns adds at most 40 kB to a file.
#[test]
fn a_row_of_many_columns_takes_few_bytes() {
    for (n, missing) in [(300, false), (3000, false), (500, true)] {
        let options = options(50);
        let path = Temp::new(&format!("wide-{n}"));
        write(&path.0, &wide(0..n, missing), &options);
        let len = || std::fs::metadata(&path.0).unwrap().len();
        // Keeps a copy of the file for a look at its sections.
        let keep = |name: &str| {
            if let Some(folder) = std::env::var_os("ENTASIS_KEEP") {
                std::fs::copy(&path.0, Path::new(&folder).join(format!("{name}-{n}"))).unwrap();
            }
        };
        let first = len();
        append(&path.0, &wide(n..n + 1, missing), &options);
        let one = len() - first;
        keep("one");
        assert!(one <= 40_000, "the first row takes {one} bytes, the file {first}");
        let (before, mut most) = (len(), 0);
        let n_more = by_tier(60, 200);
        for i in 1..=n_more {
            let before = len();
            append(&path.0, &wide(n + i..n + i + 1, missing), &options);
            most = most.max(len() - before);
            if i == 1 {
                keep("two");
            }
        }
        let mean = (len() - before) / n_more as u64;
        if std::env::var_os("ENTASIS_KEEP").is_some() {
            println!("{n} rows: {first} bytes, a row takes {one}, of {n_more} rows {mean}, at most {most}");
        }
        assert!(mean <= 40_000, "a row takes {mean} bytes on average");
        let file = File::open(&path.0).unwrap();
        assert!(lens(&file).len() <= 24, "{:?}", lens(&file));
        for column in [0, 1, 2, 499, 999] {
            let (_, model) = wide_column(column, 0..n + 1 + n_more, missing);
            check(&file, column as u64, &model, &Rows::All, 1);
        }
        file.verify(None, &Silent).unwrap();
    }
}
