//! Trees of Python objects: to cells and back. What Rust has no name for is asked of Python, by its type.

pub mod lazy;
pub mod path;
pub mod read;
pub mod types;
pub mod write;
