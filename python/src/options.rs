//! Options of writes and changes, from the values that Python passes.

use std::time::Duration;

use entasis::{Durable, Keep};

/// The longest wait for another writer, in seconds. `Duration` cannot be infinite.
const LONGEST_WAIT: f64 = 1e9;

/// The time to wait for another writer.
pub fn wait(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds.clamp(0.0, LONGEST_WAIT))
}

/// How many generations to keep: the code of a unit, and a number.
pub fn keep((kind, value): (u8, u64)) -> Keep {
    Keep { kind, value }
}

/// Whether to wait for the disk.
pub fn durable(is_durable: Option<bool>) -> Durable {
    match is_durable {
        None => Durable::Auto,
        Some(true) => Durable::Always,
        Some(false) => Durable::Never,
    }
}
