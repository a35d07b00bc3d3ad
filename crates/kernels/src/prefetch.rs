//! Hints about memory that is read soon.

/// Asks for the cache line of `memory[at]`. Nothing happens if `at` is outside, or if the processor
/// takes no hints.
#[inline(always)]
pub fn prefetch(memory: &[u8], at: usize) {
    let Some(byte) = memory.get(at) else { return };
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the address is that of a byte, and a hint never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(byte).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = byte;
}
