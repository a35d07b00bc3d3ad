//! The content of compressed bytes, whatever it is.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use entasis::Result;

use super::ahead::ahead;
use super::compression::Compression;
use super::raw::{Raw, RawInput, SharedBytes, Stage};
use super::text::Limited;

/// Content of fewer compressed bytes is decompressed in the thread of the caller.
const LEAST_FOR_THREAD: usize = 64 << 10;

/// The content of compressed bytes from front to back, without a conversion to UTF-8.
///
/// ```
/// use std::sync::Arc;
///
/// use entasis_csv::source::Decompressed;
///
/// assert!(Decompressed::open(Arc::new(b"plain"), None, 1)?.is_none());
/// # Ok::<(), entasis::Error>(())
/// ```
pub struct Decompressed {
    stage: Box<dyn Stage>,
}

impl Decompressed {
    /// Recognises gzip, BGZF, bzip2, xz and Zstandard by their first bytes. `None` for other bytes.
    /// Content longer than `max_bytes` is an error. With 1 thread, no other is started.
    ///
    /// # Errors
    /// A lack of memory for the decoder.
    pub fn open(bytes: SharedBytes, max_bytes: Option<u64>, threads: usize) -> Result<Option<Self>> {
        let stored = (*bytes).as_ref();
        let len = stored.len();
        let head = &stored[..len.min(Compression::HEAD_LEN)];
        let Some(compression) = Compression::recognise(head) else { return Ok(None) };
        let input = RawInput::new(Raw::Bytes { bytes, at: 0 }, Arc::new(AtomicU64::new(0)));
        let threads = if len < LEAST_FOR_THREAD { 1 } else { threads };
        let mut stage = compression.decoder(input, threads)?;
        if threads > 1 && compression != Compression::Bgzf {
            stage = ahead(stage);
        }
        if let Some(limit) = max_bytes {
            stage = Box::new(Limited::new(stage, limit));
        }
        Ok(Some(Self { stage }))
    }

    /// Whether bytes that begin like these are compressed.
    pub fn is_compressed(head: &[u8]) -> bool {
        Compression::recognise(&head[..head.len().min(Compression::HEAD_LEN)]).is_some()
    }

    /// Reads some bytes; 0 means the end, or that `into` is empty.
    ///
    /// # Errors
    /// Damaged or truncated compressed bytes, and the limit `max_bytes`.
    pub fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        self.stage.read(into)
    }
}

impl std::fmt::Debug for Decompressed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decompressed").finish_non_exhaustive()
    }
}
