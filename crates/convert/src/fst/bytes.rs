//! Numbers at positions of a file, which are checked.

use entasis::{Error, Result};

/// `len` bytes at a position.
pub(super) fn slice(bytes: &[u8], at: u64, len: u64) -> Result<&[u8]> {
    let end = at.checked_add(len).and_then(|end| usize::try_from(end).ok());
    let found = end.and_then(|end| bytes.get(at as usize..end));
    found.ok_or_else(|| Error::corrupt("a position leads outside of the file").at(at))
}

pub(super) fn array<const N: usize>(bytes: &[u8], at: u64) -> Result<[u8; N]> {
    let mut array = [0; N];
    array.copy_from_slice(slice(bytes, at, N as u64)?);
    Ok(array)
}

pub(super) fn u16_at(bytes: &[u8], at: u64) -> Result<u16> {
    Ok(u16::from_le_bytes(array(bytes, at)?))
}

pub(super) fn u32_at(bytes: &[u8], at: u64) -> Result<u32> {
    Ok(u32::from_le_bytes(array(bytes, at)?))
}

pub(super) fn u64_at(bytes: &[u8], at: u64) -> Result<u64> {
    Ok(u64::from_le_bytes(array(bytes, at)?))
}

/// A position that is a sum.
pub(super) fn sum(at: u64, more: u64) -> Result<u64> {
    at.checked_add(more).ok_or_else(|| Error::corrupt("a position leads outside of the file"))
}
