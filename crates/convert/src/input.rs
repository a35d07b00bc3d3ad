//! Bytes from front to back: bytes in memory, or the output of a decoder.

use std::borrow::Cow;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytemuck::allocation::try_zeroed_vec;
use entasis::{Error, Monitor, Result, ask_for_huge_pages, default_threads, prefault};

use crate::r::parallel::{each, run_while};

/// The output of a decompressor.
pub(crate) trait Decoder {
    /// Reads some bytes; 0 means the end.
    fn read(&mut self, into: &mut [u8]) -> Result<usize>;

    /// The file whose bytes are the output, at the same offsets.
    fn file(&mut self) -> Option<&mut File> {
        None
    }

    /// The most bytes that are left, if that is known.
    fn most_left(&self) -> Option<u64> {
        None
    }

    /// Fills the beginning of long memory by several threads, and returns its length; 0 if `read`
    /// has to go on.
    fn read_long(&mut self, _into: &mut [u8]) -> Result<usize> {
        Ok(0)
    }
}

/// The length of the buffer for the output of a decoder, which fits in the L2 cache.
const BUFFER_LEN: usize = 256 << 10;
/// The most bytes that [`Input::fill`] and [`Input::peek`] can be asked for.
const MOST_ASKED: usize = BUFFER_LEN / 4;
/// The most bytes between two looks at the clock.
const POLL_LEN: u64 = 1 << 20;
/// The time between two calls of the monitor.
const INTERVAL: Duration = Duration::from_millis(50);
/// Vectors of this many bytes or more are read from a file by several threads.
const LONG: usize = 8 << 20;
/// The bytes whose pages a thread requests at once: a huge page.
const PAGES: usize = 2 << 20;
/// The bytes that a thread reads and decodes at once, while they are in its cache.
const PIECE: usize = 512 << 10;
/// The most memory reserved for a vector before its bytes have been seen.
const MOST_AHEAD: usize = 8 << 20;

/// Bytes from front to back.
pub(crate) struct Input<'a> {
    /// `None` if the buffer has all bytes.
    decoder: Option<Box<dyn Decoder + 'a>>,
    buffer: Cow<'a, [u8]>,
    at: usize,
    end: usize,
    /// The offset of the buffer's first byte in the content.
    base: u64,
    monitor: &'a dyn Monitor,
    polled_at: u64,
    polled: Instant,
}

impl<'a> Input<'a> {
    /// Bytes in memory.
    pub(crate) fn of_bytes(bytes: &'a [u8], monitor: &'a dyn Monitor) -> Self {
        Self::new(None, Cow::Borrowed(bytes), bytes.len(), monitor)
    }

    /// The output of a decoder.
    pub(crate) fn of_decoder(decoder: Box<dyn Decoder + 'a>, monitor: &'a dyn Monitor) -> Self {
        Self::new(Some(decoder), Cow::Owned(vec![0; BUFFER_LEN]), 0, monitor)
    }

    fn new(
        decoder: Option<Box<dyn Decoder + 'a>>,
        buffer: Cow<'a, [u8]>,
        end: usize,
        monitor: &'a dyn Monitor,
    ) -> Self {
        Self { decoder, buffer, at: 0, end, base: 0, monitor, polled_at: 0, polled: Instant::now() }
    }

    /// The offset in the content of the next byte.
    pub(crate) fn position(&self) -> u64 {
        self.base + self.at as u64
    }

    /// The number of bytes that are left, if known.
    pub(crate) fn left(&self) -> Option<usize> {
        if self.decoder.is_none() { Some(self.end - self.at) } else { None }
    }

    /// At least the next `n` bytes, for `n` up to 64 KiB.
    #[inline]
    pub(crate) fn fill(&mut self, n: usize) -> Result<&[u8]> {
        if self.end - self.at < n {
            self.refill(n)?;
            if self.end - self.at < n {
                return Err(self.truncated());
            }
        }
        Ok(&self.buffer[self.at..self.end])
    }

    /// At least the next `n` bytes, fewer only at the end, for `n` up to 64 KiB.
    pub(crate) fn peek(&mut self, n: usize) -> Result<&[u8]> {
        if self.end - self.at < n {
            self.refill(n)?;
        }
        Ok(&self.buffer[self.at..self.end])
    }

