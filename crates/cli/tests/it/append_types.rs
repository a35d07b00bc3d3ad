//! Rows of other types, and columns that one of the files lacks.

use std::path::{Path, PathBuf};

use crate::common::{
    Folder, categorical, entasis, labels, lines, missing, pandas, range, rows, strings, verify, words,
};
use entasis::{Column, ColumnType, File, Frame, Logical, Missing, Physical, Unit, Value};
use serde_json::{Value as Json, json};

fn host(name: &str) -> Value {
    Value::map([("host", Value::from(name))])
}

/// A table of these columns. The first one gives the number of rows.
fn table(host: Value, columns: Vec<Column>) -> Frame {
    let n_rows = columns.first().map_or(0, |column| column.array.n_values());
    Frame { n_rows, columns, extra: Vec::new(), host }
}

fn polars(column: Column) -> Frame {
    table(host("polars"), vec![column])
}

fn of_pandas(columns: Vec<Column>) -> Frame {
    let n = columns.first().map_or(0, |column| column.array.n_values());
    table(pandas(n), columns)
}

fn i64s(values: &[i64]) -> Column {
    words("a", ColumnType::plain(Physical::I64), &values.iter().map(|v| v.to_le_bytes()).collect::<Vec<_>>())
}

fn i8s(values: &[i8]) -> Column {
    words("a", ColumnType::plain(Physical::I8), &values.iter().map(|v| v.to_le_bytes()).collect::<Vec<_>>())
}

fn u64s(values: &[u64]) -> Column {
    words("a", ColumnType::plain(Physical::U64), &values.iter().map(|v| v.to_le_bytes()).collect::<Vec<_>>())
}

fn f64s(values: &[f64]) -> Column {
    words("a", ColumnType::plain(Physical::F64), &values.iter().map(|v| v.to_le_bytes()).collect::<Vec<_>>())
}

fn f32s(values: &[f32]) -> Column {
    words("a", ColumnType::plain(Physical::F32), &values.iter().map(|v| v.to_le_bytes()).collect::<Vec<_>>())
}

fn texts(values: &[&str]) -> Column {
    strings("a", Physical::Utf8, values)
}

fn times(unit: Unit, values: &[i64]) -> Column {
    let mut column = i64s(values);
    column.column_type = ColumnType { logical: Logical::Timestamp, unit, ..column.column_type };
    column
}

fn decimals(precision: u8, scale: i8, values: &[i64]) -> Column {
    let of = ColumnType::decimal(precision, scale).unwrap();
    match of.physical {
        Physical::I32 => {
            words("a", of, &values.iter().map(|&v| (v as i32).to_le_bytes()).collect::<Vec<_>>())
        }
        _ => words("a", of, &values.iter().map(|v| v.to_le_bytes()).collect::<Vec<_>>()),
    }
}

/// Categories of Polars, whose kind is in the metadata of the field.
fn categories(codes: &[i8], names: &[&str], ordered: bool) -> Frame {
    let kind = if ordered { "enum" } else { "categories" };
    let entry = Value::List(vec![Value::UInt(0), Value::from(format!("{kind} {names:?}"))]);
    let host = [("host", Value::from("polars")), ("field_metadata", Value::List(vec![entry]))];
    let mut frame = table(Value::map(host), vec![categorical("a", codes, 0, ordered)]);
    frame.extra = vec![strings("", Physical::Utf8, names)];
    frame
}

struct Files {
    folder: Folder,
    file: PathBuf,
    rows: PathBuf,
}

impl Files {
    fn of(file: &Frame, rows: &Frame) -> Self {
        let folder = Folder::new();
        let file = folder.write("file.entasis", file);
        let rows = folder.write("rows.entasis", rows);
        Self { folder, file, rows }
    }

