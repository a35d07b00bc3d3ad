//! Changes of a file, as Python sees them.

use std::path::PathBuf;

use entasis::{ColumnSource, Content, NewColumns, Operation, Profile, WriteOptions};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::monitor;
use crate::options::{durable, keep, wait};
use crate::secrets::{self, Secret};

/// A file that is going to change, with its lock.
#[pyclass(module = "entasis._entasis")]
pub struct Change {
    change: Option<entasis::Change>,
    edit: Edit,
}

/// How the next content changes the file.
enum Edit {
    /// It replaces the whole value.
    Replace(Operation),
    /// The content's rows follow the file's rows. The extra columns of these indexes have one value
    /// per row.
    Append(Vec<usize>),
    /// The table gets these columns, from the file and the content, with new names. Index levels
    /// get new names, by column number.
    Columns(Arrangement),
    /// It is metadata.
    Metadata,
}

/// The columns of a table after a change.
pub struct Arrangement {
    sources: Vec<ColumnSource>,
    names: Vec<String>,
    levels: Vec<(usize, String)>,
    pub operation: Operation,
}

impl Arrangement {
    /// `sources` says for each column whether the content has it, and the position there or in the
    /// file. `levels` are new names of index levels, by column number.
    pub fn new(
        sources: Vec<(bool, usize)>,
        names: Vec<String>,
        levels: Vec<(usize, String)>,
        name: &str,
    ) -> PyResult<Self> {
        let source = |(is_new, at)| if is_new { ColumnSource::New(at) } else { ColumnSource::Kept(at) };
        let sources = sources.into_iter().map(source).collect();
        Ok(Self { sources, names, levels, operation: operation(name)? })
    }

    /// The arguments of the core. Leaves no names.
    pub fn columns(&mut self) -> NewColumns<'_> {
        let (names, levels) = (std::mem::take(&mut self.names), std::mem::take(&mut self.levels));
        NewColumns { sources: &self.sources, names, levels }
    }
}

fn operation(name: &str) -> PyResult<Operation> {
    let found = Operation::ALL.iter().find(|operation| operation.name() == name);
    found.copied().ok_or_else(|| PyValueError::new_err("no such operation"))
}

fn over() -> PyErr {
    PyRuntimeError::new_err("the change is over")
}

impl Change {
    /// The change, which can be committed once.
    pub fn take(&mut self) -> PyResult<entasis::Change> {
        self.change.take().ok_or_else(over)
    }

    /// Whether each column of the content must be described by itself. Then no column can be part
    /// of a run.
    pub fn needs_single_columns(&self) -> bool {
        matches!(self.edit, Edit::Append(_) | Edit::Columns(_))
    }

    /// Whether the cells that the content names are cells of the file.
    pub fn keeps_cells(&self) -> bool {
        self.needs_single_columns()
    }

    /// Writes the content.
    pub fn commit(
        &mut self,
        py: Python<'_>,
        content: Content,
        options: &WriteOptions,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let change = self.take()?;
        let edit = &mut self.edit;
        monitor::run_watched(py, progress, |monitor| {
            let (content, operation) = match (edit, content) {
                (Edit::Append(labels), Content::Frame(part)) => {
                    (change.append(part, labels)?, Operation::Append)
                }
                (Edit::Columns(arrangement), Content::Frame(new)) => {
                    let content = change.with_columns_and_levels(new, arrangement.columns())?;
                    (content, arrangement.operation)
                }
                (Edit::Metadata, Content::Document(document)) => {
                    (change.with_metadata(Some(document))?, Operation::Metadata)
                }
                (Edit::Replace(operation), content) => {
                    return change.replace(content, *operation, options, monitor);
                }
                (_, content) => return change.replace(content, Operation::Unknown, options, monitor),
            };
            change.commit(content, operation, options, monitor)
        })
    }
}

#[pymethods]
impl Change {
    /// Takes the lock of the file at `path`. Waits for another writer for at most `seconds`.
    #[new]
    #[pyo3(signature = (path, seconds, secret=None))]
    fn new(py: Python<'_>, path: PathBuf, seconds: f64, secret: Option<Secret>) -> PyResult<Self> {
        let secret = secrets::of_core(secret.as_ref());
        let options = WriteOptions { wait: wait(seconds), secret, ..WriteOptions::default() };
        let change = monitor::run(py, |monitor| entasis::Change::begin(&path, &options, monitor))?;
        Ok(Self { change: Some(change), edit: Edit::Replace(Operation::Write) })
    }

    /// The compression of the file's last write, or the default.
    #[getter]
    fn compression(&self) -> PyResult<u8> {
        let change = self.change.as_ref().ok_or_else(over)?;
        Ok(change.file().compression().unwrap_or(Profile::DEFAULT))
    }

    /// The content replaces the whole value.
    fn will_replace(&mut self, name: &str) -> PyResult<()> {
        self.edit = Edit::Replace(operation(name)?);
        Ok(())
    }

    /// The content's rows will follow the file's rows.
    fn will_append(&mut self, labels: Vec<usize>) {
        self.edit = Edit::Append(labels);
    }

    /// The table gets these columns: for each, whether the content has it, and the position there
    /// or in the file. Index levels get new names, by column number.
    fn will_set_columns(
        &mut self,
        sources: Vec<(bool, usize)>,
        names: Vec<String>,
        levels: Vec<(usize, String)>,
        name: &str,
    ) -> PyResult<()> {
        self.edit = Edit::Columns(Arrangement::new(sources, names, levels, name)?);
        Ok(())
    }

    /// The content is metadata.
    fn will_set_metadata(&mut self) {
        self.edit = Edit::Metadata;
    }

    /// Removes the metadata.
    fn remove_metadata(&mut self, py: Python<'_>, is_durable: Option<bool>) -> PyResult<()> {
        let change = self.take()?;
        let options = WriteOptions { durable: durable(is_durable), ..WriteOptions::default() };
        monitor::run(py, |monitor| {
            let content = change.with_metadata(None)?;
            change.commit(content, Operation::Metadata, &options, monitor)
        })
    }

    /// Goes back to an earlier generation.
    fn rollback(&mut self, py: Python<'_>, generation: u64, is_durable: Option<bool>) -> PyResult<()> {
        let change = self.take()?;
        let options = WriteOptions { durable: durable(is_durable), ..WriteOptions::default() };
        monitor::run(py, |monitor| change.rollback(generation, &options, monitor))
    }

    /// States how many generations later changes keep: the code of a unit, and a number.
    fn keep(&mut self, py: Python<'_>, of: (u8, u64), is_durable: Option<bool>) -> PyResult<()> {
        let change = self.take()?;
        let options = WriteOptions { durable: durable(is_durable), ..WriteOptions::default() };
        monitor::run(py, |monitor| change.keep(keep(of), &options, monitor))
    }

    /// Stores the value of the file anew, without what earlier changes left; with another file key
    /// if asked for.
    #[pyo3(signature = (is_durable, progress, is_rekeyed=false))]
    fn compact(
        &mut self,
        py: Python<'_>,
        is_durable: Option<bool>,
        progress: Option<Bound<'_, PyAny>>,
        is_rekeyed: bool,
    ) -> PyResult<()> {
        let change = self.take()?;
        let options = WriteOptions { durable: durable(is_durable), ..WriteOptions::default() };
        monitor::run_watched(py, progress, |monitor| match is_rekeyed {
            true => change.rekey(&options, monitor),
            false => change.compact(&options, monitor),
        })
    }

    /// Gives the lock back. The file stays as it is.
    fn end(&mut self) {
        self.change = None;
    }
}
