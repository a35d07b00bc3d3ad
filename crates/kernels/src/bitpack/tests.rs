//! The layouts against bit-by-bit models, on every instruction set of the machine.

use super::*;
use crate::Word;
use crate::dispatch::on_every_isa;
use proptest::prelude::*;

/// Bit position of bit `b` of value `i` among `n` of `width` bits, straight from the definition.
fn position(n: usize, width: usize, i: usize, b: usize) -> usize {
    if n < VECTOR {
        return i * width + b;
    }
    let bits = [8, 16, 32, 64].into_iter().find(|&t| t >= width).unwrap();
    let lanes = VECTOR / bits;
    let stream_bit = i / lanes * width + b;
    (stream_bit / bits * lanes + i % lanes) * bits + stream_bit % bits
}

fn model_pack<T: Word>(values: &[T], base: T, width: u32) -> Vec<u8> {
    let mut packed = vec![0u8; packed_len(values.len(), width)];
    for (i, value) in values.iter().enumerate() {
        for b in 0..width as usize {
            let bit = (value.wrapping_sub(base).to_u64() >> b & 1) as u8;
            let at = position(values.len(), width as usize, i, b);
            packed[at / 8] |= bit << (at % 8);
        }
    }
    packed
}

fn values<T: Word>(n: usize, seed: u64) -> Vec<T> {
    let mut state = seed | 1;
    (0..n)
        .map(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            T::from_u64(state >> 7 ^ state << 29)
        })
        .collect()
}

fn check<T: Word>(n: usize, width: u32, seed: u64) {
    let values = values::<T>(n, seed);
    let base = T::from_u64(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mask = crate::word::low_mask::<T>(width);
    let expected: Vec<T> = values.iter().map(|v| base.wrapping_add(v.wrapping_sub(base) & mask)).collect();
    let model = model_pack(&values, base, width);
    on_every_isa(|isa| {
        let mut packed = vec![7u8; 3];
        pack(&values, base, width, &mut packed);
        assert_eq!(&packed[3..], model, "pack {n} x {width} of {} on {isa:?}", T::BITS);
        let mut out = vec![T::ZERO; n];
        assert!(unpack(&packed[3..], width, base, &mut out));
        assert!(out == expected, "unpack {n} x {width} of {} on {isa:?}", T::BITS);
        // One byte short is refused.
        if width > 0 {
            assert!(!unpack(&packed[3..packed.len() - 1], width, base, &mut out));
        }
    });
    for i in (0..n).step_by(1 + n / 97) {
        assert_eq!(unpack_one(&model, n, width, base, i), Some(expected[i]));
    }
    assert_eq!(unpack_one(&model, n, width, base, n), None);
}

#[test]
fn every_width_of_every_word_in_the_full_layout() {
    for width in 0..=64 {
        let seed = 0x1234_5678_9abc_def1 ^ u64::from(width) << 40;
        check::<u64>(VECTOR, width, seed);
        if width <= 32 {
            check::<u32>(VECTOR, width, seed);
        }
        if width <= 16 {
            check::<u16>(VECTOR, width, seed);
        }
        if width <= 8 {
            check::<u8>(VECTOR, width, seed);
        }
    }
}

#[test]
fn machine_widths_are_plain_little_endian() {
    let values = values::<u64>(VECTOR, 99);
    let mut packed = Vec::new();
    pack(&values, 0, 64, &mut packed);
    assert_eq!(packed, values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>());
}

#[test]
fn hostile_arguments_are_refused() {
    let bytes = vec![0xffu8; 8192];
    let mut out = vec![0u64; VECTOR];
    for width in [65, 66, 127, 128, 1 << 20, u32::MAX] {
        assert!(!unpack(&bytes, width, 0, &mut out));
        assert!(!unpack_sequential(&bytes, width, 0, &mut out));
        assert_eq!(unpack_one(&bytes, VECTOR, width, 0u64, 0), None);
        assert_eq!(unpack_one(&bytes, 5, width, 0u64, 0), None);
    }
    assert!(!unpack(&bytes, 9, 0u8, &mut [0; 16]));
    assert!(!unpack(&bytes, 9, 0u8, &mut [0; VECTOR]));
    assert!(!unpack::<u64>(&bytes, 1, 0, &mut []));
    assert!(!unpack(&bytes, 1, 0u64, &mut vec![0; VECTOR + 1]));
    assert!(!unpack::<u64>(&[], 1, 0, &mut out));
    assert_eq!(unpack_one::<u64>(&bytes, 0, 3, 0, 0), None);
    assert_eq!(unpack_one::<u64>(&bytes, usize::MAX, 3, 0, 0), None);
    assert_eq!(packed_len(usize::MAX, u32::MAX), usize::MAX);
}

proptest! {
    #[test]
    fn partial_vectors(n in 1usize..=1024, width in 0u32..=64, seed in any::<u64>()) {
        check::<u64>(n, width, seed);
        check::<u32>(n, width.min(32), seed);
        check::<u16>(n, width.min(16), seed);
        check::<u8>(n, width.min(8), seed);
    }

    #[test]
    fn long_sequences(n in 0usize..=9000, width in 0u32..=64, seed in any::<u64>()) {
        let values = values::<u64>(n, seed);
        let mut packed = Vec::new();
        pack_sequential(&values, seed, width, &mut packed);
        prop_assert_eq!(packed.len(), packed_len(n, width));
        let mut out = vec![0; n];
        prop_assert!(unpack_sequential(&packed, width, seed, &mut out));
        let mask = crate::word::low_mask::<u64>(width);
        for (value, out) in values.iter().zip(&out) {
            prop_assert_eq!(value.wrapping_sub(seed) & mask, out.wrapping_sub(seed));
        }
        if let Some((_, short)) = packed.split_last() {
            prop_assert!(!unpack_sequential(short, width, seed, &mut out));
        }
    }
}
