//! Records of tables (`docs/format/columns.md`).

use crate::bytes::{Reader, put, put_optional};
use crate::error::{Error, Result};
use crate::features::Version;
use crate::limits::MAX_PIECES;

/// A table: consecutive columns of equal length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableRecord {
    /// Its columns are `first_column .. first_column + n_columns`.
    pub first_column: u64,
    /// The number of columns.
    pub n_columns: u64,
    /// The number of values of each column.
    pub n_rows: u64,
    /// Its first slot in the name index.
    pub first_slot: u64,
    /// The number of slots: 0, or a power of two that is at least twice the number of columns.
    pub n_slots: u64,
    /// The node of the host map.
    pub host_node: Option<u64>,
    /// The node of the sort order.
    pub sort_order: Option<u64>,
    /// The node of the user's metadata.
    pub metadata: Option<u64>,
    /// The number of the first record in the section *pieces*; 0 without pieces.
    pub first_piece: u64,
    /// The number of pieces of a table with bundled columns; 0 if its rows are one piece.
    pub n_pieces: u32,
    /// The number of the first record in the section *column ranges*; 0 without column ranges.
    pub first_column_range: u64,
    /// The number of column ranges; 0 if the columns are those from `first_column` on.
    pub n_column_ranges: u32,
}

impl TableRecord {
    /// Bytes of the record.
    pub const LEN: usize = 96;

    /// Appends the record.
    pub fn emit(&self, out: &mut Vec<u8>) {
        put!(out, self.first_column, self.n_columns, self.n_rows, self.first_slot, self.n_slots);
        put_optional(out, self.host_node);
        put_optional(out, self.sort_order);
        put_optional(out, self.metadata);
        put!(out, self.first_piece, self.n_pieces, 0u32, self.first_column_range, self.n_column_ranges, 0u32);
    }

    /// Parses a record, which has all of these bytes. Its generation has this version.
    #[inline]
    pub fn parse(bytes: &[u8], version: Version) -> Result<Self> {
        let mut reader = Reader::exact(bytes, Self::LEN, "a table record")?;
        let (first_column, n_columns, n_rows) = (reader.u64()?, reader.u64()?, reader.u64()?);
        let (first_slot, n_slots, host_node) = (reader.u64()?, reader.u64()?, reader.optional()?);
        let sort_order = reader.optional()?;
        let (mut metadata, mut pieces, mut column_ranges) = (None, (0, 0), (0, 0));
        if version > Version::OLDEST {
            metadata = reader.optional()?;
            pieces = (reader.u64()?, reader.u32()?);
            reader.reserved::<4>()?;
            column_ranges = (reader.u64()?, reader.u32()?);
            reader.reserved::<4>()?;
        } else {
            reader.reserved::<8>()?;
        }
        let ((first_piece, n_pieces), (first_column_range, n_column_ranges)) = (pieces, column_ranges);
        let are_there = |first: u64, n: u32| {
            if n == 0 { first == 0 } else { first.checked_add(n.into()).is_some() }
        };
        if !are_there(first_piece, n_pieces) || !are_there(first_column_range, n_column_ranges) {
            return Err(Error::corrupt("the pieces or column ranges of a table are impossible"));
        }
        if n_pieces > MAX_PIECES {
            return Err(Error::corrupt("a table has too many pieces"));
        }
        if first_column.checked_add(n_columns).is_none() {
            return Err(Error::corrupt("a table has too many columns"));
        }
        let enough = n_columns.checked_mul(2).is_some_and(|least| n_slots >= least);
        if n_slots != 0 && !(n_slots.is_power_of_two() && enough && first_slot.checked_add(n_slots).is_some())
        {
            return Err(Error::corrupt("the number of name slots of a table is impossible"));
        }
        Ok(Self {
            first_column,
            n_columns,
            n_rows,
            first_slot,
            n_slots,
            host_node,
            sort_order,
            metadata,
            first_piece,
            n_pieces,
            first_column_range,
            n_column_ranges,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::exact;

    proptest! {
        #[test]
        fn records_are_exact(first_column in 0u64..1 << 60, n_columns in 0u64..1 << 40, n_rows: u64, has_slots: bool,
                             first_slot in 0u64..1 << 60, host_node in prop::option::of(0u64..1 << 60),
                             sort_order in prop::option::of(0u64..1 << 60)) {
            let n_slots = if has_slots { (n_columns * 2).next_power_of_two() } else { 0 };
            let metadata = host_node.map(|node| node ^ 1);
            let record = TableRecord {
                first_column, n_columns, n_rows, first_slot, n_slots, host_node, sort_order, metadata,
                first_piece: n_rows % 7, n_pieces: u32::from(n_rows % 7 > 0), first_column_range: 0, n_column_ranges: 0
            };
            exact(&record, TableRecord::emit, |bytes| TableRecord::parse(bytes, Version::CURRENT));
        }
    }

    #[test]
    fn impossible_numbers() {
        let good = TableRecord {
            first_column: 0,
            n_columns: 3,
            n_rows: 9,
            first_slot: 0,
            n_slots: 8,
            host_node: None,
            sort_order: None,
            metadata: None,
            first_piece: 0,
            n_pieces: 0,
            first_column_range: 0,
            n_column_ranges: 0,
        };
        let ok = |record: TableRecord| {
            let mut out = Vec::new();
            record.emit(&mut out);
            TableRecord::parse(&out, Version::CURRENT).is_ok()
        };
        assert!(ok(good));
        assert!(ok(TableRecord { n_slots: 0, ..good }));
        assert!(!ok(TableRecord { n_slots: 4, ..good }));
        assert!(!ok(TableRecord { n_slots: 12, ..good }));
        assert!(!ok(TableRecord { first_slot: u64::MAX - 7, ..good }));
        assert!(!ok(TableRecord { first_column: u64::MAX - 2, ..good }));
        assert!(!ok(TableRecord { n_columns: u64::MAX, ..good }));
        assert!(ok(TableRecord { first_piece: 5, n_pieces: 2, n_column_ranges: 1, ..good }));
        assert!(ok(TableRecord { n_pieces: MAX_PIECES, ..good }));
        assert!(!ok(TableRecord { n_pieces: MAX_PIECES + 1, ..good }));
        assert!(!ok(TableRecord { first_piece: 5, ..good }));
        assert!(!ok(TableRecord { first_column_range: 5, ..good }));
        assert!(!ok(TableRecord { first_piece: u64::MAX, n_pieces: 1, ..good }));
    }

    #[test]
    fn tables_of_0_2_have_no_metadata() {
        let mut bytes = vec![0; TableRecord::LEN];
        assert_eq!(TableRecord::parse(&bytes, Version::OLDEST).unwrap().metadata, None);
        assert_eq!(TableRecord::parse(&bytes, Version::CURRENT).unwrap().metadata, Some(0));
        // Fields that a record of 0.2 lacks are none.
        bytes[64..].fill(255);
        let old = TableRecord::parse(&bytes, Version::OLDEST).unwrap();
        assert_eq!((old.n_pieces, old.n_column_ranges), (0, 0));
        bytes[56] = 1;
        assert!(TableRecord::parse(&bytes, Version::OLDEST).is_err());
    }
}
