//! Folders whose files are one table.

use std::fs;

use entasis::{Frame, Silent, Value, WriteOptions};
use serde_json::{Value as Json, json};

use crate::common::{Folder, Said, counting, entasis, lines, pandas, strings};

/// A folder with a file for each key. The files have these numbers of rows.
fn sales(folder: &Folder, parts: &[(&str, usize)]) -> std::path::PathBuf {
    let root = folder.path().join("sales");
    for (key, n) in parts {
        let path = root.join(key);
        fs::create_dir_all(&path).unwrap();
        let frame = Frame { host: pandas(*n as u64), ..counting(*n) };
        entasis::write(&path.join("part.entasis"), &frame, &WriteOptions::default(), &Silent).unwrap();
    }
    root
}

fn column(text: &str, name: &str) -> Vec<Json> {
    lines(text).into_iter().map(|row| row[name].clone()).collect()
}

#[test]
fn verbs_take_a_folder() {
    let folder = Folder::new();
    let parts =
        [("day=2024-01-31", 200_000), ("day=2024-02-01", 10), ("day=__HIVE_DEFAULT_PARTITION__", 15_000)];
    let root = sales(&folder, &parts);
    assert_eq!(entasis(args!["count", root]).fine().trim(), "215010");
    let schema = entasis(args!["schema", root]).fine();
    assert!(schema.contains("day") && schema.contains("date"), "{schema}");
    let found = entasis(args!["select", root, "--json", "--where", "id < 2"]).fine();
    assert_eq!(column(&found, "id"), [0, 1, 0, 1, 0, 1]);
    let (first, second) = (json!("2024-01-31"), json!("2024-02-01"));
    assert_eq!(column(&found, "day"), [first.clone(), first, second.clone(), second, Json::Null, Json::Null]);
    let of_day = entasis(args!["count", root, "--where", "day = '2024-02-01'"]).fine();
    assert_eq!(of_day.trim(), "10");
    assert_eq!(entasis(args!["count", root, "--where", "day is null"]).fine().trim(), "15000");
    // Statistics of the keys decide for whole blocks.
    let explained = entasis(args!["select", root, "--where", "day = '2024-01-31'", "--explain"]).fine();
    assert!(explained.contains("196608 passed by statistics"), "{explained}");
    let head = entasis(args!["head", root, "-n", "2", "--json"]).fine();
    assert_eq!(column(&head, "id"), [0, 1]);
    // The rows of pandas are numbered over all files.
    let tail = entasis(args!["tail", root, "-n", "1", "--json"]).fine();
    assert_eq!(column(&tail, "id"), [14_999]);
    let cat = entasis(args!["cat", root]).fine();
    assert_eq!(cat.lines().count(), 215_010);
    let out = folder.path().join("february.entasis");
    let condition = "day = '2024-02-01'";
    entasis(args!["select", root, "--where", condition, "--to", "entasis", "--output", out]).fine();
    assert_eq!(entasis(args!["count", out]).fine().trim(), "10");
    let verified = entasis(args!["verify", root]).fine();
    assert!(verified.contains("sound (3 files"), "{verified}");
    let info = entasis(args!["info", root]).fine();
    assert!(
        info.contains("215,010 rows") && info.contains("day (date)") && info.contains("no manifest"),
        "{info}"
    );
    let info: Json = serde_json::from_str(&entasis(args!["info", "--json", root]).fine()).unwrap();
    assert_eq!((&info["n_rows"], &info["n_files"]), (&json!(215_010), &json!(3)));
    assert_eq!(info["keys"], json!([{"name": "day", "type": "date"}]));
}

#[test]
fn damaged_files_of_a_folder_are_named() {
    let folder = Folder::new();
    let root = sales(&folder, &[("k=1", 20_000), ("k=2", 20_000)]);
    let path = root.join("k=2/part.entasis");
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, bytes).unwrap();
    let Said { code, out, err } = entasis(args!["verify", root]);
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    assert!(err.contains("k=2") && err.contains("1 of 2 files are damaged"), "{err}");
    let Said { code, out, .. } = entasis(args!["verify", "--json", root]);
    let report: Json = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &report["sound"], &report["n_files"]), (1, &json!(false), &json!(2)));
}

#[test]
fn folders_that_are_no_table_are_refused() {
    let folder = Folder::new();
    let empty = folder.path().join("empty");
    fs::create_dir_all(&empty).unwrap();
    let said = entasis(args!["count", empty]).failed();
    assert!(said.contains("empty") && said.contains(".entasis"), "{said}");
    let root = sales(&folder, &[("k=1", 10)]);
    let said = entasis(args!["head", "--generation", "1", root]).failed();
    assert!(said.contains("no generations"), "{said}");
    // Other columns.
    let other = Frame {
        n_rows: 1,
        columns: vec![strings("other", entasis::Physical::Utf8, &["a"])],
        extra: vec![],
        host: Value::Null,
    };
    fs::create_dir_all(root.join("k=2")).unwrap();
    entasis::write(&root.join("k=2/part.entasis"), &other, &WriteOptions::default(), &Silent).unwrap();
    let said = entasis(args!["head", root]).failed();
    assert!(said.contains("k=2"), "{said}");
    // A key that is a column too.
    let root = sales(&folder, &[("id=1", 10)]);
    fs::remove_dir_all(root.join("k=1")).unwrap();
    fs::remove_dir_all(root.join("k=2")).unwrap();
    let said = entasis(args!["head", root]).failed();
    assert!(said.contains("key 'id'"), "{said}");
    for verb in ["compact", "clean"] {
        let said = entasis(args![verb, root]).failed();
        assert!(said.contains("needs Python"), "{said}");
    }
}
