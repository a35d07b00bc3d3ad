//! Writes the golden files: `golden write` the missing ones, `golden rewrite` all of them (only
//! before 1.0).

use std::path::Path;
use std::process::ExitCode;

use entasis_testkit::frames::documents;
use entasis_testkit::golden::{bad, bad_table, buffer_folder, buffers, build, folder, index, tree_folder};

fn put(path: &Path, bytes: &[u8], again: bool) -> std::io::Result<()> {
    if path.exists() && !again {
        println!("kept    {}", path.display());
        return Ok(());
    }
    println!("written {} ({} bytes)", path.display(), bytes.len());
    std::fs::write(path, bytes)
}

fn run(again: bool) -> std::io::Result<()> {
    std::fs::create_dir_all(folder())?;
    let files = build::all();
    for golden in &files {
        put(&folder().join(golden.file_name()), &golden.write(), again)?;
    }
    // Index and list of bad files follow from the models and golden files, so they are always
    // written.
    put(&folder().join("index.json"), index::json(&files).as_bytes(), true)?;
    put(&bad_table(), bad::csv(&bad::all()).as_bytes(), true)?;
    std::fs::create_dir_all(tree_folder())?;
    for tree in documents::all() {
        put(&tree_folder().join(tree.file_name()), &tree.bytes, again)?;
    }
    std::fs::create_dir_all(buffer_folder())?;
    for vector in buffers::all() {
        put(&buffer_folder().join(vector.file_name()), &vector.compress(), again)?;
    }
    put(&buffer_folder().join("vectors.json"), buffers::json().as_bytes(), true)?;
    Ok(())
}

fn main() -> ExitCode {
    let verb = std::env::args().nth(1);
    let again = match verb.as_deref() {
        Some("write") => false,
        Some("rewrite") if entasis::VERSION.starts_with("0.") => true,
        _ => {
            eprintln!("golden write | rewrite (the latter only before 1.0)");
            return ExitCode::FAILURE;
        }
    };
    match run(again) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
