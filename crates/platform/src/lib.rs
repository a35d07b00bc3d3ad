//! Threads, memory and files of the operating system.
//!
//! All `unsafe` code about the operating system is here. The crate knows no other crate of the
//! workspace: [`memory`] holds buffers and borrowed host memory, [`thread_pool`] runs a piece of
//! work on several threads, [`fallocate`] reserves room on a disk.

pub mod fallocate;
pub mod memory;
mod switch;
pub mod thread_pool;

pub use memory::{Buffer, Buffers, HostRead, HostViews};
