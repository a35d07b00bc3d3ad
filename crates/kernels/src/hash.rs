//! XXH3-64 with AVX-512, also of host memory without a copy.
//!
//! `twox-hash` supports AVX2 and NEON. AVX-512 hashes data in the caches, such as a page that was
//! just read, twice as fast. Implementations of XXH3 also take a slice, which must not be formed
//! over memory that its host may write to ([`HostRead`]). Hashing a copy piece by piece would run
//! at half the speed of memory.

use crate::dispatch::{Isa, isa};
use entasis_platform::HostRead;

/// Below this length XXH3 uses other formulas, which are not implemented here.
const LONG_FROM: usize = 241;
/// From this length on AVX-512 is faster. For shorter inputs the start and the end dominate.
const QUICKER_FROM: usize = 2048;

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

/// The parts of the secret for a seed, as words.
struct Keys {
    /// Stripe i of a block uses eight words starting at word i; scrambling uses the last eight.
    block: [u64; SECRET.len() / 8],
    /// The key of the last stripe.
    last: Stripe,
    /// The key of the final mix.
    end: Stripe,
}

impl Keys {
    /// The keys of seed 0.
    const PLAIN: Keys = Keys::new(0);

    const fn new(seed: u64) -> Keys {
        let mut secret = SECRET;
        let mut keys = Keys { block: [0; SECRET.len() / 8], last: [0; 8], end: [0; 8] };
        let mut i = 0;
        while i < keys.block.len() {
            let plain = word(&SECRET, 8 * i);
            keys.block[i] = if i % 2 == 0 { plain.wrapping_add(seed) } else { plain.wrapping_sub(seed) };
            let (_, bytes) = secret.split_at_mut(8 * i);
            bytes.split_at_mut(8).0.copy_from_slice(&keys.block[i].to_le_bytes());
            i += 1;
        }
        let mut i = 0;
        while i < keys.last.len() {
            keys.last[i] = word(&secret, SECRET.len() - STRIPE - 7 + 8 * i);
            keys.end[i] = word(&secret, 11 + 8 * i);
            i += 1;
        }
        keys
    }
}

/// The word at byte `at`.
const fn word(secret: &[u8; SECRET.len()], at: usize) -> u64 {
    let (_, bytes) = secret.split_at(at);
    match bytes.first_chunk() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => panic!("a word of the secret"),
    }
}

/// XXH3-64 of a slice.
#[must_use]
pub fn of_slice(bytes: &[u8], seed: u64) -> u64 {
    if isa() == Isa::Avx512 && bytes.len() >= QUICKER_FROM {
        // SAFETY: the slice is borrowed, and so readable and unchanged, until this function
        // returns.
        let host = unsafe { HostRead::new(bytes.as_ptr(), bytes.len()) };
        if let Some(hash) = of_long(host, seed) {
            return hash;
        }
    }
    twox_hash::XxHash3_64::oneshot_with_seed(seed, bytes)
}

/// XXH3-64 of a host's memory.
///
/// Each byte is read once, except that the last 64 may be read twice. Only the result depends on
/// the bytes. If the host writes to them meanwhile, the hash is that of no particular state, and no
/// harm is done.
#[must_use]
pub fn of_host(host: HostRead, seed: u64) -> u64 {
    of_long(host, seed).unwrap_or_else(|| {
        let mut short = [0; LONG_FROM];
        let short = &mut short[..host.len().min(LONG_FROM)];
        let is_whole = host.copy_to(0, short);
        debug_assert!(is_whole, "no more bytes are copied than there are");
        of_slice(short, seed)
    })
}

