//! Folders whose files are one table.

use std::io::Write;
use std::path::Path;

use entasis::{AppendOptions, Error, File, Kind, Monitor, Opening, Result, Value};
use entasis_dataset::{Dataset, column_labels};
use serde_json::Map;

use crate::failure::Outcome;
use crate::host::{Input, Request};
use crate::hosted;
use crate::json;
use crate::output::Out;
use crate::progress::Watch;
use crate::text::{count, escape, size};

/// Opens the table of a folder. Files with other types get the wider one, as in Python.
pub(crate) fn open(path: &Path, opening: Opening, monitor: &dyn Monitor) -> Result<File> {
    let labels = |host: &Value, names: &[String]| {
        column_labels::check(host)?;
        Ok(column_labels::joined(host, names))
    };
    let options = AppendOptions { fill: false, widen: true, labels: Some(&labels) };
    Dataset::open(path, opening)?.table(&options, monitor).map_err(|error| match error.kind() {
        // Options of the core are none of the command.
        Kind::Argument | Kind::Unsupported => error.advise("en.scan reads more such folders in Python"),
        _ => error,
    })
}

/// Prints what a folder holds: its files, keys and manifest.
pub(crate) fn print_info(path: &Path, dataset: &Dataset, is_json: bool, out: &mut Out) -> Outcome {
    let (n_files, n_rows) = (dataset.files().len() as u64, dataset.n_rows()?);
    let mut len = 0u64;
    for file in dataset.files() {
        let of = std::fs::metadata(file).map_err(|e| Error::io(e, "open").in_file(file))?.len();
        len = len.saturating_add(of);
    }
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

/// The files that `entasis verify` checks: those of the table in the state of the manifest, and the
/// manifest.
pub(crate) struct Parts {
    dataset: Dataset,
    opening: Opening,
}

impl Parts {
    /// The files of a folder.
    pub(crate) fn of(path: &Path, opening: Opening) -> Result<Self> {
        Ok(Self { dataset: Dataset::open(path, opening.clone())?, opening })
    }

    /// The number of files.
    pub(crate) fn n(&self) -> usize {
        self.dataset.files().len() + usize::from(self.dataset.manifest().is_some())
    }

    /// The path of a file, and the file in all its states.
    pub(crate) fn open(&self, number: usize) -> Result<File> {
        let Some(path) = self.dataset.files().get(number) else {
            let manifest = self.dataset.manifest().unwrap_or_else(|| Path::new(""));
            return File::open_whole(manifest, self.opening.clone());
        };
        let pinned = self.dataset.file(number)?;
        if self.dataset.n_rows_of(number).is_some_and(|n| n != pinned.n_rows()) {
            let message = "the file has another number of rows than the manifest says";
            return Err(Error::corrupt(message).in_file(path));
        }
        File::open_whole(path, self.opening.clone())
    }

    /// How many files were changed alone after the manifest named them.
    pub(crate) fn n_later(&self) -> usize {
        (0..self.dataset.files().len()).filter(|&number| self.is_later(number)).count()
    }

    fn is_later(&self, number: usize) -> bool {
        let path = &self.dataset.files()[number];
        let len = std::fs::metadata(path).map_or(0, |found| found.len());
        self.dataset.manifest().is_some()
            && self.dataset.file(number).is_ok_and(|file| file.stored_len() != len)
    }
}

/// Refuses a generation of a folder.
pub(crate) fn refuse_generation(path: &Path, generation: Option<u64>) -> Result<()> {
    match generation {
        None => Ok(()),
        Some(_) => Err(Error::argument("a folder has no generations").in_file(path)),
    }
}

/// Changes a folder by the host.
pub(crate) fn change(
    verb: &'static str,
    path: &Path,
    options: Map<String, serde_json::Value>,
    label: String,
) -> Outcome<Map<String, serde_json::Value>> {
    let host = hosted::required(&format!("`entasis {verb}` of a folder"))?;
    let request = Request { verb, inputs: vec![Input::Path(path.to_owned())], output: None, options };
    hosted::call(host, &request, label)
}

/// Shows the progress of the work on a folder.
pub(crate) fn watch(doing: &str, path: &Path) -> Watch {
    Watch::of_lines(format!("{doing} {}", escape(&path.to_string_lossy())))
}
