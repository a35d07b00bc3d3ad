//! Failures, their messages, and the exit codes.

use std::io::Read;
use std::process::{Command, Stdio};

use crate::common::{Folder, Said, by_tier, counting, entasis, every_type, lines};

const VERBS: [&str; 7] = ["info", "schema", "head", "tail", "cat", "verify", "generations"];

#[test]
fn files_that_are_none() {
    let folder = Folder::new();
    let sound = std::fs::read(folder.write("sound.entasis", &every_type())).unwrap();
    let missing = folder.path().join("missing.entasis");
    let none = folder.path().join("none");
    std::fs::create_dir(&none).unwrap();
    let cases = [
        (missing, "missing.entasis"),
        // A verb says that it takes files, or that the folder has none.
        (none, "file"),
        (folder.bytes("empty", b""), "empty"),
        (folder.bytes("text", b"carrier,delay\nAA,5\n"), "not an Entasis file"),
        (folder.bytes("header", &sound[..100]), "header"),
        (folder.bytes("truncated", &sound[..sound.len() - 1]), "truncated"),
        (folder.bytes("control\u{1b}[2J", b"x"), "control\\u{1b}[2J"),
    ];
    for (path, part) in cases {
        for verb in VERBS {
            let message = entasis(args![verb, path]).failed();
            assert!(message.to_lowercase().contains(&part.to_lowercase()), "{verb} {path:?}: {message}");
            assert!(!message.contains('\x1b'));
        }
    }
}

#[test]
fn a_flipped_bit_is_found_wherever_it_is() {
    let folder = Folder::new();
    for (name, frame) in [("every", every_type()), ("counting", counting(3000))] {
        let sound = std::fs::read(folder.write(name, &frame)).unwrap();
        let step = sound.len() / by_tier(70, 150) + 1;
        for at in (0..sound.len()).step_by(step).chain([sound.len() - 1]) {
            let mut bytes = sound.clone();
            bytes[at] ^= 1 << (at % 8);
            let path = folder.bytes("flipped", &bytes);
            let said = entasis(args!["verify", path]);
            assert_eq!((said.code, said.out.as_str()), (1, ""), "{name}, byte {at}");
            assert!(said.err.lines().all(|line| line.starts_with("entasis: ")), "{}", said.err);
        }
    }
}

#[test]
fn damage_is_told_with_its_place_and_other_files_follow() {
    let folder = Folder::new();
    let sound = folder.write("sound.entasis", &counting(3000));
    let mut bytes = std::fs::read(&sound).unwrap();
    bytes[330] ^= 1;
    let damaged = folder.bytes("damaged.entasis", &bytes);
    let Said { code, out, err } = entasis(args!["verify", damaged, sound]);
    assert_eq!(code, 1);
    assert!(out.contains("sound.entasis: sound (") && out.lines().count() == 1, "{out}");
    for part in ["damaged.entasis", "column \"id\"", "block 0"] {
        assert!(err.contains(part), "{part} in {err}");
    }
    let said = entasis(args!["verify", "--json", damaged, sound]);
    let objects = lines(&said.out);
    assert_eq!((said.code, objects.len()), (1, 2));
    assert_eq!((objects[0]["kind"].as_str(), objects[0]["column"].as_str()), (Some("corrupt"), Some("id")));
    // Other columns can still be read.
    entasis(args!["head", "--columns", "name", damaged]).fine();
    entasis(args!["head", "--columns", "id", damaged]).failed();
}

