//! XXH3-64 of a host's memory, without a copy of it.
//!
//! Implementations of XXH3 take a slice, which can't be formed over memory that its host may write to
//! ([`HostRead`]). Hashing a copy piece by piece runs at half the speed of memory; this goes at all of it.

use crate::memory::HostRead;

/// Up to this length XXH3 has other, shorter formulas, which are not here.
pub const LONG_FROM: usize = 241;

/// Words of a stripe, the unit that is mixed into the accumulators.
type Stripe = [u64; 8];

/// Bytes of a stripe.
const STRIPE: usize = size_of::<Stripe>();
/// Stripes of a block, after which the accumulators are scrambled.
const STRIPES: usize = (SECRET.len() - STRIPE) / 8;

const PRIME32_1: u64 = 0x9E37_79B1;
const PRIME32_2: u64 = 0x85EB_CA77;
const PRIME32_3: u64 = 0xC2B2_AE3D;
const PRIME64_1: u64 = 0x9E37_79B1_85EB_CA87;
const PRIME64_2: u64 = 0xC2B2_AE3D_27D4_EB4F;
const PRIME64_3: u64 = 0x1656_67B1_9E37_79F9;
const PRIME64_4: u64 = 0x85EB_CA77_C2B2_AE63;
const PRIME64_5: u64 = 0x27D4_EB2F_1656_67C5;

/// The secret of XXH3's specification.
const SECRET: [u8; 192] = [
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c, 0xde,
    0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f, 0xcb, 0x79,
    0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21, 0xb8, 0x08, 0x46,
    0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c, 0x3c, 0x28, 0x52, 0xbb,
    0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3, 0x71, 0x64, 0x48, 0x97, 0xa2,
    0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8, 0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c,
    0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d, 0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59,
    0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64, 0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3,
    0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb, 0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3,
    0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e, 0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8,
    0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce, 0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb,
    0xca, 0xbb, 0x4b, 0x40, 0x7e,
];

/// The parts of a seed's secret, as words.
struct Keys {
    /// Stripe i of a block takes eight words from word i on; scrambling takes the last eight.
    block: [u64; SECRET.len() / 8],
    /// What the last stripe takes.
    last: Stripe,
    /// What the end takes.
    end: Stripe,
}

impl Keys {
    #[inline(never)]
    fn new(seed: u64) -> Keys {
        let mut secret = SECRET;
        for (i, word) in secret.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            let plain = u64::from_le_bytes(*word);
            let seeded = if i % 2 == 0 { plain.wrapping_add(seed) } else { plain.wrapping_sub(seed) };
            *word = seeded.to_le_bytes();
        }
        let mut keys = Keys { block: [0; SECRET.len() / 8], last: [0; 8], end: [0; 8] };
        words(&secret, 0, &mut keys.block);
        words(&secret, SECRET.len() - STRIPE - 7, &mut keys.last);
        words(&secret, 11, &mut keys.end);
        keys
    }
}

/// Fills `words` from byte `at` on.
fn words(secret: &[u8; SECRET.len()], at: usize, words: &mut [u64]) {
    for (word, bytes) in words.iter_mut().zip(secret[at..].as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*bytes);
    }
}

/// XXH3-64 with this seed; `None` for less than [`LONG_FROM`] bytes.
///
/// Each byte is read once (those of the last 64 perhaps twice), and nothing but the result depends on them: a host that
/// writes to the memory meanwhile gets the hash of no particular state of it and harms nothing.
#[must_use]
pub fn xxh3_64_long(host: HostRead, seed: u64) -> Option<u64> {
    let len = host.len();
    if len < LONG_FROM {
        return None;
    }
    let keys = Keys::new(seed);
    let mut accumulators =
        [PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1];
    // The last stripe is none of those of the blocks: it ends where the bytes end.
    mix(&mut accumulators, host.sub(0, (len - 1) / STRIPE * STRIPE)?, &keys);
    accumulate(&mut accumulators, &host.read(len - STRIPE)?, &keys.last);
    let mut hash = (len as u64).wrapping_mul(PRIME64_1);
    for (pair, key) in accumulators.as_chunks::<2>().0.iter().zip(keys.end.as_chunks::<2>().0) {
        let product = u128::from(pair[0] ^ key[0]) * u128::from(pair[1] ^ key[1]);
        hash = hash.wrapping_add(product as u64 ^ (product >> 64) as u64);
    }
    hash = (hash ^ hash >> 37).wrapping_mul(0x1656_6791_9E37_79F9);
    Some(hash ^ hash >> 32)
}

/// Mixes in whole stripes, and scrambles after each whole block of them.
fn mix(accumulators: &mut Stripe, stripes: HostRead, keys: &Keys) {
    #[cfg(target_arch = "x86_64")]
    if crate::dispatch::isa() >= crate::dispatch::Isa::Avx2 {
        // SAFETY: `isa()` only returns levels that this CPU has.
        return unsafe { x86::mix(accumulators, stripes, keys) };
    }
    mix_plain(accumulators, stripes, keys);
}

fn mix_plain(accumulators: &mut Stripe, stripes: HostRead, keys: &Keys) {
    let mut stripe = 0;
    while let Some(bytes) = stripes.read(stripe * STRIPE) {
        accumulate(accumulators, &bytes, &keys.block[stripe % STRIPES..]);
        stripe += 1;
        if stripe % STRIPES == 0 {
            scramble(accumulators, &keys.block[STRIPES..]);
        }
    }
}

