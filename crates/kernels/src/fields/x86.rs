//! The masks of x86-64.

use core::arch::x86_64::*;

use super::{
    Compare, Digits, Eights, Emit, Marks, Masks, Plain, PlainDigits, Survey, digits_with, index_with,
    survey_with,
};
use crate::dispatch::{Isa, isa};

/// Compares by AVX-512 BW. Its functions run only inside functions that enable the feature.
#[derive(Clone, Copy)]
struct Avx512(Marks);

impl Compare for Avx512 {
    #[inline(always)]
    fn masks(self, bytes: &[u8; 64]) -> Masks {
        // SAFETY: `bytes` is 64 bytes, the load is unaligned, and the caller enables the features.
        unsafe {
            let text = _mm512_loadu_si512(bytes.as_ptr().cast());
            let mask = |byte: u8| _mm512_cmpeq_epi8_mask(text, _mm512_set1_epi8(byte as i8));
            Masks {
                separator: mask(self.0.separator),
                line_feed: mask(b'\n'),
                carriage_return: mask(b'\r'),
                quote: self.0.quote.map_or(0, mask),
            }
        }
    }
}

/// Compares by AVX2. Its functions run only inside functions that enable the feature.
#[derive(Clone, Copy)]
struct Avx2(Marks);

impl Compare for Avx2 {
    #[inline(always)]
    fn masks(self, bytes: &[u8; 64]) -> Masks {
        // SAFETY: `bytes` is 64 bytes and the halves are 32 each, the loads are unaligned, and the
        // caller enables the feature.
        unsafe {
            let low = _mm256_loadu_si256(bytes.as_ptr().cast());
            let high = _mm256_loadu_si256(bytes.as_ptr().add(32).cast());
            let mask = |byte: u8| {
                let wanted = _mm256_set1_epi8(byte as i8);
                let low = _mm256_movemask_epi8(_mm256_cmpeq_epi8(low, wanted)) as u32;
                let high = _mm256_movemask_epi8(_mm256_cmpeq_epi8(high, wanted)) as u32;
                u64::from(low) | u64::from(high) << 32
            };
            Masks {
                separator: mask(self.0.separator),
                line_feed: mask(b'\n'),
                carriage_return: mask(b'\r'),
                quote: self.0.quote.map_or(0, mask),
            }
        }
    }
}

/// Finds digits by AVX2. Its function runs only inside functions that enable the feature.
#[derive(Clone, Copy)]
struct Avx2Digits;

impl Digits for Avx2Digits {
    #[inline(always)]
    fn digits(self, bytes: &[u8; 64]) -> u64 {
        // SAFETY: `bytes` is 64 bytes and the halves are 32 each, the loads are unaligned, and the
        // caller enables the feature.
        unsafe {
            let (zero, nine) = (_mm256_set1_epi8(b'0' as i8), _mm256_set1_epi8(9));
            let low = _mm256_sub_epi8(_mm256_loadu_si256(bytes.as_ptr().cast()), zero);
            let high = _mm256_sub_epi8(_mm256_loadu_si256(bytes.as_ptr().add(32).cast()), zero);
            let low = _mm256_cmpeq_epi8(low, _mm256_min_epu8(low, nine));
            let high = _mm256_cmpeq_epi8(high, _mm256_min_epu8(high, nine));
            u64::from(_mm256_movemask_epi8(low) as u32) | u64::from(_mm256_movemask_epi8(high) as u32) << 32
        }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn digits_avx2(text: &[u8], out: &mut Vec<u64>) {
    digits_with(Avx2Digits, text, out);
}

pub fn digits(text: &[u8], out: &mut Vec<u64>) {
    match isa() {
        // SAFETY: `isa()` only returns levels that this CPU has, and AVX-512 includes AVX2.
        Isa::Avx512 | Isa::Avx2 => unsafe { digits_avx2(text, out) },
        Isa::Baseline => digits_with(PlainDigits, text, out),
    }
}

/// Writes the ends of 64 bytes by compressing their numbers (AVX-512 VBMI2).
#[derive(Clone, Copy)]
struct Compress;

impl Emit for Compress {
    #[inline(always)]
    fn emit(self, mask: u64, base: u32, out: &mut [u32; 64]) {
        const NUMBERS: [u8; 64] = {
            let mut numbers = [0; 64];
            let mut i = 0;
            while i < 64 {
                numbers[i] = i as u8 + 1;
                i += 1;
            }
            numbers
        };
        // SAFETY: each store writes 16 of the 64 numbers of `out`, and the caller enables the
        // features.
        unsafe {
            let numbers = _mm512_loadu_si512(NUMBERS.as_ptr().cast());
            let ends = _mm512_maskz_compress_epi8(mask, numbers);
            let base = _mm512_set1_epi32(base as i32);
            let store = |part: __m128i, at: usize, out: &mut [u32; 64]| {
                let wide = _mm512_add_epi32(_mm512_cvtepu8_epi32(part), base);
                _mm512_storeu_si512(out.as_mut_ptr().add(at).cast(), wide);
            };
            let n = mask.count_ones();
            store(_mm512_castsi512_si128(ends), 0, out);
            if n > 16 {
                store(_mm512_extracti32x4_epi32::<1>(ends), 16, out);
                if n > 32 {
                    store(_mm512_extracti32x4_epi32::<2>(ends), 32, out);
                    store(_mm512_extracti32x4_epi32::<3>(ends), 48, out);
                }
            }
        }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw")]
fn survey_avx512(text: &[u8], marks: Marks) -> Survey {
    survey_with(Avx512(marks), text)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn survey_avx2(text: &[u8], marks: Marks) -> Survey {
    survey_with(Avx2(marks), text)
}

pub fn survey(text: &[u8], marks: Marks) -> Survey {
    match isa() {
        // SAFETY: `isa()` only returns levels that this CPU has.
        Isa::Avx512 => unsafe { survey_avx512(text, marks) },
        // SAFETY: as above.
        Isa::Avx2 => unsafe { survey_avx2(text, marks) },
        Isa::Baseline => survey_with(Plain(marks), text),
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vbmi,avx512vbmi2")]
fn index_vbmi2(text: &[u8], marks: Marks, out: &mut Vec<u32>) -> usize {
    index_with(Avx512(marks), Compress, text, out)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw")]
fn index_avx512(text: &[u8], marks: Marks, out: &mut Vec<u32>) -> usize {
    index_with(Avx512(marks), Eights, text, out)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn index_avx2(text: &[u8], marks: Marks, out: &mut Vec<u32>) -> usize {
    index_with(Avx2(marks), Eights, text, out)
}

pub fn index(text: &[u8], marks: Marks, out: &mut Vec<u32>) -> usize {
    match isa() {
        // SAFETY: `isa()` only returns levels that this CPU has, and VBMI2 was detected.
        Isa::Avx512 if is_x86_feature_detected!("avx512vbmi2") => unsafe { index_vbmi2(text, marks, out) },
        // SAFETY: `isa()` only returns levels that this CPU has.
        Isa::Avx512 => unsafe { index_avx512(text, marks, out) },
        // SAFETY: as above.
        Isa::Avx2 => unsafe { index_avx2(text, marks, out) },
        Isa::Baseline => index_with(Plain(marks), Eights, text, out),
    }
}
