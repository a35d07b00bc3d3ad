//! Differences of neighbours and their running sum.

#[cfg(target_arch = "x86_64")]
use crate::dispatch::Isa;
use crate::dispatch::{isa, multiversion};
use crate::word::Word;

/// Writes `values[i] - values[i - 1]` (wrapping) to `out[i]`, and zero to `out[0]`.
///
/// Returns false, leaving `out` alone, when the lengths differ.
#[must_use]
pub fn deltas<T: Word>(values: &[T], out: &mut [T]) -> bool {
    if values.len() != out.len() {
        return false;
    }
    if let Some((first, rest)) = out.split_first_mut() {
        *first = T::ZERO;
        subtract_neighbours(values, rest);
    }
    true
}

/// Turns differences into values, in place: element 0 becomes `first` (what it held is ignored),
/// element `i` becomes `element[i - 1] + min_delta + element[i]` (wrapping).
pub fn prefix_sum<T: Word>(first: T, min_delta: T, deltas_in_place: &mut [T]) {
    let Some(head) = deltas_in_place.first_mut() else { return };
    // Every element gets `min_delta` added, the first one too.
    *head = T::ZERO.wrapping_sub(min_delta);
    match isa() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `isa()` only returns levels that this CPU has.
        Isa::Avx512 => unsafe { x86::running_sum(first, min_delta, deltas_in_place) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: SSE2 is part of every x86-64.
        _ if T::BITS < 32 => unsafe { x86::running_sum_narrow(first, min_delta, deltas_in_place) },
        _ => running_sum(first, min_delta, deltas_in_place),
    }
}

/// `values[i] = carry + (i + 1) * step + values[0] + ... + values[i]`.
#[inline(always)]
fn running_sum<T: Word>(mut carry: T, step: T, values: &mut [T]) {
    // The chain through `carry` is one addition per group: the sums inside a group do not wait
    // for it.
    let (groups, rest) = values.as_chunks_mut::<4>();
    for group in groups {
        let [a, b, c, d] = group.map(|value| value.wrapping_add(step));
        let (ab, cd) = (a.wrapping_add(b), c.wrapping_add(d));
        let sums = [a, ab, ab.wrapping_add(c), ab.wrapping_add(cd)];
        *group = sums.map(|sum| carry.wrapping_add(sum));
        carry = group[3];
    }
    for value in rest {
        carry = carry.wrapping_add(value.wrapping_add(step));
        *value = carry;
    }
}

#[inline(always)]
fn subtract_body<T: Word>(values: &[T], out: &mut [T]) {
    for ((out, value), before) in out.iter_mut().zip(values.iter().skip(1)).zip(values) {
        *out = value.wrapping_sub(*before);
    }
}

