//! Nested values as JSON in a text file.

use entasis::{File, Result, Rows, Silent};
use entasis_csv::write::{Nested, Strings};

use crate::cell;
use crate::nested;

/// Writes the values of nested columns as JSON: lists as arrays, structs as objects.
#[derive(Clone, Copy, Debug)]
pub struct NestedAsJson;

impl Nested for NestedAsJson {
    fn append(&self, file: &File, column: u64, rows: &Rows, to: &mut Strings) -> Result<()> {
        let info = file.column(column)?;
        let mut text = String::new();
        for array in nested::load(file, &[&info], rows, Some(1), &Silent)? {
            for i in 0..array.n {
                text.clear();
                cell::json(&array, i, &mut text);
                to.push((text != "null").then_some(&text));
            }
        }
        Ok(())
    }
}

/// The form of nested columns in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Form {
    /// JSON
    Json,
}
