//! The bits after the last value of a packed sequence, which are zero.

use entasis_format::{Error, Result};

/// Checks that the bits of `bytes` after the first `n_bits` are zero. There must be fewer than 8 of
/// these unused bits.
///
/// # Errors
/// *Corrupt*.
pub(crate) fn check(bytes: &[u8], n_bits: usize) -> Result<()> {
    let used = n_bits % 8;
    match bytes.get(n_bits / 8) {
        Some(byte) if used != 0 && byte >> used != 0 => {
            Err(Error::corrupt("unused bits of a page are not zero"))
        }
        _ => Ok(()),
    }
}
