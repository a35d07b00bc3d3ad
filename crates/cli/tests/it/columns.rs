//! Columns that are dropped, renamed, added and replaced.

use std::path::Path;

use crate::common::{
    Folder, by_tier, categorical, counting, entasis, every_type, labels, lines, missing, pandas, range, rows,
    strings, verify, words,
};
use entasis::{ColumnType, File, Frame, Missing, Physical, Value};
use serde_json::{Value as Json, json};

/// Numbers of rows: one file changes in place, the other is written anew.
fn sizes() -> [usize; 2] {
    [by_tier(40_000, 100_000), 50]
}

/// Names of the columns.
fn names(path: &Path) -> Vec<String> {
    let schema = &lines(&entasis(args!["schema", "--json", path]).fine())[0];
    schema["columns"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap().to_owned()).collect()
}

/// The columns of `counting`, and a categorical one.
fn frame(n: usize) -> Frame {
    let mut frame = counting(n);
    let codes: Vec<i8> = (0..n).map(|i| (i % 3) as i8).collect();
    frame.columns.push(categorical("city", &codes, 0, false));
    frame.extra.push(strings("", Physical::Utf8, &["Oslo", "Rome", "Bern"]));
    frame.host = pandas(n as u64);
    frame
}

/// The rows with each key replaced, or left out.
fn mapped(before: &[Json], key: impl Fn(&str) -> Option<String>) -> Vec<Json> {
    let row = |row: &Json| {
        let pairs = row.as_object().unwrap().iter();
        let pairs = pairs.filter_map(|(name, value)| key(name).map(|name| (name, value.clone())));
        Json::Object(pairs.collect())
    };
    before.iter().map(row).collect()
}

#[test]
fn drop_leaves_the_other_columns() {
    for n in sizes() {
        let folder = Folder::new();
        let file = folder.write("file.entasis", &frame(n));
        let before = rows(&file);
        let said = entasis(args!["drop", "--no-sync", file, "name"]).fine();
        assert!(said.contains(": generation 2, ") && said.ends_with(" rows x 2 columns\n"), "{said}");
        verify(&file);
        let is_left = |name: &str| (name != "name").then(|| name.to_owned());
        assert!(rows(&file) == mapped(&before, is_left));
        assert_eq!(names(&file), ["id", "city"]);
        // Without its column, the dictionary goes too.
        entasis(args!["drop", file, "city"]).fine();
        verify(&file);
        assert_eq!(names(&file), ["id"]);
        assert_eq!(File::open(&file).unwrap().n_columns_total(), 1);
        if n > 50 {
            let listed = &lines(&entasis(args!["generations", "--json", file]).fine())[0]["generations"];
            let operations: Vec<&Json> = (0..3).map(|i| &listed[i]["operation"]).collect();
            assert_eq!(operations, ["write", "drop columns", "drop columns"]);
            entasis(args!["rollback", file, "1"]).fine();
            verify(&file);
            assert!(rows(&file) == before);
        }
    }
}

#[test]
fn all_columns_of_a_name_are_dropped() {
    let folder = Folder::new();
    let mut frame = every_type();
    frame.host = pandas(4);
    let file = folder.write("every.entasis", &frame);
    entasis(args!["drop", file, "twice", "a,b", "twice", "evil\n\x1b]0;title"]).fine();
    verify(&file);
    assert_eq!(names(&file).len(), 16);
    assert_eq!(names(&file).last().unwrap(), "nothing");
}

#[test]
fn rename_changes_a_name_alone() {
    for n in sizes() {
        let folder = Folder::new();
        let file = folder.write("file.entasis", &frame(n));
        let before = rows(&file);
        let said = entasis(args!["rename", "--json", file, "name", "Größe, in \"cm\""]).fine();
        assert_eq!(lines(&said)[0]["n_columns"], 3);
        verify(&file);
        let new = |name: &str| Some(if name == "name" { "Größe, in \"cm\"" } else { name }.to_owned());
        assert!(rows(&file) == mapped(&before, new));
        assert_eq!(names(&file), ["id", "Größe, in \"cm\"", "city"]);
        entasis(args!["rename", file, "Größe, in \"cm\"", "name"]).fine();
        verify(&file);
        assert!(rows(&file) == before);
    }
}

