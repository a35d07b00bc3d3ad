//! Copies whole arrays of a host.

use entasis_encodings::Values;
use entasis_format::{Layout, Result, fallible};

use super::Scratch;
use crate::frame::{Array, Chunk, HostValidity, HostValues, OwnedValues};

/// The use of the memory, in messages.
const VALUES: &str = "categories and their codes";

/// A copy of all values of an array without children, and of their validity.
pub(crate) fn owned(array: &Array, of: Layout) -> Result<Chunk> {
    let n = array.n_values();
    let (mut bytes, mut mask, mut ends) = (Vec::new(), Vec::new(), vec![0]);
    let mut scratch = Scratch::default();
    let mut at = 0;
    while at < n {
        let n_loaded = scratch.load(array, of, at..n)?;
        let (values, valid) = scratch.values(of, n_loaded);
        let first = bytes.len() as u64;
        if let Values::Strings { offsets, .. } = &values {
            let more = offsets.iter().skip(1).map(|&end| first + u64::from(end));
            fallible::extend(&mut ends, more, VALUES)?;
        }
        fallible::extend(&mut bytes, bytes_of(&values).iter().copied(), VALUES)?;
        let is_missing = |i: usize| valid.is_some_and(|valid| valid[i / 8] >> (i % 8) & 1 == 0);
        fallible::extend(&mut mask, (0..n_loaded).map(|i| u8::from(is_missing(i))), VALUES)?;
        at += n_loaded as u64;
    }
    let values = match of.width() {
        _ if of.physical.is_var() => OwnedValues::strings(ends, bytes),
        width => OwnedValues::fixed(width.unwrap_or(1), bytes),
    };
    let n = mask.len();
    let validity = if mask.contains(&1) { HostValidity::Owned(mask.into()) } else { HostValidity::AllValid };
    Ok(Chunk { n, values: HostValues::Owned(values), validity })
}

/// The bytes of loaded values, one after the other.
pub(crate) fn bytes_of<'a>(values: &'a Values<'_>) -> &'a [u8] {
    match values {
        Values::Bool(v) | Values::W8(v) | Values::Fixed { bytes: v, .. } => v,
        Values::W16(v) => bytemuck::cast_slice(v),
        Values::W32(v) => bytemuck::cast_slice(v),
        Values::W64(v) => bytemuck::cast_slice(v),
        Values::W128(v) => bytemuck::cast_slice(v),
        Values::Strings { bytes, .. } => bytes,
    }
}
