//! The output of each verb.

use crate::common::{Folder, counting, entasis, entasis_from, every_type, lines};
use serde_json::json;

#[test]
fn schema_tells_names_and_types() {
    let folder = Folder::new();
    let file = folder.write("every.entasis", &every_type());
    let text = entasis(args!["schema", file]).fine();
    let line = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap().to_owned();
    assert!(line("zoned").contains("timestamp[ns, Europe/Berlin]"));
    assert!(line("city").contains("categorical[i8, ordered]") && line("city").contains("3 categories"));
    assert!(line("evil\\n\\u{1b}]0;title").contains("i32"));
    assert!(line("4 rows x 20 columns").is_ascii());
    assert!(!text.contains('\x1b'));

    let object = &lines(&entasis(args!["schema", "--json", file]).fine())[0];
    assert_eq!((&object["n_rows"], &object["n_columns"]), (&json!(4), &json!(20)));
    let columns = object["columns"].as_array().unwrap();
    let zoned = columns.iter().find(|column| column["name"] == "zoned").unwrap();
    let expected = json!({
        "name": "zoned", "type": "timestamp[ns, Europe/Berlin]", "physical": "i64", "logical": "timestamp", "n_missing": 0,
        "missing": "null", "unit": "ns", "time_zone": "Europe/Berlin"
    });
    assert_eq!(zoned, &expected);
    assert_eq!(columns[16]["name"], "evil\n\u{1b}]0;title");
}

#[test]
fn info_tells_sizes() {
    let folder = Folder::new();
    let file = folder.write("counting.entasis", &counting(100_000));
    let text = entasis(args!["info", file]).fine();
    let file_len = std::fs::metadata(&file).unwrap().len();
    assert!(text.contains("100,000 rows x 2 columns") && text.contains("ratio"));
    assert!(text.contains("\nformat 0.3, edition 1, generation 1, written by "), "{text}");
    assert!(text.lines().any(|line| line.starts_with("id ") && line.ends_with("delta")));
    assert!(text.lines().any(|line| line.starts_with("total ") && line.contains("14,285")));

    let other = folder.write("every \u{7}.entasis", &every_type());
    let objects = lines(&entasis(args!["info", "--json", file, other]).fine());
    assert_eq!(objects[0]["file"], file.to_str().unwrap());
    assert_eq!(objects[0]["file_len"], file_len);
    assert_eq!(objects[0]["edition"], 1);
    assert_eq!(objects[1]["host"], "test");
    assert_eq!(objects[1]["columns"][16]["name"], "evil\n\u{1b}]0;title");
    let both = entasis(args!["info", file, other]).fine();
    assert!(both.contains("every \\u{7}.entasis") && both.contains("shared"));
}