#[inline(always)]
fn accumulate(accumulators: &mut Stripe, stripe: &Stripe, key: &[u64]) {
    let values: Stripe = core::array::from_fn(|i| u64::from_le(stripe[i]));
    for (i, (accumulator, key)) in accumulators.iter_mut().zip(key).enumerate() {
        let mixed = values[i] ^ key;
        let product = (mixed & 0xFFFF_FFFF) * (mixed >> 32);
        *accumulator = accumulator.wrapping_add(values[i ^ 1]).wrapping_add(product);
    }
}

#[inline(always)]
fn scramble(accumulators: &mut Stripe, key: &[u64]) {
    for (accumulator, key) in accumulators.iter_mut().zip(key) {
        *accumulator = (*accumulator ^ *accumulator >> 47 ^ key).wrapping_mul(PRIME32_1);
    }
}

/// By hand: from plain loops the compiler makes half the speed of memory.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use core::arch::x86_64::*;

    use super::{Keys, PRIME32_1, STRIPE, STRIPES, Stripe};
    use crate::memory::HostRead;

    /// Half a stripe, or half the accumulators.
    const HALF: usize = STRIPE / 2;

    #[target_feature(enable = "avx2")]
    pub(super) fn mix(accumulators: &mut Stripe, stripes: HostRead, keys: &Keys) {
        let state: *mut __m256i = accumulators.as_mut_ptr().cast();
        // SAFETY: the accumulators are two vectors long.
        let mut halves = unsafe { [_mm256_loadu_si256(state), _mm256_loadu_si256(state.add(1))] };
        for at in (0..stripes.len()).step_by(STRIPES * STRIPE) {
            let n = (stripes.len() - at).min(STRIPES * STRIPE);
            let Some(block) = stripes.sub(at, n) else { return };
            // The same loop twice, so that one of them is unrolled.
            if n == STRIPES * STRIPE {
                for stripe in 0..STRIPES {
                    accumulate(&mut halves, block, stripe, keys);
                }
                scramble(&mut halves, keys);
            } else {
                for stripe in 0..n / STRIPE {
                    accumulate(&mut halves, block, stripe, keys);
                }
            }
        }
        // SAFETY: as above.
        unsafe {
            _mm256_storeu_si256(state, halves[0]);
            _mm256_storeu_si256(state.add(1), halves[1]);
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn accumulate(halves: &mut [__m256i; 2], block: HostRead, stripe: usize, keys: &Keys) {
        for (i, sum) in halves.iter_mut().enumerate() {
            let Some(from) = block.address(stripe * STRIPE + i * HALF, HALF) else { return };
            // SAFETY: `address` checked that the vector's bytes are readable.
            let values = unsafe { _mm256_loadu_si256(from.cast()) };
            let mixed = _mm256_xor_si256(values, load(&keys.block, stripe + 4 * i));
            let product = _mm256_mul_epu32(mixed, _mm256_srli_epi64::<32>(mixed));
            let swapped = _mm256_shuffle_epi32::<0b01_00_11_10>(values);
            *sum = _mm256_add_epi64(_mm256_add_epi64(*sum, swapped), product);
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn scramble(halves: &mut [__m256i; 2], keys: &Keys) {
        let prime = _mm256_set1_epi64x(PRIME32_1 as i64);
        for (i, sum) in halves.iter_mut().enumerate() {
            let shifted = _mm256_xor_si256(*sum, _mm256_srli_epi64::<47>(*sum));
            let mixed = _mm256_xor_si256(shifted, load(&keys.block, STRIPES + 4 * i));
            let low = _mm256_mul_epu32(mixed, prime);
            let high = _mm256_mul_epu32(_mm256_srli_epi64::<32>(mixed), prime);
            *sum = _mm256_add_epi64(low, _mm256_slli_epi64::<32>(high));
        }
    }

    /// Four words from word `at` on.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(words: &[u64], at: usize) -> __m256i {
        let words = &words[at..at + 4];
        // SAFETY: the slice is a vector long.
        unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::on_every_isa;

    fn lend(bytes: &[u8]) -> HostRead {
        // SAFETY: every test keeps `bytes` alive and unchanged while it reads.
        unsafe { HostRead::new(bytes.as_ptr(), bytes.len()) }
    }

    #[test]
    fn the_same_as_the_crate_of_the_checksums() {
        let bytes: Vec<u8> = (0..9000u32).map(|i| (i.wrapping_mul(0x9E37_79B1) >> 24) as u8).collect();
        on_every_isa(|isa| {
            for len in (LONG_FROM..2600).chain([4095, 4096, 4097, 8999]) {
                for seed in [0, 1, 0x8000_0000_0000_0001, u64::MAX] {
                    // Not aligned to anything when the length is odd.
                    let part = &bytes[len % 2..][..len];
                    let expected = twox_hash::XxHash3_64::oneshot_with_seed(seed, part);
                    assert_eq!(xxh3_64_long(lend(part), seed), Some(expected), "{isa:?} {len} {seed}");
                }
            }
        });
    }

    #[test]
    fn short_ones_are_left_to_others() {
        for len in [0, 1, LONG_FROM - 1] {
            assert_eq!(xxh3_64_long(lend(&vec![7; len]), 0), None);
        }
    }
}
