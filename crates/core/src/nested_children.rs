//! Finds the children of nested columns (`docs/format/columns.md`) and checks them against their
//! parent.

use std::sync::Arc;

use entasis_format::{Error, Logical, Physical, Result, fallible};

use crate::file::{ColumnInfo, File};

impl File {
    /// The children of a column, in order; empty for types without children. The last child of a
    /// union or value column holds its child offsets.
    ///
    /// # Errors
    /// *Corrupt* when the children do not fit the parent's type; otherwise as
    /// [`column`](Self::column).
    pub fn children(&self, parent: &ColumnInfo) -> Result<Vec<Arc<ColumnInfo>>> {
        let record = &parent.record;
        let Some(first) = record.first_child else { return Ok(Vec::new()) };
        let here = |e: Error| e.in_column(&parent.name).in_file(self.path());
        let corrupt = |message| here(Error::corrupt(message));
        let end = first.saturating_add(record.n_children.into());
        if first <= parent.index || first < self.n_columns() || end > self.n_columns_total() {
            return Err(corrupt("the record of a column names impossible children"));
        }
        let mut children = fallible::with_capacity(record.n_children as usize, "the children of a column")?;
        for index in first..end {
            children.push(self.column(index).map_err(here)?);
        }
        // With this check no column has two parents, so columns and their children are trees.
        if children.iter().any(|child| child.record.parent != Some(parent.index)) {
            return Err(corrupt("a child of a column names another parent, or none"));
        }
        let of = &record.column_type;
        let n_values = match of.physical {
            Physical::Struct => Some(record.n_values),
            Physical::Union if of.is_sparse() => Some(record.n_values),
            Physical::FixedSizeList => {
                let n = record.n_values.checked_mul(of.value_len.into());
                Some(n.ok_or_else(|| corrupt("a fixed-size list has too many values"))?)
            }
            _ => None,
        };
        if n_values.is_some_and(|n| children.iter().any(|child| child.record.n_values != n)) {
            return Err(corrupt("a child has a different number of values than its parent needs"));
        }
        if of.physical == Physical::Map {
            self.check_entries(&children[0]).map_err(here)?;
        }
        if of.has_child_offsets() {
            let n_types = u64::from(record.n_children - 1);
            let n_blocks = self.blocks(parent.index)?.len() as u64;
            let begins = &children[children.len() - 1].record;
            let is_sound = begins.column_type.physical == Physical::U64
                && begins.column_type.logical == Logical::Plain
                && begins.n_missing == 0
                && n_blocks.checked_mul(n_types) == Some(begins.n_values);
            if !is_sound {
                return Err(corrupt("the child offsets of a union do not fit its blocks"));
            }
        }
        Ok(children)
    }

    /// Checks the entries of a map: a struct of keys and values. Libraries require that no entry or
    /// key is missing.
    fn check_entries(&self, entries: &ColumnInfo) -> Result<()> {
        let record = &entries.record;
        let keys = record.first_child.filter(|_| record.n_children == 2);
        let Some(keys) = keys.filter(|_| record.column_type.physical == Physical::Struct) else {
            return Err(Error::corrupt("the entries of a map are not a struct of two fields"));
        };
        if record.n_missing > 0 || self.column(keys)?.record.n_missing > 0 {
            return Err(Error::corrupt("entries or keys of a map are missing"));
        }
        Ok(())
    }
}
