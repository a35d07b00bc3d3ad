//! Trees of Python objects: to cells and back. Python code handles types that Rust does not know.

mod containers;
pub mod lazy;
mod loaded;
pub mod path;
mod pools;
pub mod read;
pub mod types;
pub mod write;