    #[inline(never)]
    fn refill(&mut self, n: usize) -> Result<()> {
        debug_assert!(n <= MOST_ASKED);
        self.poll()?;
        let Some(decoder) = &mut self.decoder else { return Ok(()) };
        let buffer = self.buffer.to_mut();
        buffer.copy_within(self.at..self.end, 0);
        self.base += self.at as u64;
        (self.at, self.end) = (0, self.end - self.at);
        while self.end < n {
            match decoder.read(&mut buffer[self.end..])? {
                0 => break,
                read => self.end += read,
            }
        }
        Ok(())
    }

    /// Goes past `n` bytes that were returned last.
    #[inline]
    pub(crate) fn consume(&mut self, n: usize) {
        self.at += n;
        debug_assert!(self.at <= self.end);
    }

    /// The `n` bytes that were consumed last, since the last other call.
    pub(crate) fn last(&self, n: usize) -> &[u8] {
        &self.buffer[self.at - n..self.at]
    }

    /// The next `N` bytes.
    #[inline]
    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(&self.fill(N)?[..N]);
        self.consume(N);
        Ok(array)
    }

    /// Refuses `n` items of at least `width` bytes each if the rest of the bytes is shorter.
    pub(crate) fn check(&self, n: u64, width: usize) -> Result<usize> {
        let fits = match self.left() {
            Some(left) => n <= (left / width) as u64,
            None => n.checked_mul(width as u64).is_some_and(|len| len <= isize::MAX as u64),
        };
        match usize::try_from(n) {
            Ok(n) if fits => Ok(n),
            _ => Err(self.truncated()),
        }
    }

    /// How many of `n` items memory can be reserved for, when each takes `size` bytes of memory and
    /// `n` was [checked](Self::check).
    pub(crate) fn room(&self, n: usize, size: usize) -> usize {
        if self.decoder.is_none() { n } else { n.min(MOST_AHEAD / size) }
    }

    /// `n` values of `W` bytes each.
    pub(crate) fn vector<T: bytemuck::Pod + Send + Sync, const W: usize>(
        &mut self,
        n: u64,
        decode: impl Fn([u8; W]) -> T + Sync,
    ) -> Result<Vec<T>> {
        let n = self.check(n, W)?;
        if n.saturating_mul(W) >= LONG
            && size_of::<T>() == W
            && let Some(values) = self.read_in_place(n, &decode)?
        {
            return Ok(values);
        }
        if n.saturating_mul(W) >= LONG
            && size_of::<T>() == W
            && let Some(decoder) = &self.decoder
            && decoder.most_left().is_some_and(|most| (n * W) as u64 <= most + (self.end - self.at) as u64)
        {
            return self.read_together(n, &decode);
        }
        let mut values = Vec::new();
        let mut room = self.room(n, size_of::<T>());
        while values.len() < n {
            if values.len() == values.capacity() {
                let more = room.max(values.len()).min(n - values.len());
                reserve(&mut values, more)?;
                room = more;
            }
            let most = (POLL_LEN as usize / W).min(values.capacity() - values.len()).min(n - values.len());
            let bytes = self.fill(W)?;
            let k = (bytes.len() / W).min(most);
            let (words, _) = bytes[..k * W].as_chunks::<W>();
            values.extend(words.iter().map(|&word| decode(word)));
            self.consume(k * W);
            self.poll()?;
        }
        Ok(values)
    }

    /// `n` values of a file, which several threads read into their place. `None` without a file.
    fn read_in_place<T: bytemuck::Pod + Send + Sync, const W: usize>(
        &mut self,
        n: usize,
        decode: &(impl Fn([u8; W]) -> T + Sync),
    ) -> Result<Option<Vec<T>>> {
        let at = self.position();
        let Some(file) = self.decoder.as_mut().and_then(|decoder| decoder.file()) else {
            return Ok(None);
        };
        let refused = |error| Error::io(error, "read");
        let len = (n * W) as u64;
        if file.metadata().map_err(refused)?.len() < at.saturating_add(len) {
            return Err(self.truncated());
        }
        let mut values: Vec<T> = zeroed(n)?;
        let failed: Mutex<Option<io::Error>> = Mutex::new(None);
        let each = PAGES / W;
        let work = |(i, part): (usize, &mut [T])| {
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(part);
            prefault(bytes);
            let mut at = at + (i * each * W) as u64;
            for piece in bytes.chunks_mut(PIECE / W * W) {
                if let Err(error) = read_exact_at(file, piece, at) {
                    *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    return false;
                }
                decode_in_place(piece, decode);
                at += piece.len() as u64;
            }
            true
        };
        let (monitor, polled) = (self.monitor, Cell::new(self.polled));
        let goes_on = || {
            if polled.get().elapsed() < INTERVAL {
                return true;
            }
            polled.set(Instant::now());
            !monitor.interrupted()
        };
        let is_done = run_while(values.chunks_mut(each).enumerate(), default_threads(), work, &goes_on);
        if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(refused(error).at(at));
        }
        if !is_done {
            return Err(Error::interrupted());
        }
        file.seek(SeekFrom::Start(at + len)).map_err(refused)?;
        (self.base, self.at, self.end) = (at + len, 0, 0);
        (self.polled_at, self.polled) = (self.base, polled.get());
        Ok(Some(values))
    }

    /// `n` values of a decoder, which puts most of them into their place itself.
    fn read_together<T: bytemuck::Pod + Send + Sync, const W: usize>(
        &mut self,
        n: usize,
        decode: &(impl Fn([u8; W]) -> T + Sync),
    ) -> Result<Vec<T>> {
        let mut values: Vec<T> = zeroed(n)?;
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut values);
        let begun = self.fill(1)?;
        let mut done = begun.len().min(bytes.len());
        bytes[..done].copy_from_slice(&begun[..done]);
        self.consume(done);
        while done < bytes.len() {
            let Some(decoder) = &mut self.decoder else { return Err(self.truncated()) };
            let mut read = decoder.read_long(&mut bytes[done..])?;
            if read == 0 {
                read = decoder.read(&mut bytes[done..])?;
            }
            if read == 0 {
                return Err(self.truncated());
            }
            // The buffer is empty.
            self.base += read as u64;
            done += read;
            self.poll()?;
        }
        let pattern = std::array::from_fn(|i| i as u8);
        if bytemuck::bytes_of(&decode(pattern)) != pattern {
            each(bytes.as_chunks_mut::<W>().0, |word| decode_in_place(word, decode));
        }
        Ok(values)
    }

    /// Appends the next `n` bytes.
    pub(crate) fn append(&mut self, n: usize, into: &mut Vec<u8>) -> Result<()> {
        let mut left = n;
        while left > 0 {
            let bytes = self.fill(1)?;
            let k = bytes.len().min(left);
            into.try_reserve(k).map_err(|_| Error::out_of_memory(k, "strings"))?;
            into.extend_from_slice(&bytes[..k]);
            self.consume(k);
            left -= k;
        }
        Ok(())
    }

    /// Calls the monitor if some time has passed.
    #[inline]
    pub(crate) fn poll(&mut self) -> Result<()> {
        if self.position() - self.polled_at >= POLL_LEN { self.poll_now() } else { Ok(()) }
    }

    #[inline(never)]
    fn poll_now(&mut self) -> Result<()> {
        self.polled_at = self.position();
        if self.polled.elapsed() < INTERVAL {
            return Ok(());
        }
        self.polled = Instant::now();
        if self.decoder.is_none() {
            self.monitor.progress(self.at as u64, self.end as u64);
        }
        if self.monitor.interrupted() { Err(Error::interrupted()) } else { Ok(()) }
    }

    /// The bytes end too early.
    #[cold]
    pub(crate) fn truncated(&self) -> Error {
        Error::corrupt("the file ends in the middle of a value").at(self.position())
    }

    /// The bytes are not what a writer writes.
    #[cold]
    pub(crate) fn damaged(&self, message: impl Into<Cow<'static, str>>) -> Error {
        Error::corrupt(message).at(self.position())
    }
}

