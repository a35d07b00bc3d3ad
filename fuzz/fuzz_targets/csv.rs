//! See `csv` in `crates/testkit/src/fuzz`.
#![no_main]

entasis_fuzz::target!(csv::run);
