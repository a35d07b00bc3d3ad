//! Tables that stay in memory are read as the files that are made of them.

use std::path::Path;

use entasis::{
    ColumnInfo, File, Held, HostRead, Limits, MemorySource, MissingTo, Output, Physical, Request, Rows,
    Silent, Text, TextLayout, count_ones,
};
use entasis_convert::r::{Data, Mark, Strings, Value, Values};
use entasis_convert::{Opened, Parts, hold_values};

use crate::windows::long;

const N: usize = 200_003;

/// Lends values to the writer.
fn lend(bytes: &[u8]) -> HostRead {
    // SAFETY: the values stay in the held table, or until the file is written.
    unsafe { HostRead::new(bytes.as_ptr(), bytes.len()) }
}

fn mixed(row: usize) -> u64 {
    let x = (row as u64).wrapping_add(0x9E37_79B9_7F4A_7C15).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x ^ x >> 31
}

fn column<T>(n: usize, value: impl Fn(u64) -> T) -> Vec<T> {
    (0..n).map(|row| value(mixed(row))).collect()
}

fn texts(all: &[&str]) -> Data {
    Data::Strings(Box::new(all.iter().copied().collect()))
}

fn classed(data: Data, classes: &[&str]) -> Value {
    Value::from(data).with("class", texts(classes))
}

fn strings(n: usize, text: impl Fn(usize) -> Option<(String, Mark)>) -> Data {
    let mut strings = Strings::default();
    for row in 0..n {
        match text(row) {
            Some((text, mark)) => strings.push(text.as_bytes(), mark),
            None => strings.push_missing(),
        }
    }
    Data::Strings(Box::new(strings))
}

/// A column of each kind, with and without missing values.
fn columns(n: usize) -> Vec<(&'static str, Value)> {
    let na = f64::from_bits(0x7FF0_0000_0000_07A2);
    let quiet = f64::from_bits(0x7FF8_0000_0000_07A2);
    let int = |x: u64| (x >> 40) as i32;
    let or_na = |x: u64, value: i32| if x.is_multiple_of(7) { i32::MIN } else { value };
    let levels: Vec<String> = (0..300).map(|i| format!("level {i}")).collect();
    let levels: Vec<&str> = levels.iter().map(String::as_str).collect();
    let factor = |data, n: usize, classes: &[&str]| {
        Value::from(data).with("levels", texts(&levels[..n])).with("class", texts(classes))
    };
    let time = |data| classed(data, &["POSIXct", "POSIXt"]).with("tzone", texts(&["Europe/Zurich"]));
    let span = |data, units| classed(data, &["difftime"]).with("units", texts(&[units]));
    let word = |row: usize| format!("{}{}", "gr\u{fc}n ".repeat(mixed(row) as usize % 4), mixed(row) % 100);
    vec![
        ("int", Data::Integer(column(n, int)).into()),
        ("int_na", Data::Integer(column(n, |x| or_na(x, int(x)))).into()),
        ("dbl", Data::Double(column(n, |x| x as f64)).into()),
        ("dbl_na", Data::Double(column(n, |x| if x % 5 == 0 { na } else { x as f64 })).into()),
        ("dbl_quiet", Data::Double(column(n, |x| [quiet, 1.5, -0.0, f64::INFINITY][x as usize % 4])).into()),
        ("dbl_both", Data::Double(column(n, |x| [na, quiet, f64::NAN, 2.0][x as usize % 4])).into()),
        ("lgl", Data::Logical(column(n, |x| i32::from(x.is_multiple_of(2)))).into()),
        ("lgl_na", Data::Logical(column(n, |x| or_na(x, (x % 2) as i32))).into()),
        ("all_na", Data::Logical(vec![i32::MIN; n]).into()),
        ("cplx", Data::Complex(column(n, |x| [x as f64, na])).into()),
        ("raw", Data::Raw(column(n, |x| x as u8)).into()),
        ("i64", classed(Data::Double(column(n, f64::from_bits)), &["integer64"])),
        ("i64_na", classed(Data::Double(column(n, |x| f64::from_bits((x % 3) << 63))), &["integer64"])),
        ("fac", factor(Data::Integer(column(n, |x| (x % 5) as i32 + 1)), 5, &["factor"])),
        ("fac_na", factor(Data::Integer(column(n, |x| or_na(x, (x % 300) as i32 + 1))), 300, &["factor"])),
        ("ord", factor(Data::Integer(column(n, |x| (x % 9) as i32 + 1)), 9, &["ordered", "factor"])),
        (
            "date",
            classed(
                Data::Double(column(n, |x| if x % 9 == 0 { na } else { (x % 40_000) as f64 })),
                &["Date"],
            ),
        ),
        ("idate", classed(Data::Integer(column(n, |x| or_na(x, int(x) % 40_000))), &["IDate", "Date"])),
        ("time", time(Data::Double(column(n, |x| (x % 2_000_000_000) as f64 + 0.25)))),
        ("time_na", time(Data::Double(column(n, |x| if x % 9 == 0 { na } else { (x % 1_000) as f64 })))),
        ("time_dbl", time(Data::Double(column(n, |x| x as f64 / 7.0)))),
        ("time_int", time(Data::Integer(column(n, |x| or_na(x, int(x)))))),
        ("span", span(Data::Double(column(n, |x| (x % 50) as f64 / 2.0)), "hours")),
        ("span_int", span(Data::Integer(column(n, |x| or_na(x, int(x) % 100))), "mins")),
        ("str", strings(n, |row| Some((word(row), Mark::Utf8))).into()),
        ("str_na", strings(n, |row| (row % 3 > 0).then(|| (word(row), Mark::Utf8))).into()),
        ("str_native", strings(n, |row| (row % 3 > 0).then(|| (word(row), Mark::Native))).into()),
        ("str_empty", strings(n, |_| Some((String::new(), Mark::Utf8))).into()),
        ("str_none", strings(n, |_| None).into()),
    ]
}

