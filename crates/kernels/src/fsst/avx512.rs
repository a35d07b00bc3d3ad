//! Kernels for AVX-512 VBMI2, which can compress out bytes. Decoding takes eight loads, one
//! compression and one store per eight codes; a gather instead of the loads is not faster.
//! Emitting takes one compression per 32 matches.

use std::arch::x86_64::{
    __m512i, _mm512_cmpeq_epi8_mask, _mm512_cmpge_epu8_mask, _mm512_loadu_si512, _mm512_mask_blend_epi8,
    _mm512_maskz_compress_epi8, _mm512_movepi8_mask, _mm512_movepi32_mask, _mm512_permutex2var_epi8,
    _mm512_permutexvar_epi8, _mm512_set_epi64, _mm512_set1_epi8, _mm512_slli_epi32, _mm512_storeu_si512,
    _pdep_u64,
};

use super::match_entry::emit_each;
use super::{ESCAPE, MatchEntry, SymbolTable};
use crate::dispatch::{Isa, isa};

/// Codes that are decoded in one step.
const CODES: usize = 64;
/// Bytes that a step may write to: the last eight symbols are stored as 64 bytes, and a literal may
/// follow.
const ROOM: usize = 8 * CODES + 64;

/// Whether this processor has the required features and `ENTASIS_ISA` allows them.
pub(super) fn is_supported() -> bool {
    isa() >= Isa::Avx512 && is_x86_feature_detected!("avx512vbmi2")
}

/// As [`SymbolTable::decode`].
#[target_feature(enable = "popcnt,bmi1,avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
pub(super) fn decode(table: &SymbolTable, stream: &[u8], out: &mut [u8]) -> (usize, usize) {
    // For each length a mask with as many low bits. Codes without a symbol have an empty mask and
    // are never reached.
    let mut by_len = [0u8; 64];
    for (len, mask) in by_len.iter_mut().enumerate().take(9).skip(1) {
        *mask = u8::MAX >> (8 - len);
    }
    // SAFETY: `by_len` has 64 bytes.
    let by_len = unsafe { _mm512_loadu_si512(by_len.as_ptr().cast()) };
    let masks: [__m512i; 4] = std::array::from_fn(|i| {
        // SAFETY: `lens` has four times 64 bytes.
        let lens = unsafe { _mm512_loadu_si512(table.lens.as_ptr().add(64 * i).cast()) };
        _mm512_permutexvar_epi8(lens, by_len)
    });
    let (escape, first_unknown) = (_mm512_set1_epi8(ESCAPE as i8), _mm512_set1_epi8(table.n as i8));
    let (mut at, mut end) = (0, 0);
    // If the last of these codes is an escape, its literal follows.
    while stream.len() - at > CODES && out.len() - end >= ROOM {
        // SAFETY: the loop condition leaves more than 64 bytes in the stream.
        let codes = unsafe { _mm512_loadu_si512(stream.as_ptr().add(at).cast()) };
        let escapes = _mm512_cmpeq_epi8_mask(codes, escape);
        // The number of codes before the first escape; stop if one of them has no symbol.
        let n = escapes.trailing_zeros() as usize;
        let unknown = _mm512_cmpge_epu8_mask(codes, first_unknown);
        if (unknown.trailing_zeros() as usize) < n {
            break;
        }
        // The table of masks has 256 entries: two look-ups by the low seven bits, and the highest
        // bit selects one.
        let low = _mm512_permutex2var_epi8(masks[0], codes, masks[1]);
        let high = _mm512_permutex2var_epi8(masks[2], codes, masks[3]);
        let bytes = _mm512_mask_blend_epi8(_mm512_movepi8_mask(codes), low, high);
        let mut kept = [0u64; CODES / 8];
        // SAFETY: `kept` has eight words, which are 64 bytes.
        unsafe { _mm512_storeu_si512(kept.as_mut_ptr().cast(), bytes) };
        let mut put = |first: usize, kept: u64, end: usize| {
            // SAFETY: `first` is at most 56, and more than 64 bytes follow `at` in the stream.
            let codes = unsafe { stream.as_ptr().add(at + first).cast::<u64>().read_unaligned() };
            let word = |i: u32| table.words[(codes >> (8 * i) & 255) as usize] as i64;
            let words =
                _mm512_set_epi64(word(7), word(6), word(5), word(4), word(3), word(2), word(1), word(0));
            let squeezed = _mm512_maskz_compress_epi8(kept, words);
            // SAFETY: eight codes write 64 bytes and advance `end` by at most 64, so all writes
            // stay within `ROOM`.
            unsafe { _mm512_storeu_si512(out.as_mut_ptr().add(end).cast(), squeezed) };
            end + kept.count_ones() as usize
        };
        let whole = n / 8;
        for (i, &kept) in kept[..whole].iter().enumerate() {
            end = put(8 * i, kept, end);
        }
        if n == CODES {
            at += CODES;
            continue;
        }
        end = put(8 * whole, kept[whole] & ((1 << (8 * (n % 8))) - 1), end);
        out[end] = stream[at + n + 1];
        (at, end) = (at + n + 2, end + 1);
    }
    (at, end)
}

/// The number of matches in a group: at two bytes each they fill 64 bytes.
const FOUND: usize = 32;

/// The second and third byte of each 32-bit entry.
const CODE_BYTES: [u8; 64] = {
    let mut indices = [0; 64];
    let mut i = 0;
    while i < 64 {
        indices[i] = (i / 2 * 4 + i % 2 + 1) as u8;
        i += 1;
    }
    indices
};

/// As [`emit`](super::emit::emit). `out` has at least twice as many bytes as there are matches.
#[target_feature(enable = "popcnt,bmi1,bmi2,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
pub(super) fn emit(found: &[MatchEntry], out: &mut [u8]) -> usize {
    // Every second byte, starting with the first.
    const FIRST: u64 = u64::MAX / 3;

    // SAFETY: `CODE_BYTES` has 64 bytes.
    let indices = unsafe { _mm512_loadu_si512(CODE_BYTES.as_ptr().cast()) };
    let mut end = 0;
    let (groups, rest) = found.as_chunks::<FOUND>();
    for group in groups {
        // SAFETY: a group has twice 64 bytes.
        let [low, high] = [0, FOUND / 2].map(|i| unsafe { _mm512_loadu_si512(group.as_ptr().add(i).cast()) });
        let bytes = _mm512_permutex2var_epi8(low, indices, high);
        // The highest bit of an entry's lowest byte is set if it takes two bytes.
        let [low, high] = [low, high].map(|found| _mm512_movepi32_mask(_mm512_slli_epi32::<24>(found)));
        let two = u32::from(low) | u32::from(high) << 16;
        let kept = FIRST | _pdep_u64(two.into(), !FIRST);
        let squeezed = _mm512_maskz_compress_epi8(kept, bytes);
        let to = &mut out[end..end + 2 * FOUND];
        // SAFETY: `to` has 64 bytes.
        unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), squeezed) };
        end += kept.count_ones() as usize;
    }
    end + emit_each(rest, &mut out[end..])
}
