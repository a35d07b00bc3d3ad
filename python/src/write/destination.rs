//! The destination of a file, and the options for writing it.

use std::path::PathBuf;
use std::time::Duration;

use entasis::{Document, Durable, Frame, MemorySink, WriteOptions};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

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
}

/// The content of a file.
pub enum Content {
    /// A frame alone.
    Frame(Frame),
    /// Frames and trees.
    Document(Document),
}

impl Destination {
    /// Whether columns have a compression of their own. Then no column can be part of a run.
    pub fn names_columns(&self) -> bool {
        !self.column_compression.is_empty()
    }

    /// Writes the file without the GIL. Returns its bytes if it is written into memory.
    pub fn write<'py>(self, py: Python<'py>, content: &Content) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let options = WriteOptions {
            compression: self.compression,
            column_compression: self.column_compression,
            threads: self.threads,
            durable: match self.durable {
                None => Durable::Auto,
                Some(true) => Durable::Always,
                Some(false) => Durable::Never,
            },
            wait: Duration::from_secs_f64(self.wait.clamp(0.0, LONGEST_WAIT)),
        };
        let Some(path) = self.path else {
            let sink = MemorySink::new();
            monitor::run(py, |monitor| match content {
                Content::Frame(frame) => entasis::write_to(&sink, frame, &options, monitor),
                Content::Document(document) => entasis::write_document_to(&sink, document, &options, monitor),
            })?;
            return Ok(Some(PyBytes::new(py, &sink.into_bytes())));
        };
        monitor::run(py, |monitor| match content {
            Content::Frame(frame) => entasis::write(&path, frame, &options, monitor),
            Content::Document(document) => entasis::write_document(&path, document, &options, monitor),
        })?;
        Ok(None)
    }
}
