//! The Rust half of the R package: a C interface to the core that knows no R.
//!
//! Nothing here calls R, so none of R's long jumps can cross a Rust frame; the one call back, [`guard::Interrupted`], is made of
//! C that catches them. Each function of the interface runs inside [`guard::call`], so no panic reaches C. `r/src/entasis.h`
//! declares the same functions and structs.

mod buffers;
mod build;
mod cells;
mod column;
mod file;
mod guard;
mod integers;
mod loaded;
mod missing;
mod nodes;
mod parallel;
mod read;
mod strings;
mod text;
mod times;
