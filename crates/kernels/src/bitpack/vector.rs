//! Packing and unpacking one vector: the choice of layout and lane word.

use super::sequential::{pack_sequential, read_bits, unpack_sequential};
use super::{VECTOR, lane_bits, packed_len};
use crate::dispatch::multiversion;
use crate::word::{Word, low_mask};
use core::mem::MaybeUninit;

/// Appends `values` packed to `width` bits each to `out`: `packed_len(values.len(), width)` bytes.
///
/// Each value is stored as the low `width` bits of `value - base` (wrapping). The caller has to
/// patch values that do not fit. 1,024 values use the full layout, fewer the partial one.
///
/// # Panics
/// If `values` is empty or longer than 1,024, or if `width > T::BITS`.
pub fn pack<T: Word>(values: &[T], base: T, width: u32, out: &mut Vec<u8>) {
    assert!((1..=VECTOR).contains(&values.len()), "a vector has 1 to 1,024 values");
    assert!(width <= T::BITS, "width exceeds the word");
    let Ok(full) = <&[T; VECTOR]>::try_from(values) else {
        return pack_sequential(values, base, width, out);
    };
    if width == 0 {
        return;
    }
    let len = packed_len(VECTOR, width);
    out.reserve(len);
    let packed = &mut out.spare_capacity_mut()[..len];
    let done = match lane_bits(width) {
        8 => pack_through::<u8, T>(full, base, width, packed),
        16 => pack_through::<u16, T>(full, base, width, packed),
        32 => pack_through::<u32, T>(full, base, width, packed),
        _ => pack_through::<u64, T>(full, base, width, packed),
    };
    assert!(done, "width was checked above");
    // SAFETY: room for `len` more bytes was reserved, and `pack_lanes` returned true, so it has
    // initialised all of them.
    unsafe { out.set_len(out.len() + len) };
}

/// Unpacks `out.len()` values of `width` bits: `out[i] = base + packed[i]` (wrapping).
///
/// 1,024 values are read in the full layout, fewer in the partial one. Returns false, with `out`
/// in an unspecified state, when `out` is empty or longer than 1,024, when `width > T::BITS`, or
/// when `packed` is shorter than `packed_len(out.len(), width)`; further bytes are ignored.
#[must_use]
pub fn unpack<T: Word>(packed: &[u8], width: u32, base: T, out: &mut [T]) -> bool {
    if width > T::BITS || out.is_empty() || out.len() > VECTOR {
        return false;
    }
    let Ok(full) = <&mut [T; VECTOR]>::try_from(&mut *out) else {
        return unpack_sequential(packed, width, base, out);
    };
    if width == 0 {
        full.fill(base);
        return true;
    }
    match lane_bits(width) {
        8 => unpack_through::<u8, T>(packed, width, base, full),
        16 => unpack_through::<u16, T>(packed, width, base, full),
        32 => unpack_through::<u32, T>(packed, width, base, full),
        _ => unpack_through::<u64, T>(packed, width, base, full),
    }
}

/// Value `i` of a vector of `n` values packed by [`pack`]; `None` when `n` is not in 1..=1,024,
/// `i >= n`, `width > T::BITS` or `packed` is too short. Constant cost.
#[must_use]
pub fn unpack_one<T: Word>(packed: &[u8], n: usize, width: u32, base: T, i: usize) -> Option<T> {
    if width > T::BITS || n > VECTOR || i >= n || packed.len() < packed_len(n, width) {
        return None;
    }
    let value =
        if n < VECTOR || width == 0 { read_bits(packed, i, width) } else { read_lane(packed, width, i) };
    Some(base.wrapping_add(T::from_u64(value)))
}

/// Value `i` of a full vector of at least `128 * width` bytes.
fn read_lane(packed: &[u8], width: u32, i: usize) -> u64 {
    match lane_bits(width) {
        8 => read_lane_of::<1>(packed, width, i),
        16 => read_lane_of::<2>(packed, width, i),
        32 => read_lane_of::<4>(packed, width, i),
        _ => read_lane_of::<8>(packed, width, i),
    }
}

