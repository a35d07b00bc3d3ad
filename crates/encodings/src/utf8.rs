//! Validation of strings.

use entasis_format::{Error, Result};

/// Checks that each string with these lengths is valid UTF-8 by itself.
///
/// # Errors
/// *Corrupt* when one of them is not.
pub(crate) fn check_utf8(bytes: &[u8], lengths: impl Iterator<Item = usize>) -> Result<()> {
    if bytes.is_ascii() {
        return Ok(());
    }
    let damaged = || Error::corrupt("a string is not UTF-8");
    let text = simdutf8::basic::from_utf8(bytes).map_err(|_| damaged())?;
    let mut at = 0;
    for length in lengths {
        at += length;
        if !text.is_char_boundary(at) {
            return Err(damaged());
        }
    }
    Ok(())
}
