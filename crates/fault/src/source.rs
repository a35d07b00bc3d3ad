//! A source with faults.

use std::io;

use entasis_io::Source;

use super::Faults;
use super::short::Short;

/// A source that fails, reads too little or reads wrong bytes.
#[derive(Debug)]
pub struct FaultSource<S> {
    inner: S,
    faults: Faults,
    short: Option<Short>,
    flips: Vec<(u64, u8)>,
}

impl<S: Source> FaultSource<S> {
    /// Passes everything on unless configured otherwise.
    pub fn new(inner: S) -> FaultSource<S> {
        FaultSource { inner, faults: Faults::none(), short: None, flips: Vec::new() }
    }

    /// Fails according to `faults`; each read counts.
    #[must_use]
    pub fn failing(mut self, faults: Faults) -> Self {
        self.faults = faults;
        self
    }

    /// Reads 1 to 7 bytes at a time, with occasional interruptions.
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
}

impl<S: Source> Source for FaultSource<S> {
    fn len(&self) -> u64 {
        self.inner.len()
    }

    fn read_at(&self, at: u64, out: &mut [u8]) -> io::Result<usize> {
        self.faults.step()?;
        let len = self.short.as_ref().map_or(Ok(out.len()), |short| short.take(out.len()))?;
        let read = self.inner.read_at(at, &mut out[..len])?;
        for &(offset, mask) in &self.flips {
            let index = offset.checked_sub(at).and_then(|index| usize::try_from(index).ok());
            if let Some(byte) = index.and_then(|index| out[..read].get_mut(index)) {
                *byte ^= mask;
            }
        }
        Ok(read)
    }
}
