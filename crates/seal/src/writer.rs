//! Encrypts what is written to a sealed file.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use entasis_format::{HEADER_LEN, Result, SLOT_LEN};
use entasis_io::Sink;

use crate::chunk::{self, CHUNK_LEN, DATA_LEN, START, SealedChunk};
use crate::page::PAGES_AT;
use crate::slot;
use crate::suite::{Cipher, SALT_LEN, random};
use crate::unlock::Unlocked;

/// Chunks that are written at once.
const TOGETHER: usize = 128;

thread_local! {
    /// Memory for stored bytes, kept between writes.
    static STORED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Encrypts the bytes of the inner file for one writer, from any number of threads.
///
/// A chunk is written when all of its bytes are known, or at the [`flush`](Self::flush). Its key
/// comes from a salt that is random for each `Sealer`, and its nonce from a counter in memory. So
/// no two chunks have the same key and nonce, in whatever order they are written.
pub struct Sealer {
    unlocked: Arc<Unlocked>,
    cipher: Cipher,
    salt: [u8; SALT_LEN],
    counter: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Chunks with bytes that are not known yet, by number.
    pending: BTreeMap<u64, Pending>,
    /// Chunks that were written: the first of each range, and the end.
    written: BTreeMap<u64, u64>,
}

/// A chunk whose bytes are not all known.
struct Pending {
    bytes: Box<SealedChunk>,
    /// The known bytes: ranges in order, with gaps between them.
    known: Vec<Range<usize>>,
}

impl Sealer {
    /// Begins to write.
    ///
    /// # Errors
    /// *Io* if the system has no random numbers.
    pub fn new(unlocked: Arc<Unlocked>) -> Result<Self> {
        let salt = random()?;
        let cipher = chunk::cipher(&unlocked, &salt)?;
        Ok(Self { unlocked, cipher, salt, counter: AtomicU64::new(0), state: Mutex::default() })
    }

    /// The keys of the file.
    pub fn unlocked(&self) -> &Arc<Unlocked> {
        &self.unlocked
    }

    /// Writes the key pages of a new file.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn write_key_pages(&self, sink: &dyn Sink) -> io::Result<()> {
        let pages = self.unlocked.pages().map_err(io::Error::other)?;
        sink.write_all_at(PAGES_AT[0], &pages)
    }

    /// The stored form of a slot, which is written at `at`.
    pub fn slot(&self, at: u64, slot: &[u8; SLOT_LEN]) -> [u8; SLOT_LEN] {
        slot::sealed(&self.unlocked, at, slot)
    }

    /// Writes bytes of the inner file: its header, or bytes of chunks that were not written yet.
    ///
    /// # Errors
    /// Those of the sink, and one for bytes of a chunk that was written.
    pub fn write_all_at(&self, sink: &dyn Sink, at: u64, bytes: &[u8]) -> io::Result<()> {
        if at < START {
            return self.write_header(sink, at, bytes);
        }
        self.write(sink, at, bytes)
    }

    /// Writes all chunks with known bytes. Their other bytes are zeros.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn flush(&self, sink: &dyn Sink) -> io::Result<()> {
        let pending = std::mem::take(&mut self.lock().pending);
        for (number, of) in pending {
            self.write_pending(sink, number, of)?;
        }
        Ok(())
    }

    /// The length of the stored file whose inner file has a length.
    pub fn stored_len(&self, len: u64) -> u64 {
        chunk::chunk_end(len)
    }

    fn write_header(&self, sink: &dyn Sink, at: u64, bytes: &[u8]) -> io::Result<()> {
        let header: Option<[u8; HEADER_LEN]> = bytes.try_into().ok().filter(|_| at == 0);
        let Some(mut header) = header else {
            return Err(io::Error::other("only the header lies before the chunks of an encrypted file"));
        };
        if let Some(slot) = header[SLOT_LEN..].first_chunk_mut::<SLOT_LEN>() {
            *slot = self.slot(SLOT_LEN as u64, slot);
        }
        sink.write_all_at(0, &header)
    }

    fn write(&self, sink: &dyn Sink, mut at: u64, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let (number, skip) = chunk::position(at);
            let n_whole = if skip == 0 { (bytes.len() / DATA_LEN).min(TOGETHER) } else { 0 };
            let n = if n_whole > 0 { n_whole * DATA_LEN } else { bytes.len().min(DATA_LEN - skip) };
            let (now, rest) = bytes.split_at(n);
            if n_whole > 0 {
                self.write_whole(sink, number, now)?;
            } else {
                self.write_part(sink, number, skip, now)?;
            }
            at += n as u64;
            bytes = rest;
        }
        Ok(())
    }

    /// Writes whole chunks.
    fn write_whole(&self, sink: &dyn Sink, first: u64, bytes: &[u8]) -> io::Result<()> {
        let n = (bytes.len() / DATA_LEN) as u64;
        self.lock().take(first..first + n)?;
        STORED.with_borrow_mut(|stored| {
            stored.resize(n as usize * CHUNK_LEN, 0);
            let chunks = stored.as_chunks_mut::<CHUNK_LEN>().0.iter_mut();
            for ((chunk, data), number) in chunks.zip(bytes.chunks_exact(DATA_LEN)).zip(first..) {
                chunk::data_mut(chunk).copy_from_slice(data);
                self.seal(chunk, number, DATA_LEN)?;
            }
            sink.write_all_at(chunk::stored_at(first), stored)
        })
    }

    /// Adds to a chunk, and writes it if all of its bytes are known.
    fn write_part(&self, sink: &dyn Sink, number: u64, skip: usize, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.lock();
        state.check_new(number)?;
        let pending = state
            .pending
            .entry(number)
            .or_insert_with(|| Pending { bytes: Box::new([0; CHUNK_LEN]), known: Vec::new() });
        let part = skip..skip + bytes.len();
        pending.add(part.clone())?;
        chunk::data_mut(&mut pending.bytes)[part].copy_from_slice(bytes);
        if pending.known.first() != Some(&(0..DATA_LEN)) {
            return Ok(());
        }
        let Some(pending) = state.pending.remove(&number) else { return Ok(()) };
        drop(state);
        self.write_pending(sink, number, pending)
    }

    fn write_pending(&self, sink: &dyn Sink, number: u64, mut pending: Pending) -> io::Result<()> {
        self.lock().take(number..number + 1)?;
        let used = pending.known.last().map_or(0, |last| last.end);
        self.seal(&mut pending.bytes, number, used)?;
        sink.write_all_at(chunk::stored_at(number), &pending.bytes[..])
    }

    fn seal(&self, chunk: &mut SealedChunk, number: u64, used: usize) -> io::Result<()> {
        let counter = self.counter.fetch_add(1, Ordering::Relaxed);
        chunk::seal(chunk, number, used, (&self.salt, counter), &self.cipher).map_err(io::Error::other)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pending {
    /// Adds known bytes.
    fn add(&mut self, mut part: Range<usize>) -> io::Result<()> {
        let at = self.known.partition_point(|known| known.end <= part.start);
        if self.known.get(at).is_some_and(|next| next.start < part.end) {
            return Err(twice());
        }
        if self.known.get(at).is_some_and(|next| next.start == part.end) {
            part.end = self.known.remove(at).end;
        }
        match at.checked_sub(1).and_then(|before| self.known.get_mut(before)) {
            Some(before) if before.end == part.start => before.end = part.end,
            _ => self.known.insert(at, part),
        }
        Ok(())
    }
}

#[cold]
fn twice() -> io::Error {
    io::Error::other("bytes of an encrypted file would be written twice")
}

impl State {
    /// Checks that a chunk was not written.
    fn check_new(&self, number: u64) -> io::Result<()> {
        match self.written.range(..=number).next_back() {
            Some((_, end)) if *end > number => Err(twice()),
            _ => Ok(()),
        }
    }

    /// Marks chunks as written.
    fn take(&mut self, chunks: Range<u64>) -> io::Result<()> {
        let is_pending = self.pending.range(chunks.clone()).next().is_some();
        let next = self.written.range(chunks.start..).next().map(|(start, _)| *start);
        self.check_new(chunks.start)?;
        if is_pending || next.is_some_and(|next| next < chunks.end) {
            return Err(twice());
        }
        let end = match self.written.remove(&chunks.end) {
            Some(end) => end,
            None => chunks.end,
        };
        match self.written.range_mut(..chunks.start).next_back() {
            Some((_, before)) if *before == chunks.start => *before = end,
            _ => {
                self.written.insert(chunks.start, end);
            }
        }
        Ok(())
    }
}

impl std::fmt::Debug for Sealer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sealer(...)")
    }
}
