//! The native half of the Python package.
//!
//! NumPy and Arrow lend the core pointers to their memory, so that no value is copied on the way.
//! Trees of Python objects become cells (`cells`). `cpython` contains everything that depends on
//! one interpreter.

use pyo3::prelude::*;

mod array;
mod arrow;
mod block_reader;
mod buffers;
mod cells;
mod column;
mod command;
mod cpython;
mod csv;
mod dataset;
mod encryption;
mod errors;
mod fixed_width;
mod fst;
mod handle;
mod monitor;
mod options;
mod query;
mod r_files;
mod read;
mod remote;
mod row_sets;
mod secrets;
mod statistics;
mod tools;
mod value;
mod write;

/// Vectors of Rust would end the interpreter when memory runs out ([`entasis::reserve`]).
#[global_allocator]
static ALLOCATOR: entasis::reserve::WithReserve = entasis::reserve::WithReserve;

/// The native half of the package.
//
// `gil_used = true`: objects in lists, dicts and object arrays are borrowed without a reference
// (`write::text`, `cells::write`). A thread that replaced one meanwhile would free it while it is
// in use. The GIL keeps other threads away.
#[pymodule(gil_used = true)]
mod _entasis {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::arrow::column::{ArrowColumn, ArrowTable};
    #[pymodule_export]
    use crate::block_reader::{fixed_names, read_blocks};
    #[pymodule_export]
    use crate::buffers::{compress, decompress, hash};
    #[pymodule_export]
    use crate::cells::lazy::CellReader;
    #[pymodule_export]
    use crate::cells::write::CellBuilder;
    #[pymodule_export]
    use crate::column::Column;
    #[pymodule_export]
    use crate::command::cli_main;
    #[pymodule_export]
    use crate::cpython::features::cpython_features;
    #[pymodule_export]
    use crate::csv::{
        CsvBatches, CsvTable, CsvText, convert_csv, names_of_spec, read_csv, scan_csv, sniff_csv, write_csv,
        write_csv_batches,
    };
    #[pymodule_export]
    use crate::dataset::{folder_files, folder_name, joined_files, path_keys};
    #[pymodule_export]
    use crate::encryption::{add_key, decrypt, encrypt, keys_of, remove_key, unlock};
    #[pymodule_export]
    use crate::fst::FstParts;
    #[pymodule_export]
    use crate::handle::{Announcement, Handle};
    #[pymodule_export]
    use crate::monitor::Followed;
    #[pymodule_export]
    use crate::query::where_words;
    #[pymodule_export]
    use crate::r_files::{is_rds_of, store_r, store_rds};
    #[pymodule_export]
    use crate::row_sets::KeptRows;
    #[pymodule_export]
    use crate::row_sets::RowBits;
    #[pymodule_export]
    use crate::row_sets::RowNumbers;
    #[pymodule_export]
    use crate::secrets::{Key, Password};
    #[pymodule_export]
    use crate::tools::{default_threads, is_unicode, platform_features, set_threads};
    #[pymodule_export]
    use crate::value::{CellRef, ColumnRef};
    #[pymodule_export]
    use crate::write::blocks::add_blocks;
    #[pymodule_export]
    use crate::write::builder::Builder;
    #[pymodule_export]
    use crate::write::change::Change;
    #[pymodule_export]
    use crate::write::destination::{check_new, repair};
    #[pymodule_export]
    use crate::write::document::write_document;
    #[pymodule_export]
    use crate::write::stream::Stream;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // A failure is ignored: the module then runs without the reserve.
        let _ = (module, entasis::reserve::refill());
        Ok(())
    }

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = entasis::VERSION;
}
