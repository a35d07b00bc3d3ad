//! Drops decoded values in place. Values are kept in runs: ranges of positions that ascend and do
//! not touch.

use std::ops::Range;

use entasis_format::{Error, Result, fallible};
use entasis_kernels::bits;

/// The use of the memory, in messages.
const BITS: &str = "the bits of the rows";

/// Moves the kept values of `width` bytes to the start of `bytes`.
///
/// # Errors
/// *Argument* if a run is outside of `bytes`.
pub fn keep_values(bytes: &mut [u8], width: usize, runs: &[Range<usize>]) -> Result<()> {
    let mut at = 0;
    for run in runs {
        let (from, to) = (run.start.saturating_mul(width), run.end.saturating_mul(width));
        if at > from || from > to || to > bytes.len() {
            return Err(outside());
        }
        if at < from {
            bytes.copy_within(from..to, at);
        }
        at += to - from;
    }
    Ok(())
}

/// Moves the kept bits to the start of `bits`, least significant first.
///
/// # Errors
/// *Argument* if a run is outside of `bits`; *out of memory*.
pub fn keep_bits(bits: &mut [u8], runs: &[Range<usize>]) -> Result<()> {
    let source = fallible::copied(bits, BITS)?;
    let mut at = 0;
    for run in runs {
        let n = run.end.checked_sub(run.start).ok_or_else(outside)?;
        if !bits::copy_bits(&source, run.start, bits, at, n) {
            return Err(outside());
        }
        at += n;
    }
    Ok(())
}

/// Moves the kept strings to the start of `bytes`, and their offsets to the start of `offsets`.
pub(crate) fn keep_strings<O: Offset>(
    offsets: &mut [O],
    bytes: &mut [u8],
    runs: &[Range<usize>],
) -> Result<()> {
    let (mut n, mut at) = (0, 0);
    for run in runs {
        if n > run.start || run.start > run.end || run.end >= offsets.len() {
            return Err(outside());
        }
        let (from, to) = (offsets[run.start].to_usize(), offsets[run.end].to_usize());
        if at > from || from > to || to > bytes.len() {
            return Err(outside());
        }
        if at < from {
            bytes.copy_within(from..to, at);
        }
        // A kept string never moves to a later place, so no offset is overwritten before it is
        // read.
        for i in run.start + 1..=run.end {
            n += 1;
            offsets[n] = O::from_usize(offsets[i].to_usize() - from + at);
        }
        at += to - from;
    }
    Ok(())
}

/// The offset of a string.
pub(crate) trait Offset: Copy {
    fn to_usize(self) -> usize;
    fn from_usize(offset: usize) -> Self;
}

impl Offset for u32 {
    fn to_usize(self) -> usize {
        self as usize
    }

    fn from_usize(offset: usize) -> Self {
        offset as Self
    }
}

impl Offset for u64 {
    fn to_usize(self) -> usize {
        self as usize
    }

    fn from_usize(offset: usize) -> Self {
        offset as Self
    }
}

fn outside() -> Error {
    Error::argument("the kept rows are not among the values")
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn runs(kept: &[bool]) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for (i, _) in kept.iter().enumerate().filter(|(_, is_kept)| **is_kept) {
            match runs.last_mut() {
                Some(last) if last.end == i => last.end += 1,
                _ => runs.push(i..i + 1),
            }
        }
        runs
    }

    #[test]
    fn runs_outside_are_errors() {
        assert!(keep_values(&mut [1, 2, 3, 4], 2, std::slice::from_ref(&(1..3))).is_err());
        assert!(keep_bits(&mut [1], std::slice::from_ref(&(3..9))).is_err());
        assert!(keep_strings(&mut [0u32, 1, 2], &mut [1, 2], std::slice::from_ref(&(1..3))).is_err());
        assert!(keep_strings(&mut [0u32, 9], &mut [1, 2], std::slice::from_ref(&(0..1))).is_err());
    }

    proptest! {
        #[test]
        fn keeps_what_a_filter_keeps(texts in vec("[a-z]{0,5}", 0..300), share in 0.0f64..1.0, seed: u64) {
            let n = texts.len();
            let mut state = seed;
            let kept: Vec<bool> = (0..n).map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                ((state >> 40) as f64) < share * f64::from(1 << 24)
            }).collect();
            let runs = runs(&kept);
            let left = |i: &usize| kept[*i];
            let n_kept = (0..n).filter(left).count();
            for width in [0, 1, 3, 8, 16] {
                let value = |i: usize| vec![i as u8; width];
                let mut bytes: Vec<u8> = (0..n).flat_map(value).collect();
                keep_values(&mut bytes, width, &runs).unwrap();
                let expected: Vec<u8> = (0..n).filter(left).flat_map(value).collect();
                prop_assert_eq!(&bytes[..n_kept * width], &expected[..]);
            }
            let bit = |i: usize| (i * i + i / 3).is_multiple_of(2);
            let mut bits = vec![0u8; n.div_ceil(8)];
            (0..n).filter(|&i| bit(i)).for_each(|i| bits[i / 8] |= 1 << (i % 8));
            keep_bits(&mut bits, &runs).unwrap();
            for (at, i) in (0..n).filter(left).enumerate() {
                prop_assert_eq!(bits[at / 8] >> (at % 8) & 1 == 1, bit(i));
            }
            let mut ends = vec![0u64];
            ends.extend(texts.iter().scan(0, |end, text| { *end += text.len() as u64; Some(*end) }));
            let mut small: Vec<u32> = ends.iter().map(|&end| end as u32).collect();
            let mut bytes = texts.concat().into_bytes();
            let mut others = bytes.clone();
            keep_strings(&mut ends, &mut bytes, &runs).unwrap();
            keep_strings(&mut small, &mut others, &runs).unwrap();
            let strings = (0..n_kept).map(|i| &bytes[ends[i] as usize..ends[i + 1] as usize]);
            prop_assert!(strings.eq((0..n).filter(left).map(|i| texts[i].as_bytes())));
            let strings = (0..n_kept).map(|i| &others[small[i] as usize..small[i + 1] as usize]);
            prop_assert!(strings.eq((0..n).filter(left).map(|i| texts[i].as_bytes())));
        }
    }
}
