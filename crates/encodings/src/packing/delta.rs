//! Delta packing (packing 3): differences between neighbours, minus the least difference,
//! bit-packed. Each vector starts with a full value.

use entasis_format::Result;
use entasis_kernels::{VECTOR, Word, bitpack, delta as kernel};

use crate::words::{Order, bits_of, put};

/// Writes the differences of a vector to `deltas`; the first slot gets the least difference.
/// Returns the least difference, and the width of all differences relative to it.
pub(crate) fn frame<T: Word>(vector: &[T], deltas: &mut [T]) -> (T, u32) {
    let matched = kernel::deltas(vector, deltas);
    debug_assert!(matched, "as many differences as values");
    let zero = T::from_u64(0);
    if vector.len() < 2 {
        deltas.fill(zero);
        return (zero, 0);
    }
    // Differences are small around zero, whether the words are signed or not, so they are compared
    // as signed.
    let (least, most) = Order::Signed.min_max(&deltas[1..]);
    deltas[0] = least;
    (least, bits_of(most.wrapping_sub(least)))
}

/// Appends the body of a page. Returns the largest width.
pub(crate) fn emit<T: Word>(words: &[T], out: &mut Vec<u8>) -> u32 {
    let mut deltas = [T::from_u64(0); VECTOR];
    let mut bits = Vec::new();
    let mut widest = 0;
    for vector in words.chunks(VECTOR) {
        let deltas = &mut deltas[..vector.len()];
        let (least, width) = frame(vector, deltas);
        put(vector[0], out);
        put(least, out);
        out.push(u8::try_from(width).expect("at most 64 bits"));
        bitpack::pack(deltas, least, width, &mut bits);
        widest = widest.max(width);
    }
    out.extend_from_slice(&bits);
    widest
}

/// Restores a vector from its packed differences.
pub(crate) fn decode<T: Word>(bits: &[u8], width: u32, first: T, least: T, out: &mut [T]) -> Result<()> {
    if !bitpack::unpack(bits, width, T::from_u64(0), out) {
        return Err(crate::short_body());
    }
    kernel::prefix_sum(first, least, out);
    Ok(())
}
