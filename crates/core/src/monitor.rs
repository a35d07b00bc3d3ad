//! The way a caller watches and stops long work.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use entasis_format::{Error, Result};

/// Watches a long piece of work. Its methods are called on the thread that started it, the first two at most every 50 ms.
pub trait Monitor: Sync {
    /// Whether the work shall stop; it then ends with an error of kind *interrupted* and leaves nothing behind.
    fn interrupted(&self) -> bool {
        false
    }

    /// Told how much is done.
    fn progress(&self, _done: u64, _total: u64) {}

    /// Called when the other threads have begun, if there are any: what the caller has to do besides takes no time of theirs. False: the
    /// work shall stop.
    fn meanwhile(&self, has_others: bool) -> bool {
        let _ = has_others;
        true
    }
}

/// A monitor that lets everything run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Monitor for Silent {}

/// How often the monitor is asked, about.
pub(crate) const INTERVAL: Duration = Duration::from_millis(50);

/// The state that the threads of one piece of work share.
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
        Self {
            monitor,
            stopped: AtomicBool::new(false),
            caller: std::thread::current().id(),
            polled: Mutex::new(Instant::now()),
            done: AtomicU64::new(0),
            total,
        }
    }

    /// Adds to what is done.
    pub(crate) fn advance(&self, n: u64) {
        self.done.fetch_add(n, Ordering::Relaxed);
    }

    /// Tells the monitor that the other threads have begun.
    pub(crate) fn begun(&self, has_others: bool) {
        if !self.monitor.meanwhile(has_others) {
            self.stop();
        }
    }

    /// Ends all threads at their next check.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    /// An error when the work was stopped; on the caller's thread it also asks the monitor, now and then.
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
        if self.stopped.load(Ordering::Acquire) { Err(Error::interrupted()) } else { Ok(()) }
    }
}
