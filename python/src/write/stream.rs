//! A table that is written part by part, as Python sees it.

use std::path::PathBuf;
use std::sync::Arc;

use entasis::{Frame, WriteOptions};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use super::change::{Arrangement, Change};
use crate::handle::Handle;
use crate::options::{durable, wait};
use crate::secrets::{self, Secret};
use crate::{errors, monitor};

/// A table that is written part by part.
#[pyclass(module = "entasis._entasis")]
pub struct Stream {
    stream: Option<entasis::Stream>,
    next: Next,
}

/// The kind of the next content.
enum Next {
    /// Rows. The extra columns of these indexes have values for rows.
    Rows(Vec<usize>),
    /// Columns of the table so far.
    Columns(Arrangement),
}

impl Stream {
    fn get(&mut self) -> PyResult<&mut entasis::Stream> {
        self.stream.as_mut().ok_or_else(|| PyRuntimeError::new_err("the stream is over"))
    }

    /// Adds rows, or changes the columns.
    pub fn add(
        &mut self,
        py: Python<'_>,
        part: Frame,
        options: &WriteOptions,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let next = std::mem::replace(&mut self.next, Next::Rows(Vec::new()));
        let stream = self.get()?;
        monitor::run_watched(py, progress, |monitor| match next {
            Next::Rows(labels) => stream.append(part, &labels, options, monitor),
            Next::Columns(mut to) => {
                let operation = to.operation;
                stream.set_columns(part, to.columns(), operation, options, monitor)
            }
        })
    }
}

#[pymethods]
impl Stream {
    /// Begins a file that replaces one at `path`, or must be new.
    #[new]
    #[pyo3(signature = (path, seconds, is_durable, edition, must_be_new, secret=None))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        seconds: f64,
        is_durable: Option<bool>,
        edition: Option<u8>,
        must_be_new: bool,
        secret: Option<Secret>,
    ) -> PyResult<Self> {
        let (wait, durable) = (wait(seconds), durable(is_durable));
        let secret = secrets::of_core(secret.as_ref());
        let options = WriteOptions { wait, durable, edition, must_be_new, secret, ..WriteOptions::default() };
        let stream = monitor::run(py, |monitor| entasis::Stream::create(&path, &options, monitor))?;
        Ok(Self { stream: Some(stream), next: Next::Rows(Vec::new()) })
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
        Ok(Self { stream: Some(stream), next: Next::Rows(Vec::new()) })
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
        self.next = Next::Rows(labels);
    }

    /// The next content changes the columns of the table so far, as `Change.will_set_columns`.
    fn will_set_columns(
        &mut self,
        sources: Vec<(bool, usize)>,
        names: Vec<String>,
        levels: Vec<(usize, String)>,
        name: &str,
    ) -> PyResult<()> {
        self.next = Next::Columns(Arrangement::new(sources, names, levels, name)?);
        Ok(())
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
