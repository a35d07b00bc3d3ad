//! The value tree: values as an array of nodes and a heap of bytes (`docs/format/values.md`).

mod build;
mod keys;
mod parse;

pub use build::ValueTree;
pub use parse::parse_value;

#[cfg(test)]
mod tests;
