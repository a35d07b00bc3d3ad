//! Copies the parts of old column and table records that a change does not make anew: the user's
//! metadata, and the bytes of fields that this release does not know.

use std::ops::Range;

use entasis_format::{ColumnRecord, Error, Result, SectionKind, TableRecord, Value, ValueTree, fallible};

use crate::file::File;
use crate::frame::kept::Kept;
use crate::frame::{Array, Column};

/// The use of memory, in messages.
const TABLES: &str = "the tables of the file";

/// Copies what stays of the old records of one kind.
pub(super) struct Tails<'a> {
    file: Option<&'a File>,
    kind: SectionKind,
    /// Bytes of a new record.
    pub record_len: u32,
    /// The columns of the old tables, ascending, and the numbers of the tables.
    tables: Vec<(Range<u64>, u64)>,
}

impl<'a> Tails<'a> {
    pub(super) fn of(file: Option<&'a File>, kind: SectionKind) -> Self {
        let of_file = file.map_or(0, |file| file.record_len(kind, 0));
        Self { file, kind, record_len: of_file.max(kind.record_len()), tables: Vec::new() }
    }

    /// For the records of tables.
    pub(super) fn of_tables(file: Option<&'a File>) -> Result<Self> {
        let mut tails = Self::of(file, SectionKind::Tables);
        let n_tables = file.map_or(0, File::n_tables);
        for (file, table) in file.into_iter().flat_map(|file| (0..n_tables).map(move |table| (file, table))) {
            for columns in file.table(table)?.columns_in_file() {
                fallible::push(&mut tails.tables, (columns, table), TABLES)?;
            }
        }
        tails.tables.sort_unstable_by_key(|(columns, _)| columns.start);
        Ok(tails)
    }

    /// Whether records have no further bytes.
    pub(super) fn is_without(&self) -> bool {
        self.record_len == self.kind.record_len()
    }

    /// Appends the bytes after the known fields of a new record: those of the old record with this
    /// number, or zeros.
    pub(super) fn push(&self, old: Option<u64>, out: &mut Vec<u8>) -> Result<()> {
        let known = self.kind.record_len() as usize;
        let n = (self.record_len as usize).saturating_sub(known);
        if n == 0 {
            return Ok(());
        }
        let end = out.len() + n;
        if let (Some(file), Some(old)) = (self.file, old) {
            let record = file.whole_records(self.kind, 0, old..old.saturating_add(1))?;
            out.extend_from_slice(record.get(known..).unwrap_or_default());
        }
        out.resize(end, 0);
        Ok(())
    }

    /// Enters the metadata of the old column in a new record. Returns the number of its old record.
    pub(super) fn of_column(
        &self,
        column: Option<u64>,
        record: &mut ColumnRecord,
        tree: &mut ValueTree,
    ) -> Result<Option<u64>> {
        let (Some(file), Some(column)) = (self.file, column) else { return Ok(None) };
        let old = &file.column(column)?.record;
        record.metadata = self.copied(old.metadata, tree)?;
        Ok(Some(file.record_of(column)))
    }

    /// Enters the metadata of the old table of these columns in a new record. Returns the number of
    /// the old table.
    pub(super) fn of_table(
        &self,
        columns: &[Column],
        record: &mut TableRecord,
        tree: &mut ValueTree,
    ) -> Result<Option<u64>> {
        let Some(file) = self.file else { return Ok(None) };
        let Some(column) = columns.iter().find_map(|column| number(&column.array)) else { return Ok(None) };
        let after = self.tables.partition_point(|(columns, _)| columns.start <= column);
        let found = after.checked_sub(1).and_then(|i| self.tables.get(i));
        let Some(&(_, table)) = found.filter(|(columns, _)| columns.contains(&column)) else {
            return Ok(None);
        };
        record.metadata = self.copied(file.table(table)?.metadata_node(), tree)?;
        Ok(Some(table))
    }

    /// A copy of the value of a node of the file.
    fn copied(&self, node: Option<u64>, tree: &mut ValueTree) -> Result<Option<u64>> {
        let (Some(file), Some(_)) = (self.file, node) else { return Ok(None) };
        let mut value = file.node_value(node)?;
        let mut is_plain = true;
        value.visit_mut(&mut |scalar| {
            is_plain &= !matches!(scalar, Value::Column(_) | Value::Table(_) | Value::Cell(_));
        });
        if !is_plain {
            let message = "metadata that name columns, tables or cells cannot be kept by a change";
            return Err(Error::unsupported(message).in_section(self.kind.name()));
        }
        Ok(Some(tree.add(&value)))
    }
}

/// The number of the column in the file that changes, for values that begin with its values.
pub(super) fn number(array: &Array) -> Option<u64> {
    match &array.kept {
        Some(Kept::Found(keep)) => Some(keep.number),
        _ => None,
    }
}
