//! Files are replaced as a whole, locked and kept, whatever fails.

mod access;
#[path = "../common/mod.rs"]
mod common;
mod crash;
mod errors;
mod faults;
mod new_files;
mod readers;
mod target;
