//! Checks frames and documents before they are written.

use entasis_format::{
    BUNDLE_ROWS, ColumnType, Error, Layout, Limits, Logical, MAX_COLUMN_DEPTH, Physical, Result,
};

use super::bundle::is_bundled;
use crate::frame::pre_encoded::BLOCK;
use crate::frame::{Array, Chunk, Column, Document, Field, Frame, HostValidity, HostValues};
use crate::name_list::NameList;

impl Array {
    /// Checks that pre-encoded blocks come first in the column and are whole blocks of this layout.
    fn check_encoded(&self, of: Layout) -> Result<()> {
        let is_encoded = |chunk: &&Chunk| matches!(chunk.values, HostValues::Encoded(_));
        let n = self.chunks.iter().take_while(is_encoded).count();
        let (first, others) = self.chunks.split_at(n);
        let is_whole = |chunk: &Chunk| match &chunk.values {
            HostValues::Encoded(block) => {
                chunk.n == BLOCK
                    && block.of() == of
                    && matches!(chunk.validity, HostValidity::AllValid)
                    && self.spans.is_none()
            }
            _ => false,
        };
        if first.iter().all(is_whole) && !others.iter().any(|chunk| is_encoded(&chunk)) {
            Ok(())
        } else {
            Err(Error::argument("a pre-encoded block is not a whole block at the start of its column"))
        }
    }
}

impl Column {
    /// Checks that the columns of a run can share one record.
    fn check_run(&self, names: &NameList, n_rows: u64, limits: &Limits) -> Result<()> {
        let wrong =
            |message: &'static str| Err(Error::argument(message).in_column(names.get(0).unwrap_or_default()));
        let is_whole = |chunk: &Chunk| matches!(chunk.validity, HostValidity::AllValid);
        if names.len() < 2 || n_rows == 0 || n_rows >= BUNDLE_ROWS || !is_bundled(self) {
            return wrong("these columns cannot form a column run");
        }
        if !self.array.chunks.iter().all(is_whole) {
            return wrong("columns of a column run cannot have missing values");
        }
        names.iter().try_for_each(|name| check_name(name, limits))
    }

    /// Checks the name, the type and the dictionary of a column.
    fn check(&self, n_extra: usize, limits: &Limits) -> Result<()> {
        check_name(&self.name, limits)?;
        self.array.check_encoded(self.column_type.layout()).map_err(|e| e.in_column(&self.name))?;
        check_type(n_extra, (&self.column_type, self.dictionary, &self.children), &self.name, 1)
    }
}

/// Checks that readers accept a name. The error shows its beginning.
fn check_name(name: &str, limits: &Limits) -> Result<()> {
    if name.len() as u64 <= limits.name_len {
        return Ok(());
    }
    let message =
        format!("a column name has {} bytes, more than the limit of {}", name.len(), limits.name_len);
    Err(Error::unsupported(message).in_column(name).advise("shorten it"))
}

/// Checks a type and the types of its children. `path` names the column in errors.
fn check_type(
    n_extra: usize,
    (of, dictionary, children): (&ColumnType, Option<usize>, &[Field]),
    path: &str,
    depth: u32,
) -> Result<()> {
    of.check().map_err(|e| e.in_column(path))?;
    let is_categorical = of.logical == Logical::Categorical;
    if dictionary.is_some_and(|d| d >= n_extra) || is_categorical != dictionary.is_some() {
        return Err(
            Error::argument("a categorical needs its dictionary among the extra columns").in_column(path)
        );
    }
    if depth > MAX_COLUMN_DEPTH {
        return Err(Error::unsupported(format!("types nested more than {MAX_COLUMN_DEPTH} deep"))
            .in_column(path)
            .advise("split the values"));
    }
    let n_children = u32::try_from(children.len() + usize::from(of.has_child_offsets())).unwrap_or(u32::MAX);
    of.check_children(n_children).map_err(|e| e.in_column(path))?;
    let is_map = of.physical == Physical::Map;
    if is_map
        && !children
            .iter()
            .all(|entry| entry.column_type.physical == Physical::Struct && entry.children.len() == 2)
    {
        return Err(Error::argument("the entries of a map must be a struct of two fields").in_column(path));
    }
    for child in children {
        if child.name.len() as u64 > Limits::default().name_len {
            return Err(Error::unsupported("the name of a field is too long")
                .in_column(path)
                .advise("shorten it"));
        }
        let of = (&child.column_type, child.dictionary, &child.children[..]);
        check_type(n_extra, of, &format!("{path}.{}", child.name), depth + 1)?;
    }
    Ok(())
}

impl Document {
    /// Refuses a document that exceeds a reader's default limits. Checks each frame.
    ///
    /// # Errors
    /// *Argument* or *unsupported*, with the column's name.
    pub(crate) fn check(&self) -> Result<()> {
        let limits = Limits::default();
        self.value.check(&limits)?;
        if self.columns.iter().any(|column| column.run.is_some()) {
            return Err(Error::argument("a column run is not in a table"));
        }
        self.columns.iter().try_for_each(|column| column.check(0, &limits))?;
        self.frames.iter().try_for_each(Frame::check)
    }
}

impl Frame {
    /// Checks that all columns have the table's length, possible types, and existing dictionaries.
    ///
    /// # Errors
    /// *Argument* or *unsupported*, with the column's name.
    pub(crate) fn check(&self) -> Result<()> {
        // Readers refuse more than their default limits.
        let limits = Limits::default();
        for column in &self.columns {
            if Some(column.array.n_total()) != self.n_rows.checked_mul(column.n_columns() as u64) {
                let message = format!(
                    "the column has {} values, the table {} rows",
                    column.array.n_total() / column.n_columns().max(1) as u64,
                    self.n_rows
                );
                return Err(Error::argument(message).in_column(column.names().next().unwrap_or_default()));
            }
            if let Some(names) = &column.run {
                column.check_run(names, self.n_rows, &limits)?;
            }
        }
        if let Some(column) = self.extra.iter().find(|column| column.run.is_some()) {
            return Err(Error::argument("a column run is not in the table")
                .in_column(column.names().next().unwrap_or_default()));
        }
        self.host.check(&limits)?;
        self.columns.iter().chain(&self.extra).try_for_each(|column| column.check(self.extra.len(), &limits))
    }
}
