//! The calls that fail, and their errors.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts calls and fails at a chosen one; clones count together. Calls are counted from 0.
#[derive(Clone, Debug)]
pub struct Faults {
    calls: Arc<AtomicU64>,
    first: u64,
    lasting: bool,
    kind: ErrorKind,
}

impl Faults {
    /// Never fails, only counts.
    #[must_use]
    pub fn none() -> Faults {
        Faults::new(u64::MAX, false, ErrorKind::Other)
    }

    /// Fails at call `number` alone.
    #[must_use]
    pub fn once(number: u64, kind: ErrorKind) -> Faults {
        Faults::new(number, false, kind)
    }

    /// Fails at call `number` and at all that follow.
    #[must_use]
    pub fn lasting(number: u64, kind: ErrorKind) -> Faults {
        Faults::new(number, true, kind)
    }

    fn new(first: u64, lasting: bool, kind: ErrorKind) -> Faults {
        Faults { calls: Arc::new(AtomicU64::new(0)), first, lasting, kind }
    }

    /// The number of calls so far.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }

    /// Whether the failing call has been reached.
    #[must_use]
    pub fn reached(&self) -> bool {
        self.calls() > self.first
    }

    /// Counts a call.
    ///
    /// # Errors
    /// The chosen error, at the chosen call.
    pub fn step(&self) -> io::Result<()> {
        let call = self.calls.fetch_add(1, Ordering::SeqCst);
        if call == self.first || self.lasting && call > self.first {
            return Err(self.kind.into());
        }
        Ok(())
    }
}
