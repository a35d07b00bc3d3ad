//! Everything that serves one interpreter alone: CPython.

#[cfg_attr(not(target_os = "linux"), path = "arenas_stub.rs")]
pub mod arenas;
pub mod symbols;
