//! See `kernels` in `crates/testkit/src/fuzz`.
#![no_main]

entasis_fuzz::target!(kernels::run);
