//! The contents of the golden files. These functions, and [`noise`], must never change, as the
//! files stay. New files get new functions.

use entasis::{Logical, Operation, Physical, Unit, Value};

use super::{Form, Golden};
use crate::frames::{Model, Table, grown, nested, nested_tables, noise};

fn golden(name: &str, columns: Vec<Model>, compression: u8, features: &'static [&'static str]) -> Golden {
    Golden { table: Table::new(name, columns), compression, features, form: Form::Whole }
}

/// All golden files.
pub fn all() -> Vec<Golden> {
    let mut all = integers();
    all.extend(dictionaries());
    all.extend(floats());
    all.extend(texts());
    all.extend(validities());
    all.extend(tables());
    all.extend(types());
    all.push(decimals());
    all.extend(rows());
    all.push(meanings());
    all.extend(nested());
    all.push(column_runs());
    all.push(name_index());
    all.push(compressed_leaves());
    all.push(lanes());
    all.push(dictionary_of_symbols());
    all.extend(raw_codes());
    all.push(streamed());
    all.extend(generations());
    all.extend(changed());
    all.push(unsigned_wide());
    all.extend(forged());
    all
}

/// Files that writers make of large tables alone, or that later versions make.
fn forged() -> [Golden; 2] {
    let of = |name: &str, form| {
        let table = Table { name: name.to_owned(), ..grown::table(250) };
        Golden { table, compression: 50, features: &[], form }
    };
    [of("column-ranges", Form::ColumnRanges), of("later", Form::Later)]
}

fn integers() -> Vec<Golden> {
    let n = 2100;
    let r = noise(n, 1);
    let small: Vec<i32> = r.iter().map(|v| (v % 10) as i32 - 1000).collect();
    let signed: Vec<i8> = r.iter().map(|v| (v % 30) as i8 - 15).collect();
    let times: Vec<i64> = r.iter().enumerate().map(|(i, v)| i as i64 * 1_000_000 + (v % 50) as i64).collect();
    let down: Vec<u16> = (0..n).map(|i| 60_000 - 7 * i as u16).collect();
    let runs: Vec<i16> = (0..n).map(|i| (i / 150) as i16 * 999 - 5000).collect();
    let steps: Vec<u64> = r.iter().enumerate().map(|(i, v)| (i as u64 / 1024) << 40 | (v & 7)).collect();
    let outliers: Vec<u32> =
        r.iter().enumerate().map(|(i, v)| if i % 200 == 7 { *v as u32 } else { (v % 8) as u32 }).collect();
    let raw = Model::words("noise", Physical::U64, &r[..100]);
    let blocks: Vec<i32> = (0..70_000).map(|i| i / 5000).collect();
    vec![
        golden("raw", vec![raw, Model::words("flat", Physical::I32, &small[..100])], 0, &["raw"]),
        golden(
            "constant",
            vec![Model::words("a", Physical::I64, &vec![-42i64; n])],
            40,
            &["constant", "no pages"],
        ),
        golden(
            "bit-packed",
            vec![Model::words("small", Physical::I32, &small), Model::words("signed", Physical::I8, &signed)],
            40,
            &["bit-packed"],
        ),
        golden(
            "per-vector",
            vec![Model::words("steps", Physical::U64, &steps)],
            40,
            &["bit-packed", "per vector"],
        ),
        golden(
            "patches",
            vec![Model::words("outliers", Physical::U32, &outliers)],
            40,
            &["bit-packed", "patches"],
        ),
        golden(
            "delta",
            vec![Model::words("times", Physical::I64, &times), Model::words("down", Physical::U16, &down)],
            40,
            &["delta"],
        ),
        golden("run-length", vec![Model::words("runs", Physical::I16, &runs)], 40, &["run-length"]),
        golden("blocks", vec![Model::words("slow", Physical::I32, &blocks)], 40, &["pages"]),
    ]
}

