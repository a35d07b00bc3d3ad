//! Rows of one file that are added to another.

use std::path::Path;

use crate::common::{
    Folder, by_tier, categorical, counting, entasis, entasis_from, every_type, labels, lines, missing,
    pandas, range, rows, strings, verify, words,
};
use entasis::{
    Change, Column, ColumnType, File, Frame, Missing, Physical, Silent, Unit, Value, WriteOptions,
};
use serde_json::{Value as Json, json};

/// Numbers of rows: one file changes in place, the other is written anew.
fn sizes() -> [usize; 2] {
    [by_tier(40_000, 100_000), 50]
}

fn host(path: &Path) -> Value {
    File::open(path).unwrap().host().unwrap()
}

/// Rows of every flat type, of pandas.
fn every() -> Frame {
    Frame { host: pandas(4), ..every_type() }
}

/// A column of categories and its dictionary.
fn cities(codes: &[i8], names: &[&str], ordered: bool) -> Frame {
    Frame {
        n_rows: codes.len() as u64,
        columns: vec![categorical("city", codes, 0, ordered)],
        extra: vec![strings("", Physical::Utf8, names)],
        host: pandas(codes.len() as u64),
    }
}

#[test]
fn rows_of_a_file_follow_those_of_another() {
    for n in sizes() {
        let folder = Folder::new();
        let file = folder.write("file.entasis", &Frame { host: pandas(n as u64), ..counting(n) });
        let mut more = counting(700);
        more.columns.reverse();
        more.host = pandas(700);
        let more = folder.write("more.entasis", &more);
        let (old, new) = (rows(&file), rows(&more));
        for times in 1..4 {
            let said = entasis(args!["append", "--no-sync", "--compression", "0", file, more]).fine();
            assert!(said.ends_with(" rows x 2 columns\n"), "{said}");
            verify(&file);
            let wanted: Vec<Json> = old.iter().chain(new.iter().cycle().take(times * 700)).cloned().collect();
            assert!(rows(&file) == wanted);
            let stop = host(&file).get("index").unwrap().get("stop").unwrap().as_int();
            assert_eq!(stop, Some((n + times * 700) as i64));
        }
        if n > 50 {
            let listed = &lines(&entasis(args!["generations", "--json", file]).fine())[0]["generations"];
            assert_eq!((&listed[3]["operation"], &listed[3]["n_rows"]), (&json!("append"), &json!(n + 2100)));
        }
    }
}

#[test]
fn a_file_is_appended_to_itself_and_from_the_standard_input() {
    let folder = Folder::new();
    let file = folder.write("file.entasis", &every());
    let before = rows(&file);
    let said = entasis(args!["append", "--json", "--threads", "1", file, file]).fine();
    let wanted = json!({
        "file": file.to_str().unwrap(), "generation": 2, "n_rows": 8, "n_columns": 20, "stored_anew": [],
    });
    assert_eq!(lines(&said), [wanted]);
    verify(&file);
    assert_eq!(rows(&file), [&before[..], &before].concat());
    let more = folder.write("more.entasis", &every());
    entasis_from(args!["append", file, "-"], std::fs::File::open(more).unwrap().into()).fine();
    verify(&file);
    assert_eq!(rows(&file), [&before[..], &before, &before].concat());
}

#[test]
fn rows_are_stored_in_an_edition() {
    let folder = Folder::new();
    let file = folder.write("file.entasis", &counting(5));
    entasis(args!["append", "--edition", "1", file, file]).fine();
    verify(&file);
    let message = entasis(args!["append", "--edition", "2", file, file]).failed();
    assert!(message.contains("edition 2 is not known: this release writes edition 1"), "{message}");
    let more = folder.write("more.entasis", &counting(10));
    let message = entasis(args!["replace", "--edition", "0", file, more]).failed();
    assert!(message.contains("edition 0 is not known"), "{message}");
    assert_eq!(rows(&file).len(), 10);
}

#[test]
fn no_rows_change_nothing() {
    let folder = Folder::new();
    let file = folder.write("file.entasis", &counting(50));
    let none = folder.write("none.entasis", &counting(0));
    let before = rows(&file);
    entasis(args!["append", file, none]).fine();
    verify(&file);
    assert_eq!(rows(&file), before);
    entasis(args!["append", none, file]).fine();
    verify(&none);
    assert_eq!(rows(&none), before);
}

/// The frame with NaN as the missing value of its column.
fn with_nan(mut frame: Frame, mask: &[u8]) -> Frame {
    frame.columns = frame.columns.into_iter().map(|column| missing(column, mask, Missing::NaN)).collect();
    frame
}

