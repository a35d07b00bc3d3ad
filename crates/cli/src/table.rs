//! Tables for people: aligned columns under their titles.

use std::io::{self, Write};

use console::{measure_text_width, truncate_str};

use crate::output::Style;

/// The gap between two columns.
const GAP: &str = "  ";
/// Columns are not made narrower than this to make room for others.
const LEAST: usize = 8;

/// A cell of the table.
pub(crate) struct Cell {
    text: String,
    dim: bool,
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), dim: false }
    }
}

impl Cell {
    /// A less prominent cell.
    pub(crate) fn dim(text: impl Into<String>) -> Self {
        Self { text: text.into(), dim: true }
    }
}

/// A column with its titles and cells, all without control characters.
pub(crate) struct Column {
    titles: Vec<Cell>,
    cells: Vec<Cell>,
    right: bool,
    /// Whether it may be cut when the terminal is narrow.
    flexible: bool,
    width: usize,
}

impl Column {
    /// A column of text.
    pub(crate) fn left<T: Into<Cell>>(titles: impl IntoIterator<Item = T>) -> Self {
        Self::new(titles.into_iter().map(Into::into).collect(), false)
    }

    /// A column of numbers.
    pub(crate) fn right<T: Into<Cell>>(titles: impl IntoIterator<Item = T>) -> Self {
        Self::new(titles.into_iter().map(Into::into).collect(), true)
    }

    /// A column of text of any length.
    pub(crate) fn flexible<T: Into<Cell>>(titles: impl IntoIterator<Item = T>) -> Self {
        Self { flexible: true, ..Self::left(titles) }
    }

    fn new(titles: Vec<Cell>, right: bool) -> Self {
        let width = titles.iter().map(|title| measure_text_width(&title.text)).max().unwrap_or(0);
        Self { titles, cells: Vec::new(), right, flexible: false, width }
    }

    /// Appends a cell.
    pub(crate) fn push(&mut self, cell: impl Into<Cell>) {
        let cell = cell.into();
        self.width = self.width.max(measure_text_width(&cell.text));
        self.cells.push(cell);
    }

    fn cell(&self, row: usize) -> Option<&Cell> {
        self.titles.get(row).or_else(|| self.cells.get(row - self.titles.len()))
    }
}

/// Prints columns side by side. Returns how many fit the width of the terminal.
pub(crate) fn print(mut columns: Vec<Column>, style: Style, out: &mut impl Write) -> io::Result<usize> {
    let n = fit(&mut columns, style);
    columns.truncate(n);
    print_rows(&columns.iter().collect::<Vec<_>>(), style, out)?;
    Ok(n)
}

/// Prints all columns. Columns that do not fit the width of the terminal follow below, after the
/// first column again.
pub(crate) fn print_all(mut columns: Vec<Column>, style: Style, out: &mut impl Write) -> io::Result<()> {
    let n = fit(&mut columns, style);
    print_rows(&columns[..n].iter().collect::<Vec<_>>(), style, out)?;
    let mut start = n;
    if let (true, Some(width)) = (start < columns.len() && columns[0].flexible, style.width) {
        columns[0].width = columns[0].width.min(LEAST.max(width / 2));
    }
    while start < columns.len() {
        writeln!(out)?;
        let room = style.width.map(|width| width.saturating_sub(columns[0].width + GAP.len()));
        let n = fit(&mut columns[start..], Style { width: room, ..style });
        let shown: Vec<&Column> = columns[..1].iter().chain(&columns[start..start + n]).collect();
        print_rows(&shown, style, out)?;
        start += n;
    }
    Ok(())
}

fn print_rows(columns: &[&Column], style: Style, out: &mut impl Write) -> io::Result<()> {
    let n_titles = columns.iter().map(|column| column.titles.len()).max().unwrap_or(0);
    let n_rows = n_titles + columns.iter().map(|column| column.cells.len()).max().unwrap_or(0);
    for row in 0..n_rows {
        let mut line = String::new();
        for column in columns {
            let Some(cell) = column.cell(row) else { continue };
            let text = truncate_str(&cell.text, column.width, "…");
            let pad = " ".repeat(column.width - measure_text_width(&text).min(column.width));
            let text = match (cell.dim, row == 0) {
                (true, _) => style.dim(&text),
                (false, true) => style.bold(&text),
                (false, false) => text.into_owned(),
            };
            if column.right {
                line.push_str(&pad);
                line.push_str(&text);
            } else {
                line.push_str(&text);
                line.push_str(&pad);
            }
            line.push_str(GAP);
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Narrows flexible columns, the widest first, then drops columns from the end until the rest fits.
/// At least one stays.
fn fit(columns: &mut [Column], style: Style) -> usize {
    let Some(room) = style.width else { return columns.len() };
    let mut n = 0;
    let mut least = 0;
    for column in &*columns {
        least += if column.flexible { column.width.min(LEAST) } else { column.width };
        if n > 0 && least + n * GAP.len() > room {
            break;
        }
        n += 1;
    }
    let columns = &mut columns[..n];
    let room = room.saturating_sub(n.saturating_sub(1) * GAP.len());
    let total: usize = columns.iter().map(|column| column.width).sum();
    let mut excess = total.saturating_sub(room);
    while excess > 0 {
        // A single column is cut, flexible or not.
        let widest =
            columns.iter_mut().filter(|c| c.flexible && c.width > LEAST || n == 1).max_by_key(|c| c.width);
        let Some(widest) = widest.filter(|column| column.width > 1) else { break };
        widest.width -= 1;
        excess -= 1;
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(columns: Vec<Column>, width: Option<usize>) -> (String, usize) {
        let mut out = Vec::new();
        let n = print(columns, Style { color: false, width }, &mut out).unwrap();
        (String::from_utf8(out).unwrap(), n)
    }

    fn columns() -> Vec<Column> {
        let mut name = Column::flexible(["name"]);
        name.push("a long name of a column");
        name.push("日本");
        let mut n = Column::right(["n"]);
        n.push("1");
        n.push("1,000");
        vec![name, n]
    }

    #[test]
    fn aligns() {
        let text = "name                         n\na long name of a column      1\n日本                     1,000\n";
        assert_eq!(printed(columns(), None), (text.to_owned(), 2));
    }

    #[test]
    fn cuts_to_the_width() {
        let (text, n) = printed(columns(), Some(20));
        assert_eq!(
            (text.as_str(), n),
            ("name               n\na long name …      1\n日本           1,000\n", 2)
        );
        assert_eq!(printed(columns(), Some(10)).1, 1);
        let mut m = Column::right(["m"]);
        m.push("12");
        m.push("123,456");
        let all = columns().into_iter().chain([m]).collect();
        let mut out = Vec::new();
        print_all(all, Style { color: false, width: Some(20) }, &mut out).unwrap();
        let text = "name               n\na long name …      1\n日本           1,000\n\n\
                    name              m\na long na…       12\n日本        123,456\n";
        assert_eq!(String::from_utf8(out).unwrap(), text);
    }
}