#[test]
fn columns_of_another_file_are_added_and_replaced() {
    for n in sizes() {
        let folder = Folder::new();
        let file = folder.write("file.entasis", &frame(n));
        let mut new = frame(n);
        // Other categories, and another order of the dictionary.
        new.extra = vec![strings("", Physical::Utf8, &["Rome", "Kyiv", "Oslo"])];
        for column in &mut new.columns {
            column.name = format!("new {}", column.name);
        }
        let from = folder.write("new.entasis", &new);
        let before = rows(&file);
        let said = entasis(args!["add", "--no-sync", "--columns", "new city,new id", file, from]).fine();
        assert!(said.ends_with(" rows x 5 columns\n"), "{said}");
        verify(&file);
        assert_eq!(names(&file), ["id", "name", "city", "new city", "new id"]);
        let wanted = |keys: [&str; 5]| -> Vec<Json> {
            let pick = |row: &Json, other: &Json| {
                let value = |key: &str| row.get(key).or_else(|| other.get(key)).unwrap().clone();
                json!({keys[0]: value(keys[0]), keys[1]: value(keys[1]), keys[2]: value(keys[2]),
                       keys[3]: value(keys[3]), keys[4]: value(keys[4])})
            };
            before.iter().zip(&rows(&from)).map(|(row, other)| pick(row, other)).collect()
        };
        assert!(rows(&file) == wanted(["id", "name", "city", "new city", "new id"]));
        // A category takes the place of text.
        entasis(args!["rename", from, "new city", "name"]).fine();
        entasis(args!["replace", "--columns", "name", file, from]).fine();
        verify(&file);
        assert_eq!(names(&file), ["id", "name", "city", "new city", "new id"]);
        let cities: Vec<Json> = rows(&file).iter().map(|row| row["name"].clone()).collect();
        let wanted: Vec<Json> = rows(&from).iter().map(|row| row["name"].clone()).collect();
        assert!(cities == wanted && cities[..3] == ["Rome", "Kyiv", "Oslo"]);
        if n > 50 {
            entasis(args!["rollback", file, "1"]).fine();
            verify(&file);
            assert!(rows(&file) == before);
        }
    }
}

#[test]
fn columns_that_are_not_there_or_there_already() {
    let folder = Folder::new();
    let file = folder.write("file.entasis", &frame(50));
    let bytes = std::fs::read(&file).unwrap();
    for verb in [&args!["drop", file, "id", "nmae"][..], &args!["rename", file, "nmae", "x"]] {
        let message = entasis(verb).failed();
        assert!(message.contains("\"nmae\"") && message.contains("did you mean \"name\"?"), "{message}");
    }
    let message = entasis(args!["rename", file, "id", "city"]).failed();
    assert!(message.contains("already") && message.contains("\"city\""), "{message}");
    let message = entasis(args!["drop", file, "city", "id", "name"]).failed();
    assert!(message.contains("keeps at least one column"), "{message}");
    let tree = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/v0.3/trees/rows.entasis");
    let copy = folder.bytes("tree.entasis", &std::fs::read(tree).unwrap());
    let message = entasis(args!["drop", copy, "id"]).failed();
    assert!(message.contains("tree of values"), "{message}");
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
    for wrong in [&["drop", "x"][..], &["rename", "x", "y"], &["rename", "--wait", "soon", "x", "y", "z"]] {
        assert_eq!(entasis(wrong).code, 2, "{wrong:?}");
    }
}

#[test]
fn labels_that_are_not_names_are_left_to_their_library() {
    let folder = Folder::new();
    let mut numbers = frame(50);
    numbers.extra.push(words("", ColumnType::plain(Physical::I64), &[0i64, 1, 2].map(i64::to_le_bytes)));
    let column =
        Value::map([("kind", Value::from("column")), ("column", Value::Column(4)), ("name", Value::Null)]);
    numbers.host = Value::map([("host", Value::from("pandas")), ("index", range(50)), ("columns", column)]);
    let mut series = counting(5);
    series.columns.truncate(1);
    series.host = Value::map([("host", Value::from("polars")), ("class", Value::from("Series"))]);
    let of_r = |key: &str, value: Value| {
        let pairs = [("host", Value::from("r")), ("form", Value::from("data.frame")), (key, value)];
        Frame { host: Value::map(pairs), ..counting(5) }
    };
    let names = Value::map([("character", Value::List(vec![Value::from("id"), Value::Null]))]);
    let groups = Value::List(vec![Value::List(vec![Value::from("groups"), Value::Null])]);
    for (frame, part, language) in [
        (numbers, "labels of the columns are not text", "in Python"),
        (series, "holds a Series", "in Python"),
        (of_r("names", names), "names of the data frame", "in R"),
        (of_r("attributes", groups), "\"groups\"", "in R"),
    ] {
        let file = folder.write("file.entasis", &frame);
        let bytes = std::fs::read(&file).unwrap();
        for verb in [&args!["drop", file, "id"][..], &args!["rename", file, "id", "x"]] {
            let message = entasis(verb).failed();
            assert!(message.contains(part) && message.contains(language), "{message}");
            assert!(message.contains("file.entasis"), "{message}");
        }
        assert_eq!(std::fs::read(&file).unwrap(), bytes);
    }
}

