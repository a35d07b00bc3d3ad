//! Rows that a filter found: their numbers, or a bit for each row. NumPy takes both without a copy.

use std::ops::Range;
use std::sync::Arc;

use entasis::{Error, File};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors;

/// Ascending numbers of rows. NumPy makes an array of them without a copy, and a read that gets
/// that array uses them without a copy too.
#[pyclass(frozen)]
pub struct RowNumbers(pub Arc<Vec<u64>>);

#[pymethods]
impl RowNumbers {
    /// The numbers as an array of `int64` that cannot be written to.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        interface(py, self.0.len(), "<i8", self.0.as_ptr().expose_provenance())
    }
}

/// A bit for each of consecutive rows: whether it passes.
#[pyclass(frozen)]
pub struct RowBits {
    pub bits: entasis_query::RowBits,
    /// The file of the rows, whose limits hold for their numbers.
    pub file: Arc<File>,
}

#[pymethods]
impl RowBits {
    /// The bits as an array of bytes that cannot be written to, least significant first.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let words = self.bits.words();
        interface(py, size_of_val(words), "|u1", words.as_ptr().expose_provenance())
    }

    /// The row of the first bit.
    #[getter]
    fn first(&self) -> u64 {
        self.bits.first()
    }

    /// How many rows pass.
    #[getter]
    fn count(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.bits.count())
    }

    /// The first row that passes, and the row after the last one that passes.
    #[getter]
    fn span(&self) -> (u64, u64) {
        let span = self.bits.span();
        (span.start, span.end)
    }

    /// The rows from `start` up to `stop` that pass.
    fn between(slf: Bound<'_, Self>, start: u64, stop: u64) -> PyResult<KeptRows> {
        let py = slf.py();
        let runs = slf.get().bits.runs(start..stop).map_err(|e| errors::raise(py, &e))?;
        let n = runs.iter().map(|run| run.len()).sum();
        Ok(KeptRows { rows: start..stop, runs, n, file: Arc::clone(&slf.get().file) })
    }

    /// The numbers of the rows that pass.
    fn numbers(&self, py: Python<'_>) -> PyResult<RowNumbers> {
        let numbers = py.detach(|| {
            self.file.check_decoded_len(self.bits.count().saturating_mul(8))?;
            self.bits.numbers()
        });
        Ok(RowNumbers(Arc::new(numbers.map_err(|e| errors::raise(py, &e))?)))
    }
}

/// Consecutive rows without some of them. A read that gets this decodes all, and drops the others.
#[pyclass(frozen)]
pub struct KeptRows {
    pub rows: Range<u64>,
    /// Their positions among the rows, as ranges.
    pub runs: Vec<Range<usize>>,
    pub n: usize,
    file: Arc<File>,
}

impl KeptRows {
    /// The numbers of the rows that are kept.
    pub fn numbers(&self) -> entasis::Result<Arc<Vec<u64>>> {
        self.file.check_decoded_len(self.n as u64 * 8)?;
        let mut numbers = Vec::new();
        let what = "the numbers of the rows";
        numbers.try_reserve_exact(self.n).map_err(|_| Error::out_of_memory(8 * self.n, what))?;
        numbers.extend(self.runs.iter().cloned().flatten().map(|at| self.rows.start + at as u64));
        Ok(Arc::new(numbers))
    }
}

#[pymethods]
impl KeptRows {
    fn __len__(&self) -> usize {
        self.n
    }
}

/// The interface of memory that cannot be written to.
fn interface<'py>(py: Python<'py>, n: usize, typestr: &str, address: usize) -> PyResult<Bound<'py, PyDict>> {
    let of = PyDict::new(py);
    of.set_item("version", 3)?;
    of.set_item("shape", (n,))?;
    of.set_item("typestr", typestr)?;
    of.set_item("data", (address, true))?;
    Ok(of)
}
