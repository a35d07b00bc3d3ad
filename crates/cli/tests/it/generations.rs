//! Earlier states of a file: what lists them, shows them and goes back to them.

use std::path::Path;

use crate::common::{Folder, counting, entasis, lines};
use entasis::{Change, Operation, Silent, WriteOptions};
use serde_json::json;

/// Rows of a file that changes in place.
const N: usize = 100_000;

fn append(path: &Path, n: usize) {
    let options = WriteOptions::default();
    let change = Change::begin(path, &options, &Silent).unwrap();
    let content = change.append(counting(n), &[]).unwrap();
    change.commit(content, Operation::Append, &options, &Silent).unwrap();
}

/// The output of `head` with all rows, as JSON.
fn rows(path: &Path, generation: &str) -> String {
    entasis(args!["head", "--json", "-n", "1000000", "--generation", generation, path]).fine()
}

#[test]
fn generations_are_listed_with_their_times() {
    let folder = Folder::new();
    let file = folder.write("grows.entasis", &counting(N));
    append(&file, 5);
    let file_len = std::fs::metadata(&file).unwrap().len();
    append(&file, 7);
    let found = &lines(&entasis(args!["generations", "--json", file]).fine())[0];
    assert_eq!(found["file"], file.to_str().unwrap());
    let found = found["generations"].as_array().unwrap();
    let of = |key: &str| found.iter().map(|generation| generation[key].clone()).collect::<Vec<_>>();
    assert_eq!(of("generation"), [1, 2, 3]);
    assert_eq!(of("operation"), ["write", "append", "append"]);
    assert_eq!(of("n_rows"), [N, N + 5, N + 12]);
    assert_eq!(found[1]["file_len"], file_len);
    assert_eq!(found[0]["time"], json!(null));
    let times: Vec<&str> = found[1..].iter().map(|found| found["time"].as_str().unwrap()).collect();
    assert!(times.iter().all(|time| time.starts_with("20") && time.contains('T') && time.ends_with('Z')));
    assert!(times[0] < times[1], "{times:?}");

    let text = entasis(args!["generations", file]).fine();
    let shown: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(shown[0], ["generation", "time", "operation", "rows", "bytes"]);
    assert_eq!(
        (shown[1][..4].join(" "), shown[2][2..4].join(" ")),
        ("1 - write 100,000".into(), "append 100,005".into())
    );
    assert!(times[0].starts_with(&shown[2][1][..19]), "{text}");

    let tree = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/v0.3/trees/rows.entasis");
    let found = &lines(&entasis(args!["generations", "--json", tree]).fine())[0];
    assert_eq!(found["generations"][0]["n_rows"], json!(null));
}

#[test]
fn an_earlier_generation_is_shown() {
    let folder = Folder::new();
    let file = folder.write("grows.entasis", &counting(N));
    let before = rows(&file, "1");
    append(&file, 5);
    assert_eq!(rows(&file, "1"), before);
    assert_eq!(lines(&rows(&file, "2")).len(), N + 5);
    let tail = lines(&entasis(args!["tail", "--generation", "1", "--json", "-n", "1", file]).fine());
    assert_eq!(tail, [json!({"id": N - 1, "name": format!("name {}", N - 1)})]);
    let schema = &lines(&entasis(args!["schema", "--generation", "1", "--json", file]).fine())[0];
    assert_eq!(schema["n_rows"], N);
    let info = &lines(&entasis(args!["info", "--generation", "1", "--json", file]).fine())[0];
    assert_eq!((&info["n_rows"], &info["generation"]), (&json!(N), &json!(1)));
    assert!(entasis(args!["tree", "--generation", "1", file]).fine().contains("100,000 x 2"));
    for verb in ["head", "info", "schema", "tree", "tail"] {
        let message = entasis(args![verb, "--generation", "3", file]).failed();
        let wanted = "the file has no generation 3: its current one is 2";
        assert!(message.contains(wanted) && message.contains("`entasis generations`"), "{message}");
    }
}

#[test]
fn rollback_brings_rows_back_and_can_be_undone() {
    let folder = Folder::new();
    let file = folder.write("grows.entasis", &counting(N));
    append(&file, 5);
    let (one, two) = (rows(&file, "1"), rows(&file, "2"));
    let said = entasis(args!["rollback", file, "1"]).fine();
    assert_eq!(said, format!("{}: generation 3, 100,000 rows x 2 columns\n", file.display()));
    entasis(args!["verify", file]).fine();
    assert_eq!(entasis(args!["head", "--json", "-n", "1000000", file]).fine(), one);
    let said = entasis(args!["rollback", "--json", "--no-sync", file, "2"]).fine();
    let wanted = json!({"file": file.to_str().unwrap(), "generation": 4, "n_rows": N + 5, "n_columns": 2});
    assert_eq!(lines(&said), [wanted]);
    entasis(args!["verify", file]).fine();
    assert_eq!(entasis(args!["head", "--json", "-n", "1000000", file]).fine(), two);
    let found = &lines(&entasis(args!["generations", "--json", file]).fine())[0]["generations"];
    assert_eq!(found[3]["operation"], "rollback");
}

