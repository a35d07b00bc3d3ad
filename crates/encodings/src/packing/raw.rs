//! Raw packing (packing 0): values unchanged, or shuffled by bytes.

use entasis_format::Filter;
use entasis_kernels::shuffle;

/// Appends raw values of `width` bytes, shuffled if the filter requires it.
pub(crate) fn emit(bytes: &[u8], width: usize, filter: Filter, body: &mut Vec<u8>) {
    match filter {
        Filter::None => body.extend_from_slice(bytes),
        Filter::Shuffle => {
            let shuffled = shuffle::shuffle(bytes, width, body);
            debug_assert!(shuffled, "words are of 2 bytes or more");
        }
    }
}
