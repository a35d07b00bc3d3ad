//! The validity section of a page: which values are present (`docs/format/encodings.md`).

use std::ops::Range;

use entasis_format::{Error, Result};
use entasis_kernels::bits;

/// The section stores positions instead of bits if at most one in this many values is missing.
const SPARSE_FROM: usize = 64;

/// The validity of the values of one page.
#[derive(Clone, Copy, Debug)]
pub enum Validity<'a> {
    /// Every value is present.
    AllValid,
    /// Every value is missing.
    AllMissing,
    /// One bit per value, least significant first, 1 = valid.
    Bits(&'a [u8]),
    /// The positions of the missing values, as ascending little-endian `u16`.
    Sparse(&'a [u8]),
}

/// Appends the validity section of `n` values. Their bits begin at bit `first` of `bits`, 1 =
/// valid.
pub(crate) fn emit(bits: &[u8], first: usize, n: usize, out: &mut Vec<u8>) {
    let n_missing = n - bits::count_ones(bits, first, n);
    if n_missing == 0 {
        out.push(0);
    } else if n_missing == n {
        out.push(2);
    } else if n_missing * SPARSE_FROM <= n {
        out.push(3);
        out.extend_from_slice(&narrow(n_missing).to_le_bytes());
        for i in (0..n).filter(|i| bits[(first + i) / 8] >> ((first + i) % 8) & 1 == 0) {
            out.extend_from_slice(&narrow(i).to_le_bytes());
        }
    } else {
        out.push(1);
        let at = out.len();
        out.resize(at + n.div_ceil(8), 0);
        let copied = bits::copy_bits(bits, first, &mut out[at..], 0, n);
        debug_assert!(copied, "the bits of a block cover its values");
    }
}

fn narrow(n: usize) -> u16 {
    u16::try_from(n).expect("a page has at most 8,192 values")
}

impl<'a> Validity<'a> {
    /// Splits the validity section of `n` values off a payload. Returns the section and the rest.
    ///
    /// # Errors
    /// *Corrupt* when the section is not well-formed; *unsupported* for an unknown kind.
    pub(crate) fn parse(payload: &'a [u8], n: usize) -> Result<(Self, &'a [u8])> {
        let damaged = || Error::corrupt("the validity of a page is not well-formed");
        let (&kind, rest) = payload.split_first().ok_or_else(damaged)?;
        match kind {
            0 => Ok((Self::AllValid, rest)),
            2 => Ok((Self::AllMissing, rest)),
            1 => {
                let (bits, body) = rest.split_at_checked(n.div_ceil(8)).ok_or_else(damaged)?;
                if !n.is_multiple_of(8) && bits[n / 8] >> (n % 8) != 0 {
                    return Err(damaged());
                }
                Ok((Self::Bits(bits), body))
            }
            3 => {
                let (count, rest) = rest.split_at_checked(2).ok_or_else(damaged)?;
                let count = usize::from(u16::from_le_bytes([count[0], count[1]]));
                let (positions, body) = rest.split_at_checked(2 * count).ok_or_else(damaged)?;
                let this = Self::Sparse(positions);
                let mut least = 0;
                for at in this.sparse() {
                    if at < least || at >= n {
                        return Err(damaged());
                    }
                    least = at + 1;
                }
                if count == 0 { Err(damaged()) } else { Ok((this, body)) }
            }
            _ => Err(Error::unsupported(format!("the validity of a page has the unknown kind {kind}"))
                .advise("update Entasis, or read other columns")),
        }
    }

    /// The length of the validity section at the start of `bytes`, which may end before the section
    /// does; `None` if they are too short to determine the length, or for an unknown kind.
    pub(crate) fn len(bytes: &[u8], n: usize) -> Option<usize> {
        match *bytes {
            [0 | 2, ..] => Some(1),
            [1, ..] => Some(1 + n.div_ceil(8)),
            [3, low, high, ..] => Some(3 + 2 * usize::from(u16::from_le_bytes([low, high]))),
            _ => None,
        }
    }

    fn sparse(&self) -> impl Iterator<Item = usize> + use<'a> {
        let positions = if let Self::Sparse(positions) = self { *positions } else { &[] };
        positions.chunks_exact(2).map(|p| usize::from(u16::from_le_bytes([p[0], p[1]])))
    }

    fn sparse_in(&self, range: Range<usize>) -> impl Iterator<Item = usize> + use<'a> {
        let (start, end) = (range.start, range.end);
        self.sparse().filter(move |&at| at >= start && at < end).map(move |at| at - start)
    }

    /// Whether value `i` of the page is present.
    pub fn is_valid(&self, i: usize) -> bool {
        match self {
            Self::AllValid => true,
            Self::AllMissing => false,
            Self::Bits(bits) => bits.get(i / 8).is_some_and(|b| b >> (i % 8) & 1 == 1),
            Self::Sparse(_) => !self.sparse().any(|at| at == i),
        }
    }

    /// Writes the validity of `range` as bits, 1 = valid, to `out` from bit `first` on. Returns
    /// false if they do not fit.
    #[must_use]
    pub fn write_bits(&self, range: Range<usize>, out: &mut [u8], first: usize) -> bool {
        match self {
            Self::AllValid => bits::set_bits(out, first, range.len(), true),
            Self::AllMissing => bits::set_bits(out, first, range.len(), false),
            Self::Bits(bits) => bits::copy_bits(bits, range.start, out, first, range.len()),
            Self::Sparse(_) => {
                bits::set_bits(out, first, range.len(), true)
                    && self.sparse_in(range).all(|at| bits::set_bits(out, first + at, 1, false))
            }
        }
    }

    /// Writes one byte per value in `range`: 1 = missing, 0 = valid. Returns false if `out` has
    /// another length.
    #[must_use]
    pub fn write_mask(&self, range: Range<usize>, out: &mut [u8]) -> bool {
        if range.len() != out.len() {
            return false;
        }
        if let [one] = out {
            *one = u8::from(!self.is_valid(range.start));
            return true;
        }
        match self {
            Self::AllValid => out.fill(0),
            Self::AllMissing => out.fill(1),
            Self::Bits(bits) => return bits::expand_bits_inverted(bits, range.start, out),
            Self::Sparse(_) => {
                out.fill(0);
                for at in self.sparse_in(range) {
                    out[at] = 1;
                }
            }
        }
        true
    }

    /// Writes `sentinel` to the slots of `out` whose value in `range` is missing.
    pub fn write_sentinel<T: Copy>(&self, range: Range<usize>, sentinel: T, out: &mut [T]) {
        match self {
            Self::AllValid => {}
            Self::AllMissing => out.fill(sentinel),
            Self::Bits(bits) => {
                // Takes 64 bits at a time, so the cost depends only on the number of missing
                // values.
                let (start, end) = (range.start, range.start + out.len());
                let first = start / 8;
                for (k, chunk) in bits[first..end.div_ceil(8)].chunks(8).enumerate() {
                    let mut word = [0xFF; 8];
                    word[..chunk.len()].copy_from_slice(chunk);
                    let at = 8 * (first + 8 * k);
                    let mut gone = !u64::from_le_bytes(word);
                    gone &= u64::MAX << start.saturating_sub(at);
                    gone &= u64::MAX >> (at + 64).saturating_sub(end);
                    while gone != 0 {
                        out[at + gone.trailing_zeros() as usize - start] = sentinel;
                        gone &= gone - 1;
                    }
                }
            }
            Self::Sparse(_) => {
                for at in self.sparse_in(range) {
                    out[at] = sentinel;
                }
            }
        }
    }
}

