//! Neighbouring values of fixed width: decoded straight into their memory, cut into pieces that threads take.

use std::ops::Range;

use entasis_encodings::{BLOCK, Validity};
use entasis_format::{Error, Result};
use entasis_kernels::{Word, gather};

use super::segment::{Opened, Reader};
use super::{MissingTo, Output, Source};
use crate::control::Control;

/// Bytes of memory that one task fills: a huge page is touched by one thread.
const TASK: usize = 2 << 20;

/// A piece of a request.
pub(crate) struct FixedTask<'a> {
    source: &'a Source,
    values: Range<u64>,
    output: Output<'a>,
    missing: MissingTo<'a>,
}

/// Cuts a request into tasks, at multiples of a block of its own values, so that pieces of bitmaps are whole bytes.
pub(crate) fn plan<'a>(
    source: &'a Source,
    values: Range<u64>,
    output: Output<'a>,
    missing: MissingTo<'a>,
    mut add: impl FnMut(FixedTask<'a>),
) {
    let width = source.physical.width().unwrap_or(1);
    let step = (TASK / (width * BLOCK)).max(1) * BLOCK;
    let (mut output, mut missing) = (output, missing);
    let mut start = values.start;
    while start < values.end {
        let n = step.min((values.end - start) as usize);
        let (now, later) = split_output(output, n, width);
        let (now_missing, later_missing) = split_missing(missing, n);
        (output, missing) = (later, later_missing);
        add(FixedTask { source, values: start..start + n as u64, output: now, missing: now_missing });
        start += n as u64;
    }
}

fn split_output(output: Output<'_>, n: usize, width: usize) -> (Output<'_>, Output<'_>) {
    match output {
        Output::Words(out) => {
            let (a, b) = out.split_at_mut((n * width).min(out.len()));
            (Output::Words(a), Output::Words(b))
        }
        Output::Bools(out) => {
            let (a, b) = out.split_at_mut(n.min(out.len()));
            (Output::Bools(a), Output::Bools(b))
        }
        Output::Bits(out) => {
            let (a, b) = out.split_at_mut(n.div_ceil(8).min(out.len()));
            (Output::Bits(a), Output::Bits(b))
        }
        Output::Text(_) => (Output::Bools(&mut []), Output::Bools(&mut [])),
    }
}

fn split_missing(missing: MissingTo<'_>, n: usize) -> (MissingTo<'_>, MissingTo<'_>) {
    match missing {
        MissingTo::Bits(out) => {
            let (a, b) = out.split_at_mut(n.div_ceil(8).min(out.len()));
            (MissingTo::Bits(a), MissingTo::Bits(b))
        }
        MissingTo::Mask(out) => {
            let (a, b) = out.split_at_mut(n.min(out.len()));
            (MissingTo::Mask(a), MissingTo::Mask(b))
        }
        MissingTo::Mark(mark) => (MissingTo::Mark(mark), MissingTo::Mark(mark)),
        MissingTo::Ignore => (MissingTo::Ignore, MissingTo::Ignore),
    }
}

impl FixedTask<'_> {
    pub(crate) fn run(self, reader: &mut Reader<'_>, control: &Control<'_>) -> Result<()> {
        let Self { source, values, mut output, mut missing } = self;
        let named = |e: Error| if source.name.is_empty() { e } else { e.in_column(&source.name) };
        reader
            .pages(source, values, &mut |opened, _| {
                control.check()?;
                control.advance(opened.range.len() as u64);
                put(source, opened, &mut output, &mut missing)
            })
            .map_err(named)
    }
}

/// Decodes the wanted values of a page to their place.
pub(crate) fn put(
    source: &Source,
    opened: Opened<'_>,
    output: &mut Output<'_>,
    missing: &mut MissingTo<'_>,
) -> Result<()> {
    let n = opened.range.len();
    let (decoder, page, at) = (opened.decoder, opened.page, opened.at);
    match output {
        Output::Words(out) => match source.physical.width() {
            Some(1) => words::<u8>(source, &opened, out, missing)?,
            Some(2) => words::<u16>(source, &opened, out, missing)?,
            Some(4) => words::<u32>(source, &opened, out, missing)?,
            Some(8) => words::<u64>(source, &opened, out, missing)?,
            _ => wide(&opened, out)?,
        },
        Output::Bools(out) => decoder.decode_bools(page, opened.range.clone(), &mut out[at..at + n])?,
        Output::Bits(out) => decoder.decode_bool_bits(page, opened.range.clone(), out, at)?,
        Output::Text(_) => return Err(Error::argument("strings are not of fixed width")),
    }
    put_missing(page.validity, opened.range, at, missing)
}

/// Tells the missing ones of the values in `range`, which stand at `at`; marks were put by the values' own writer.
pub(crate) fn put_missing(
    validity: Validity<'_>,
    range: Range<usize>,
    at: usize,
    missing: &mut MissingTo<'_>,
) -> Result<()> {
    let n = range.len();
    let done = match missing {
        MissingTo::Bits(out) => validity.write_bits(range, out, at),
        MissingTo::Mask(out) => validity.write_mask(range, &mut out[at..at + n]),
        MissingTo::Mark(_) | MissingTo::Ignore => true,
    };
    if done { Ok(()) } else { Err(Error::argument("the memory for missing values is too short")) }
}

fn words<T: Word>(
    source: &Source,
    opened: &Opened<'_>,
    out: &mut [u8],
    missing: &MissingTo<'_>,
) -> Result<()> {
    let unaligned = |_| Error::argument("the memory for words is not aligned");
    let out: &mut [T] = bytemuck::try_cast_slice_mut(out).map_err(unaligned)?;
    let out = &mut out[opened.at..opened.at + opened.range.len()];
    opened.decoder.decode(opened.page, opened.range.clone(), out)?;
    let validity = opened.page.validity;
    if let Some(n) = source.n_categories {
        check_codes(validity, opened.range.clone(), n, out)?;
    }
    if let MissingTo::Mark(mark) = missing {
        validity.mark(opened.range.clone(), T::from_u64(*mark), out);
    }
    Ok(())
}

/// Checks that codes are below the number of categories; those of missing values are made 0.
fn check_codes<T: Word>(validity: Validity<'_>, range: Range<usize>, n: u64, codes: &mut [T]) -> Result<()> {
    let n = usize::try_from(n).unwrap_or(usize::MAX);
    let below = |codes: &[T]| gather::check_codes(codes, n);
    if below(codes) {
        return Ok(());
    }
    validity.mark(range.clone(), T::from_u64(0), codes);
    let no_value = n == 0 && range.clone().all(|i| !validity.is_valid(i));
    if no_value || below(codes) {
        Ok(())
    } else {
        Err(Error::corrupt("a code of a categorical is not among its categories"))
    }
}

fn wide(opened: &Opened<'_>, out: &mut [u8]) -> Result<()> {
    let out = &mut out[16 * opened.at..16 * (opened.at + opened.range.len())];
    match bytemuck::try_cast_slice_mut::<u8, u128>(out) {
        Ok(out) => opened.decoder.decode_wide(opened.page, opened.range.clone(), out),
        // Hosts align complex numbers to 8 bytes.
        Err(_) => {
            let mut values = vec![0u128; opened.range.len()];
            opened.decoder.decode_wide(opened.page, opened.range.clone(), &mut values)?;
            out.copy_from_slice(bytemuck::cast_slice(&values));
            Ok(())
        }
    }
}
