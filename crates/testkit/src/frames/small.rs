//! Tables with files so small that tests can damage every bit.

use entasis::{ColumnType, Logical, Physical, Unit, Value};

use super::models::{Model, Table, noise};
use super::{documents, nested, write_at};

/// The length of the largest small file.
pub const MAX_LEN: usize = 6_144;

/// The length of the largest small file of a tree, which has two tables and a dozen columns.
const MAX_TREE: usize = 8192;

/// A small file.
#[derive(Clone, Debug)]
pub struct Small {
    /// Its content.
    pub table: Table,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Small files that together have all sections, types and encodings.
pub fn all() -> Vec<Small> {
    let tables = [
        (integers(), 40),
        (patches(), 40),
        (vectors(), 40),
        (floats(), 40),
        (texts(), 40),
        (texts(), 80),
        (symbols(), 40),
        (codecs(), 50),
        (codecs(), 100),
        (singles(), 50),
        (raw(), 0),
        (bundles(), 50),
        (column_runs(), 50),
        (types(), 50),
        (categoricals(), 40),
        (decimals(), 50),
        (rows(), 0),
        (rows(), 80),
        (values(), 50),
        (lists(), 50),
        (fields(), 50),
        (unions(), 50),
        (value_columns(), 0),
        (runs(), 50),
        (Table::new("empty", vec![Model::words::<i32>("a", Physical::I32, &[])]), 50),
    ];
    let small = |(mut table, compression): (Table, u8)| {
        table.name = format!("{} at {compression}", table.name);
        let bytes = write_at(&table, compression);
        assert!(bytes.len() <= MAX_LEN, "{} has {} bytes", table.name, bytes.len());
        Small { table, bytes }
    };
    let trees = documents::all().into_iter().filter(|tree| tree.bytes.len() <= MAX_TREE);
    let tree = |tree: documents::Tree| Small {
        table: Table::new(format!("tree {}", tree.name), Vec::new()),
        bytes: tree.bytes,
    };
    tables.into_iter().map(small).chain(trees.map(tree)).collect()
}

fn lists() -> Table {
    let ints = |k: usize| (0..k % 4).map(|i| Some((i as i32).to_le_bytes().to_vec())).collect::<Vec<_>>();
    let cells = (0..40).map(|i| if i % 9 == 4 { None } else { nested::list(&ints(i)) });
    let lists = Model::nested("lists", Physical::List, vec![of("i", Physical::I32)], cells.collect());
    let entry = |i: usize| nested::record(&[Some(vec![b'k', i as u8]), Some(vec![i as u8])]);
    let cells = (0..40).map(|i| nested::list(&(0..i % 3).map(entry).collect::<Vec<_>>()));
    let fields = vec![of("key", Physical::Utf8), of("value", Physical::U8)];
    let entries = Model::nested("entries", Physical::Struct, fields, Vec::new());
    let map = Model::nested("map", Physical::Map, vec![entries], cells.collect());
    Table::new("lists", vec![lists, map])
}

fn fields() -> Table {
    let half = |i: usize| (!i.is_multiple_of(3)).then(|| (i as f64 / 2.0).to_le_bytes().to_vec());
    let cells = (0..30).map(|i| if i % 7 == 2 { None } else { nested::record(&[half(i), half(i + 1)]) });
    let fixed =
        Model::nested("fixed", Physical::FixedSizeList, vec![of("item", Physical::F64)], cells.collect());
    let cells =
        (0..30).map(|i| if i % 5 == 2 { None } else { nested::record(&[half(i), Some(vec![i as u8])]) });
    let fields = vec![of("a", Physical::F64), of("b", Physical::U8)];
    let fields = Model::nested("fields", Physical::Struct, fields, cells.collect());
    let nulls = (0..30).map(|i| nested::list(&vec![None; i % 3]));
    let nulls = Model::nested("nulls", Physical::List, vec![of("item", Physical::Null)], nulls.collect());
    Table::new("fields", vec![fixed.of_len(2), fields, nulls])
}

fn unions() -> Table {
    let types = || vec![of("a", Physical::I16), of("b", Physical::Utf8)];
    let cell = |i: usize| match i % 3 {
        0 => nested::typed(0, &Some((i as i16).to_le_bytes().to_vec())),
        1 => nested::typed(1, &Some(vec![b'a' + i as u8 % 20])),
        _ => nested::typed(1, &None),
    };
    let values: Vec<_> = (0..30).map(cell).collect();
    let dense = Model::nested("dense", Physical::Union, types(), values.clone());
    let sparse = Model::nested("sparse", Physical::Union, types(), values).of_len(1);
    Table::new("unions", vec![dense, sparse])
}

fn value_columns() -> Table {
    let item = Model::nested("l", Physical::List, vec![of("item", Physical::Bool)], Vec::new());
    let cell = |i: usize| match i % 4 {
        0 => nested::typed(0, &Some((i as i16).to_le_bytes().to_vec())),
        1 => nested::typed(2, &nested::list(&[Some(vec![1]), None, Some(vec![0])][..i % 3])),
        2 => nested::typed(1, &Some(vec![b'a' + i as u8 % 20])),
        _ => None,
    };
    let types = vec![of("a", Physical::I16), of("b", Physical::Utf8), item];
    Table::new(
        "value columns",
        vec![Model::nested("values", Physical::ValueColumn, types, (0..30).map(cell).collect())],
    )
}

fn runs() -> Table {
    let value = |i: usize| (!(i / 9).is_multiple_of(3)).then(|| (i as i32 / 9).to_le_bytes().to_vec());
    let runs =
        Model::nested("runs", Physical::RunEnd, vec![of("v", Physical::I32)], (0..60).map(value).collect());
    let run = Model::nested("item", Physical::RunEnd, vec![of("v", Physical::I32)], Vec::new());
    let cells = (0..60).map(|i| nested::list(&[value(i), value(i), value(i + 9)][..i % 4]));
    let inner = Model::nested("item", Physical::List, vec![run], Vec::new());
    let cells = cells.map(|cell| nested::list(&[cell, None]));
    Table::new("runs", vec![runs, Model::nested("lists", Physical::List, vec![inner], cells.collect())])
}

/// The type of a child.
fn of(name: &str, physical: Physical) -> Model {
    Model::new(name, physical, Vec::new())
}

fn integers() -> Table {
    let n = 1100;
    let r = noise(n, 1);
    let narrow: Vec<i32> = r.iter().map(|v| (v % 4) as i32 - 7).collect();
    let runs: Vec<i16> = (0..n).map(|i| (i / 150) as i16 * 999).collect();
    let times: Vec<i64> = r.iter().enumerate().map(|(i, v)| i as i64 * 1000 + (v % 2) as i64).collect();
    Table::new(
        "integers",
        vec![
            Model::words("packed", Physical::I32, &narrow),
            Model::words("runs", Physical::I16, &runs),
            Model::words("delta", Physical::I64, &times),
            Model::words("constant", Physical::U16, &vec![7u16; n]),
            Model::words("sparse", Physical::U8, &vec![7u8; n]).with_missing(|i| i % 400 != 9),
        ],
    )
}

fn patches() -> Table {
    let n = 1300;
    let r = noise(n, 2);
    let values: Vec<u32> =
        r.iter().enumerate().map(|(i, v)| if i % 300 == 7 { *v as u32 } else { (v % 4) as u32 }).collect();
    let prices: Vec<f64> = r
        .iter()
        .enumerate()
        .map(|(i, v)| if i % 400 == 9 { 1.0 / 3.0 } else { (v % 8) as f64 / 10.0 })
        .collect();
    Table::new(
        "patches",
        vec![Model::words("integers", Physical::U32, &values), Model::words("alp", Physical::F64, &prices)],
    )
}

fn vectors() -> Table {
    let n = 3200;
    let r = noise(n, 3);
    let steps: Vec<u64> = (0..n).map(|i| (i as u64 / 1024) << 40 | (r[i] & 3)).collect();
    Table::new("vectors", vec![Model::words("steps", Physical::U64, &steps)])
}

fn floats() -> Table {
    let n = 40;
    let r = noise(n, 4);
    let prices: Vec<f64> = r.iter().map(|v| (v % 1000) as f64 / 100.0).collect();
    let sums: Vec<f64> =
        r.iter().map(|v| (v % 9000) as f64 / 100.0 + (v >> 20) as f64 % 700.0 / 100.0).collect();
    let singles: Vec<f32> = r.iter().map(|v| (v % 100) as f32 / 10.0).collect();
    let few: Vec<f64> = r.iter().map(|v| [0.1, f64::NAN, 1e300][(v % 3) as usize]).collect();
    let halves: Vec<u16> = r.iter().map(|v| *v as u16).collect();
    let complex: Vec<[f64; 2]> = r.iter().map(|v| [(v % 2) as f64, 0.3]).collect();
    Table::new(
        "floats",
        vec![
            Model::words("alp", Physical::F64, &prices).with_missing(|i| i % 9 != 3),
            Model::words("alp32", Physical::F32, &singles),
            Model::words("sums", Physical::F64, &sums).with_missing(|i| i % 5 == 2),
            Model::words("dictionary", Physical::F64, &[few.clone(), few].concat()[..n])
                .logical(Logical::Plain, Unit::None),
            Model::words("f16", Physical::F16, &halves),
            Model::words("complex", Physical::Complex128, &complex),
        ],
    )
}

fn texts() -> Table {
    let n = 60;
    let r = noise(n, 5);
    let words: Vec<String> = r.iter().map(|v| format!("w\u{e9} {}", v % 3)).collect();
    let texts: Vec<String> = (0..n).map(|i| format!("row {}", "\u{e9}x".repeat(i % 4))).collect();
    let bytes = r.iter().map(|v| Some(v.to_be_bytes()[..(v % 5) as usize].to_vec())).collect();
    let mut binary = Model::new("binary", Physical::Binary, bytes);
    binary.of.host_variant = 1;
    let mut apart = Model::text("texts", &texts).with_missing(|i| i % 6 != 1);
    apart.of.host_variant = 2;
    let mut same = Model::text("same", &vec!["s\u{e9}"; n]);
    same.of.host_variant = 3;
    Table::new("texts", vec![Model::text("words", &words), apart, same, binary])
}

/// Strings that FSST shortens by more than its symbol table takes.
fn symbols() -> Table {
    let words = ["express ", "deposits", " the fox", "sleepily", " jumps\u{e9}", "packages"];
    let r = noise(2200, 11);
    let mut words = r.iter().map(|v| words[(v >> 40) as usize % words.len()]);
    let texts: Vec<String> = (0..44).map(|i| words.by_ref().take(49 - i % 3).collect()).collect();
    Table::new("symbols", vec![Model::text("texts", &texts)])
}

fn codecs() -> Table {
    let n = 80;
    let r = noise(n, 6);
    let apart = ColumnType { host_variant: 1, ..ColumnType::plain(Physical::Utf8) };
    let steps: Vec<u32> = r.iter().map(|v| [5, 1 << 30, 77][(v % 3) as usize]).collect();
    let same = "what is the same in all of them takes most of the room ".repeat(3);
    let alike: Vec<String> = (0..n).map(|i| format!("{same}{}", i % 100)).collect();
    let texts: Vec<String> = (0..n).map(|i| format!("a longer text, the number {}", i % 100)).collect();
    Table::new(
        "codecs",
        vec![
            Model::words("steps", Physical::U32, &steps),
            Model::text("texts", &texts[..n]),
            Model { of: apart, ..Model::text("alike", &alike) },
        ],
    )
}

/// Enough values for the encoder to try a codec, with fewer bits than their type.
fn singles() -> Table {
    let values: Vec<f64> = (0..=255u8).map(|i| f64::from(1.0 + f32::from(i).sqrt())).collect();
    Table::new("singles", vec![Model::words("singles", Physical::F64, &values)])
}

fn raw() -> Table {
    let r = noise(30, 7);
    let bytes: Vec<u8> = r.iter().map(|v| *v as u8).collect();
    Table::new(
        "raw",
        vec![
            Model::words("u64", Physical::U64, &r),
            Model::words("u8", Physical::U8, &bytes).with_missing(|i| i % 2 == 0),
            Model::words("u8 too", Physical::U8, &bytes),
            Model::bools("bool", &r.iter().map(|v| v % 2 == 0).collect::<Vec<_>>()),
            Model::text("text", &r.iter().map(|v| format!("{}", v % 10)).collect::<Vec<_>>()),
        ],
    )
}

fn bundles() -> Table {
    let columns = (0..9u64).map(|c| {
        let r = noise(20, c);
        let name = format!("c{}", c / 2);
        match c % 3 {
            0 => Model::words(name, Physical::I64, &r).with_missing(|i| !(i as u64).is_multiple_of(c + 2)),
            1 => Model::text(name, &r.iter().map(|v| format!("{}", v % 5)).collect::<Vec<_>>()),
            _ => Model::bools(name, &r.iter().map(|v| v % 2 == 0).collect::<Vec<_>>()),
        }
    });
    Table::new("bundles", columns.collect())
}

/// Runs of columns around single ones.
fn column_runs() -> Table {
    let mut columns = vec![Model::text("t", &["a", "", "b"])];
    for c in 0..4i16 {
        columns.push(Model::words(format!("i{}", c / 2), Physical::I16, &[c, 7, -c]));
    }
    columns.push(Model::bools("b", &[true, false, true]).with_missing(|i| i != 1));
    columns.extend((0..3).map(|c| Model::bools("\u{e9}".repeat(c), &[c == 1, true, false])));
    let mut table = Table { in_runs: true, ..Table::new("runs of columns", columns) };
    table.extra = vec![Model::words("labels", Physical::I32, &[1, 2, 3])];
    table.host = Value::map([("host", Value::from("testkit")), ("labels", Value::Column(9))]);
    table
}

fn types() -> Table {
    let times = [86_400i64, 0, -5, i64::MAX];
    let mut zoned =
        Model::words("zoned", Physical::I64, &times).logical(Logical::Timestamp, Unit::Nanosecond);
    zoned.detail = Some(Value::Str("Europe/Zurich".into()));
    let stamp =
        |name: &str| Model::words(name, Physical::I64, &times).logical(Logical::Timestamp, Unit::Second);
    let fill = Value::map([("bytes", Value::Bytes(vec![0; 8]))]);
    let text =
        |name: &str, width| Model::text(name, &["a", "", "bc", "abc"]).with_host_detail(Value::Int(width));
    Table::new(
        "types",
        vec![
            zoned,
            stamp("stamp"),
            stamp("sparse").with_host_detail(Value::map([("fill", fill), ("kind", Value::from("block"))])),
            text("of 3", 3),
            text("also of 3", 3),
            text("of 4", 4),
            Model::words("date", Physical::I32, &[1i32, 2, 3, -4]).logical(Logical::Date, Unit::Day),
            Model::words("time", Physical::I64, &times).logical(Logical::Time, Unit::Microsecond),
            Model::words("duration", Physical::I64, &times).logical(Logical::Duration, Unit::None),
            Model::new("null", Physical::Null, vec![None; 4]),
            Model::words("i8", Physical::I8, &[-1i8, 0, 1, 2]),
            Model::words(
                "complex64",
                Physical::Complex64,
                &[[1f32, 2.0], [3.0, 4.0], [0.0, -0.0], [1.0, 1.0]],
            ),
        ],
    )
}

fn decimals() -> Table {
    let values = [12_345i128, -1, 0, 999_999_999, 7];
    let long: Vec<i128> = values.iter().map(|v| v << 70).collect();
    Table::new(
        "decimals",
        vec![
            Model::decimals("short", 9, 2, &values),
            Model::decimals("price", 15, 2, &values).with_missing(|i| i != 3),
            Model::decimals("long", 38, -3, &long).with_missing(|i| i != 1),
            Model::fixed("none", 0, vec![Some(Vec::new()); 5]).with_missing(|i| i != 1),
            Model::decimals("near", 50, 2, &values),
        ],
    )
}

fn rows() -> Table {
    let r = noise(12, 9);
    let row =
        |v: &u64, len: usize| Some((0..len).map(|i| if i % 4 == 0 { (v >> i) as u8 } else { 0 }).collect());
    let rows = |len: usize| r.iter().map(|v| row(v, len)).collect::<Vec<_>>();
    let long: Vec<i128> = r.iter().map(|v| i128::from(*v) << 50).collect();
    let near: Vec<i128> = r.iter().map(|v| i128::from(v % 9) - 4).collect();
    let long_double = |v: &u64| Some([&v.to_le_bytes()[..], &[0xFF, 0x3F, 0, 0, 0, 0, 0, 0]].concat());
    Table::new(
        "rows",
        vec![
            Model::fixed("rows", 9, rows(9)).with_missing(|i| i % 5 != 1),
            Model::fixed("few", 5, rows(5).iter().cycle().take(4).cycle().take(12).cloned().collect()),
            Model::decimals("long", 50, 2, &long),
            Model::decimals("near", 30, 2, &near),
            Model::new("long double", Physical::LongDouble, r.iter().map(long_double).collect()),
        ],
    )
}

fn categoricals() -> Table {
    let r = noise(70, 8);
    let codes: Vec<i8> = r.iter().map(|v| (v % 3) as i8).collect();
    let wide: Vec<u32> = r.iter().map(|v| (v % 2) as u32).collect();
    let mut table = Table::new(
        "categoricals",
        vec![
            Model::words("ordered", Physical::I8, &codes).with_missing(|i| i % 4 != 1).codes_of(0, true),
            Model::words("wide", Physical::U32, &wide).codes_of(1, false),
            Model::words("first", Physical::I8, &[0i8; 70]).codes_of(0, false),
        ],
    );
    table.extra =
        vec![Model::text("", &["a", "b", "c"]), Model::words("", Physical::F32, &[0.5f32, f32::NAN])];
    table
}

fn values() -> Table {
    let items = vec![
        Value::Bool(true),
        Value::UInt(u64::MAX),
        Value::Float(0.5),
        Value::Bytes(vec![0, 255]),
        Value::List(vec![Value::List(Vec::new()), Value::Null]),
        Value::Column(0),
        Value::Table(0),
    ];
    let mut table = Table::new("values", vec![Model::words("a", Physical::U8, &[1u8, 2, 3])]);
    table.extra = vec![Model::text("labels", &["x", "y"])];
    let host = Value::Str("testkit".into());
    table.host = Value::map([("host", host), ("items", Value::List(items)), ("n", Value::Int(-1))]);
    table
}
