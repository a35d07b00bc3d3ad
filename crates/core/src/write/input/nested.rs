//! Copies structure values of nested columns: list lengths, type ids, run starts.

use std::ops::Range;

use bytemuck::Pod;
use entasis_format::{Error, Result};
use entasis_platform::HostRead;

use super::too_short;
use crate::frame::{Chunk, HostValidity, HostValues};

/// Replaces type codes that name no child.
pub(crate) const NO_TYPE: u8 = u8::MAX;

/// Whether these are values of a nested column.
pub(super) fn is_nested(values: &HostValues) -> bool {
    matches!(
        values,
        HostValues::Lists { .. }
            | HostValues::ListViews { .. }
            | HostValues::Children(_)
            | HostValues::Union { .. }
            | HostValues::Runs { .. }
            | HostValues::Counted(_)
            | HostValues::Owned(_)
    )
}

/// Copies the structure values `inside` a chunk to `out`, which is aligned for them.
pub(super) fn words(chunk: &Chunk, inside: Range<usize>, out: &mut [u8]) -> Result<()> {
    let all_valid = matches!(chunk.validity, HostValidity::AllValid);
    match &chunk.values {
        HostValues::Lists { offsets, is_large, .. } => {
            let offsets = numbers(offsets, *is_large, inside.start..inside.end + 1)?;
            lengths(offsets.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])), all_valid, out)
        }
        HostValues::ListViews { sizes, is_large, .. } => {
            lengths(numbers(sizes, *is_large, inside)?.into_iter(), all_valid, out)
        }
        HostValues::Children(_) => Ok(()),
        HostValues::Union { codes, types, .. } => {
            if !codes.copy_to(inside.start, out) {
                return Err(too_short());
            }
            out.iter_mut().for_each(|code| *code = types[usize::from(*code)]);
            if all_valid && out.contains(&NO_TYPE) { Err(no_type()) } else { Ok(()) }
        }
        HostValues::Runs { .. } => {
            out.fill(0);
            for run in Runs::of(chunk, inside.clone())? {
                let begin = run?.0;
                if begin >= inside.start {
                    *out.get_mut(begin - inside.start).ok_or_else(too_short)? = 1;
                }
            }
            Ok(())
        }
        HostValues::Owned(values) => {
            if values.copy_words(inside, out) {
                Ok(())
            } else {
                Err(too_short())
            }
        }
        HostValues::Counted(numbers) => {
            let numbers = numbers.get(inside).ok_or_else(too_short)?;
            out.copy_from_slice(bytemuck::cast_slice(numbers));
            Ok(())
        }
        _ => Err(Error::argument("the memory of a column does not have the form of its type")),
    }
}

pub(crate) fn no_type() -> Error {
    Error::argument("a type code of a union names none of its types")
}

/// Copies lengths. Lengths of missing lists are unspecified; others are checked when their block is
/// encoded.
fn lengths(lengths: impl Iterator<Item = i64>, all_valid: bool, out: &mut [u8]) -> Result<()> {
    for (out, length) in out.as_chunks_mut::<4>().0.iter_mut().zip(lengths) {
        let word = match u32::try_from(length) {
            Ok(word) => word,
            Err(_) if all_valid => return Err(bad_length(length)),
            Err(_) => 0,
        };
        *out = word.to_le_bytes();
    }
    Ok(())
}

/// The error for a number that is not the length of a list.
pub(crate) fn bad_length(length: i64) -> Error {
    if length < 0 {
        Error::argument("the offsets of a column of lists do not ascend")
    } else {
        Error::unsupported("a list of 4,294,967,296 values or more").advise("split the list")
    }
}

/// Copies integers of 32 or 64 bits from a host.
pub(crate) fn numbers(memory: &HostRead, is_large: bool, range: Range<usize>) -> Result<Vec<i64>> {
    fn copy<T: Pod>(memory: &HostRead, range: Range<usize>) -> Result<Vec<T>> {
        let mut copy = vec![T::zeroed(); range.len()];
        let at = range.start.checked_mul(size_of::<T>()).ok_or_else(too_short)?;
        let copied = memory.copy_strided::<T>(at, size_of::<T>() as isize, &mut copy);
        if copied { Ok(copy) } else { Err(too_short()) }
    }
    if is_large {
        copy::<i64>(memory, range)
    } else {
        Ok(copy::<i32>(memory, range)?.into_iter().map(i64::from).collect())
    }
}

/// The runs to which consecutive values of a chunk belong: each run's start in the chunk and index
/// in the child.
pub(crate) struct Runs<'a> {
    chunk: &'a Chunk,
    run: usize,
    n_runs: usize,
    /// The start of the next run.
    begin: i64,
    stop: i64,
}

impl<'a> Runs<'a> {
    pub(crate) fn of(chunk: &'a Chunk, inside: Range<usize>) -> Result<Self> {
        let HostValues::Runs { ends, width, child, .. } = &chunk.values else {
            return Err(Error::argument("the memory of a column does not have the form of its type"));
        };
        let n_runs = child.n.min(ends.len() / (*width).max(1));
        let mut runs = Self { chunk, run: 0, n_runs, begin: 0, stop: inside.end as i64 };
        // Find the first run that ends after the first value.
        let (mut low, mut high) = (0, n_runs);
        while low < high {
            let middle = usize::midpoint(low, high);
            if runs.end(middle)? <= inside.start as i64 {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        runs.run = low;
        runs.begin = if low == 0 { 0 } else { runs.end(low - 1)?.max(0) };
        Ok(runs)
    }

    /// The end of a run in the chunk, negative if it ends before the chunk.
    fn end(&self, run: usize) -> Result<i64> {
        let HostValues::Runs { ends, width, first, .. } = &self.chunk.values else { return Err(too_short()) };
        let at = run.checked_mul(*width).ok_or_else(too_short)?;
        let end = match width {
            2 => ends.read::<i16>(at).map(i64::from),
            4 => ends.read::<i32>(at).map(i64::from),
            _ => ends.read::<i64>(at),
        };
        let first = i64::try_from(*first).map_err(|_| too_short())?;
        end.ok_or_else(too_short).map(|end| end.saturating_sub(first))
    }

    fn step(&mut self) -> Result<(usize, usize)> {
        if self.run >= self.n_runs {
            return Err(too_short());
        }
        let (begin, end) = (self.begin, self.end(self.run)?);
        if end <= begin {
            return Err(Error::argument("the ends of runs do not ascend"));
        }
        self.begin = end;
        self.run += 1;
        Ok((begin as usize, self.run - 1))
    }
}

impl Iterator for Runs<'_> {
    type Item = Result<(usize, usize)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.begin >= self.stop {
            return None;
        }
        let step = self.step();
        if step.is_err() {
            self.begin = self.stop;
        }
        Some(step)
    }
}
