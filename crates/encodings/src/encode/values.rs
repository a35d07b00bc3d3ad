//! The input and the output of the encoder.

use entasis_format::{Directory, Statistics};

/// The values of a block. The encoder may overwrite the memory of missing values.
#[derive(Debug, PartialEq, Eq)]
pub enum Values<'a> {
    /// Booleans, one byte each, 0 or 1.
    Bool(&'a mut [u8]),
    /// Words of 8 bits.
    W8(&'a mut [u8]),
    /// Words of 16 bits.
    W16(&'a mut [u16]),
    /// Words of 32 bits.
    W32(&'a mut [u32]),
    /// Words of 64 bits.
    W64(&'a mut [u64]),
    /// Values of 128 bits.
    W128(&'a mut [u128]),
    /// Values of any fixed width, without gaps.
    Fixed {
        /// The number of values.
        n: usize,
        /// The bytes of all values.
        bytes: &'a mut [u8],
    },
    /// Strings: value i is `bytes[offsets[i]..offsets[i + 1]]`. Missing strings are empty.
    Strings {
        /// One more offset than values, ascending from 0.
        offsets: &'a [u32],
        /// The bytes of all values.
        bytes: &'a [u8],
    },
}

impl Values<'_> {
    /// The number of values.
    pub fn n(&self) -> usize {
        match self {
            Self::Bool(v) | Self::W8(v) => v.len(),
            Self::W16(v) => v.len(),
            Self::W32(v) => v.len(),
            Self::W64(v) => v.len(),
            Self::W128(v) => v.len(),
            Self::Fixed { n, .. } => *n,
            Self::Strings { offsets, .. } => offsets.len().saturating_sub(1),
        }
    }

    /// Bytes of the values, without the offsets of strings.
    pub fn bytes_len(&self) -> usize {
        match self {
            Self::Bool(v) | Self::W8(v) | Self::Fixed { bytes: v, .. } => v.len(),
            Self::W16(v) => size_of_val(*v),
            Self::W32(v) => size_of_val(*v),
            Self::W64(v) => size_of_val(*v),
            Self::W128(v) => size_of_val(*v),
            Self::Strings { bytes, .. } => bytes.len(),
        }
    }
}

/// An encoded block. Its stored dictionary and pages were appended to the output.
#[derive(Debug)]
pub struct Encoded {
    /// The metadata that a reader needs to find and decode the pages.
    pub directory: Directory,
    /// Decoded bytes, as in the block record.
    pub decoded_len: u64,
    /// The block's statistics.
    pub statistics: Statistics,
}
