//! The inner file of a sealed file, as a source.

use std::cell::RefCell;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use entasis_format::{Error, Limits, Result, fallible};
use entasis_io::{Announced, Source};

use crate::chunk::{self, CHUNK_LEN, DATA_LEN, START, SealedChunk};
use crate::secret::Secret;
use crate::slot;
use crate::suite::{Cipher, SALT_LEN};
use crate::unlock::{Unlocked, check_pages};

/// Chunks that are read at once from a file.
const TOGETHER: u64 = 64;

/// The use of the memory, in messages.
const CHUNKS: &str = "encrypted chunks";

thread_local! {
    /// Memory for stored bytes, kept between reads.
    static STORED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The bytes of the inner file of a sealed file. Each read decrypts the chunks that it touches;
/// no byte is given out before the tag of its chunk was checked.
pub struct SealedSource {
    stored: Box<dyn Source>,
    unlocked: Arc<Unlocked>,
    len: u64,
    /// The cipher that was used last: most chunks of a file have the same salt.
    last: Mutex<Option<Known>>,
}

/// A cipher with its salt.
type Known = ([u8; SALT_LEN], Arc<Cipher>);

impl SealedSource {
    /// The inner file of `stored`.
    ///
    /// # Errors
    /// *Io*.
    pub fn new(stored: Box<dyn Source>, unlocked: Arc<Unlocked>) -> Result<Self> {
        let mut source = Self { stored, unlocked, len: 0, last: Mutex::default() };
        source.len = source.inner_len().map_err(|error| Error::io(error, "read"))?;
        Ok(source)
    }

    /// The keys of the file.
    pub fn unlocked(&self) -> &Arc<Unlocked> {
        &self.unlocked
    }

    /// The keys of the file as they are stored now: another process may have changed them.
    ///
    /// # Errors
    /// *Wrong key* if the one that opened the file was removed; otherwise as
    /// [`Unlocked::of_source`].
    pub fn current_keys(&self, limits: &Limits) -> Result<Unlocked> {
        Unlocked::of_source(&*self.stored, Some(&Secret::Key(self.unlocked.key().clone())), limits)
    }

    /// Checks what reading does not: the key pages, and the checksums of all chunks before `end`.
    /// `stop` is asked after each read whether to end early.
    ///
    /// # Errors
    /// *Corrupt*, *io*.
    pub fn verify(&self, end: u64, stop: &dyn Fn() -> bool) -> Result<()> {
        check_pages(&*self.stored)?;
        let (mut number, end) = (0, chunk::chunk_end(end));
        let mut stored = Vec::new();
        while chunk::stored_at(number) < end && !stop() {
            let at = chunk::stored_at(number);
            let n = ((end - at) / CHUNK_LEN as u64).min(TOGETHER);
            stored.resize(n as usize * CHUNK_LEN, 0);
            self.stored.read_exact_at(at, &mut stored).map_err(|error| Error::io(error, "read"))?;
            for bytes in stored.as_chunks::<CHUNK_LEN>().0 {
                if !chunk::is_intact(bytes) {
                    return Err(damaged(number));
                }
                number += 1;
            }
        }
        Ok(())
    }

    /// The length of the inner file.
    fn inner_len(&self) -> io::Result<u64> {
        let stored = self.stored.len();
        let n = stored.saturating_sub(START) / CHUNK_LEN as u64;
        let Some(last) = n.checked_sub(1) else { return Ok(stored.min(START)) };
        let mut bytes = [0; CHUNK_LEN];
        self.stored.read_exact_at(chunk::stored_at(last), &mut bytes)?;
        // The last chunk may be one of a change that goes on.
        let cipher = self.cipher(&bytes)?;
        let used = chunk::open(&mut bytes, last, &cipher).map_or(DATA_LEN, |(_, used)| used.min(DATA_LEN));
        Ok(chunk::inner_at(last) + used as u64)
    }

    fn cipher(&self, chunk: &SealedChunk) -> io::Result<Arc<Cipher>> {
        let salt = chunk::salt(chunk);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((known, cipher)) if known == salt => Ok(Arc::clone(cipher)),
            _ => {
                let cipher = Arc::new(chunk::cipher(&self.unlocked, salt).map_err(io::Error::other)?);
                *last = Some((*salt, Arc::clone(&cipher)));
                Ok(cipher)
            }
        }
    }

    /// Decrypts stored chunks from chunk `number` on, and copies the part of them that `at` and
    /// `out` name.
    fn decrypt(&self, number: u64, stored: &mut [u8], at: u64, out: &mut [u8]) -> io::Result<()> {
        let (mut known, mut skip, mut out) = (None::<Known>, (at - chunk::inner_at(number)) as usize, out);
        for (i, bytes) in stored.as_chunks_mut::<CHUNK_LEN>().0.iter_mut().enumerate() {
            let number = number + i as u64;
            let cipher = match known.take() {
                Some((salt, cipher)) if &salt == chunk::salt(bytes) => cipher,
                _ => self.cipher(bytes)?,
            };
            let salt = *chunk::salt(bytes);
            if chunk::open(bytes, number, &cipher).is_none() {
                self.read_again(number, bytes)?;
            }
            let data = chunk::data(bytes);
            let n = out.len().min(DATA_LEN - skip);
            let (now, rest) = out.split_at_mut(n);
            now.copy_from_slice(&data[skip..skip + n]);
            (known, skip, out) = (Some((salt, cipher)), 0, rest);
        }
        Ok(())
    }

    /// Reads and decrypts a chunk again that did not open. The bytes may have been read while a
    /// change wrote them, and their stored form is lost.
    #[cold]
    fn read_again(&self, number: u64, bytes: &mut SealedChunk) -> io::Result<()> {
        self.stored.read_exact_at(chunk::stored_at(number), bytes)?;
        let (is_intact, cipher) = (chunk::is_intact(bytes), self.cipher(bytes)?);
        if chunk::open(bytes, number, &cipher).is_some() {
            return Ok(());
        }
        if !is_intact {
            return Err(io::Error::other(damaged(number)));
        }
        let error = Error::tampered("an encrypted chunk was changed by someone without the key");
        Err(io::Error::other(error.at(chunk::stored_at(number))))
    }

    /// Reads bytes before the chunks.
    fn read_clear(&self, at: u64, out: &mut [u8]) -> io::Result<()> {
        self.stored.read_exact_at(at, out)?;
        slot::open_all(&self.unlocked, at, out).map_err(io::Error::other)
    }
}

