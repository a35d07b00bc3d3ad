//! Arrow buffers made from structure values: masks, offsets of lists, validity bits.

use entasis_format::{Result, fallible};
use entasis_kernels::bits;
use entasis_platform::Buffer;

use crate::read::alloc::{COLUMNS, too_many, zeroed, zeros};

/// A mask for `n` values, none missing.
pub(super) fn mask(n: usize) -> Result<Vec<u8>> {
    zeros(n)
}

/// The offsets of lists with these lengths. `total` is the sum of lengths. Also returns whether
/// offsets have 64 bits.
pub(super) fn offsets(
    lengths: impl Iterator<Item = u64>,
    n: usize,
    total: u64,
    is_small: bool,
) -> Result<(Buffer, bool)> {
    let is_large = !is_small || i32::try_from(total).is_err();
    let mut offsets = zeroed(n.checked_add(1).ok_or_else(too_many)?, if is_large { 8 } else { 4 })?;
    let mut end = 0u64;
    if is_large {
        let ends: &mut [u64] = &mut bytemuck::cast_slice_mut(&mut offsets)[1..];
        for (out, len) in ends.iter_mut().zip(lengths) {
            end += len;
            *out = end;
        }
    } else {
        let ends: &mut [u32] = &mut bytemuck::cast_slice_mut(&mut offsets)[1..];
        for (out, len) in ends.iter_mut().zip(lengths) {
            end += len;
            *out = end as u32;
        }
    }
    Ok((offsets, is_large))
}

/// A mask as validity bits; `None` if no value is missing.
pub(super) fn packed(mask: &[u8]) -> Result<Option<Buffer>> {
    if !mask.contains(&1) {
        return Ok(None);
    }
    let mut bytes = fallible::with_capacity(mask.len().div_ceil(8), COLUMNS)?;
    let valid: Vec<u8> = fallible::collect(mask.iter().map(|&missing| 1 - missing), COLUMNS)?;
    bits::pack_bytes(&valid, &mut bytes);
    let mut buffer = zeroed(mask.len().div_ceil(8), 1)?;
    let n = buffer.len();
    buffer.copy_from_slice(bytes.get(..n).ok_or_else(too_many)?);
    Ok(Some(buffer))
}