/// Replaces each missing value by the previous value, or at the start by the first present value.
/// The replacements widen no range, end no run and need no dictionary entry.
pub(crate) fn fill_missing<T: Copy>(bits: &[u8], values: &mut [T]) {
    let Some(first) = (0..values.len()).find(|i| bits[i / 8] >> (i % 8) & 1 == 1) else { return };
    let mut last = values[first];
    for (chunk, &byte) in values.chunks_mut(8).zip(bits) {
        if byte == 0xFF {
            last = chunk[chunk.len() - 1];
            continue;
        }
        for (i, value) in chunk.iter_mut().enumerate() {
            last = if byte >> i & 1 == 1 { *value } else { last };
            *value = last;
        }
    }
}

/// As [`fill_missing`], for values of `width` bytes.
pub(crate) fn fill_missing_bytes(bits: &[u8], width: usize, values: &mut [u8]) {
    let n = values.len().checked_div(width).unwrap_or(0);
    let is_valid = |i: &usize| bits[i / 8] >> (i % 8) & 1 == 1;
    let Some(mut last) = (0..n).find(is_valid) else { return };
    for i in 0..n {
        if is_valid(&i) {
            last = i;
        } else {
            values.copy_within(last * width..(last + 1) * width, i * width);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(valid: &[bool], kind: u8) {
        let n = valid.len();
        let mut block = vec![0u8; (n + 3).div_ceil(8)];
        for (i, &v) in valid.iter().enumerate() {
            assert!(bits::set_bits(&mut block, i + 3, 1, v));
        }
        let mut payload = Vec::new();
        emit(&block, 3, n, &mut payload);
        assert_eq!(payload[0], kind);
        payload.extend_from_slice(b"body");
        let (validity, body) = Validity::parse(&payload, n).unwrap();
        assert_eq!(body, b"body");
        for range in [0..n, n / 3..n, n / 2..n / 2] {
            let mut mask = vec![7; range.len()];
            assert!(validity.write_mask(range.clone(), &mut mask));
            let mut out = vec![0xAA; n / 8 + 2];
            assert!(validity.write_bits(range.clone(), &mut out, 5));
            let mut marked = vec![1; range.len()];
            validity.write_sentinel(range.clone(), -1, &mut marked);
            for (i, at) in range.enumerate() {
                assert_eq!(validity.is_valid(at), valid[at]);
                assert_eq!(mask[i] == 0, valid[at]);
                assert_eq!(out[(i + 5) / 8] >> ((i + 5) % 8) & 1 == 1, valid[at]);
                assert_eq!(marked[i] == 1, valid[at]);
            }
        }
        for len in 0..payload.len() - 4 {
            assert!(Validity::parse(&payload[..len], n).is_err());
        }
    }

    #[test]
    fn every_kind_comes_back() {
        check(&[true; 100], 0);
        check(&[false; 100], 2);
        check(&(0..1001).map(|i| i % 3 == 0).collect::<Vec<_>>(), 1);
        check(&(0..1001).map(|i| i != 0 && i != 500 && i != 1000).collect::<Vec<_>>(), 3);
    }

    #[test]
    fn missing_values_repeat_the_one_before() {
        let mut bytes = *b"??.aabb..cc";
        fill_missing_bytes(&[0b0001_0110], 2, &mut bytes[..10]);
        assert_eq!(&bytes, b".a.aabab.cc");
        let mut values = [9, 9, 3, 9, 5, 6, 7, 8, 1, 9];
        fill_missing(&[0b1111_0100, 0b01], &mut values);
        assert_eq!(values, [3, 3, 3, 3, 5, 6, 7, 8, 1, 1]);
    }
}
