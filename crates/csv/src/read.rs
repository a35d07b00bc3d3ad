//! Reads a text into columns.

mod columns;
mod header;
mod pass;
mod store;

use std::ops::Range;

pub use store::store;

use entasis::{Error, Monitor, Result};

use crate::convert::Meaning;
use crate::dialect::Dialect;
use crate::input::Input;
use crate::piece::{Piece, TextLayout};
use crate::problems::{OnError, Problems, start};
use crate::types::Type;

/// Words for missing values, among values of other types than text.
pub const MISSING: [&str; 4] = ["NA", "N/A", "NULL", "null"];

/// How a text is read.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The dialect.
    pub dialect: Dialect,
    /// Lines to leave out at the start.
    pub skip: usize,
    /// Whether the first row has the names.
    pub has_header: bool,
    /// The names, instead of those of the header.
    pub names: Option<Vec<String>>,
    /// The names that the header must have.
    pub expected_names: Option<Vec<String>>,
    /// Whether the header lacks a name for the first column.
    pub first_is_unnamed: bool,
    /// The columns to read.
    pub columns: Selection,
    /// The types of columns, by their names.
    pub types: Vec<(String, Type)>,
    /// Words for missing values.
    pub missing: Vec<String>,
    /// Whether these words are missing values among strings too.
    pub misses_in_text: bool,
    /// The decimal mark.
    pub decimal: u8,
    /// The mark between groups of three digits.
    pub thousands: Option<u8>,
    /// Whether quoted fields are text.
    pub quotes_mean_text: bool,
    /// Whether rows may have fewer fields than the header.
    pub fill: bool,
    /// The use of places that do not fit.
    pub on_error: OnError,
    /// The rows to read, with none that are left out.
    pub rows: Option<Range<u64>>,
    /// The layout of strings.
    pub layout: TextLayout,
    /// The most bytes of a field.
    pub max_field: usize,
    /// Bytes of a chunk; `None` for the best.
    pub chunk_len: Option<usize>,
    /// The number of threads.
    pub threads: usize,
}

impl Default for Plan {
    /// Commas, a header, and all columns.
    fn default() -> Self {
        Self {
            dialect: Dialect::default(),
            skip: 0,
            has_header: true,
            names: None,
            expected_names: None,
            first_is_unnamed: false,
            columns: Selection::All,
            types: Vec::new(),
            missing: MISSING.map(str::to_owned).to_vec(),
            misses_in_text: false,
            decimal: b'.',
            thousands: None,
            quotes_mean_text: true,
            fill: false,
            on_error: OnError::Error,
            rows: None,
            layout: TextLayout::Offsets,
            max_field: 64 << 20,
            chunk_len: None,
            threads: 1,
        }
    }
}

/// Which columns are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All.
    All,
    /// Those of these names, in this order.
    Names(Vec<String>),
    /// All but those of these names.
    Without(Vec<String>),
}

impl Plan {
    fn meaning(&self) -> Meaning {
        Meaning {
            dialect: self.dialect,
            missing: self.missing.iter().map(|word| word.as_bytes().to_vec()).collect(),
            misses_in_text: self.misses_in_text,
            decimal: self.decimal,
            thousands: self.thousands,
            quotes_mean_text: self.quotes_mean_text,
            layout: self.layout,
        }
    }
}

/// A text as columns.
#[derive(Debug)]
pub struct Table {
    /// The columns that were read.
    pub columns: Vec<Column>,
    /// The number of rows.
    pub n_rows: u64,
    /// The names of all columns of the text.
    pub names: Vec<String>,
    /// Places that did not fit.
    pub problems: Problems,
    /// Facts that a user should know.
    pub warnings: Vec<String>,
}

/// A column in pieces, one for each chunk of the text.
#[derive(Debug)]
pub struct Column {
    /// The name.
    pub name: String,
    /// The type.
    pub of: Type,
    /// The values.
    pub pieces: Vec<Piece>,
}

/// The outcome of a reading.
#[derive(Debug)]
pub enum Outcome {
    /// The columns.
    Table(Table),
    /// Places of the text do not fit, and the plan does not say what happens to them.
    Refused(Refused),
}

/// The places for which a text is refused.
#[derive(Debug)]
pub struct Refused {
    /// The places in the first part of the text that has some.
    pub problems: Problems,
    /// The names of all columns of the text.
    pub names: Vec<String>,
}

/// Reads a text.
///
/// # Errors
/// *Text* for a text that does not fit the plan as a whole, *argument* for columns that it lacks,
/// errors of the input, *out of memory*, *interrupted*.
pub fn read(input: &mut dyn Input, plan: &Plan, monitor: &dyn Monitor) -> Result<Outcome> {
    columns::read(input, plan, monitor)
}

impl Refused {
    /// The error, with the first ten places.
    pub fn error(&self) -> Error {
        let mut message = match self.problems.n {
            1 => "a place does not fit: ".to_owned(),
            n => format!("{n} places do not fit: "),
        };
        // Characters of the text that the message may still have.
        let mut left = 300;
        let mut shown = |text: &str| {
            let most = left.min(40);
            left -= text.chars().take(most).count();
            start(text, most)
        };
        for (i, problem) in self.problems.kept.iter().take(10).enumerate() {
            let separator = if i > 0 { "; " } else { "" };
            message.push_str(&format!("{separator}line {}", problem.line));
            if let Some(name) = problem.column.and_then(|column| self.names.get(column)) {
                message.push_str(&format!(", column '{}'", shown(name)));
            }
            message.push_str(&format!(": '{}', expected {}", shown(&problem.text), problem.expected));
        }
        if self.problems.n > 10 {
            message.push_str("; ...");
        }
        Error::text(message)
    }
}