#[test]
fn categories_become_the_union() {
    let repeated: Vec<i8> = (0..sizes()[0]).map(|i| (i % 3) as i8).collect();
    for codes in [&repeated[..], &[0, 2, 1]] {
        let folder = Folder::new();
        let old = || cities(codes, &["Oslo", "Rome", "Bern"], false);
        let file = folder.write("file.entasis", &with_nan(old(), &vec![0; codes.len()]));
        let new = cities(&[0, 1, 2, 1], &["Kyiv", "Rome", "Lima"], false);
        let more = folder.write("more.entasis", &with_nan(new, &[0, 0, 0, 1]));
        let before = rows(&file);
        for _ in 0..2 {
            entasis(args!["append", file, more]).fine();
            verify(&file);
        }
        let new =
            [json!("Kyiv"), json!("Rome"), json!("Lima"), json!(null)].map(|city| json!({"city": city}));
        assert!(rows(&file) == [&before[..], &new, &new].concat());
        let schema = &lines(&entasis(args!["schema", "--json", file]).fine())[0];
        assert_eq!(schema["columns"][0]["n_categories"], 5);
    }
}

#[test]
fn ordered_categories_and_too_many_of_them_are_refused() {
    let folder = Folder::new();
    let file = folder.write("file.entasis", &cities(&[0, 1], &["low", "high"], true));
    let same = folder.write("same.entasis", &cities(&[1], &["low", "high"], true));
    let other = folder.write("other.entasis", &cities(&[1], &["high", "low"], true));
    entasis(args!["append", file, same]).fine();
    verify(&file);
    assert_eq!(rows(&file).last().unwrap()["city"], "high");
    let message = entasis(args!["append", file, other]).failed();
    assert!(message.contains("ordered categories") && message.contains("\"city\""), "{message}");

    let names = |from: usize| (from..from + 100).map(|i| format!("city {i}")).collect::<Vec<_>>();
    let of =
        |names: &[String]| cities(&[99, 0], &names.iter().map(String::as_str).collect::<Vec<_>>(), false);
    let file = folder.write("many.entasis", &of(&names(0)));
    let fits = folder.write("fits.entasis", &of(&names(26)));
    let more = folder.write("more.entasis", &of(&names(27)));
    let message = entasis(args!["append", file, more]).failed();
    assert!(message.contains("127 categories") && message.contains("en.append"), "{message}");
    entasis(args!["append", file, fits]).fine();
    verify(&file);
    let cities: Vec<Json> = rows(&file).iter().map(|row| row["city"].clone()).collect();
    assert_eq!(cities, ["city 99", "city 0", "city 125", "city 26"]);
}

#[test]
fn a_dictionary_of_two_columns_grows_once() {
    let folder = Folder::new();
    let two = |codes: [&[i8]; 2], names: [&[&str]; 2]| {
        let mut frame = cities(codes[0], names[0], false);
        frame.columns.push(categorical("to", codes[1], usize::from(names[0] != names[1]), false));
        if names[0] != names[1] {
            frame.extra.push(strings("", Physical::Utf8, names[1]));
        }
        frame
    };
    let file = folder.write("file.entasis", &two([&[0, 1], &[1, 0]], [&["Oslo", "Rome"]; 2]));
    let more = folder.write("more.entasis", &two([&[0, 1], &[1, 0]], [&["Bern", "Oslo"], &["Lima", "Bern"]]));
    entasis(args!["append", file, more]).fine();
    verify(&file);
    let wanted = [["Oslo", "Rome"], ["Rome", "Oslo"], ["Bern", "Bern"], ["Oslo", "Lima"]];
    assert_eq!(rows(&file), wanted.map(|[city, to]| json!({"city": city, "to": to})));
}

/// Appends `more` to `file`, which must fail and leave the file as it was.
fn refused(folder: &Folder, file: &Frame, more: &Frame) -> String {
    let (file, more) = (folder.write("file.entasis", file), folder.write("more.entasis", more));
    let bytes = std::fs::read(&file).unwrap();
    let message = entasis(args!["append", file, more]).failed();
    assert!(message.contains("file.entasis"), "{message}");
    assert!(std::fs::read(&file).unwrap() == bytes, "{message}");
    message
}

fn one(column: Column) -> Frame {
    Frame { n_rows: 2, columns: vec![column], extra: Vec::new(), host: pandas(2) }
}