fn dictionaries() -> Vec<Golden> {
    let n = 1500;
    let r = noise(n, 2);
    let pick = |i: usize| (r[i] >> 20) as usize;
    let keys = noise(7, 3);
    let words: Vec<u64> = (0..n).map(|i| keys[pick(i) % 7]).collect();
    let floats: Vec<f64> = (0..n).map(|i| [0.1, f64::NAN, -0.0, 1e300, 1.0 / 3.0][pick(i) % 5]).collect();
    let wide: Vec<[f64; 2]> = (0..n).map(|i| [[1.5, -0.0], [f64::NAN, 2.0]][pick(i) % 2]).collect();
    let texts: Vec<String> = (0..n).map(|i| format!("caf\u{e9} {}", pick(i) % 5)).collect();
    let runs: Vec<String> =
        (0..n).map(|i| format!("a longer text with a number in it, {}", i / 500)).collect();
    let wanted: &[&str] = &["bit-packed dictionary"];
    vec![
        golden("dictionary-words", vec![Model::words("a", Physical::U64, &words)], 40, wanted),
        golden("dictionary-floats", vec![Model::words("a", Physical::F64, &floats)], 40, wanted),
        golden("dictionary-16-byte", vec![Model::words("a", Physical::Complex128, &wide)], 40, wanted),
        golden("dictionary-texts", vec![Model::text("a", &texts)], 40, wanted),
        golden(
            "dictionary-one",
            vec![Model::text("a", &vec!["one"; n])],
            40,
            &["constant dictionary", "no pages"],
        ),
        golden("dictionary-runs", vec![Model::text("a", &runs)], 40, &["run-length dictionary"]),
    ]
}

fn floats() -> Vec<Golden> {
    let n = 1500;
    let r = noise(n, 4);
    let prices: Vec<f64> = r.iter().map(|v| (v % 1000) as f64 / 100.0).collect();
    let mut odd = prices.clone();
    odd.iter_mut().step_by(150).for_each(|value| *value /= 3.0);
    odd[1400] = f64::from_bits(0x7FF8_0000_0000_07A2);
    odd[1401] = -0.0;
    odd[1402] = f64::NEG_INFINITY;
    let singles: Vec<f32> = r.iter().map(|v| (v % 500) as f32 / 10.0).collect();
    let sums: Vec<f64> = r.iter().map(|v| (v % 9000) as f64 / 100.0 + (v % 700) as f64 / 100.0).collect();
    let smooth: Vec<f64> = (0..n).map(|i| 1000.0 + (i as f64).sqrt()).collect();
    vec![
        golden("alp", vec![Model::words("prices", Physical::F64, &prices)], 40, &["bit-packed alp"]),
        golden(
            "alp-exceptions",
            vec![Model::words("odd", Physical::F64, &odd)],
            40,
            &["bit-packed alp", "patches"],
        ),
        golden("alp-f32", vec![Model::words("singles", Physical::F32, &singles)], 40, &["bit-packed alp"]),
        golden(
            "alp-residual",
            vec![Model::words("sums", Physical::F64, &sums)],
            40,
            &["bit-packed residual"],
        ),
        golden("shuffle", vec![Model::words("smooth", Physical::F64, &smooth)], 100, &["raw zstd shuffle"]),
    ]
}

fn texts() -> Vec<Golden> {
    let r = noise(1100, 5);
    let tokens: Vec<String> = r.iter().map(|v| format!("{:x}", v >> (v % 60))).collect();
    let texts: Vec<String> =
        r.iter().map(|v| format!("the customer with the number {} came", v % 5000)).collect();
    let same = "what is the same in all of them takes most of the room, so that ".repeat(3);
    let alike: Vec<String> = r[..300].iter().map(|v| format!("{same}{v:x}")).collect();
    let bytes = r[..300].iter().map(|v| Some(v.to_be_bytes()[..(v % 9) as usize].to_vec())).collect();
    let long = ["\u{e9}".repeat(200_000), String::new(), "x".repeat(3), "abc".repeat(100_000)];
    let words = ["what ", "came ", "over ", "the ", "sea ", "and ", "na\u{ef}vely ", "stayed "];
    let sentences: Vec<String> = r[..600]
        .iter()
        .map(|v| {
            (0..v % 15).map(|k| words[(v >> (k * 3)) as usize % 8]).collect::<String>() + &format!("{v:x}")
        })
        .collect();
    vec![
        golden("strings", vec![Model::text("tokens", &tokens[..300])], 0, &["strings"]),
        golden("binary", vec![Model::new("bytes", Physical::Binary, bytes)], 0, &["strings"]),
        golden("lz4", vec![Model::text("alike", &alike)], 50, &["strings lz4"]),
        golden("zstd", vec![Model::text("texts", &texts)], 80, &["strings zstd"]),
        golden("fsst", vec![Model::text("sentences", &sentences)], 40, &["fsst"]),
        golden("long-strings", vec![Model::text("long", &long)], 80, &["strings zstd", "pages"]),
    ]
}

