//! How a caller watches and stops long work.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use entasis_format::{Error, Result};
use entasis_platform::memory::reserve;

/// Watches a long piece of work. All methods are called on the thread that started the work, the
/// first two at most every 50 ms, and once at the end.
pub trait Monitor: Sync {
    /// Whether to stop the work. It then ends with an error of kind *interrupted* and leaves no
    /// file.
    fn interrupted(&self) -> bool {
        false
    }

    /// Reports progress: `done` of `total`, in the units of the work (values or bytes).
    fn progress(&self, _done: u64, _total: u64) {}

    /// Reports that all of `total` is done, before the result becomes visible. Return false to stop
    /// instead.
    fn finished(&self, total: u64) -> bool {
        self.progress(total, total);
        !self.interrupted()
    }

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

/// Watches a step of longer work. It can stop the work, and reports no progress.
#[derive(Clone, Copy)]
pub struct Quiet<'a>(pub &'a dyn Monitor);

impl Monitor for Quiet<'_> {
    fn interrupted(&self) -> bool {
        self.0.interrupted()
    }

    fn finished(&self, _total: u64) -> bool {
        true
    }

    fn meanwhile(&self, has_others: bool) -> bool {
        self.0.meanwhile(has_others)
    }
}

/// Watches a step of longer work, and reports its progress as a share of the whole.
#[derive(Clone, Copy)]
pub struct Share<'a> {
    /// Watches the whole.
    pub monitor: &'a dyn Monitor,
    /// Units of the whole before this step.
    pub before: u64,
    /// Units of the whole in this step.
    pub len: u64,
    /// Units of the whole.
    pub total: u64,
}

impl Monitor for Share<'_> {
    fn interrupted(&self) -> bool {
        self.monitor.interrupted()
    }

    fn progress(&self, done: u64, total: u64) {
        let of_step = u128::from(self.len) * u128::from(done.min(total)) / u128::from(total.max(1));
        self.monitor.progress((self.before + of_step as u64).min(self.total), self.total);
    }

    fn meanwhile(&self, has_others: bool) -> bool {
        self.monitor.meanwhile(has_others)
    }
}

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

    /// The state of a step of longer work: `done` of `total` is done before it.
    pub(crate) fn after(monitor: &'a dyn Monitor, done: u64, total: u64) -> Self {
        let control = Self::new(monitor, total);
        control.advance(done);
        control
    }

    /// The work done.
    pub(crate) fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed).min(self.total)
    }

    /// Reports the end of the work.
    pub(crate) fn finish(&self) -> Result<()> {
        if self.monitor.finished(self.total) { Ok(()) } else { Err(Error::interrupted()) }
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
                self.monitor.progress(self.done(), self.total);
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