multiversion! {
    fn subtract_neighbours[T: Word][T](values: &[T], out: &mut [T]) = subtract_body;
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use crate::word::Word;
    use core::arch::x86_64::*;

    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    fn add<T: Word>(a: __m512i, b: __m512i) -> __m512i {
        match T::BITS {
            8 => _mm512_add_epi8(a, b),
            16 => _mm512_add_epi16(a, b),
            32 => _mm512_add_epi32(a, b),
            _ => _mm512_add_epi64(a, b),
        }
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    fn broadcast<T: Word>(value: T) -> __m512i {
        match T::BITS {
            8 => _mm512_set1_epi8(value.to_u64() as i8),
            16 => _mm512_set1_epi16(value.to_u64() as i16),
            32 => _mm512_set1_epi32(value.to_u64() as i32),
            _ => _mm512_set1_epi64(value.to_u64() as i64),
        }
    }

    /// As [`super::running_sum`], for words of 8 and 16 bits, with the instructions that
    /// every x86-64 processor has.
    #[target_feature(enable = "sse2")]
    pub fn running_sum_narrow<T: Word>(mut carry: T, step: T, values: &mut [T]) {
        let size = size_of::<T>();
        let splat = |value: T| match T::BITS {
            8 => _mm_set1_epi8(value.to_u64() as i8),
            _ => _mm_set1_epi16(value.to_u64() as i16),
        };
        let add = |a, b| if T::BITS == 8 { _mm_add_epi8(a, b) } else { _mm_add_epi16(a, b) };
        let steps = splat(step);
        let mut registers = values.chunks_exact_mut(16 / size);
        for register in &mut registers {
            // SAFETY: the chunk is 16 bytes; the load is unaligned.
            let mut sum = add(unsafe { _mm_loadu_si128(register.as_ptr().cast()) }, steps);
            if T::BITS == 8 {
                sum = add(sum, _mm_bslli_si128::<1>(sum));
            }
            sum = add(sum, _mm_bslli_si128::<2>(sum));
            sum = add(sum, _mm_bslli_si128::<4>(sum));
            sum = add(sum, _mm_bslli_si128::<8>(sum));
            // SAFETY: as above, for the store.
            unsafe { _mm_storeu_si128(register.as_mut_ptr().cast(), add(sum, splat(carry))) };
            let last_two_bytes = _mm_extract_epi16::<7>(sum) as u64;
            carry = carry.wrapping_add(T::from_u64(last_two_bytes >> (16 - T::BITS)));
        }
        super::running_sum(carry, step, registers.into_remainder());
    }

    /// As [`super::running_sum`]. The sums in a 64-byte register double their distance in
    /// each step, so only one addition per register waits for the previous register.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi1,bmi2,avx2")]
    pub fn running_sum<T: Word>(carry: T, step: T, values: &mut [T]) {
        const IDENTITY: [u8; 64] = {
            let mut bytes = [0; 64];
            let mut i = 0;
            while i < 64 {
                bytes[i] = i as u8;
                i += 1;
            }
            bytes
        };
        let size = size_of::<T>();
        // SAFETY: `IDENTITY` is 64 bytes; the load is unaligned.
        let identity = unsafe { _mm512_loadu_si512(IDENTITY.as_ptr().cast()) };
        // Index of the register's last element's bytes, repeated.
        let last = _mm512_or_si512(
            _mm512_and_si512(identity, _mm512_set1_epi8(size as i8 - 1)),
            _mm512_set1_epi8((64 - size) as i8),
        );
        let steps = broadcast(step);
        let mut carries = broadcast(carry);
        let per_register = 64 / size;
        let mut registers = values.chunks_exact_mut(per_register);
        let mut carry = carry;
        for register in &mut registers {
            // SAFETY: the chunk is 64 bytes; loads and stores are unaligned.
            let mut sum = unsafe { _mm512_loadu_si512(register.as_ptr().cast()) };
            sum = add::<T>(sum, steps);
            let mut distance = size;
            while distance < 64 {
                let from = _mm512_sub_epi8(identity, _mm512_set1_epi8(distance as i8));
                let shifted = _mm512_maskz_permutexvar_epi8(u64::MAX << distance, from, sum);
                sum = add::<T>(sum, shifted);
                distance *= 2;
            }
            let total = _mm512_permutexvar_epi8(last, sum);
            // SAFETY: as above.
            unsafe { _mm512_storeu_si512(register.as_mut_ptr().cast(), add::<T>(sum, carries)) };
            carries = add::<T>(carries, total);
            carry = register[per_register - 1];
        }
        super::running_sum(carry, step, registers.into_remainder());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::on_every_isa;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn check<T: Word>(values: &[u64], first: u64, min_delta: u64) {
        let values: Vec<T> = values.iter().map(|&v| T::from_u64(v)).collect();
        let (first, min_delta) = (T::from_u64(first), T::from_u64(min_delta));
        let mut expected = values.clone();
        for i in 0..values.len() {
            let before = if i == 0 { first } else { expected[i - 1].wrapping_add(min_delta) };
            expected[i] = if i == 0 { before } else { before.wrapping_add(values[i]) };
        }
        on_every_isa(|isa| {
            let mut sums = values.clone();
            prefix_sum(first, min_delta, &mut sums);
            assert_eq!(sums, expected, "{} bits on {isa:?}", T::BITS);
            let mut back = values.clone();
            assert!(deltas(&sums, &mut back));
            for i in 1..values.len() {
                assert_eq!(back[i], values[i].wrapping_add(min_delta));
            }
            assert!(back.first().is_none_or(|&head| head == T::ZERO));
            back.push(T::ZERO);
            assert!(!deltas(&sums, &mut back));
        });
    }

    proptest! {
        #[test]
        fn sums_undo_differences(values in vec(any::<u64>(), 0..300), first in any::<u64>(), min in any::<u64>()) {
            check::<u8>(&values, first, min);
            check::<u16>(&values, first, min);
            check::<u32>(&values, first, min);
            check::<u64>(&values, first, min);
        }
    }
}
