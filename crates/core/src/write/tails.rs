//! Copies the parts of old column and table records that a change does not make anew: the user's
//! metadata, and the bytes of fields that this release does not know.

use entasis_format::{ColumnRecord, Error, Result, SectionKind, Value};

use super::table_of_column::TableOfColumn;
use super::values::Values;
use crate::file::File;
use crate::frame::kept::Kept;
use crate::frame::{Array, Column};

/// Copies what stays of the old records of one kind.
pub(super) struct Tails<'a> {
    file: Option<&'a File>,
    kind: SectionKind,
    /// Bytes of a new record.
    pub record_len: u32,
    /// The tables of the old columns.
    tables: TableOfColumn,
}

impl<'a> Tails<'a> {
    pub(super) fn of(file: Option<&'a File>, kind: SectionKind) -> Self {
        let of_file = file.map_or(0, |file| file.record_len(kind, 0));
        Self { file, kind, record_len: of_file.max(kind.record_len()), tables: TableOfColumn::default() }
    }

    /// For the records of tables.
    pub(super) fn of_tables(file: Option<&'a File>) -> Result<Self> {
        let tables = file.map_or_else(|| Ok(TableOfColumn::default()), TableOfColumn::of)?;
        Ok(Self { tables, ..Self::of(file, SectionKind::Tables) })
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

    /// The number of the old record of a column.
    pub(super) fn number_of_record(&self, column: u64) -> Option<u64> {
        self.file.map(|file| file.record_of(column))
    }

    /// Enters the metadata of the old column in a new record. Returns the number of its old record.
    pub(super) fn of_column(
        &self,
        column: Option<u64>,
        record: &mut ColumnRecord,
        values: &mut Values,
    ) -> Result<Option<u64>> {
        let (Some(file), Some(column)) = (self.file, column) else { return Ok(None) };
        let old = &file.column(column)?.record;
        record.metadata = self.copied(old.metadata, values)?;
        Ok(Some(file.record_of(column)))
    }

    /// The number of the old table of these columns.
    pub(super) fn old_table(&self, columns: &[Column]) -> Option<u64> {
        let column = columns.iter().find_map(|column| number(&column.array))?;
        self.tables.get(column)
    }

    /// A view of an old table.
    pub(super) fn table(&self, number: u64) -> Result<Option<File>> {
        self.file.map(|file| file.table(number)).transpose()
    }

    /// A copy of the user's metadata at a node of the file.
    pub(super) fn copied(&self, node: Option<u64>, values: &mut Values) -> Result<Option<u64>> {
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
        Ok(node.map(|node| values.add(&value, Some((node, &value)))))
    }
}

/// The number of the column in the file that changes, for values that begin with its values.
pub(super) fn number(array: &Array) -> Option<u64> {
    match &array.kept {
        Some(Kept::Found(keep)) => Some(keep.number),
        _ => None,
    }
}
