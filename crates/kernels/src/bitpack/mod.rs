//! Bit-packing of vectors of up to 1,024 words.
//!
//! A *full* vector (1,024 values) of width `w` is lane-interleaved. The lane type is the smallest
//! word of 8, 16, 32 or 64 bits that holds `w` bits; with `T` its bits there are `L = 1024 / T`
//! lanes. Value `i` is row `i / L` of lane `i % L`; row `r` occupies bits `[r*w, (r+1)*w)` of its
//! lane's little-endian bit stream, which is cut into `w` words of `T` bits; word `k` of lane `l`
//! is stored little-endian at word index `k*L + l`. The vector takes `128 * w` bytes, and one
//! step of a kernel handles the same row of every lane with contiguous loads and stores.
//!
//! A *partial* vector is a plain sequence of bits, least significant first, zero-padded to a byte.

mod lanes;
mod sequential;
#[cfg(test)]
mod tests;
mod vector;

pub use sequential::{pack_sequential, unpack_sequential};
pub use vector::{pack, unpack, unpack_one};

pub(crate) use vector::with_lanes;

pub use crate::word::VECTOR;

/// Bytes that `n` values of `width` bits take: `ceil(n * width / 8)`, for either layout.
///
/// Saturates at `usize::MAX`, which no slice reaches.
pub fn packed_len(n: usize, width: u32) -> usize {
    let width = width as usize;
    (n / 8).saturating_mul(width).saturating_add((n % 8 * width).div_ceil(8))
}

/// Bits of the lane word that carries values of `width` bits (1 to 64).
#[inline(always)]
pub(crate) fn lane_bits(width: u32) -> u32 {
    width.next_power_of_two().max(8)
}
