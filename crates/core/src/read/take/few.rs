//! Values of few rows of a page, decoded one by one.

use std::ops::Range;

use entasis_encodings::Validity;
use entasis_format::{MAX_BLOCK_VALUES, Result};
use entasis_kernels::Word;
use entasis_kernels::sign_extend::Narrow;

use super::Wanted;
use crate::read::codes::check_codes;
use crate::read::fixed::{extend_to, put, put_missing};
use crate::read::pages::OpenPage;
use crate::read::request::{MissingTo, Output, Source, unaligned};

/// Values that are decoded before they are stored.
const STEP: usize = 64;

/// Decodes the wanted values one by one.
pub(super) fn take_few(
    source: &Source,
    opened: &OpenPage<'_>,
    wanted: impl Iterator<Item = Wanted>,
    output: &mut Output<'_>,
    missing: &mut MissingTo<'_>,
) -> Result<()> {
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
            for value in wanted {
                let range = value.in_page(opened);
                put(source, OpenPage { range, at: value.position, ..*opened }, output, missing)?;
            }
            Ok(())
        }
    }
}

fn few_words<T: Word>(
    source: &Source,
    opened: &OpenPage<'_>,
    wanted: impl Iterator<Item = Wanted>,
    out: &mut [u8],
    missing: &mut MissingTo<'_>,
) -> Result<()> {
    let out: &mut [T] = bytemuck::try_cast_slice_mut(out).map_err(unaligned)?;
    few(source, opened, wanted, missing, |positions, words: &[T]| {
        positions.iter().zip(words).for_each(|(&position, &word)| out[position] = word);
        Ok(())
    })
}

/// As [`few_words`], sign-extended to `width` bytes.
fn few_wide<T: Word + Narrow>(
    source: &Source,
    opened: &OpenPage<'_>,
    wanted: impl Iterator<Item = Wanted>,
    out: &mut [u8],
    width: usize,
    missing: &mut MissingTo<'_>,
) -> Result<()> {
    let out: &mut [u64] = bytemuck::try_cast_slice_mut(out).map_err(unaligned)?;
    let n_limbs = width / 8;
    let mut wide = [0u64; STEP * 4];
    few(source, opened, wanted, missing, |positions, words: &[T]| {
        let wide = &mut wide[..positions.len() * n_limbs];
        extend_to(words, width, wide)?;
        for (&position, value) in positions.iter().zip(wide.chunks_exact(n_limbs)) {
            out[position * n_limbs..(position + 1) * n_limbs].copy_from_slice(value);
        }
        Ok(())
    })
}

/// Decodes the wanted words in groups of at most [`STEP`]. Calls `store` with the words of each
/// group and their positions in the request.
fn few<T: Word>(
    source: &Source,
    opened: &OpenPage<'_>,
    mut wanted: impl Iterator<Item = Wanted>,
    missing: &mut MissingTo<'_>,
    mut store: impl FnMut(&[usize], &[T]) -> Result<()>,
) -> Result<()> {
    let (mut indices, mut positions) = ([0u16; STEP], [0usize; STEP]);
    let mut words = [T::from_u64(0); STEP];
    loop {
        let mut n = 0;
        for value in wanted.by_ref().take(STEP) {
            (indices[n], positions[n]) = (page_index(value.in_page(opened).start), value.position);
            n += 1;
        }
        let (indices, positions, words) = (&indices[..n], &positions[..n], &mut words[..n]);
        opened.decoder.pick(opened.page, indices, words)?;
        for ((&index, word), &position) in indices.iter().zip(&mut *words).zip(positions) {
            let in_page = usize::from(index)..usize::from(index) + 1;
            check_word(source, opened.page.validity, in_page, word, position, missing)?;
        }
        store(positions, words)?;
        if n < STEP {
            return Ok(());
        }
    }
}

/// The index of a value in its page. It fits 16 bits, because a page has at most as many values as
/// a block.
fn page_index(index: usize) -> u16 {
    const { assert!(MAX_BLOCK_VALUES - 1 <= u16::MAX as u32) };
    index as u16
}

/// Checks a word if it is a category's code, and reports whether it is missing. `in_page` is its
/// range in the page.
fn check_word<T: Word>(
    source: &Source,
    validity: Validity<'_>,
    in_page: Range<usize>,
    word: &mut T,
    position: usize,
    missing: &mut MissingTo<'_>,
) -> Result<()> {
    let word = std::slice::from_mut(word);
    if let Some(n) = source.n_categories {
        check_codes(validity, in_page.clone(), n, word)?;
    }
    match &*missing {
        MissingTo::Ignore => Ok(()),
        MissingTo::Sentinel(_) if matches!(validity, Validity::AllValid) => Ok(()),
        MissingTo::Sentinel(sentinel) => {
            validity.write_sentinel(in_page, T::from_u64(*sentinel), word);
            Ok(())
        }
        _ => put_missing(validity, in_page, position, missing),
    }
}
