//! The bodies of the fuzz targets (`fuzz/`), as ordinary functions. The tests replay seeds and
//! regressions with them, so that no fuzzer is needed to check a find.
//!
//! A body returns for any bytes. It panics when a promise is broken: an error of a kind that damage
//! must not give, values that depend on the requested rows, more memory than the bytes justify, or
//! a difference between the core and the naive decoder.

pub mod block;
pub mod buffers;
pub mod cells;
pub mod change;
pub mod csv;
pub mod encode;
pub mod file;
pub mod filter;
pub mod footer;
pub mod foreign;
mod input;
pub mod kernels;
pub mod records;
pub mod sealed;
pub mod values;

use std::path::{Path, PathBuf};

/// A fuzz target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The name, of the fuzz target and of its folders.
    pub name: &'static str,
    /// Its body.
    pub run: fn(&[u8]),
    /// Inputs to begin with.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All fuzz targets.
pub const TARGETS: &[Target] = &[
    Target { name: "repaired", run: file::read, seeds: file::seeds },
    Target { name: "block", run: block::run, seeds: block::seeds },
    Target { name: "cells", run: cells::run, seeds: cells::seeds },
    Target { name: "naive", run: file::compare, seeds: file::seeds },
    Target { name: "filter", run: filter::run, seeds: filter::seeds },
    Target { name: "footer", run: footer::run, seeds: footer::seeds },
    Target { name: "encode", run: encode::run, seeds: encode::seeds },
    Target { name: "values", run: values::run, seeds: values::seeds },
    Target { name: "buffers", run: buffers::run, seeds: buffers::seeds },
    Target { name: "records", run: records::run, seeds: records::seeds },
    Target { name: "kernels", run: kernels::run, seeds: kernels::seeds },
    Target { name: "change", run: change::run, seeds: change::seeds },
    Target { name: "csv", run: csv::run, seeds: csv::seeds },
    Target { name: "sealed", run: sealed::run, seeds: sealed::seeds },
    Target { name: "foreign", run: foreign::run, seeds: foreign::seeds },
    Target { name: "raw", run: file::read, seeds: file::seeds },
];

/// The folder of the inputs that once broke a promise, with one folder per target.
pub fn regressions() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "..", "fuzz", "regressions"].iter().collect()
}

/// The bytes of all files in a folder with this suffix, in the order of their names.
fn files(folder: &Path, suffix: &str) -> Vec<Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == suffix));
    paths.sort();
    let read =
        |path: &PathBuf| std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    paths.iter().map(read).collect()
}
