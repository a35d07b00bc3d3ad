//! Values as an array of nodes and a heap of bytes, and back (`docs/format/values.md`).

mod build;
mod keys;
mod parse;

pub use build::ValueTree;
pub use parse::parse_value;

/// How deep a value may be nested: one that holds no other has depth 1.
pub const MAX_DEPTH: u32 = 64;

#[cfg(test)]
mod tests;
