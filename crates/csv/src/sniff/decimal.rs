//! The decimal mark of a text.

use super::Given;
use super::kind::{Kind, kind};
use super::table::Table;
use crate::dialect::Dialect;

/// A decimal mark.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decimal {
    /// `b'.'` or `b','`.
    pub mark: u8,
    pub reason: &'static str,
    /// From 0 to 1.
    pub confidence: f64,
}

impl Decimal {
    fn new(mark: u8, confidence: f64, reason: &'static str) -> Self {
        Self { mark, reason, confidence }
    }
}

/// The decimal mark of the rows from `start` on.
pub(super) fn decimal(table: &Table<'_>, start: usize, dialect: &Dialect, given: &Given) -> Decimal {
    if let Some(decimal) = given.decimal {
        return Decimal::new(decimal, 1.0, "given");
    }
    if dialect.separator == b',' {
        return Decimal::new(b'.', 1.0, "the separator is a comma");
    }
    let (mut points, mut commas, mut sure) = (0_usize, 0_usize, 0_usize);
    for field in (start..table.n_rows()).flat_map(|row| table.row(row)) {
        if memchr::memchr2(b'.', b',', field.text).is_none() {
            continue;
        }
        match kind(field.text, field.quoted) {
            Kind::Decimal if field.text.contains(&b'.') => points += 1,
            Kind::DecimalComma => {
                commas += 1;
                let comma = field.text.iter().rposition(|&byte| byte == b',').unwrap_or(0);
                let digits = field.text[comma + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                sure += usize::from(digits != 3);
            }
            _ => {}
        }
    }
    let (mark, confidence, reason) = match (points, commas, sure) {
        (0, 0, _) => (b'.', 0.8, "no number has a decimal mark; this is the usual one"),
        (_, _, 1..) if commas > points => {
            (b',', 0.95, "numbers have other than three digits after their only comma")
        }
        (0, _, 0) => {
            (b'.', 0.5, "numbers have three digits after their only comma, which may mark thousands")
        }
        (_, 0, _) => (b'.', 1.0, "numbers have a decimal point"),
        _ => (b'.', 0.6, "more numbers have a decimal point than a comma"),
    };
    Decimal::new(mark, confidence, reason)
}

/// The columns from row `start` on in which some numbers have one comma, and nearly all values are
/// numbers. Quoted fields are text, unless all have quotes.
pub(super) fn comma_columns(table: &Table<'_>, start: usize, all_quoted: bool) -> Vec<usize> {
    let mut counts = Vec::new();
    for row in (start..table.n_rows()).map(|row| table.row(row)) {
        if counts.len() < row.len() {
            counts.resize(row.len(), (0_usize, 0_usize));
        }
        for (field, (commas, others)) in row.iter().zip(&mut counts) {
            match kind(field.text, field.quoted) {
                Kind::Empty | Kind::Missing => {}
                kind if !kind.is_number() || (field.quoted && !all_quoted) => *others += 1,
                Kind::DecimalComma => *commas += 1,
                _ => {}
            }
        }
    }
    let is_found = |(commas, others): &(usize, usize)| *commas > 0 && 10 * others <= *commas;
    (0..counts.len()).filter(|&column| is_found(&counts[column])).collect()
}
