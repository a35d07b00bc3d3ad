//! Finds NaN among floats.

use crate::dispatch::multiversion;
use crate::word::Word;

/// Clears the bit of each float that is NaN, and leaves the other bits as they are.
///
/// `values` are the bit patterns of floats of 16, 32 or 64 bits. Returns false, leaving `bits`
/// unchanged, for other words, and where `bits` is not `values.len().div_ceil(8)` bytes long.
#[must_use]
pub fn clear_bits<T: Word>(values: &[T], bits: &mut [u8]) -> bool {
    let infinity = match T::BITS {
        16 => 0x7c00,
        32 => u64::from(f32::INFINITY.to_bits()),
        64 => f64::INFINITY.to_bits(),
        _ => return false,
    };
    if bits.len() != values.len().div_ceil(8) {
        return false;
    }
    clear(values, T::from_u64(infinity), bits);
    true
}

#[inline(always)]
fn clear_body<T: Word>(values: &[T], infinity: T, bits: &mut [u8]) {
    // Without its sign, a float is NaN where it is beyond infinity.
    let most = infinity << 1;
    let (chunks, rest) = values.as_chunks::<64>();
    let (words, tail) = bits.split_at_mut(8 * chunks.len());
    for (chunk, bits) in chunks.iter().zip(words.as_chunks_mut::<8>().0) {
        let numbers = numbers_of(chunk, most);
        *bits = (u64::from_le_bytes(*bits) & numbers).to_le_bytes();
    }
    if !rest.is_empty() {
        let mut padded = [T::ZERO; 64];
        padded[..rest.len()].copy_from_slice(rest);
        let numbers = numbers_of(&padded, most).to_le_bytes();
        tail.iter_mut().zip(numbers).for_each(|(bits, numbers)| *bits &= numbers);
    }
}

/// A bit for each float: whether it is a number.
#[inline(always)]
fn numbers_of<T: Word>(values: &[T; 64], most: T) -> u64 {
    let mut bytes = [0u8; 64];
    for (byte, &value) in bytes.iter_mut().zip(values) {
        *byte = u8::from(value << 1 <= most);
    }
    let mut bits = [0; 8];
    for (bytes, bits) in bytes.as_chunks::<8>().0.iter().zip(&mut bits) {
        // The product gathers the low bit of each byte in its highest byte.
        *bits = (u64::from_le_bytes(*bytes).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8;
    }
    u64::from_le_bytes(bits)
}

multiversion! {
    fn clear[T: Word][T](values: &[T], infinity: T, bits: &mut [u8]) = clear_body;
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::dispatch::on_every_isa;

    fn naive(are_nan: &[bool], bits: &[u8]) -> Vec<u8> {
        let mut bits = bits.to_vec();
        for (i, _) in are_nan.iter().enumerate().filter(|(_, is_nan)| **is_nan) {
            bits[i / 8] &= !(1 << (i % 8));
        }
        bits
    }

    #[test]
    fn every_kind_of_float_is_judged() {
        let floats = [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, 0.0, -0.0, 5e-324];
        let mut bits = [0xff];
        assert!(clear_bits(&floats.map(f64::to_bits), &mut bits));
        assert_eq!(bits, [0b1111_1100]);
        bits = [0xff];
        assert!(clear_bits(&[0x7ff0_0000_0000_0001, 0xfff0_0000_0000_07a2, 1u64], &mut bits));
        assert_eq!(bits, [0b1111_1100]);
        bits = [0xff];
        assert!(clear_bits(&[0x7c00u16, 0x7c01, 0xfc00, 0xfe00, 0x3c00], &mut bits));
        assert_eq!(bits, [0b1111_0101]);
    }

    #[test]
    fn lengths_and_widths_have_to_fit() {
        assert!(!clear_bits(&[0u64; 9], &mut [0xff]));
        assert!(!clear_bits(&[0u64; 8], &mut [0xff, 0xff]));
        assert!(!clear_bits(&[0u8; 8], &mut [0xff]));
        assert!(clear_bits::<u32>(&[], &mut []));
    }

    proptest! {
        #[test]
        fn bits_agree_with_floats(
            doubles in vec(prop_oneof![any::<u64>(), (0u64..1 << 52).prop_map(|n| n | 0x7ff0 << 48)], 0..200),
            seed in any::<u8>(),
        ) {
            let bits = vec![seed; doubles.len().div_ceil(8)];
            let are_nan: Vec<bool> = doubles.iter().map(|&bits| f64::from_bits(bits).is_nan()).collect();
            let singles: Vec<u32> = doubles.iter().map(|&bits| (bits >> 32) as u32).collect();
            let are_nan_singles: Vec<bool> = singles.iter().map(|&bits| f32::from_bits(bits).is_nan()).collect();
            on_every_isa(|_| {
                let mut found = bits.clone();
                assert!(clear_bits(&doubles, &mut found));
                assert_eq!(found, naive(&are_nan, &bits));
                let mut found = bits.clone();
                assert!(clear_bits(&singles, &mut found));
                assert_eq!(found, naive(&are_nan_singles, &bits));
            });
        }
    }
}
