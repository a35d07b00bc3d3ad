//! See `buffers` in `crates/testkit/src/fuzz`.
#![no_main]

entasis_fuzz::target!(buffers::run);
