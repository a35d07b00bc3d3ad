//! Environment variables that switch off parts of this crate.

use std::sync::atomic::{AtomicU8, Ordering};

const ON: u8 = 1;
const OFF: u8 = 2;

/// A part of this crate that is off if an environment variable has the value `off` or `0`.
///
/// The variable is read at the first use. Threads that race there read the same value.
pub(crate) struct Switch {
    variable: &'static str,
    /// [`ON`] or [`OFF`] after the first use.
    state: AtomicU8,
}

impl Switch {
    pub(crate) const fn new(variable: &'static str) -> Self {
        Self { variable, state: AtomicU8::new(0) }
    }

    /// The environment variable.
    pub(crate) const fn variable(&self) -> &'static str {
        self.variable
    }

    /// Whether this part is in use.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        match self.state.load(Ordering::Relaxed) {
            ON => true,
            OFF => false,
            _ => self.read(),
        }
    }

    #[cold]
    fn read(&self) -> bool {
        let is_on = !std::env::var_os(self.variable).is_some_and(|value| value == "off" || value == "0");
        self.state.store(if is_on { ON } else { OFF }, Ordering::Relaxed);
        is_on
    }
}
