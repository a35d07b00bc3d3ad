//! Sources and sinks with faults.

use std::io;

use entasis_io::{Sink, Source};

use super::Faults;
use super::short::Short;

/// A source or sink that fails, moves too few bytes or moves wrong bytes.
#[derive(Debug)]
pub struct Faulty<T> {
    inner: T,
    faults: Faults,
    short: Option<Short>,
    flips: Vec<(u64, u8)>,
}

impl<T> Faulty<T> {
    /// Passes the length, reads, writes and syncs on unless configured otherwise. The methods
    /// [`Source::measure`], [`Source::changed`] and [`Sink::expect`] keep the traits' defaults, so
    /// they never reach `inner`.
    pub fn new(inner: T) -> Faulty<T> {
        Faulty { inner, faults: Faults::none(), short: None, flips: Vec::new() }
    }

    /// Fails according to `faults`, which count each read, write and sync.
    #[must_use]
    pub fn failing(mut self, faults: Faults) -> Self {
        self.faults = faults;
        self
    }

    /// Moves 1 to 7 bytes at a time, with occasional interruptions.
    #[must_use]
    pub fn short(mut self, seed: u64) -> Self {
        self.short = Some(Short::new(seed));
        self
    }

    /// Flips the bits of `mask` in the byte at `at`.
    #[must_use]
    pub fn flipping(mut self, at: u64, mask: u8) -> Self {
        self.flips.push((at, mask));
        self
    }

    /// The inner source or sink.
    pub fn into_inner(self) -> T {
        self.inner
    }

    /// Counts a call for `len` bytes and returns how many of them it moves.
    fn step(&self, len: usize) -> io::Result<usize> {
        self.faults.step()?;
        self.short.as_ref().map_or(Ok(len), |short| short.take(len))
    }

    /// Damages bytes that start at offset `at`.
    fn flip(&self, at: u64, bytes: &mut [u8]) {
        for &(offset, mask) in &self.flips {
            let index = offset.checked_sub(at).and_then(|index| usize::try_from(index).ok());
            if let Some(byte) = index.and_then(|index| bytes.get_mut(index)) {
                *byte ^= mask;
            }
        }
    }
}

impl<S: Source> Source for Faulty<S> {
    fn len(&self) -> u64 {
        self.inner.len()
    }

    fn read_at(&self, at: u64, out: &mut [u8]) -> io::Result<usize> {
        let len = self.step(out.len())?;
        let read = self.inner.read_at(at, &mut out[..len])?;
        self.flip(at, &mut out[..read]);
        Ok(read)
    }
}

impl<S: Sink> Sink for Faulty<S> {
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<usize> {
        let len = self.step(bytes.len())?;
        let mut bytes = bytes[..len].to_vec();
        self.flip(at, &mut bytes);
        self.inner.write_at(at, &bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.faults.step()?;
        self.inner.sync()
    }
}
