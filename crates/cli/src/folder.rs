//! Folders whose files are one table.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use entasis::{AppendOptions, Error, File, Kind, Monitor, Result, Secret, Value};
use entasis_dataset::{Dataset, column_labels};
use serde_json::Map;

use crate::failure::Outcome;
use crate::host::{self, Input, Request};
use crate::hosted;
use crate::json;
use crate::limits::LimitArgs;
use crate::output::Out;
use crate::progress::Watch;
use crate::text::{count, escape, size};

/// The files of a folder, on the disk or on a store; `None` if the path is none.
pub(crate) fn open(path: &Path, generation: Option<u64>, limits: &LimitArgs) -> Result<Option<Dataset>> {
    let objects = host::folder(path)?;
    if objects.is_none() && !path.is_dir() {
        return Ok(None);
    }
    if generation.is_some() {
        let name = objects.as_ref().map_or(path, |objects| Path::new(objects.name()));
        return Err(Error::argument("a folder has no generations").in_file(name));
    }
    let found = limits.opening(|opening| match &objects {
        Some(objects) => Dataset::on_store(Arc::clone(objects), opening),
        None => Dataset::open(path, opening),
    });
    found.map(Some)
}

/// The table of a folder. Files with other types get the wider one, as in Python.
pub(crate) fn table(dataset: &Dataset, monitor: &dyn Monitor) -> Result<File> {
    let labels = |host: &Value, names: &[String]| {
        column_labels::check(host)?;
        Ok(column_labels::joined(host, names))
    };
    let options = AppendOptions { fill: false, widen: true, labels: Some(&labels) };
    dataset.table(&options, monitor).map_err(|error| match error.kind() {
        // Options of the core are none of the command.
        Kind::Argument | Kind::Unsupported => error.advise("en.scan reads more such folders in Python"),
        _ => error,
    })
}

/// Prints what a folder holds: its files, keys and manifest.
pub(crate) fn print_info(dataset: &Dataset, is_json: bool, out: &mut Out) -> Outcome {
    let path = dataset.folder();
    let n_files = dataset.files().len();
    let lens = (0..n_files).map(|number| dataset.file_len(number));
    let len = lens.sum::<Result<u64>>()?;
    let (n_files, n_rows) = (n_files as u64, dataset.n_rows()?);
    let keys = dataset.keys();
    let manifest = dataset.manifest().map(Path::to_string_lossy);
    if is_json {
        let keys = keys.names.iter().zip(&keys.types);
        let keys: Vec<String> = keys
            .map(|(name, kind)| json::Object::new().text("name", name).text("type", kind.name()).end())
            .collect();
        let object = json::Object::new()
            .text("file", &path.to_string_lossy())
            .raw("n_files", n_files)
            .raw("n_rows", n_rows)
            .raw("file_len", len)
            .maybe_text("manifest", manifest.as_deref())
            .raw("keys", format!("[{}]", keys.join(",")));
        writeln!(out, "{}", object.end())?;
        return Ok(());
    }
    let style = out.style();
    writeln!(out, "{}", style.bold(&escape(&path.to_string_lossy())))?;
    writeln!(out, "{}, {} in {}", count(n_rows, "row"), size(len), count(n_files, "file"))?;
    let keys: Vec<String> = keys
        .names
        .iter()
        .zip(&keys.types)
        .map(|(name, kind)| format!("{} ({})", escape(name), kind.name()))
        .collect();
    if !keys.is_empty() {
        writeln!(out, "keys {}", keys.join(", "))?;
    }
    match manifest {
        Some(manifest) => writeln!(out, "manifest {}", escape(&manifest))?,
        None => writeln!(out, "no manifest: the table is all files below the folder")?,
    }
    let first = dataset.files().first();
    if let Some(first) = first {
        let note =
            format!("`entasis info {}` shows how a file is laid out", escape(&first.to_string_lossy()));
        writeln!(out, "{}", style.dim(&note))?;
    }
    Ok(())
}

/// Changes a folder by the host.
pub(crate) fn change(
    verb: &'static str,
    path: &Path,
    options: Map<String, serde_json::Value>,
    secret: Option<Secret>,
    label: String,
) -> Outcome<Map<String, serde_json::Value>> {
    let host = hosted::required(&format!("`entasis {verb}` of a folder"))?;
    let request = Request { verb, inputs: vec![Input::Path(path.to_owned())], output: None, options, secret };
    hosted::call(host, &request, label)
}

/// Shows the progress of the work on a folder.
pub(crate) fn watch(doing: &str, path: &Path) -> Watch {
    Watch::of_lines(format!("{doing} {}", escape(&path.to_string_lossy())))
}
