//! Arenas on platforms without huge pages on demand: CPython's own.

use pyo3::Python;

/// Changes nothing on this platform.
pub struct HugeArenas;

impl HugeArenas {
    /// A guard that changes nothing.
    pub fn new(_: Python<'_>, _: u64) -> Self {
        Self
    }
}

/// Whether arenas can lie on huge pages: not on this platform.
pub fn are_available(_: Python<'_>) -> bool {
    false
}
