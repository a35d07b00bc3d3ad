//! Tables: of all shapes, all types, and at the edges of the format.

use entasis::{Logical, Missing, Physical, Unit, Value};

use super::models::{Model, Table, noise};
use super::shapes;

/// All tables. Together they cover every feature that the writer uses.
pub fn all() -> Vec<Table> {
    let mut all: Vec<Table> = [0, 1, 7, 1023, 1024, 1025, 8191, 8192, 8193, 20_000, 70_000]
        .into_iter()
        .map(|n| Table::new(format!("shapes of {n}"), shapes::columns(n)))
        .collect();
    all.extend([
        types(20),
        types(9000),
        categoricals(50),
        categoricals(10_000),
        names(),
        no_columns(),
        rows_without_columns(),
        bundles(100),
        wide(),
        runs(100),
        runs(1),
        runs(8191),
        long_texts(),
        long_rows(),
        values(),
    ]);
    all
}

fn bytes_of(value: u64, width: usize) -> Vec<u8> {
    (0..width).map(|i| (value.rotate_left(17 * (i as u32 / 8)) >> (8 * (i % 8))) as u8).collect()
}

/// Every physical and logical type with every unit and missing code. Some values are missing.
pub fn types(n: usize) -> Table {
    let mut columns = Vec::new();
    let r = noise(n, 5);
    for &physical in Physical::ALL.iter().filter(|physical| !physical.is_nested()) {
        let value = |v: u64| match physical {
            Physical::Null => None,
            Physical::Bool => Some(vec![(v & 1) as u8]),
            Physical::Utf8 => Some(format!("{v:o}").into_bytes()),
            Physical::Binary => Some(v.to_le_bytes().to_vec()),
            // The padding of long doubles is zero.
            Physical::LongDouble => Some([bytes_of(v, 10), vec![0; 6]].concat()),
            Physical::FixedBytes => Some(bytes_of(v, 11)),
            _ => physical.width().map(|width| bytes_of(v, width)),
        };
        let cells = r.iter().map(|&v| if v % 5 == 0 { None } else { value(v) });
        let mut column = Model::new(physical.name(), physical, cells.collect());
        column.of.missing = Missing::ALL[columns.len() % Missing::ALL.len()];
        column.of.value_len = if physical == Physical::FixedBytes { 11 } else { 0 };
        columns.push(column);
    }
    let times: Vec<i64> = r.iter().enumerate().map(|(i, v)| i as i64 * 3600 + (v % 60) as i64).collect();
    let days: Vec<i32> = r.iter().map(|v| (v % 20_000) as i32).collect();
    let words = |name: &str| Model::words(name, Physical::I64, &times).with_missing(|i| i % 11 != 4);
    columns.push(Model::words("date", Physical::I32, &days).logical(Logical::Date, Unit::Day));
    columns.push(words("date ms").logical(Logical::Date, Unit::Millisecond));
    for unit in [Unit::Second, Unit::Millisecond, Unit::Microsecond, Unit::Nanosecond] {
        columns.push(words(&format!("time {}", unit.name())).logical(Logical::Time, unit));
        columns.push(Model::words("time32", Physical::I32, &days).logical(Logical::Time, unit));
    }
    for &unit in Unit::ALL {
        columns.push(words(&format!("duration {}", unit.name())).logical(Logical::Duration, unit));
        if unit != Unit::None {
            columns.push(words(&format!("timestamp {}", unit.name())).logical(Logical::Timestamp, unit));
        }
    }
    let fixed = |name: &str, len: u32, logical| {
        let cells = r.iter().map(|v| (v % 6 != 1).then(|| bytes_of(*v, len as usize))).collect();
        Model::fixed(name, len, cells).logical(logical, Unit::None)
    };
    let named = |mut column: Model, name: &str| {
        column.detail =
            Some(Value::map([("name", Value::Str(name.into())), ("metadata", Value::Bytes(vec![1, 0]))]));
        column
    };
    let texts: Vec<String> = r.iter().map(|v| format!("[{}]", v % 7)).collect();
    let mut months = words("period").logical(Logical::Period, Unit::None);
    months.detail = Some(Value::Str("M".into()));
    columns.extend([
        months,
        Model::words("interval, months", Physical::I32, &days).logical(Logical::Interval, Unit::None),
        fixed("interval, days", 8, Logical::Interval),
        fixed("interval, all", 16, Logical::Interval),
        named(fixed("uuid", 16, Logical::Uuid), "arrow.uuid"),
        named(Model::text("json", &texts).logical(Logical::Json, Unit::None), "arrow.json"),
        named(fixed("extension", 5, Logical::Extension), "a.b"),
        named(Model::text("text extension", &texts).logical(Logical::Extension, Unit::None), "c"),
        named(words("long extension").logical(Logical::Extension, Unit::None), "d"),
    ]);
    for len in [0u32, 1, 2, 3, 8, 16, 17, 40] {
        let cells = r.iter().map(|v| (v % 6 != 1).then(|| bytes_of(*v, len as usize))).collect();
        columns.push(Model::fixed(format!("fixed {len}"), len, cells));
    }
    for zone in ["UTC", "Europe/Zurich", "+05:30", "UTC"] {
        let mut column = words(zone).logical(Logical::Timestamp, Unit::Nanosecond);
        column.detail = Some(Value::Str(zone.into()));
        columns.push(column);
    }
    let digits: Vec<i128> = r.iter().map(|v| i128::from(*v as i64) * i128::from(*v)).collect();
    for (precision, scale) in
        [(1, 0), (9, 2), (10, -3), (15, 2), (18, 18), (19, 4), (38, 10), (38, 38), (39, 0), (76, 9)]
    {
        let most = 10i128.pow(u32::from(precision).min(38)) - 1;
        let values: Vec<i128> = digits.iter().map(|v| v % most).collect();
        let name = format!("decimal {precision} {scale}");
        columns.push(Model::decimals(name, precision, scale, &values).with_missing(|i| i % 9 != 2));
    }
    Table::new(format!("types of {n}"), columns)
}

