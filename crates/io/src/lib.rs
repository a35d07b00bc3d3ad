//! Where the bytes of a file come from and where they go.
//!
//! A [`Source`] is read and a [`Sink`] is written at positions, from many threads at once.
//! [`FileSource`] reads a file, [`MemorySource`] and [`MemorySink`] work in memory, and
//! [`Replacement`] puts a whole new file in the place of an old one, or leaves the old one untouched.
//! Errors are plain [`std::io::Error`]s; whoever knows the path adds it.

#![forbid(unsafe_code)]

mod disk;
#[cfg(any(test, feature = "fault"))]
pub mod fault;
mod file;
mod holder;
mod identity;
mod lock;
mod memory;
mod old;
mod replace;
mod sink;
mod source;
mod stale;
mod target;
mod temp_name;

pub use disk::{Disk, NativeDisk, PIECE};
pub use file::FileSource;
pub use lock::Lock;
pub use memory::{MemorySink, MemorySource};
pub use replace::{Durable, Replacement};
pub use sink::Sink;
pub use source::Source;
