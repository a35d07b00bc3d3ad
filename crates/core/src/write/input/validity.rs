//! Copies which values of a host are missing.

use std::ops::Range;

use entasis_format::{Physical, Result};
use entasis_kernels::{Word, bits, sentinel};

use super::chunk_slices::{ChunkSlice, byte_offset, chunk_slices};
use super::{Scratch, too_short};
use crate::frame::{Array, Chunk, HostValidity, HostValues};

impl Scratch {
    /// Copies the validity of the `n` values in `range`. Load the values before.
    pub(super) fn load_validity(
        &mut self,
        array: &Array,
        physical: Physical,
        range: Range<u64>,
        n: usize,
    ) -> Result<()> {
        self.has_missing = false;
        let all_valid = |chunk: &Chunk| matches!(chunk.validity, HostValidity::AllValid);
        if chunk_slices(array, range.clone()).all(|slice| all_valid(slice.chunk)) {
            return Ok(());
        }
        let is_marked =
            |chunk: &Chunk| matches!(chunk.validity, HostValidity::Sentinel(_) | HostValidity::AllValid);
        let by_sentinel = chunk_slices(array, range.clone()).all(|slice| is_marked(slice.chunk));
        let mut any_missing = false;
        self.validity.clear();
        self.validity.resize(n.div_ceil(8), 0);
        for ChunkSlice { chunk, inside, at } in chunk_slices(array, range) {
            let len = inside.len();
            let done = match &chunk.validity {
                HostValidity::AllValid => bits::set_bits(&mut self.validity, at, len, true),
                HostValidity::Bits { memory, first_bit } => {
                    let first = first_bit + inside.start;
                    self.spare.resize((first + len).div_ceil(8) - first / 8, 0);
                    memory.copy_to(first / 8, &mut self.spare)
                        && bits::copy_bits(&self.spare, first % 8, &mut self.validity, at, len)
                }
                HostValidity::Mask { memory, stride } => {
                    self.spare.resize(len, 0);
                    let from = byte_offset(inside.start, chunk.n, *stride).ok_or_else(too_short)?;
                    let copied = memory.copy_strided::<u8>(from, *stride, &mut self.spare);
                    self.spare.iter_mut().for_each(|m| *m = u8::from(*m == 0));
                    copied && or_bytes(&self.spare, &mut self.validity, at)
                }
                HostValidity::Owned(mask) => {
                    self.spare.clear();
                    let mask = mask.get(inside).ok_or_else(too_short)?;
                    self.spare.extend(mask.iter().map(|&missing| u8::from(missing == 0)));
                    or_bytes(&self.spare, &mut self.validity, at)
                }
                HostValidity::Sentinel(_) if matches!(chunk.values, HostValues::Int32 { .. }) => {
                    any_missing |= self.ints.any_missing;
                    or_bytes(&self.ints.valid[at..at + len], &mut self.validity, at)
                }
                HostValidity::Sentinel(sentinel) => {
                    let words: &[u8] = match self.copied_at {
                        Some(at) => bytemuck::cast_slice(&self.row_major.words()[at..]),
                        None => bytemuck::cast_slice(&self.words),
                    };
                    let width = physical.width().ok_or_else(too_short)?;
                    self.spare.resize(len, 0);
                    let stored = &words[at * width..(at + len) * width];
                    let missing = match width {
                        1 => sentinel::compare::<u8>(stored, *sentinel as u8, &mut self.spare),
                        2 => compare::<u16>(stored, *sentinel as u16, &mut self.spare),
                        4 => compare::<u32>(stored, *sentinel as u32, &mut self.spare),
                        8 => compare::<u64>(stored, *sentinel, &mut self.spare),
                        _ => None,
                    };
                    any_missing |= missing.ok_or_else(too_short)?;
                    or_bytes(&self.spare, &mut self.validity, at)
                }
            };
            if !done {
                return Err(too_short());
            }
        }
        self.has_missing = any_missing || !by_sentinel && bits::count_ones(&self.validity, 0, n) < n;
        Ok(())
    }
}

/// The validity of some strings. It is copied before their lengths are used.
pub(crate) struct ValidBits(Option<Vec<u8>>);