/// As [`read_lane`], for lane words of `BYTES` bytes.
fn read_lane_of<const BYTES: usize>(packed: &[u8], width: u32, i: usize) -> u64 {
    let bits = 8 * BYTES;
    let lanes = VECTOR / bits;
    let (lane, first_bit) = (i % lanes, i / lanes * width as usize);
    let word = |k: usize| {
        let at = (k * lanes + lane) * BYTES;
        let mut padded = [0; 8];
        padded[..BYTES].copy_from_slice(&packed[at..at + BYTES]);
        u64::from_le_bytes(padded)
    };
    let (k, shift) = (first_bit / bits, first_bit % bits);
    let mut value = word(k) >> shift;
    if shift + width as usize > bits {
        value |= word(k + 1) << (bits - shift);
    }
    value & low_mask::<u64>(width)
}

/// Unpacks with lane word `L`: straight into `out` if `L` is `T`, otherwise through an array that
/// fits the L1 cache.
fn unpack_through<L: Word, T: Word>(packed: &[u8], width: u32, base: T, out: &mut [T; VECTOR]) -> bool {
    if L::BITS > T::BITS {
        return false;
    }
    if L::BITS == T::BITS {
        // SAFETY: words of equal size are the same type, and `MaybeUninit` has the layout of what
        // it wraps; kernels only write initialised words, so `out` stays initialised.
        let out = unsafe { &mut *(out as *mut [T; VECTOR]).cast::<[MaybeUninit<L>; VECTOR]>() };
        return L::unpack_lanes(packed, width, L::from_u64(base.to_u64()), out);
    }
    with_lanes::<L>(packed, width, |narrow| widen(narrow, base, out))
}

/// Unpacks a full vector as lane words and passes them to `take`. Returns false, without a call, if
/// this lane word lacks `width` or `packed` is too short.
#[inline(always)]
pub(crate) fn with_lanes<L: Word>(packed: &[u8], width: u32, take: impl FnOnce(&[L; VECTOR])) -> bool {
    let mut narrow = [MaybeUninit::<L>::uninit(); VECTOR];
    if !L::unpack_lanes(packed, width, L::ZERO, &mut narrow) {
        return false;
    }
    // SAFETY: `unpack_lanes` returned true, so it has initialised every element.
    take(unsafe { &*(&raw const narrow).cast::<[L; VECTOR]>() });
    true
}

/// The reverse of [`unpack_through`]. Truncation to `L` loses nothing, because `width` bits fit.
fn pack_through<L: Word, T: Word>(
    values: &[T; VECTOR],
    base: T,
    width: u32,
    packed: &mut [MaybeUninit<u8>],
) -> bool {
    if L::BITS > T::BITS {
        return false;
    }
    if L::BITS == T::BITS {
        let values: &[L; VECTOR] = bytemuck::cast_ref(values);
        return L::pack_lanes(values, L::from_u64(base.to_u64()), width, packed);
    }
    let mut narrow = [MaybeUninit::<L>::uninit(); VECTOR];
    narrow_to(values, base, &mut narrow);
    // SAFETY: `narrow_to` has initialised every element, because both arrays have the same length.
    let narrow = unsafe { &*(&raw const narrow).cast::<[L; VECTOR]>() };
    L::pack_lanes(narrow, L::ZERO, width, packed)
}

#[inline(always)]
fn widen_body<L: Word, T: Word>(narrow: &[L; VECTOR], base: T, out: &mut [T; VECTOR]) {
    for (out, value) in out.iter_mut().zip(narrow) {
        *out = T::from_u64(value.to_u64()).wrapping_add(base);
    }
}

#[inline(always)]
fn narrow_body<L: Word, T: Word>(values: &[T; VECTOR], base: T, narrow: &mut [MaybeUninit<L>; VECTOR]) {
    for (narrow, value) in narrow.iter_mut().zip(values) {
        narrow.write(L::from_u64(value.wrapping_sub(base).to_u64()));
    }
}

multiversion! {
    fn widen[L: Word, T: Word][L, T](narrow: &[L; VECTOR], base: T, out: &mut [T; VECTOR]) = widen_body;
}

multiversion! {
    fn narrow_to[L: Word, T: Word][L, T](values: &[T; VECTOR], base: T, narrow: &mut [MaybeUninit<L>; VECTOR])
        = narrow_body;
}
