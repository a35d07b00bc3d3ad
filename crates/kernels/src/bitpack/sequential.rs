//! Plain sequences of bits, least significant first, for any number of values.

use super::packed_len;
use crate::word::{Word, low_mask};

/// Appends `values` as a sequence of `width`-bit fields to `out`: `packed_len(values.len(), width)`
/// bytes, the bits after the last value zero. Each value is the low bits of `value - base`.
///
/// # Panics
/// When `width > T::BITS`: an encoder's mistake.
pub fn pack_sequential<T: Word>(values: &[T], base: T, width: u32, out: &mut Vec<u8>) {
    assert!(width <= T::BITS, "width exceeds the word");
    if width == 0 {
        return;
    }
    out.reserve(packed_len(values.len(), width));
    match width {
        1..=8 => pack_groups::<T, 8>(values, base, width, out),
        9..=16 => pack_groups::<T, 4>(values, base, width, out),
        17..=32 => pack_groups::<T, 2>(values, base, width, out),
        _ => pack_groups::<T, 1>(values, base, width, out),
    }
}

/// As [`pack_sequential`], by groups of values that fit 64 bits together.
fn pack_groups<T: Word, const GROUP: usize>(values: &[T], base: T, width: u32, out: &mut Vec<u8>) {
    let mask = low_mask::<T>(width);
    let together = |group: &[T]| {
        let fields = group.iter().zip(0..).map(|(value, i)| ((value.wrapping_sub(base) & mask).to_u64(), i));
        fields.fold(0, |bits, (field, i)| bits | field << (width * i))
    };
    // Between groups `pending` holds fewer than 64 bits.
    let (mut pending, mut held) = (0u64, 0u32);
    let mut add = |bits: u64, len: u32| {
        pending |= bits << held;
        held += len;
        if held >= 64 {
            out.extend_from_slice(&pending.to_le_bytes());
            held -= 64;
            // The bits of the group that were not written yet; none if it ended exactly here.
            pending = bits.checked_shr(len - held).unwrap_or(0);
        }
    };
    let (groups, rest) = values.as_chunks::<GROUP>();
    groups.iter().for_each(|group| add(together(group), width * GROUP as u32));
    rest.iter().for_each(|value| add(together(&[*value]), width));
    out.extend_from_slice(&pending.to_le_bytes()[..held.div_ceil(8) as usize]);
}

/// Unpacks `out.len()` fields of `width` bits: `out[i] = base + field[i]` (wrapping).
///
/// Returns false, leaving `out` unchanged, if `width > T::BITS` or `packed` is shorter than
/// `packed_len(out.len(), width)`. Further bytes are ignored. About a nanosecond per value.
#[must_use]
pub fn unpack_sequential<T: Word>(packed: &[u8], width: u32, base: T, out: &mut [T]) -> bool {
    if width > T::BITS || packed.len() < packed_len(out.len(), width) {
        return false;
    }
    if width == 0 {
        out.fill(base);
        return true;
    }
    let bits = width as usize;
    let mask = low_mask::<u64>(width);
    // Fields whose window of 8 bytes (16 if a field can span 9 bytes) is inside `packed` are read
    // with whole loads. The few fields after them are assembled from bytes.
    let window = if width <= 57 { 8 } else { 16 };
    let easy =
        if packed.len() < window { 0 } else { ((packed.len() - window) * 8 / bits + 1).min(out.len()) };
    let (whole, rest) = out.split_at_mut(easy);
    let start = packed.as_ptr();
    if width <= 57 {
        for (i, out) in whole.iter_mut().enumerate() {
            // SAFETY: i < easy, so i * bits / 8 + 8 <= packed.len().
            let word = unsafe { start.add(i * bits / 8).cast::<u64>().read_unaligned() };
            *out = base.wrapping_add(T::from_u64(u64::from_le(word) >> (i * bits % 8) & mask));
        }
    } else {
        for (i, out) in whole.iter_mut().enumerate() {
            // SAFETY: i < easy, so i * bits / 8 + 16 <= packed.len().
            let word = unsafe { start.add(i * bits / 8).cast::<u128>().read_unaligned() };
            *out = base.wrapping_add(T::from_u64((u128::from_le(word) >> (i * bits % 8)) as u64 & mask));
        }
    }
    for (i, out) in rest.iter_mut().enumerate() {
        *out = base.wrapping_add(T::from_u64(read_bits(packed, easy + i, width)));
    }
    true
}

/// Field `i`; bytes past the end of `packed` count as zero.
pub(super) fn read_bits(packed: &[u8], i: usize, width: u32) -> u64 {
    let bit = i * width as usize;
    let tail = packed.get(bit / 8..).unwrap_or(&[]);
    let take = tail.len().min(16);
    let mut window = [0; 16];
    window[..take].copy_from_slice(&tail[..take]);
    (u128::from_le_bytes(window) >> (bit % 8)) as u64 & low_mask::<u64>(width)
}