/// `None` for fewer than [`LONG_FROM`] bytes.
fn of_long(host: HostRead, seed: u64) -> Option<u64> {
    let len = host.len();
    if len < LONG_FROM {
        return None;
    }
    let seeded;
    let keys = if seed == 0 {
        const { &Keys::PLAIN }
    } else {
        seeded = Keys::new(seed);
        &seeded
    };
    let mut accumulators =
        [PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1];
    // The last stripe is separate from the blocks: it ends at the end of the input.
    mix(&mut accumulators, host.sub(0, (len - 1) / STRIPE * STRIPE)?, keys);
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
    match isa() {
        // SAFETY: `isa()` only returns levels that this CPU has.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { x86::avx512::mix(accumulators, stripes, keys) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { x86::avx2::mix(accumulators, stripes, keys) },
        _ => mix_plain(accumulators, stripes, keys),
    }
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

/// Written by hand: compiled plain loops reach half the speed of memory.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use core::arch::x86_64::*;

    use super::{Keys, PRIME32_1, STRIPE, STRIPES, Stripe};
    use entasis_platform::HostRead;

    /// `mix` for vectors of `$n` words. `COUNT` vectors are a stripe.
    macro_rules! mix {
        ($name:ident, $features:literal, $vector:ty, $n:literal, $load:ident, $store:ident, $swap:expr, $set:ident,
            $xor:ident, $multiply:ident, $add:ident, $right:ident, $left:ident) => {
            pub(super) mod $name {
                use super::*;

                const N: usize = $n;
                const COUNT: usize = STRIPE / size_of::<$vector>();

                #[target_feature(enable = $features)]
                pub(in super::super) fn mix(accumulators: &mut Stripe, stripes: HostRead, keys: &Keys) {
                    let mut sums: [$vector; COUNT] = core::array::from_fn(|i| load(accumulators, N * i));
                    for at in (0..stripes.len()).step_by(STRIPES * STRIPE) {
                        let n = (stripes.len() - at).min(STRIPES * STRIPE);
                        let Some(block) = stripes.address(at, n) else { return };
                        // SAFETY: `address` checked that `n` bytes are readable: that many stripes.
                        // The same loop twice, so that one of them is unrolled.
                        unsafe {
                            if n == STRIPES * STRIPE {
                                for stripe in 0..STRIPES {
                                    accumulate(&mut sums, block.add(stripe * STRIPE), stripe, keys);
                                }
                                scramble(&mut sums, keys);
                            } else {
                                for stripe in 0..n / STRIPE {
                                    accumulate(&mut sums, block.add(stripe * STRIPE), stripe, keys);
                                }
                            }
                        }
                    }
                    for (sum, words) in sums.iter().zip(accumulators.as_chunks_mut::<N>().0) {
                        // SAFETY: the words are a vector.
                        unsafe { $store(words.as_mut_ptr().cast(), *sum) };
                    }
                }

                /// Mixes in one stripe. `stripe` is its index in its block.
                ///
                /// # Safety
                /// The stripe's bytes are readable.
                #[inline]
                #[target_feature(enable = $features)]
                unsafe fn accumulate(
                    sums: &mut [$vector; COUNT],
                    from: *const u8,
                    stripe: usize,
                    keys: &Keys,
                ) {
                    for (i, sum) in sums.iter_mut().enumerate() {
                        // SAFETY: as the caller promises; vector i of the stripe lies in it.
                        let values = unsafe { $load(from.add(i * size_of::<$vector>()).cast()) };
                        let mixed = $xor(values, load(&keys.block, stripe + N * i));
                        let product = $multiply(mixed, $right::<32>(mixed));
                        *sum = $add(*sum, $add($swap(values), product));
                    }
                }

                #[inline]
                #[target_feature(enable = $features)]
                fn scramble(sums: &mut [$vector; COUNT], keys: &Keys) {
                    let prime = $set(PRIME32_1 as i64);
                    for (i, sum) in sums.iter_mut().enumerate() {
                        let shifted = $xor(*sum, $right::<47>(*sum));
                        let mixed = $xor(shifted, load(&keys.block, STRIPES + N * i));
                        let low = $multiply(mixed, prime);
                        let high = $multiply($right::<32>(mixed), prime);
                        *sum = $add(low, $left::<32>(high));
                    }
                }

                /// A vector of words from word `at` on.
                #[inline]
                #[target_feature(enable = $features)]
                fn load(words: &[u64], at: usize) -> $vector {
                    let words = &words[at..at + N];
                    // SAFETY: the slice is a vector long.
                    unsafe { $load(words.as_ptr().cast()) }
                }
            }
        };
    }

    mix!(
        avx2,
        "avx2",
        __m256i,
        4,
        _mm256_loadu_si256,
        _mm256_storeu_si256,
        _mm256_shuffle_epi32::<0b01_00_11_10>,
        _mm256_set1_epi64x,
        _mm256_xor_si256,
        _mm256_mul_epu32,
        _mm256_add_epi64,
        _mm256_srli_epi64,
        _mm256_slli_epi64
    );
    mix!(
        avx512,
        "avx512f",
        __m512i,
        8,
        _mm512_loadu_si512,
        _mm512_storeu_si512,
        _mm512_shuffle_epi32::<0b01_00_11_10>,
        _mm512_set1_epi64,
        _mm512_xor_si512,
        _mm512_mul_epu32,
        _mm512_add_epi64,
        _mm512_srli_epi64,
        _mm512_slli_epi64
    );
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
    fn the_same_as_the_crate_that_knows_less_vectors() {
        let bytes: Vec<u8> = (0..9000u32).map(|i| (i.wrapping_mul(0x9E37_79B1) >> 24) as u8).collect();
        on_every_isa(|isa| {
            for len in (0..4).chain(LONG_FROM - 3..2600).chain([4095, 4096, 4097, 8999]) {
                for seed in [0, 1, 0x8000_0000_0000_0001, u64::MAX] {
                    // Not aligned to anything when the length is odd.
                    let part = &bytes[len % 2..][..len];
                    let expected = twox_hash::XxHash3_64::oneshot_with_seed(seed, part);
                    assert_eq!(of_host(lend(part), seed), expected, "{isa:?} {len} {seed}");
                    assert_eq!(of_slice(part, seed), expected, "{isa:?} {len} {seed}");
                    assert_eq!(of_long(lend(part), seed), (len >= LONG_FROM).then_some(expected));
                }
            }
        });
    }
}