    /// Appends, which must not change the types. Returns the new rows.
    fn in_place(&self) -> Vec<Json> {
        let (before, types) = (rows(&self.file), types(&self.file));
        let said = entasis(args!["append", "--json", self.file, self.rows]).fine();
        assert_eq!(lines(&said)[0]["stored_anew"], json!([]));
        verify(&self.file);
        assert_eq!(self::types(&self.file), types);
        let mut after = rows(&self.file);
        assert_eq!(after[..before.len()], before);
        after.split_off(before.len())
    }

    /// Appends with an option. Returns all values of the column `a`.
    fn anew(&self, option: &str) -> Vec<Json> {
        let before = rows(&self.file);
        let said = entasis(args!["append", option, "--json", self.file, self.rows]).fine();
        assert_eq!(lines(&said)[0]["stored_anew"], json!(["a"]));
        verify(&self.file);
        let listed = &lines(&entasis(args!["generations", "--json", self.file]).fine())[0]["generations"];
        assert_eq!(listed[1]["operation"], "replace columns");
        let earlier = entasis(args!["head", "--json", "-n", "99", "--generation", "1", self.file]).fine();
        assert_eq!(lines(&earlier), before);
        rows(&self.file).iter().map(|row| row["a"].clone()).collect()
    }

    /// Appends, which must fail and leave the file as it was.
    fn refused(&self, options: &[&str]) -> String {
        let bytes = std::fs::read(&self.file).unwrap();
        let words = ["append"].iter().chain(options).map(std::ffi::OsString::from);
        let message = entasis(words.chain(args![self.file, self.rows])).failed();
        assert!(message.contains("file.entasis") && message.contains("column \"a\""), "{message}");
        assert!(std::fs::read(&self.file).unwrap() == bytes, "{message}");
        message
    }
}

fn types(path: &Path) -> Vec<String> {
    let schema = &lines(&entasis(args!["schema", "--json", path]).fine())[0];
    schema["columns"].as_array().unwrap().iter().map(|column| column["type"].to_string()).collect()
}

#[test]
fn rows_take_the_type_of_the_file_if_it_holds_them() {
    for (file, rows, wanted) in [
        (i64s(&[1]), f64s(&[3.0, -7.0]), vec![json!(3), json!(-7)]),
        (i64s(&[1]), u64s(&[3]), vec![json!(3)]),
        (i64s(&[1]), i8s(&[-3]), vec![json!(-3)]),
        (i8s(&[1]), i64s(&[-128, 127]), vec![json!(-128), json!(127)]),
        (u64s(&[1]), i64s(&[i64::MAX]), vec![json!(i64::MAX)]),
        (f64s(&[1.5]), i64s(&[1 << 53]), vec![json!((1_u64 << 53) as f64)]),
        (f64s(&[1.5]), f32s(&[0.25]), vec![json!(0.25)]),
        (f32s(&[1.5]), f64s(&[0.25]), vec![json!(0.25)]),
        (i64s(&[1]), missing(f64s(&[2.0, 1.5]), &[0, 1], Missing::Null), vec![json!(2), json!(null)]),
        (decimals(10, 2, &[125]), decimals(4, 1, &[15]), vec![json!(1.5)]),
        (decimals(4, 1, &[15]), decimals(10, 2, &[150]), vec![json!(1.5)]),
    ] {
        let name = format!("{:?} {:?}", file.column_type, rows.column_type);
        let found = Files::of(&polars(file), &polars(rows)).in_place();
        assert_eq!(found, wanted.into_iter().map(|a| json!({"a": a})).collect::<Vec<_>>(), "{name}");
    }
}

#[test]
fn times_change_their_unit() {
    let of = |unit, values: &[i64]| polars(times(unit, values));
    let same = Files::of(&of(Unit::Millisecond, &[0]), &of(Unit::Millisecond, &[1000, 1]));
    let wanted = same.in_place();
    let finer = Files::of(&of(Unit::Millisecond, &[0]), &of(Unit::Nanosecond, &[1_000_000_000, 1_000_000]));
    assert_eq!(finer.in_place(), wanted);
    let lost = Files::of(&of(Unit::Millisecond, &[0]), &of(Unit::Nanosecond, &[1_000_000, 1]));
    let message = lost.refused(&[]);
    assert!(
        message.contains("1 ns in row 1") && message.contains("--widen makes it timestamp[ns]"),
        "{message}"
    );
    assert_eq!(lost.anew("--widen").len(), 3);
    assert_eq!(types(&lost.file), ["\"timestamp[ns]\""]);
}

