//! Values of rows that lie close together: their range is decoded at once, then compacted.

use entasis_encodings::Validity;
use entasis_format::{Error, Result, fallible};
use entasis_kernels::VECTOR;

use crate::read::fixed::{put, put_missing, width_of};
use crate::read::pages::OpenPage;
use crate::read::request::{MissingTo, Output, Source};

/// The use of memory, in messages.
const VALUES: &str = "the values of a page";

/// The number of these ascending rows before a gap of at least a vector.
pub(super) fn n_close(rows: &[u64]) -> usize {
    let gap = rows.windows(2).position(|pair| pair[1] - pair[0] >= VECTOR as u64);
    gap.map_or(rows.len(), |at| at + 1)
}

/// Memory for decoded values before they are compacted.
#[derive(Default)]
pub(super) struct Scratch {
    values: Vec<u128>,
    mask: Vec<u8>,
}

/// Puts the values of ascending rows at position `at` and after. The range of `opened` goes from
/// the first to the last row.
pub(super) fn take(
    source: &Source,
    opened: OpenPage<'_>,
    (rows, at): (&[u64], usize),
    output: &mut Output<'_>,
    missing: &mut MissingTo<'_>,
    scratch: &mut Scratch,
) -> Result<()> {
    if opened.range.len() == rows.len() {
        return put(source, OpenPage { at, ..opened }, output, missing);
    }
    let width = width_of(source, output);
    let len = opened.range.len() * width;
    scratch.values.clear();
    fallible::resize(&mut scratch.values, len.div_ceil(16), 0, VALUES)?;
    let bytes = &mut bytemuck::cast_slice_mut::<u128, u8>(&mut scratch.values)[..len];
    let mut of_range = match output {
        Output::Words(_) => Output::Words(&mut *bytes),
        Output::Wide { .. } => Output::Wide { memory: &mut *bytes, width },
        Output::Int32 { plus, .. } => Output::Int32 { memory: &mut *bytes, plus: *plus },
        _ => Output::Bools(&mut *bytes),
    };
    let mut sentinel = match missing {
        MissingTo::Sentinel(sentinel) => MissingTo::Sentinel(*sentinel),
        _ => MissingTo::Ignore,
    };
    let (range, validity) = (opened.range.clone(), opened.page.validity);
    put(source, OpenPage { at: 0, ..opened }, &mut of_range, &mut sentinel)?;
    match output {
        Output::Words(out) | Output::Wide { memory: out, .. } | Output::Int32 { memory: out, .. } => {
            compact_wide(bytes, rows, &mut out[at * width..(at + rows.len()) * width], width);
        }
        Output::Bools(out) => compact(bytes, rows, &mut out[at..at + rows.len()]),
        Output::Bits(out) => compact_bits(bytes, rows, out, at),
        Output::Text(_) => return Err(Error::argument("strings are not of fixed width")),
    }
    take_missing(validity, range, (rows, at), missing, scratch)
}

/// Reports which values of ascending rows are missing, as bits or mask.
pub(super) fn take_missing(
    validity: Validity<'_>,
    range: std::ops::Range<usize>,
    (rows, at): (&[u64], usize),
    missing: &mut MissingTo<'_>,
    scratch: &mut Scratch,
) -> Result<()> {
    let is_uniform = matches!(validity, Validity::AllValid | Validity::AllMissing);
    if is_uniform || range.len() == rows.len() {
        return put_missing(validity, range.start..range.start + rows.len(), at, missing);
    }
    let is_bits = match missing {
        MissingTo::Bits(_) | MissingTo::BitsWithNan(_) => true,
        MissingTo::Mask(_) => false,
        MissingTo::Sentinel(_) | MissingTo::Ignore => return Ok(()),
    };
    let mask = &mut scratch.mask;
    mask.clear();
    fallible::resize(mask, range.len(), 0, VALUES)?;
    put_missing(validity, range, 0, &mut MissingTo::Mask(&mut *mask))?;
    match missing {
        MissingTo::Mask(out) => compact(mask, rows, &mut out[at..at + rows.len()]),
        MissingTo::Bits(out) | MissingTo::BitsWithNan(out) if is_bits => {
            mask.iter_mut().for_each(|missing| *missing ^= 1);
            compact_bits(mask, rows, out, at);
        }
        _ => {}
    }
    Ok(())
}

fn compact_wide(bytes: &[u8], rows: &[u64], out: &mut [u8], width: usize) {
    fn of<const N: usize>(bytes: &[u8], rows: &[u64], out: &mut [u8]) {
        compact(bytes.as_chunks::<N>().0, rows, out.as_chunks_mut::<N>().0);
    }
    match width {
        // A struct has no values of its own.
        0 => {}
        1 => of::<1>(bytes, rows, out),
        2 => of::<2>(bytes, rows, out),
        4 => of::<4>(bytes, rows, out),
        8 => of::<8>(bytes, rows, out),
        16 => of::<16>(bytes, rows, out),
        32 => of::<32>(bytes, rows, out),
        _ => {
            let first = rows.first().map_or(0, |row| *row);
            for (out, row) in out.chunks_exact_mut(width).zip(rows) {
                let at = (row - first) as usize * width;
                out.copy_from_slice(&bytes[at..at + width]);
            }
        }
    }
}

/// Copies the values of rows. The first value belongs to the first row.
fn compact<T: Copy>(values: &[T], rows: &[u64], out: &mut [T]) {
    let first = rows.first().map_or(0, |row| *row);
    for (out, row) in out.iter_mut().zip(rows) {
        *out = values[(row - first) as usize];
    }
}

/// Writes bytes of value 0 or 1 as bits, from bit `at` on.
fn compact_bits(values: &[u8], rows: &[u64], out: &mut [u8], at: usize) {
    let first = rows.first().map_or(0, |row| *row);
    for (at, row) in (at..).zip(rows) {
        let bit = values[(row - first) as usize] & 1;
        let byte = &mut out[at / 8];
        *byte = *byte & !(1 << (at % 8)) | bit << (at % 8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_rows_end_before_gaps() {
        assert_eq!(n_close(&[5]), 1);
        assert_eq!(n_close(&[5, 6, 1029]), 3);
        assert_eq!(n_close(&[5, 6, 1030, 1031]), 2);
    }

    #[test]
    fn values_are_compacted() {
        let bytes: Vec<u8> = (0..240).collect();
        for width in [0, 1, 2, 4, 8, 16, 24, 32] {
            let rows = [100, 101, 104, 106];
            let mut out = vec![0; rows.len() * width];
            compact_wide(&bytes, &rows, &mut out, width);
            let naive: Vec<u8> = rows
                .iter()
                .flat_map(|row| {
                    let at = (row - 100) as usize * width;
                    bytes[at..at + width].to_vec()
                })
                .collect();
            assert_eq!(out, naive);
        }
        let mut out = [0b1000_0001, 0xFF];
        compact_bits(&[1, 0, 0, 1, 0], &[7, 9, 10, 11], &mut out, 6);
        assert_eq!(out, [0b0100_0001, 0b1111_1101]);
    }
}
