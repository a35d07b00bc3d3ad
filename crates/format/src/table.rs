//! Records of tables (`docs/format/columns.md`).

use crate::bytes::{Reader, put, put_optional};
use crate::error::{Error, Result};

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
}

impl TableRecord {
    /// Bytes of the record.
    pub const LEN: usize = 64;

    /// Appends the record.
    pub fn emit(&self, out: &mut Vec<u8>) {
        put!(out, self.first_column, self.n_columns, self.n_rows, self.first_slot, self.n_slots);
        put_optional(out, self.host_node);
        put_optional(out, self.sort_order);
        out.extend_from_slice(&[0; 8]);
    }

    /// The record in exactly these bytes.
    #[inline]
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::exact(bytes, Self::LEN, "a table record")?;
        let (first_column, n_columns, n_rows) = (reader.u64()?, reader.u64()?, reader.u64()?);
        let (first_slot, n_slots, host_node) = (reader.u64()?, reader.u64()?, reader.optional()?);
        let sort_order = reader.optional()?;
        reader.reserved::<8>()?;
        if first_column.checked_add(n_columns).is_none() {
            return Err(Error::corrupt("a table has too many columns"));
        }
        let enough = n_columns.checked_mul(2).is_some_and(|least| n_slots >= least);
        if n_slots != 0 && !(n_slots.is_power_of_two() && enough && first_slot.checked_add(n_slots).is_some())
        {
            return Err(Error::corrupt("the number of name slots of a table is impossible"));
        }
        Ok(Self { first_column, n_columns, n_rows, first_slot, n_slots, host_node, sort_order })
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
            let record =
                TableRecord { first_column, n_columns, n_rows, first_slot, n_slots, host_node, sort_order };
            exact(&record, TableRecord::emit, TableRecord::parse);
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
        };
        let ok = |record: TableRecord| {
            let mut out = Vec::new();
            record.emit(&mut out);
            TableRecord::parse(&out).is_ok()
        };
        assert!(ok(good));
        assert!(ok(TableRecord { n_slots: 0, ..good }));
        assert!(!ok(TableRecord { n_slots: 4, ..good }));
        assert!(!ok(TableRecord { n_slots: 12, ..good }));
        assert!(!ok(TableRecord { first_slot: u64::MAX - 7, ..good }));
        assert!(!ok(TableRecord { first_column: u64::MAX - 2, ..good }));
        assert!(!ok(TableRecord { n_columns: u64::MAX, ..good }));
    }
}
