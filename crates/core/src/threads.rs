//! Threads of one piece of work: made for it, gone after it.
//!
//! There is no pool to keep: starting a thread takes some 20 microseconds, less than a hundredth of the work that is worth one.
//! So there is nothing that a forked child could inherit broken, and nothing to shut down.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use entasis_format::{Kind, Result};

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
/// The first error ends the others at their next check.
pub(crate) fn run<T: Send, S>(
    tasks: Vec<T>,
    threads: usize,
    control: &Control<'_>,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, T) -> Result<()> + Sync,
) -> Result<()> {
    let n_threads = threads.clamp(1, tasks.len().max(1));
    let queue = Mutex::new(tasks.into_iter());
    let failure = Mutex::new(None);
    let worker = || {
        let mut state = state();
        loop {
            let task = queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
            let Some(task) = task else { break };
            if let Err(error) = control.check().and_then(|()| work(&mut state, task)) {
                let mut failure = failure.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                // Threads that were stopped report that they were; the reason is what counts.
                if failure.is_none() || error.kind() != Kind::Interrupted {
                    failure.get_or_insert(error);
                }
                control.stop();
                break;
            }
        }
    };
    if n_threads == 1 {
        worker();
    } else {
        thread::scope(|scope| {
            for _ in 1..n_threads {
                scope.spawn(worker);
            }
            worker();
        });
    }
    failure.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).map_or(Ok(()), Err)
}
