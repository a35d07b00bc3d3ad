//! The kernels of full vectors, one per width, generic over the lane word.
//!
//! The loop runs over lanes and its body is every row, unrolled with constant shifts: the compiler
//! vectorises it across lanes, since a row's words are contiguous in both arrays.

use super::VECTOR;
use crate::dispatch::multiversion;
use crate::word::{LaneKernels, Word, low_mask};
use core::mem::MaybeUninit;

/// Calls `$row!(r)` for each of the rows of lane word `$lane`.
macro_rules! each_row {
    ($lane:ty, $row:ident) => {
        each_row!(@list $row 0 1 2 3 4 5 6 7);
        if <$lane>::BITS > 8 {
            each_row!(@list $row 8 9 10 11 12 13 14 15);
        }
        if <$lane>::BITS > 16 {
            each_row!(@list $row 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
        }
        if <$lane>::BITS > 32 {
            each_row!(@list $row 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47);
            each_row!(@list $row 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63);
        }
    };
    (@list $row:ident $($r:literal)*) => { $( $row!($r); )* };
}

/// A word anywhere in memory. Access through it compiles to a bare load or store even in debug
/// builds, where a call per row would multiply the time to compile this file.
#[repr(C, packed)]
struct Unaligned<T>(T);

#[inline(always)]
fn unpack_body<T: Word, const W: usize>(packed: &[u8], base: T, out: &mut [MaybeUninit<T>; VECTOR]) {
    let bits = T::BITS as usize;
    let lanes = VECTOR / bits;
    assert!(W >= 1 && W <= bits && packed.len() >= VECTOR / 8 * W);
    let mask = low_mask::<T>(W as u32);
    for lane in 0..lanes {
        let words = packed.as_ptr().cast::<Unaligned<T>>().wrapping_add(lane);
        let out = out.as_mut_ptr().cast::<Unaligned<T>>().wrapping_add(lane);
        macro_rules! row {
            ($r:literal) => {
                let first_bit = W * $r;
                let (word, shift) = (first_bit / bits, first_bit % bits);
                let start = words.wrapping_add(word * lanes);
                // SAFETY: a row starts inside its lane's W words, so the index is below W * lanes,
                // and the assertion above makes `packed` hold that many words.
                let low = unsafe { (*start).0 };
                let mut value = low.to_or_from_le().shifted_down(shift);
                if shift + W > bits {
                    // SAFETY: the row runs on into the next word, which its lane therefore has.
                    let high = unsafe { (*start.wrapping_add(lanes)).0 };
                    value = value | high.to_or_from_le().shifted_up(bits - shift);
                }
                let at = out.wrapping_add(lanes * $r);
                // SAFETY: $r < bits by `each_row`, so the index is below bits * lanes == VECTOR.
                unsafe { (*at).0 = (value & mask).wrapping_add(base) };
            };
        }
        each_row!(T, row);
    }
}

#[inline(always)]
fn pack_body<T: Word, const W: usize>(values: &[T; VECTOR], base: T, packed: &mut [MaybeUninit<u8>]) {
    let bits = T::BITS as usize;
    let lanes = VECTOR / bits;
    assert!(W >= 1 && W <= bits && packed.len() >= VECTOR / 8 * W);
    let mask = low_mask::<T>(W as u32);
    for lane in 0..lanes {
        let words = packed.as_mut_ptr().cast::<Unaligned<T>>().wrapping_add(lane);
        let values = values.as_ptr().cast::<Unaligned<T>>().wrapping_add(lane);
        let mut pending = T::ZERO;
        macro_rules! row {
            ($r:literal) => {
                let at = values.wrapping_add(lanes * $r);
                // SAFETY: $r < bits by `each_row`, so the index is below bits * lanes == VECTOR.
                let value = unsafe { (*at).0 }.wrapping_sub(base) & mask;
                let first_bit = W * $r;
                let (word, shift) = (first_bit / bits, first_bit % bits);
                pending = pending | value.shifted_up(shift);
                if shift + W >= bits {
                    let start = words.wrapping_add(word * lanes);
                    // SAFETY: a row starts inside its lane's W words, so the index is below
                    // W * lanes, and the assertion above makes `packed` hold that many words.
                    unsafe { (*start).0 = pending.to_or_from_le() };
                    let crosses = shift + W > bits;
                    pending = if crosses { value.shifted_down(bits - shift) } else { T::ZERO };
                }
            };
        }
        each_row!(T, row);
        // The last row ends on a word boundary, so nothing is left over.
        let _ = pending;
    }
}

multiversion! {
    fn unpack_width[T: Word, const W: usize][T, W](packed: &[u8], base: T, out: &mut [MaybeUninit<T>; VECTOR])
        = unpack_body;
}

multiversion! {
    fn pack_width[T: Word, const W: usize][T, W](values: &[T; VECTOR], base: T, packed: &mut [MaybeUninit<u8>])
        = pack_body;
}

macro_rules! lane_kernels {
    ($t:ty: $($w:literal)*) => {
        impl LaneKernels for $t {
            fn unpack_lanes(packed: &[u8], width: u32, base: Self, out: &mut [MaybeUninit<Self>; VECTOR]) -> bool {
                if packed.len() < VECTOR / 8 * width as usize {
                    return false;
                }
                match width {
                    $( $w => unpack_width::<$t, $w>(packed, base, out), )*
                    _ => return false,
                }
                true
            }

            fn pack_lanes(values: &[Self; VECTOR], base: Self, width: u32, packed: &mut [MaybeUninit<u8>]) -> bool {
                if packed.len() < VECTOR / 8 * width as usize {
                    return false;
                }
                match width {
                    $( $w => pack_width::<$t, $w>(values, base, packed), )*
                    _ => return false,
                }
                true
            }
        }
    };
}

lane_kernels!(u8: 1 2 3 4 5 6 7 8);
lane_kernels!(u16: 9 10 11 12 13 14 15 16);
lane_kernels!(u32: 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32);
lane_kernels!(u64: 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48
    49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64);
