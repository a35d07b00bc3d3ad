//! Collects columns in the memory of a host, and writes them.

pub mod blocks;
pub mod builder;
pub mod change;
pub mod destination;
pub mod document;
pub mod runs;
pub mod stream;
pub mod text;
