//! Golden files: written once, read by every later release. And bad ones, which every release refuses.

pub mod bad;
pub mod buffers;
pub mod build;
pub mod index;

use std::path::PathBuf;

use crate::frames::{self, Table};

/// A golden file.
#[derive(Clone, Debug)]
pub struct Golden {
    /// What it holds; the file is called `NAME.entasis` by the table's name.
    pub table: Table,
    /// The compression that it is written at.
    pub compression: u8,
    /// What its blocks make use of, so that it shows what its name says.
    pub features: &'static [&'static str],
}

impl Golden {
    /// The bytes that this release writes.
    pub fn write(&self) -> Vec<u8> {
        frames::write_at(&self.table, self.compression)
    }

    /// The file's name.
    pub fn file_name(&self) -> String {
        format!("{}.entasis", self.table.name)
    }
}

fn tests() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "..", "tests"].iter().collect()
}

/// Where the golden files of format 0.1 are.
pub fn folder() -> PathBuf {
    tests().join("golden").join("v0.1")
}

/// Where the golden containers of buffers are, and what tells of them.
pub fn buffer_folder() -> PathBuf {
    tests().join("golden").join("buffers")
}

/// Where the golden files of trees are.
pub fn tree_folder() -> PathBuf {
    tests().join("golden").join("trees")
}

/// Where the bad files are.
pub fn bad_folder() -> PathBuf {
    tests().join("golden-bad")
}
