//! Packs bytes to bits.

#[cfg(target_arch = "x86_64")]
use crate::dispatch::Isa;
use crate::dispatch::isa;

/// Appends one bit per byte, 1 where it is not zero: `ceil(bytes.len() / 8)` bytes, the bits after
/// the last one zero. Starts at a byte boundary of `out`.
pub fn pack_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + bytes.len().div_ceil(8), 0);
    let bits = &mut out[start..];
    match isa() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `isa()` only returns levels that this CPU has.
        Isa::Avx512 => unsafe { x86::walk_avx512(bytes, bits) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Isa::Avx2 => unsafe { x86::walk_avx2(bytes, bits) },
        _ => walk(bytes, bits, squeeze),
    }
}

/// Passes each chunk of 64 bytes to `squeeze` and stores the returned bits.
#[inline(always)]
fn walk(bytes: &[u8], bits: &mut [u8], squeeze: impl Fn(&[u8; 64]) -> u64) {
    let (chunks, rest) = bytes.as_chunks::<64>();
    let (words, tail) = bits.as_chunks_mut::<8>();
    for (chunk, word) in chunks.iter().zip(&mut *words) {
        *word = squeeze(chunk).to_le_bytes();
    }
    if !rest.is_empty() {
        let mut padded = [0; 64];
        padded[..rest.len()].copy_from_slice(rest);
        let word = squeeze(&padded).to_le_bytes();
        // More than 56 bytes are left over when their bits fill a whole word of their own.
        let last = if tail.is_empty() { words.last_mut().map_or(&mut [][..], |w| &mut w[..]) } else { tail };
        let used = last.len();
        last.copy_from_slice(&word[..used]);
    }
}

/// Eight bytes to eight bits at a time with ordinary arithmetic.
#[inline(always)]
fn squeeze(bytes: &[u8; 64]) -> u64 {
    let mut bits = [0; 8];
    for (bytes, bits) in bytes.as_chunks::<8>().0.iter().zip(&mut bits) {
        let word = u64::from_le_bytes(*bytes);
        // The top bit of each byte says whether any bit was set; the product gathers them.
        let low = (word & 0x7f7f_7f7f_7f7f_7f7f) + 0x7f7f_7f7f_7f7f_7f7f;
        let ones = (low | word) >> 7 & 0x0101_0101_0101_0101;
        *bits = (ones.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8;
    }
    u64::from_le_bytes(bits)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use core::arch::x86_64::*;

    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,avx2")]
    pub fn walk_avx512(bytes: &[u8], bits: &mut [u8]) {
        super::walk(bytes, bits, |bytes| {
            // SAFETY: `bytes` is 64 bytes; the load is unaligned.
            let bytes = unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
            _mm512_test_epi8_mask(bytes, bytes)
        });
    }

    #[target_feature(enable = "avx2,bmi1,bmi2")]
    pub fn walk_avx2(bytes: &[u8], bits: &mut [u8]) {
        super::walk(bytes, bits, |bytes| {
            let mut zeros = 0;
            for half in 0..2 {
                // SAFETY: `bytes` is 64 bytes and the halves are 32 each; the load is unaligned.
                let half_bytes = unsafe { _mm256_loadu_si256(bytes.as_ptr().add(32 * half).cast()) };
                let is_zero = _mm256_cmpeq_epi8(half_bytes, _mm256_setzero_si256());
                zeros |= u64::from(_mm256_movemask_epi8(is_zero) as u32) << (32 * half);
            }
            !zeros
        });
    }
}
