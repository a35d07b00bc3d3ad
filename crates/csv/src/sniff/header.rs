//! Whether the first row holds names.

use super::Header;
use super::kind::{Kind, kind};
use super::table::{Field, Table};

/// The most rows that are compared with the first one.
const MAX_ROWS: usize = 1000;

/// Decides whether row `start` of the table holds names.
pub(super) fn header(table: &Table<'_>, start: usize, n_columns: usize) -> Header {
    if start >= table.n_rows() {
        return Header::new(false, 0.5, "there are no rows");
    }
    let first = table.row(start);
    let body: Vec<&[Field<'_>]> = (start + 1..table.n_rows())
        .map(|n| table.row(n))
        .filter(|row| row.len() == n_columns)
        .take(MAX_ROWS)
        .collect();
    let kinds: Vec<Kind> = first.iter().map(|&field| name_kind(field)).collect();
    if kinds.iter().all(|&kind| kind == Kind::Empty) {
        return Header::new(false, 0.9, "the first row is empty");
    }
    let all_names = kinds.iter().all(|kind| !kind.is_typed());
    if body.is_empty() {
        return match all_names {
            true => Header::new(true, 0.5, "the only row has no numbers"),
            false => Header::new(false, 0.7, "the only row has values"),
        };
    }
    if first.len() + 1 == n_columns && all_names {
        return Header::new(true, 0.9, "the first row has one field less than the others, and no numbers");
    }
    let columns: Vec<Column> =
        (0..first.len().min(n_columns)).map(|n| Column::new(body.iter().map(|row| row[n]))).collect();
    let mut names = 0;
    let mut values = 0;
    let mut repeats = 0;
    for (n, column) in columns.iter().enumerate() {
        let Some(usual) = column.typed else {
            let text = first[n].text.trim_ascii();
            let repeats_here = body.iter().any(|row| row[n].text.trim_ascii() == text);
            repeats += usize::from(repeats_here && !text.is_empty() && column.has_text);
            values += usize::from(kinds[n].is_typed() && kinds[n] != Kind::Integer && column.has_text);
            continue;
        };
        match kinds[n] {
            Kind::Empty => {}
            kind if fits(kind, usual) => values += 1,
            // Dates and times name columns of numbers.
            Kind::Date | Kind::Time | Kind::DateTime if usual.is_number() => names += 1,
            kind if kind.is_typed() => {}
            _ => names += 1,
        }
    }
    if names > 0 && values == 0 {
        return Header::new(true, 0.95, "the first row has text above values of another type");
    }
    if values > 0 {
        let years = is_series(first, &kinds, &body);
        if years && (names > 0 || kinds.iter().any(|kind| !kind.is_typed())) {
            return Header::new(
                true,
                0.8,
                "the numbers of the first row count up, and no later row has them",
            );
        }
        if names > values {
            return Header::new(
                true,
                0.7,
                "most fields of the first row are text above values of another type",
            );
        }
        return Header::new(false, 0.9, "the first row has values of the types of the rows below");
    }
    if repeats > 0 {
        return Header::new(false, 0.7, "later rows repeat a text of the first row");
    }
    if kinds.contains(&Kind::Empty)
        && kinds.iter().filter(|&&kind| kind == Kind::Empty).count() * 2 > kinds.len()
    {
        return Header::new(false, 0.6, "most fields of the first row are empty");
    }
    let distinct = (1..first.len())
        .all(|n| first[n].text.is_empty() || !first[..n].iter().any(|f| f.text == first[n].text));
    if !all_names && is_series(first, &kinds, &body) {
        return Header::new(true, 0.6, "the numbers of the first row count up, and no later row has them");
    }
    if !all_names {
        return Header::new(false, 0.6, "the first row has values among text");
    }
    if !distinct {
        return Header::new(false, 0.6, "the first row has the same text twice");
    }
    if first.iter().any(|field| field.text.len() > 80) {
        return Header::new(false, 0.6, "the first row has long text");
    }
    Header::new(true, 0.6, "the first row has only text, which no later row repeats")
}

/// The kind of a name. A word for a missing value is a name.
fn name_kind(field: Field<'_>) -> Kind {
    match kind(field.text, field.quoted) {
        Kind::Missing => Kind::Code,
        kind => kind,
    }
}

/// A column below the first row.
struct Column {
    /// The kind of its values, unless it holds text.
    typed: Option<Kind>,
    has_text: bool,
}

impl Column {
    fn new<'a>(fields: impl Iterator<Item = Field<'a>>) -> Self {
        let (mut n, mut n_typed, mut n_text, mut usual) = (0, 0, 0, None);
        for field in fields {
            let kind = kind(field.text, field.quoted);
            if matches!(kind, Kind::Empty | Kind::Missing) {
                continue;
            }
            n += 1;
            if kind.is_typed() {
                n_typed += 1;
                usual.get_or_insert(kind);
            } else {
                n_text += 1;
            }
        }
        // A few words among numbers may mean missing values.
        let typed = if n > 0 && n_typed * 10 >= n * 9 { usual } else { None };
        Self { typed, has_text: n_text > 0 }
    }
}

/// Whether a column of `usual` values may hold one of kind `first`.
fn fits(first: Kind, usual: Kind) -> bool {
    first == usual || (first.is_number() && usual.is_number())
}

/// Whether the integers of the row are at least two, count up, and do not occur below in their
/// columns. Years and numbered columns do.
fn is_series(first: &[Field<'_>], kinds: &[Kind], body: &[&[Field<'_>]]) -> bool {
    let mut previous: Option<u64> = None;
    let mut n = 0;
    for (column, field) in first.iter().enumerate() {
        match kinds[column] {
            Kind::Integer => {}
            kind if kind.is_typed() => return false,
            _ => continue,
        }
        let text = field.text.trim_ascii();
        let Some(value) = std::str::from_utf8(text).ok().and_then(|text| text.parse::<u64>().ok()) else {
            return false;
        };
        if previous.is_some_and(|previous| previous.checked_add(1) != Some(value)) {
            return false;
        }
        if body.iter().any(|row| row.get(column).is_some_and(|field| field.text.trim_ascii() == text)) {
            return false;
        }
        previous = Some(value);
        n += 1;
    }
    n >= 2 || (n == 1 && previous.is_some_and(|year| (1900..=2100).contains(&year)))
}
