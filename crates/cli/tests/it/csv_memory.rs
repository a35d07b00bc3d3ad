//! `entasis convert` takes the same memory for a text of any length.
#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::{Folder, entasis};

/// The address space in KiB that the command gets.
const LIMIT: usize = 512 << 10;

/// Writes a text of `len` bytes and returns the number of its rows.
fn text(path: &Path, len: usize, row: impl Fn(u64) -> String) -> u64 {
    let mut file = BufWriter::new(File::create(path).unwrap());
    let (mut written, mut n) = (0, 0);
    while written < len {
        let row = row(n);
        file.write_all(row.as_bytes()).unwrap();
        written += row.len();
        n += u64::from(n > 0 || written > 0);
    }
    file.flush().unwrap();
    n - 1
}

/// Integers, gaps, long doubles, texts and times, after a header.
fn usual(i: u64) -> String {
    let Some(i) = i.checked_sub(1) else { return "id,gaps,value,name,note,time\n".to_owned() };
    let mixed = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let gap = if i % 3 == 0 { String::new() } else { (mixed >> 44).to_string() };
    let value = mixed as f64 / 1e17;
    let (day, second) = (1 + mixed % 28, mixed % 60);
    format!(
        "{i},{gap},{value:.15},name {},\"note, {mixed:x}\",2024-01-{day:02}T03:04:{second:02}\n",
        mixed % 1000
    )
}

/// Converts a text under the limit, and returns the peak of resident memory in KiB.
fn peak(text: &Path, n_rows: u64, out: &Path) -> usize {
    let peak = peak_of(text, out);
    assert_eq!(entasis(args!["count", out]).fine().trim(), n_rows.to_string());
    peak
}

/// Converts a file under the limit, and returns the peak of resident memory in KiB.
pub fn peak_of(source: &Path, out: &Path) -> usize {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -v {LIMIT} && exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_entasis")]);
    command.args(args!["convert", source, out, "--threads", "2", "-c", "10"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let status = std::fs::read_to_string(&status).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let found = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        peak = peak.max(found.unwrap_or(0));
        std::thread::sleep(Duration::from_millis(3));
    }
    let said = child.wait_with_output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    peak
}

#[test]
fn the_memory_of_convert_does_not_grow_with_the_text() {
    let folder = Folder::new();
    let (path, out) = (folder.path().join("in.csv"), folder.path().join("out.entasis"));
    let n_rows = text(&path, 200_000_000, usual);
    let short = peak(&path, n_rows, &out);
    println!("200 MB: {} MiB", short >> 10);
    if std::env::var_os("ENTASIS_TEST_LONG").is_some() {
        let n_rows = text(&path, 2_000_000_000, usual);
        let long = peak(&path, n_rows, &out);
        println!("2 GB: {} MiB", long >> 10);
        assert!(long <= short + (32 << 10), "{long} KiB, not {short}");
    }
}

/// Values that take several times the memory of their text.
#[test]
fn short_fields_are_converted_within_the_limit() {
    let folder = Folder::new();
    let (path, out) = (folder.path().join("in.csv"), folder.path().join("out.entasis"));
    for (header, row) in [("a,b,c,d\n", "1,,2,3\n"), ("a,b,c,d\n", "x,y,,z\n")] {
        let n_rows = text(&path, 40_000_000, |i| if i == 0 { header } else { row }.to_owned());
        println!("{row:?}: {} MiB", peak(&path, n_rows, &out) >> 10);
    }
}
