//! Golden files, written once and read by every later release, and bad files, which every release
//! refuses.

pub mod bad;
pub mod buffers;
pub mod build;
pub mod checksums;
pub mod index;

use std::path::PathBuf;

use entasis::{Operation, WriteOptions};

use crate::forge::{Plan, forge, naive_type};
use crate::frames::{self, Table};
use crate::future::Future;
use crate::naive::bytes::checksum;

/// A golden file.
#[derive(Clone, Debug)]
pub struct Golden {
    /// Its content. The table has the name of the file.
    pub table: Table,
    /// The compression setting.
    pub compression: u8,
    /// Features that its blocks must use, so that the file tests what its name promises.
    pub features: &'static [&'static str],
    /// How the file is made.
    pub form: Form,
}

/// How a golden file is made from the writer's file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Unchanged.
    #[default]
    Whole,
    /// As written to a stream: the first slot is empty, and readers use the trailer.
    Streamed,
    /// With raw dictionary codes, which this writer never stores.
    RawCodes,
    /// In generations. One ends at each of these row numbers, and the last one at the end.
    Grown(&'static [usize]),
    /// As the last of several generations, after a change of this kind.
    Changed(Operation),
    /// With column ranges: the columns of the second half come first in the file.
    ColumnRanges,
    /// With sections and fields of a later version.
    Later,
}

impl Golden {
    /// The bytes that the current writer gives, in the file's form.
    ///
    /// # Panics
    /// When the file can't have the form.
    pub fn write(&self) -> Vec<u8> {
        let options = WriteOptions { compression: Some(self.compression), ..WriteOptions::default() };
        let mut file = frames::write_at(&self.table, self.compression);
        match self.form {
            Form::Whole => file,
            Form::Grown(parts) => frames::grown::grown(&self.table, parts, &options),
            Form::Changed(operation) => frames::grown::changed(&self.table, operation, &options),
            Form::ColumnRanges => self.with_column_ranges(),
            Form::Later => Future::kept().forge(&file),
            Form::Streamed => {
                stream(&mut file);
                file
            }
            Form::RawCodes => {
                let model = &self.table.columns[0];
                let plan = Plan { packing: 0, transform: 1, ..Plan::default() };
                let forged = forge(&file, &model.cells, &naive_type(&model.of), &plan);
                forged.unwrap_or_else(|| panic!("{}: no dictionary", self.table.name))
            }
        }
    }

    fn with_column_ranges(&self) -> Vec<u8> {
        let n = self.table.columns.len();
        let mut stored = self.table.clone();
        stored.columns.rotate_left(n / 2);
        let (n, n_second) = (n as u64, (n - n / 2) as u64);
        let future = Future { column_ranges: vec![n_second..n, 0..n_second], ..Future::default() };
        future.forge(&frames::write_at(&stored, self.compression))
    }

    /// The file's name.
    pub fn file_name(&self) -> String {
        format!("{}.entasis", self.table.name)
    }
}

/// Makes a file one that was written to a stream: its first slot is empty, and the trailer names
/// its state.
pub fn stream(file: &mut [u8]) {
    file[64..128].fill(0);
    file[16] |= 1;
    seal(file, 0);
    let trailer = file.len() - 64;
    file[trailer + 48] |= 1;
    seal(file, trailer);
}

/// Repairs the checksum at the end of the 64 bytes of a header, slot or trailer.
pub fn seal(file: &mut [u8], at: usize) {
    let sum = checksum(&file[at..at + 56]).to_le_bytes();
    file[at + 56..at + 64].copy_from_slice(&sum);
}

fn tests() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "..", "tests"].iter().collect()
}

/// The folder of the golden files of the current format, 0.3.
pub fn folder() -> PathBuf {
    tests().join("golden").join("v0.3")
}

/// The folder of the golden files of format 0.2, which readers read for ever.
pub fn old_folder() -> PathBuf {
    tests().join("golden").join("v0.2")
}

/// The folder of the golden compressed buffers and their description.
pub fn buffer_folder() -> PathBuf {
    tests().join("golden").join("buffers")
}

/// The folder of the golden files of trees.
pub fn tree_folder() -> PathBuf {
    folder().join("trees")
}

/// The folder of the golden files of trees of format 0.2.
pub fn old_tree_folder() -> PathBuf {
    tests().join("golden").join("trees")
}

/// The list of the bad files: a golden file, its changed bytes, and the kind of the error.
pub fn bad_table() -> PathBuf {
    tests().join("golden-bad.csv")
}
