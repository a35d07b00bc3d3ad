//! A sink with faults.

use std::io;

use entasis_io::Sink;

use super::Faults;
use super::short::Short;

/// A sink that fails, accepts too little or stores wrong bytes.
#[derive(Debug)]
pub struct FaultSink<S> {
    inner: S,
    faults: Faults,
    short: Option<Short>,
    flips: Vec<(u64, u8)>,
}

impl<S: Sink> FaultSink<S> {
    /// Passes everything on unless configured otherwise.
    pub fn new(inner: S) -> FaultSink<S> {
        FaultSink { inner, faults: Faults::none(), short: None, flips: Vec::new() }
    }

    /// Fails according to `faults`; each write and sync counts.
    #[must_use]
    pub fn failing(mut self, faults: Faults) -> Self {
        self.faults = faults;
        self
    }

    /// Accepts 1 to 7 bytes at a time, with occasional interruptions.
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

    /// The inner sink.
    pub fn into_inner(self) -> S {
        self.inner
    }
}

impl<S: Sink> Sink for FaultSink<S> {
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<usize> {
        self.faults.step()?;
        let len = self.short.as_ref().map_or(Ok(bytes.len()), |short| short.take(bytes.len()))?;
        let mut bytes = bytes[..len].to_vec();
        for &(offset, mask) in &self.flips {
            let index = offset.checked_sub(at).and_then(|index| usize::try_from(index).ok());
            if let Some(byte) = index.and_then(|index| bytes.get_mut(index)) {
                *byte ^= mask;
            }
        }
        self.inner.write_at(at, &bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.faults.step()?;
        self.inner.sync()
    }
}
