//! Golden files, written once and read by every later release, and bad files, which every release
//! refuses.

pub mod bad;
pub mod buffers;
pub mod build;
pub mod index;

use std::path::PathBuf;

use crate::frames::{self, Table};

/// A golden file.
#[derive(Clone, Debug)]
pub struct Golden {
    /// Its content. The name of the table is that of the file.
    pub table: Table,
    /// The compression setting.
    pub compression: u8,
    /// Features that its blocks must use, so that the file tests what its name promises.
    pub features: &'static [&'static str],
}

impl Golden {
    /// The bytes that the current writer gives.
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

/// The folder of the golden files of format 0.1.
pub fn folder() -> PathBuf {
    tests().join("golden").join("v0.1")
}

/// The folder of the golden compressed buffers and their description.
pub fn buffer_folder() -> PathBuf {
    tests().join("golden").join("buffers")
}

/// The folder of the golden files of trees.
pub fn tree_folder() -> PathBuf {
    tests().join("golden").join("trees")
}

/// The list of the bad files: a golden file, its changed bytes, and the kind of the error.
pub fn bad_table() -> PathBuf {
    tests().join("golden-bad.csv")
}