fn validities() -> Vec<Golden> {
    let r = noise(1200, 6);
    let values: Vec<i32> = r.iter().map(|v| (v % 16) as i32).collect();
    let texts: Vec<String> = r.iter().map(|v| format!("{}", v % 4)).collect();
    let bools: Vec<bool> = r.iter().map(|v| v % 2 == 0).collect();
    let columns = |valid: fn(usize) -> bool| {
        vec![
            Model::words("words", Physical::I32, &values).with_missing(valid),
            Model::text("texts", &texts).with_missing(valid),
            Model::bools("bools", &bools).with_missing(valid),
        ]
    };
    let pages: Vec<u8> = (0..9000u32).map(|i| (i / 5000) as u8).collect();
    let first = Model::words("a", Physical::U8, &pages).with_missing(|i| i > 10);
    vec![
        golden("validity-bits", columns(|i| i % 3 != 1), 40, &["validity 1"]),
        golden("validity-all-missing", columns(|_| false), 40, &["validity 2"]),
        golden("validity-sparse", columns(|i| i % 400 != 399), 40, &["validity 3"]),
        golden(
            "validity-page",
            vec![first.with_missing(|i| i < 8192 && i != 4000)],
            40,
            &["validity 2", "pages"],
        ),
    ]
}

fn tables() -> Vec<Golden> {
    let small = || Model::words("a", Physical::I32, &[1i32, -2, 3]);
    let bundled = (0..30u64).map(|c| {
        let r = noise(15, c);
        match c % 3 {
            0 => Model::words(format!("c{c}"), Physical::I64, &r)
                .with_missing(|i| !(i as u64).is_multiple_of(c + 2)),
            1 => Model::text(format!("c{c}"), &r.iter().map(|v| format!("{}", v % 50)).collect::<Vec<_>>()),
            _ => Model::bools(format!("c{c}"), &r.iter().map(|v| v % 2 == 0).collect::<Vec<_>>()),
        }
    });
    let names = ["a", "", "a", "b", "\u{1F600}", "", "a b\n\0c"].into_iter().enumerate();
    let names = names.map(|(i, name)| Model::words(name, Physical::I32, &[i as i32, 7])).collect();
    let no_rows = vec![Model::words::<i32>("a", Physical::I32, &[]), Model::text::<&str>("b", &[])];
    let mut all = vec![
        golden("bundles", bundled.collect(), 50, &[]),
        golden("names", names, 50, &[]),
        golden("no-rows", no_rows, 50, &[]),
        golden("no-columns", Vec::new(), 50, &[]),
        golden("rows-without-columns", Vec::new(), 50, &[]),
        golden("values", vec![small()], 50, &[]),
        golden("index-parts", vec![small()], 50, &[]),
        golden("categoricals", Vec::new(), 50, &[]),
    ];
    all[3].table.host = Value::Null;
    all[4].table.n_rows = 12_345;
    let host = || ("host", Value::Str("testkit".into()));
    let items = vec![
        Value::Null,
        Value::Bool(true),
        Value::Bool(false),
        Value::Int(i64::MIN),
        Value::UInt(u64::MAX),
        Value::Float(-0.0),
        Value::Str("caf\u{e9}".into()),
        Value::Bytes(vec![0, 255, 7]),
        Value::List(vec![Value::List(Vec::new()), Value::Map(Vec::new())]),
        Value::Column(1),
        Value::Table(0),
    ];
    let keys = Value::Map(vec![(Value::Int(3), Value::Null), (Value::Null, Value::Int(3))]);
    all[5].table.host = Value::map([host(), ("items", Value::List(items)), ("keys", keys)]);
    all[5].table.extra = vec![Model::text("labels", &["x", "y"])];
    all[6].table.host = Value::map([host(), ("long", Value::Str("0123456789".repeat(6600)))]);
    categoricals(&mut all[7].table);
    all
}

