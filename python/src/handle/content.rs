//! The file of a handle, or the table of another format that it was made for.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use entasis::{Buffer, ColumnInfo, File, Held, Rows};
use entasis_convert::Opened;
use entasis_query::{NanIsNull, is_float};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::Handle;
use crate::arrow::format;
use crate::query::Filter;
use crate::read::columns::Reader;
use crate::read::plan::{Host, Narrow};
use crate::{errors, monitor};

/// The source of a handle's values. Handles with other options share it.
pub(super) enum Content {
    File(Arc<File>),
    /// A table of another format. The first use other than a read of whole columns makes a file of
    /// it. With `is_given`, a read takes the memory of columns.
    Held {
        held: Arc<Held>,
        is_given: bool,
    },
}

impl Handle {
    /// The handle of an open file.
    pub fn of(file: Arc<File>) -> Self {
        Self::new_of(Arc::new(Mutex::new(Content::File(file))))
    }

    pub(super) fn new_of(content: Arc<Mutex<Content>>) -> Self {
        let (infos, groups, nan_is_null) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let narrow = Narrow::default();
        Self { content, infos, groups, classes: None, nan_to_null: None, nan_is_null, narrow }
    }

    pub(super) fn content(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The table that no file was made of.
    pub(super) fn held(&self) -> Option<Arc<Held>> {
        match &*self.content() {
            Content::File(_) => None,
            Content::Held { held, .. } => Some(Arc::clone(held)),
        }
    }

    /// The file, or one with the facts of the held table: names, types, labels, host map. It has
    /// none of its rows.
    pub(super) fn schema_file(&self) -> Arc<File> {
        match &*self.content() {
            Content::File(file) => Arc::clone(file),
            Content::Held { held, .. } => Arc::clone(held.schema()),
        }
    }

    /// The held table, if it can give all values of a read.
    pub(super) fn held_for(&self, rows: &Rows, infos: &[ColumnInfo], by: Reader) -> Option<Arc<Held>> {
        let held = self.held().filter(|_| matches!(rows, Rows::All))?;
        let layout = if let Host::Arrow(layout) = by.host { layout } else { format::LARGE };
        let columns = infos.iter().map(|info| info.index);
        let is_given = held.has_text(columns, format::text_layout(layout))
            && !infos.iter().any(|info| by.nan_is_null.holds(info));
        (is_given && !by.own).then_some(held)
    }

    pub(super) fn is_given(&self) -> bool {
        matches!(&*self.content(), Content::Held { is_given: true, .. })
    }

    /// Whether all columns of the table are among these, so that no other read follows.
    pub(super) fn are_all(&self, infos: &[ColumnInfo]) -> bool {
        let n = self.schema_file().n_columns();
        let wanted: HashSet<u64> = infos.iter().map(|info| info.index).filter(|&index| index < n).collect();
        wanted.len() as u64 == n
    }

    /// Takes the memory of columns of the held table, if nothing else uses the table.
    pub(super) fn take(&self, columns: &[u64]) -> HashMap<u64, Buffer> {
        let mut content = self.content();
        let Content::Held { held, .. } = &mut *content else { return HashMap::new() };
        let Some(held) = Arc::get_mut(held) else { return HashMap::new() };
        columns.iter().filter_map(|&column| Some((column, held.take(column)?))).collect()
    }

    pub(super) fn n_rows_of(&self) -> u64 {
        match &*self.content() {
            Content::File(file) => file.n_rows(),
            Content::Held { held, .. } => held.n_rows(),
        }
    }

    /// The file, which is made of a held table now. The memory of the table is freed.
    pub fn file(&self, py: Python<'_>) -> PyResult<Arc<File>> {
        let held = match &*self.content() {
            Content::File(file) => return Ok(Arc::clone(file)),
            Content::Held { held, .. } => Arc::clone(held),
        };
        // The lock is free meanwhile: other threads may wait for it with the GIL.
        let file = Arc::new(monitor::run(py, |monitor| held.file(monitor))?);
        *self.content() = Content::File(Arc::clone(&file));
        Ok(file)
    }

    /// A handle of another part of the file, with this handle's options.
    pub(super) fn with(&self, py: Python<'_>, file: File) -> Self {
        let classes = self.classes.as_ref().map(|classes| classes.clone_ref(py));
        Self { classes, nan_to_null: self.nan_to_null, narrow: self.narrow, ..Self::of(Arc::new(file)) }
    }

    /// This handle with other options.
    pub(super) fn with_options(&self, py: Python<'_>, nan_to_null: Option<bool>, narrow: Narrow) -> Self {
        let classes = self.classes.as_ref().map(|classes| classes.clone_ref(py));
        let infos = self.infos.clone();
        Self { infos, classes, nan_to_null, narrow, ..Self::new_of(Arc::clone(&self.content)) }
    }

    pub(super) fn filter<'f>(
        &self,
        file: &'f File,
        condition: &Bound<'_, PyTuple>,
        rows: Range<u64>,
    ) -> PyResult<Filter<'f>> {
        let nan_is_null = || self.nan_is_null_of(condition.py());
        Filter::new(file, condition, rows, &nan_is_null)
    }

    /// The columns in which NaN is null for Arrow and Polars.
    pub(super) fn nan_is_null_of(&self, py: Python<'_>) -> PyResult<NanIsNull> {
        if let Some(found) = self.nan_is_null.get() {
            return Ok(*found);
        }
        let found =
            NanIsNull::of(&self.schema_file(), self.nan_to_null).map_err(|e| errors::raise(py, &e))?;
        Ok(*self.nan_is_null.get_or_init(|| found))
    }

    /// As `nan_is_null_of`, for some columns. Reads nothing if none has floats.
    pub fn nan_is_null_among(&self, py: Python<'_>, infos: &[ColumnInfo]) -> PyResult<NanIsNull> {
        if infos.iter().any(is_float) { self.nan_is_null_of(py) } else { Ok(NanIsNull::Nowhere) }
    }
}

impl From<Opened> for Handle {
    fn from(opened: Opened) -> Self {
        let content = match opened {
            Opened::File(file) => Content::File(Arc::new(file)),
            Opened::Held(held) => Content::Held { held: Arc::new(held), is_given: false },
        };
        Self::new_of(Arc::new(Mutex::new(content)))
    }
}
