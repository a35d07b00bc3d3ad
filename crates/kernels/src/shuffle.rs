//! Byte shuffle: groups the bytes of equal significance of all values, which codecs compress
//! better.

use std::ops::{BitOr, Range, Shl};

use crate::dispatch::multiversion;

/// Appends byte 0 of every value, then byte 1 of every value, and so on: `src.len()` bytes.
///
/// Returns false, leaving `out` alone, when `width` is below 2 or does not divide `src.len()`.
#[must_use]
pub fn shuffle(src: &[u8], width: usize, out: &mut Vec<u8>) -> bool {
    if width < 2 || !src.len().is_multiple_of(width) {
        return false;
    }
    let start = out.len();
    out.resize(start + src.len(), 0);
    let planes = &mut out[start..];
    match width {
        2 => split::<2>(src, planes),
        4 => split::<4>(src, planes),
        8 => split::<8>(src, planes),
        16 => split::<16>(src, planes),
        _ => transpose(src, width, planes),
    }
    true
}

/// The reverse of [`shuffle`]; `src` and `out` are equally long.
///
/// Returns false, leaving `out` alone, when the lengths differ, or when `width` is below 2 or does
/// not divide them.
#[must_use]
pub fn unshuffle(src: &[u8], width: usize, out: &mut [u8]) -> bool {
    if src.len() != out.len() || width < 2 || !src.len().is_multiple_of(width) {
        return false;
    }
    match width {
        2 => join::<2>(src, out),
        4 => join::<4>(src, out),
        8 => join::<8>(src, out),
        16 => join::<16>(src, out),
        _ => transpose(src, src.len() / width, out),
    }
    true
}