/// Categoricals with codes of every integer type.
pub fn categoricals(n: usize) -> Table {
    let r = noise(n, 6);
    let mut columns = Vec::new();
    for physical in Physical::ALL.iter().copied().filter(|physical| physical.is_integer()) {
        let width = physical.width().filter(|&width| width <= 8);
        let Some(width) = width else { continue };
        let cells = r.iter().map(|v| (v % 7 != 0).then(|| (v % 5).to_le_bytes()[..width].to_vec())).collect();
        let column = Model::new(physical.name(), physical, cells);
        columns.push(column.codes_of(columns.len() % 3, columns.len() % 2 == 1));
    }
    let mut table = Table::new(format!("categoricals of {n}"), columns);
    table.extra = vec![
        Model::text("categories", &["a", "b", "", "\u{3b4}", "b"]),
        Model::words("", Physical::F64, &[0.5, f64::NAN, -0.0, 1e9, 3.0, 7.0]),
        Model::words("", Physical::I64, &[5i64, 4, 3, 2, 1]).logical(Logical::Timestamp, Unit::Second),
    ];
    table
}

/// Names that are empty, equal, long or strange.
pub fn names() -> Table {
    let names = ["a", "", "a", "b", "\u{1F600}", "", "a b\n\0c", "a"].map(str::to_owned);
    let long = ["n".repeat(300), "a".repeat(65)];
    let columns = names.into_iter().chain(long).enumerate();
    Table::new("names", columns.map(|(i, name)| Model::words(name, Physical::I32, &[i as i32, 7])).collect())
}

/// Neither rows nor columns.
pub fn no_columns() -> Table {
    Table { host: Value::Null, ..Table::new("no columns", Vec::new()) }
}

/// Rows, but no columns.
pub fn rows_without_columns() -> Table {
    Table { n_rows: 12_345, ..Table::new("rows without columns", Vec::new()) }
}

/// Many columns of few rows: bundles of every type, across the borders of pages.
pub fn bundles(n: usize) -> Table {
    let columns = (0..400u64).map(|c| {
        let r = noise(n, c);
        let name = format!("column {c}");
        match c % 5 {
            0 => Model::words(name, Physical::I64, &r).with_missing(|i| i % (c as usize % 9 + 2) != 0),
            1 => Model::words(
                name,
                Physical::F64,
                &r.iter().map(|v| (v % 100) as f64 / 4.0).collect::<Vec<_>>(),
            ),
            2 => Model::bools(name, &r.iter().map(|v| v % 2 == 0).collect::<Vec<_>>())
                .with_missing(|i| i % 3 != 0),
            3 => Model::words(name, Physical::I64, &r).logical(Logical::Timestamp, Unit::Nanosecond),
            _ => Model::text(name, &r.iter().map(|v| format!("{}", v % 50)).collect::<Vec<_>>()),
        }
    });
    Table::new(format!("bundles of {n}"), columns.collect())
}