fn categoricals(table: &mut Table) {
    let r = noise(60, 8);
    let codes = |width: usize| {
        r.iter().map(|v| (v % 7 != 0).then(|| (v % 3).to_le_bytes()[..width].to_vec())).collect()
    };
    let of = |name: &str, physical, width| Model::new(name, physical, codes(width));
    table.columns = vec![
        of("i8", Physical::I8, 1).codes_of(0, true),
        of("u8", Physical::U8, 1).codes_of(0, false),
        of("i16", Physical::I16, 2).codes_of(1, false),
        of("u32", Physical::U32, 4).codes_of(1, true),
        of("i64", Physical::I64, 8).codes_of(0, false),
    ];
    table.n_rows = 60;
    table.extra = vec![
        Model::text("", &["a", "\u{3b4}", ""]),
        Model::words("", Physical::F64, &[0.5, f64::NAN, -0.0, 1e9]),
    ];
}

fn types() -> Vec<Golden> {
    let r = noise(9, 9);
    let physical = Physical::ALL.iter().filter(|physical| physical.code() <= 16).map(|&physical| {
        let value = |v: u64| match physical {
            Physical::Null => None,
            Physical::Bool => Some(vec![(v & 1) as u8]),
            Physical::Utf8 => Some(format!("{v:o}").into_bytes()),
            Physical::Binary => Some(v.to_le_bytes().to_vec()),
            _ => Some(
                (u128::from(v) << 61 | u128::from(v)).to_le_bytes()[..physical.width().unwrap_or(1)].to_vec(),
            ),
        };
        let cells = r.iter().map(|&v| if v % 4 == 0 { None } else { value(v) }).collect();
        Model::new(physical.name(), physical, cells)
    });
    let seconds: Vec<i64> = vec![0, -1, 951_782_400, 253_402_300_799];
    let days: Vec<i32> = vec![0, -1, 11_016, 2_932_896];
    let long = |name: String| Model::words(name, Physical::I64, &seconds).with_missing(|i| i != 1);
    let mut times = vec![
        Model::words("date", Physical::I32, &days).logical(Logical::Date, Unit::Day),
        long("date ms".into()).logical(Logical::Date, Unit::Millisecond),
        Model::words("time s", Physical::I32, &days).logical(Logical::Time, Unit::Second),
    ];
    for unit in [Unit::Millisecond, Unit::Microsecond, Unit::Nanosecond] {
        times.push(long(format!("time {}", unit.name())).logical(Logical::Time, unit));
    }
    for &unit in Unit::ALL.iter().filter(|unit| unit.code() <= 13) {
        times.push(long(format!("duration {}", unit.name())).logical(Logical::Duration, unit));
        if unit != Unit::None {
            times.push(long(format!("timestamp {}", unit.name())).logical(Logical::Timestamp, unit));
        }
    }
    for zone in ["UTC", "Europe/Zurich", "+05:30"] {
        let mut column = long(zone.into()).logical(Logical::Timestamp, Unit::Nanosecond);
        column.detail = Some(Value::Str(zone.into()));
        times.push(column);
    }
    vec![golden("physical-types", physical.collect(), 50, &[]), golden("logical-types", times, 50, &[])]
}

fn decimals() -> Golden {
    let r = noise(40, 10);
    let values = |modulus: i128| -> Vec<i128> {
        r.iter().map(|v| i128::from(*v as i64) * i128::from(*v) % modulus).collect()
    };
    let column = |precision: u8, scale: i8| {
        let values = values(10i128.pow(precision.into()) - 1);
        Model::decimals(format!("decimal({precision}, {scale})"), precision, scale, &values)
    };
    let columns = [(1, 0), (9, 2), (10, -3), (15, 2), (18, 18), (19, 4), (38, 10)];
    let columns = columns.map(|(precision, scale)| column(precision, scale).with_missing(|i| i % 7 != 3));
    golden("decimals", columns.to_vec(), 50, &[])
}