#[test]
fn values_that_the_type_does_not_hold_are_named() {
    for (file, rows, parts) in [
        (i64s(&[1]), f64s(&[3.0, 1.5]), ["does not hold 1.5 in row 1", "--widen makes it f64"]),
        (i64s(&[1]), f64s(&[-0.0]), ["does not hold -0.0 in row 0", "--widen makes it f64"]),
        (i64s(&[1]), f64s(&[f64::NAN]), ["does not hold NaN in row 0", "--widen makes it f64"]),
        (i8s(&[1]), i64s(&[300]), ["does not hold 300 in row 0", "--widen makes it i64"]),
        (f32s(&[1.5]), f64s(&[0.1]), ["does not hold 0.1 in row 0", "--widen makes it f64"]),
        (f64s(&[1.5]), i64s(&[(1 << 53) + 1]), ["9007199254740993 in row 0", "convert one of them"]),
        (i64s(&[(1 << 53) + 1]), f64s(&[1.5]), ["f64 does not hold 9007199254740993", "convert one"]),
        (
            decimals(4, 1, &[15]),
            decimals(10, 2, &[125]),
            ["1.25 in row 0", "--widen makes it decimal(10, 2)"],
        ),
        (i64s(&[1]), texts(&["x"]), ["i64 in the file, and utf8 in the rows", "convert one of them"]),
        (texts(&["x"]), i64s(&[1]), ["utf8 in the file, and i64 in the rows", "convert one of them"]),
    ] {
        let is_advised = parts[1].contains("--widen");
        let files = Files::of(&polars(file), &polars(rows));
        let message = files.refused(&[]);
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
        if !is_advised {
            files.refused(&["--widen"]);
        }
    }
}

#[test]
fn columns_are_stored_anew_in_a_wider_type() {
    for (file, rows, wanted) in [
        (i64s(&[1]), f64s(&[1.5]), json!([1.0, 1.5])),
        (i64s(&[1]), f64s(&[-0.0]), json!([1.0, -0.0])),
        (i8s(&[1]), i64s(&[300]), json!([1, 300])),
        (f32s(&[1.5]), f64s(&[0.1]), json!([1.5, 0.1])),
        (u64s(&[1]), i64s(&[-1]), json!([1.0, -1.0])),
        (decimals(4, 1, &[15]), decimals(10, 2, &[125]), json!([1.5, 1.25])),
    ] {
        assert_eq!(Json::from(Files::of(&polars(file), &polars(rows)).anew("--widen")), wanted);
    }
}

#[test]
fn types_of_pandas_without_a_missing_value_stay_or_widen() {
    let nullable = |mask: &[u8]| {
        let mut column = missing(i64s(&[3, 4]), mask, Missing::NA);
        column.column_type.host_variant = 1;
        of_pandas(vec![column])
    };
    let ints = || of_pandas(vec![i64s(&[1, 2])]);
    let floats = |values: &[f64]| of_pandas(vec![f64s(values)]);
    assert_eq!(Files::of(&ints(), &nullable(&[0, 0])).in_place(), [json!({"a": 3}), json!({"a": 4})]);
    let files = Files::of(&ints(), &nullable(&[0, 1]));
    let message = files.refused(&[]);
    assert!(message.contains("a missing value in row 1") && message.contains("--widen"), "{message}");
    assert_eq!(Json::from(files.anew("--widen")), json!([1, 2, 3, null]));
    // NaN is the missing value of the floats of NumPy.
    let files = Files::of(&nullable(&[0, 0]), &floats(&[5.0, f64::NAN]));
    assert_eq!(files.in_place(), [json!({"a": 5}), json!({"a": null})]);
    let files = Files::of(&ints(), &floats(&[5.0, f64::NAN]));
    assert!(files.refused(&[]).contains("a missing value in row 1"));
    assert_eq!(files.anew("--widen").len(), 4);
    assert_eq!(types(&files.file), ["\"f64\""]);
}

