//! The records of an Entasis file: header, footer, tables, columns, directories and the value tree.
//!
//! Each type parses and emits its bytes as the pages in `docs/format` specify. No I/O, no threads,
//! no encodings of values.
//!
//! Every number from a file is checked before it is used. No bytes make this crate panic.
//!
//! ```
//! use entasis_format::{ColumnType, Error, Kind, Header, Physical};
//!
//! assert_eq!(ColumnType::plain(Physical::F64).layout().width(), Some(8));
//! let error: Error = Header::parse(b"PAR1").unwrap_err();
//! assert_eq!(error.kind(), Kind::NotEntasis);
//! ```
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
pub mod fallible;
pub mod features;
pub mod header;
pub mod limits;
pub mod names;
pub mod node;
pub mod other;
pub mod pieces;
pub mod range;
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

pub use block::BlockRecord;
pub use cell::{CellClass, CellKind};
pub use checksum::checksum;
pub use column::{ColumnRecord, Unknown};
pub use directory::{Directory, PageEntry, Stored};
pub use encoding::{Codec, Encoding, Filter, Packing, Transform};
pub use error::{Error, Kind, Location, Result, Thousands, printable_message, printable_name};
pub use features::{EDITION, Features, Keep, Version};
pub use header::{FLAG_SEALED, FLAG_SLOT_PAGES, FLAG_STREAMED, Header, MAGIC, Order, SlotState};
pub use limits::{
    BUNDLE_ROWS, HEADER_LEN, KEY_PAGES_END, Limits, MAX_BLOCK_LEN, MAX_BLOCK_VALUES, MAX_DEPTH,
    MAX_DICTIONARY, MAX_EXPANSION, MAX_PAGE_LEN, MAX_PAGE_VALUES, MAX_PIECES, MAX_ROOT_LEN, MAX_TIERS,
    MIN_COLUMN_LEN, MIN_DECODED_LEN, Room, SLOT_LEN, SLOT_OFFSETS, SLOT_PAGES_END, TRAILER_LEN,
    VECTOR_VALUES,
};
pub use names::{NameSlot, build_name_index, first_slot, n_name_slots, name_hash};
pub use node::{Node, NodeKind};
pub use pieces::Pieces;
pub use range::BlockRange;
pub use root::{Operation, Root, sections_fit};
pub use runs::{RunNames, Runs, emit_run_names};
pub use section::{
    COPY, COUNTED, Compress, LeafSource, Part, READERS_MUST_KNOW, Section, SectionEmitter, SectionKind,
    SectionRecords, WRITERS_MUST_KNOW, emit_like, emit_section, read_records, read_whole_records,
    visit_known_parts, visit_leaves, visit_part_entries, visit_parts,
};
pub use slot::Slot;
pub use statistics::Statistics;
pub use table::TableRecord;
pub use trailer::Trailer;
pub use tree::{ValueTree, parse_value};
pub use types::{
    ColumnType, Layout, Logical, MAX_COLUMN_DEPTH, MAX_UNION_TYPES, MAX_VALUE_TYPES, Missing, Physical, Unit,
};
pub use value::Value;
