//! Packings: words become bytes and back (format, section 4.2).

pub(crate) mod bit_packed;
pub(crate) mod delta;
pub(crate) mod raw;
pub(crate) mod run_length;