/// Moves byte `c` of row `r` to byte `r` of row `c`. Rows of `src` have `width` bytes.
fn transpose(src: &[u8], width: usize, out: &mut [u8]) {
    let Some(n) = src.len().checked_div(width) else { return };
    let (n_squares, width_squares) = (n - n % 8, width - width % 8);
    for r in (0..n_squares).step_by(8) {
        for c in (0..width_squares).step_by(8) {
            let mut square = [0; 8];
            for (i, row) in square.iter_mut().enumerate() {
                let at = (r + i) * width + c;
                *row = src[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
            }
            transpose_square(&mut square);
            for (i, column) in square.iter().enumerate() {
                let at = (c + i) * n + r;
                if let Some(bytes) = out[at..].first_chunk_mut() {
                    *bytes = column.to_le_bytes();
                }
            }
        }
    }
    let mut move_bytes = |rows: Range<usize>, columns: Range<usize>| {
        for c in columns {
            for r in rows.clone() {
                out[c * n + r] = src[r * width + c];
            }
        }
    };
    move_bytes(0..n_squares, width_squares..width);
    move_bytes(n_squares..n, 0..width);
}

/// Transposes 8 rows of 8 bytes by exchanging ever smaller squares above and below the diagonal.
///
/// Source: H. S. Warren, "Hacker's Delight", section 7-3, for bytes instead of bits.
#[inline(always)]
fn transpose_square(rows: &mut [u64; 8]) {
    exchange::<4>(rows, 0xFFFF_FFFF);
    exchange::<2>(rows, 0xFFFF_0000_FFFF);
    exchange::<1>(rows, 0x00FF_00FF_00FF_00FF);
}

/// Exchanges squares of this size. `low` selects the bytes below the diagonal.
#[inline(always)]
fn exchange<const SIZE: usize>(rows: &mut [u64; 8], low: u64) {
    let mut i = 0;
    while i < 8 {
        let exchanged = (rows[i] >> (8 * SIZE) ^ rows[i + SIZE]) & low;
        rows[i + SIZE] ^= exchanged;
        rows[i] ^= exchanged << (8 * SIZE);
        i += 1 + ((i + 1) & SIZE);
    }
}

/// Values that are handled together: they stay in the L1 cache between planes.
const BLOCK: usize = 256;

/// The low and high halves of the values of a block, as words. Shifts extract their bytes.
type Halves = [[u64; BLOCK]; 2];

#[inline(always)]
fn split_body<const W: usize>(src: &[u8], planes: &mut [u8]) {
    let n = src.len() / W;
    let mut halves: Halves = [[0; BLOCK]; 2];
    for (block, values) in src.as_chunks::<W>().0.chunks(BLOCK).enumerate() {
        load_values(values, &mut halves);
        for k in 0..W {
            let at = k * n + block * BLOCK;
            let plane = &mut planes[at..at + values.len()];
            for (byte, word) in plane.iter_mut().zip(&halves[k / 8]) {
                *byte = (word >> (k % 8 * 8)) as u8;
            }
        }
    }
}

#[inline(always)]
fn load_values<const W: usize>(values: &[[u8; W]], halves: &mut Halves) {
    let [low, high] = halves;
    for ((value, low), high) in values.iter().zip(low).zip(high) {
        let mut word = [0; 16];
        word[..W].copy_from_slice(value);
        let word = u128::from_le_bytes(word);
        *low = word as u64;
        if W > 8 {
            *high = (word >> 64) as u64;
        }
    }
}

#[inline(always)]
fn join_body<const W: usize>(planes: &[u8], out: &mut [u8]) {
    let n = out.len() / W;
    let plane = |k: usize| &planes[k * n..(k + 1) * n];
    // Whole words are stored at once. Loops over their bytes are not vectorized.
    match W {
        2 => join_words([0, 1].map(plane), out.as_chunks_mut().0, u16::to_le_bytes),
        4 => join_words([0, 1, 2, 3].map(plane), out.as_chunks_mut().0, u32::to_le_bytes),
        8 => join_words([0, 1, 2, 3, 4, 5, 6, 7].map(plane), out.as_chunks_mut().0, u64::to_le_bytes),
        _ => {
            let mut halves = [[[0; 8]; BLOCK]; 2];
            for (block, values) in out.as_chunks_mut::<W>().0.chunks_mut(BLOCK).enumerate() {
                let start = block * BLOCK;
                let plane = |k: usize| &plane(k)[start..start + values.len()];
                for (h, half) in halves.iter_mut().enumerate() {
                    let planes = [0, 1, 2, 3, 4, 5, 6, 7].map(|k| plane(8 * h + k));
                    join_words(planes, &mut half[..values.len()], u64::to_le_bytes);
                }
                for ((value, low), high) in values.iter_mut().zip(&halves[0]).zip(&halves[1]) {
                    value[..8].copy_from_slice(low);
                    value[8..].copy_from_slice(high);
                }
            }
        }
    }
}

#[inline(always)]
fn join_words<const W: usize, T>(planes: [&[u8]; W], out: &mut [[u8; W]], to_bytes: impl Fn(T) -> [u8; W])
where
    T: From<u8> + BitOr<Output = T> + Shl<usize, Output = T>,
{
    let n = out.len();
    let planes = planes.map(|plane| &plane[..n]);
    for (i, value) in out.iter_mut().enumerate() {
        let mut joined = T::from(0);
        for (k, plane) in planes.iter().enumerate() {
            joined = joined | T::from(plane[i]) << (8 * k);
        }
        *value = to_bytes(joined);
    }
}

multiversion! {
    fn split[const W: usize][W](src: &[u8], planes: &mut [u8]) = split_body;
}

multiversion! {
    fn join[const W: usize][W](planes: &[u8], out: &mut [u8]) = join_body;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::on_every_isa;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn planes_of_bytes(n in 0usize..700, k in 0usize..200, seed in any::<u64>()) {
            let width = [2, 4, 8, 16, 3, 7, 65, 200].get(k).copied().unwrap_or(k);
            let src: Vec<u8> = (0..n * width).map(|i| (seed.wrapping_mul(i as u64 * 2 + 1) >> 41) as u8).collect();
            let model: Vec<u8> = (0..n * width).map(|i| src[i % n * width + i / n]).collect();
            on_every_isa(|_| {
                let mut planes = vec![1];
                assert!(shuffle(&src, width, &mut planes));
                assert_eq!(&planes[1..], model);
                let mut back = vec![0; src.len()];
                assert!(unshuffle(&model, width, &mut back));
                assert_eq!(back, src);
            });
        }
    }

    #[test]
    fn odd_shapes_are_refused() {
        let mut out = Vec::new();
        for width in [0, 1, 5, 97, usize::MAX] {
            assert!(!shuffle(&[0; 96], width, &mut out));
            assert!(!unshuffle(&[0; 96], width, &mut [0; 96]));
        }
        assert!(!shuffle(&[0; 7], 2, &mut out));
        assert!(!unshuffle(&[0; 7], 2, &mut [0; 7]));
        assert!(!unshuffle(&[0; 8], 2, &mut [0; 6]));
        assert!(out.is_empty());
    }
}
