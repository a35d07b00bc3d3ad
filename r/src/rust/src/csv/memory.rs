//! Rows of a text as a file in memory.

use std::path::Path;

use entasis::{File, HostRead, Limits, MemorySink, MemorySource, Monitor, Result, WriteOptions};
use entasis_csv::frame::{Lent, frame};
use entasis_csv::piece::TextLayout;

/// A file in memory with columns.
pub fn in_memory(
    columns: &[Lent<'_>],
    n_rows: u64,
    layout: TextLayout,
    threads: usize,
    monitor: &dyn Monitor,
) -> Result<File> {
    let sink = MemorySink::new();
    let options = WriteOptions { compression: Some(0), threads: Some(threads), ..WriteOptions::default() };
    entasis::write_to(&sink, &frame(columns, n_rows, layout, &lend), &options, monitor)?;
    let source = Box::new(MemorySource::new(sink.into_bytes()));
    File::from_source(source, Path::new("<csv>"), Limits::default())
}

/// Memory for a frame that ends before it: of a file in memory, or of a batch of `Scan::store`.
pub fn lend(memory: &[u8]) -> HostRead {
    // SAFETY: the bytes are initialised, no longer than isize::MAX, and never written to. The frame
    // ends within `in_memory`, or within the call of `Scan::store`, which keeps the columns of a
    // batch longer than their frame.
    unsafe { HostRead::new(memory.as_ptr(), memory.len()) }
}
