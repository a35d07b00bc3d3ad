//! See `records` in `crates/testkit/src/fuzz`.
#![no_main]

entasis_fuzz::target!(records::run);
