//! The checksums of the golden files, which never change. `golden write` adds those of new files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use entasis::checksum;

/// The list of golden files with their checksums.
pub fn table() -> PathBuf {
    root().join("checksums.csv")
}

fn root() -> PathBuf {
    super::tests().join("golden")
}

/// The checksums in the list, by path.
///
/// # Panics
/// When a line is not a path and a checksum.
pub fn listed() -> BTreeMap<String, u64> {
    let text = std::fs::read_to_string(table()).unwrap_or_default();
    let of = |line: &str| {
        let (path, sum) = line.split_once(',').expect("a path and a checksum");
        (path.to_owned(), u64::from_str_radix(sum, 16).expect("a checksum"))
    };
    text.lines().skip(1).map(of).collect()
}

/// The checksums of all golden files, by path.
///
/// # Panics
/// When a file can't be read.
pub fn found() -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    add(&root(), "", &mut found);
    found
}

fn add(folder: &Path, name: &str, found: &mut BTreeMap<String, u64>) {
    for entry in std::fs::read_dir(folder).expect("a folder of golden files") {
        let entry = entry.expect("an entry");
        let name = format!("{name}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            add(&entry.path(), &format!("{name}/"), found);
        } else if name.ends_with(".entasis") || name.ends_with(".enb") {
            let bytes = std::fs::read(entry.path()).expect("a golden file");
            found.insert(name, checksum(&bytes));
        }
    }
}

/// The list of these checksums.
pub fn csv(all: &BTreeMap<String, u64>) -> String {
    let lines = all.iter().map(|(path, sum)| format!("{path},{sum:016x}\n"));
    format!("file,checksum\n{}", lines.collect::<String>())
}
