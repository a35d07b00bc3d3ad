//! The destination of a file, and the options for writing it.

use std::path::PathBuf;

use entasis::{Content, MemorySink, WriteOptions};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use super::change::Change;
use super::stream::Stream;
use crate::handle::Handle;
use crate::options::{durable, keep, wait};
use crate::secrets::{self, Secret};
use crate::{errors, monitor};

/// The arguments of `entasis.write`, checked by Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Destination {
    /// None writes into memory.
    path: Option<PathBuf>,
    /// None: the compression of the file that changes, or the default.
    compression: Option<u8>,
    column_compression: Vec<(String, u8)>,
    /// None: the newest.
    edition: Option<u8>,
    /// How many earlier generations to keep, as `options::keep` has it.
    keep: Option<(u8, u64)>,
    threads: Option<usize>,
    durable: Option<bool>,
    /// Seconds to wait for another writer.
    wait: f64,
    /// Whether a file that exists is an error.
    is_new: bool,
    /// Is called with what is done, and with the whole.
    progress: Option<Py<PyAny>>,
    /// The change that the content belongs to, if the file exists.
    change: Option<Py<Change>>,
    /// The stream that the content is a part of.
    stream: Option<Py<Stream>>,
    /// The key or password of an encrypted file.
    secret: Option<Secret>,
}

impl Destination {
    /// Whether each column must be described by itself: some have a compression of their own, or
    /// the table is not written whole. Then no column can be part of a run.
    pub fn needs_single_columns(&self, py: Python<'_>) -> bool {
        let of_change = |change: &Py<Change>| change.borrow(py).needs_single_columns();
        !self.column_compression.is_empty()
            || self.stream.is_some()
            || self.change.as_ref().is_some_and(of_change)
    }

    /// Whether the cells that the content names are cells of the file.
    pub fn keeps_cells(&self, py: Python<'_>) -> bool {
        self.stream.is_some() || self.change.as_ref().is_some_and(|change| change.borrow(py).keeps_cells())
    }

    /// The options of the core.
    pub fn options(&self) -> WriteOptions {
        WriteOptions {
            compression: self.compression,
            column_compression: self.column_compression.clone(),
            edition: self.edition,
            keep: self.keep.map(keep),
            threads: self.threads,
            durable: durable(self.durable),
            wait: wait(self.wait),
            must_be_new: self.is_new,
            secret: secrets::of_core(self.secret.as_ref()),
            ..WriteOptions::default()
        }
    }

    /// The path, if there is one, and the function for progress.
    pub fn into_optional_path(self) -> (Option<PathBuf>, Option<Py<PyAny>>) {
        (self.path, self.progress)
    }

    /// The path, which is there, and the function for progress.
    pub fn into_path(self) -> PyResult<(PathBuf, Option<Py<PyAny>>)> {
        let path =
            self.path.ok_or_else(|| pyo3::exceptions::PyValueError::new_err("a destination without a path"));
        Ok((path?, self.progress))
    }

    /// Writes the file without the GIL. Returns its bytes if it is written into memory.
    pub fn write<'py>(self, py: Python<'py>, content: Content) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let options = self.options();
        let progress = self.progress.map(|progress| progress.into_bound(py));
        if let Some(change) = self.change {
            change.borrow_mut(py).commit(py, content, &options, progress)?;
            return Ok(None);
        }
        let content = match (&self.stream, content) {
            (Some(stream), Content::Frame(part)) => {
                stream.borrow_mut(py).add(py, part, &options, progress)?;
                return Ok(None);
            }
            (_, content) => content,
        };
        let Some(path) = self.path else {
            let sink = MemorySink::new();
            monitor::run_watched(py, progress, |monitor| match &content {
                Content::Frame(frame) => entasis::write_to(&sink, frame, &options, monitor),
                Content::Document(document) => entasis::write_document_to(&sink, document, &options, monitor),
            })?;
            return Ok(Some(PyBytes::new(py, &sink.into_bytes())));
        };
        monitor::run_watched(py, progress, |monitor| match &content {
            Content::Frame(frame) => entasis::write(&path, frame, &options, monitor),
            Content::Document(document) => entasis::write_document(&path, document, &options, monitor),
        })?;
        Ok(None)
    }
}

/// Raises an error if a file exists at the path of a new file, before long work. Writing checks
/// again.
#[pyfunction]
pub fn check_new(py: Python<'_>, path: PathBuf) -> PyResult<()> {
    let options = WriteOptions { must_be_new: true, ..WriteOptions::default() };
    entasis::check_target(&path, &options).map_err(|error| errors::raise(py, &error))
}

/// Writes all values of a file except those of damaged blocks to a new file. Returns the damaged
/// places and their number.
#[pyfunction]
pub fn repair<'py>(py: Python<'py>, handle: &Handle, to: Destination) -> PyResult<(Bound<'py, PyList>, u64)> {
    let options = to.options();
    let (out, progress) = to.into_path()?;
    let progress = progress.map(|progress| progress.into_bound(py));
    let file = handle.file(py)?;
    let survey = monitor::run_watched(py, progress, |monitor| file.repair(&out, &options, monitor))?;
    Ok((errors::damages(py, &survey.damages)?, survey.n_damages))
}