/// Enough columns for sections with index parts.
pub fn wide() -> Table {
    let columns = (0..5000).map(|c| Model::words(format!("column number {c}"), Physical::I32, &[c, c * c]));
    let mut table = Table::new("wide", columns.collect());
    table.columns.iter_mut().step_by(2).for_each(|column| column.of.host_variant = 1);
    table
}

/// Column runs of many types, with single columns and columns that cannot be in a run between them.
pub fn runs(n: usize) -> Table {
    let physicals = [
        Physical::F64,
        Physical::Bool,
        Physical::I8,
        Physical::U16,
        Physical::F32,
        Physical::Complex128,
        Physical::I64,
        Physical::F64,
    ];
    let mut columns = Vec::new();
    for (group, physical) in physicals.into_iter().enumerate() {
        let width = physical.width().unwrap_or(1);
        for c in 0..2 + 3 * group {
            let r = noise(n, (100 * group + c) as u64);
            let byte = |v: u64| {
                if physical == Physical::Bool { vec![(v & 1) as u8] } else { bytes_of(v % 99, width) }
            };
            // Names of all lengths, also equal ones.
            let name = "n\u{e9}".repeat(c % 4) + &(c / 2).to_string();
            columns.push(Model::new(name, physical, r.iter().map(|&v| Some(byte(v))).collect()));
        }
        columns.push(Model::text(format!("text {group}"), &vec!["x"; n]));
        columns.push(Model::words("missing", physicals[0], &vec![0.5f64; n]).with_missing(|i| i % 3 != 1));
    }
    Table { in_runs: true, ..Table::new(format!("runs of {n}"), columns) }
}

/// Strings longer than pages, and empty ones.
pub fn long_texts() -> Table {
    let mut texts: Vec<String> =
        (0..200usize).map(|i| char::from(b'a' + (i % 26) as u8).to_string().repeat(i * i * 9)).collect();
    texts.push("\u{e9}".repeat(700_000));
    texts.push(String::new());
    texts.push("after".into());
    let few = Model::text("few missing", &texts).with_missing(|i| i % 50 != 49);
    let reversed: Vec<String> = texts.iter().rev().cloned().collect();
    Table::new("long texts", vec![Model::text("long", &texts), few, Model::text("reversed", &reversed)])
}

/// Fixed bytes that make pages and blocks of few values.
pub fn long_rows() -> Table {
    let r = noise(300, 11);
    let columns = [100u32, 4096, 5000, 131_072, 131_073, 262_144].map(|len| {
        let n = 300.min((20 << 20) / len as usize);
        let cells =
            (0..300).map(|i| (i % 7 != 2).then(|| bytes_of(if i < n { r[i] } else { 1 }, len as usize)));
        Model::fixed(format!("fixed {len}"), len, cells.collect())
    });
    Table::new("long rows", columns.to_vec())
}

/// A host map with a value of every kind.
pub fn values() -> Table {
    let mut deep = Value::Int(-5);
    for _ in 0..60 {
        deep = Value::List(vec![deep]);
    }
    let items = vec![
        Value::Null,
        Value::Bool(true),
        Value::Bool(false),
        Value::Int(i64::MIN),
        Value::UInt(u64::MAX),
        Value::Float(-0.0),
        Value::Str("caf\u{e9}".into()),
        Value::Str(String::new()),
        Value::Str("long ".repeat(30_000)),
        Value::Bytes(vec![0, 255, 7]),
        Value::List(Vec::new()),
        Value::Map(Vec::new()),
        Value::Column(0),
        Value::Column(1),
        Value::Table(0),
    ];
    let keys = Value::Map(vec![(Value::Int(3), Value::Null), (Value::Null, Value::Int(3))]);
    let mut table = Table::new("values", vec![Model::words("a", Physical::U8, &[1u8, 2, 3])]);
    table.extra = vec![Model::text("labels", &["x", "y", "z", "more"])];
    let many = Value::List((0..5000).map(Value::Int).collect());
    let host = Value::Str("testkit".into());
    table.host = Value::map([
        ("host", host),
        ("items", Value::List(items)),
        ("deep", deep),
        ("keys", keys),
        ("many", many),
    ]);
    table
}