/// Fills `into` with the bytes of a file from an offset on. The position of the file may change.
#[cfg(unix)]
fn read_exact_at(file: &File, into: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, into, at)
}

/// The same for Windows.
#[cfg(windows)]
fn read_exact_at(file: &File, mut into: &mut [u8], mut at: u64) -> io::Result<()> {
    while !into.is_empty() {
        let n = std::os::windows::fs::FileExt::seek_read(file, into, at)?;
        if n == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        into = &mut into[n..];
        at += n as u64;
    }
    Ok(())
}

/// Memory of zeros, on huge pages if it is large.
pub(crate) fn zeroed<T: bytemuck::Pod>(n: usize) -> Result<Vec<T>> {
    let refused = |()| Error::out_of_memory(n.saturating_mul(size_of::<T>()), "the values");
    let mut values: Vec<T> = try_zeroed_vec(n).map_err(refused)?;
    ask_for_huge_pages(bytemuck::cast_slice_mut(&mut values));
    Ok(values)
}

/// Replaces words by the values that they become.
fn decode_in_place<T: bytemuck::Pod, const W: usize>(bytes: &mut [u8], decode: &impl Fn([u8; W]) -> T) {
    for word in bytes.as_chunks_mut::<W>().0 {
        let value = decode(*word);
        word.copy_from_slice(bytemuck::bytes_of(&value));
    }
}

