//! See `values` in `crates/testkit/src/fuzz`.
#![no_main]

entasis_fuzz::target!(values::run);
