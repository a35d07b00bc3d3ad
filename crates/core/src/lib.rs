//! Lightning-fast, exact, checksummed files for data frames.
//!
//! The crate writes columns from the memory of a host into one file, and reads any columns and rows
//! of it straight into the caller's memory. The Python package, the R package and the command line
//! are thin layers above it.
//!
//! | to do this | use |
//! |---|---|
//! | write a table | [`write`](write()), with a [`Frame`] of borrowed [`Column`]s |
//! | write trees and several tables | [`write_document`], with a [`Document`] and [`cells`] |
//! | open a file, read columns and rows | [`File`], with [`Request`]s |
//! | read nested columns as Arrow buffers | [`File::read_nested`] |
//! | read a row-major matrix | [`File::read_matrices`] |
//! | map a file | [`File::extent`] |
//! | check every byte of a file | [`verify`](verify()), [`File::survey`] |
//! | compress and hash plain memory | [`buffers`] |
//!
//! # Example
//!
//! Write a table of two columns, then read two of its three rows:
//!
//! ```
//! use entasis::{
//!     Array, Chunk, Column, ColumnType, File, Frame, HostRead, HostValidity, HostValues,
//!     MissingTo, Output, Physical, Request, Rows, Silent, Text, TextLayout, Value, WriteOptions,
//! };
//!
//! fn lend<T: bytemuck::Pod>(values: &[T]) -> HostRead {
//!     let bytes: &[u8] = bytemuck::cast_slice(values);
//!     // SAFETY: `main` keeps the values until the file is written.
//!     unsafe { HostRead::new(bytes.as_ptr(), bytes.len()) }
//! }
//!
//! fn column(name: &str, physical: Physical, n: usize, values: HostValues) -> Column {
//!     Column {
//!         name: name.to_owned(),
//!         run: None,
//!         column_type: ColumnType::plain(physical),
//!         detail: None,
//!         host_detail: None,
//!         dictionary: None,
//!         children: Vec::new(),
//!         array: Array::new(Chunk { n, values, validity: HostValidity::AllValid }),
//!     }
//! }
//!
//! # fn main() -> entasis::Result<()> {
//! let path = std::env::temp_dir().join(format!("example-{}.entasis", std::process::id()));
//! let prices = [9.5, 12.25, 7.0];
//! let (offsets, text) = ([0i64, 3, 7, 12], "teaplumapple");
//! let frame = Frame {
//!     n_rows: 3,
//!     columns: vec![
//!         column(
//!             "price",
//!             Physical::F64,
//!             3,
//!             HostValues::Words { memory: lend(&prices), stride: 8 },
//!         ),
//!         column(
//!             "item",
//!             Physical::Utf8,
//!             3,
//!             HostValues::Offsets64 { offsets: lend(&offsets), bytes: lend(text.as_bytes()) },
//!         ),
//!     ],
//!     extra: Vec::new(),
//!     host: Value::Null,
//! };
//! entasis::write(&path, &frame, &WriteOptions::default(), &Silent)?;
//!
//! let file = File::open(&path)?;
//! let mut some_prices = [0.0; 2];
//! let mut items = Text::new(TextLayout::Large);
//! let request = |name: &str, output| {
//!     let (column, rows) = (file.find(name)?, Rows::Range(1..3));
//!     entasis::Result::Ok(Request { column, rows, output, missing: MissingTo::Ignore })
//! };
//! let requests = vec![
//!     request("price", Output::Words(bytemuck::cast_slice_mut(&mut some_prices)))?,
//!     request("item", Output::Text(&mut items))?,
//! ];
//! file.read(requests, None, &Silent)?;
//! assert_eq!(some_prices, [12.25, 7.0]);
//! assert_eq!((items.get(0), items.get(1)), (Some(&b"plum"[..]), Some(&b"apple"[..])));
//! # std::fs::remove_file(&path).ok();
//! # Ok(())
//! # }
//! ```
//!
//! # Errors and damage
//!
//! Everything in a file counts as hostile until it is checked. A damaged file gives an [`Error`] of
//! kind [`Kind::Corrupt`], with the location of the damage, and never a panic or wrong values.
//!
//! # Where to start
//!
//! `read.rs` turns requests into tasks, and `read/fixed.rs` is the shortest of them. `write.rs`
//! cuts columns into runs of blocks, `write/input` copies host memory, `write/placement.rs` gives
//! blocks their offsets. `file` reads the footer. Encodings are in `entasis-encodings`, the records
//! of the file in `entasis-format`.
#![forbid(unsafe_code)]