#[test]
fn strings_and_categories_take_each_other() {
    let text = |values: &[&str]| polars(missing(texts(values), &vec![0; values.len()], Missing::Null));
    let files = Files::of(&categories(&[0, 1], &["b", "a"], false), &text(&["c", "a", "c"]));
    assert_eq!(files.in_place(), ["c", "a", "c"].map(|a| json!({"a": a})));
    let files = Files::of(&text(&["x"]), &categories(&[1, 0], &["b", "a"], false));
    assert_eq!(files.in_place(), ["a", "b"].map(|a| json!({"a": a})));
    // Codes of another width.
    let mut wide = categories(&[], &["a", "c"], false);
    let of = ColumnType { physical: Physical::U32, ..wide.columns[0].column_type };
    wide.columns = vec![Column { dictionary: Some(0), ..words("a", of, &[1_u32, 0].map(u32::to_le_bytes)) }];
    wide.n_rows = 2;
    let files = Files::of(&categories(&[0, 1], &["b", "a"], false), &wide);
    assert_eq!(files.in_place(), ["c", "a"].map(|a| json!({"a": a})));
    // Ordered categories take known ones.
    let file = || categories(&[0, 1], &["a", "b"], true);
    let files = Files::of(&file(), &categories(&[0, 0], &["b", "c"], true));
    assert_eq!(files.in_place(), ["b", "b"].map(|a| json!({"a": a})));
    let files = Files::of(&file(), &text(&["b", "c"]));
    assert!(files.refused(&[]).contains("\"c\" in row 1"));
    let files = Files::of(&file(), &text(&["b"]));
    assert_eq!(files.in_place(), [json!({"a": "b"})]);
}

#[test]
fn a_column_without_values_takes_the_type_of_the_rows() {
    let blank = |n: usize| polars(missing(texts(&vec![""; n]), &vec![1; n], Missing::Null));
    let nullable = |column: Column, mask: &[u8]| polars(missing(column, mask, Missing::Null));
    let files = Files::of(&blank(2), &nullable(i64s(&[3]), &[0]));
    assert_eq!(Json::from(files.anew("--no-sync")), json!([null, null, 3]));
    let files = Files::of(&blank(0), &nullable(i64s(&[3]), &[0]));
    assert_eq!(Json::from(files.anew("--no-sync")), json!([3]));
    let files = Files::of(&blank(1), &categories(&[1, 0], &["b", "a"], false));
    assert_eq!(files.in_place().len(), 2);
    let files = Files::of(&nullable(i64s(&[3]), &[1]), &categories(&[1, 0], &["b", "a"], false));
    assert_eq!(Json::from(files.anew("--no-sync")), json!([null, "a", "b"]));
    let host = File::open(&files.file).unwrap().host().unwrap();
    assert_eq!(host, categories(&[], &["b", "a"], false).host);
    // Rows without values take the type of the file.
    let files = Files::of(&nullable(i64s(&[3]), &[0]), &blank(2));
    assert_eq!(files.in_place(), [json!({"a": null}), json!({"a": null})]);
    let files =
        Files::of(&of_pandas(vec![i64s(&[3])]), &of_pandas(vec![missing(texts(&[""]), &[1], Missing::NaN)]));
    assert!(files.refused(&[]).contains("the type i64 of the file has no missing value"));
}

fn named(name: &str, column: Column) -> Column {
    Column { name: name.to_owned(), ..column }
}