fn rows() -> Vec<Golden> {
    let r = noise(300, 11);
    let row = |v: u64, len: usize| (0..len).map(|i| (v.rotate_left(i as u32 * 5)) as u8).collect::<Vec<u8>>();
    let rows = |name: &str, len: u32| {
        let cells = r.iter().map(|&v| Some(row(v, len as usize))).collect();
        Model::fixed(name, len, cells).with_missing(|i| i % 11 != 3)
    };
    let few = r.iter().map(|&v| Some(row(v % 4 * 77, 12))).collect();
    let records =
        (0..300u32).map(|i| Some([&i.to_le_bytes()[..], &f64::from(i % 7).to_le_bytes(), b"abc"].concat()));
    let long_double =
        |v: &u64| Some([&(v | 1 << 63).to_le_bytes()[..], &[0xFF, 0x3F, 0, 0, 0, 0, 0, 0]].concat());
    let long_doubles = r[..20].iter().map(long_double).collect();
    let near: Vec<i128> = r.iter().map(|v| i128::from(v % 1000) - 500).collect();
    let far: Vec<i128> = r.iter().map(|v| i128::from(*v as i64) << 60).collect();
    let long = (0..9).map(|i| Some(vec![i; 40_000])).collect();
    vec![
        golden("fixed-bytes", vec![rows("three", 3), rows("sixteen", 16), rows("none", 0)], 40, &["raw"]),
        golden("fixed-bytes-dictionary", vec![Model::fixed("few", 12, few)], 40, &["bit-packed dictionary"]),
        golden(
            "fixed-bytes-shuffled",
            vec![Model::fixed("records", 15, records.collect())],
            80,
            &["raw zstd shuffle"],
        ),
        golden("fixed-bytes-long", vec![Model::fixed("long", 40_000, long)], 80, &["raw zstd", "pages"]),
        golden(
            "long-double",
            vec![Model::new("long double", Physical::LongDouble, long_doubles)],
            40,
            &["raw"],
        ),
        golden(
            "long-decimals",
            vec![
                Model::decimals("near", 38, 2, &near),
                Model::decimals("near too", 76, 2, &near).with_missing(|i| i % 3 != 0),
                Model::decimals("far", 60, 2, &far),
            ],
            40,
            &["bit-packed", "raw"],
        ),
    ]
}

fn meanings() -> Golden {
    let r = noise(20, 12);
    let fixed = |name: &str, len: usize, logical| {
        let cells =
            r.iter().map(|v| Some((0..len).map(|i| v.rotate_left(i as u32 * 9) as u8).collect())).collect();
        Model::fixed(name, len as u32, cells).with_missing(|i| i % 6 != 2).logical(logical, Unit::None)
    };
    let named = |mut column: Model, name: &str, metadata: &[u8]| {
        let metadata = Value::Bytes(metadata.to_vec());
        column.detail = Some(Value::map([("name", Value::Str(name.into())), ("metadata", metadata)]));
        column
    };
    let numbers: Vec<i64> = r.iter().map(|v| (v % 999) as i64 - 500).collect();
    let months: Vec<i32> = numbers.iter().map(|&v| v as i32).collect();
    let texts: Vec<String> = numbers.iter().map(|v| format!("[{v}, {{}}]")).collect();
    let mut period = Model::words("period", Physical::I64, &numbers).logical(Logical::Period, Unit::None);
    period.detail = Some(Value::Str("M".into()));
    let columns = vec![
        period.with_missing(|i| i != 3),
        Model::words("months", Physical::I32, &months).logical(Logical::Interval, Unit::None),
        fixed("days", 8, Logical::Interval),
        fixed("months, days", 16, Logical::Interval),
        named(fixed("uuid", 16, Logical::Uuid), "arrow.uuid", b""),
        named(Model::text("json", &texts).logical(Logical::Json, Unit::None), "arrow.json", b""),
        named(fixed("of bytes", 3, Logical::Extension), "example.bytes", b"\x00\xff"),
        named(Model::text("of text", &texts).logical(Logical::Extension, Unit::None), "example.text", b"m"),
    ];
    golden("meanings", columns, 50, &[])
}

