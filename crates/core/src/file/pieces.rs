//! Finds the pieces in which the rows of a table with bundled columns lie
//! (`docs/format/columns.md`).

use std::ops::Range;
use std::sync::Arc;

use entasis_format::{Error, Pieces, Result, SectionKind, TableRecord, fallible};

use super::footer::OpenFile;
use super::numbering::Numbering;
use super::{File, lock};

/// Records of tables that are read together.
const TABLES: u64 = 1 << 12;

/// The use of the memory, in messages.
const PIECES: &str = "the pieces of tables";

impl OpenFile {
    /// The pieces of the table of a column, by its number in the file; `None` if all rows are one
    /// piece.
    fn pieces_of(&self, column: u64) -> Result<Option<Arc<Pieces>>> {
        if self.n_records(SectionKind::Pieces) == 0 {
            return Ok(None);
        }
        let known = &self.known_pieces;
        let tables = match known.tables.get() {
            Some(tables) => tables,
            None => {
                let found = self.tables_in_pieces()?;
                known.tables.get_or_init(|| found)
            }
        };
        let after = tables.partition_point(|(columns, _)| columns.start <= column);
        let table = after.checked_sub(1).and_then(|i| tables.get(i));
        let table = table.filter(|(columns, _)| columns.contains(&column));
        table.map_or(Ok(None), |(_, table)| self.pieces(table))
    }

    fn tables_in_pieces(&self) -> Result<Vec<(Range<u64>, TableRecord)>> {
        let mut found = Vec::new();
        let n = self.n_records(SectionKind::Tables);
        for from in (0..n).step_by(TABLES as usize) {
            let bytes = self.records(SectionKind::Tables, from..n.min(from + TABLES))?;
            for record in bytes.chunks_exact(TableRecord::LEN) {
                let table = TableRecord::parse(record, self.root.version())?;
                if table.n_pieces > 0 && table.n_columns > 0 {
                    for columns in Numbering::of(self, &table)?.ranges(table.n_columns) {
                        fallible::push(&mut found, (columns, table), PIECES)?;
                    }
                }
            }
        }
        found.sort_unstable_by_key(|(columns, _)| columns.start);
        Ok(found)
    }

    /// The pieces of a table; `None` if all rows are one piece.
    fn pieces(&self, table: &TableRecord) -> Result<Option<Arc<Pieces>>> {
        if table.n_pieces == 0 {
            return Ok(None);
        }
        let key = (table.first_piece, table.n_pieces, table.n_rows);
        if let Some(pieces) = lock(&self.known_pieces.read).get(&key) {
            return Ok(Some(Arc::clone(pieces)).filter(|pieces| pieces.n() > 1));
        }
        let records = table.first_piece..table.first_piece.saturating_add(table.n_pieces.into());
        let pieces = Arc::new(Pieces::parse(&self.records(SectionKind::Pieces, records)?, table.n_rows)?);
        fallible::insert(&mut lock(&self.known_pieces.read), key, Arc::clone(&pieces), PIECES)?;
        Ok(Some(pieces).filter(|pieces| pieces.n() > 1))
    }
}

impl File {
    /// The pieces of the view's table; `None` if its rows are one piece.
    ///
    /// # Errors
    /// *Corrupt*, *io*.
    pub fn pieces(&self) -> Result<Option<Arc<Pieces>>> {
        self.opened.pieces(&self.table).map_err(|e| e.in_file(self.path()))
    }

    /// The pieces of the table of column `index`; `None` if its rows are one piece, and for a
    /// column of no table.
    pub(crate) fn pieces_of(&self, index: u64) -> Result<Option<Arc<Pieces>>> {
        if index < self.table.n_columns {
            return self.opened.pieces(&self.table);
        }
        self.opened.pieces_of(self.numbering.in_file(index))
    }
}

/// The place of a bundled column in a bundle whose rows lie in pieces.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pieces: Arc<Pieces>,
    /// The number of the column among the members.
    number: u64,
    /// The number of members.
    n: u64,
}

impl Member {
    /// The place of a column whose values begin with `first_value`, in a storage column of
    /// `n_stored` values.
    ///
    /// # Errors
    /// *Corrupt*.
    pub(crate) fn new(pieces: Arc<Pieces>, first_value: u64, n_values: u64, n_stored: u64) -> Result<Self> {
        let n_rows = pieces.n_rows();
        let is_sound = n_rows == n_values
            && n_rows > 0
            && first_value.is_multiple_of(n_rows)
            && n_stored.is_multiple_of(n_rows)
            && first_value < n_stored;
        if !is_sound {
            return Err(Error::corrupt("the pieces of a table do not fit its bundled columns"));
        }
        Ok(Self { pieces, number: first_value / n_rows, n: n_stored / n_rows })
    }

    /// The position of a row's value in the storage column. The row exists.
    pub(crate) fn value(&self, row: u64) -> u64 {
        let piece = self.pieces.of_rows(row..row.saturating_add(1)).next();
        piece.map_or(row, |piece| self.in_piece(&piece, row))
    }

    /// The rows of each piece that are among `rows`.
    pub(crate) fn stretches(&self, rows: Range<u64>) -> impl Iterator<Item = Stretch> {
        self.pieces.of_rows(rows.clone()).map(move |piece| {
            let rows = rows.start.max(piece.start)..rows.end.min(piece.end);
            let first_value = self.in_piece(&piece, rows.start);
            Stretch { rows, first_value }
        })
    }

    /// The position of the value of a row of this piece. All positions are below the number of
    /// values of the storage column, so nothing overflows.
    fn in_piece(&self, piece: &Range<u64>, row: u64) -> u64 {
        piece.start * self.n + self.number * (piece.end - piece.start) + (row - piece.start)
    }
}

/// Consecutive rows whose values are consecutive in the storage column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub rows: Range<u64>,
    /// The position of the first row's value in the storage column.
    pub first_value: u64,
}

impl Stretch {
    /// The positions of the values in the storage column.
    pub fn values(&self) -> Range<u64> {
        self.first_value..self.first_value + (self.rows.end - self.rows.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_where_their_piece_has_them() {
        let lens = [5, 1, 2];
        let pieces = Arc::new(Pieces::new(&lens).unwrap());
        let (n_rows, n) = (8, 3);
        // The storage column, as pairs of the member's number and the row.
        let mut stored = Vec::new();
        for piece in pieces.rows() {
            stored.extend((0..n).flat_map(|number| piece.clone().map(move |row| (number, row))));
        }
        for number in 0..n {
            let member = Member::new(Arc::clone(&pieces), number * n_rows, n_rows, n * n_rows).unwrap();
            for row in 0..n_rows {
                assert_eq!(stored[member.value(row) as usize], (number, row));
            }
            for rows in [0..8, 0..5, 4..7, 6..8, 5..6, 3..3] {
                let values = member.stretches(rows.clone()).flat_map(|stretch| stretch.values());
                let found: Vec<_> = values.map(|value| stored[value as usize]).collect();
                assert_eq!(found, rows.map(|row| (number, row)).collect::<Vec<_>>());
            }
        }
        for (first, n_values, n_stored) in [(0, 7, 24), (4, 8, 24), (0, 8, 25), (24, 8, 24)] {
            assert!(Member::new(Arc::clone(&pieces), first, n_values, n_stored).is_err());
        }
    }
}
