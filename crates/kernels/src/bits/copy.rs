//! Copying, setting and counting runs of bits, 64 at a time.

use super::{window, within};
use crate::dispatch::multiversion;

/// Copies `n` bits from bit `src_first_bit` of `src` to bit `dst_first_bit` of `dst`; the other
/// bits of `dst` keep their values.
///
/// Returns false, leaving `dst` alone, when either slice is too short.
#[must_use]
pub fn copy_bits(src: &[u8], src_first_bit: usize, dst: &mut [u8], dst_first_bit: usize, n: usize) -> bool {
    if !within(src.len(), src_first_bit, n) || !within(dst.len(), dst_first_bit, n) {
        return false;
    }
    fill_from(dst, dst_first_bit, n, |i| window(src, src_first_bit + i));
    true
}

/// Sets `n` bits of `dst` from bit `first` on to `value`.
///
/// Returns false, leaving `dst` alone, when it is too short.
#[must_use]
pub fn set_bits(dst: &mut [u8], first: usize, n: usize, value: bool) -> bool {
    if !within(dst.len(), first, n) {
        return false;
    }
    fill_from(dst, first, n, |_| if value { u64::MAX } else { 0 });
    true
}

/// Number of ones among `n` bits from bit `first_bit` on; bits past the end of `bits` are zero.
pub fn count_ones(bits: &[u8], first_bit: usize, n: usize) -> usize {
    let available = bits.len().saturating_mul(8).saturating_sub(first_bit);
    count(bits, first_bit, n.min(available))
}

#[inline(always)]
fn count_body(bits: &[u8], first_bit: usize, n: usize) -> usize {
    let mut ones = 0;
    let mut i = 0;
    if n >= 64 && first_bit.is_multiple_of(8) {
        // Counts whole words, which the compiler vectorises.
        let (words, _) = bits[first_bit / 8..][..n / 8].as_chunks::<8>();
        ones = words.iter().map(|&word| u64::from_le_bytes(word).count_ones() as usize).sum();
        i = 64 * words.len();
    }
    while n - i >= 64 {
        ones += window(bits, first_bit + i).count_ones() as usize;
        i += 64;
    }
    if i < n {
        let last = window(bits, first_bit + i) & !(u64::MAX << (n - i));
        ones += last.count_ones() as usize;
    }
    ones
}

multiversion! {
    fn count[][](bits: &[u8], first_bit: usize, n: usize) -> usize = count_body;
}

/// Replaces `n` bits of `dst` from bit `first` on, which the caller has checked to lie inside.
/// `source(i)` gives the 64 bits for bit `first + i` onwards.
#[inline(always)]
fn fill_from(dst: &mut [u8], first: usize, n: usize, source: impl Fn(usize) -> u64) {
    if n == 0 {
        return;
    }
    // Bits up to the first byte boundary, so that the loops below store whole bytes.
    let head = (first.wrapping_neg() % 8).min(n);
    if head > 0 {
        let mask = ((1u8 << head) - 1) << (first % 8);
        let byte = &mut dst[first / 8];
        *byte = *byte & !mask | (source(0) << (first % 8)) as u8 & mask;
    }
    let (body, tail) = ((n - head) / 8, (n - head) % 8);
    let start = (first + head) / 8;
    let (words, rest) = dst[start..start + body].as_chunks_mut::<8>();
    let mut i = head;
    for word in words {
        *word = source(i).to_le_bytes();
        i += 64;
    }
    for byte in rest {
        *byte = source(i) as u8;
        i += 8;
    }
    if tail > 0 {
        let mask = (1u8 << tail) - 1;
        let byte = &mut dst[start + body];
        *byte = *byte & !mask | source(i) as u8 & mask;
    }
}
