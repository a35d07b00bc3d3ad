//! Packings: words become bytes and back (`docs/format/encodings.md`).

pub(crate) mod bit_packed;
pub(crate) mod delta;
pub(crate) mod raw;
pub(crate) mod run_length;
pub(crate) mod unused_bits;
