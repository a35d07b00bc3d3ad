//! Reads a text into columns.

mod chosen;
mod chunk;
mod columns;
mod header;
mod pass;
mod scan;
mod store;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

pub use header::names_of_spec;
pub use scan::{Query, Scan};
pub use store::{store, store_all};

use entasis::{Buffer, Error, Monitor, Result};

use crate::categories::Categories;
use crate::condition::Condition;
use crate::convert::Meaning;
use crate::dialect::Dialect;
use crate::frame::{Lent, Values};
use crate::input::{Input, Inputs, Single};
use crate::piece::{Facts, Piece, TextLayout, buffer};
use crate::problems::{OnError, Problems, start};
use crate::types::Type;
use header::Header;

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
    /// Formats of dates by the names of columns; `None` for all columns.
    pub dates: Vec<(Option<String>, Vec<String>)>,
    /// The name of a column in addition, with the name of the text of each row.
    pub id: Option<String>,
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
    /// Whether blanks at the ends of strings and names outside of quotes are left out.
    pub strips: bool,
    /// The start of the names of columns without a name, before their number. `None`: `column_`,
    /// and a first column without a name keeps an empty one.
    pub unnamed: Option<&'static str>,
    /// Whether rows may have fewer fields than the header.
    pub fill: bool,
    /// The use of places that do not fit.
    pub on_error: OnError,
    /// The rows to read, with none that are left out.
    pub rows: Option<Range<u64>>,
    /// The rows to read, by their values. See [`Plan::takes_condition`].
    pub condition: Option<Arc<dyn Condition>>,
    /// Whether strings become codes of categories, apart from columns with given types.
    pub as_categories: bool,
    /// The layout of strings.
    pub layout: TextLayout,
    /// The most bytes of a field.
    pub max_field: usize,
    /// Bytes of a chunk; `None` for the best.
    pub chunk_len: Option<usize>,
    /// Bytes of text that are written at once; `None` for the best.
    pub window_len: Option<usize>,
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
            dates: Vec::new(),
            id: None,
            missing: MISSING.map(str::to_owned).to_vec(),
            misses_in_text: false,
            decimal: b'.',
            thousands: None,
            quotes_mean_text: true,
            strips: false,
            unnamed: None,
            fill: false,
            on_error: OnError::Error,
            rows: None,
            condition: None,
            as_categories: false,
            layout: TextLayout::Offsets,
            max_field: 64 << 20,
            chunk_len: None,
            window_len: None,
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
    /// Whether the rows can be chosen by a condition. Values of left out rows decide nothing else
    /// than types then.
    pub fn takes_condition(&self) -> bool {
        let has_categories = self.as_categories || self.types.iter().any(|(_, of)| *of == Type::Categorical);
        let is_skipping = self.on_error == OnError::Skip;
        !has_categories && !is_skipping && self.dates.is_empty() && self.id.is_none() && self.rows.is_none()
    }

    fn meaning(&self) -> Meaning {
        Meaning {
            dialect: self.dialect,
            missing: self.missing.iter().map(|word| word.as_bytes().to_vec()).collect(),
            misses_in_text: self.misses_in_text,
            decimal: self.decimal,
            thousands: self.thousands,
            quotes_mean_text: self.quotes_mean_text,
            strips: self.strips,
            layout: self.layout,
        }
    }
}

/// A text as columns.
#[derive(Debug, Default)]
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
    /// The strings that codes stand for.
    pub categories: Option<Piece>,
    /// Facts about the values. With a condition they are complete, and about all rows.
    pub facts: Facts,
    /// The format of the user that all its dates have.
    pub format: Option<String>,
}

impl Column {
    /// The values, for a frame.
    pub fn lent(&self) -> Lent<'_> {
        let pieces = self.pieces.iter().map(Values::from).collect();
        let categories = self.categories.iter().map(Values::from).collect();
        Lent { name: &self.name, of: self.of, pieces, categories }
    }
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
    read_all(&mut Single::new(input), plan, monitor)
}

/// Reads texts with the same names into one table.
///
/// # Errors
/// As [`read`](self::read()), and *argument* for texts with other names.
pub fn read_all(inputs: &mut dyn Inputs, plan: &Plan, monitor: &dyn Monitor) -> Result<Outcome> {
    columns::read(inputs, plan, monitor)
}

/// Watches the reading of one of several texts.
struct Placed<'a> {
    monitor: &'a dyn Monitor,
    /// Bytes of the texts before, and of all texts.
    place: (u64, Option<u64>),
}

impl Monitor for Placed<'_> {
    fn interrupted(&self) -> bool {
        self.monitor.interrupted()
    }

    fn progress(&self, done: u64, _: u64) {
        self.monitor.progress(self.place.0 + done, self.place.1.unwrap_or(0));
    }

    fn meanwhile(&self, has_others: bool) -> bool {
        self.monitor.meanwhile(has_others)
    }
}

/// The error of one of several texts.
fn in_text(error: Error, name: Option<&Arc<str>>) -> Error {
    match name {
        Some(name) => error.in_file(Path::new(&**name)),
        None => error,
    }
}

/// The rows to read of the texts after one with `n` rows.
fn rows_after(rows: &mut Option<Range<u64>>, n: u64) {
    if let Some(rows) = rows {
        *rows = rows.start.saturating_sub(n)..rows.end.saturating_sub(n);
    }
}

/// The column with the name of the text of each row.
struct Origins {
    name: String,
    /// The code of each text. Texts of the same name have the same one.
    codes: Vec<i32>,
    /// The names.
    names: Piece,
}

impl Origins {
    /// The column that the plan wants.
    fn new(inputs: &dyn Inputs, plan: &Plan) -> Result<Option<Self>> {
        let Some(name) = plan.id.clone() else { return Ok(None) };
        let mut names = Categories::default();
        let code = |i| names.code(inputs.origin(i).as_bytes());
        let codes = (0..inputs.n()).map(code).collect::<Result<_>>()?;
        Ok(Some(Self { name, codes, names: names.piece(0)? }))
    }

    /// Returns an error if a column that is read has the same name.
    fn check(&self, header: &Header) -> Result<()> {
        if header.wanted.iter().any(|&column| header.names[column] == self.name) {
            let message = format!("the text has a column '{}'", self.name);
            return Err(Error::argument(message).advise("pass another name as id="));
        }
        Ok(())
    }

    /// The codes of `n` rows of a text.
    fn piece(&self, text: usize, n: usize) -> Result<Piece> {
        let mut values = buffer(4 * n)?;
        bytemuck::cast_slice_mut::<u8, i32>(&mut values).fill(self.codes[text]);
        let facts = Facts::default();
        Ok(Piece { of: Type::Categorical, n, values, bytes: Buffer::default(), validity: None, facts })
    }
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
            let is_next = i == 0 || self.problems.kept[i - 1].file != problem.file;
            if let Some(file) = problem.file.as_ref().filter(|_| is_next) {
                message.push_str(&format!(" of '{}'", start(file, 120)));
            }
            message.push_str(&format!(": '{}', expected {}", shown(&problem.text), problem.expected));
        }
        if self.problems.n > 10 {
            message.push_str("; ...");
        }
        Error::text(message)
    }
}