fn frame(columns: Vec<(&str, Value)>, row_names: Data) -> Values {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let names = texts(&names);
    let items = columns.into_iter().map(|(_, value)| value).collect();
    let value = Value::from(Data::List(items))
        .with("names", names)
        .with("class", texts(&["data.frame"]))
        .with("row.names", row_names);
    Values { value, environments: Vec::new() }
}

fn held(values: Values) -> Held {
    match hold_values(values, Path::new("x.rds"), Limits::default(), &lend, &Silent).unwrap() {
        Opened::Held(held) => held,
        Opened::File(_) => panic!("the table is not held"),
    }
}

/// Whether a bit is 1 at the places of values that are there.
fn missing(bits: &[u8], n: usize) -> Vec<bool> {
    (0..n).map(|i| bits[i / 8] >> (i % 8) & 1 == 0).collect()
}

fn ask<'a>(info: &ColumnInfo, read: &dyn Fn(Request<'_>), output: Output<'a>, missing: MissingTo<'a>) {
    read(Request { column: info.index, rows: Rows::All, output, missing });
}

/// Reads a column by a function that fulfils requests, in each form that hosts ask for. In the
/// place of missing values there is 0.
fn forms(info: &ColumnInfo, read: &dyn Fn(Request<'_>)) -> Vec<Vec<u8>> {
    let n = info.record.n_values as usize;
    let of = info.record.column_type;
    let mut bits = vec![0u8; n.div_ceil(8)];
    let mut mask = vec![9u8; n];
    let mut all = Vec::new();
    if of.physical == Physical::Bool {
        let (mut values, mut packed) = (vec![9u8; n], vec![0u8; n.div_ceil(8)]);
        ask(info, read, Output::Bools(&mut values), MissingTo::Mask(&mut mask));
        values.iter_mut().zip(&mask).filter(|(_, mask)| **mask > 0).for_each(|(value, _)| *value = 0);
        ask(info, read, Output::Bits(&mut packed), MissingTo::Bits(&mut bits));
        packed.iter_mut().zip(&bits).for_each(|(byte, valid)| *byte &= valid);
        all.extend([values, packed]);
    } else if let Some(width) = of.layout().width() {
        let mut words = vec![0u128; (n * width).div_ceil(16)];
        let values: &mut [u8] = &mut bytemuck::cast_slice_mut(&mut words)[..n * width];
        ask(info, read, Output::Words(values), MissingTo::Mask(&mut mask));
        for (value, _) in values.chunks_exact_mut(width).zip(&mask).filter(|(_, mask)| **mask > 0) {
            value.fill(0);
        }
        all.push(values.to_vec());
        ask(info, read, Output::Words(values), MissingTo::Bits(&mut bits));
        if width <= 8 {
            ask(info, read, Output::Words(values), MissingTo::Sentinel(0x8182_8384_8586_8788));
            all.push(values.to_vec());
        }
        if info.record.n_missing == 0 {
            ask(info, read, Output::Words(values), MissingTo::Ignore);
            all.push(values.to_vec());
        }
    }
    assert_eq!(missing(&bits, n), mask.iter().map(|&mask| mask == 1).collect::<Vec<_>>());
    all.extend([mask, bits]);
    all
}

/// The strings of a column in a layout, `None` for a missing one.
fn strings_of(file: &File, info: &ColumnInfo, layout: TextLayout) -> Vec<Option<Vec<u8>>> {
    let n = info.record.n_values as usize;
    let (mut text, mut bits) = (Text::new(layout), vec![0u8; n.div_ceil(8)]);
    let request = Request {
        column: info.index,
        rows: Rows::All,
        output: Output::Text(&mut text),
        missing: MissingTo::Bits(&mut bits),
    };
    file.read(vec![request], None, &Silent).unwrap();
    let gone = missing(&bits, n);
    (0..n).map(|i| (!gone[i]).then(|| text.get(i).unwrap().to_vec())).collect()
}

/// The same of shared buffers.
fn shared_strings(held: &Held, info: &ColumnInfo, layout: TextLayout) -> Vec<Option<Vec<u8>>> {
    let n = info.record.n_values as usize;
    let shared = held.shared(info.index, layout, None, &Silent).unwrap().unwrap();
    let gone = shared.validity.as_ref().map_or(vec![false; n], |bits| missing(bits, n));
    let [offsets, bytes] = &shared.buffers[..] else { panic!("two buffers") };
    let word = |at: usize| u32::from_le_bytes(offsets[at..at + 4].try_into().unwrap()) as usize;
    let string = |i: usize| match layout {
        TextLayout::Views if word(16 * i) <= 12 => offsets[16 * i + 4..][..word(16 * i)].to_vec(),
        TextLayout::Views => bytes[word(16 * i + 12)..][..word(16 * i)].to_vec(),
        _ => bytes[word(8 * i)..word(8 * i + 8)].to_vec(),
    };
    (0..n).map(|i| (!gone[i]).then(|| string(i))).collect()
}

/// Compares all that hosts ask a held table for with the file that is made of it.
fn assert_same(held: &Held) {
    let file = held.file(&Silent).unwrap();
    assert_eq!(held.n_rows(), file.n_rows());
    assert_eq!(held.schema().host().unwrap(), file.host().unwrap());
    assert_eq!(held.schema().n_columns_total(), file.n_columns_total());
    for number in 0..file.n_columns_total() {
        let theirs = file.column(number).unwrap();
        let mut ours = (*held.schema().column(number).unwrap()).clone();
        held.correct(&mut ours);
        assert_eq!((&ours.name, &ours.detail), (&theirs.name, &theirs.detail));
        let facts = |info: &ColumnInfo| {
            let record = &info.record;
            (record.column_type, record.n_values, record.n_missing, record.dictionary)
        };
        assert_eq!(facts(&ours), facts(&theirs), "{}", ours.name);
        if ours.record.column_type.physical == Physical::Utf8 {
            for layout in [TextLayout::Large, TextLayout::Views] {
                let found = match number < file.n_columns() {
                    true => shared_strings(held, &ours, layout),
                    false => strings_of(held.schema(), &ours, layout),
                };
                assert!(found == strings_of(&file, &theirs, layout), "{}", ours.name);
            }
            continue;
        }
        let wanted = forms(&theirs, &|request| file.read(vec![request], None, &Silent).unwrap());
        let found = forms(&ours, &|request| held.read(vec![request], None, &Silent).unwrap());
        assert!(wanted == found, "{}", ours.name);
        if let Some(shared) = held.shared(number, TextLayout::Large, None, &Silent).unwrap() {
            let n = ours.record.n_values as usize;
            let n_missing = shared.validity.as_ref().map_or(0, |bits| n - count_ones(bits, 0, n));
            assert_eq!(n_missing as u64, ours.record.n_missing);
            if let Some(bits) = &shared.validity {
                assert!(wanted.last().unwrap()[..] == bits[..], "{}", ours.name);
            }
            // The words of missing values are not reported.
            let width = shared.buffers[0].len() / n;
            let gone = shared.validity.as_ref().map_or(vec![false; n], |bits| missing(bits, n));
            let mut words = shared.buffers[0].to_vec();
            words
                .chunks_exact_mut(width)
                .zip(gone)
                .filter(|(_, gone)| *gone)
                .for_each(|(word, _)| word.fill(0));
            assert!(wanted[0] == words, "{}", ours.name);
        }
    }
}

#[test]
fn columns_of_all_kinds_are_those_of_the_file() {
    let row_names = Data::Integer(vec![i32::MIN, -(N as i32)]);
    assert_same(&held(frame(columns(N), row_names)));
}

#[test]
fn labels_and_matrices_are_those_of_the_file() {
    let n = 9_001;
    let dim = Data::Integer(vec![n as i32, 3]);
    let matrix = Value::from(Data::Double(column(3 * n, |x| x as f64))).with("dim", dim);
    let inner = frame(
        vec![("a", Data::Integer(column(n, |x| x as i32)).into())],
        Data::Integer(vec![i32::MIN, -(n as i32)]),
    );
    let row_names = strings(n, |row| Some((format!("row {row}"), Mark::Utf8)));
    assert_same(&held(frame(vec![("m", matrix), ("f", inner.value)], row_names)));
}

#[test]
fn a_vector_is_held() {
    for (_, value) in columns(10_000) {
        assert_same(&held(Values { value, environments: Vec::new() }));
    }
}

#[test]
fn other_values_become_files() {
    let is_held = |values| {
        let opened = hold_values(values, Path::new("x.rds"), Limits::default(), &lend, &Silent);
        matches!(opened.unwrap(), Opened::Held(_))
    };
    let list = vec![Value::default(); 10_000];
    let row_names = || Data::Integer(vec![i32::MIN, -10_000]);
    assert!(!is_held(frame(vec![("list", Data::List(list).into())], row_names())));
    assert!(!is_held(frame(
        vec![("int", Data::Integer(vec![1; 100]).into())],
        Data::Integer(vec![i32::MIN, -100])
    )));
    assert!(is_held(frame(vec![("int", Data::Integer(vec![1; 10_000]).into())], row_names())));
}

#[test]
fn codes_without_levels_are_the_error_of_the_file() {
    let factor = Value::from(Data::Integer(vec![7; 10_000]))
        .with("levels", texts(&["a"]))
        .with("class", texts(&["factor"]));
    let values = frame(vec![("f", factor)], Data::Integer(vec![i32::MIN, -10_000]));
    let error = hold_values(values, Path::new("x.rds"), Limits::default(), &lend, &Silent).unwrap_err();
    assert!(error.to_string().contains("column \"f\""), "{error}");
}

#[test]
fn parts_of_fst_are_held() {
    let source = Box::new(MemorySource::new(long()));
    let parts = Parts::of_source(source, Path::new("x.fst"), Limits::default()).unwrap();
    for (columns, rows) in [(None, 0..100_000), (Some(vec![3, 2, 2]), 50..90_001)] {
        let Opened::Held(held) = parts.hold(columns.as_deref(), rows.clone(), &lend, &Silent).unwrap() else {
            panic!("the part is not held");
        };
        assert_eq!(held.n_rows(), rows.end - rows.start);
        assert_same(&held);
    }
}

fn words_of(column: u64, words: &mut [u8]) -> Request<'_> {
    Request { column, rows: Rows::All, output: Output::Words(words), missing: MissingTo::Ignore }
}

