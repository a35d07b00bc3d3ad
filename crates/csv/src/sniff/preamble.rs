//! Lines before the table, and lines of comments.

use super::kind::{Kind, kind};
use super::table::{Field, Table};

/// The most rows before the header.
const MAX_BANNER: usize = 100;

/// The number of rows of the table before the header, or before the first row of values.
///
/// Rows are dropped only if they are narrow: a table whose rows become wider loses none.
pub(super) fn banner_rows(table: &Table<'_>, n_columns: usize) -> usize {
    if n_columns < 2 {
        return 0;
    }
    let Some(first) = table.rows().position(|row| row.len() == n_columns) else {
        return 0;
    };
    let usual = table.rows().filter(|row| row.len() == n_columns).count();
    let mut start = first;
    if first > 0 {
        let has_names = is_names(table.row(first), n_columns);
        let names_before = !has_names && is_names(table.row(first - 1), n_columns);
        start -= usize::from(names_before);
        let is_banner = |row: &[Field<'_>]| row.len() == 1 || row.len() * 2 <= n_columns;
        let is_bad = start > MAX_BANNER || start > usual || !table.rows().take(start).all(is_banner);
        // Equal rows with numbers are another table, or the same one before it grew.
        let grows = start > 1 && {
            let width = table.row(0).len();
            width > 1
                && table.rows().take(start).all(|row| row.len() == width)
                && has_values(table.row(start - 1))
        };
        // Fields above a table without names may be its names, although some are absent.
        let may_be_names = start == first && !has_names && table.rows().take(start).any(|row| row.len() > 1);
        if is_bad || grows || may_be_names {
            return 0;
        }
    }
    start + title_rows(table, start, n_columns)
}

/// The number of rows with at most one field that is not empty, before a row of names. Spreadsheets
/// write titles like this.
fn title_rows(table: &Table<'_>, start: usize, n_columns: usize) -> usize {
    let end = table.n_rows().min(start + MAX_BANNER);
    let Some(names) = (start..end).find(|&n| n_filled(table.row(n)) > 1) else {
        return 0;
    };
    let row = table.row(names);
    let is_title = n_columns > 2 && n_filled(row) * 2 > n_columns && !has_values(row);
    let rest = table.n_rows() - names;
    let filled = (names..table.n_rows()).filter(|&n| n_filled(table.row(n)) > 1).count();
    if is_title && filled * 2 > rest && rest > names - start { names - start } else { 0 }
}

fn n_filled(row: &[Field<'_>]) -> usize {
    row.iter().filter(|field| !field.text.trim_ascii().is_empty()).count()
}

fn has_values(row: &[Field<'_>]) -> bool {
    row.iter().any(|field| kind(field.text, field.quoted).is_typed())
}

/// Whether the row may hold the names of `n_columns` columns, although its width differs: one name
/// less, as R writes it, or names for fields that the rows leave out.
fn is_names(row: &[Field<'_>], n_columns: usize) -> bool {
    let fits = row.len() + 1 == n_columns && (row.len() > 1 || row[0].quoted) || row.len() >= n_columns;
    fits && row
        .iter()
        .all(|&field| !matches!(kind(field.text, field.quoted), Kind::Empty) && !has_values(&[field]))
}

/// Whether lines that begin with `mark` are comments. `rows` is the table without them, `all` the
/// table with them as rows.
pub(super) fn is_comment(mark: u8, rows: &Table<'_>, all: &Table<'_>, n_columns: usize) -> bool {
    let marked: Vec<&[Field<'_>]> =
        all.rows().filter(|row| !row[0].quoted && row[0].text.first() == Some(&mark)).collect();
    if marked.is_empty() || marked.len() > rows.n_rows().max(20) * 2 || rows.n_rows() == 0 {
        return false;
    }
    let usual = marked.iter().filter(|row| row.len() == n_columns).count();
    // A row that fits the table is a row, or a header such as `#id`.
    usual == 0 || (n_columns > 1 && usual * 3 <= marked.len() && marked[marked.len() - 1].len() != n_columns)
}
