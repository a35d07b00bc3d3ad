//! Tiles of eight rows and eight columns: loaded by columns, transposed in registers, stored by
//! rows.
//!
//! A transposition takes three rounds that exchange halves between neighbours: single words, pairs,
//! then groups of four.

use std::arch::x86_64::{
    __m256i, __m512i, _mm256_loadu_si256, _mm256_permute2x128_si256, _mm256_storeu_si256,
    _mm256_unpackhi_epi32, _mm256_unpackhi_epi64, _mm256_unpacklo_epi32, _mm256_unpacklo_epi64,
    _mm512_loadu_si512, _mm512_shuffle_i64x2, _mm512_storeu_si512, _mm512_unpackhi_epi64,
    _mm512_unpacklo_epi64,
};

use bytemuck::Pod;

use super::LINE;
use crate::dispatch::{Isa, isa};

/// Writes eight columns of up to `n` words: row r goes to `to + r * stride`. Returns the number of
/// rows written: all but the last few, or 0 if the processor lacks the instructions.
///
/// # Safety
/// Eight words are writable at `to + r * stride` for every r below `n`.
pub(super) unsafe fn put<T: Pod>(columns: [&[T]; LINE], n: usize, to: *mut u8, stride: usize) -> usize {
    let rows = columns.iter().fold(n, |rows, column| rows.min(column.len())) / LINE * LINE;
    // SAFETY: each column has `rows` words; the rest holds by this function's contract.
    unsafe { turn::<T>(columns.map(|column| column.as_ptr().cast()), rows, to, stride) }
}

/// As [`put`], for words at any addresses.
///
/// # Safety
/// `n` words are readable at each pointer, and eight words are writable at `to + r * stride` for
/// every r below `n`.
pub(super) unsafe fn turn<T: Pod>(from: [*const u8; LINE], n: usize, to: *mut u8, stride: usize) -> usize {
    let n = n / LINE * LINE;
    match (size_of::<T>(), isa()) {
        // SAFETY: `isa()` only returns levels that this CPU has; the rest holds by this function's
        // contract.
        (8, Isa::Avx512) => unsafe { put_64(from, n, to, stride) },
        // SAFETY: as above, for AVX2.
        (4, Isa::Avx2 | Isa::Avx512) => unsafe { put_32(from, n, to, stride) },
        _ => return 0,
    }
    n
}

#[target_feature(enable = "avx512f")]
unsafe fn put_64(columns: [*const u8; LINE], rows: usize, to: *mut u8, stride: usize) {
    for row in (0..rows).step_by(LINE) {
        // SAFETY: each column has eight words from `row` on, by this function's contract.
        let c = columns.map(|column| unsafe { _mm512_loadu_si512(column.add(8 * row).cast()) });
        let words = |i: usize| (_mm512_unpacklo_epi64(c[i], c[i + 1]), _mm512_unpackhi_epi64(c[i], c[i + 1]));
        let (a, b, c, d) = (words(0), words(2), words(4), words(6));
        let even = |a, b| _mm512_shuffle_i64x2::<0x88>(a, b);
        let odd = |a, b| _mm512_shuffle_i64x2::<0xDD>(a, b);
        // Rows 0, 4, 2 and 6 are in the low words of pairs, rows 1, 5, 3 and 7 in the high ones.
        let low = [even(a.0, b.0), odd(a.0, b.0), even(c.0, d.0), odd(c.0, d.0)];
        let high = [even(a.1, b.1), odd(a.1, b.1), even(c.1, d.1), odd(c.1, d.1)];
        let lines: [__m512i; LINE] = [
            even(low[0], low[2]),
            even(high[0], high[2]),
            even(low[1], low[3]),
            even(high[1], high[3]),
            odd(low[0], low[2]),
            odd(high[0], high[2]),
            odd(low[1], low[3]),
            odd(high[1], high[3]),
        ];
        for (i, line) in lines.into_iter().enumerate() {
            // SAFETY: 64 bytes are writable for every row.
            unsafe { _mm512_storeu_si512(to.add((row + i) * stride).cast(), line) };
        }
    }
}

#[target_feature(enable = "avx2")]
unsafe fn put_32(columns: [*const u8; LINE], rows: usize, to: *mut u8, stride: usize) {
    for row in (0..rows).step_by(LINE) {
        // SAFETY: each column has eight words from `row` on, by this function's contract.
        let c = columns.map(|column| unsafe { _mm256_loadu_si256(column.add(4 * row).cast()) });
        let words = |i: usize| (_mm256_unpacklo_epi32(c[i], c[i + 1]), _mm256_unpackhi_epi32(c[i], c[i + 1]));
        let pairs = |a, b| (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
        let (a, b, c, d) = (words(0), words(2), words(4), words(6));
        let (left_0, left_1) = pairs(a.0, b.0);
        let (left_2, left_3) = pairs(a.1, b.1);
        let (right_0, right_1) = pairs(c.0, d.0);
        let (right_2, right_3) = pairs(c.1, d.1);
        let halves = [(left_0, right_0), (left_1, right_1), (left_2, right_2), (left_3, right_3)];
        let first: [__m256i; 4] = halves.map(|(a, b)| _mm256_permute2x128_si256::<0x20>(a, b));
        let last: [__m256i; 4] = halves.map(|(a, b)| _mm256_permute2x128_si256::<0x31>(a, b));
        for (i, line) in first.into_iter().chain(last).enumerate() {
            // SAFETY: 32 bytes are writable for every row.
            unsafe { _mm256_storeu_si256(to.add((row + i) * stride).cast(), line) };
        }
    }
}
