//! Packing 0: values as they are, or shuffled by bytes (format, sections 4.2 and 4.4).

use entasis_format::Filter;
use entasis_kernels::shuffle;

/// Appends raw values, shuffled when the filter says so.
pub(crate) fn emit(bytes: &[u8], width: usize, filter: Filter, body: &mut Vec<u8>) {
    match filter {
        Filter::None => body.extend_from_slice(bytes),
        Filter::Shuffle => {
            let shuffled = shuffle::shuffle(bytes, width, body);
            debug_assert!(shuffled, "words are of 2 bytes or more");
        }
    }
}
