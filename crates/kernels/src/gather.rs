//! Dictionary decoding: codes to values.

use crate::dispatch::multiversion;
use crate::word::Word;
use bytemuck::Pod;

/// Codes checked and gathered together, so that the second pass finds them in cache.
const BLOCK: usize = 4096;

/// Writes `dictionary[codes[i]]` to `out[i]`.
///
/// Returns false when `out` and `codes` differ in length or a code is not below `dictionary.len()`;
/// `out` may then be partly written. With AVX-512, values of one byte with codes of one byte go
/// through a table in registers, at some 50 GB/s; other values take two loads each.
#[must_use]
pub fn gather<T: Pod, C: Word>(dictionary: &[T], codes: &[C], out: &mut [T]) -> bool {
    if out.len() != codes.len() {
        return false;
    }
    #[cfg(target_arch = "x86_64")]
    if let Some(done) = x86::gather_bytes(dictionary, codes, out) {
        return done;
    }
    codes.chunks(BLOCK).zip(out.chunks_mut(BLOCK)).all(|(codes, out)| {
        let known = check_codes(codes, dictionary.len());
        if known {
            // SAFETY: `check_codes` found every code below dictionary.len(); `chunks` of equal
            // lengths are equally long.
            unsafe { gather_checked(dictionary, codes, out) };
        }
        known
    })
}

/// Whether every code is below `n`.
#[must_use]
pub fn check_codes<C: Word>(codes: &[C], n: usize) -> bool {
    if n as u64 > C::MAX.to_u64() {
        return true;
    }
    codes.is_empty() || largest(codes).to_u64() < n as u64
}

#[inline(always)]
fn largest_body<C: Word>(codes: &[C]) -> C {
    codes.iter().fold(C::ZERO, |largest, &code| largest.max(code))
}

multiversion! {
    fn largest[C: Word][C](codes: &[C]) -> C = largest_body;
}

/// # Safety
/// Every code is below `dictionary.len()`, and `out` is as long as `codes`.
unsafe fn gather_checked<T: Copy, C: Word>(dictionary: &[T], codes: &[C], out: &mut [T]) {
    for (out, code) in out.iter_mut().zip(codes) {
        // SAFETY: the caller has checked that the code is below dictionary.len().
        *out = unsafe { *dictionary.get_unchecked(code.to_u64() as usize) };
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use crate::dispatch::{Isa, isa};
    use crate::word::Word;
    use bytemuck::Pod;
    use core::arch::x86_64::*;

    /// Bytes by byte codes from a table in registers; `None` when the types or the CPU do not suit.
    pub fn gather_bytes<T: Pod, C: Word>(dictionary: &[T], codes: &[C], out: &mut [T]) -> Option<bool> {
        if size_of::<T>() != 1 || C::BITS != 8 || isa() != Isa::Avx512 {
            return None;
        }
        if !super::check_codes(codes, dictionary.len()) {
            return Some(false);
        }
        // A code of one byte cannot refer to entries past the 256th.
        let mut table = [0; 256];
        let entries = dictionary.len().min(table.len());
        table[..entries].copy_from_slice(bytemuck::cast_slice(&dictionary[..entries]));
        // SAFETY: `isa()` said that this CPU has AVX-512 with VBMI.
        unsafe { permute(&table, bytemuck::cast_slice(codes), bytemuck::cast_slice_mut(out)) };
        Some(true)
    }

    /// `out[i] = table[codes[i]]`, for as many as both slices have.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi1,bmi2,avx2")]
    fn permute(table: &[u8; 256], codes: &[u8], out: &mut [u8]) {
        // SAFETY: `table` is 256 bytes: four registers; the loads are unaligned.
        let [a, b, c, d] =
            [0, 64, 128, 192].map(|at| unsafe { _mm512_loadu_si512(table.as_ptr().add(at).cast()) });
        let (code_chunks, code_rest) = codes.as_chunks::<64>();
        let (out_chunks, out_rest) = out.as_chunks_mut::<64>();
        for (codes, out) in code_chunks.iter().zip(out_chunks) {
            // SAFETY: both chunks are 64 bytes; loads and stores are unaligned.
            unsafe {
                let codes = _mm512_loadu_si512(codes.as_ptr().cast());
                // A permutation takes the low seven bits; the top one picks between the two.
                let low = _mm512_permutex2var_epi8(a, codes, b);
                let high = _mm512_permutex2var_epi8(c, codes, d);
                let values = _mm512_mask_blend_epi8(_mm512_movepi8_mask(codes), low, high);
                _mm512_storeu_si512(out.as_mut_ptr().cast(), values);
            }
        }
        for (&code, out) in code_rest.iter().zip(out_rest) {
            *out = table[usize::from(code)];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::on_every_isa;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn check<T: Pod + PartialEq + core::fmt::Debug, C: Word>(dictionary: &[T], codes: &[C], fill: T) {
        let model: Option<Vec<T>> =
            codes.iter().map(|c| dictionary.get(c.to_u64() as usize).copied()).collect();
        on_every_isa(|_| {
            let mut out = vec![fill; codes.len()];
            assert_eq!(gather(dictionary, codes, &mut out), model.is_some());
            assert_eq!(check_codes(codes, dictionary.len()), model.is_some());
            if let Some(model) = &model {
                assert_eq!(&out, model);
            }
            out.push(fill);
            assert!(!gather(dictionary, codes, &mut out));
        });
    }

    proptest! {
        #[test]
        fn gathers_like_indexing(
            n in 0usize..300,
            codes in vec(0u64..256, 0..300),
            stray in proptest::option::weighted(0.2, any::<u64>()),
            clamp in any::<bool>(),
        ) {
            let mut codes = codes;
            if clamp && n > 0 {
                codes.iter_mut().for_each(|code| *code %= n as u64);
            }
            codes.extend(stray);
            let dictionary: Vec<u64> = (0..n as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
            let bytes: Vec<u8> = dictionary.iter().map(|&v| (v >> 56) as u8).collect();
            let halves: Vec<u16> = dictionary.iter().map(|&v| (v >> 48) as u16).collect();
            let singles: Vec<u32> = dictionary.iter().map(|&v| (v >> 32) as u32).collect();
            let wide: Vec<u128> = dictionary.iter().map(|&v| u128::from(v) << 64 | 5).collect();
            let byte_codes: Vec<u8> = codes.iter().map(|&c| c as u8).collect();
            let half_codes: Vec<u16> = codes.iter().map(|&c| c as u16).collect();
            let single_codes: Vec<u32> = codes.iter().map(|&c| c as u32).collect();
            check(&bytes, &byte_codes, 0);
            check(&halves, &byte_codes, 0);
            check(&singles, &half_codes, 0);
            check(&dictionary, &single_codes, 0);
            check(&dictionary, &byte_codes, 0);
            check(&wide, &codes, 0);
            check(&bytes, &codes, 0);
        }
    }

    #[test]
    fn an_empty_dictionary_serves_no_code() {
        on_every_isa(|_| {
            assert!(!gather::<u8, u8>(&[], &[0], &mut [0]));
            assert!(!gather::<u64, u32>(&[], &[0], &mut [0]));
            assert!(gather::<u64, u32>(&[], &[], &mut []));
            assert!(gather::<u8, u8>(&[], &[], &mut []));
        });
    }
}