#[test]
fn other_names_and_types_are_refused() {
    let folder = Folder::new();
    let numbers = |name: &str| words(name, ColumnType::plain(Physical::I64), &[[1; 8], [2; 8]]);
    let message = refused(&folder, &one(numbers("a")), &one(numbers("b")));
    assert!(message.contains("lack a column of the file") && message.contains("\"a\""), "{message}");
    let mut two = one(numbers("a"));
    two.columns.push(numbers("extra"));
    let message = refused(&folder, &one(numbers("a")), &two);
    assert!(message.contains("a column that the file lacks") && message.contains("\"extra\""), "{message}");
    let mut twice = one(numbers("a"));
    twice.columns.extend([numbers("b"), numbers("a")]);
    let mut other = one(numbers("b"));
    other.columns.extend([numbers("a"), numbers("a")]);
    let message = refused(&folder, &twice, &other);
    assert!(message.contains("occurs twice"), "{message}");

    let text = strings("a", Physical::Utf8, &["x", "y"]);
    let message = refused(&folder, &one(numbers("a")), &one(text));
    assert!(message.contains("i64 in the file, and utf8 in the rows"), "{message}");
    assert!(message.contains("convert one of them"), "{message}");
    let complex = words("a", ColumnType::plain(Physical::Complex64), &[[1; 8], [2; 8]]);
    let message = refused(&folder, &one(numbers("a")), &one(complex));
    assert!(message.contains("use en.append(rows, path) in Python"), "{message}");
    let zoned = |zone: &str| {
        let of = ColumnType {
            logical: entasis::Logical::Timestamp,
            unit: Unit::Second,
            ..ColumnType::plain(Physical::I64)
        };
        let mut column = words("a", of, &[[1; 8], [2; 8]]);
        column.detail = Some(Value::from(zone));
        one(column)
    };
    let message = refused(&folder, &zoned("Europe/Oslo"), &zoned("Europe/Rome"));
    assert!(message.contains("Europe/Oslo") && message.contains("Europe/Rome"), "{message}");
}

#[test]
fn other_hosts_and_indexes_are_refused() {
    let folder = Folder::new();
    let of = |host: Value| Frame { host, ..counting(5) };
    let with = |key: &str, value: Value| {
        let Value::Map(mut pairs) = pandas(5) else { unreachable!() };
        pairs.retain(|(name, _)| name.as_str() != Some(key));
        pairs.push((Value::from(key), value));
        Value::Map(pairs)
    };
    let polars = Value::map([("host", Value::from("polars"))]);
    let message = refused(&folder, &of(pandas(5)), &of(polars.clone()));
    assert!(message.contains("the file is of pandas, the other one of polars"), "{message}");
    refused(&folder, &of(polars), &of(Value::Null));
    let from = |start: i64, name: Value| {
        let pairs = [("start", start), ("stop", start + 5), ("step", 1)].map(|(key, n)| (key, Value::Int(n)));
        let index = [("kind", Value::from("range")), ("name", name)].into_iter().chain(pairs);
        with("index", Value::map(index))
    };
    let message = refused(&folder, &of(from(1, Value::Null)), &of(pandas(5)));
    assert!(message.contains("the index (labels of rows) of the file is not 0, 1, 2"), "{message}");
    let message = refused(&folder, &of(pandas(5)), &of(from(7, Value::Null)));
    assert!(message.contains("the index (labels of rows) of the rows to append is not 0"), "{message}");
    let message = refused(&folder, &of(pandas(5)), &of(from(0, Value::from("n"))));
    assert!(message.contains("another name"), "{message}");
    let message = refused(&folder, &of(pandas(5)), &of(with("columns", range(2))));
    assert!(message.contains("labels of columns"), "{message}");
    let message = refused(&folder, &of(with("missing_kinds", Value::List(vec![]))), &of(pandas(5)));
    assert!(message.contains("missing values of several kinds") && message.contains("Python"), "{message}");
    let r = |key: &str, value: Value| {
        of(Value::map([("host", Value::from("r")), ("form", Value::from("data.frame")), (key, value)]))
    };
    let message =
        refused(&folder, &r("encodings", Value::List(vec![])), &r("encodings", Value::List(vec![])));
    assert!(
        message.contains("encodings") && message.contains("append_entasis(rows, path) in R"),
        "{message}"
    );
    let groups = Value::List(vec![Value::List(vec![Value::from("groups"), Value::Null])]);
    let message = refused(&folder, &r("attributes", groups), &r("row_names", Value::from("numbers")));
    assert!(message.contains("\"groups\""), "{message}");

    // An index that continues the index of the file.
    let file = folder.write("file.entasis", &of(pandas(5)));
    let more = folder.write("more.entasis", &of(from(5, Value::Null)));
    entasis(args!["append", file, more]).fine();
    verify(&file);
    assert_eq!(host(&file), pandas(10));
}

