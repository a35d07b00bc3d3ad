//! Bitmaps (booleans and validity): bit `i` is bit `i % 8`, least significant first, of byte
//! `i / 8`. Offsets and counts are in bits.

mod copy;
mod expand;
mod pack;
#[cfg(test)]
mod tests;

pub use copy::{copy_bits, count_ones, set_bits};
pub use expand::{expand_bits, expand_bits_inverted};
pub use pack::pack_bytes;

/// Whether bits `[first, first + n)` lie within `bytes` bytes.
#[inline(always)]
fn within(bytes: usize, first: usize, n: usize) -> bool {
    first.checked_add(n).is_some_and(|end| end.div_ceil(8) <= bytes)
}

/// The 64 bits from bit `at` on; bits past the end of `bits` are zero.
#[inline(always)]
fn window(bits: &[u8], at: usize) -> u64 {
    let (byte, shift) = (at / 8, at % 8);
    match bits.get(byte..).and_then(|tail| tail.first_chunk::<9>()) {
        Some(&[a, b, c, d, e, f, g, h, ninth]) => {
            let low = u64::from_le_bytes([a, b, c, d, e, f, g, h]) >> shift;
            // Two shifts, since one of 64 is not defined.
            low | u64::from(ninth) << 1 << (63 - shift)
        }
        None => last_window(bits, at),
    }
}

#[cold]
fn last_window(bits: &[u8], at: usize) -> u64 {
    let tail = bits.get(at / 8..).unwrap_or(&[]);
    let take = tail.len().min(9);
    let mut padded = [0; 16];
    padded[..take].copy_from_slice(&tail[..take]);
    (u128::from_le_bytes(padded) >> (at % 8)) as u64
}
