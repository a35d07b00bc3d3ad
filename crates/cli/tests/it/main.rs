//! The command, run as a process.

mod append;
mod cat;
mod columns;
mod common;
mod documents;
mod failures;
mod generations;
mod select;
mod select_memory;
mod verbs;
