//! Rows that a filter found: their numbers, or a bit for each row. NumPy takes both without a copy.

use std::sync::Arc;

use entasis::File;
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

    /// The numbers of the rows that pass.
    fn numbers(&self, py: Python<'_>) -> PyResult<RowNumbers> {
        let numbers = py.detach(|| {
            self.file.check_decoded_len(self.bits.count().saturating_mul(8))?;
            self.bits.numbers()
        });
        Ok(RowNumbers(Arc::new(numbers.map_err(|e| errors::raise(py, &e))?)))
    }
}

fn interface<'py>(py: Python<'py>, n: usize, typestr: &str, address: usize) -> PyResult<Bound<'py, PyDict>> {
    let of = PyDict::new(py);
    of.set_item("version", 3)?;
    of.set_item("shape", (n,))?;
    of.set_item("typestr", typestr)?;
    of.set_item("data", (address, true))?;
    Ok(of)
}
