//! Reads booleans, integers and codes of categoricals as signed integers of 32 bits, which are R's
//! only integers.

use std::ops::Range;

use entasis_format::{Error, Physical, Result};
use entasis_kernels::{VECTOR, Word};

use super::codes::check_codes;
use super::pages::OpenPage;
use super::request::{MissingTo, Source, unaligned};

/// Whether such a column can be read as integers of 32 bits after `plus` is added. The reader
/// checks each wider integer.
pub(crate) fn fits(physical: Physical, n_categories: Option<u64>, plus: i32) -> bool {
    match (physical, n_categories) {
        (Physical::Null, _) => true,
        (_, Some(n)) => physical.is_integer() && plus >= 0 && n <= (i32::MAX - plus) as u64,
        (Physical::I32 | Physical::U32 | Physical::I64 | Physical::U64, None) => plus == 0,
        (Physical::Bool | Physical::I8 | Physical::I16 | Physical::U8 | Physical::U16, None) => {
            plus.unsigned_abs() <= 1 << 24
        }
        _ => false,
    }
}

/// Decodes the wanted values of a page to their positions.
pub(crate) fn put(
    source: &Source,
    opened: &OpenPage<'_>,
    out: &mut [u8],
    plus: i32,
    missing: &MissingTo<'_>,
) -> Result<()> {
    let out: &mut [i32] = bytemuck::try_cast_slice_mut(out).map_err(unaligned)?;
    let out = &mut out[opened.at..opened.at + opened.range.len()];
    match (source.of.physical, source.n_categories) {
        (Physical::Bool, _) => {
            let decode =
                |part: Range<usize>, bytes: &mut [u8]| opened.decoder.decode_bools(opened.page, part, bytes);
            by_vectors(opened, out, decode, |byte| i32::from(byte).wrapping_add(plus))?;
        }
        (Physical::I32, None) if plus == 0 => {
            opened.decoder.decode(
                opened.page,
                opened.range.clone(),
                bytemuck::cast_slice_mut::<i32, u32>(out),
            )?;
        }
        (Physical::I8, _) => {
            words::<u8>(source, opened, out, |word| i32::from(word as i8).wrapping_add(plus))?
        }
        (Physical::I16, _) => {
            words::<u16>(source, opened, out, |word| i32::from(word as i16).wrapping_add(plus))?
        }
        (Physical::U8, _) => words::<u8>(source, opened, out, |word| i32::from(word).wrapping_add(plus))?,
        (Physical::U16, _) => words::<u16>(source, opened, out, |word| i32::from(word).wrapping_add(plus))?,
        (Physical::I64, None) => {
            narrow(opened, out, |word: u64| i32::try_from(word as i64).is_ok_and(|word| word > i32::MIN))?;
        }
        (Physical::U64, None) => narrow(opened, out, |word: u64| i32::try_from(word).is_ok())?,
        (Physical::U32, None) => narrow(opened, out, |word: u32| i32::try_from(word).is_ok())?,
        (Physical::I32 | Physical::U32, _) => {
            words::<u32>(source, opened, out, |word| (word as i32).wrapping_add(plus))?;
        }
        (Physical::I64 | Physical::U64, _) => {
            words::<u64>(source, opened, out, |word| (word as i32).wrapping_add(plus))?;
        }
        _ => return Err(Error::argument("values are not integers of 32 bits")),
    }
    if let MissingTo::Sentinel(sentinel) = missing {
        opened.page.validity.write_sentinel(opened.range.clone(), *sentinel as i32, out);
    }
    Ok(())
}

fn words<T: Word>(
    source: &Source,
    opened: &OpenPage<'_>,
    out: &mut [i32],
    extend: impl Fn(T) -> i32,
) -> Result<()> {
    let decode = |part: Range<usize>, words: &mut [T]| {
        opened.decoder.decode(opened.page, part.clone(), words)?;
        match source.n_categories {
            Some(n) => check_codes(opened.page.validity, part, n, words),
            None => Ok(()),
        }
    };
    by_vectors(opened, out, decode, extend)
}

/// Decodes wider integers. Each present value must fit into 32 bits and differ from `i32::MIN`,
/// which hosts use as the sentinel.
fn narrow<T: Word>(opened: &OpenPage<'_>, out: &mut [i32], fits: impl Fn(T) -> bool) -> Result<()> {
    let decode = |part: Range<usize>, words: &mut [T]| {
        opened.decoder.decode(opened.page, part.clone(), words)?;
        // No early exit, so that the loop is vectorised.
        if words.iter().fold(true, |all, word| all & fits(*word)) {
            return Ok(());
        }
        let validity = opened.page.validity;
        let is_beyond = |(i, word): (usize, &T)| !fits(*word) && validity.is_valid(i);
        if part.zip(&*words).any(is_beyond) {
            return Err(Error::unsupported("an integer is beyond the range of 32 bits"));
        }
        Ok(())
    };
    by_vectors(opened, out, decode, |word| word.to_u64() as i32)
}

/// Decodes one vector at a time into the L1 cache and converts it from there.
fn by_vectors<T: Word>(
    opened: &OpenPage<'_>,
    mut out: &mut [i32],
    decode: impl Fn(Range<usize>, &mut [T]) -> Result<()>,
    extend: impl Fn(T) -> i32,
) -> Result<()> {
    let mut words = [T::from_u64(0); VECTOR];
    let mut start = opened.range.start;
    while start < opened.range.end {
        let end = ((start / VECTOR + 1) * VECTOR).min(opened.range.end);
        let words = &mut words[..end - start];
        decode(start..end, words)?;
        let (head, tail) = out.split_at_mut(words.len());
        head.iter_mut().zip(&*words).for_each(|(out, word)| *out = extend(*word));
        (out, start) = (tail, end);
    }
    Ok(())
}
