//! Rows that are selected take memory for a part of them.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::common::{Folder, by_tier, entasis, lines, pandas, verify, words};
use entasis::{ColumnType, Frame, Physical};

/// The rows of the table. A column of them takes 48 MB.
const N: usize = 6_000_000;
const COLUMNS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "id"];
/// The address space in KiB that the command gets, a fraction of the values. A debug build of the
/// command itself takes about a third of it.
const LIMIT: usize = 200 << 10;

/// Writes a table whose values are different in all rows.
fn table(folder: &Folder) -> std::path::PathBuf {
    let ids: Vec<[u8; 8]> = (0..N as i64).map(i64::to_le_bytes).collect();
    let columns = COLUMNS.map(|name| words(name, ColumnType::plain(Physical::I64), &ids)).into();
    folder.write(
        "file.entasis",
        &Frame { n_rows: N as u64, columns, extra: Vec::new(), host: pandas(N as u64) },
    )
}

fn limited(args: &[&str]) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -v {LIMIT} && exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_entasis")]);
    command.args(args).args(["--threads", "1"]).output().unwrap()
}

fn fine(args: &[&str]) -> String {
    let done = limited(args);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

fn id_of(path: &Path, row: usize) -> serde_json::Value {
    let rows = format!("{row}:{}", row + 1);
    lines(&entasis(args!["head", "--json", "--rows", rows, path]).fine())[0]["id"].clone()
}

#[test]
fn rows_are_copied_in_parts() {
    assert!(8 * COLUMNS.len() * N > 18 * 1024 * LIMIT / 10, "the values need more memory than there is");
    let folder = Folder::new();
    let file = table(&folder);
    let out = folder.path().join("out.entasis");
    let (from, to) = (file.to_string_lossy(), out.to_string_lossy());
    let copy = ["select", &from, "--to", "entasis", "--output", &to];
    // Consecutive rows, all rows, and all rows but two.
    let all = [
        (Some("id >= 100000"), N - 100_000, N - 1),
        (None, N, N - 1),
        (Some("id <> 2500000 and a < 5999999"), N - 2, N - 2),
    ];
    for &(condition, n, last) in by_tier(&all[1..], &all) {
        let condition: Vec<&str> = condition.into_iter().flat_map(|of| ["--where", of]).collect();
        fine(&[&copy[..], &condition].concat());
        verify(&out);
        assert_eq!(entasis(args!["count", out]).fine().trim(), n.to_string());
        assert_eq!(id_of(&out, n - 1), last);
    }
    assert_eq!(id_of(&out, 2_499_999), 2_499_999);
    assert_eq!(id_of(&out, 2_500_000), 2_500_001);
    let json = fine(&["select", &from, "--json", "--columns", "id", "--where", "id <> 2500000"]);
    assert_eq!(json.lines().count(), N - 1);
    let table = fine(&["select", &from, "-n", "3", "--where", "id <> 2500000"]);
    assert!(table.contains("3 of 5,999,999 that pass, of 6,000,000 rows; show more with -n"), "{table}");
}

#[test]
fn a_copy_that_is_interrupted_leaves_the_old_file() {
    let folder = Folder::new();
    let file = table(&folder);
    let out = folder.bytes("out.entasis", b"old");
    let names = || {
        let entries = std::fs::read_dir(folder.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = names();
    let mut command = Command::new(env!("CARGO_BIN_EXE_entasis"));
    command.args(args!["select", file, "--to", "entasis", "--output", out, "--threads", "1"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The new file has a name of its own until it is whole.
    while names() == before {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(130), &b"entasis: stopped\n"[..]));
    assert_eq!((names(), std::fs::read(&out).unwrap()), (before, b"old".to_vec()));
}
