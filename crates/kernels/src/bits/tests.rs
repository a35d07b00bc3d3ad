//! Bitmap kernels against bit-by-bit models.

use super::*;
use crate::dispatch::on_every_isa;
use proptest::collection::vec;
use proptest::prelude::*;

fn bit(bits: &[u8], i: usize) -> u8 {
    bits[i / 8] >> (i % 8) & 1
}

proptest! {
    #[test]
    fn expanding(bits in vec(any::<u8>(), 0..100), first in 0usize..200, n in 0usize..500) {
        let fits = (first + n).div_ceil(8) <= bits.len();
        on_every_isa(|_| {
            let mut out = vec![9u8; n];
            assert_eq!(expand_bits(&bits, first, &mut out), fits);
            let mut inverted = vec![9u8; n];
            assert_eq!(expand_bits_inverted(&bits, first, &mut inverted), fits);
            for i in 0..n {
                let expected = if fits { bit(&bits, first + i) } else { 9 };
                assert_eq!(out[i], expected);
                assert_eq!(inverted[i], if fits { 1 - expected } else { 9 });
            }
        });
    }

    #[test]
    fn packing(bytes in vec(prop_oneof![Just(0u8), any::<u8>(), Just(128)], 0..400)) {
        on_every_isa(|_| {
            let mut out = vec![0xff];
            pack_bytes(&bytes, &mut out);
            assert_eq!(out.len(), 1 + bytes.len().div_ceil(8));
            for i in 0..(out.len() - 1) * 8 {
                assert_eq!(bit(&out[1..], i), u8::from(bytes.get(i).is_some_and(|&b| b != 0)));
            }
        });
    }

    #[test]
    fn copying_setting_counting(
        src in vec(any::<u8>(), 0..60),
        dst in vec(any::<u8>(), 0..60),
        from in 0usize..120,
        to in 0usize..120,
        n in 0usize..300,
        value in any::<bool>(),
    ) {
        let fits = |bytes: &[u8], first: usize| (first + n).div_ceil(8) <= bytes.len();
        let mut copied = dst.clone();
        prop_assert_eq!(copy_bits(&src, from, &mut copied, to, n), fits(&src, from) && fits(&dst, to));
        let mut set = dst.clone();
        prop_assert_eq!(set_bits(&mut set, to, n, value), fits(&dst, to));
        for i in 0..dst.len() * 8 {
            let inside = (to..to + n).contains(&i);
            let moved = inside && fits(&src, from) && fits(&dst, to);
            prop_assert_eq!(bit(&copied, i), if moved { bit(&src, from + i - to) } else { bit(&dst, i) });
            let changed = inside && fits(&dst, to);
            prop_assert_eq!(bit(&set, i), if changed { u8::from(value) } else { bit(&dst, i) });
        }
        let ones = (from..(from + n).min(src.len() * 8)).filter(|&i| bit(&src, i) == 1).count();
        prop_assert_eq!(count_ones(&src, from, n), ones);
    }
}

#[test]
fn overflowing_offsets_are_refused() {
    let mut out = [0u8; 4];
    assert!(!expand_bits(&[1, 2], usize::MAX, &mut out));
    assert!(!copy_bits(&[1], usize::MAX, &mut out, 0, 1));
    assert!(!copy_bits(&[1], 0, &mut out, usize::MAX, usize::MAX));
    assert!(!set_bits(&mut out, 1, usize::MAX, true));
    assert_eq!(count_ones(&[255], usize::MAX, usize::MAX), 0);
    assert_eq!(count_ones(&[255], 3, usize::MAX), 5);
    assert_eq!(out, [0; 4]);
}
