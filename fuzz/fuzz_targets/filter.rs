//! See `filter` in `crates/testkit/src/fuzz`. Mutations change the program, or the file with its
//! checksums repaired.
#![no_main]

entasis_fuzz::target!(filter::run);
entasis_fuzz::mutator!(entasis_fuzz::change_filter);
