//! See `cells` in `crates/testkit/src/fuzz`.
#![no_main]

entasis_fuzz::target!(cells::run);
