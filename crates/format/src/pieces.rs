//! The pieces in which the rows of a table with bundled columns lie (`docs/format/columns.md`).

use std::ops::Range;

use crate::bytes::put;
use crate::error::{Error, Result};
use crate::fallible;
use crate::limits::MAX_PIECES;

/// The pieces of a table: consecutive rows, of which each bundle stores its members one after the
/// other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pieces {
    /// The row after the last one of each piece, ascending.
    ends: Vec<u64>,
}

impl Pieces {
    /// Bytes of a record of the section *pieces*.
    pub const RECORD_LEN: usize = 8;

    /// The pieces with these numbers of rows.
    ///
    /// # Errors
    /// *Corrupt* if there is no piece, too many of them, or one without rows.
    pub fn new(lens: &[u64]) -> Result<Self> {
        if lens.is_empty() || lens.len() > MAX_PIECES as usize {
            return Err(Error::corrupt("the number of pieces of a table is impossible"));
        }
        let mut ends = fallible::with_capacity(lens.len(), "the pieces of a table")?;
        let mut end = 0u64;
        for &n in lens {
            end = end.checked_add(n).filter(|_| n > 0).ok_or_else(|| {
                Error::corrupt("the number of rows of a piece is impossible").in_section("pieces")
            })?;
            ends.push(end);
        }
        Ok(Self { ends })
    }

    /// The pieces in these records, of a table of `n_rows`.
    ///
    /// # Errors
    /// *Corrupt* if the pieces do not have all rows; as [`new`](Self::new).
    pub fn parse(records: &[u8], n_rows: u64) -> Result<Self> {
        let lens = records.as_chunks::<8>().0.iter().map(|record| u64::from_le_bytes(*record));
        let pieces = Self::new(&fallible::collect(lens, "the pieces of a table")?)?;
        if pieces.n_rows() == n_rows {
            return Ok(pieces);
        }
        let message = format!("the pieces of a table have {} rows, the table {n_rows}", pieces.n_rows());
        Err(Error::corrupt(message).in_section("pieces"))
    }

    /// Appends the records.
    pub fn emit(&self, out: &mut Vec<u8>) {
        self.rows().for_each(|rows| put!(out, rows.end - rows.start));
    }

    /// The number of pieces.
    pub fn n(&self) -> usize {
        self.ends.len()
    }

    /// The number of rows of all pieces.
    pub fn n_rows(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// The rows of each piece, in order.
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = Range<u64>> + '_ {
        let start = |i: usize| i.checked_sub(1).and_then(|i| self.ends.get(i)).copied().unwrap_or(0);
        self.ends.iter().enumerate().map(move |(i, &end)| start(i)..end)
    }

    /// The rows of the pieces that have some of these rows, in order.
    pub fn of_rows(&self, rows: Range<u64>) -> impl Iterator<Item = Range<u64>> + '_ {
        let first = self.ends.partition_point(|&end| end <= rows.start);
        self.rows().skip(first).take_while(move |piece| piece.start < rows.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_have_the_rows_of_the_table() {
        let pieces = Pieces::new(&[300, 20, 1]).unwrap();
        assert_eq!((pieces.n(), pieces.n_rows()), (3, 321));
        assert_eq!(pieces.rows().collect::<Vec<_>>(), [0..300, 300..320, 320..321]);
        let of = |rows: Range<u64>| pieces.of_rows(rows).map(|piece| piece.start).collect::<Vec<_>>();
        assert_eq!(of(0..300), [0]);
        assert_eq!(of(299..301), [0, 300]);
        assert_eq!(of(320..321), [320]);
        assert_eq!(of(5..5), [0]);
        assert_eq!(of(400..500), [0; 0]);
        let mut bytes = Vec::new();
        pieces.emit(&mut bytes);
        assert_eq!(Pieces::parse(&bytes, 321).unwrap(), pieces);
        assert!(Pieces::parse(&bytes, 320).is_err());
        assert!(Pieces::parse(&[], 0).is_err());
        assert!(Pieces::new(&[3, 0]).is_err());
        assert!(Pieces::new(&[u64::MAX, 1]).is_err());
        assert!(Pieces::new(&[1; MAX_PIECES as usize]).is_ok());
        assert!(Pieces::new(&[1; MAX_PIECES as usize + 1]).is_err());
    }
}
