//! Column runs: one record for neighbouring columns that differ only in names and offsets (section
//! 2.4).

use std::ops::Range;

use crate::bytes::len64;
use crate::column::ColumnRecord;
use crate::error::{Error, Result};
use crate::fallible;

/// The columns that each column record stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    /// The first column of each record, then the number of all columns. Empty if each record is one
    /// column.
    starts: Vec<u64>,
}

impl Runs {
    /// Bytes of a record.
    pub const LEN: usize = 8;

    /// Parses the whole section, for a file with `n_records` column records.
    ///
    /// # Errors
    /// *Corrupt*.
    pub fn parse(bytes: &[u8], n_records: u64) -> Result<Self> {
        let (records, rest) = bytes.as_chunks::<8>();
        let numbers = records.iter().map(|record| u64::from_le_bytes(*record));
        let starts = fallible::collect(numbers, "the column runs")?;
        let ascends = starts.is_sorted_by(|a, b| a < b) && starts.first() == Some(&0);
        if rest.is_empty() && ascends && Some(len64(starts.len())) == n_records.checked_add(1) {
            Ok(Self { starts })
        } else {
            Err(Error::corrupt("the column runs are out of order, or not as many as the records")
                .in_section("runs"))
        }
    }

    /// The number of columns of a file with `n_records` column records.
    pub fn n_columns(&self, n_records: u64) -> u64 {
        self.starts.last().copied().unwrap_or(n_records)
    }

    /// The record that stands for a column.
    pub fn record_of(&self, column: u64) -> u64 {
        if self.starts.is_empty() {
            return column;
        }
        len64(self.starts.partition_point(|&start| start <= column)).saturating_sub(1)
    }

    /// The columns that a record stands for.
    pub fn columns_of(&self, record: u64) -> Range<u64> {
        let at = |record: u64| usize::try_from(record).ok().and_then(|record| self.starts.get(record));
        match (at(record), at(record.saturating_add(1))) {
            (Some(&start), Some(&end)) => start..end,
            _ => record..record.saturating_add(1),
        }
    }
}

impl ColumnRecord {
    /// The record of column `k` of the run that this record stands for. Its name is still the range
    /// of all names of the run.
    ///
    /// # Errors
    /// *Corrupt* when the record cannot stand for several columns, or numbers are too large.
    pub fn member(&self, k: u64) -> Result<Self> {
        if k > 0 && !self.is_bundled {
            return Err(Error::corrupt("a column run is not bundled"));
        }
        let first_value = k.checked_mul(self.n_values).and_then(|n| self.first_value.checked_add(n));
        let first_value = first_value.filter(|first| first.checked_add(self.n_values).is_some());
        match (self.id.checked_add(k), first_value) {
            (Some(id), Some(first_value)) => Ok(Self { id, first_value, ..*self }),
            _ => Err(Error::corrupt("a number in the record of a column run is too large")),
        }
    }
}

/// The names of a column run, as the names heap stores them.
#[derive(Clone, Copy, Debug)]
pub struct RunNames<'a> {
    ends: &'a [[u8; 4]],
    text: &'a str,
}

impl<'a> RunNames<'a> {
    /// Parses the names of `n` columns in exactly these bytes. Costs one pass over them.
    ///
    /// # Errors
    /// *Corrupt*.
    pub fn parse(bytes: &'a [u8], n: u64) -> Result<Self> {
        let damage = |problem: &'static str| Err(Error::corrupt(problem).in_section("names"));
        let split = usize::try_from(n)
            .ok()
            .and_then(|n| n.checked_mul(4))
            .and_then(|len| bytes.split_at_checked(len));
        let Some((ends, text)) = split else { return damage("the names of a column run are too short") };
        let (ends, _) = ends.as_chunks::<4>();
        let Ok(text) = std::str::from_utf8(text) else { return damage("a column name is not UTF-8") };
        let is_ascii = text.is_ascii();
        let mut last = 0;
        let mut is_sound = true;
        for end in ends {
            let end = u32::from_le_bytes(*end);
            // An end beyond the text is never a boundary. In ASCII every other end is one, and the
            // last end is checked below.
            is_sound &= end >= last && (is_ascii || text.is_char_boundary(end as usize));
            last = end;
        }
        if is_sound && len64(text.len()) == u64::from(last) {
            Ok(Self { ends, text })
        } else {
            damage("the ends of the names of a column run do not fit their text")
        }
    }

    /// The range of name `k` in the text.
    fn range(&self, k: usize) -> Option<Range<usize>> {
        let end = |k: usize| self.ends.get(k).map(|end| u32::from_le_bytes(*end) as usize);
        let start = match k.checked_sub(1) {
            None => 0,
            Some(before) => end(before)?,
        };
        Some(start..end(k)?)
    }