#[test]
fn the_labels_of_static_frame_stay_as_wide_as_the_longest() {
    let folder = Folder::new();
    let mut frame = counting(50);
    let columns = labels(&[("class", Value::from("Index")), ("width", Value::Int(4))]);
    let mut index = range(50);
    if let Value::Map(pairs) = &mut index {
        pairs.push((Value::from("class"), Value::from("Index")));
    }
    let pairs = [("host", "static_frame"), ("class", "Frame")].map(|(key, value)| (key, Value::from(value)));
    let more = [("name", Value::Null), ("index", index), ("columns", columns)];
    frame.host = Value::map(pairs.into_iter().chain(more));
    let file = folder.write("file.entasis", &frame);
    let width = || {
        let host = File::open(&file).unwrap().host().unwrap();
        host.get("columns").unwrap().get("width").unwrap().as_int().unwrap()
    };
    entasis(args!["rename", file, "id", "überlang"]).fine();
    verify(&file);
    assert_eq!((names(&file), width()), (vec!["überlang".to_owned(), "name".to_owned()], 8));
    entasis(args!["rename", file, "überlang", "x"]).fine();
    assert_eq!(width(), 4);
    entasis(args!["drop", file, "x"]).fine();
    verify(&file);
    assert_eq!((names(&file), width()), (vec!["name".to_owned()], 4));
}

#[test]
fn an_index_and_kinds_of_missing_values_move_along() {
    let folder = Folder::new();
    let mut frame = counting(50);
    let keys: Vec<String> = (0..50).map(|i| format!("key {i}")).collect();
    frame.columns.push(missing(strings("note", Physical::Utf8, &keys), &[1; 50], Missing::None));
    frame.extra.push(strings("key", Physical::Utf8, &keys));
    frame.extra.push(words("", ColumnType::plain(Physical::U8), &[[2]; 50]));
    let index = Value::map([
        ("kind", Value::from("column")),
        ("column", Value::Column(3)),
        ("name", Value::from("key")),
    ]);
    let kinds = Value::List(vec![Value::List(vec![Value::UInt(2), Value::Column(4)])]);
    let pairs = [
        ("host", Value::from("pandas")),
        ("index", index),
        ("columns", labels(&[])),
        ("missing_kinds", kinds),
    ];
    frame.host = Value::map(pairs);
    let file = folder.write("file.entasis", &frame);
    let message = entasis(args!["drop", file, "key"]).failed();
    assert!(message.contains("labels of rows"), "{message}");
    assert!(message.contains("use en.drop_columns in Python"), "{message}");
    let message = entasis(args!["rename", file, "key", "id"]).failed();
    assert!(message.contains("use en.rename_columns in Python"), "{message}");
    let before = rows(&file);
    assert_eq!(before[7], json!({"key": "key 7", "id": 7, "name": "name 7", "note": null}));
    entasis(args!["drop", file, "id"]).fine();
    verify(&file);
    assert!(rows(&file) == mapped(&before, |name| (name != "id").then(|| name.to_owned())));
    let host = File::open(&file).unwrap().host().unwrap();
    let kinds = host.get("missing_kinds").unwrap().as_list().unwrap();
    assert_eq!(kinds[0].as_list().unwrap()[0].as_uint(), Some(1));
    entasis(args!["drop", file, "note"]).fine();
    verify(&file);
    assert!(File::open(&file).unwrap().host().unwrap().get("missing_kinds").is_none());
}
