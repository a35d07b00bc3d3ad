//! Expands bits to bytes (0 or 1).

use super::{window, within};
#[cfg(target_arch = "x86_64")]
use crate::dispatch::Isa;
use crate::dispatch::isa;

/// Writes bit `first_bit + i` of `bits` to `out[i]` as 0 or 1.
///
/// Returns false, leaving `out` alone, when `bits` ends before bit `first_bit + out.len()`.
#[must_use]
pub fn expand_bits(bits: &[u8], first_bit: usize, out: &mut [u8]) -> bool {
    expand::<false>(bits, first_bit, out)
}

/// As [`expand_bits`], with 1 for bits that are 0: a mask of missing values.
#[must_use]
pub fn expand_bits_inverted(bits: &[u8], first_bit: usize, out: &mut [u8]) -> bool {
    expand::<true>(bits, first_bit, out)
}

fn expand<const INVERT: bool>(bits: &[u8], first_bit: usize, out: &mut [u8]) -> bool {
    if !within(bits.len(), first_bit, out.len()) {
        return false;
    }
    match isa() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `isa()` only returns levels that this CPU has.
        Isa::Avx512 => unsafe { x86::walk_avx512::<INVERT>(bits, first_bit, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Isa::Avx2 => unsafe { x86::walk_avx2::<INVERT>(bits, first_bit, out) },
        _ => walk::<INVERT>(bits, first_bit, out, spread),
    }
    true
}

/// Splits `out` into chunks of 64 and hands each to `put` with its 64 bits.
#[inline(always)]
fn walk<const INVERT: bool>(bits: &[u8], first_bit: usize, out: &mut [u8], put: impl Fn(u64, &mut [u8; 64])) {
    let flip = if INVERT { u64::MAX } else { 0 };
    let mut at = first_bit;
    let (chunks, rest) = out.as_chunks_mut::<64>();
    for chunk in chunks {
        put(window(bits, at) ^ flip, chunk);
        at += 64;
    }
    if !rest.is_empty() {
        let mut last = [0; 64];
        put(window(bits, at) ^ flip, &mut last);
        rest.copy_from_slice(&last[..rest.len()]);
    }
}

/// Eight bits to eight bytes at a time with ordinary arithmetic.
#[inline(always)]
fn spread(word: u64, out: &mut [u8; 64]) {
    let (groups, _) = out.as_chunks_mut::<8>();
    for (byte, out) in word.to_le_bytes().into_iter().zip(groups) {
        // Byte k keeps bit k alone; adding 0x7f carries any bit into the top one.
        let picked = (u64::from(byte) * 0x0101_0101_0101_0101) & 0x8040_2010_0804_0201;
        let ones = (picked + 0x7f7f_7f7f_7f7f_7f7f) >> 7 & 0x0101_0101_0101_0101;
        *out = ones.to_le_bytes();
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use core::arch::x86_64::*;

    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,avx2")]
    pub fn walk_avx512<const INVERT: bool>(bits: &[u8], first_bit: usize, out: &mut [u8]) {
        super::walk::<INVERT>(bits, first_bit, out, |word, out| {
            let bytes = _mm512_maskz_set1_epi8(word, 1);
            // SAFETY: `out` is 64 bytes; the store is unaligned.
            unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), bytes) };
        });
    }

    #[target_feature(enable = "avx2,bmi1,bmi2")]
    pub fn walk_avx2<const INVERT: bool>(bits: &[u8], first_bit: usize, out: &mut [u8]) {
        // Each half of the register copies two of the four bytes eight times over.
        let copy = _mm256_setr_epi64x(0, 0x0101_0101_0101_0101, 0x0202_0202_0202_0202, 0x0303_0303_0303_0303);
        let pick = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64 as i64);
        let one = _mm256_set1_epi8(1);
        super::walk::<INVERT>(bits, first_bit, out, |word, out| {
            for half in 0..2 {
                let four = _mm256_set1_epi32((word >> (32 * half)) as i32);
                let picked = _mm256_and_si256(_mm256_shuffle_epi8(four, copy), pick);
                let bytes = _mm256_and_si256(_mm256_cmpeq_epi8(picked, pick), one);
                // SAFETY: `out` is 64 bytes and the halves are 32 each; the store is unaligned.
                unsafe { _mm256_storeu_si256(out.as_mut_ptr().add(32 * half).cast(), bytes) };
            }
        });
    }
}