impl ValidBits {
    pub(crate) fn copy(chunk: &Chunk, inside: Range<usize>, spare: &mut Vec<u8>) -> Result<Self> {
        let len = inside.len();
        let copied = match &chunk.validity {
            HostValidity::AllValid => return Ok(Self(None)),
            HostValidity::Bits { memory, first_bit } => {
                let first = first_bit + inside.start;
                let mut bytes = vec![0; (first + len).div_ceil(8) - first / 8];
                let mut aligned = vec![0; len.div_ceil(8)];
                let copied = memory.copy_to(first / 8, &mut bytes)
                    && bits::copy_bits(&bytes, first % 8, &mut aligned, 0, len);
                copied.then_some(aligned)
            }
            HostValidity::Mask { memory, stride } => {
                spare.resize(len, 0);
                let from = byte_offset(inside.start, chunk.n, *stride).ok_or_else(too_short)?;
                let copied = memory.copy_strided::<u8>(from, *stride, spare);
                spare.iter_mut().for_each(|m| *m = u8::from(*m == 0));
                let mut packed = Vec::new();
                bits::pack_bytes(spare, &mut packed);
                copied.then_some(packed)
            }
            HostValidity::Owned(mask) => {
                spare.clear();
                spare.extend(
                    mask.get(inside).ok_or_else(too_short)?.iter().map(|&missing| u8::from(missing == 0)),
                );
                let mut packed = Vec::new();
                bits::pack_bytes(spare, &mut packed);
                Some(packed)
            }
            HostValidity::Sentinel(_) => None,
        };
        copied.map(|bits| Self(Some(bits))).ok_or_else(too_short)
    }

    /// Whether all missing strings have length 0.
    pub(super) fn missing_are_empty(&self, offsets: &[u32]) -> bool {
        let Some(bits) = &self.0 else { return true };
        let n = offsets.len().saturating_sub(1);
        let (starts, ends) = (offsets[..n].chunks(8), offsets[offsets.len() - n..].chunks(8));
        // Eight at a time without a branch, because missing values are hard to predict.
        bits.len() >= n.div_ceil(8)
            && starts.zip(ends).zip(bits.iter()).all(|((starts, ends), valid)| {
                let pairs = starts.iter().zip(ends).enumerate();
                pairs.fold(0, |there, (i, (start, end))| there | u8::from(start != end) << i) & !valid == 0
            })
    }

    pub(crate) fn is_valid(&self, i: usize) -> bool {
        self.0.as_ref().is_none_or(|bits| bits[i / 8] >> (i % 8) & 1 == 1)
    }
}

/// Sets a byte to 1 where a word differs from the sentinel. Returns whether any word equals it.
fn compare<T: Word>(stored: &[u8], sentinel: T, out: &mut [u8]) -> Option<bool> {
    sentinel::compare(bytemuck::cast_slice::<u8, T>(stored), sentinel, out)
}

/// Packs 0/1 bytes into the bits from `first` on.
fn or_bytes(bytes: &[u8], out: &mut [u8], first: usize) -> bool {
    let mut packed = Vec::with_capacity(bytes.len() / 8 + 1);
    bits::pack_bytes(bytes, &mut packed);
    bits::copy_bits(&packed, 0, out, first, bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_strings_with_bytes_are_found() {
        for n in [0usize, 1, 7, 8, 9, 64, 71] {
            let empty: Vec<u32> = (0..=n as u32).map(|i| i / 2).collect();
            // Strings at odd indices have bytes; strings at even indices are empty.
            for missing in 0..n {
                let mut bits = vec![u8::MAX; n.div_ceil(8)];
                bits[missing / 8] &= !(1 << (missing % 8));
                assert_eq!(
                    ValidBits(Some(bits)).missing_are_empty(&empty),
                    missing % 2 == 0,
                    "{missing} of {n}"
                );
            }
            assert!(ValidBits(Some(vec![0; n.div_ceil(8)])).missing_are_empty(&vec![3; n + 1]));
            assert!(ValidBits(None).missing_are_empty(&empty));
        }
        assert!(!ValidBits(Some(vec![u8::MAX])).missing_are_empty(&[0; 10]));
    }
}
