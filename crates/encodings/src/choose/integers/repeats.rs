//! Repetitions at a distance that short trials of a codec miss.

use entasis_kernels::Word;

use crate::dictionary::MIX;
use crate::limits::PAGE;
use crate::words::sample_ranges;

/// Words of a window.
const WINDOW: usize = 4;
/// Bits of the filter of windows in the first half of a page.
const BITS: usize = 1 << 16;
/// The distance in words between windows of the second half that are looked up.
const STEP: usize = 16;
/// The page repeats if more than one in this many windows repeats.
const SHARE: usize = 2;

/// Whether windows of four words in the second half of a page are also in its first half. Windows
/// of four equal words don't count, because short trials find them.
pub(crate) fn repeats_far_back<T: Word>(words: &[T]) -> bool {
    if words.len() < PAGE {
        return false;
    }
    let page = sample_ranges(words.len(), 1, PAGE).next().map_or(words, |range| &words[range]);
    let (first, second) = page.split_at(PAGE / 2);
    let mut seen = [0u64; BITS / 64];
    for window in first.windows(WINDOW) {
        let bit = FilterBit::of(window);
        seen[bit.word] |= bit.mask;
    }
    let is_repeat = |window: &&[T]| {
        let bit = FilterBit::of(window);
        seen[bit.word] & bit.mask != 0 && window.iter().any(|word| *word != window[0])
    };
    second.windows(WINDOW).step_by(STEP).filter(is_repeat).count() > second.len() / STEP / SHARE
}

/// The bit of the filter for a window.
struct FilterBit {
    /// The index of the filter's word with the bit.
    word: usize,
    mask: u64,
}

impl FilterBit {
    #[inline]
    fn of<T: Word>(window: &[T]) -> Self {
        let mix = |hash: u64, word: &T| (hash.rotate_left(23) ^ word.to_u64()).wrapping_mul(MIX);
        let hash = (window.iter().fold(0, mix) >> 48) as usize;
        Self { word: hash / 64, mask: 1 << (hash % 64) }
    }
}
