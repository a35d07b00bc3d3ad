//! Lightning-fast, exact, checksummed files for data frames.
//!
//! This crate joins the others: [`write`](write()) takes a [`Frame`] of borrowed host memory to a
//! file, [`File`] opens one and reads any columns and rows of it straight into the caller's memory.
//! Python, R and the command line are thin layers above.
#![forbid(unsafe_code)]

mod blocks;
pub mod buffers;
pub mod cells;
mod column_groups;
mod file;
mod frame;
mod info;
mod mappable;
mod monitor;
mod name_list;
mod nested_children;
mod read;
mod rows;
mod schema;
mod threads;
mod verify;
mod write;

pub use column_groups::{Group, Groups};
pub use entasis_encodings::Profile;
pub use entasis_format::{
    BlockRecord, CellClass, CellKind, Codec, ColumnRecord, ColumnType, Encoding, Error, Filter, Kind, Layout,
    Limits, Logical, Missing, Packing, Physical, Place, Result, RunNames, Statistics, Transform, Unit, Value,
    checksum,
};
pub use entasis_io::{Durable, FileSource, MemorySink, MemorySource, Sink, Source};
pub use entasis_kernels::{Buffer, Buffers, HostRead, HostViews};
pub use file::{ColumnInfo, File, NameGroup, NamePlaces};
pub use frame::{Array, Chunk, Column, Document, Field, Frame, HostValidity, HostValues};
pub use info::{ColumnLayout, Info, Role, json_string, type_name};
pub use mappable::Extent;
pub use monitor::{Monitor, Silent};
pub use name_list::NameList;
pub use read::{Form, Matrix, MissingTo, Nested, NestedValues, Output, Request, Side, Text, TextLayout};
pub use rows::Rows;
pub use schema::Schema;
pub use threads::{default_threads, set_threads};
pub use verify::{Report, verify};
pub use write::{
    DeferredColumn, EncodedBlock, WriteOptions, write, write_document, write_document_to, write_to,
};

/// The version of this release.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
