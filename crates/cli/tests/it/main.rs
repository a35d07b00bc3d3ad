//! The command, run as a process.

#[macro_use]
mod common;

mod append;
mod append_types;
mod cat;
mod clobber;
mod columns;
mod csv;
mod csv_memory;
mod documents;
mod encryption;
mod failures;
mod folders;
mod from_r;
mod fst_file;
mod fst_memory;
mod generations;
mod host;
mod select;
mod select_memory;
mod verbs;
