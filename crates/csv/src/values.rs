//! Fields to values.
//!
//! The functions take a text that goes on for [`PADDING`] bytes after the last field, so that they
//! can load whole words.

pub mod decimals;
pub mod floats;
pub mod formats;
pub mod integers;
pub mod times;

/// Bytes that the text has after its last field.
pub const PADDING: usize = 32;

/// Eight bytes from `at` on, the first one the least significant.
#[inline(always)]
pub(crate) fn word(text: &[u8], at: usize) -> u64 {
    match text.get(at..).and_then(<[u8]>::first_chunk) {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => short_word(text, at),
    }
}

#[cold]
fn short_word(text: &[u8], at: usize) -> u64 {
    let mut bytes = [0; 8];
    let rest = text.get(at..).unwrap_or_default();
    bytes[..rest.len()].copy_from_slice(rest);
    u64::from_le_bytes(bytes)
}

/// The truth value of a field.
pub fn boolean(field: &[u8]) -> Option<bool> {
    match field {
        b"true" | b"TRUE" | b"True" => Some(true),
        b"false" | b"FALSE" | b"False" => Some(false),
        _ => None,
    }
}
