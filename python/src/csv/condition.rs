//! A condition of Python on the rows of a text.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use entasis::{Error, File, Result, Silent};
use entasis_csv::Type;
use entasis_csv::condition::Condition;
use entasis_csv::frame::Lent;
use entasis_csv::piece::TextLayout;
use entasis_query::{Predicate, Scan};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::table::in_memory;
use crate::handle::Handle;

/// The predicates of a condition, by the types of its columns.
type Bound = Mutex<Vec<(Vec<Type>, Arc<Predicate>)>>;

/// A condition that is bound anew for other types of its columns.
pub struct PyCondition {
    columns: Vec<String>,
    /// Returns the condition as the core takes it, for a handle of a file with the columns.
    bind: Py<PyAny>,
    bound: Bound,
    /// The exceptions of `bind`, with their messages.
    raised: Mutex<Vec<(String, PyErr)>>,
}

impl PyCondition {
    /// A condition on some columns.
    pub fn new(columns: Vec<String>, bind: Py<PyAny>) -> Self {
        Self { columns, bind, bound: Bound::default(), raised: Mutex::default() }
    }

    /// The exception that an error of `test` stands for.
    pub fn exception(&self, error: &Error) -> Option<PyErr> {
        let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        let at = raised.iter().position(|(message, _)| *message == error.message())?;
        Some(raised.swap_remove(at).1)
    }

    fn keep(&self, error: PyErr) -> Error {
        let message = format!("the filter: {error}");
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).push((message.clone(), error));
        Error::argument(message)
    }

    /// The predicate for these types, which are those of the file.
    fn predicate(&self, types: Vec<Type>, file: &Arc<File>) -> Result<Arc<Predicate>> {
        let mut bound = self.bound.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, predicate)) = bound.iter().find(|(known, _)| *known == types) {
            return Ok(Arc::clone(predicate));
        }
        let found = Python::attach(|py| {
            let handle = Handle::of(Arc::clone(file));
            let tree = self.bind.bind(py).call1((handle,))?;
            crate::query::predicate(file, tree.cast::<PyTuple>()?)
        });
        let predicate = found.map(Arc::new).map_err(|error| self.keep(error))?;
        bound.push((types, Arc::clone(&predicate)));
        Ok(predicate)
    }
}

impl fmt::Debug for PyCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PyCondition").field("columns", &self.columns).finish_non_exhaustive()
    }
}

impl Condition for PyCondition {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn test(&self, columns: &[Lent<'_>], n: usize, layout: TextLayout) -> Result<Vec<u64>> {
        let file = Arc::new(in_memory(columns, n as u64, layout, Some(1), &Silent)?);
        let types = columns.iter().map(|column| column.of).collect();
        let predicate = self.predicate(types, &file)?;
        let scan = Scan::new(&file, &predicate)?;
        Ok(scan.bits(Some(1), &Silent)?.words().to_vec())
    }
}