#[test]
fn taken_columns_have_the_words_of_the_file() {
    let row_names = Data::Integer(vec![i32::MIN, -(N as i32)]);
    let mut held = held(frame(columns(N), row_names));
    let file = held.file(&Silent).unwrap();
    let mut taken = Vec::new();
    for number in 0..file.n_columns() {
        let info = file.column(number).unwrap();
        let is_plain = info.record.column_type.layout().width().is_some() && info.record.n_missing == 0;
        let Some(words) = held.take(number) else { continue };
        assert!(is_plain, "{}", info.name);
        let mut expected = vec![0u128; words.len().div_ceil(16)];
        let expected: &mut [u8] = &mut bytemuck::cast_slice_mut(&mut expected)[..words.len()];
        file.read(vec![words_of(number, expected)], None, &Silent).unwrap();
        assert!(words[..] == *expected, "{}", info.name);
        // A second time there is nothing to read.
        assert!(held.take(number).is_none());
        assert!(held.shared(number, TextLayout::Large, None, &Silent).unwrap().is_none());
        let error = held.read(vec![words_of(number, expected)], None, &Silent).unwrap_err();
        assert!(error.to_string().contains("were taken"), "{error}");
        taken.push(info.name.clone());
    }
    assert_eq!(taken, ["int", "dbl", "cplx", "raw", "i64", "time", "time_dbl", "span"]);
    assert!(held.file(&Silent).unwrap_err().to_string().contains("were taken"));
    // The other columns stay.
    for number in (0..file.n_columns()).filter(|&number| {
        let info = file.column(number).unwrap();
        !taken.contains(&info.name) && info.record.column_type.physical != Physical::Utf8
    }) {
        let info = file.column(number).unwrap();
        let wanted = forms(&info, &|request| file.read(vec![request], None, &Silent).unwrap());
        let found = forms(&info, &|request| held.read(vec![request], None, &Silent).unwrap());
        assert!(wanted == found, "{}", info.name);
    }
}
