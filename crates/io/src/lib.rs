//! Sources and sinks of bytes, and the atomic replacement of files.
//!
//! A [`Source`] is read and a [`Sink`] is written at positions, from many threads at once.
//! [`FileSource`] reads a file, and [`RemoteSource`] an object by requests for ranges;
//! [`MemorySource`] and [`MemorySink`] work in memory. [`Replacement`]
//! replaces an old file by a complete new one, or leaves the old one untouched. [`InPlace`] appends
//! to a file and commits with one small write. Errors are plain
//! [`std::io::Error`]s; the caller adds the path.
//!
//! ```
//! use entasis_io::{Durable, FileSource, Replacement, Sink, Source};
//!
//! # fn main() -> std::io::Result<()> {
//! let path = std::env::temp_dir().join(format!("entasis-io-{}", std::process::id()));
//! let new = Replacement::create(&path, Durable::Auto)?;
//! new.write_all_at(4, b"of the file")?;
//! new.write_all_at(0, b"all ")?;
//! // Until here the old file, if any, is untouched.
//! new.commit()?;
//!
//! let file = FileSource::open(&path)?;
//! let mut bytes = [0; 6];
//! file.read_exact_at(4, &mut bytes)?;
//! assert_eq!((file.len(), &bytes), (15, b"of the"));
//! std::fs::remove_file(&path)?;
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod access;
#[cfg(unix)]
mod acl;
mod disk;
mod file;
mod holder;
mod identity;
mod in_place;
mod lock;
mod memory;
mod old;
mod owner;
mod remote;
mod replace;
mod sink;
mod source;
mod stale;
mod target;
mod temp_name;

pub use disk::{Disk, NativeDisk, WRITE_UNIT};
pub use file::FileSource;
pub use in_place::InPlace;
pub use lock::Lock;
pub use memory::{MemorySink, MemorySource};
pub use remote::{Ranges, RemoteSource};
pub use replace::{Durable, Replacement, check_new};
pub use sink::Sink;
pub use source::{Announced, Announcement, Source};
