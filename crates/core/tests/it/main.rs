//! The core through its public interface.

mod anywhere;
mod changes;
mod common;
mod examples;
mod failures;
mod int32;
mod loader;
mod long_texts;
mod mappable;
mod matrices;
mod nan;
mod one_writer;
mod pieces;
mod pre_encoded;
mod round_trip;
mod rounds;
mod sealed;
mod selective;
mod side_by_side;