mod blocks;
mod blocks_of_column;
pub mod buffers;
pub mod cells;
pub mod change;
mod column_groups;
mod column_owners;
mod compact;
mod distinct_strings;
mod encryption;
mod file;
mod file_sink;
mod frame;
mod info;
mod keep;
mod mappable;
mod monitor;
mod name_list;
mod nested_children;
mod opening;
mod read;
mod rebuild;
mod refused;
mod repair;
mod retain;
mod rows;
mod schema;
mod segments;
mod text_len;
mod threads;
mod verify;
mod write;

pub use blocks_of_column::{ColumnBlocks, PageReader, RowsOfBlock};
pub use change::{AppendOptions, Appended, Change, ColumnSource, Content, Join, NewColumns, RowCopy, Stream};
pub use column_groups::{Group, Groups};
pub use compact::compact;
pub use distinct_strings::DistinctStrings;
pub use encryption::{change_keys, decrypt, encrypt, is_encrypted, keys, unlock};
pub use entasis_encodings::{Profile, restore_lz4};
pub use entasis_format::{
    BlockRecord, CellClass, CellKind, Codec, ColumnRecord, ColumnType, Encoding, Error, Filter, Keep, Kind,
    Layout, Limits, Location, Logical, MAGIC, Missing, Operation, Packing, Physical, Pieces, Result,
    RunNames, Statistics, Transform, Unit, Value, checksum,
    other::{has_name_of_text, other_format},
};
pub use entasis_io::{
    Announced, Durable, FileSource, MemorySink, MemorySource, Ranges, RemoteSource, Sink, Source,
};
pub use entasis_kernels::bits::count_ones;
pub use entasis_kernels::shuffle::unshuffle;
pub use entasis_platform::memory::reserve;
pub use entasis_platform::memory::{ask_for_huge_pages, prefault};
pub use entasis_platform::{Buffer, Buffers, HostRead, HostViews, switches};
pub use entasis_seal::chunk_end as sealed_len;
pub use entasis_seal::{
    Costs, Entries, KEY_FILE, Key, KeyChange, PASSWORD, Password, Secret, Suite, TemporaryKey, Unlocked,
};
pub use file::{ColumnInfo, File, Generation, NameGroup, NameRanges};
pub use frame::{
    Array, Chunk, Column, DeferredColumn, Document, EncodedBlock, Field, Frame, HostValidity, HostValues,
    OwnedValues,
};
pub use info::{ColumnLayout, Info, Role, json_string, type_name};
pub use keep::{keep_bits, keep_values};
pub use mappable::Extent;
pub use monitor::{Monitor, Quiet, Share, Silent};
pub use name_list::NameList;
pub use opening::Opening;
pub use read::{
    Form, Held, Matrix, MissingTo, Nested, NestedValues, OpenPage, Output, PageVisitor, Request, Shared,
    Side, Text, TextLayout,
};
pub use refused::refusal;
pub use repair::repair;
pub use rows::Rows;
pub use schema::Schema;
pub use threads::{default_threads, set_threads};
pub use verify::{Damage, MOST_DAMAGES, Report, Survey, verify};
pub use write::loader::{Loaded, Loader};
pub use write::{WriteOptions, check_target, write, write_document, write_document_to, write_to};

/// The version of this release.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
