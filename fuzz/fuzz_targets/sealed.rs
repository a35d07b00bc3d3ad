//! See `sealed` in `crates/testkit/src/fuzz`.
#![no_main]

entasis_fuzz::target!(sealed::run);
