//! Stored sizes of fixed columns, so that no change of the choice of encodings goes unnoticed.
//!
//! `tests/ratio/results.csv` has the sizes. `cargo run -p entasis-testkit --bin ratio` writes it
//! again; a change of it belongs in the commit that causes it.

use std::fmt::Write;
use std::path::PathBuf;

use entasis::{Logical, Physical, Unit};

use crate::frames::{self, Model, Table, nested, noise};
use crate::mutate::Map;
use crate::naive::bytes::u32_at;

/// The compression settings.
pub const SETTINGS: [u8; 9] = [0, 10, 25, 50, 60, 70, 80, 90, 100];

/// Values of a column of numbers: two blocks, the second one partial.
const N: usize = 70_000;

/// Values of a column of strings.
const N_STRINGS: usize = 20_000;

/// The file with the sizes.
pub fn path() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "..", "tests", "ratio", "results.csv"].iter().collect()
}

/// Bytes of the pages and directories of all columns of a file.
fn stored_len(file: &[u8]) -> u64 {
    let len = |block: &usize| u64::from(u32_at(file, block + 32)) + u64::from(u32_at(file, block + 36));
    Map::of(file).blocks.iter().map(len).sum()
}

/// The text of the file with the sizes: a line for each column.
pub fn csv() -> String {
    let mut out = String::from("column,type,n_values");
    SETTINGS.iter().for_each(|setting| _ = write!(out, ",at {setting}"));
    out.push('\n');
    for column in columns() {
        let (type_name, n) = (column.type_name(), column.cells.len());
        _ = write!(out, "{},{},{n}", column.name, type_name.replace(", ", " "));
        let table = Table::new(column.name.clone(), vec![column]);
        for setting in SETTINGS {
            _ = write!(out, ",{}", stored_len(&frames::write_at(&table, setting)));
        }
        out.push('\n');
    }
    out
}

/// The columns. They must never change: new columns get new lines.
pub fn columns() -> Vec<Model> {
    let mut columns = integers();
    columns.extend(floats());
    columns.extend(strings());
    columns.extend(others());
    columns
}

fn words<T: bytemuck::Pod>(
    name: &str,
    physical: Physical,
    seed: u64,
    value: impl Fn(usize, u64) -> T,
) -> Model {
    let values: Vec<T> = noise(N, seed).into_iter().enumerate().map(|(i, v)| value(i, v)).collect();
    Model::words(name, physical, &values)
}

fn integers() -> Vec<Model> {
    vec![
        words("constant", Physical::I64, 1, |_, _| 7i64),
        words("row number", Physical::I64, 2, |i, _| i as i64),
        words("small numbers", Physical::I32, 3, |_, v| (v % 10) as i32),
        words("bell curve", Physical::I32, 4, |_, v| {
            (0..8).map(|k| (v >> (8 * k) & 255) as i32).sum::<i32>()
        }),
        words("times with jitter", Physical::I64, 5, |i, v| i as i64 * 1_000_000 + (v % 500) as i64)
            .logical(Logical::Timestamp, Unit::Microsecond),
        words("outliers", Physical::U32, 6, |i, v| if i % 101 == 7 { v as u32 } else { (v % 16) as u32 }),
        words("noise", Physical::U64, 7, |_, v| v),
        words("runs", Physical::I16, 8, |i, _| (i / 137 * 7919 % 1000) as i16),
        words("few distinct", Physical::U64, 9, |_, v| (v % 60).wrapping_mul(0x9E37_79B9_7F4A_7C15)),
        words("skewed codes", Physical::U32, 10, |_, v| (v >> 20).trailing_zeros()),
        words("days", Physical::I32, 11, |i, v| 18_000 + (i / 200) as i32 + (v % 3) as i32)
            .logical(Logical::Date, Unit::Day),
        words("steps", Physical::U32, 12, |i, v| ((i / 5000) << 20) as u32 | (v % 64) as u32),
        words("often missing", Physical::I32, 13, |i, v| (i / 9) as i32 + (v % 4) as i32)
            .with_missing(|i| i % 10 < 6),
        words("rarely missing", Physical::I64, 14, |_, v| (v % 5000) as i64).with_missing(|i| i % 1000 != 1),
    ]
}

fn floats() -> Vec<Model> {
    vec![
        words("prices", Physical::F64, 20, |_, v| (v % 100_000) as f64 / 100.0),
        words("one decimal with NaN", Physical::F64, 21, |_, v| {
            if v % 50 == 0 { f64::NAN } else { ((v % 700) as f64 - 200.0) / 10.0 }
        }),
        words("sums", Physical::F64, 22, |_, v| (v % 9000) as f64 / 100.0 + (v >> 32) as f64 % 700.0 / 100.0),
        words("random bits", Physical::F64, 23, |_, v| (v >> 12) as f64 / (1u64 << 52) as f64),
        words("smooth", Physical::F64, 24, |i, _| 1000.0 + (i as f64).sqrt()),
        words(
            "mostly zero",
            Physical::F64,
            25,
            |_, v| if v % 20 == 0 { (v % 1000) as f64 / 7.0 } else { 0.0 },
        ),
        words("single precision", Physical::F32, 26, |_, v| (v % 2000) as f32 / 10.0),
    ]
}

fn text(name: &str, seed: u64, value: impl Fn(usize, u64) -> String) -> Model {
    let values: Vec<String> =
        noise(N_STRINGS, seed).into_iter().enumerate().map(|(i, v)| value(i, v)).collect();
    Model::text(name, &values)
}

fn strings() -> Vec<Model> {
    const WORDS: [&str; 16] = [
        "the", "a", "of", "river", "market", "green", "slowly", "and", "house", "at", "night", "paper",
        "seven", "over", "winter", "road",
    ];
    vec![
        text("few words", 30, |_, v| WORDS[v as usize % 5].to_owned()),
        text("keys", 31, |i, v| format!("customer-{:07}", i * 3 + (v % 3) as usize)),
        text("addresses", 32, |_, v| {
            format!(
                "https://www.example.org/{}/{}?id={}",
                WORDS[v as usize % 16],
                WORDS[(v >> 8) as usize % 16],
                v >> 44
            )
        }),
        text("sentences", 33, |_, v| {
            (0..3 + v % 9).map(|k| WORDS[(v >> (4 * k + 8)) as usize % 16]).collect::<Vec<_>>().join(" ")
        }),
        text("hexadecimal", 34, |_, v| format!("{v:016x}")),
    ]
}

fn others() -> Vec<Model> {
    let r = noise(N_STRINGS, 40);
    let decimals: Vec<i128> = r.iter().map(|v| i128::from(v % 10_000_000) * 25).collect();
    let rows = r.iter().map(|v| Some([v.to_le_bytes(), (v ^ 0x5555).to_le_bytes()].concat())).collect();
    let flags: Vec<bool> = noise(N, 41).iter().map(|v| v % 64 == 0).collect();
    let item = Model::new("item", Physical::I32, Vec::new());
    let list = |v: &u64| {
        nested::list(
            &(0..v % 5).map(|k| Some((v >> (8 * k) & 255).to_le_bytes()[..4].to_vec())).collect::<Vec<_>>(),
        )
    };
    vec![
        Model::decimals("decimals", 20, 2, &decimals),
        Model::fixed("16 bytes", 16, rows),
        Model::bools("rarely true", &flags),
        Model::nested("lists", Physical::List, vec![item], r.iter().map(list).collect()),
    ]
}
