//! See `foreign` in `crates/testkit/src/fuzz`.
#![no_main]

entasis_fuzz::target!(foreign::run);