#[test]
fn all_damaged_places_are_listed() {
    let folder = Folder::new();
    let sound = folder.write("sound.entasis", &counting(100_000));
    let mut bytes = std::fs::read(&sound).unwrap();
    let len = bytes.len();
    // Two blocks, and the padding of the slot pages.
    for at in [12_300, len / 2, 5_000] {
        bytes[at] ^= 1;
    }
    let damaged = folder.bytes("damaged.entasis", &bytes);
    let Said { code, out, err } = entasis(args!["verify", damaged]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert_eq!(err.lines().count(), 4, "{err}");
    assert!(
        err.contains("damaged.entasis: column \"id\", rows 0 to 65,535: the checksum of a page"),
        "{err}"
    );
    assert!(err.contains("damaged.entasis: padding is not zero (offset 5,000)"), "{err}");
    assert!(err.contains("; 3 places are damaged, "), "{err}");
    let said = entasis(args!["verify", "--json", damaged]);
    let object = &lines(&said.out)[0];
    assert_eq!(object["n_damages"], 3);
    assert_eq!(
        (&object["damages"][1]["column"], &object["damages"][1]["stop"]),
        (&"id".into(), &65_536.into())
    );
}

#[test]
fn repair_saves_what_is_intact() {
    let folder = Folder::new();
    let sound = folder.write("sound.entasis", &counting(100_000));
    let mut bytes = std::fs::read(&sound).unwrap();
    bytes[12_300] ^= 1;
    let damaged = folder.bytes("damaged.entasis", &bytes);
    let out = folder.path().join("repaired.entasis");
    let Said { code, out: said, err } = entasis(args!["repair", damaged, out]);
    assert_eq!(code, 0, "{err}");
    assert!(said.contains("repaired.entasis: written (1 damaged place in "), "{said}");
    assert!(err.contains("damaged.entasis: column \"id\", rows 0 to 65,535: the checksum"), "{err}");
    entasis(args!["verify", out]).fine();
    let rows = lines(&entasis(args!["head", "--json", "--rows", "65535:65537", out]).fine());
    assert_eq!((&rows[0]["id"], &rows[1]["id"]), (&serde_json::Value::Null, &65_536.into()));
    assert_eq!(rows[0]["name"], "name 65535");
    assert_eq!(std::fs::read(&damaged).unwrap(), bytes);
    assert!(entasis(args!["repair", damaged, damaged]).failed().contains("in place"));
}

#[test]
fn rows_and_columns_that_are_not_there() {
    let folder = Folder::new();
    let file = folder.write("counting.entasis", &counting(10));
    let message = entasis(args!["head", "--columns", "id,Name", file]).failed();
    assert!(message.contains("\"Name\"") && message.contains("did you mean \"name\"?"), "{message}");
    let message = entasis(args!["head", "--columns", "delay", file]).failed();
    assert!(message.contains("entasis schema"), "{message}");
    for rows in ["11:", "11:12"] {
        let message = entasis(args!["head", "--rows", rows, file]).failed();
        assert!(message.contains("10 rows"), "{message}");
    }
    entasis(args!["head", "--rows", "10:", file]).fine();
    let all = entasis(args!["head", "--json", "--rows", "5:", file]).fine();
    assert_eq!(entasis(args!["head", "--json", "--rows", "5:99999999999", file]).fine(), all);
    let message = entasis(args!["head", "--columns", "nmae", file]).failed();
    assert!(message.contains("did you mean \"name\"?"), "{message}");
    for rows in ["a:3", "5.5:"] {
        let said = entasis(args!["head", "--rows", rows, file]);
        assert!(said.code == 2 && said.err.contains("is not an integer"), "{}", said.err);
    }
}

#[test]
fn wrong_usage() {
    let nothing: [&str; 0] = [];
    assert_eq!(entasis(nothing).code, 2);
    for args in [
        &["frobnicate"][..],
        &["info"],
        &["head"],
        &["head", "x", "--rows", "5"],
        &["head", "x", "--rows", "5:3"],
        &["head", "x", "-n", "-1"],
        &["head", "x", "--width", "19"],
        &["schema", "x", "--width", "-1"],
        &["head", "x", "-n", "1", "--rows", "1:2"],
        &["verify", "--threads", "0", "x"],
        &["schema", "--unknown", "x"],
    ] {
        let said = entasis(args);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{args:?}");
        assert!(said.err.starts_with("error: "), "{}", said.err);
    }
}

#[test]
fn help_has_examples() {
    assert!(entasis(["--help"]).fine().contains("Examples:"));
    assert!(entasis(["--version"]).fine().starts_with("entasis "));
    for verb in VERBS {
        let text = entasis([verb, "--help"]).fine();
        assert!(text.contains("Examples:") && text.contains(&format!("entasis {verb} ")), "{text}");
    }
}

#[test]
fn a_pipe_that_closes_ends_it_quietly() {
    let folder = Folder::new();
    let file = folder.write("counting.entasis", &counting(200_000));
    let mut command = Command::new(env!("CARGO_BIN_EXE_entasis"));
    command.args(args!["head", "--json", "-n", "200000", file]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut start = [0; 10];
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut start).unwrap();
    drop(stdout);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
#[cfg(unix)]
fn texts_end_quietly_with_a_closed_pipe() {
    let folder = Folder::new();
    let file = folder.write("counting.entasis", &counting(200_000));
    for words in [
        args!["select", file, "--to", "csv"].to_vec(),
        args!["select", file, "--where", "id >= 0", "--to", "csv", "--threads", "1"].to_vec(),
        args!["convert", file, "-"].to_vec(),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_entasis"));
        let mut child = command.args(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut start = [0; 8];
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut start).unwrap();
        drop(stdout);
        let output = child.wait_with_output().unwrap();
        assert_eq!(&start, b"id,name\n", "{words:?}");
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{words:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_device_is_an_error_of_the_output() {
    let folder = Folder::new();
    let file = folder.write("counting.entasis", &counting(200_000));
    for words in [args!["select", file, "--to", "csv"].to_vec(), args!["convert", file, "-"].to_vec()] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_entasis"));
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = command.args(&words).stdout(full).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{words:?}");
        assert!(said.contains("standard output") && said.contains("No space left"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    let words = args!["select", file, "--to", "csv", "--output", "/dev/full"];
    assert!(entasis(words).failed().contains("device"));
}

#[test]
fn a_text_names_the_verbs_for_texts() {
    let folder = Folder::new();
    let texts = [
        folder.bytes("flights.csv", b"carrier,delay\nAA,5\n"),
        folder.bytes("flights.data", b"carrier\tdelay\nAA\t5\n"),
        folder.bytes("empty.csv", b""),
        folder.bytes("flights.csv.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\0"),
    ];
    for text in &texts {
        for verb in ["count", "head", "tail", "info", "schema", "select", "sample", "tree", "cat", "verify"] {
            let said = entasis(args![verb, text]).failed();
            assert!(said.contains("`entasis sniff`") && said.contains("`entasis convert`"), "{verb}: {said}");
        }
    }
    let from = Stdio::from(std::fs::File::open(&texts[0]).unwrap());
    let said = crate::common::entasis_from(args!["count", "-"], from).failed();
    assert!(said.contains("`entasis convert`"), "{said}");
    // Other formats are not texts.
    let other = folder.bytes("flights.parquet", b"PAR1\x15\x04");
    let said = entasis(args!["count", other]).failed();
    assert!(said.contains("Parquet") && !said.contains("sniff"), "{said}");
}

#[test]
fn a_tree_is_no_table() {
    let tree = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/v0.3/trees/rows.entasis");
    for verb in ["head", "schema"] {
        for more in [&[][..], &["--json"]] {
            let words = [&[verb, tree], more].concat();
            let message = entasis(words).failed();
            assert!(message.contains("tree of values") && message.contains("`entasis tree`"), "{message}");
        }
    }
    assert!(entasis(args!["tree", tree]).fine().contains("value"));
}

#[test]
fn limits_are_named_and_raised() {
    let folder = Folder::new();
    let file = folder.write("counting.entasis", &counting(1000));
    let n_columns =
        lines(&entasis(args!["info", "--json", file]).fine())[0]["columns"].as_array().unwrap().len();
    for verb in VERBS {
        let limit = |n: usize| entasis(args![verb, "--max", format!("n-columns={n}"), file]);
        let message = limit(n_columns - 1).failed();
        let asked = format!("the file has {n_columns} columns, and n_columns allows {}", n_columns - 1);
        assert!(message.contains(&asked), "{verb}: {message}");
        assert!(
            message.contains("if you trust the file, raise it: --max n_columns=..."),
            "{verb}: {message}"
        );
        limit(n_columns).fine();
        limit(n_columns + 1).fine();
    }
    entasis(args!["verify", "--max", "metadata_len=1GiB", "--max", "decoded_len=1MB", file]).fine();
    let said = entasis(args!["head", "-n", "1000", "--json", "--max", "decoded_len=100", file]).failed();
    assert!(said.contains("decoded_len allows 100"), "{said}");
    for wrong in ["n_columns", "columns=3", "n_columns=many", "n_columns=3XB"] {
        let said = entasis(args!["info", "--max", wrong, file]);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{wrong}");
        assert!(said.err.contains("--max"), "{wrong}: {}", said.err);
    }
}

#[test]
fn a_limit_is_a_number_of_rows() {
    let folder = Folder::new();
    let file = folder.write("counting.entasis", &counting(30));
    assert_eq!(lines(&entasis(args!["cat", "--limit", "4", file]).fine()).len(), 4);
    for verb in ["head", "tail", "select", "sample"] {
        let text = entasis(args![verb, "--json", "--limit", "4", file]).fine();
        assert_eq!(lines(&text).len(), 4, "{verb}");
        let said = entasis(args![verb, "--limit", "n_columns=4", file]);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{verb}");
        assert!(said.err.contains("a number of rows; use '--max n_columns=4'"), "{verb}: {}", said.err);
    }
    for verb in ["info", "schema", "verify", "generations", "tree", "count", "append"] {
        let said = entasis(args![verb, "--limit=n_columns=4", file, file]);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{verb}");
        assert!(said.err.contains("tip: use '--max NAME=VALUE'"), "{verb}: {}", said.err);
        assert_eq!(entasis(args![verb, "--limit", "n_columns=4", file, file]).err, said.err, "{verb}");
    }
    let said = entasis(args!["info", "--limit", "4", file]);
    assert!(said.code == 2 && !said.err.contains("--max"), "{}", said.err);
}
