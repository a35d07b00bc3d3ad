//! Long work without the GIL that Ctrl-C can interrupt.

use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};

use entasis::{Error, Monitor, reserve};
use pyo3::prelude::*;

use crate::errors;

/// Lets Python handle signals, and keeps the exception that a signal handler or `meanwhile` raised.
struct Signals {
    raised: Mutex<Option<PyErr>>,
    meanwhile: Mutex<Option<Py<PyAny>>>,
    progress: Progress,
}

/// The function that gets the progress.
enum Progress {
    None,
    /// That of this work.
    Own(Py<PyAny>),
    /// That of a reading, which this work is a part of: [`Followed`].
    OfReading,
}

impl Progress {
    fn of_reading() -> Self {
        if FOLLOWED.with_borrow(Option::is_some) { Self::OfReading } else { Self::None }
    }
}

thread_local! {
    /// The reading that goes on in this thread, if its progress is followed.
    static FOLLOWED: RefCell<Option<Reading>> = const { RefCell::new(None) };
}

/// A reading by several calls of the core, whose values are counted together.
#[derive(Debug)]
struct Reading {
    progress: Py<PyAny>,
    /// The values to read.
    total: u64,
    /// The values of the steps before.
    before: u64,
    /// The values that the current step has read, and all of its own.
    step: (u64, u64),
}

impl Reading {
    /// Adds a report of the core. Returns the values that are read.
    fn add(&mut self, done: u64, total: u64) -> u64 {
        if total != self.step.1 || done < self.step.0 {
            self.before = self.before.saturating_add(self.step.1);
        }
        self.step = (done, total);
        self.before.saturating_add(done).min(self.total)
    }
}

/// Calls a function with the progress of all readings in a `with` block, on this thread.
#[pyclass(module = "entasis._entasis")]
pub struct Followed {
    /// This reading outside of the block, and the outer one inside.
    other: Option<Reading>,
}

#[pymethods]
impl Followed {
    /// `total` is the number of values to read.
    #[new]
    fn new(progress: Py<PyAny>, total: u64) -> Self {
        Self { other: Some(Reading { progress, total, before: 0, step: (0, 0) }) }
    }

    fn __enter__(&mut self) {
        FOLLOWED.with_borrow_mut(|followed| std::mem::swap(followed, &mut self.other));
    }

    fn __exit__(&mut self, _kind: &Bound<'_, PyAny>, _error: &Bound<'_, PyAny>, _trace: &Bound<'_, PyAny>) {
        FOLLOWED.with_borrow_mut(|followed| std::mem::swap(followed, &mut self.other));
    }
}

impl Signals {
    /// Calls `meanwhile`, unless that was done before. Its argument is whether other threads are
    /// working.
    fn call(&self, py: Python<'_>, has_others: bool) -> PyResult<()> {
        let call = self.meanwhile.lock().unwrap_or_else(PoisonError::into_inner).take();
        call.map_or(Ok(()), |call| call.into_bound(py).call1((has_others,)).map(|_| ()))
    }

    fn has_raised(&self) -> bool {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn keep(&self, error: PyErr) {
        *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }
}

impl Monitor for Signals {
    fn interrupted(&self) -> bool {
        if self.has_raised() {
            return true;
        }
        let Err(error) = Python::attach(|py| py.check_signals()) else { return false };
        self.keep(error);
        true
    }

    fn progress(&self, done: u64, total: u64) {
        // After an exception the work ends, and the first exception counts.
        if matches!(self.progress, Progress::None) || self.has_raised() {
            return;
        }
        let called = Python::attach(|py| match &self.progress {
            Progress::None => Ok(()),
            Progress::Own(progress) => progress.call1(py, (done, (total > 0).then_some(total))).map(drop),
            Progress::OfReading => {
                // The function may read, too.
                let Some(mut reading) = FOLLOWED.take() else { return Ok(()) };
                let read = reading.add(done, total);
                let called = reading.progress.call1(py, (read, reading.total)).map(drop);
                FOLLOWED.set(Some(reading));
                called
            }
        });
        if let Err(error) = called {
            self.keep(error);
        }
    }

    fn finished(&self, total: u64) -> bool {
        // A reading is not finished by one of its parts.
        if let Progress::Own(_) = &self.progress
            && total > 0
        {
            self.progress(total, total);
            return !self.interrupted();
        }
        true
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
    finish(py, &Signals { raised: Mutex::default(), meanwhile, progress: Progress::of_reading() }, work)
}

/// Runs `work` without the GIL. `progress` is called with it: with what is done and with the whole,
/// which is None where it is not known.
pub fn run_watched<T: Send>(
    py: Python<'_>,
    progress: Option<Bound<'_, PyAny>>,
    work: impl FnOnce(&dyn Monitor) -> entasis::Result<T> + Send,
) -> PyResult<T> {
    let Some(progress) = progress else { return run(py, work) };
    let progress = Progress::Own(progress.unbind());
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
