//! Cells in memory. Wraps the core's type: reads without the GIL, and raises exceptions.

use std::ops::{Deref, Range};
use std::sync::Arc;

use entasis::Error;
use entasis::cells::{self, Cell, Cells};
use pyo3::exceptions::PyUnicodeDecodeError;
use pyo3::prelude::*;

use crate::{errors, monitor};

/// The damage of an array whose shape does not fit its number of values.
pub const OTHER_SHAPE: &str = "the shape of an array is not that of its values";

/// Cells in memory, with all cells that they refer to.
pub struct Loaded(cells::Loaded);

impl Deref for Loaded {
    type Target = cells::Loaded;

    fn deref(&self) -> &cells::Loaded {
        &self.0
    }
}

impl Loaded {
    pub fn new(cells: Arc<Cells>, threads: Option<usize>) -> Self {
        Self(cells::Loaded::new(cells, threads))
    }

    /// Returns a cell. Reads cells not yet in memory.
    pub fn fetch(&mut self, py: Python<'_>, number: u64) -> PyResult<Cell<'_>> {
        self.fetch_all(py, number..number.saturating_add(1))?;
        self.0.cell(number).map_err(|e| self.raise(py, e))
    }

    /// The exception for an error in these cells.
    pub fn raise(&self, py: Python<'_>, error: Error) -> PyErr {
        errors::raise(py, &error.in_file(self.0.cells().file().path()))
    }

    /// The exception for damage in these cells.
    pub fn corrupt(&self, py: Python<'_>, problem: &'static str) -> PyErr {
        self.raise(py, Error::corrupt(problem).in_section("cells"))
    }

    /// The exception for a string that Python could not make. Bytes that are not UTF-8 are damage.
    pub fn not_text(&self, py: Python<'_>, error: PyErr) -> PyErr {
        if error.is_instance_of::<PyUnicodeDecodeError>(py) {
            self.corrupt(py, "a string of a cell is not UTF-8")
        } else {
            error
        }
    }

    /// Reads these cells, unless they are in memory.
    pub fn fetch_all(&mut self, py: Python<'_>, range: Range<u64>) -> PyResult<()> {
        if self.0.slice(&range).is_some() {
            return Ok(());
        }
        monitor::run(py, |monitor| self.0.load(range, monitor))
    }

    /// Reads these ranges, and all cells that they refer to.
    pub fn close(&mut self, py: Python<'_>, ranges: Vec<Range<u64>>) -> PyResult<()> {
        monitor::run(py, |monitor| self.0.close(ranges, monitor))
    }
}
