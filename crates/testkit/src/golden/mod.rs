//! Golden files, written once and read by every later release, and bad files, which every release
//! refuses.

pub mod bad;
pub mod buffers;
pub mod build;
pub mod index;

use std::path::PathBuf;

use entasis::{ColumnType, Operation, Physical, WriteOptions};

use crate::forge::{Plan, forge, naive_type};
use crate::frames::{self, Model, Table};
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

/// How a golden file is made from the one that the writer gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Unchanged.
    #[default]
    Whole,
    /// As written to a stream: the first slot is empty, and readers use the trailer.
    Streamed,
    /// With raw dictionary codes, which this writer never stores.
    RawCodes,
    /// As version 0.2 stores u128: as i128 with a host variant, in the order of signed numbers.
    Unsigned0_2,
    /// In generations: one ends at each of these row numbers, the last at the end.
    Grown(&'static [usize]),
    /// After a change of this kind, in place of the same file.
    Changed(Operation),
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
            Form::Unsigned0_2 => {
                let mut table = self.table.clone();
                table.columns.iter_mut().for_each(as_in_0_2);
                frames::write_at(&table, self.compression)
            }
            Form::Grown(parts) => frames::grown::grown(&self.table, parts, &options),
            Form::Changed(operation) => frames::grown::changed(&self.table, operation, &options),
            Form::Streamed => {
                file[64..128].fill(0);
                file[16] |= 1;
                let sum = checksum(&file[..56]).to_le_bytes();
                file[56..64].copy_from_slice(&sum);
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

    /// The file's name.
    pub fn file_name(&self) -> String {
        format!("{}.entasis", self.table.name)
    }
}

/// Gives columns of u128 the type that they have in files of version 0.2.
fn as_in_0_2(model: &mut Model) {
    if model.of.physical == Physical::U128 {
        model.of =
            ColumnType { physical: Physical::I128, host_variant: model.of.host_variant | 1, ..model.of };
    }
    model.children.iter_mut().for_each(as_in_0_2);
}

fn tests() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "..", "tests"].iter().collect()
}

/// The folder of the golden files of format 0.2.
pub fn folder() -> PathBuf {
    tests().join("golden").join("v0.2")
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
