//! A table that is written part by part, as Python sees it.

use std::path::PathBuf;
use std::sync::Arc;

use entasis::{Frame, WriteOptions};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use super::change::Change;
use crate::handle::Handle;
use crate::options::{durable, wait};
use crate::{errors, monitor};

/// A table that is written part by part.
#[pyclass(module = "entasis._entasis")]
pub struct Stream {
    stream: Option<entasis::Stream>,
    /// The extra columns of the next part with values for rows.
    labels: Vec<usize>,
}

impl Stream {
    fn get(&mut self) -> PyResult<&mut entasis::Stream> {
        self.stream.as_mut().ok_or_else(|| PyRuntimeError::new_err("the stream is over"))
    }

    /// Adds rows.
    pub fn append(&mut self, py: Python<'_>, part: Frame, options: &WriteOptions) -> PyResult<()> {
        let labels = std::mem::take(&mut self.labels);
        let stream = self.get()?;
        monitor::run(py, |monitor| stream.append(part, &labels, options, monitor))
    }
}

#[pymethods]
impl Stream {
    /// Begins a file that replaces one at `path`.
    #[new]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        seconds: f64,
        is_durable: Option<bool>,
        edition: Option<u8>,
    ) -> PyResult<Self> {
        let (wait, durable) = (wait(seconds), durable(is_durable));
        let options = WriteOptions { wait, durable, edition, ..WriteOptions::default() };
        let stream = monitor::run(py, |monitor| entasis::Stream::create(&path, &options, monitor))?;
        Ok(Self { stream: Some(stream), labels: Vec::new() })
    }

    /// Adds rows to a file.
    #[staticmethod]
    fn extend(
        py: Python<'_>,
        change: &Bound<'_, Change>,
        is_durable: Option<bool>,
        edition: Option<u8>,
    ) -> PyResult<Self> {
        let change = change.borrow_mut().take()?;
        let options = WriteOptions { durable: durable(is_durable), edition, ..WriteOptions::default() };
        let stream = monitor::run(py, |_| entasis::Stream::extend(change, &options))?;
        Ok(Self { stream: Some(stream), labels: Vec::new() })
    }

    /// Raises an error in a forked child of the process that began the stream.
    fn check_process(&mut self, py: Python<'_>) -> PyResult<()> {
        self.get()?.check_process().map_err(|e| errors::raise(py, &e))
    }

    /// Whether this process began the stream.
    fn is_ours(&mut self) -> PyResult<bool> {
        Ok(self.get()?.check_process().is_ok())
    }

    /// The table so far; None before the first part.
    fn view(&mut self, py: Python<'_>) -> PyResult<Option<Handle>> {
        let view = self.get()?.view().map_err(|e| errors::raise(py, &e))?;
        Ok(view.map(|file| Handle::of(Arc::new(file))))
    }

    /// The extra columns of the next part with values for rows.
    fn will_append(&mut self, labels: Vec<usize>) {
        self.labels = labels;
    }

    /// Makes the parts the value of the file.
    fn finish(&mut self, py: Python<'_>) -> PyResult<()> {
        let stream = self.stream.take().ok_or_else(|| PyRuntimeError::new_err("the stream is over"))?;
        monitor::run(py, |_| stream.finish())
    }

    /// Leaves the file at the path as it was.
    fn end(&mut self) {
        self.stream = None;
    }
}
