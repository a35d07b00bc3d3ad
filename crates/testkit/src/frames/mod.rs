//! Tables to write: models of cells, and generators that reach every encoding and type.

mod chunk_memory;
pub mod documents;
pub mod grown;
pub mod host;
pub mod models;
pub mod nested;
pub mod nested_tables;
pub mod read;
mod runs;
pub mod shapes;
pub mod small;
pub mod tables;

pub use models::{Model, Table, noise};

use entasis::{MemorySink, Silent, WriteOptions};

/// The bytes of a file with a table.
///
/// # Panics
/// When the table can't be written.
pub fn write(table: &Table, options: &WriteOptions) -> Vec<u8> {
    let memory = host::Memory::of(table);
    let sink = MemorySink::new();
    let written = entasis::write_to(&sink, &memory.frame(table), options, &Silent);
    let bytes = sink.into_bytes();
    match written {
        Ok(len) => assert_eq!(len, bytes.len() as u64, "{}: the length told is the file's", table.name),
        Err(error) => panic!("{}: {error}", table.name),
    }
    bytes
}

/// The bytes of a file with a table, at a compression setting.
pub fn write_at(table: &Table, compression: u8) -> Vec<u8> {
    write(
        table,
        &WriteOptions { compression: Some(compression), threads: Some(1), ..WriteOptions::default() },
    )
}
