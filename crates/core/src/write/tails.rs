//! What a change keeps of the records of columns and tables beside the fields that it makes anew:
//! the user's metadata, and the bytes of fields that this release does not know.

use entasis_format::{ColumnRecord, Error, Result, SectionKind, TableRecord, Value, ValueTree};

use crate::file::File;
use crate::frame::kept::Kept;
use crate::frame::{Array, Column};

/// Copies what stays of the old records of one kind.
pub(super) struct Tails<'a> {
    file: Option<&'a File>,
    kind: SectionKind,
    /// Bytes of a new record.
    pub record_len: u32,
}

impl<'a> Tails<'a> {
    pub(super) fn of(file: Option<&'a File>, kind: SectionKind) -> Self {
        let of_file = file.map_or(0, |file| file.record_len(kind, 0));
        Self { file, kind, record_len: of_file.max(kind.record_len()) }
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
        record.host_detail = self.copied(old.host_detail, tree)?;
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
        for table in 0..file.n_tables() {
            let view = file.table(table)?;
            if view.position(column).is_some() {
                record.metadata = self.copied(view.metadata_node(), tree)?;
                return Ok(Some(table));
            }
        }
        Ok(None)
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
