//! Values in memory of the writer.

use std::ops::Range;
use std::sync::Arc;

/// Values in memory of the writer: decoded from replaced blocks, or one value many times.
#[derive(Clone, Debug)]
pub struct OwnedValues(Arc<Memory>);

#[derive(Debug)]
enum Memory {
    Fixed { width: usize, bytes: Vec<u8> },
    Strings { offsets: Vec<u64>, bytes: Vec<u8> },
    Same { is_text: bool, value: Vec<u8>, n: usize },
}

impl OwnedValues {
    /// Values of `width` bytes each.
    pub fn fixed(width: usize, bytes: Vec<u8>) -> Self {
        Self(Arc::new(Memory::Fixed { width, bytes }))
    }

    /// Strings that begin and end at `offsets`.
    pub fn strings(offsets: Vec<u64>, bytes: Vec<u8>) -> Self {
        Self(Arc::new(Memory::Strings { offsets, bytes }))
    }

    /// The same word, in little-endian order, `n` times.
    pub fn same_word(word: &[u8], n: usize) -> Self {
        Self(Arc::new(Memory::Same { is_text: false, value: word.to_vec(), n }))
    }

    /// The same string `n` times.
    pub fn same_text(text: &str, n: usize) -> Self {
        Self(Arc::new(Memory::Same { is_text: true, value: text.into(), n }))
    }

    /// Bytes of each value; none for strings.
    pub(crate) fn width(&self) -> Option<usize> {
        match &*self.0 {
            Memory::Fixed { width, .. } => Some(*width),
            Memory::Same { is_text: false, value, .. } => Some(value.len()),
            Memory::Strings { .. } | Memory::Same { .. } => None,
        }
    }

    /// The bytes of values of a fixed width; `None` for too few values, or strings. Of a value that
    /// is there many times, only one at a time.
    pub(crate) fn words(&self, inside: Range<usize>) -> Option<&[u8]> {
        match &*self.0 {
            Memory::Fixed { width, bytes } => {
                bytes.get(inside.start.checked_mul(*width)?..inside.end.checked_mul(*width)?)
            }
            Memory::Same { is_text: false, value, n } => {
                (inside.end <= *n && inside.len() == 1).then_some(&value[..])
            }
            Memory::Strings { .. } | Memory::Same { .. } => None,
        }
    }

    /// Copies values of a fixed width. Returns false for too few values, or strings.
    pub(crate) fn copy_words(&self, inside: Range<usize>, out: &mut [u8]) -> bool {
        if let Memory::Same { is_text: false, value, n } = &*self.0 {
            let fits = inside.end <= *n && out.len() == inside.len() * value.len();
            if fits && !value.is_empty() {
                out.chunks_exact_mut(value.len()).for_each(|out| out.copy_from_slice(value));
            }
            return fits;
        }
        let found = self.words(inside).filter(|words| words.len() == out.len());
        found.map(|words| out.copy_from_slice(words)).is_some()
    }

    /// String `i`.
    pub(crate) fn string(&self, i: usize) -> Option<&[u8]> {
        match &*self.0 {
            Memory::Fixed { .. } => None,
            Memory::Same { is_text, value, n } => (*is_text && i < *n).then_some(&value[..]),
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
            Memory::Same { value, .. } => value.len() as u64,
        }
    }

    /// Bytes of all strings.
    pub(crate) fn text_len(&self) -> u64 {
        match &*self.0 {
            Memory::Fixed { .. } | Memory::Same { is_text: false, .. } => 0,
            Memory::Strings { bytes, .. } => bytes.len() as u64,
            Memory::Same { value, n, .. } => (value.len() as u64).saturating_mul(*n as u64),
        }
    }
}
