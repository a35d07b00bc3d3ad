//! Unsigned machine words: the values that kernels work on.

use core::fmt::Debug;
use core::mem::MaybeUninit;
use core::ops::{BitAnd, BitOr, BitXor, Not, Shl, Shr};

/// Number of values in a full vector.
pub const VECTOR: usize = 1024;

/// The bit-packing kernels of one lane word, for the widths that use it. The trait also seals
/// [`Word`].
pub trait LaneKernels: Sized {
    /// Unpacks a full vector. Returns false if this lane word does not have `width`, or if `packed`
    /// is shorter than `128 * width` bytes. Otherwise every element of `out` is initialised.
    fn unpack_lanes(packed: &[u8], width: u32, base: Self, out: &mut [MaybeUninit<Self>; VECTOR]) -> bool;
    /// Packs a full vector to the first `128 * width` bytes. Returns false as above. Otherwise all
    /// of these bytes are initialised.
    fn pack_lanes(values: &[Self; VECTOR], base: Self, width: u32, packed: &mut [MaybeUninit<u8>]) -> bool;
}

/// An unsigned word of 8, 16, 32 or 64 bits. Sealed: the four primitive types are all there is.
///
/// Signed integers and floats reach the kernels as their bit patterns.
pub trait Word:
    LaneKernels
    + bytemuck::Pod
    + Ord
    + Debug
    + Default
    + Send
    + Sync
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
    /// Width of the type in bits.
    const BITS: u32;
    /// Zero.
    const ZERO: Self;
    /// The word with every bit set.
    const MAX: Self;
    /// The word with the top bit alone set; `x ^ SIGN` maps signed order onto unsigned order.
    const SIGN: Self;

    /// Sum modulo 2^BITS.
    fn wrapping_add(self, other: Self) -> Self;
    /// Difference modulo 2^BITS.
    fn wrapping_sub(self, other: Self) -> Self;
    /// The low bits of `value`.
    fn from_u64(value: u64) -> Self;
    /// The word, zero-extended.
    fn to_u64(self) -> u64;
    /// Converts between native and little-endian order. On little-endian machines nothing changes.
    fn to_or_from_le(self) -> Self;
    /// Shifts left by `bits < BITS`, without the check of debug builds: the unrolled kernels have
    /// thousands of shifts.
    fn shifted_up(self, bits: usize) -> Self;
    /// Shifts right by `bits < BITS`, likewise without a check.
    fn shifted_down(self, bits: usize) -> Self;
    /// Number of zero bits above the highest set bit; `BITS` for zero.
    fn leading_zeros(self) -> u32;
}

macro_rules! words {
    ($($t:ty)*) => {$(
        impl Word for $t {
            const BITS: u32 = <$t>::BITS;
            const ZERO: Self = 0;
            const MAX: Self = <$t>::MAX;
            const SIGN: Self = 1 << (<$t>::BITS - 1);

            #[inline(always)]
            fn wrapping_add(self, other: Self) -> Self {
                <$t>::wrapping_add(self, other)
            }
            #[inline(always)]
            fn wrapping_sub(self, other: Self) -> Self {
                <$t>::wrapping_sub(self, other)
            }
            #[inline(always)]
            fn from_u64(value: u64) -> Self {
                value as $t
            }
            #[inline(always)]
            fn to_u64(self) -> u64 {
                self as u64
            }
            #[inline(always)]
            fn to_or_from_le(self) -> Self {
                <$t>::from_le(self)
            }
            #[inline(always)]
            fn shifted_up(self, bits: usize) -> Self {
                self.wrapping_shl(bits as u32)
            }
            #[inline(always)]
            fn shifted_down(self, bits: usize) -> Self {
                self.wrapping_shr(bits as u32)
            }
            #[inline(always)]
            fn leading_zeros(self) -> u32 {
                <$t>::leading_zeros(self)
            }
        }
    )*};
}

words!(u8 u16 u32 u64);

/// The word with the low `width` bits set. `width` may be 0 and is clamped to the type.
#[inline(always)]
pub(crate) fn low_mask<T: Word>(width: u32) -> T {
    if width == 0 { T::ZERO } else { T::MAX >> (T::BITS - width.min(T::BITS)) }
}
