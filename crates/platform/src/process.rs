//! Distinguishes a process from its forked children.

/// A process. A forked child is another one, although it has a copy of all memory.
///
/// ```
/// let process = entasis_platform::Process::current();
/// assert!(process.is_current());
/// assert_eq!(process.id(), std::process::id());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    id: u32,
    /// Process ids alone are not enough, because the system reuses them.
    n_forks: u32,
}

impl Process {
    /// The process that makes the call.
    #[must_use]
    pub fn current() -> Self {
        Self { id: std::process::id(), n_forks: n_forks() }
    }

    /// Whether this process makes the call.
    #[must_use]
    pub fn is_current(self) -> bool {
        self == Self::current()
    }

    /// Its id in the system.
    #[must_use]
    pub fn id(self) -> u32 {
        self.id
    }
}

/// The number of forks in the ancestry of this process since the first call.
#[cfg(all(target_os = "linux", not(miri)))]
fn n_forks() -> u32 {
    use std::sync::Once;
    use std::sync::atomic::{AtomicU32, Ordering};

    static N_FORKS: AtomicU32 = AtomicU32::new(0);
    static COUNTED: Once = Once::new();

    extern "C" fn forked() {
        N_FORKS.fetch_add(1, Ordering::Relaxed);
    }

    // SAFETY: the handler only increments an atomic, which is allowed in the child of a process
    // with threads. If registration fails for lack of memory, nothing is counted and process ids
    // must do.
    COUNTED.call_once(|| unsafe {
        libc::pthread_atfork(None, None, Some(forked));
    });
    N_FORKS.load(Ordering::Relaxed)
}

/// Forks are not counted here, so only the process id distinguishes processes.
#[cfg(not(all(target_os = "linux", not(miri))))]
fn n_forks() -> u32 {
    0
}