#[test]
fn head_shows_every_type() {
    let folder = Folder::new();
    let file = folder.write("every.entasis", &every_type());
    let text = entasis(args!["head", file]).fine();
    assert!(!text.contains('\x1b'));
    for part in [
        "-9223372036854775808",
        "1e300",
        "a\\nb\\t\\u{1b}[31mred",
        "日本",
        "2024-02-29",
        "+10000-01-01",
        "1969-12-31 23:59:59.999",
        "2023-11-14 22:13:20.123456789Z",
        "1d 01:01:01",
        "00:00:00.000001",
        "Chicago",
        "0.5-0.5i",
        "… (100 bytes)",
        "4 of 4 rows",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let rows = lines(&entasis(args!["head", "--json", file]).fine());
    let expected = json!({
        "flag": false, "small": 1, "big": null, "real": "NaN", "half": -2.0, "single": -0.0, "complex": "-2.0+2.0i",
        "text": "a\nb\t\u{1b}[31mred", "bytes": "00ff", "day": "2024-02-29", "when": "1970-01-01T00:00:00.001",
        "zoned": "2023-11-14T22:13:20.123456789Z", "span": "P0DT0H1M1S", "clock": "00:00:00.000001", "city": "Atlanta",
        "nothing": null, "evil\n\u{1b}]0;title": 2, "a,b": 2, "twice": 2, "twice#19": 6
    });
    assert_eq!(rows[1], expected);
    assert_eq!((&rows[3]["flag"], &rows[3]["city"]), (&json!(null), &json!(null)));
    assert_eq!((&rows[0]["big"], &rows[3]["big"]), (&json!(i64::MIN), &json!(i64::MAX)));
}

#[test]
fn nested_values_are_json() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/v0.3/nested.entasis");
    let rows = lines(&entasis(args!["head", "--json", "-n", "300", file]).fine());
    assert_eq!(rows.len(), 300);
    let is = |column: &str, fits: fn(&serde_json::Value) -> bool| {
        assert!(rows.iter().all(|row| row[column].is_null() || fits(&row[column])), "{column}");
        assert!(rows.iter().any(|row| !row[column].is_null()), "{column}");
    };
    is("lists", |value| {
        value.as_array().is_some_and(|items| items.iter().all(|i| i.is_null() || i.is_i64()))
    });
    is("fixed", |value| value.as_array().is_some_and(|items| items.len() == 3));
    is("structs", |value| value.get("i").is_some() && value.get("t").is_some());
    is("map", |value| {
        value.as_array().is_some_and(|e| e.iter().all(|e| e.get("key").is_some_and(|k| k.is_string())))
    });
    is("dense", |value| value.is_i64() || value.is_string() || value.is_array());
    is("runs", serde_json::Value::is_i64);
    is("lists of lists", |value| {
        value.as_array().is_some_and(|v| v.iter().all(|i| i.is_null() || i.is_array()))
    });
    is("lists of codes", |value| {
        value.as_array().is_some_and(|v| v.iter().all(serde_json::Value::is_string))
    });
    let text = entasis(args!["head", "-n", "2", "-c", "structs,runs", file]).fine();
    assert!(text.contains("struct[i: i32, t: utf8]") && text.contains("{\"i\":"), "{text}");
    let text = entasis(args!["schema", file]).fine();
    for part in ["map[key: utf8, value: i32, sorted]", "extension[a.b, list[i32]]", "run-end[list[utf8]]"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(entasis(args!["info", file]).fine().contains("fixed-size list[i32, 3]"));
    entasis(args!["verify", file]).fine();
}

#[test]
fn head_takes_rows_and_columns() {
    let folder = Folder::new();
    let file = folder.write("counting.entasis", &counting(100_000));
    assert_eq!(
        entasis(args!["head", "-n", "2", file]).fine(),
        " id  name\ni64  utf8\n  0  name 0\n  1  name 1\n2 of 100,000 rows\n"
    );
    let text = entasis(args!["head", "--rows", "99_998:", "--columns", "name,id", file]).fine();
    let wanted = "name          id\nutf8         i64\nname 99998  99998\n";
    assert_eq!(
        text.split_whitespace().take(7).collect::<Vec<_>>(),
        wanted.split_whitespace().collect::<Vec<_>>()
    );
    assert!(text.ends_with("rows 99,998 to 100,000 of 100,000\n"), "{text}");
    let rows = lines(&entasis(args!["head", "--json", "--rows", "69990:70010", file]).fine());
    let ids: Vec<_> = rows.iter().map(|row| row["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, (69_990..70_010).collect::<Vec<_>>());
    assert_eq!((&rows[0]["name"], &rows[6]["name"]), (&json!("name 69990"), &json!("name 69996")));
    assert_eq!(lines(&entasis(args!["head", "--json", "-n", "1000000", file]).fine()).len(), 100_000);
    assert_eq!(entasis(args!["head", "--json", "--rows", "5:5", file]).fine(), "");
    assert_eq!(entasis(args!["head", "-n", "0", file]).fine(), " id  name\ni64  utf8\n0 of 100,000 rows\n");

    let every = folder.write("every.entasis", &every_type());
    let rows = lines(
        &entasis(args!["head", "--json", "-c", "a,b", "-c", "twice", "-c", "small,flag", every]).fine(),
    );
    assert_eq!(rows[0].as_object().unwrap().len(), 5);
}

#[test]
fn tail_and_negative_rows_count_from_the_end() {
    let folder = Folder::new();
    let file = folder.write("counting.entasis", &counting(100_000));
    let ids = |args: &[std::ffi::OsString]| -> Vec<u64> {
        lines(&entasis(args).fine()).iter().map(|row| row["id"].as_u64().unwrap()).collect()
    };
    assert_eq!(ids(&args!["tail", "--json", "-n", "2", file]), [99_998, 99_999]);
    assert_eq!(ids(&args!["tail", "--json", file]).len(), 10);
    assert_eq!(ids(&args!["tail", "--json", "-n", "1000000", file]).len(), 100_000);
    assert_eq!(ids(&args!["head", "--json", "--rows", "-3:", file]), [99_997, 99_998, 99_999]);
    assert_eq!(ids(&args!["head", "--json", "--rows=-3:-1", file]), [99_997, 99_998]);
    let text = entasis(args!["tail", "-n", "1", file]).fine();
    assert!(text.ends_with("rows 99,999 to 100,000 of 100,000\n"), "{text}");
}

#[test]
fn the_standard_input_is_a_file_too() {
    let folder = Folder::new();
    let file = folder.write("counting.entasis", &counting(1000));
    for verb in ["info", "schema", "head", "tail", "tree", "verify"] {
        let input = std::fs::File::open(&file).unwrap();
        let said = entasis_from(args![verb, "-"], input.into()).fine();
        let wanted = entasis(args![verb, file]).fine();
        let first = |text: &str| text.lines().nth(1).map(str::to_owned);
        assert_eq!(first(&said), first(&wanted), "{verb}");
    }
    let message = entasis_from(args!["head", "-"], std::process::Stdio::null()).failed();
    assert!(message.contains("empty") && message.contains("standard input"), "{message}");
}

#[test]
fn help_of_a_verb() {
    let text = entasis(args!["help", "head"]).fine();
    assert!(text.contains("--rows") && text == entasis(args!["head", "--help"]).fine());
}

#[test]
fn labels_of_rows_are_columns_too() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/r/frame.entasis");
    let text = entasis(args!["head", file]).fine();
    assert!(text.starts_with("(row.names)  logical"), "{text}");
    let rows = lines(&entasis(args!["head", "--json", "-c", "integer", file]).fine());
    assert_eq!(rows[0], json!({"row.names": "p", "integer": 1}));
    let rows = lines(&entasis(args!["head", "--json", "--no-index", "-c", "integer", file]).fine());
    assert_eq!(rows[0], json!({"integer": 1}));
    let rows = entasis(args!["head", "--json", "-c", "integer,row.names", file]).fine();
    assert!(rows.starts_with("{\"integer\":1,\"row.names\":\"p\"}"), "{rows}");
    let text = entasis(args!["schema", file]).fine();
    assert!(text.contains("(row.names)") && text.contains("index"), "{text}");
    let schema = &lines(&entasis(args!["schema", "--json", file]).fine())[0];
    assert_eq!(schema["index"], json!([{"name": "row.names", "type": "utf8"}]));
    assert!(entasis(args!["tree", file]).fine().contains("(\"row.names\"): utf8, index"));
}

#[test]
fn values_of_object_columns_are_shown() {
    let file =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/v0.3/trees/table-and-metadata.entasis");
    let rows = lines(&entasis(args!["head", "--json", file]).fine());
    assert_eq!(rows[0], json!({"n": 3, "objects": "a cell"}));
    assert_eq!((&rows[1]["objects"], &rows[2]["objects"]), (&json!(null), &json!([null])));
    let text = entasis(args!["head", file]).fine();
    assert!(text.contains("a cell") && text.contains("NaT") && text.contains("[null]"), "{text}");
}

#[test]
fn a_tree_is_described_by_what_it_is_made_of() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/v0.3/trees/nested.entasis");
    let text = entasis(args!["info", file]).fine();
    for part in ["`entasis tree` shows its parts", "frames", "arrays", "other values"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains("(kinds)") && !text.contains("0 rows"), "{text}");
    let layout = &lines(&entasis(args!["info", "--json", file]).fine())[0];
    let roles: Vec<_> = layout["columns"].as_array().unwrap().iter().map(|c| c["role"].clone()).collect();
    assert!(roles.contains(&json!("cells")), "{roles:?}");
}

#[test]
fn frames_without_rows_or_columns() {
    let folder = Folder::new();
    let no_rows = folder.write("no-rows.entasis", &counting(0));
    let mut frame = counting(0);
    frame.columns.clear();
    let nothing = folder.write("nothing.entasis", &frame);
    frame.n_rows = 5;
    let no_columns = folder.write("no-columns.entasis", &frame);
    for file in [no_rows, nothing, no_columns] {
        for verb in ["info", "schema", "head", "verify"] {
            entasis(args![verb, file]).fine();
            lines(&entasis(args![verb, "--json", file]).fine());
        }
    }
}

#[test]
fn verify_tells_what_it_checked() {
    let folder = Folder::new();
    let one = folder.write("one.entasis", &counting(1000));
    let two = folder.write("two.entasis", &every_type());
    let text = entasis(args!["verify", one, two]).fine();
    assert_eq!(text.lines().filter(|line| line.contains(": sound (")).count(), 2);
    let objects = lines(&entasis(args!["verify", "--json", "--threads", "2", one]).fine());
    assert_eq!((&objects[0]["sound"], &objects[0]["n_values"]), (&json!(true), &json!(2000)));
    assert_eq!(objects[0]["checked_len"], std::fs::metadata(&one).unwrap().len());
}

#[test]
fn compact_drops_what_is_not_used() {
    let folder = Folder::new();
    let file = folder.write("counting.entasis", &counting(100_000));
    let rows = entasis(args!["head", "--json", "-n", "1000000", file]).fine();
    let len = std::fs::metadata(&file).unwrap().len();
    let bytes = [std::fs::read(&file).unwrap(), vec![1; 100_000]].concat();
    std::fs::write(&file, bytes).unwrap();
    let said = entasis(args!["verify", file]).fine();
    assert!(said.contains("100,000 leftover bytes of an interrupted or running change"), "{said}");
    assert_eq!(lines(&entasis(args!["verify", "--json", file]).fine())[0]["leftover_len"], 100_000);
    let text = entasis(args!["compact", file]).fine();
    assert!(text.contains("counting.entasis: ") && text.contains(", before "), "{text}");
    assert_eq!(std::fs::metadata(&file).unwrap().len(), len);
    entasis(args!["verify", file]).fine();
    assert_eq!(entasis(args!["head", "--json", "-n", "1000000", file]).fine(), rows);
    entasis(args!["compact", folder.path().join("none.entasis")]).failed();
    let message = entasis(args!["compact", "--max", "n_columns=1", file]).failed();
    assert!(message.contains("raise it: --max n_columns=..."), "{message}");
    entasis(args!["compact", "--max", "n_columns=1000", file]).fine();
}

#[test]
fn tables_have_the_width_that_is_asked_for() {
    let folder = Folder::new();
    let file = folder.write("every.entasis", &every_type());
    let longest = |text: &str| text.lines().map(|line| line.chars().count()).max().unwrap();
    for verb in ["head", "tail", "select", "sample"] {
        let text = entasis(args![verb, "--width", "60", file]).fine();
        let (table, note) = text.trim_end().rsplit_once('\n').unwrap();
        assert!((40..=60).contains(&longest(table)), "{verb}: {table}");
        assert!(note.contains(" of 20 columns shown, choose with --columns"), "{verb}: {note}");
    }
    for verb in ["schema", "info", "generations"] {
        let text = entasis(args![verb, "--width", "30", folder.path().join("every.entasis")]).fine();
        let table = text.lines().filter(|line| line.contains("  ")).collect::<Vec<_>>().join("\n");
        assert!(longest(&table) <= 30, "{verb}: {table}");
    }
    // Other columns follow below, so that nothing is left out.
    assert!(entasis(args!["schema", "--width", "40", file]).fine().contains("3 categories"));
    let uncut = entasis(args!["head", file]).fine();
    assert!(longest(&uncut) > 300);
    assert_eq!(entasis(args!["head", "--width", "0", file]).fine(), uncut);
    let json = entasis(args!["head", "--json", file]).fine();
    assert_eq!(entasis(args!["head", "--json", "--width", "20", file]).fine(), json);
}
