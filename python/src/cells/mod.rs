//! Trees of Python objects: to cells and back. What Rust has no name for is asked of Python, by its type.

mod containers;
pub mod lazy;
mod loaded;
pub mod path;
mod pools;
pub mod read;
pub mod types;
pub mod write;
