//! Emits codes with AVX2, for eight matches at a time. A shuffle removes the unused second bytes; a
//! table holds the shuffle for each combination.

use std::arch::x86_64::{
    _mm_loadu_si128, _mm_shuffle_epi8, _mm_storeu_si128, _mm256_castsi256_ps, _mm256_castsi256_si128,
    _mm256_loadu_si256, _mm256_movemask_ps, _mm256_permute4x64_epi64, _mm256_shuffle_epi8, _mm256_slli_epi32,
};

use super::MatchEntry;
use super::match_entry::emit_each;

/// The number of matches in a group: at two bytes each they fill 16 bytes.
const FOUND: usize = 8;

/// The shuffle for each combination of one-byte and two-byte matches. Bit i of the index is set if
/// match i takes two bytes.
static KEPT: [[u8; 16]; 256] = {
    let mut all = [[0; 16]; 256];
    let mut two = 0;
    while two < 256 {
        let (mut i, mut n) = (0, 0);
        while i < FOUND {
            all[two][n] = 2 * i as u8;
            n += 1;
            if two >> i & 1 == 1 {
                all[two][n] = 2 * i as u8 + 1;
                n += 1;
            }
            i += 1;
        }
        two += 1;
    }
    all
};

/// Moves the second and third byte of each 32-bit entry to the lower half of its 128-bit lane.
const CODE_BYTES: [u8; 32] = {
    let mut indices = [0; 32];
    let mut i = 0;
    while i < 32 {
        indices[i] = if i % 16 < 8 { (i % 16 / 2 * 4 + i % 2 + 1) as u8 } else { 0x80 };
        i += 1;
    }
    indices
};

/// As [`emit`](super::emit::emit). `out` has at least twice as many bytes as there are matches.
#[inline]
#[target_feature(enable = "popcnt,avx2")]
pub(super) fn emit(found: &[MatchEntry], out: &mut [u8]) -> usize {
    // SAFETY: `CODE_BYTES` has 32 bytes.
    let indices = unsafe { _mm256_loadu_si256(CODE_BYTES.as_ptr().cast()) };
    let mut end = 0;
    let (groups, rest) = found.as_chunks::<FOUND>();
    for group in groups {
        // SAFETY: a group has 32 bytes.
        let group = unsafe { _mm256_loadu_si256(group.as_ptr().cast()) };
        let halves = _mm256_shuffle_epi8(group, indices);
        let bytes = _mm256_castsi256_si128(_mm256_permute4x64_epi64::<0b10_00>(halves));
        // The highest bit of an entry's lowest byte is set if it takes two bytes.
        let two = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_slli_epi32::<24>(group))) as u8;
        // SAFETY: a shuffle has 16 bytes.
        let kept = unsafe { _mm_loadu_si128(KEPT[usize::from(two)].as_ptr().cast()) };
        let squeezed = _mm_shuffle_epi8(bytes, kept);
        let to = &mut out[end..end + 2 * FOUND];
        // SAFETY: `to` has 16 bytes.
        unsafe { _mm_storeu_si128(to.as_mut_ptr().cast(), squeezed) };
        end += FOUND + two.count_ones() as usize;
    }
    end + emit_each(rest, &mut out[end..])
}