    /// Name `k`; empty if there are fewer.
    pub fn name(&self, k: usize) -> &'a str {
        self.range(k).and_then(|range| self.text.get(range)).unwrap_or_default()
    }

    /// All names, one after the other.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The end of each name in the text.
    pub fn ends(&self) -> impl ExactSizeIterator<Item = u32> {
        self.ends.iter().map(|end| u32::from_le_bytes(*end))
    }
}

/// Appends the names of a run: their ends in the text, then the text.
pub fn emit_run_names(ends: &[u32], text: &str, out: &mut Vec<u8>) {
    out.reserve(ends.len().saturating_mul(4).saturating_add(text.len()));
    out.extend(ends.iter().flat_map(|end| end.to_le_bytes()));
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::error::Kind;
    use crate::types::{ColumnType, Physical};

    fn bytes(starts: &[u64]) -> Vec<u8> {
        starts.iter().flat_map(|start| start.to_le_bytes()).collect()
    }

    #[test]
    fn without_runs_a_record_is_a_column() {
        let runs = Runs::default();
        assert_eq!((runs.n_columns(7), runs.record_of(5), runs.columns_of(5)), (7, 5, 5..6));
    }

    #[test]
    fn records_and_their_columns() {
        let runs = Runs::parse(&bytes(&[0, 1, 5, 6]), 3).unwrap();
        assert_eq!(runs.n_columns(3), 6);
        assert_eq!((0..6).map(|column| runs.record_of(column)).collect::<Vec<_>>(), [0, 1, 1, 1, 1, 2]);
        assert_eq!((0..3).map(|record| runs.columns_of(record)).collect::<Vec<_>>(), [0..1, 1..5, 5..6]);
        for (starts, n) in
            [(&[0, 1, 5][..], 3), (&[1, 2], 1), (&[0, 0], 1), (&[0, 5, 2], 2), (&[], 0), (&[0], u64::MAX)]
        {
            assert_eq!(Runs::parse(&bytes(starts), n).unwrap_err().kind(), Kind::Corrupt, "{starts:?}");
        }
        assert!(Runs::parse(&[0; 15], 1).is_err());
    }

    #[test]
    fn members_of_a_run() {
        let record = ColumnRecord {
            name_len: 9,
            is_bundled: true,
            storage: Some(50),
            first_value: 300,
            ..ColumnRecord::plain(7, ColumnType::plain(Physical::F64), 100)
        };
        assert_eq!(record.member(0).unwrap(), record);
        let third = record.member(2).unwrap();
        assert_eq!((third.id, third.first_value, third.storage), (9, 500, Some(50)));
        assert!(record.member(u64::MAX / 100).is_err());
        let alone = ColumnRecord { is_bundled: false, storage: None, first_value: 0, ..record };
        assert!(alone.member(0).is_ok() && alone.member(1).is_err());
    }

    #[test]
    fn names_that_are_damaged() {
        let make = |ends: &[u32], text: &[u8]| {
            let mut out: Vec<u8> = ends.iter().flat_map(|end| end.to_le_bytes()).collect();
            out.extend_from_slice(text);
            out
        };
        let good = make(&[1, 1, 3], "aé".as_bytes());
        let names = RunNames::parse(&good, 3).unwrap();
        assert_eq!((0..4).map(|k| names.name(k)).collect::<Vec<_>>(), ["a", "", "é", ""]);
        for (ends, text, n) in [
            (&[1, 3][..], "aé".as_bytes(), 3), // too few ends: text is read as an end
            (&[2, 3], "aé".as_bytes(), 2),     // inside of a character
            (&[2, 1], b"ab", 2),               // descending
            (&[1, 4], b"abc", 2),              // beyond
            (&[1, 2], b"abc", 2),              // text that nobody has
            (&[1, 2], &[b'a', 0xFF], 2),       // no UTF-8
            (&[0], b"", u64::MAX),
        ] {
            assert!(RunNames::parse(&make(ends, text), n).is_err(), "{ends:?} {text:?}");
        }
    }

    proptest! {
        #[test]
        fn names_are_exact(names in prop::collection::vec(".{0,4}", 0..50)) {
            let text: String = names.concat();
            let mut at = 0;
            let ends: Vec<u32> = names.iter().map(|name| { at += u32::try_from(name.len()).unwrap(); at }).collect();
            let mut out = Vec::new();
            emit_run_names(&ends, &text, &mut out);
            let found = RunNames::parse(&out, len64(names.len())).unwrap();
            prop_assert_eq!((0..names.len()).map(|k| found.name(k)).collect::<Vec<_>>(), names);
            prop_assert_eq!(found.text(), text);
            prop_assert_eq!(found.ends().collect::<Vec<_>>(), ends);
        }

        #[test]
        fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..60), n in 0u64..12) {
            let _ = (RunNames::parse(&bytes, n), Runs::parse(&bytes, n));
        }
    }
}
