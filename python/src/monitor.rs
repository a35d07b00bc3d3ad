//! Long work without the GIL that Ctrl-C can stop.

use std::sync::{Mutex, PoisonError};

use entasis::Monitor;
use pyo3::prelude::*;

use crate::errors;

/// Asks Python for signals, and keeps the exception that a handler raised.
#[derive(Default)]
struct Signals {
    raised: Mutex<Option<PyErr>>,
}

impl Monitor for Signals {
    fn interrupted(&self) -> bool {
        let Err(error) = Python::attach(|py| py.check_signals()) else { return false };
        *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        true
    }
}

/// Runs `work` without the GIL.
pub fn run<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&dyn Monitor) -> entasis::Result<T> + Send,
) -> PyResult<T> {
    let signals = Signals::default();
    let result = py.detach(|| work(&signals));
    if let Some(raised) = signals.raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(raised);
    }
    result.map_err(|error| errors::raise(py, &error))
}
