//! Bytes of files and of memory at offsets of one source.

mod on_demand;

use std::io;
use std::ops::Range;
use std::sync::Arc;

use entasis_io::{MemorySink, Sink, Source};
use entasis_seal::Unlocked;

use crate::file::File;
use on_demand::{OnDemand, Recent};

/// A source of several parts. Zeros are between them.
#[derive(Clone, Default)]
pub(crate) struct Segments {
    /// Ascending, none overlaps another.
    segments: Vec<Segment>,
    recent: Arc<Recent>,
}

#[derive(Clone)]
struct Segment {
    start: u64,
    end: u64,
    bytes: Bytes,
}

#[derive(Clone)]
enum Bytes {
    Memory(Arc<Vec<u8>>),
    /// Bytes of a file, from this offset on.
    File(Arc<File>, u64),
    /// All bytes of a file that does not stay open.
    Path(Arc<OnDemand>),
}

impl Segments {
    /// Adds bytes in memory. `start` is at or after the end.
    pub(crate) fn push_memory(&mut self, start: u64, bytes: Vec<u8>) {
        let end = start + bytes.len() as u64;
        self.push(Segment { start, end, bytes: Bytes::Memory(Arc::new(bytes)) });
    }

    /// Adds a part of a file. `start` is at or after the end.
    pub(crate) fn push_file(&mut self, start: u64, file: File, part: Range<u64>) {
        let end = start + (part.end - part.start);
        self.push(Segment { start, end, bytes: Bytes::File(Arc::new(file), part.start) });
    }

    /// Adds the bytes of a file, which need not stay open. `start` is at or after the end.
    pub(crate) fn push_path(&mut self, start: u64, file: &File) {
        let end = start + file.file_len();
        self.push(Segment { start, end, bytes: Bytes::Path(Arc::new(OnDemand::new(file))) });
    }

    fn push(&mut self, segment: Segment) {
        debug_assert!(segment.start >= self.end());
        self.segments.push(segment);
    }

    /// The opened keys of the first part that is encrypted.
    pub(crate) fn unlocked(&self) -> Option<&Arc<Unlocked>> {
        self.segments.iter().find_map(|segment| match &segment.bytes {
            Bytes::Memory(_) => None,
            Bytes::File(file, _) => file.unlocked(),
            Bytes::Path(file) => file.unlocked(),
        })
    }

    /// The offset after the last part.
    pub(crate) fn end(&self) -> u64 {
        self.segments.last().map_or(0, |segment| segment.end)
    }
}

impl std::fmt::Debug for Segments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Segments").field("end", &self.end()).finish_non_exhaustive()
    }
}

impl Source for Segments {
    fn len(&self) -> u64 {
        self.end()
    }

    fn read_at(&self, at: u64, out: &mut [u8]) -> io::Result<usize> {
        let next = self.segments.partition_point(|segment| segment.end <= at);
        let Some(segment) = self.segments.get(next) else { return Ok(0) };
        let until = if at < segment.start { segment.start } else { segment.end };
        let n = usize::try_from(until - at).unwrap_or(usize::MAX).min(out.len());
        let Some(inside) = at.checked_sub(segment.start) else {
            out[..n].fill(0);
            return Ok(n);
        };
        match &segment.bytes {
            Bytes::Memory(bytes) => {
                let from = inside as usize;
                out[..n].copy_from_slice(&bytes[from..from + n]);
                Ok(n)
            }
            Bytes::File(file, first) => file.read_source_at(first + inside, &mut out[..n]),
            Bytes::Path(file) => file.read_at(&self.recent, inside, &mut out[..n]),
        }
    }
}

/// Collects the bytes from an offset on, in memory.
pub(crate) struct Tail {
    start: u64,
    bytes: MemorySink,
}

impl Tail {
    pub(crate) fn new(start: u64) -> Self {
        Self { start, bytes: MemorySink::new() }
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes.into_bytes()
    }
}

impl Sink for Tail {
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<usize> {
        let inside = at.checked_sub(self.start).ok_or_else(|| io::Error::other("a write before the end"))?;
        self.bytes.write_at(inside, bytes)
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_from_their_parts() {
        let mut segments = Segments::default();
        segments.push_memory(2, vec![1, 2, 3]);
        segments.push_memory(5, vec![]);
        segments.push_memory(8, vec![4]);
        let mut all = vec![9; 9];
        segments.read_exact_at(0, &mut all).unwrap();
        assert_eq!(all, [0, 0, 1, 2, 3, 0, 0, 0, 4]);
        let mut part = [9; 4];
        segments.read_exact_at(4, &mut part).unwrap();
        assert_eq!(part, [3, 0, 0, 0]);
        assert_eq!((segments.len(), segments.read_at(9, &mut part).unwrap()), (9, 0));
        assert!(segments.read_exact_at(6, &mut part).is_err());
    }
}
