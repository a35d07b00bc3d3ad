//! Files that R wrote, streams of a naive writer, and damaged bytes.

mod common;
mod fixtures;
mod table;
