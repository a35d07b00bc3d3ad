//! Numeric kernels of Entasis: the small loops that every column passes through.
//!
//! This is the only crate of the workspace with numeric `unsafe`. Each function checks the
//! lengths it is handed before it touches memory, so arguments that come from a hostile file make
//! it return `false` or `None`; they never make it panic or read outside a slice.
//!
//! Kernels are plain loops that the compiler vectorises. They are compiled for the baseline of the
//! target, for AVX2 and for AVX-512, and [`dispatch`] picks one at run time.

pub mod alp;
pub mod bitpack;
pub mod bits;
pub mod column_stats;
pub mod delta;
pub mod dispatch;
pub mod fsst;
pub mod gather;
pub mod hash;
pub mod sentinel;
pub mod shuffle;
pub mod sign_extend;
pub mod string_hash;
pub mod transpose;
mod word;

pub use transpose::MatrixMut;
pub use word::{VECTOR, Word};
