//! Numeric kernels of Entasis: the small loops that every column passes through.
//!
//! This is the only crate of the workspace with numeric `unsafe`. Each function checks the lengths
//! of its arguments before it touches memory. Arguments from a hostile file make it return `false`
//! or `None`; they never make it panic or read outside a slice.
//!
//! Kernels are plain loops that the compiler vectorises. They are compiled for the baseline of the
//! target, for AVX2 and for AVX-512. [`dispatch`] selects one at run time; the environment variable
//! `ENTASIS_ISA` lowers the choice.
//!
//! ```
//! use entasis_kernels::bitpack::{pack, packed_len, unpack};
//!
//! let values: Vec<u32> = (0..1000).map(|i| 500 + i % 7).collect();
//! let mut packed = Vec::new();
//! pack(&values, 500, 3, &mut packed);
//! assert_eq!(packed.len(), packed_len(1000, 3));
//!
//! let mut back = vec![0; 1000];
//! assert!(unpack(&packed, 3, 500, &mut back));
//! assert_eq!(back, values);
//!
//! // A length that does not fit is refused.
//! assert!(!unpack(&packed[1..], 3, 500, &mut back));
//! ```

pub mod alp;
pub mod bitpack;
pub mod bits;
pub mod column_stats;
pub mod compare;
pub mod delta;
pub mod dispatch;
pub mod fields;
pub mod fsst;
pub mod gather;
pub mod hash;
pub mod nan;
pub mod prefetch;
pub mod sentinel;
pub mod shuffle;
pub mod sign_extend;
pub mod string_hash;
pub mod transpose;
mod word;

pub use transpose::MatrixMut;
pub use word::{VECTOR, Word};