/// Runs of columns of several types, single columns around them.
fn column_runs() -> Golden {
    let mut columns = vec![Model::text("first", &["a", "", "b"])];
    for c in 0..40i32 {
        columns.push(Model::words(format!("i{}", c * c % 17), Physical::I32, &[c, 7 * c, -c]));
    }
    columns.push(Model::words("missing", Physical::I32, &[1, 2, 3]).with_missing(|i| i != 1));
    columns.extend((0..20).map(|c| Model::bools("\u{e9}".repeat(c % 5), &[c % 2 == 1, c > 7, false])));
    columns.extend(
        (0..20).map(|c| Model::words(format!("f{c}"), Physical::F64, &[0.25, f64::NAN, f64::from(c)])),
    );
    let table = Table { in_runs: true, ..Table::new("column-runs", columns) };
    Golden { table, compression: 50, features: &[], form: Form::Whole }
}

/// More columns than tables without a name index have, some of them with equal names.
fn name_index() -> Golden {
    let column = |i: i32| {
        let name = format!("{}", i * i % 11);
        if i % 2 == 0 {
            Model::words(name, Physical::I32, &[i, 7])
        } else {
            Model::text(name, &[i.to_string(), String::new()])
        }
    };
    golden("name-index", (0..24).map(column).collect(), 50, &[])
}

/// So many columns that sections are compressed, and that one of them has an index part.
fn compressed_leaves() -> Golden {
    let column = |i: u32| {
        let name = format!("column {i}");
        match i % 3 {
            0 => Model::words(name, Physical::U16, &[i as u16, 7]),
            1 => Model::words(name, Physical::F64, &[f64::from(i) / 8.0, -0.0]),
            _ => Model::text(name, &[i.to_string(), String::new()]),
        }
    };
    golden("compressed-leaves", (0..640).map(column).collect(), 50, &[])
}

/// Nested types: values as `docs/testing.md` lays them out.
fn nested() -> Vec<Golden> {
    let at = |table: Table, name: &str, compression, features| Golden {
        table: Table { name: name.into(), ..table },
        compression,
        features,
        form: Form::Whole,
    };
    vec![
        at(nested_tables::every_type(300), "nested", 50, &["bit-packed"]),
        at(nested_tables::every_type(20), "nested-raw", 0, &["raw"]),
        at(nested_tables::deep(62, 40), "nested-deep", 50, &["constant"]),
        at(nested_tables::every_type(0), "nested-no-rows", 50, &[]),
    ]
}

/// Full vectors in lanes of each size.
fn lanes() -> Golden {
    let r = noise(2100, 13);
    let of = |bits: u32| r.iter().map(move |v| v & ((1 << bits) - 1));
    let columns = vec![
        Model::words("3 bits", Physical::U8, &of(3).map(|v| v as u8).collect::<Vec<_>>()),
        Model::words("11 bits", Physical::I16, &of(11).map(|v| v as i16 - 1000).collect::<Vec<_>>()),
        Model::words("19 bits", Physical::U32, &of(19).map(|v| v as u32 + 77).collect::<Vec<_>>()),
        Model::words("45 bits", Physical::I64, &of(45).map(|v| v as i64 - (1 << 44)).collect::<Vec<_>>()),
    ];
    let wanted = &["lanes of 8 bits", "lanes of 16 bits", "lanes of 32 bits", "lanes of 64 bits"];
    golden("lanes", columns, 40, wanted)
}

/// Strings whose dictionary entries are codes of FSST symbols.
fn dictionary_of_symbols() -> Golden {
    let words = ["north ", "south ", "of the ", "river ", "bridge ", "market ", "\u{fc}ber ", "street "];
    let r = noise(3000, 14);
    let entries: Vec<String> = r[..400]
        .iter()
        .map(|v| {
            (0..4 + v % 5).map(|k| words[(v >> (8 + 3 * k)) as usize % 8]).collect::<String>()
                + &(v % 997).to_string()
        })
        .collect();
    let texts: Vec<&String> = r.iter().map(|v| &entries[(v >> 32) as usize % 400]).collect();
    golden(
        "dictionary-symbols",
        vec![Model::text("a", &texts)],
        40,
        &["bit-packed dictionary", "entries of symbols"],
    )
}

