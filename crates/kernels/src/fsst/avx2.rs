//! What was found becomes codes by AVX2: eight at a time, squeezed together by a shuffle that a table has for each way in which one or
//! two bytes are written for each.

use std::arch::x86_64::{
    _mm_loadu_si128, _mm_shuffle_epi8, _mm_storeu_si128, _mm256_castsi256_ps, _mm256_castsi256_si128,
    _mm256_loadu_si256, _mm256_movemask_ps, _mm256_permute4x64_epi64, _mm256_shuffle_epi8, _mm256_slli_epi32,
};

use super::MatchEntry;
use super::match_entry::emit_each;

/// As many are looked at together as fill 16 bytes, if two are written for each.
const FOUND: usize = 8;

/// For each of eight whether two bytes are written, the lowest bit that of the first: which of 16 bytes are, in order.
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

/// The second and third byte of each four, in the lower half of each 16.
const PLACES: [u8; 32] = {
    let mut places = [0; 32];
    let mut i = 0;
    while i < 32 {
        places[i] = if i % 16 < 8 { (i % 16 / 2 * 4 + i % 2 + 1) as u8 } else { 0x80 };
        i += 1;
    }
    places
};

/// See [`emit`](super::emit::emit); `out` has at least twice as many bytes as were `found`.
#[inline]
#[target_feature(enable = "popcnt,avx2")]
pub(super) fn emit(found: &[MatchEntry], out: &mut [u8]) -> usize {
    // SAFETY: there are 32 bytes.
    let places = unsafe { _mm256_loadu_si256(PLACES.as_ptr().cast()) };
    let mut end = 0;
    let (groups, rest) = found.as_chunks::<FOUND>();
    for group in groups {
        // SAFETY: a group has 32 bytes.
        let group = unsafe { _mm256_loadu_si256(group.as_ptr().cast()) };
        let halves = _mm256_shuffle_epi8(group, places);
        let bytes = _mm256_castsi256_si128(_mm256_permute4x64_epi64::<0b10_00>(halves));
        // Whether two bytes are written stands in the highest bit of the lowest byte of four.
        let two = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_slli_epi32::<24>(group))) as u8;
        // SAFETY: an entry has 16 bytes.
        let kept = unsafe { _mm_loadu_si128(KEPT[usize::from(two)].as_ptr().cast()) };
        let squeezed = _mm_shuffle_epi8(bytes, kept);
        let to = &mut out[end..end + 2 * FOUND];
        // SAFETY: there are 16 bytes.
        unsafe { _mm_storeu_si128(to.as_mut_ptr().cast(), squeezed) };
        end += FOUND + two.count_ones() as usize;
    }
    end + emit_each(rest, &mut out[end..])
}
