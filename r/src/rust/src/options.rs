//! How to write a file, as C passes it.

use std::time::Duration;

use entasis::{Durable, Secret, WriteOptions};

use crate::secrets;

/// The longest wait for another writer, in seconds. `Duration` cannot be infinite.
const LONGEST_WAIT: f64 = 1e9;

/// How to write.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Options {
    /// Negative: the compression of the file that changes, or the default.
    compression: i32,
    /// The number of threads; 0 for one per processor.
    threads: i32,
    /// Whether to wait for the disk: 0 no, 1 yes, -1 only if the file replaces one.
    durable: i32,
    /// Whether a file at the path is an error.
    must_be_new: i32,
    /// Negative: the newest edition.
    edition: i32,
    /// Seconds to wait for another writer.
    wait: f64,
}

impl Options {
    /// The options of the core. New files are encrypted with the secret in force.
    pub fn of_core(self) -> WriteOptions {
        self.opening(secrets::for_writing())
    }

    /// The options of the core, with what opens the file that changes.
    pub fn opening(self, secret: Option<Secret>) -> WriteOptions {
        WriteOptions {
            secret,
            compression: u32::try_from(self.compression)
                .ok()
                .map(|level| u8::try_from(level).unwrap_or(u8::MAX)),
            threads: usize::try_from(self.threads).ok().filter(|&threads| threads > 0),
            durable: match self.durable {
                0 => Durable::Never,
                1 => Durable::Always,
                _ => Durable::Auto,
            },
            wait: Duration::from_secs_f64(self.wait.clamp(0.0, LONGEST_WAIT)),
            must_be_new: self.must_be_new != 0,
            edition: u32::try_from(self.edition).ok().map(|edition| u8::try_from(edition).unwrap_or(u8::MAX)),
            ..WriteOptions::default()
        }
    }
}
