//! Digrams with AVX-512 VBMI2: encodes 64 positions of a text, or decodes 64 codes, in one step. A
//! table of 256 bytes fits four registers.

use std::arch::x86_64::{
    __m512i, __mmask64, _mm512_add_epi8, _mm512_castsi512_si256, _mm512_cmpeq_epi8_mask,
    _mm512_cmpge_epu8_mask, _mm512_cmpneq_epi8_mask, _mm512_cvtepu8_epi16, _mm512_extracti64x4_epi64,
    _mm512_loadu_si512, _mm512_mask_blend_epi8, _mm512_maskz_compress_epi8, _mm512_movepi8_mask,
    _mm512_or_si512, _mm512_permutex2var_epi8, _mm512_permutex2var_epi64, _mm512_set1_epi8,
    _mm512_set1_epi16, _mm512_setr_epi64, _mm512_slli_epi16, _mm512_storeu_si512, _mm512_unpackhi_epi8,
    _mm512_unpacklo_epi8, _pdep_u64,
};

use super::digrams::{Digrams, SECONDS};
use super::{ESCAPE, SymbolTable};

/// Positions or codes per step.
const TOGETHER: usize = 64;
/// Every second bit, starting with the lowest.
const EVEN: u64 = u64::MAX / 3;

/// A table of 256 bytes in registers.
#[derive(Clone, Copy)]
struct Table([__m512i; 4]);

impl Table {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn load(bytes: &[u8; 256]) -> Self {
        // SAFETY: each of the four parts has 64 bytes.
        Self(std::array::from_fn(|i| unsafe { _mm512_loadu_si512(bytes.as_ptr().add(64 * i).cast()) }))
    }

    /// The table's entry for each byte. `is_high` has a bit for each byte whose highest bit is set.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn at(self, bytes: __m512i, is_high: __mmask64) -> __m512i {
        let [a, b, c, d] = self.0;
        // A look-up uses the low seven bits.
        let low = _mm512_permutex2var_epi8(a, bytes, b);
        let high = _mm512_permutex2var_epi8(c, bytes, d);
        _mm512_mask_blend_epi8(is_high, low, high)
    }
}

/// As [`encode_digrams`](super::matcher).
#[target_feature(enable = "popcnt,bmi1,bmi2,avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
pub(super) fn encode(digrams: &Digrams, bytes: &[u8], out: &mut [u8]) -> (usize, usize) {
    // The index of a code has ten bits: five for the first byte's number and five for the second's.
    // A look-up takes seven. Two bits of the first number join them, one is the highest bit of the
    // same byte, and the last two are the highest bits of a second table.
    let (mut firsts, mut parts) = ([0; 256], [0; 256]);
    for (byte, &first) in digrams.firsts.iter().enumerate() {
        firsts[byte] = (first & 3) << 5 | (first >> 2 & 1) << 7;
        parts[byte] = (first >> 3 & 1) << 7 | (first >> 4 & 1) << 6;
    }
    let (firsts, parts) = (Table::load(&firsts), Table::load(&parts));
    let (seconds, singles) = (Table::load(&digrams.seconds), Table::load(&digrams.singles));
    const _: () = assert!(SECONDS * SECONDS == 16 * 64);
    // SAFETY: `codes` has sixteen times 64 bytes.
    let codes: [__m512i; 16] =
        std::array::from_fn(|i| unsafe { _mm512_loadu_si512(digrams.codes.as_ptr().add(64 * i).cast()) });
    let escape = _mm512_set1_epi8(ESCAPE as i8);
    // Whether the first position is the second byte of the previous digram.
    let (mut at, mut end, mut is_inside) = (0, 0, 0u64);
    // The last position needs its successor, and each position may take two bytes of output.
    while bytes.len() - at > TOGETHER && out.len() - end >= 2 * TOGETHER {
        // SAFETY: the loop condition leaves more than 64 bytes.
        let [here, next] = [0, 1].map(|i| unsafe { _mm512_loadu_si512(bytes.as_ptr().add(at + i).cast()) });
        let [here_high, next_high] = [here, next].map(|bytes| _mm512_movepi8_mask(bytes));
        let index = _mm512_or_si512(firsts.at(here, here_high), seconds.at(next, next_high));
        let part = parts.at(here, here_high);
        let half = |i: usize| _mm512_permutex2var_epi8(codes[2 * i], index, codes[2 * i + 1]);
        let by_two = |i: usize| _mm512_mask_blend_epi8(_mm512_movepi8_mask(index), half(i), half(i + 1));
        let by_four = |i: usize| _mm512_mask_blend_epi8(_mm512_movepi8_mask(part), by_two(i), by_two(i + 2));
        let last = _mm512_movepi8_mask(_mm512_add_epi8(part, part));
        let digram = _mm512_mask_blend_epi8(last, by_four(0), by_four(4));
        // The runs of positions at which a digram may start. A position that belongs to the
        // previous digram ends a run.
        let runs = _mm512_cmpneq_epi8_mask(digram, escape) & !is_inside;
        let begins = runs & !(runs << 1);
        // Adding the first bit of a run to it carries through all of its bits. This marks the runs
        // that begin at an even position.
        let from_even = runs & !runs.wrapping_add(begins & EVEN);
        let taken = from_even & EVEN | runs & !from_even & !EVEN;
        let kept = !(taken << 1 | is_inside);
        is_inside = taken >> 63;
        let code = _mm512_mask_blend_epi8(taken, singles.at(here, here_high), digram);
        let escapes = _mm512_cmpeq_epi8_mask(code, escape) & kept;
        let to = out[end..end + 2 * TOGETHER].as_mut_ptr();
        if escapes == 0 {
            // SAFETY: `to` has 128 bytes.
            unsafe { _mm512_storeu_si512(to.cast(), _mm512_maskz_compress_epi8(kept, code)) };
        } else {
            // Two bytes per position: an escape with its literal, or one code.
            let code = _mm512_mask_blend_epi8(escapes, code, here);
            let wide = |half| {
                _mm512_or_si512(_mm512_slli_epi16::<8>(_mm512_cvtepu8_epi16(half)), _mm512_set1_epi16(0xFF))
            };
            let [low, high] =
                [wide(_mm512_castsi512_si256(code)), wide(_mm512_extracti64x4_epi64::<1>(code))];
            let wanted = |i: u32| _pdep_u64(kept >> i, !EVEN) | _pdep_u64(escapes >> i, EVEN);
            let n_low = wanted(0).count_ones() as usize;
            // SAFETY: as above; the first half writes at most 64 bytes that count.
            unsafe {
                _mm512_storeu_si512(to.cast(), _mm512_maskz_compress_epi8(wanted(0), low));
                _mm512_storeu_si512(to.add(n_low).cast(), _mm512_maskz_compress_epi8(wanted(32), high));
            }
        }
        end += (kept.count_ones() + escapes.count_ones()) as usize;
        at += TOGETHER;
    }
    (at + is_inside as usize, end)
}

