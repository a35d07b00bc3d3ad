//! One gzip member, whose parts several threads compress.
//!
//! Each part ends at a byte, as after a flush of zlib, so that the parts follow each other. A
//! reader that stops after the first member reads all of it.

use std::sync::atomic::{AtomicBool, Ordering};

use entasis::{Error, Result};
use flate2::{Compress, Compression, Crc, FlushCompress};

use super::Put;
use crate::r::parallel;

/// Bytes of a part. Longer parts compress about 1 % better.
const PART: usize = 512 << 10;
/// Parts of a thread that are compressed together.
const EACH: usize = 4;
/// The level of `saveRDS`.
const LEVEL: u32 = 6;

/// Magic, method, no flags, no time, no level, Unix.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
/// An empty block that is the last one.
const END: [u8; 2] = [3, 0];

/// A member that is being written.
pub(super) struct Gzip {
    threads: usize,
    /// Bytes that wait, of several parts.
    waiting: Vec<u8>,
    crc: Crc,
    is_begun: bool,
}

impl Gzip {
    pub(super) fn new(threads: usize) -> Self {
        Self { threads: threads.max(1), waiting: Vec::new(), crc: Crc::new(), is_begun: false }
    }

    /// Adds bytes.
    pub(super) fn write(&mut self, bytes: &[u8], put: &mut Put<'_>) -> Result<()> {
        let room = PART * EACH * self.threads;
        let mut rest = bytes;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(room - self.waiting.len()));
            self.waiting.try_reserve(now.len()).map_err(|_| Error::out_of_memory(room, "the parts"))?;
            self.waiting.extend_from_slice(now);
            rest = later;
            if self.waiting.len() == room {
                self.flush(put)?;
            }
        }
        Ok(())
    }

    /// Compresses the parts that wait.
    fn flush(&mut self, put: &mut Put<'_>) -> Result<()> {
        if !self.is_begun {
            self.is_begun = true;
            put(&HEADER)?;
        }
        let mut packed: Vec<Option<(Vec<u8>, Crc)>> = Vec::new();
        packed.resize_with(self.waiting.len().div_ceil(PART), || None);
        let has_failed = AtomicBool::new(false);
        let tasks = self.waiting.chunks(PART).zip(&mut packed);
        let work = |(part, packed): (&[u8], &mut Option<(Vec<u8>, Crc)>)| {
            *packed = pack(part);
            if packed.is_none() {
                has_failed.store(true, Ordering::Relaxed);
            }
            true
        };
        parallel::run_while(tasks, self.threads, work, &|| true);
        if has_failed.into_inner() {
            return Err(Error::out_of_memory(PART, "the compressed parts"));
        }
        for (bytes, crc) in packed.into_iter().flatten() {
            self.crc.combine(&crc);
            put(&bytes)?;
        }
        self.waiting.clear();
        Ok(())
    }

    /// Ends the member.
    pub(super) fn end(mut self, put: &mut Put<'_>) -> Result<()> {
        self.flush(put)?;
        put(&END)?;
        put(&self.crc.sum().to_le_bytes())?;
        put(&self.crc.amount().to_le_bytes())
    }
}

/// A part, compressed up to a byte, and its checksum. `None` if memory runs out.
fn pack(part: &[u8]) -> Option<(Vec<u8>, Crc)> {
    let mut crc = Crc::new();
    crc.update(part);
    let mut encoder = Compress::new(Compression::new(LEVEL), false);
    let mut out = Vec::new();
    out.try_reserve(part.len() / 2 + 1024).ok()?;
    loop {
        let done = usize::try_from(encoder.total_in()).ok()?;
        encoder.compress_vec(&part[done..], &mut out, FlushCompress::Sync).ok()?;
        // Room that is left means that the flush is complete.
        if encoder.total_in() == part.len() as u64 && out.len() < out.capacity() {
            return Some((out, crc));
        }
        out.try_reserve(part.len() / 2 + 1024).ok()?;
    }
}
