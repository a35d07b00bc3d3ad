//! All rows of files as lines of JSON.

use std::io::Read;
use std::process::{Child, Command, Stdio};

use crate::common::{Folder, counting, entasis, entasis_from, every_type, lines, rows, strings};
use entasis::{Frame, Physical, Value};
use serde_json::json;

#[test]
fn rows_are_those_of_head() {
    let folder = Folder::new();
    let every = folder.write("every.entasis", &every_type());
    let head = |path| entasis(args!["head", "--json", "-n", "1000000", path]).fine();
    assert_eq!(entasis(args!["cat", every]).fine(), head(&every));
    let long = folder.write("long.entasis", &counting(150_000));
    let all = entasis(args!["cat", long]).fine();
    assert_eq!(all, head(&long));
    assert!(lines(&all).into_iter().map(|row| row["id"].as_u64().unwrap()).eq(0..150_000));
    let both = entasis(args!["cat", every, long, every]).fine();
    assert_eq!(both, [head(&every), head(&long), head(&every)].concat());
    let nested = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/v0.3/nested.entasis");
    assert_eq!(lines(&entasis(["cat", nested]).fine()), rows(nested.as_ref()));
    let objects =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/v0.3/trees/table-and-metadata.entasis");
    assert_eq!(lines(&entasis(["cat", objects]).fine()), rows(objects.as_ref()));
}

#[test]
fn long_values_are_read_in_small_parts() {
    let folder = Folder::new();
    let values: Vec<String> = (0..5000).map(|i| format!("{i} {}", "x".repeat(20_000))).collect();
    let columns = vec![strings("s", Physical::Utf8, &values)];
    let file =
        folder.write("file.entasis", &Frame { n_rows: 5000, columns, extra: Vec::new(), host: Value::Null });
    let found = lines(&entasis(args!["cat", file]).fine());
    assert!(found.iter().map(|row| row["s"].as_str().unwrap()).eq(&values));
}

#[test]
fn rows_and_columns_are_chosen() {
    let folder = Folder::new();
    let n = 1_100_000;
    let file = folder.write("file.entasis", &counting(n));
    // The rows are on both sides of a window of the condition.
    let near = "id between 1048570 and 1048580 or id in (3, 1099999)";
    let found = lines(&entasis(args!["cat", "-c", "id", "--where", near, file]).fine());
    let ids = [3].into_iter().chain(1_048_570..=1_048_580).chain([1_099_999]);
    assert_eq!(found, ids.map(|id| json!({ "id": id })).collect::<Vec<_>>());
    let found = entasis(args!["cat", "--where", "name like '%77'", file]).fine();
    assert_eq!(found, entasis(args!["select", "--json", "--where", "name like '%77'", file]).fine());
    let every = folder.write("every.entasis", &every_type());
    let found =
        lines(&entasis(args!["cat", "--columns", "small,flag", "--where", "small > 1", every]).fine());
    assert_eq!(found, [json!({"small": 254, "flag": true}), json!({"small": 255, "flag": null})]);
    let none = folder.write("none.entasis", &counting(0));
    assert_eq!(entasis(args!["cat", none, "--where", "id > 1"]).fine(), "");
    for path in [&none, &file] {
        assert!(entasis(args!["cat", path, "--where", "ids > 1"]).failed().contains("ids"));
        assert!(entasis(args!["cat", path, "--columns", "nmae"]).failed().contains("did you mean \"name\"?"));
    }
}

#[test]
fn a_limit_counts_the_rows_of_all_files() {
    let folder = Folder::new();
    let [a, b] = ["a.entasis", "b.entasis"].map(|name| folder.write(name, &counting(5)));
    let all = entasis(args!["cat", a, b]).fine();
    for n in [0, 1, 5, 7, 10, 11] {
        let first: String = all.split_inclusive('\n').take(n).collect();
        assert_eq!(entasis(args!["cat", "-n", n.to_string(), a, b]).fine(), first, "{n}");
    }
    let found = lines(&entasis(args!["cat", "--limit", "3", "-c", "id", "--where", "id > 2", a, b]).fine());
    assert_eq!(found, [json!({"id": 3}), json!({"id": 4}), json!({"id": 3})]);
    let missing = folder.path().join("missing.entasis");
    let said = entasis(args!["cat", "-n", "3", a, missing]);
    assert_eq!((said.code, said.out.lines().count()), (1, 3), "{}", said.err);
}

#[test]
fn other_files_follow_one_that_fails() {
    let folder = Folder::new();
    let file = folder.write("file.entasis", &counting(5));
    let tree = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/v0.3/trees/rows.entasis");
    let missing = folder.path().join("missing.entasis");
    let input = Stdio::from(std::fs::File::open(&file).unwrap());
    let said = entasis_from(args!["cat", file, missing, tree, "-"], input);
    assert_eq!((said.code, said.err.lines().count()), (1, 2), "{}", said.err);
    assert!(said.err.contains("missing.entasis") && said.err.contains("tree of values"), "{}", said.err);
    assert_eq!(said.out, entasis(args!["cat", file, file]).fine());
    assert_eq!(entasis(["cat"]).code, 2);
}

/// The command with a full pipe as output, after the first bytes.
fn blocked(folder: &Folder) -> Child {
    let file = folder.write("counting.entasis", &counting(400_000));
    let mut command = Command::new(env!("CARGO_BIN_EXE_entasis"));
    command.args(args!["cat", file, file]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdout.as_mut().unwrap().read_exact(&mut [0; 10]).unwrap();
    child
}

#[test]
fn a_pipe_that_closes_ends_it_quietly() {
    let folder = Folder::new();
    let mut child = blocked(&folder);
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[cfg(unix)]
#[test]
fn it_can_be_interrupted() {
    let folder = Folder::new();
    let child = blocked(&folder);
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    std::thread::sleep(std::time::Duration::from_millis(300));
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(130), &b"entasis: stopped\n"[..]));
    assert!(output.stdout.split(|&byte| byte == b'\n').count() < 400_000);
}