/// Words and strings whose dictionary codes are stored as they are.
fn raw_codes() -> Vec<Golden> {
    let r = noise(1500, 15);
    let texts: Vec<String> = r.iter().map(|v| format!("na\u{ef}ve {}", (v >> 20) % 9)).collect();
    let words: Vec<i32> = r.iter().map(|v| [7, -1, i32::MAX, 0][(v >> 20) as usize % 4]).collect();
    let of =
        |name, model| Golden { form: Form::RawCodes, ..golden(name, vec![model], 40, &["raw dictionary"]) };
    vec![
        of("raw-codes", Model::words("a", Physical::I32, &words)),
        of("raw-codes-texts", Model::text("a", &texts)),
    ]
}

/// A file that was written to a stream.
fn streamed() -> Golden {
    let r = noise(3000, 16);
    let columns = vec![
        Model::words("number", Physical::I64, &r),
        Model::text("text", &r.iter().map(|v| format!("{}", v % 100)).collect::<Vec<_>>()),
    ];
    Golden { form: Form::Streamed, ..golden("streamed", columns, 50, &["bit-packed dictionary"]) }
}

/// Files after each operation but append.
fn changed() -> Vec<Golden> {
    let operations = [
        Operation::Write,
        Operation::AddColumns,
        Operation::ReplaceColumns,
        Operation::DropColumns,
        Operation::RenameColumns,
        Operation::Metadata,
        Operation::Rollback,
        Operation::Compact,
    ];
    let of = |operation: Operation| {
        // `Write` stands for a stream here.
        let name = match operation {
            Operation::Write => "parts".to_owned(),
            _ => format!("after-{}", operation.name().replace(' ', "-")),
        };
        let table = Table { name, ..grown::table(250) };
        Golden { table, compression: 50, features: &[], form: Form::Changed(operation) }
    };
    operations.map(of).into()
}

/// Unsigned integers of 128 bits: in a bundle, in blocks of their own and inside of nested values.
/// The file of 0.2 has them as i128 with a host variant, in the order of signed numbers.
fn unsigned_wide() -> Golden {
    let r = noise(1100, 17);
    let edges = [0, 1, (1 << 127) - 1, 1 << 127, u128::MAX];
    let edge = |v: u64| edges[(v % 5) as usize];
    let cell = |v: u64| (!v.is_multiple_of(7)).then(|| edge(v >> 8).to_le_bytes().to_vec());
    let of = |name: &str, value: &dyn Fn(u64) -> u128| {
        Model::words(name, Physical::U128, &r.iter().map(|&v| value(v)).collect::<Vec<_>>())
    };
    let child = |name| Model::new(name, Physical::U128, Vec::new());
    let lists = r.iter().map(|&v| nested::list(&[cell(v), cell(v >> 9)][..v as usize % 3])).collect();
    let structs = r.iter().map(|&v| nested::record(&[cell(v)])).collect();
    let mut required = of("not nullable", &edge);
    required.of.host_variant = 4;
    let far = |v: u64| u128::from(v) << 64 | u128::from(v.rotate_left(9));
    let columns = vec![
        of("near", &|v| u128::from(v % 1000)),
        of("far", &far).with_missing(|i| i % 3 != 0),
        required,
        Model::nested("lists", Physical::List, vec![child("item")], lists),
        Model::nested("structs", Physical::Struct, vec![child("field")], structs),
    ];
    golden("unsigned-128", columns, 40, &["raw", "bit-packed", "bit-packed dictionary"])
}

/// Files to which rows were appended in place.
fn generations() -> Vec<Golden> {
    let of = |name: &str, table: Table, form, features| Golden {
        table: Table { name: name.into(), ..table },
        compression: 50,
        features,
        form,
    };
    vec![
        of("slot-pages", grown::table(300), Form::Grown(&[100]), &[]),
        of("generations", grown::table(300), Form::Grown(&[100, 200, 250]), &[]),
        of("pieces", grown::of_pieces(41), Form::Grown(&[20, 24, 40]), &[]),
        of("tiers", grown::of_tiers(), Form::Grown(&[330_000, 330_010]), &["constant"]),
    ]
}
