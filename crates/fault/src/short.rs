//! Short and interrupted calls.

use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicU64, Ordering};

/// Makes calls short: 1 to 7 bytes, with about a quarter of the calls interrupted.
#[derive(Debug)]
pub(super) struct Short {
    state: AtomicU64,
}

impl Short {
    pub(super) fn new(seed: u64) -> Short {
        Short { state: AtomicU64::new(seed) }
    }

    /// The number of bytes that pass in this call.
    pub(super) fn take(&self, len: usize) -> io::Result<usize> {
        let random = mix(self.state.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed));
        if random & 3 == 0 {
            return Err(ErrorKind::Interrupted.into());
        }
        Ok(len.min(1 + (random >> 8) as usize % 7))
    }
}

/// The output step of SplitMix64.
fn mix(state: u64) -> u64 {
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}
