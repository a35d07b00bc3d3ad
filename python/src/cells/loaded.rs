//! Cells that were read, with all that they name: read without Python's lock, errors raised.

use std::ops::{Deref, Range};
use std::sync::Arc;

use entasis::Error;
use entasis::cells::{self, Cell, Cells};
use pyo3::exceptions::PyUnicodeDecodeError;
use pyo3::prelude::*;

use crate::{errors, monitor};

/// What is wrong with an array whose shape has another product than its values are.
pub const OTHER_SHAPE: &str = "the shape of an array is not that of its values";

/// Cells in memory, and all that they name.
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

    /// A cell that is read when it has to be.
    pub fn fetch(&mut self, py: Python<'_>, number: u64) -> PyResult<Cell<'_>> {
        self.fetch_all(py, number..number.saturating_add(1))?;
        self.0.cell(number).map_err(|e| self.raise(py, e))
    }

    /// An error of these cells.
    pub fn raise(&self, py: Python<'_>, error: Error) -> PyErr {
        errors::raise(py, &error.in_file(self.0.cells().file().path()))
    }

    /// Damage of these cells.
    pub fn corrupt(&self, py: Python<'_>, problem: &'static str) -> PyErr {
        self.raise(py, Error::corrupt(problem).in_section("cells"))
    }

    /// What a string could not be made for: that it is no text is damage.
    pub fn not_text(&self, py: Python<'_>, error: PyErr) -> PyErr {
        if error.is_instance_of::<PyUnicodeDecodeError>(py) {
            self.corrupt(py, "a string of a cell is not UTF-8")
        } else {
            error
        }
    }

    /// Reads these cells, when they have to be.
    pub fn fetch_all(&mut self, py: Python<'_>, range: Range<u64>) -> PyResult<()> {
        if self.0.slice(&range).is_some() {
            return Ok(());
        }
        monitor::run(py, |monitor| self.0.load(range, monitor))
    }

    /// Reads these ranges, and all that is named from there.
    pub fn close(&mut self, py: Python<'_>, ranges: Vec<Range<u64>>) -> PyResult<()> {
        monitor::run(py, |monitor| self.0.close(ranges, monitor))
    }
}
