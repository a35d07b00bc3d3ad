//! What threads that outlive a call have to know of their process, where the system is asked for neither.

/// How often the process and those before it were forked.
pub(super) fn n_forks() -> u32 {
    0
}

/// Runs what starts a thread.
pub(super) fn with_signals_blocked<T>(start: impl FnOnce() -> T) -> T {
    start()
}
