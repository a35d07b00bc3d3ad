//! Kernels for AVX-512 and AES. Masked loads read the bytes of a string and none after it, so
//! neither its length nor the end of the buffer needs a branch. AES rounds mix 16 bytes at a time.

use std::arch::x86_64::{
    _bzhi_u32, _bzhi_u64, _mm_aesenc_si128, _mm_cvtsi128_si64, _mm_maskz_loadu_epi8, _mm_set_epi64x,
    _mm_set1_epi64x, _mm_xor_si128, _mm256_castsi256_si128, _mm256_cmpneq_epi8_mask,
    _mm256_extracti128_si256, _mm256_maskz_loadu_epi8, _mm512_castsi512_si128, _mm512_cmpneq_epi8_mask,
    _mm512_extracti32x4_epi32, _mm512_maskz_loadu_epi8,
};

use super::scalar::{are_different, hash_of};
use super::{LONG, MIDDLE, TINY};
use crate::dispatch::{Isa, isa};

/// Whether this processor has the required features and `ENTASIS_ISA` allows them.
pub(super) fn is_supported() -> bool {
    isa() >= Isa::Avx512 && is_x86_feature_detected!("aes")
}

/// As [`super::Hashing::hash_all`].
///
/// # Safety
/// `ends` ascend and do not exceed the length of `all`.
#[target_feature(enable = "aes,bmi2,avx512f,avx512bw,avx512vl")]
pub(super) unsafe fn hash_all<const MOST: usize>(all: &[u8], ends: &[u32], hashes: &mut [u64]) {
    for (hash, ends) in hashes.iter_mut().zip(ends.windows(2)) {
        let (start, end) = (ends[0] as usize, ends[1] as usize);
        // SAFETY: the string is within `all` by this function's contract.
        *hash = unsafe { hash_first::<MOST>(all.as_ptr().add(start), end - start) };
        if MOST > LONG && end - start > LONG {
            *hash ^= hash_of(&all[start..end]);
        }
    }
}

/// The hash of the first bytes of a string of `len` bytes, at most `MOST` of them.
///
/// # Safety
/// `len` bytes are readable at `string`.
#[inline]
#[target_feature(enable = "aes,bmi2,avx512f,avx512bw,avx512vl")]
unsafe fn hash_first<const MOST: usize>(string: *const u8, len: usize) -> u64 {
    if MOST <= TINY {
        let bits = _bzhi_u32(u32::MAX, len.min(TINY) as u32) as u16;
        // SAFETY: the mask has at most `len` bits, and a masked load does not touch other bytes.
        let word = unsafe { _mm_maskz_loadu_epi8(bits, string.cast()) };
        return _mm_cvtsi128_si64(word) as u64 | (len as u64) << 56;
    }
    let key = _mm_set_epi64x(0x1319_8A2E_0370_7345, 0x243F_6A88_85A3_08D3);
    let mixed = if MOST <= MIDDLE {
        let bits = _bzhi_u32(u32::MAX, len.min(MIDDLE) as u32);
        // SAFETY: as above.
        let bytes = unsafe { _mm256_maskz_loadu_epi8(bits, string.cast()) };
        let (low, high) = (_mm256_castsi256_si128(bytes), _mm256_extracti128_si256::<1>(bytes));
        _mm_aesenc_si128(_mm_xor_si128(low, key), high)
    } else {
        let bits = _bzhi_u64(u64::MAX, len.min(LONG) as u32);
        // SAFETY: as above.
        let bytes = unsafe { _mm512_maskz_loadu_epi8(bits, string.cast()) };
        let (a, b) = (_mm512_castsi512_si128(bytes), _mm512_extracti32x4_epi32::<1>(bytes));
        let (c, d) = (_mm512_extracti32x4_epi32::<2>(bytes), _mm512_extracti32x4_epi32::<3>(bytes));
        let first = _mm_aesenc_si128(_mm_xor_si128(a, key), b);
        let last = _mm_aesenc_si128(_mm_xor_si128(c, _mm_set1_epi64x(0x0082_EFA9_8EC4_E6C8)), d);
        _mm_aesenc_si128(first, last)
    };
    // Two rounds make each bit depend on all bytes. The length distinguishes strings that differ in
    // trailing zeros alone.
    let (key, len) = (_mm_set1_epi64x(0x4528_21E6_38D0_1377), _mm_set1_epi64x(len as i64));
    let mixed = _mm_aesenc_si128(mixed, _mm_xor_si128(key, len));
    _mm_cvtsi128_si64(_mm_aesenc_si128(mixed, key)) as u64
}

/// As [`super::Hashing::are_equal`].
///
/// # Safety
/// `ends` ascend and do not exceed the length of `all`.
#[target_feature(enable = "bmi2,avx512f,avx512bw,avx512vl")]
pub(super) unsafe fn are_equal<const MOST: usize>(
    all: &[u8],
    ends: &[u32],
    codes: &[u32],
    firsts: &[[u32; 2]],
) -> bool {
    // Collects the differences of all pairs in lengths and bytes, and tests them once.
    let mut differ = 0;
    for (code, ends) in codes.iter().zip(ends.windows(2)) {
        let (start, end) = (ends[0] as usize, ends[1] as usize);
        let [first, first_end] = firsts[*code as usize].map(|at| at as usize);
        assert!(first <= first_end && first_end <= all.len(), "the first string of a code is there");
        let (len, first_len) = (end - start, first_end - first);
        differ |= (len ^ first_len) as u64;
        if MOST > LONG && len > LONG {
            differ |= u64::from(are_different(all, start..end, first..first_end));
            continue;
        }
        // SAFETY: the string is within `all` by this function's contract, the first one by the
        // assertion above.
        let (string, first) = unsafe { (all.as_ptr().add(start), all.as_ptr().add(first)) };
        differ |= if MOST <= MIDDLE {
            let bits = |len: usize| _bzhi_u32(u32::MAX, len.min(MIDDLE) as u32);
            // SAFETY: the masks have at most as many bits as the strings have bytes; other bytes
            // are not touched.
            let (string, first) = unsafe {
                (
                    _mm256_maskz_loadu_epi8(bits(len), string.cast()),
                    _mm256_maskz_loadu_epi8(bits(first_len), first.cast()),
                )
            };
            u64::from(_mm256_cmpneq_epi8_mask(string, first))
        } else {
            let bits = |len: usize| _bzhi_u64(u64::MAX, len.min(LONG) as u32);
            // SAFETY: as above.
            let (string, first) = unsafe {
                (
                    _mm512_maskz_loadu_epi8(bits(len), string.cast()),
                    _mm512_maskz_loadu_epi8(bits(first_len), first.cast()),
                )
            };
            _mm512_cmpneq_epi8_mask(string, first)
        };
    }
    differ == 0
}
