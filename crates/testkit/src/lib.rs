//! Support for the tests of Entasis: a naive decoder of the format, generators of frames, a mutator
//! that repairs checksums, and the golden files. `docs/testing.md` lists the tests of each promise.

pub mod compare;
pub mod forge;
pub mod frames;
pub mod future;
pub mod fuzz;
pub mod golden;
pub mod hostile;
pub mod memory;
pub mod mutate;
pub mod naive;
pub mod probe;
pub mod ratio;
pub mod sizes;
