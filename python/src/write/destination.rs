//! The destination of a file, and the options for writing it.

use std::path::PathBuf;
use std::time::Duration;

use entasis::{Content, Durable, MemorySink, Operation, WriteOptions};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::change::Change;
use crate::monitor;

/// The longest wait for another writer, in seconds. `Duration` cannot be infinite.
const LONGEST_WAIT: f64 = 1e9;

/// The arguments of `entasis.write`, checked by Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Destination {
    /// None writes into memory.
    path: Option<PathBuf>,
    compression: u8,
    column_compression: Vec<(String, u8)>,
    threads: Option<usize>,
    durable: Option<bool>,
    /// Seconds to wait for another writer.
    wait: f64,
    /// The change that the content belongs to, if the file exists.
    change: Option<Py<Change>>,
    /// Given when the rows of the content follow those of the file: the indexes of extra columns
    /// with values for rows.
    appends: Option<Vec<usize>>,
}

/// The time to wait for another writer.
pub fn wait(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds.clamp(0.0, LONGEST_WAIT))
}

/// The setting of the core for the argument `durable`.
pub fn durable(durable: Option<bool>) -> Durable {
    match durable {
        None => Durable::Auto,
        Some(true) => Durable::Always,
        Some(false) => Durable::Never,
    }
}

impl Destination {
    /// Whether each column must be described by itself: some have a compression of their own, or
    /// rows are appended. Then no column can be part of a run.
    pub fn needs_single_columns(&self) -> bool {
        !self.column_compression.is_empty() || self.appends.is_some()
    }

    /// The options of the core.
    pub fn options(&self) -> WriteOptions {
        WriteOptions {
            compression: self.compression,
            column_compression: self.column_compression.clone(),
            threads: self.threads,
            durable: durable(self.durable),
            wait: wait(self.wait),
            ..WriteOptions::default()
        }
    }

    /// Writes the file without the GIL. Returns its bytes if it is written into memory.
    pub fn write<'py>(self, py: Python<'py>, content: Content) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let options = self.options();
        if let Some(change) = self.change {
            let change = change.borrow_mut(py).take()?;
            match (content, self.appends) {
                (Content::Frame(frame), Some(labels)) => {
                    monitor::run(py, |monitor| {
                        let frame = change.append(frame, &labels)?;
                        change.commit(frame, Operation::Append, &options, monitor)
                    })?;
                }
                (content, _) => {
                    monitor::run(py, |monitor| {
                        change.replace(content, Operation::Append, &options, monitor)
                    })?;
                }
            }
            return Ok(None);
        }
        let Some(path) = self.path else {
            let sink = MemorySink::new();
            monitor::run(py, |monitor| match &content {
                Content::Frame(frame) => entasis::write_to(&sink, frame, &options, monitor),
                Content::Document(document) => entasis::write_document_to(&sink, document, &options, monitor),
            })?;
            return Ok(Some(PyBytes::new(py, &sink.into_bytes())));
        };
        monitor::run(py, |monitor| match &content {
            Content::Frame(frame) => entasis::write(&path, frame, &options, monitor),
            Content::Document(document) => entasis::write_document(&path, document, &options, monitor),
        })?;
        Ok(None)
    }
}
