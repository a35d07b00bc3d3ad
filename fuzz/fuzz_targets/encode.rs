//! See `encode` in `crates/testkit/src/fuzz`.
#![no_main]

entasis_fuzz::target!(encode::run);