#[test]
fn entries_of_columns_are_compared_by_name() {
    let folder = Folder::new();
    let of = |column: u64, metadata: &str| {
        let entry = Value::List(vec![Value::UInt(column), Value::from(metadata)]);
        Value::map([("host", Value::from("polars")), ("field_metadata", Value::List(vec![entry]))])
    };
    let file = Frame { host: of(1, "same"), ..counting(5) };
    let mut more = counting(5);
    more.columns.reverse();
    more.host = of(1, "same");
    let message = refused(&folder, &file, &more);
    assert!(message.contains("field_metadata") && message.contains("in Python"), "{message}");
    more.host = of(0, "other");
    refused(&folder, &file, &more);
    more.host = of(0, "same");
    let file = folder.write("file.entasis", &file);
    let more = folder.write("more.entasis", &more);
    entasis(args!["append", file, more]).fine();
    verify(&file);
    assert_eq!(host(&file), of(1, "same"));
}

#[test]
fn nested_columns_objects_and_trees_are_refused() {
    let folder = Folder::new();
    let golden = |name: &str| {
        let path = format!("{}/../../tests/golden/{name}.entasis", env!("CARGO_MANIFEST_DIR"));
        folder.bytes("copy.entasis", &std::fs::read(path).unwrap())
    };
    for (name, part) in [
        ("v0.2/nested", "nested values"),
        ("trees/table-and-metadata", "objects"),
        ("trees/rows", "tree of values"),
    ] {
        let file = golden(name);
        let bytes = std::fs::read(&file).unwrap();
        let message = entasis(args!["append", file, file]).failed();
        assert!(message.contains(part), "{message}");
        assert!(std::fs::read(&file).unwrap() == bytes);
    }
}

#[test]
fn labels_of_static_frame_go_on() {
    let folder = Folder::new();
    let of = |n: usize, width: i64| {
        let Value::Map(mut index) = range(n as u64) else { unreachable!() };
        index.push((Value::from("class"), Value::from("Index")));
        let columns = labels(&[("class", Value::from("Index")), ("width", Value::Int(width))]);
        let pairs =
            [("host", "static_frame"), ("class", "Frame")].map(|(key, value)| (key, Value::from(value)));
        let more = [("index", Value::Map(index)), ("columns", columns)];
        Frame { host: Value::map(pairs.into_iter().chain(more)), ..counting(n) }
    };
    let file = folder.write("file.entasis", &of(5, 4));
    let more = folder.write("more.entasis", &of(3, 7));
    entasis(args!["append", file, more]).fine();
    verify(&file);
    assert_eq!(host(&file), of(8, 4).host);
}

#[test]
fn damage_and_a_busy_file_leave_the_rows() {
    let folder = Folder::new();
    let file = folder.write("file.entasis", &counting(sizes()[0]));
    let more = folder.write("more.entasis", &counting(3000));
    let bytes = std::fs::read(&file).unwrap();
    let mut damaged = std::fs::read(&more).unwrap();
    damaged[330] ^= 1;
    let damaged = folder.bytes("damaged.entasis", &damaged);
    let message = entasis(args!["append", file, damaged]).failed();
    for part in ["damaged.entasis", "column \"id\"", "block 0"] {
        assert!(message.contains(part), "{part} in {message}");
    }
    let other = Change::begin(&file, &WriteOptions::default(), &Silent).unwrap();
    let message = entasis(args!["append", "--wait", "0.05", file, more]).failed();
    assert!(message.contains("another writer") && message.contains("file.entasis"), "{message}");
    drop(other);
    let message = entasis(args!["append", "--max", "n_columns=1", file, more]).failed();
    assert!(message.contains("--max n_columns"), "{message}");
    assert!(std::fs::read(&file).unwrap() == bytes);
    for wrong in
        [&["append", "x"][..], &["append", "-c", "101", "x", "y"], &["append", "--wait", "-1", "x", "y"]]
    {
        assert_eq!(entasis(wrong).code, 2, "{wrong:?}");
    }
}

#[test]
fn help_of_the_verbs_that_change_files() {
    for verb in ["append", "drop", "rename", "rollback"] {
        let text = entasis([verb, "--help"]).fine();
        for part in ["Examples:", &format!("entasis {verb} "), "--wait", "--no-sync", "--keep", "--max"] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
