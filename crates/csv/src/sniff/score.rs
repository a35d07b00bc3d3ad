//! How well a dialect fits a sample: equal rows, fields with the form of values, and quotes that
//! close where a field ends.
//!
//! The score is a product, as in "Wrangling Messy CSV Files by Detecting Row and Type Patterns"
//! (van den Burg, Nazábal, Sutton, 2019; CleverCSV) and "Detecting CSV File Dialects by Table
//! Uniformity Measurement and Data Type Inference" (García, 2024; CSVsniffer). Other than there,
//! the uniformity is the share of rows with the usual width, kinds are compared per column, and
//! text with the marks of another dialect lowers the score.

use super::kind::{Kind, N_KINDS, kind};
use super::table::{Field, Table};
use crate::dialect::{Blanks, Dialect};

/// The most rows whose fields are classified.
const MAX_TYPED_ROWS: usize = 150;
/// The most fields of a row that are classified.
const MAX_TYPED_FIELDS: usize = 200;

/// The score of one dialect.
#[derive(Clone, Copy, Debug)]
pub(super) struct Score {
    /// From 0 to 1.
    pub(super) value: f64,
    /// The usual width. 1: the dialect separates nothing.
    pub(super) n_columns: usize,
    /// The share of rows of this width.
    pub(super) uniformity: f64,
    /// Rows before the first one of this width.
    pub(super) n_before: usize,
}

/// How likely a separator is before the text is seen. The others need more evidence, since they
/// are frequent within fields.
pub(super) fn prior(separator: u8) -> f64 {
    match separator {
        b',' | b';' | b'\t' | 0x01 | 0x1F => 1.0,
        b'|' => 0.98,
        b'~' | b'^' => 0.85,
        b' ' => 0.75,
        b'#' => 0.7,
        b':' => 0.65,
        b'=' | b'/' | b'*' => 0.5,
        _ => 0.6,
    }
}

/// The score of the rows as lines of one field.
pub(super) fn score_lines(table: &Table<'_>) -> Score {
    // The first row may be a header.
    let header = usize::from(table.n_rows() > 2);
    let lines = || table.rows().skip(header).map(|row| row[0]);
    let typed = lines().filter(|&line| field_kind(line).is_typed_line()).count();
    let is_typed = typed > 1 && typed * 10 >= lines().count() * 9;
    let value = column_weight(lines(), None).weight * if is_typed { 0.84 } else { 0.6 };
    Score { value: value * quote_health(table), n_columns: 1, uniformity: 1.0, n_before: 0 }
}

/// The score of a dialect. `None`: most rows have no separator.
pub(super) fn score(table: &Table<'_>, dialect: &Dialect) -> Option<Score> {
    let n_columns = table.usual_width(2);
    let first = table.rows().position(|row| row.len() == n_columns)?;
    let n_rows = table.n_rows();
    let usual = table.rows().filter(|row| row.len() == n_columns).count();
    let split = table.rows().filter(|row| row.len() > 1).count();
    let body = n_rows - first;
    if split * 2 <= body || (split == 1 && n_rows > 1) || (n_rows == 1 && prior(dialect.separator) < 0.9) {
        return None;
    }
    // Rows before the first usual one may be a banner. They count less than others.
    let uniformity = (usual as f64 + 0.25 * (split - usual) as f64) / (body as f64 + 0.5 * first as f64);
    let least = match dialect.separator {
        b' ' if dialect.blanks == Blanks::Kept => 0.5,
        separator if prior(separator) < 0.9 => 0.8,
        _ => 0.0,
    };
    if uniformity < least {
        return None;
    }
    let columns = column_weights(table, n_columns, dialect.separator);
    // Words with a blank or a colon between them are text, unless other columns hold values.
    if prior(dialect.separator) < 0.8 && !columns.iter().any(|column| column.is_typed) {
        return None;
    }
    let types = columns.iter().map(|column| column.weight).sum::<f64>() / columns.len() as f64;
    let prior = prior(dialect.separator) * if dialect.quote.is_none() { 0.8 } else { 1.0 };
    let width = 1.0 - 0.3 / n_columns as f64;
    let value = uniformity.min(1.0) * types * prior * width * quote_health(table);
    Some(Score { value, n_columns, uniformity: uniformity.min(1.0), n_before: first })
}

/// The weights of the columns.
fn column_weights(table: &Table<'_>, n_columns: usize, separator: u8) -> Vec<Weight> {
    let usual: Vec<&[Field<'_>]> = table.rows().filter(|row| row.len() == n_columns).collect();
    // The first row may be a header.
    let usual = if usual.len() > 2 { &usual[1..] } else { &usual[..] };
    let step = usual.len().div_ceil(MAX_TYPED_ROWS).max(1);
    (0..n_columns.min(MAX_TYPED_FIELDS))
        .map(|column| column_weight(usual.iter().step_by(step).map(|row| row[column]), Some(separator)))
        .collect()
}

/// How much a column speaks for its dialect.
struct Weight {
    weight: f64,
    /// Whether most fields have the form of a value other than text.
    is_typed: bool,
}

/// The weight of a column: that of its fields, and the share of the most frequent kind. Without a
/// separator the fields are lines.
fn column_weight<'a>(fields: impl Iterator<Item = Field<'a>>, separator: Option<u8>) -> Weight {
    let mut counts = [0_usize; N_KINDS];
    let (mut n, mut sum) = (0_usize, 0.0);
    for field in fields {
        let kind = field_kind(field);
        n += 1;
        sum += match kind {
            // Blanks in a row align text more often than they leave fields empty.
            Kind::Empty if separator == Some(b' ') => 0.2,
            // Nothing separates lines of one field, so they should not look separated.
            Kind::DecimalComma | Kind::List if separator.is_none() && !field.quoted => 0.1,
            kind if field.quoted => kind.weight().max(0.85),
            kind => kind.weight(),
        };
        counts[group(kind) as usize] += 1;
    }
    if n == 0 {
        return Weight { weight: 0.0, is_typed: false };
    }
    let others = counts[Kind::Empty as usize] + counts[Kind::Missing as usize];
    if others == n {
        return Weight { weight: 0.2, is_typed: false };
    }
    counts[Kind::Empty as usize] = 0;
    counts[Kind::Missing as usize] = 0;
    let most = counts.iter().max().copied().unwrap_or(0);
    let text = counts[Kind::Text as usize];
    let weight = sum / n as f64 * (0.6 + 0.4 * most as f64 / (n - others) as f64);
    Weight { weight, is_typed: text * 5 < n - others }
}

/// The kind that stands for those that occur together in a column.
fn group(kind: Kind) -> Kind {
    match kind {
        kind if kind.is_number() => Kind::Decimal,
        Kind::Code | Kind::Text | Kind::List | Kind::Odd => Kind::Text,
        kind => kind,
    }
}

fn field_kind(field: Field<'_>) -> Kind {
    kind(field.text, field.quoted)
}

/// Lower where quotes do not fit the dialect.
fn quote_health(table: &Table<'_>) -> f64 {
    let (good, bad) = (table.n_quoted as f64, table.n_misquoted as f64);
    if bad == 0.0 { 1.0 } else { 1.0 - 0.8 * bad / (good + bad) }
}

impl Kind {
    /// Whether a line of this kind is one value, although it holds bytes that separate elsewhere.
    fn is_typed_line(self) -> bool {
        self.is_typed() && self != Self::DecimalComma
    }
}