#[test]
fn rollback_to_a_generation_that_is_not_there() {
    let folder = Folder::new();
    let file = folder.write("grows.entasis", &counting(N));
    let bytes = std::fs::read(&file).unwrap();
    for number in ["0", "2"] {
        let message = entasis(args!["rollback", file, number]).failed();
        assert!(message.contains("no generation") && message.contains("`entasis generations`"), "{message}");
    }
    entasis(args!["rollback", folder.path().join("missing"), "1"]).failed();
    let message = entasis(args!["rollback", "-", "1"]).failed();
    assert!(message.contains("standard input"), "{message}");
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
    for wrong in
        [&["rollback", "x"][..], &["rollback", "x", "first"], &["rollback", "--wait", "-1", "x", "1"]]
    {
        assert_eq!(entasis(wrong).code, 2, "{wrong:?}");
    }
}

#[test]
fn a_file_that_is_changed_elsewhere_is_busy() {
    let folder = Folder::new();
    let file = folder.write("grows.entasis", &counting(N));
    append(&file, 5);
    let other = Change::begin(&file, &WriteOptions::default(), &Silent).unwrap();
    let message = entasis(args!["rollback", "--wait", "0.05", file, "1"]).failed();
    assert!(message.contains("another writer") && message.contains("grows.entasis"), "{message}");
    assert!(message.contains("try again"), "{message}");
    drop(other);
    entasis(args!["rollback", "--wait", "0", file, "1"]).fine();
}

#[test]
fn verify_checks_all_generations_or_one() {
    let folder = Folder::new();
    let file = folder.write("grows.entasis", &counting(N));
    append(&file, 5);
    append(&file, 7);
    let said = entasis(args!["verify", file]).fine();
    assert!(said.contains("sound (3 generations, "), "{said}");
    let sound = &lines(&entasis(args!["verify", "--json", file]).fine())[0];
    assert_eq!((&sound["n_generations"], &sound["leftover_len"]), (&json!(3), &json!(0)));

    // The root of generation 2 is before its trailer.
    let end =
        lines(&entasis(args!["generations", "--json", file]).fine())[0]["generations"][1]["file_len"].clone();
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[end.as_u64().unwrap() as usize - 100] ^= 1;
    let damaged = folder.bytes("damaged.entasis", &bytes);
    let message = entasis(args!["verify", damaged]).failed();
    assert!(message.contains("generation 2 is damaged, the newest is sound"), "{message}");
    let said = entasis(args!["verify", "--json", damaged]);
    let object = &lines(&said.out)[0];
    assert_eq!((said.code, &object["generations"]), (1, &json!([2])));
    assert_eq!((&object["sound"], &object["is_newest_sound"]), (&json!(false), &json!(true)));
    entasis(args!["verify", "--generation", "3", damaged]).fine();
    entasis(args!["verify", "--generation", "2", damaged]).failed();
    entasis(args!["rollback", damaged, "2"]).failed();
}

#[test]
fn a_file_that_was_cut_is_shown_and_repaired() {
    let folder = Folder::new();
    let file = folder.write("grows.entasis", &counting(N));
    append(&file, 5);
    append(&file, 7);
    let before = rows(&file, "2");
    let bytes = std::fs::read(&file).unwrap();
    let cut = folder.bytes("cut.entasis", &bytes[..bytes.len() - 10]);
    let message = entasis(args!["head", cut]).failed();
    assert!(message.contains("generation 2 is whole"), "{message}");
    assert_eq!(rows(&cut, "2"), before);
    let said = entasis(args!["verify", "--json", cut]);
    let object = &lines(&said.out)[0];
    assert_eq!((said.code, &object["generations"]), (1, &json!([3])));
    assert_eq!(object["damages"][0]["generation"], 3);
    entasis(args!["verify", "--generation", "2", cut]).fine();
    let whole = folder.path().join("whole.entasis");
    let said = entasis(args!["repair", cut, whole]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("(1 damaged place in "), "{}", said.out);
    assert!(said.err.contains("generation 3: the file is truncated"), "{}", said.err);
    assert_eq!(rows(&whole, "1"), before);
}

#[test]
fn info_shows_which_generations_are_kept() {
    let folder = Folder::new();
    let file = folder.write("file.entasis", &counting(5));
    let info = || {
        (
            entasis(args!["info", file]).fine(),
            lines(&entasis(args!["info", "--json", file]).fine())[0].clone(),
        )
    };
    let (text, json) = info();
    assert!(!text.contains("changes keep") && json.get("keep").is_none(), "{text}");
    for (wish, shown, value) in [
        ("3", "changes keep 3 earlier generations", json!({"generations": 3})),
        ("1", "changes keep 1 earlier generation\n", json!({"generations": 1})),
        ("12h", "changes keep the generations of 12 hours", json!({"nanoseconds": 43_200_000_000_000_u64})),
        ("14d", "changes keep the generations of 2 weeks", json!({"nanoseconds": 1_209_600_000_000_000_u64})),
    ] {
        entasis(args!["append", "--keep", wish, file, file]).fine();
        let (text, json) = info();
        assert!(text.contains(shown), "{text}");
        assert_eq!(json["keep"], value);
    }
}
