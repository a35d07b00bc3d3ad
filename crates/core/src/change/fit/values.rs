//! The values of a decoded chunk, one by one.

use entasis_format::{Error, Layout, Physical, Result, fallible};

use super::VALUES;
use super::host_type::{HostType, Marker};
use crate::frame::{Chunk, HostValidity, HostValues, OwnedValues};

/// The bytes of value `i` of a decoded chunk.
pub(super) fn bytes(chunk: &Chunk, i: usize) -> Result<&[u8]> {
    let values = match &chunk.values {
        HostValues::Owned(values) => values.string(i).or_else(|| values.words(i..i + 1)),
        _ => None,
    };
    values.ok_or_else(|| Error::corrupt("a column has fewer values than rows"))
}

/// Whether the file records value `i` as missing.
pub(super) fn is_missing(chunk: &Chunk, i: usize) -> bool {
    match (&chunk.values, &chunk.validity) {
        (HostValues::Null, _) => true,
        (_, HostValidity::Owned(mask)) => mask.get(i).is_some_and(|&missing| missing != 0),
        _ => false,
    }
}

/// Whether a word is NaN.
fn is_nan(physical: Physical, word: &[u8]) -> bool {
    match physical {
        Physical::F32 => word.try_into().is_ok_and(|word| f32::from_le_bytes(word).is_nan()),
        Physical::F64 => word.try_into().is_ok_and(|word| f64::from_le_bytes(word).is_nan()),
        _ => false,
    }
}

/// One byte for each value, 1 if the host counts it as missing.
pub(super) fn missing_mask(chunk: &Chunk, of: &HostType<'_>) -> Result<Vec<u8>> {
    let mut mask: Vec<u8> = fallible::defaults(chunk.n, VALUES)?;
    let has_nan = of.marker() == Marker::NaN;
    for (i, missing) in mask.iter_mut().enumerate() {
        *missing = u8::from(is_missing(chunk, i) || (has_nan && is_nan(of.of.physical, bytes(chunk, i)?)));
    }
    Ok(mask)
}

/// Values of a layout, one after the other.
pub(super) struct Builder {
    width: Option<usize>,
    bytes: Vec<u8>,
    offsets: Vec<u64>,
}

impl Builder {
    /// Room for `n` values.
    pub(super) fn new(of: Layout, n: usize) -> Result<Self> {
        let width = if of.physical.is_var() { None } else { Some(of.width().unwrap_or(1)) };
        let mut offsets = Vec::new();
        if width.is_none() {
            offsets = fallible::with_capacity(n.saturating_add(1), VALUES)?;
            fallible::push(&mut offsets, 0, VALUES)?;
        }
        let bytes = fallible::with_capacity(width.map_or(0, |width| n.saturating_mul(width)), VALUES)?;
        Ok(Self { width, bytes, offsets })
    }

    /// Adds a string, or the word with these first bytes.
    pub(super) fn push(&mut self, value: &[u8]) -> Result<()> {
        let value = match self.width {
            Some(width) => value.get(..width).ok_or_else(|| Error::corrupt("a value is too short"))?,
            None => value,
        };
        fallible::extend(&mut self.bytes, value.iter().copied(), VALUES)?;
        self.end()
    }

    /// Adds zeros, or an empty string.
    pub(super) fn push_blank(&mut self) -> Result<()> {
        let len = self.bytes.len().saturating_add(self.width.unwrap_or(0));
        fallible::resize(&mut self.bytes, len, 0, VALUES)?;
        self.end()
    }

    fn end(&mut self) -> Result<()> {
        match self.width {
            Some(_) => Ok(()),
            None => fallible::push(&mut self.offsets, self.bytes.len() as u64, VALUES),
        }
    }

    /// The values as a chunk. `mask` has one byte for each value, 1 for missing.
    pub(super) fn chunk(self, mask: Vec<u8>) -> Chunk {
        let n = mask.len();
        let values = match self.width {
            Some(width) => OwnedValues::fixed(width, self.bytes),
            None => OwnedValues::strings(self.offsets, self.bytes),
        };
        Chunk { n, values: HostValues::Owned(values), validity: validity(mask) }
    }
}

/// The validity of a mask.
pub(super) fn validity(mask: Vec<u8>) -> HostValidity {
    if mask.contains(&1) { HostValidity::Owned(mask.into()) } else { HostValidity::AllValid }
}
