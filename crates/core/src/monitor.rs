//! How a caller watches and stops long work.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use entasis_format::{Error, Result};
use entasis_platform::memory::reserve;

/// Watches a long piece of work. All methods are called on the thread that started the work, the
/// first two at most every 50 ms.
pub trait Monitor: Sync {
    /// Whether to stop the work. It then ends with an error of kind *interrupted* and leaves no
    /// file.
    fn interrupted(&self) -> bool {
        false
    }

    /// Reports progress: `done` of `total`, in the units of the work (values or bytes).
    fn progress(&self, _done: u64, _total: u64) {}

    /// Called once the other threads have started. `has_others` is false if there are none. The
    /// caller can do its own work here in the meantime. Return false to stop.
    fn meanwhile(&self, has_others: bool) -> bool {
        let _ = has_others;
        true
    }
}

/// A monitor that never stops the work.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Monitor for Silent {}

/// The approximate time between two calls of the monitor.
pub(crate) const INTERVAL: Duration = Duration::from_millis(50);

/// The state that all threads of one piece of work share.
pub(crate) struct Control<'a> {
    monitor: &'a dyn Monitor,
    stopped: AtomicBool,
    caller: ThreadId,
    polled: Mutex<Instant>,
    done: AtomicU64,
    total: u64,
}

impl<'a> Control<'a> {
    pub(crate) fn new(monitor: &'a dyn Monitor, total: u64) -> Self {
        if reserve::is_used() {
            // If the refill fails, the first check reports it.
            let _ = reserve::refill();
        }
        Self {
            monitor,
            stopped: AtomicBool::new(false),
            caller: std::thread::current().id(),
            polled: Mutex::new(Instant::now()),
            done: AtomicU64::new(0),
            total,
        }
    }

    /// Adds `n` to the work done.
    pub(crate) fn advance(&self, n: u64) {
        self.done.fetch_add(n, Ordering::Relaxed);
    }

    /// Informs the monitor that the other threads work.
    pub(crate) fn begun(&self, has_others: bool) {
        if !self.monitor.meanwhile(has_others) {
            self.stop();
        }
    }

    /// Stops all threads at their next check.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    /// Returns an error if the work was stopped or memory ran out. On the caller's thread, also
    /// asks the monitor every [`INTERVAL`].
    pub(crate) fn check(&self) -> Result<()> {
        if std::thread::current().id() == self.caller {
            let mut polled = self.polled.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if polled.elapsed() >= INTERVAL {
                *polled = Instant::now();
                self.monitor.progress(self.done.load(Ordering::Relaxed), self.total);
                if self.monitor.interrupted() {
                    self.stop();
                }
            }
        }
        if reserve::is_used() {
            return Err(Error::no_memory_left());
        }
        if self.stopped.load(Ordering::Acquire) { Err(Error::interrupted()) } else { Ok(()) }
    }
}
