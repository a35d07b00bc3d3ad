//! The bytes of an Entasis file: header, footer, tables, columns, directories and the value tree, parsed and
//! emitted as `docs/format/` gives them: container, columns, directory, nodes. No I/O, no threads, no encodings.
//!
//! Every number read from bytes is checked before it is used; no bytes make this crate panic.
#![forbid(unsafe_code)]

#[macro_use]
mod codes;
mod bytes;
#[cfg(test)]
mod testing;

pub mod block;
pub mod cell;
pub mod checksum;
pub mod column;
pub mod directory;
pub mod encoding;
pub mod error;
pub mod header;
pub mod limits;
pub mod names;
pub mod node;
pub mod other;
pub mod root;
pub mod runs;
pub mod section;
pub mod slot;
pub mod statistics;
pub mod table;
pub mod trailer;
pub mod tree;
pub mod types;
pub mod value;

pub use block::{BlockRecord, MAX_BLOCK_LEN, MAX_BLOCK_VALUES, parse_block_index};
pub use cell::{CellClass, CellKind};
pub use checksum::checksum;
pub use column::ColumnRecord;
pub use directory::{
    Directory, MAX_DICTIONARY, MAX_PAGE_LEN, MAX_PAGE_VALUES, PageEntry, Stored, VECTOR_VALUES,
};
pub use encoding::{Codec, Encoding, Filter, Packing, Transform};
pub use error::{Error, Kind, Place, Result};
pub use header::{FLAG_STREAMED, HEADER_LEN, Header, MAGIC, MAJOR, MINOR, SlotState};
pub use limits::Limits;
pub use names::{NameSlot, build_name_index, first_slot, n_name_slots, name_hash};
pub use node::{Node, NodeKind};
pub use root::{MAX_ROOT_LEN, Root};
pub use runs::{RunNames, Runs, emit_run_names};
pub use section::{Section, SectionKind, emit_section, read_records, visit_parts};
pub use slot::{SLOT_LEN, Slot};
pub use statistics::Statistics;
pub use table::TableRecord;
pub use trailer::{TRAILER_LEN, Trailer};
pub use tree::{MAX_DEPTH, ValueTree, parse_value};
pub use types::{
    ColumnType, Layout, Logical, MAX_COLUMN_DEPTH, MAX_UNION_TYPES, MAX_VALUE_TYPES, Missing, Physical, Unit,
};
pub use value::Value;