#[test]
fn columns_of_one_file_alone_are_missing_in_the_other() {
    let file = || {
        let mut frame = categories(&[0], &["x"], false);
        frame.columns.push(named("b", missing(i64s(&[1]), &[0], Missing::Null)));
        frame
    };
    let more = || {
        let mut frame = categories(&[0], &["y"], false);
        frame.columns[0].name = "c".to_owned();
        frame.columns.push(named("b", missing(i64s(&[2]), &[0], Missing::Null)));
        frame
    };
    let files = Files::of(&file(), &more());
    let message = entasis(args!["append", files.file, files.rows]).failed();
    assert!(message.contains("lack a column") && message.contains("--fill makes it missing"), "{message}");
    let said = entasis(args!["append", "--fill", "--json", files.file, files.rows]).fine();
    assert_eq!(lines(&said)[0]["stored_anew"], json!([]));
    verify(&files.file);
    let wanted = [json!({"a": "x", "b": 1, "c": null}), json!({"a": null, "b": 2, "c": "y"})];
    assert_eq!(rows(&files.file), wanted);
    let listed = &lines(&entasis(args!["generations", "--json", files.file]).fine())[0]["generations"];
    assert_eq!(listed[1]["operation"], "add columns");
    // The changed file changes again.
    entasis(args!["append", "--fill", files.file, files.rows]).fine();
    verify(&files.file);
    assert_eq!(rows(&files.file)[2], wanted[1]);
}

#[test]
fn types_without_a_missing_value_are_not_filled() {
    let file = || of_pandas(vec![i64s(&[1, 2]), named("b", i64s(&[3, (1 << 53) + 1]))]);
    let more = || of_pandas(vec![named("b", i64s(&[5])), named("c", i64s(&[6]))]);
    let files = Files::of(&file(), &more());
    let message = files.refused(&["--fill"]);
    assert!(message.contains("no missing value") && message.contains("--widen makes it f64"), "{message}");
    let said = entasis(args!["append", "--fill", "--widen", files.file, files.rows]).fine();
    assert!(said.contains("3 rows x 3 columns") && said.contains("stored anew: a"), "{said}");
    verify(&files.file);
    assert_eq!(types(&files.file), ["\"f64\"", "\"i64\"", "\"f64\""]);
    assert_eq!(rows(&files.file)[1]["b"], json!((1_i64 << 53) + 1));
    // An integer that f64 does not hold makes the column nullable.
    let files = Files::of(
        &of_pandas(vec![named("x", i64s(&[0])), i64s(&[(1 << 53) + 1])]),
        &of_pandas(vec![named("x", i64s(&[1]))]),
    );
    entasis(args!["append", "--fill", "--widen", files.file, files.rows]).fine();
    verify(&files.file);
    let found: Vec<Json> = rows(&files.file).iter().map(|row| row["a"].clone()).collect();
    assert_eq!(found, [json!((1_i64 << 53) + 1), json!(null)]);
}

#[test]
fn labels_and_blocks_follow_new_columns() {
    let of = |columns: Vec<Column>, width: i64, blocks: &[i64]| {
        let n = columns[0].array.n_values();
        let Value::Map(mut index) = range(n) else { unreachable!() };
        index.push((Value::from("class"), Value::from("Index")));
        let labels = labels(&[("class", Value::from("Index")), ("width", Value::Int(width))]);
        let blocks = Value::List(blocks.iter().map(|&n| Value::Int(n)).collect());
        let pairs = [
            ("host", Value::from("static_frame")),
            ("class", Value::from("Frame")),
            ("index", Value::Map(index)),
            ("columns", labels),
            ("blocks", blocks),
        ];
        table(Value::map(pairs), columns)
    };
    let file = of(vec![f64s(&[1.5]), named("b", f64s(&[2.5]))], 1, &[2]);
    let more = of(vec![f64s(&[3.5]), named("longer", f64s(&[4.5]))], 6, &[0, 0]);
    let files = Files::of(&file, &more);
    entasis(args!["append", "--fill", files.file, files.rows]).fine();
    verify(&files.file);
    let host = File::open(&files.file).unwrap().host().unwrap();
    assert_eq!(host.get("columns").unwrap().get("width").unwrap().as_int(), Some(6));
    assert!(host.get("blocks").is_none());
    assert_eq!(rows(&files.file).len(), 2);
    assert!(files.folder.path().exists());
}
