//! Sources and sinks in memory.

use std::fmt;
use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex, PoisonError};

use crate::{Sink, Source};

/// Bytes in memory; clones share them.
#[derive(Clone)]
pub struct MemorySource {
    bytes: Arc<dyn AsRef<[u8]> + Send + Sync>,
}

impl MemorySource {
    /// Wraps any owner of bytes (`Vec<u8>`, `Arc<[u8]>`, `&'static [u8]`, ...) without copying
    /// them.
    pub fn new(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> MemorySource {
        MemorySource { bytes: Arc::new(bytes) }
    }

    /// All the bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        (*self.bytes).as_ref()
    }
}

impl fmt::Debug for MemorySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemorySource").field("len", &self.bytes().len()).finish()
    }
}

impl Source for MemorySource {
    fn len(&self) -> u64 {
        self.bytes().len() as u64
    }

    fn read_at(&self, at: u64, out: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(at).ok().and_then(|at| self.bytes().get(at..)).unwrap_or_default();
        let len = rest.len().min(out.len());
        out[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    }
}

/// A sink that grows in memory.
#[derive(Debug, Default)]
pub struct MemorySink {
    bytes: Mutex<Vec<u8>>,
}

impl MemorySink {
    /// An empty sink.
    #[must_use]
    pub fn new() -> MemorySink {
        MemorySink::default()
    }

    /// The bytes that were written.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink for MemorySink {
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<usize> {
        let at = usize::try_from(at).map_err(|_| ErrorKind::FileTooLarge)?;
        let end = at.checked_add(bytes.len()).ok_or(ErrorKind::FileTooLarge)?;
        let mut held = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        if bytes.is_empty() {
            return Ok(0);
        }
        if end > held.len() {
            let more = end - held.len();
            held.try_reserve(more).map_err(|_| ErrorKind::OutOfMemory)?;
            if at >= held.len() {
                // Bytes that follow the others are written once, and not set to zero before.
                held.resize(at, 0);
                held.extend_from_slice(bytes);
                return Ok(bytes.len());
            }
            held.resize(end, 0);
        }
        held[at..end].copy_from_slice(bytes);
        Ok(bytes.len())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_inside_across_and_beyond_the_end() {
        let source = MemorySource::new(vec![1, 2, 3, 4]);
        let mut out = [0; 3];
        assert_eq!(source.read_at(1, &mut out).unwrap(), 3);
        assert_eq!(out, [2, 3, 4]);
        assert_eq!(source.read_at(3, &mut out).unwrap(), 1);
        assert_eq!(source.read_at(4, &mut out).unwrap(), 0);
        assert_eq!(source.read_at(u64::MAX, &mut out).unwrap(), 0);
        assert_eq!(source.read_exact_at(2, &mut out).unwrap_err().kind(), ErrorKind::UnexpectedEof);
        assert!(MemorySource::new(Arc::<[u8]>::from([])).is_empty());
    }

    #[test]
    fn writes_leave_zeros_in_gaps() {
        let sink = MemorySink::new();
        sink.write_all_at(4, b"ef").unwrap();
        sink.write_all_at(0, b"ab").unwrap();
        sink.write_all_at(100, b"").unwrap();
        sink.sync().unwrap();
        assert_eq!(sink.into_bytes(), b"ab\0\0ef");
    }

    #[test]
    fn impossible_positions_are_errors() {
        let sink = MemorySink::new();
        assert_eq!(sink.write_at(u64::MAX, b"x").unwrap_err().kind(), ErrorKind::FileTooLarge);
        assert_eq!(sink.write_at(1 << 62, b"x").unwrap_err().kind(), ErrorKind::OutOfMemory);
        assert!(sink.into_bytes().is_empty());
    }
}
