//! Parts of tables of fst.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use entasis::{Limits, Monitor};
use entasis_convert::Parts;
use pyo3::prelude::*;

use crate::handle::Handle;
use crate::handle::open::lend;
use crate::{errors, monitor};

/// An open file of fst. Only its header was read.
#[pyclass(frozen, module = "entasis._entasis")]
pub struct FstParts {
    parts: Parts,
}

#[pymethods]
impl FstParts {
    /// Opens the file at a path; None if it is not of fst.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf, limits: Option<HashMap<String, u64>>) -> PyResult<Option<Self>> {
        let mut of_file = Limits::default();
        for (name, value) in limits.unwrap_or_default() {
            of_file.set(&name, value).map_err(|e| errors::raise(py, &e))?;
        }
        let found = py.detach(|| Parts::open(&path, of_file)).map_err(|e| errors::raise(py, &e))?;
        Ok(found.map(|parts| Self { parts }))
    }

    /// The number of rows.
    #[getter]
    fn n_rows(&self) -> u64 {
        self.parts.n_rows()
    }

    /// The number of columns.
    #[getter]
    fn n_columns(&self) -> usize {
        self.parts.names().len()
    }

    /// A handle of the columns without rows. Their types are those of all values.
    fn schema(&self, py: Python<'_>) -> PyResult<Handle> {
        let work = |monitor: &dyn Monitor| self.parts.schema(&lend, monitor);
        Ok(Handle::of(Arc::new(monitor::run(py, work)?)))
    }

    /// A handle of some columns, by number, and of the rows from `start` up to `stop`.
    fn part(&self, py: Python<'_>, columns: Option<Vec<usize>>, start: u64, stop: u64) -> PyResult<Handle> {
        let work = |monitor: &dyn Monitor| self.parts.hold(columns.as_deref(), start..stop, &lend, monitor);
        Ok(Handle::from(monitor::run(py, work)?))
    }
}
