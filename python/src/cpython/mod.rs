//! Everything that serves one interpreter alone: CPython.
//!
//! The code here calls documented functions of CPython that its stable interface (`abi3`) does not
//! contain, or depends on how CPython implements a documented behaviour. Each feature makes reading
//! faster and nothing else: without it, the same objects are made through the stable interface.
//!
//! `docs/cpython.md` says for each feature on what it relies, since which version, and how to
//! switch it off. [`feature`] has the switches.

#[cfg_attr(not(target_os = "linux"), path = "arenas_stub.rs")]
pub mod arenas;
mod feature;
pub mod features;
pub mod keyword_dict;
pub mod shared_keys;
mod symbols;
