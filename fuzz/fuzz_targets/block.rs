//! See `block` in `crates/testkit/src/fuzz`.
#![no_main]

entasis_fuzz::target!(block::run);
