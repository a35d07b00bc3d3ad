//! Places of a text that do not fit.

use std::sync::Arc;

/// The number of problems that are kept. All are counted.
pub const MOST_KEPT: usize = 100_000;

/// The most bytes of a place that a problem has.
const MOST_TEXT: usize = 1000;

/// The use of a place that does not fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// Reading ends with an error.
    #[default]
    Error,
    /// The value is missing, and so are fields that a row lacks. Rows that are too long are left
    /// out.
    Missing,
    /// The row is left out.
    Skip,
}

/// A place of a text that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The number of the row, from 0. The header, blank lines and comments do not count, rows that
    /// are left out do.
    pub row: u64,
    /// The line, from 1.
    pub line: u64,
    /// The offset of the row or of the field in the text, decompressed and in UTF-8.
    pub byte: u64,
    /// The column; `None` for a whole row.
    pub column: Option<usize>,
    /// The field, or the row; the first 1,000 bytes.
    pub text: String,
    /// The expected text.
    pub expected: String,
    /// The name of the text if several are read.
    pub file: Option<Arc<str>>,
}

/// The problems of a text.
#[derive(Clone, Debug, Default)]
pub struct Problems {
    /// The first ones.
    pub kept: Vec<Problem>,
    /// The number of all.
    pub n: u64,
}

impl Problems {
    /// Adds the problems of a later part of the text, which begins after `row` rows and `line`
    /// lines.
    pub fn append(&mut self, later: Self, row: u64, line: u64) {
        let room = MOST_KEPT - self.kept.len();
        self.n += later.n;
        self.kept.extend(later.kept.into_iter().take(room).map(|mut problem| {
            problem.row += row;
            problem.line += line;
            problem
        }));
    }
}

/// The start of a text, for a message.
pub fn excerpt(text: &[u8]) -> String {
    let mut start = String::from_utf8_lossy(&text[..text.len().min(MOST_TEXT)]).into_owned();
    if text.len() > MOST_TEXT && start.ends_with(char::REPLACEMENT_CHARACTER) {
        // Half a character.
        start.pop();
    }
    start
}

/// The start of a name or a field, for an error: at most `most` characters, none for control.
pub fn start(text: &str, most: usize) -> String {
    let mut chars = text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c });
    let start: String = chars.by_ref().take(most).collect();
    if chars.next().is_some() { start + "..." } else { start }
}
