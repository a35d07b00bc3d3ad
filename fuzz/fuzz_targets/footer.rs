//! See `footer` in `crates/testkit/src/fuzz`. Mutations change one section at a time.
#![no_main]

entasis_fuzz::target!(footer::run);
entasis_fuzz::mutator!(entasis_fuzz::change_section);
