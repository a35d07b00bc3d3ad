//! Long work without the GIL that Ctrl-C can interrupt.

use std::sync::{Mutex, PoisonError};

use entasis::{Error, Monitor, reserve};
use pyo3::prelude::*;

use crate::errors;

/// Lets Python handle signals, and keeps the exception that a signal handler or `meanwhile` raised.
struct Signals {
    raised: Mutex<Option<PyErr>>,
    meanwhile: Mutex<Option<Py<PyAny>>>,
    progress: Option<Py<PyAny>>,
}

impl Signals {
    /// Calls `meanwhile`, unless that was done before. Its argument is whether other threads are
    /// working.
    fn call(&self, py: Python<'_>, has_others: bool) -> PyResult<()> {
        let call = self.meanwhile.lock().unwrap_or_else(PoisonError::into_inner).take();
        call.map_or(Ok(()), |call| call.into_bound(py).call1((has_others,)).map(|_| ()))
    }

    fn keep(&self, error: PyErr) {
        *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }
}

impl Monitor for Signals {
    fn interrupted(&self) -> bool {
        if self.progress.is_some() && self.raised.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
            return true;
        }
        let Err(error) = Python::attach(|py| py.check_signals()) else { return false };
        self.keep(error);
        true
    }

    fn progress(&self, done: u64, total: u64) {
        let Some(progress) = &self.progress else { return };
        // After an exception the work ends, and the first exception counts.
        if self.raised.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
            return;
        }
        let called = Python::attach(|py| progress.call1(py, (done, (total > 0).then_some(total))).map(drop));
        if let Err(error) = called {
            self.keep(error);
        }
    }

    fn meanwhile(&self, has_others: bool) -> bool {
        let is_wanted = self.meanwhile.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        if !is_wanted {
            return true;
        }
        let Err(error) = Python::attach(|py| self.call(py, has_others)) else { return true };
        self.keep(error);
        false
    }
}

/// Lets Python handle signals, for loops that hold the GIL. Also returns an error if memory runs
/// out.
pub fn check(py: Python<'_>) -> PyResult<()> {
    if reserve::is_used() && !reserve::refill() {
        return Err(errors::raise(py, &Error::no_memory_left()));
    }
    py.check_signals()
}

/// Runs `work` without the GIL.
pub fn run<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&dyn Monitor) -> entasis::Result<T> + Send,
) -> PyResult<T> {
    run_with(py, None, work)
}

/// Runs `work` without the GIL. `meanwhile` is called once, with the GIL: while other threads work,
/// or after `work`. Its argument is whether other threads are working.
pub fn run_with<T: Send>(
    py: Python<'_>,
    meanwhile: Option<Bound<'_, PyAny>>,
    work: impl FnOnce(&dyn Monitor) -> entasis::Result<T> + Send,
) -> PyResult<T> {
    let meanwhile = Mutex::new(meanwhile.map(Bound::unbind));
    finish(py, &Signals { raised: Mutex::default(), meanwhile, progress: None }, work)
}

/// Runs `work` without the GIL. `progress` is called with it: with what is done and with the whole,
/// which is None where it is not known.
pub fn run_watched<T: Send>(
    py: Python<'_>,
    progress: Option<Bound<'_, PyAny>>,
    work: impl FnOnce(&dyn Monitor) -> entasis::Result<T> + Send,
) -> PyResult<T> {
    let progress = progress.map(Bound::unbind);
    finish(py, &Signals { raised: Mutex::default(), meanwhile: Mutex::default(), progress }, work)
}

fn finish<T: Send>(
    py: Python<'_>,
    signals: &Signals,
    work: impl FnOnce(&dyn Monitor) -> entasis::Result<T> + Send,
) -> PyResult<T> {
    let result = py.detach(|| work(signals));
    if let Some(raised) = signals.raised.lock().unwrap_or_else(PoisonError::into_inner).take() {
        return Err(raised);
    }
    let found = result.map_err(|error| errors::raise(py, &error))?;
    signals.call(py, false)?;
    Ok(found)
}
