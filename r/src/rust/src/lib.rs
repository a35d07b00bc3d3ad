//! The Rust half of the R package: a C interface to the core that knows no R.
//!
//! Nothing here calls R, so none of R's long jumps crosses a Rust frame. The one callback,
//! [`guard::Interrupted`], is a C function that catches them. Each function that may fail runs
//! inside [`guard::call`], so no panic reaches C. `r/src/entasis.h` declares the same functions and
//! structs.

/// Vectors of Rust would end R when memory runs out ([`entasis::reserve`]).
#[global_allocator]
static ALLOCATOR: entasis::reserve::WithReserve = entasis::reserve::WithReserve;

mod buffers;
mod build;
mod cells;
mod change;
mod convert;
mod csv;
mod damage;
mod encryption;
mod file;
mod filters;
mod final_columns;
mod folder;
mod generations;
mod guard;
mod integers;
mod loaded;
mod metadata;
mod missing;
mod nodes;
mod options;
mod read;
mod secrets;
mod source;
mod stream;
mod strings;
mod text;
mod times;
mod write;

use entasis_convert::r::{kind as column, parallel};
