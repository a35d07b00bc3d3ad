//! See `file` in `crates/testkit/src/fuzz`.
#![no_main]

entasis_fuzz::target!(file::read);
