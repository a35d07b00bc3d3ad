//! Reports NaN as missing.

use entasis_format::{Error, Result};
use entasis_kernels::{Word, nan};

use super::request::{MissingTo, Output, Source, unaligned};

/// Clears the validity bits of NaN where NaN counts as missing. The values and bits must be in
/// place, and both start with the first value.
pub(super) fn clear_nan(source: &Source, output: &Output<'_>, missing: &mut MissingTo<'_>) -> Result<()> {
    let (Output::Words(words), MissingTo::BitsWithNan(bits)) = (output, missing) else { return Ok(()) };
    if words.is_empty() {
        // Memory without values has any alignment.
        return Ok(());
    }
    let is_done = match source.of.physical.width() {
        Some(2) => clear::<u16>(words, bits)?,
        Some(4) => clear::<u32>(words, bits)?,
        Some(8) => clear::<u64>(words, bits)?,
        _ => false,
    };
    if is_done {
        Ok(())
    } else {
        Err(Error::argument("the memory for missing values does not fit the floats"))
    }
}

fn clear<T: Word>(words: &[u8], bits: &mut [u8]) -> Result<bool> {
    Ok(nan::clear_bits::<T>(bytemuck::try_cast_slice(words).map_err(unaligned)?, bits))
}