/// Reserves memory for `n` more values.
pub(crate) fn reserve<T>(values: &mut Vec<T>, n: usize) -> Result<()> {
    let refused = |_| Error::out_of_memory(n.saturating_mul(size_of::<T>()), "the values");
    values.try_reserve_exact(n).map_err(refused)
}

#[cfg(test)]
mod tests {
    use entasis::{Kind, Silent};

    use super::*;

    /// Gives one byte, then two, then three, and so on.
    struct Drops(Vec<u8>, usize);

    impl Decoder for Drops {
        fn read(&mut self, into: &mut [u8]) -> Result<usize> {
            self.1 += 1;
            let n = self.1.min(self.0.len()).min(into.len());
            into[..n].copy_from_slice(&self.0[..n]);
            self.0.drain(..n);
            Ok(n)
        }
    }

    #[test]
    fn vectors_cross_the_ends_of_buffers() {
        let bytes: Vec<u8> = (0..100_000u32).flat_map(u32::to_be_bytes).collect();
        let expected: Vec<u32> = (0..100_000).collect();
        let mut input = Input::of_bytes(&bytes, &Silent);
        assert_eq!(input.vector(100_000, u32::from_be_bytes).unwrap(), expected);
        let mut input = Input::of_decoder(Box::new(Drops(bytes.clone(), 0)), &Silent);
        assert_eq!(input.vector(100_000, u32::from_be_bytes).unwrap(), expected);
        assert_eq!(input.position(), 400_000);
        assert_eq!(input.vector(1, u32::from_be_bytes).unwrap_err().kind(), Kind::Corrupt);
    }

    /// A file whose bytes are the content.
    struct Stored(File);

    impl Decoder for Stored {
        fn read(&mut self, into: &mut [u8]) -> Result<usize> {
            io::Read::read(&mut self.0, into).map_err(|error| Error::io(error, "read"))
        }

        fn file(&mut self) -> Option<&mut File> {
            Some(&mut self.0)
        }
    }

    #[test]
    fn long_vectors_of_a_file_are_read_in_place() {
        let n = 3 * LONG / 8 + 5;
        let path = tempfile::NamedTempFile::new().unwrap();
        let words = (0..n as u64).flat_map(u64::to_be_bytes);
        let bytes: Vec<u8> = [7; 3].into_iter().chain(words).chain([8, 9]).collect();
        std::fs::write(path.path(), &bytes).unwrap();
        let open = || Stored(File::open(path.path()).unwrap());
        let mut input = Input::of_decoder(Box::new(open()), &Silent);
        assert_eq!(input.array().unwrap(), [7; 3]);
        let values = input.vector(n as u64, u64::from_be_bytes).unwrap();
        assert!(values.iter().zip(0..).all(|(&value, i)| value == i));
        assert_eq!(input.array().unwrap(), [8, 9]);
        assert_eq!(input.position(), bytes.len() as u64);
        let mut input = Input::of_decoder(Box::new(open()), &Silent);
        assert_eq!(input.vector(n as u64 + 1, u64::from_be_bytes).unwrap_err().kind(), Kind::Corrupt);
    }

    #[test]
    fn lengths_are_checked_before_memory_is_reserved() {
        let mut input = Input::of_bytes(&[0; 7], &Silent);
        assert!(input.vector(u64::MAX, u64::from_be_bytes).is_err());
        assert!(input.vector(1, u64::from_be_bytes).is_err());
        assert_eq!(input.vector(0, u64::from_be_bytes).unwrap(), []);
        let mut input = Input::of_decoder(Box::new(Drops(vec![0; 7], 0)), &Silent);
        assert!(input.vector(u64::MAX, u64::from_be_bytes).is_err());
        assert!(input.vector(1 << 40, u64::from_be_bytes).is_err());
    }
}
