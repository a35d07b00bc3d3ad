//! No-op fork and signal hooks for platforms other than Linux.

/// No fork is counted; process ids must do.
pub(super) fn n_forks() -> u32 {
    0
}

/// Calls `start`.
pub(super) fn with_signals_blocked<T>(start: impl FnOnce() -> T) -> T {
    start()
}
