//! What the tests of Entasis stand on: a naive decoder of the format, generators of frames, a mutator that repairs
//! checksums, and the golden files. `docs/testing.md` says which test shows what.

pub mod compare;
pub mod forge;
pub mod frames;
pub mod golden;
pub mod hostile;
pub mod mutate;
pub mod naive;
pub mod probe;
pub mod sizes;
