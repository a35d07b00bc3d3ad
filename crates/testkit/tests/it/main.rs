//! Files of every kind: written, read by two decoders, changed, damaged and repaired.

mod buffers;
mod column_ranges;
mod compact;
mod damage;
mod differential;
mod encodings_win;
mod forged;
mod format_pages;
mod future;
mod generations;
mod golden;
mod grow;
mod join;
mod kept_columns;
mod limits;
mod neighbours;
mod nested;
mod parts;
mod ratio;
mod rebuild_hostile;
mod remote;
mod repair;
mod retained;
mod rules;
mod sealed;
mod sequences;
mod trees;

// The model and the naive decoder allocate once for each cell. The system's allocator would take a
// quarter of the time of these tests.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
