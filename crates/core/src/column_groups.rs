//! Groups the columns of a table by type, without reading their names.

use std::ops::Range;

use entasis_format::{ColumnRecord, Error, Logical, Result, fallible};

use crate::file::{File, NameRanges};

/// Columns of a table with the same type, which has a fixed width and no detail.
#[derive(Clone, Debug)]
pub struct Group {
    /// The record of the first column.
    pub record: ColumnRecord,
    /// The numbers of the columns, ascending.
    pub columns: Vec<u64>,
    /// Whether any of them has missing values.
    pub has_missing: bool,
    /// The storage column whose values are exactly the columns of this group, in this order, if one
    /// exists. `None` if the rows lie in several pieces.
    pub storage: Option<u64>,
}

/// The columns of a table by type.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    /// The groups, by their first columns.
    pub groups: Vec<Group>,
    /// The numbers of all other columns, ascending, including columns of unknown types.
    pub others: Vec<u64>,
    /// Where the names of all columns are.
    pub names: NameRanges,
}

/// The use of the memory, in messages.
const GROUPS: &str = "the column numbers";

/// Adds the numbers of columns.
fn add(to: &mut Vec<u64>, columns: Range<u64>) -> Result<()> {
    fallible::reserve(to, (columns.end - columns.start) as usize, GROUPS)?;
    to.extend(columns);
    Ok(())
}

impl File {
    /// The columns of the table by type. Costs a few nanoseconds per column.
    ///
    /// # Errors
    /// *Corrupt*, *io*.
    pub fn groups(&self) -> Result<Groups> {
        self.read_groups().map_err(|e| e.in_file(self.path()))
    }

    fn read_groups(&self) -> Result<Groups> {
        let n_rows = self.n_rows();
        let mut found = Groups::default();
        let mut last = 0;
        let in_pieces = self.pieces()?.is_some();
        self.visit_table(|run| {
            found.names.push(run.names())?;
            let (record, columns) = (&run.record, run.columns);
            let kind = &record.column_type;
            // A physical type without a width is boolean, null, or holds strings.
            let is_fixed = kind.physical.width().is_some() || kind.physical == entasis_format::Physical::Bool;
            if run.unknown.is_some()
                || !is_fixed
                || record.detail.is_some()
                || kind.logical == Logical::Categorical
            {
                return add(&mut found.others, columns);
            }
            let is_of = |group: &Group| group.record.column_type == *kind;
            if !found.groups.get(last).is_some_and(is_of) {
                last = found.groups.iter().position(is_of).unwrap_or(found.groups.len());
            }
            let Some(group) = found.groups.get_mut(last) else {
                let storage = record.storage.filter(|_| record.first_value == 0 && !in_pieces);
                let has_missing = record.n_missing > 0;
                let mut group = Group { record: *record, columns: Vec::new(), has_missing, storage };
                add(&mut group.columns, columns)?;
                fallible::push(&mut found.groups, group, GROUPS)?;
                return Ok(());
            };
            // The columns of a run are consecutive.
            let follows = group.storage.is_some()
                && record.storage == group.storage
                && (group.columns.len() as u64).checked_mul(n_rows) == Some(record.first_value);
            if !follows {
                group.storage = None;
            }
            group.has_missing |= record.n_missing > 0;
            add(&mut group.columns, columns)
        })?;
        for group in &mut found.groups {
            if group.columns.len() == 1 {
                group.storage = None;
            }
            let Some(storage) = group.storage else { continue };
            let (of, kind) = (self.column(storage)?, &group.record.column_type);
            let n_values = (group.columns.len() as u64).checked_mul(n_rows);
            let stored = &of.record.column_type;
            let is_sound = of.record.is_bundle
                && (stored.physical, stored.logical) == (kind.physical, kind.logical)
                && n_values.is_some_and(|n| n <= of.record.n_values);
            if !is_sound {
                return Err(Error::corrupt("a bundled column is outside of its storage column"));
            }
        }
        Ok(found)
    }
}
