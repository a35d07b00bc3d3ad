//! Threads of one piece of work: made for it, gone after it.
//!
//! There is no pool to keep: starting a thread takes 20 to 100 microseconds, and it is given work for a millisecond or more.
//! So there is nothing that a forked child could inherit broken, and nothing to shut down.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use entasis_format::{Error, Result};

use crate::control::Control;

static THREADS: AtomicUsize = AtomicUsize::new(0);

/// Sets the number of threads for calls that don't name one; 0: as many as the process has processors.
pub fn set_threads(n: usize) {
    THREADS.store(n, Ordering::Relaxed);
}

/// The number of threads for calls that don't name one: what [`set_threads`] said, else the processors that the
/// process may use (its affinity and its cgroup's quota counted).
pub fn default_threads() -> usize {
    match THREADS.load(Ordering::Relaxed) {
        0 => thread::available_parallelism().map_or(1, usize::from),
        n => n,
    }
}

/// Runs `work` on every task, in order of their start, on up to `threads` threads, of which the caller's is one.
/// The first error ends the others at their next check. A thread that can't be started is done without.
pub(crate) fn run<T: Send, S>(
    tasks: Vec<T>,
    threads: usize,
    control: &Control<'_>,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, T) -> Result<()> + Sync,
) -> Result<()> {
    let n_threads = threads.clamp(1, tasks.len().max(1));
    let queue = Mutex::new(tasks.into_iter());
    let failure: Mutex<Option<Error>> = Mutex::new(None);
    let worker = || {
        let _guard = StopOnPanic(control);
        let mut state = state();
        loop {
            let task = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(task) = task else { break };
            if let Err(error) = control.check().and_then(|()| work(&mut state, task)) {
                // The error that came first made the others stop: it is the one to tell.
                failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                control.stop();
                break;
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..n_threads {
            if thread::Builder::new().spawn_scoped(scope, worker).is_err() {
                break;
            }
        }
        worker();
    });
    failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// Stops the other threads when this one panics: they may wait for what it would have done.
struct StopOnPanic<'a>(&'a Control<'a>);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Silent;

    #[test]
    fn the_first_error_is_told_and_ends_the_rest() {
        for threads in [1, 4] {
            let control = Control::new(&Silent, 0);
            let run = run(
                (0..1000).collect(),
                threads,
                &control,
                || (),
                |(), task: u32| {
                    if task == 3 { Err(Error::corrupt("three")) } else { control.check() }
                },
            );
            assert_eq!(run.unwrap_err().message(), "three");
        }
    }

    #[test]
    fn a_panic_ends_threads_that_wait() {
        let control = Control::new(&Silent, 0);
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            run(
                vec![0, 1],
                2,
                &control,
                || (),
                |(), task| {
                    if task == 0 {
                        panic!("on purpose");
                    }
                    loop {
                        control.check()?;
                        thread::yield_now();
                    }
                },
            )
        }));
        assert!(result.is_err());
    }
}