impl Source for SealedSource {
    fn len(&self) -> u64 {
        self.len
    }

    fn measure(&mut self) -> io::Result<u64> {
        self.stored.measure()?;
        self.len = self.inner_len()?;
        Ok(self.len)
    }

    fn changed(&self) -> Option<SystemTime> {
        self.stored.changed()
    }

    fn read_at(&self, at: u64, out: &mut [u8]) -> io::Result<usize> {
        let n = usize::try_from(self.len.saturating_sub(at)).unwrap_or(usize::MAX).min(out.len());
        let out = &mut out[..n];
        self.read_exact_at(at, out)?;
        Ok(n)
    }

    fn read_exact_at(&self, at: u64, out: &mut [u8]) -> io::Result<()> {
        if at.checked_add(out.len() as u64).is_none() {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let (mut at, mut out) = (at, out);
        if at < START && !out.is_empty() {
            let n = ((START - at) as usize).min(out.len());
            let (clear, rest) = out.split_at_mut(n);
            self.read_clear(at, clear)?;
            (at, out) = (START, rest);
        }
        while !out.is_empty() {
            let (number, skip) = chunk::position(at);
            let most = TOGETHER as usize * DATA_LEN - skip;
            let (now, rest) = out.split_at_mut(most.min(out.len()));
            let stored = stored_range(at, now.len());
            // A store may run code of the host, which may read another file on this thread.
            let mut bytes = STORED.take();
            bytes.resize((stored.end - stored.start) as usize, 0);
            self.stored.read_exact_at(stored.start, &mut bytes)?;
            self.decrypt(number, &mut bytes, at, now)?;
            STORED.set(bytes);
            at += now.len() as u64;
            out = rest;
        }
        Ok(())
    }

    fn read_many(&self, parts: &mut [(u64, &mut [u8])]) -> io::Result<()> {
        if !self.stored.is_remote() {
            return parts.iter_mut().try_for_each(|(at, out)| self.read_exact_at(*at, out));
        }
        // One round of requests for all parts.
        let mut stored: Vec<(u64, Vec<u8>)> =
            fallible::with_capacity(parts.len(), CHUNKS).map_err(refused)?;
        for (at, out) in parts.iter() {
            let end = at.checked_add(out.len() as u64).ok_or(ErrorKind::UnexpectedEof)?;
            let range = match () {
                () if *at >= START => stored_range(*at, out.len()),
                () if end > START => *at..stored_range(START, (end - START) as usize).end,
                () => *at..end,
            };
            let bytes = fallible::defaults((range.end - range.start) as usize, CHUNKS).map_err(refused)?;
            stored.push((range.start, bytes));
        }
        let mut wanted: Vec<_> = stored.iter_mut().map(|(at, bytes)| (*at, &mut bytes[..])).collect();
        self.stored.read_many(&mut wanted)?;
        for ((at, out), (_, bytes)) in parts.iter_mut().zip(&mut stored) {
            let n = START.saturating_sub(*at).min(out.len() as u64) as usize;
            let (clear, sealed) = out.split_at_mut(n);
            clear.copy_from_slice(&bytes[..n]);
            slot::open_all(&self.unlocked, *at, clear).map_err(io::Error::other)?;
            if !sealed.is_empty() {
                let at = *at + n as u64;
                self.decrypt(chunk::position(at).0, &mut bytes[n..], at, sealed)?;
            }
        }
        Ok(())
    }

    fn is_remote(&self) -> bool {
        self.stored.is_remote()
    }

    fn is_of_one_thread(&self) -> bool {
        self.stored.is_of_one_thread()
    }

    fn announce(&self, ranges: &[Range<u64>]) -> Option<Announced> {
        let mut stored: Vec<Range<u64>> = Vec::with_capacity(ranges.len());
        for range in ranges.iter().filter(|range| range.start >= START && range.start < range.end) {
            let next = stored_range(range.start, (range.end - range.start) as usize);
            match stored.last_mut() {
                // Neighbours share a chunk.
                Some(last) if next.start < last.end && next.start >= last.start => {
                    last.end = last.end.max(next.end)
                }
                _ => stored.push(next),
            }
        }
        self.stored.announce(&stored)
    }
}

fn refused(error: Error) -> io::Error {
    io::Error::new(ErrorKind::OutOfMemory, error)
}

/// The stored bytes of the chunks with `len` bytes of the inner file, at least 1, from `at` on.
fn stored_range(at: u64, len: usize) -> Range<u64> {
    let (first, _) = chunk::position(at);
    let (last, _) = chunk::position(at.saturating_add((len as u64).saturating_sub(1)));
    chunk::stored_at(first)..chunk::stored_at(last.saturating_add(1))
}

fn damaged(number: u64) -> Error {
    Error::corrupt("the checksum of an encrypted chunk does not match").at(chunk::stored_at(number))
}
