//! See `change` in `crates/testkit/src/fuzz`. Mutations repair the checksums.
#![no_main]

entasis_fuzz::target!(change::run);
entasis_fuzz::mutator!(entasis_fuzz::change_file);
