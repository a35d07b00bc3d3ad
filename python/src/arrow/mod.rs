//! Arrow's C data interface, for the types that a column can have.

pub mod c_string;
pub mod column;
pub mod export;
pub mod ffi;
pub mod format;
pub mod import;
pub mod metadata;
pub mod nested;
mod nested_chunks;
pub mod stream;
pub mod zones;
