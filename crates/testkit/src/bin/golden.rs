//! `golden write` writes the golden files that are missing. Existing files never change.

use std::path::Path;
use std::process::ExitCode;

use entasis_testkit::frames::documents;
use entasis_testkit::golden::{
    bad, bad_table, buffer_folder, buffers, build, checksums, folder, index, tree_folder,
};

/// Writes a file that is missing.
fn add(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if path.exists() {
        println!("kept    {}", path.display());
        return Ok(());
    }
    put(path, bytes)
}

/// Writes a file that follows from the models and the golden files.
fn put(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    println!("written {} ({} bytes)", path.display(), bytes.len());
    std::fs::write(path, bytes)
}

fn run() -> std::io::Result<()> {
    std::fs::create_dir_all(folder())?;
    let files = build::all();
    for golden in &files {
        add(&folder().join(golden.file_name()), &golden.write())?;
    }
    put(&folder().join("index.json"), index::json(&files).as_bytes())?;
    put(&bad_table(), bad::csv(&bad::all()).as_bytes())?;
    std::fs::create_dir_all(tree_folder())?;
    for tree in documents::all() {
        add(&tree_folder().join(tree.file_name()), &tree.bytes)?;
    }
    std::fs::create_dir_all(buffer_folder())?;
    for vector in buffers::all() {
        add(&buffer_folder().join(vector.file_name()), &vector.compress())?;
    }
    put(&buffer_folder().join("vectors.json"), buffers::json().as_bytes())?;
    let mut sums = checksums::found();
    sums.extend(checksums::listed());
    put(&checksums::table(), checksums::csv(&sums).as_bytes())?;
    Ok(())
}

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() != Some("write") {
        eprintln!("usage: golden write");
        return ExitCode::FAILURE;
    }
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
