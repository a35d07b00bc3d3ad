//! Frames as files in memory.

use std::path::Path;

use entasis::{File, Frame, Limits, MemorySink, MemorySource, Result, Silent, WriteOptions, write_to};

/// A file with a frame. Errors show `name` as its path.
pub(crate) fn file(frame: &Frame, name: &Path) -> Result<File> {
    let sink = MemorySink::new();
    write_to(&sink, frame, &WriteOptions::default(), &Silent)?;
    File::from_source(Box::new(MemorySource::new(sink.into_bytes())), name, Limits::default())
}
