//! Run-length packing (packing 4): the ends of the runs of a page, and their bit-packed values.

use entasis_format::{Error, Result};
use entasis_kernels::{Word, bitpack, column_stats};

use super::unused_bits;
use crate::limits::PAGE;

/// Appends the body of a page.
pub(crate) fn emit<T: Word>(words: &[T], base: T, width: u32, out: &mut Vec<u8>) {
    let mut ends = [0; PAGE];
    let n = column_stats::run_ends(words, &mut ends);
    let ends = &ends[..n];
    out.extend_from_slice(&(n as u16).to_le_bytes());
    out.extend(ends.iter().flat_map(|end| end.to_le_bytes()));
    let values: Vec<T> = ends.iter().map(|&end| words[usize::from(end) - 1]).collect();
    bitpack::pack_sequential(&values, base, width, out);
}

fn end_at(ends: &[u8], run: usize) -> usize {
    ends.get(2 * run..2 * run + 2).map_or(0, |e| usize::from(u16::from_le_bytes([e[0], e[1]])))
}

/// The runs of a page, verified.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Runs<'a> {
    ends: &'a [u8],
    values: &'a [u8],
}

impl<'a> Runs<'a> {
    /// Verifies the body of a page of `n` values.
    ///
    /// # Errors
    /// *Corrupt* when the ends do not ascend to `n`, or the values have another length.
    pub(crate) fn parse(body: &'a [u8], n: usize, width: u32) -> Result<Self> {
        let damaged = || Error::corrupt("the runs of a page are not well-formed");
        let (count, rest) = body.split_at_checked(2).ok_or_else(damaged)?;
        let n_runs = usize::from(u16::from_le_bytes([count[0], count[1]]));
        let (ends, values) = rest.split_at_checked(2 * n_runs).ok_or_else(damaged)?;
        let mut last = 0;
        for run in 0..n_runs {
            let end = end_at(ends, run);
            if end <= last {
                return Err(damaged());
            }
            last = end;
        }
        if last != n || values.len() != bitpack::packed_len(n_runs, width) {
            return Err(damaged());
        }
        unused_bits::check(values, n_runs * width as usize)?;
        Ok(Self { ends, values })
    }

    /// Decodes `out.len()` values, the first one at position `first`.
    pub(crate) fn decode<T: Word>(&self, first: usize, base: T, width: u32, out: &mut [T]) -> Result<()> {
        let n_runs = self.ends.len() / 2;
        let (mut low, mut high) = (0, n_runs);
        while low < high {
            let middle = (low + high) / 2;
            if end_at(self.ends, middle) <= first { low = middle + 1 } else { high = middle }
        }
        let mut run = low;
        let mut done = 0;
        // Unpacks values of a few runs together. Most runs are long, so the fills dominate.
        let mut values = [T::from_u64(0); 64];
        while done < out.len() && run < n_runs {
            let many = (n_runs - run).min(values.len());
            for (i, value) in values[..many].iter_mut().enumerate() {
                *value = value_at(self.values, run + i, base, width);
            }
            for &value in &values[..many] {
                let end = end_at(self.ends, run).saturating_sub(first).min(out.len());
                out[done..end].fill(value);
                done = end;
                run += 1;
                if done == out.len() {
                    break;
                }
            }
        }
        if done == out.len() { Ok(()) } else { Err(Error::corrupt("the runs of a page end early")) }
    }
}

/// Word `i` of a bit sequence, read through a window of 16 bytes.
fn value_at<T: Word>(bits: &[u8], i: usize, base: T, width: u32) -> T {
    let at = i * width as usize;
    let mut window = [0; 16];
    let from = bits.get(at / 8..).unwrap_or(&[]);
    let len = from.len().min(16);
    window[..len].copy_from_slice(&from[..len]);
    let mask = if width == 0 { 0 } else { u64::MAX >> (64 - width) };
    let word = (u128::from_le_bytes(window) >> (at % 8)) as u64 & mask;
    base.wrapping_add(T::from_u64(word))
}