/// As [`SymbolTable::decode`], for a table whose first `n_single` symbols have one byte and all
/// others two.
#[target_feature(enable = "popcnt,bmi1,bmi2,avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
pub(super) fn decode(table: &SymbolTable, n_single: u8, stream: &[u8], out: &mut [u8]) -> (usize, usize) {
    let byte = |i: usize| std::array::from_fn(|code| table.words[code].to_le_bytes()[i]);
    let (firsts, seconds) = (Table::load(&byte(0)), Table::load(&byte(1)));
    let [escape, first_unknown, first_digram] =
        [ESCAPE, table.n, n_single].map(|code| _mm512_set1_epi8(code as i8));
    // Sixteen bytes of each input in turn.
    let in_turn = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    let in_turn_behind = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    let (mut at, mut end) = (0, 0);
    // If the last of these codes is an escape, its literal follows.
    while stream.len() - at > TOGETHER && out.len() - end > 2 * TOGETHER {
        // SAFETY: the loop condition leaves more than 64 bytes in the stream.
        let codes = unsafe { _mm512_loadu_si512(stream.as_ptr().add(at).cast()) };
        // The number of codes before the first escape; stop if one of them has no symbol.
        let n = _mm512_cmpeq_epi8_mask(codes, escape).trailing_zeros();
        if _mm512_cmpge_epu8_mask(codes, first_unknown).trailing_zeros() < n {
            break;
        }
        let is_high = _mm512_movepi8_mask(codes);
        let (first, second) = (firsts.at(codes, is_high), seconds.at(codes, is_high));
        let (low, high) = (_mm512_unpacklo_epi8(first, second), _mm512_unpackhi_epi8(first, second));
        // The shift is in 128 bits because `n` can be 64.
        let before = ((1u128 << n) - 1) as u64;
        let two = _mm512_cmpge_epu8_mask(codes, first_digram) & before;
        let wanted = |i: u32| _pdep_u64(before >> i, EVEN) | _pdep_u64(two >> i, !EVEN);
        let n_low = wanted(0).count_ones() as usize;
        let to = out[end..end + 2 * TOGETHER].as_mut_ptr();
        // SAFETY: `to` has 128 bytes, and the first half takes at most 64 of them.
        unsafe {
            let bytes = _mm512_permutex2var_epi64(low, in_turn, high);
            _mm512_storeu_si512(to.cast(), _mm512_maskz_compress_epi8(wanted(0), bytes));
            let bytes = _mm512_permutex2var_epi64(low, in_turn_behind, high);
            _mm512_storeu_si512(to.add(n_low).cast(), _mm512_maskz_compress_epi8(wanted(32), bytes));
        }
        (at, end) = (at + n as usize, end + (n + two.count_ones()) as usize);
        if n < TOGETHER as u32 {
            out[end] = stream[at + 1];
            (at, end) = (at + 2, end + 1);
        }
    }
    (at, end)
}
