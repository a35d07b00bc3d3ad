//! Values of few rows of a page, decoded one by one.

use entasis_encodings::Validity;
use entasis_format::Result;
use entasis_kernels::Word;
use entasis_kernels::sign_extend::Narrow;

use crate::read::codes::check_codes;
use crate::read::fixed::{extend_to, put, put_missing};
use crate::read::pages::OpenPage;
use crate::read::request::{MissingTo, Output, Source, unaligned};

/// Values that are decoded one by one before they are put in place.
const STEP: usize = 64;

/// Decodes the wanted values, each given by its place in the range and its place in the request.
pub(super) fn take_few(
    source: &Source,
    opened: &OpenPage<'_>,
    wanted: impl Iterator<Item = (usize, usize)>,
    output: &mut Output<'_>,
    missing: &mut MissingTo<'_>,
) -> Result<()> {
    let first = opened.range.start;
    match (&mut *output, source.of.physical.width()) {
        (Output::Words(out), Some(1)) => few_words::<u8>(source, opened, wanted, out, missing),
        (Output::Words(out), Some(2)) => few_words::<u16>(source, opened, wanted, out, missing),
        (Output::Words(out), Some(4)) => few_words::<u32>(source, opened, wanted, out, missing),
        (Output::Words(out), Some(8)) => few_words::<u64>(source, opened, wanted, out, missing),
        (Output::Wide { memory, width }, Some(4)) => {
            few_wide::<u32>(source, opened, wanted, memory, *width, missing)
        }
        (Output::Wide { memory, width }, Some(8)) => {
            few_wide::<u64>(source, opened, wanted, memory, *width, missing)
        }
        _ => {
            for (at, place) in wanted {
                let range = first + at..first + at + 1;
                put(source, OpenPage { range, at: place, ..*opened }, output, missing)?;
            }
            Ok(())
        }
    }
}

fn few_words<T: Word>(
    source: &Source,
    opened: &OpenPage<'_>,
    wanted: impl Iterator<Item = (usize, usize)>,
    out: &mut [u8],
    missing: &mut MissingTo<'_>,
) -> Result<()> {
    let out: &mut [T] = bytemuck::try_cast_slice_mut(out).map_err(unaligned)?;
    few(source, opened, wanted, missing, |places, words: &[T]| {
        places.iter().zip(words).for_each(|(&place, &word)| out[place] = word);
        Ok(())
    })
}

/// As [`few_words`], sign-extended to `width` bytes.
fn few_wide<T: Word + Narrow>(
    source: &Source,
    opened: &OpenPage<'_>,
    wanted: impl Iterator<Item = (usize, usize)>,
    out: &mut [u8],
    width: usize,
    missing: &mut MissingTo<'_>,
) -> Result<()> {
    let out: &mut [u64] = bytemuck::try_cast_slice_mut(out).map_err(unaligned)?;
    let of_value = width / 8;
    let mut wide = [0u64; STEP * 4];
    few(source, opened, wanted, missing, |places, words: &[T]| {
        let wide = &mut wide[..places.len() * of_value];
        extend_to(words, width, wide)?;
        for (&place, value) in places.iter().zip(wide.chunks_exact(of_value)) {
            out[place * of_value..(place + 1) * of_value].copy_from_slice(value);
        }
        Ok(())
    })
}

/// Decodes the wanted words one by one, and calls `store` with the places of some and with them.
fn few<T: Word>(
    source: &Source,
    opened: &OpenPage<'_>,
    mut wanted: impl Iterator<Item = (usize, usize)>,
    missing: &mut MissingTo<'_>,
    mut store: impl FnMut(&[usize], &[T]) -> Result<()>,
) -> Result<()> {
    let (mut at, mut places, mut words) = ([0u16; STEP], [0usize; STEP], [T::from_u64(0); STEP]);
    let validity = opened.page.validity;
    let is_full = matches!(validity, Validity::AllValid);
    loop {
        let mut n = 0;
        for (inside, place) in wanted.by_ref().take(STEP) {
            (at[n], places[n]) = ((opened.range.start + inside) as u16, place);
            n += 1;
        }
        let (at, places, words) = (&at[..n], &places[..n], &mut words[..n]);
        opened.decoder.pick(opened.page, at, words)?;
        for ((&at, word), &place) in at.iter().zip(&mut *words).zip(places) {
            let at = usize::from(at)..usize::from(at) + 1;
            if let Some(n) = source.n_categories {
                check_codes(validity, at.clone(), n, std::slice::from_mut(word))?;
            }
            match &*missing {
                MissingTo::Ignore => {}
                MissingTo::Sentinel(_) if is_full => {}
                MissingTo::Sentinel(sentinel) => {
                    validity.write_sentinel(at, T::from_u64(*sentinel), std::slice::from_mut(word))
                }
                _ => put_missing(validity, at, place, missing)?,
            }
        }
        store(places, words)?;
        if n < STEP {
            return Ok(());
        }
    }
}
