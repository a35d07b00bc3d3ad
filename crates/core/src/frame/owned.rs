//! Values in memory of the writer.

use std::ops::Range;
use std::sync::Arc;

/// Values that the writer decoded from replaced blocks.
#[derive(Clone, Debug)]
pub struct OwnedValues(Arc<Memory>);

#[derive(Debug)]
enum Memory {
    Fixed { width: usize, bytes: Vec<u8> },
    Strings { offsets: Vec<u64>, bytes: Vec<u8> },
}

impl OwnedValues {
    /// Values of `width` bytes each.
    pub(crate) fn fixed(width: usize, bytes: Vec<u8>) -> Self {
        Self(Arc::new(Memory::Fixed { width, bytes }))
    }

    /// Strings that begin and end at `offsets`.
    pub(crate) fn strings(offsets: Vec<u64>, bytes: Vec<u8>) -> Self {
        Self(Arc::new(Memory::Strings { offsets, bytes }))
    }

    /// Bytes of each value; none for strings.
    pub(crate) fn width(&self) -> Option<usize> {
        match &*self.0 {
            Memory::Fixed { width, .. } => Some(*width),
            Memory::Strings { .. } => None,
        }
    }

    /// The bytes of values of a fixed width; `None` for too few values, or strings.
    pub(crate) fn words(&self, inside: Range<usize>) -> Option<&[u8]> {
        match &*self.0 {
            Memory::Fixed { width, bytes } => {
                bytes.get(inside.start.checked_mul(*width)?..inside.end.checked_mul(*width)?)
            }
            Memory::Strings { .. } => None,
        }
    }

    /// String `i`.
    pub(crate) fn string(&self, i: usize) -> Option<&[u8]> {
        match &*self.0 {
            Memory::Fixed { .. } => None,
            Memory::Strings { offsets, bytes } => {
                let at = |i: usize| usize::try_from(*offsets.get(i)?).ok();
                bytes.get(at(i)?..at(i + 1)?)
            }
        }
    }

    /// Bytes in memory.
    pub(crate) fn memory_len(&self) -> u64 {
        match &*self.0 {
            Memory::Fixed { bytes, .. } => bytes.len() as u64,
            Memory::Strings { offsets, bytes } => (size_of_val(&**offsets) + bytes.len()) as u64,
        }
    }

    /// Bytes of all strings.
    pub(crate) fn text_len(&self) -> u64 {
        match &*self.0 {
            Memory::Fixed { .. } => 0,
            Memory::Strings { bytes, .. } => bytes.len() as u64,
        }
    }
}
