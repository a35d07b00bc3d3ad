//! The files of a folder as one table.

use std::path::{Path, PathBuf};

use entasis::{AppendOptions, Error, File, Join, Kind, Monitor, Opening, Result, Secret, Value};

use crate::column_labels;
use crate::columns::columns;
use crate::encode::shown;
use crate::keys::{Keys, Wanted};
use crate::list::list;
use crate::manifest::{Manifest, Pin, newest};
use crate::paths::check_links;

/// Makes the host map with the labels of columns with these names.
type Labels<'a> = &'a dyn Fn(&Value, &[String]) -> Result<Value>;

/// The files of a folder, in the order of its manifest, or else of their paths.
#[derive(Debug)]
pub struct Dataset {
    folder: PathBuf,
    files: Vec<PathBuf>,
    /// The states of the files; `None` without a manifest.
    pins: Option<Vec<Pin>>,
    keys: Keys,
    opening: Opening,
    manifest: Option<PathBuf>,
}

impl Dataset {
    /// Finds the files of a folder. Opens the manifest, but none of the files.
    ///
    /// # Errors
    /// *Io* if the folder can't be read, or has no files; *corrupt* for a damaged manifest;
    /// *argument* for files with different keys.
    pub fn open(folder: &Path, opening: impl Into<Opening>) -> Result<Self> {
        let mut opening = opening.into();
        let of = |files, pins, keys, manifest, opening| Self {
            folder: folder.to_path_buf(),
            files,
            pins,
            keys,
            opening,
            manifest,
        };
        if let Some(number) = newest(folder) {
            let found = Manifest::open(folder, number, opening.clone())?;
            let Manifest { path, files, pins, keys, secret } = found;
            opening.secret = secret.or(opening.secret);
            return Ok(of(files, Some(pins), keys, Some(path), opening));
        }
        let names = list(folder)?;
        if names.is_empty() {
            let error = std::io::Error::from(std::io::ErrorKind::NotFound);
            let error = Error::io(error, "find a file whose name ends in .entasis in the folder");
            return Err(error.in_file(folder));
        }
        let keys = Keys::of(&names, &Wanted::default()).map_err(|e| e.in_file(folder))?;
        let files: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
        if let (Some(Secret::Password(_)), Some(first)) = (&opening.secret, files.first()) {
            // A password is derived once. Other files may have other salts.
            let file = File::open_with(first, opening.clone())?;
            opening.secret = file.unlocked().map(|unlocked| Secret::Key(unlocked.key().clone()));
        }
        Ok(of(files, None, keys, None, opening))
    }

    /// The files at these paths, in the states that `pins` has.
    pub fn of_files(
        folder: &Path,
        files: Vec<PathBuf>,
        pins: Option<Vec<Pin>>,
        keys: Keys,
        opening: impl Into<Opening>,
    ) -> Self {
        let opening = opening.into();
        Self { folder: folder.to_path_buf(), files, pins, keys, opening, manifest: None }
    }

    /// The paths of the files.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The keys in the paths.
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// The path of the manifest, if there is one.
    pub fn manifest(&self) -> Option<&Path> {
        self.manifest.as_deref()
    }

    /// Opens a file, in the state that the manifest has.
    ///
    /// # Errors
    /// *Corrupt* if the file was changed since and that state is gone; otherwise as [`File::open`].
    ///
    /// # Panics
    /// If the number is too great.
    pub fn file(&self, number: usize) -> Result<File> {
        let path = &self.files[number];
        let Some(pin) = self.pins.as_ref().map(|pins| &pins[number]) else {
            return File::open_with(path, self.opening.clone());
        };
        check_links(&self.folder, path)?;
        let file = File::open_with(path, self.opening.clone()).map_err(|error| match error.kind() {
            Kind::Io(std::io::ErrorKind::NotFound) => error.advise("the manifest of its folder names it"),
            _ => error,
        })?;
        let (at, end) = file.fingerprint();
        if end == pin.end && at.checked_add(end.len() as u64) == Some(pin.length) {
            return Ok(file);
        }
        // Rows that were appended to the file alone are not in the table.
        let is_pinned = |of: &entasis::Generation| of.number == pin.generation && of.file_len == pin.length;
        if file.generations()?.iter().any(is_pinned) {
            return file.at_generation(pin.generation);
        }
        let message =
            "the file was changed after the manifest of its folder named it, and its earlier state is gone";
        Err(Error::corrupt(message).in_file(path))
    }

    /// The number of rows of a file that the manifest has.
    pub fn n_rows_of(&self, number: usize) -> Option<u64> {
        Some(self.pins.as_ref()?.get(number)?.n_rows)
    }

    /// The number of all rows. Without a manifest this opens each file.
    ///
    /// # Errors
    /// As [`file`](Self::file).
    pub fn n_rows(&self) -> Result<u64> {
        let of = |number: usize| match self.n_rows_of(number) {
            Some(n) => Ok(n),
            None => self.file(number).map(|file| file.n_rows()),
        };
        (0..self.files.len()).try_fold(0u64, |sum, number| Ok(sum.saturating_add(of(number)?)))
    }

    /// All rows as one table, with the keys as its last columns. Opens each file.
    ///
    /// # Errors
    /// *Argument* for a folder without files, files that do not fit the first one, and keys that
    /// are columns too; otherwise as [`file`](Self::file) and [`Join::new`].
    pub fn table(&self, options: &AppendOptions<'_>, monitor: &dyn Monitor) -> Result<File> {
        self.joined(options, monitor).map_err(|e| e.in_file(&self.folder))
    }

    fn joined(&self, options: &AppendOptions<'_>, monitor: &dyn Monitor) -> Result<File> {
        if self.files.is_empty() {
            return Err(Error::argument("the data set has no files").advise("append rows to it"));
        }
        let mut n_rows = Vec::with_capacity(self.files.len());
        let files = (0..self.files.len()).map(|number| self.counted(number, &mut n_rows));
        let join = Join::new(files, &self.folder, options, monitor)?;
        self.with_keys(join, &n_rows, options.labels, monitor)
    }

    /// As [`table`](Self::table), if no rows are read into memory: all files have columns of the
    /// same form, and a host whose labels of columns are their names. Else `None`.
    ///
    /// # Errors
    /// As [`table`](Self::table), and *corrupt* if a file has other rows than its manifest says.
    pub fn by_reference(&self, monitor: &dyn Monitor) -> Result<Option<File>> {
        let mut n_rows = Vec::with_capacity(self.files.len());
        let files = (0..self.files.len()).map(|number| self.counted(number, &mut n_rows));
        let Some(join) = Join::by_reference(files, &self.folder, monitor)? else { return Ok(None) };
        if column_labels::check(&join.file().host()?).is_err() {
            return Ok(None);
        }
        for (number, n) in n_rows.iter().enumerate() {
            if self.n_rows_of(number).is_some_and(|known| known != *n) {
                let error = Error::corrupt("the manifest says another number of rows");
                return Err(error.in_file(&self.files[number]));
            }
        }
        let labels = |host: &Value, names: &[String]| Ok(column_labels::joined(host, names));
        self.with_keys(join, &n_rows, Some(&labels), monitor).map(Some)
    }

    /// Opens a file, which holds a table, and adds the number of its rows to a list.
    fn counted(&self, number: usize, n_rows: &mut Vec<u64>) -> Result<File> {
        let file = self.file(number)?;
        if !file.is_table() {
            let error = Error::argument("the file holds no table, so the folder is not one");
            return Err(error.in_file(file.path()));
        }
        n_rows.push(file.n_rows());
        Ok(file)
    }

    /// The joined table with its keys.
    fn with_keys(
        &self,
        mut join: Join,
        n_rows: &[u64],
        labels: Option<Labels<'_>>,
        monitor: &dyn Monitor,
    ) -> Result<File> {
        if self.keys.names.is_empty() {
            return Ok(join.into_file());
        }
        let file = join.file();
        for name in &self.keys.names {
            if !file.find_all(name)?.is_empty() {
                let error =
                    Error::argument(format!("the key '{}' is a column of the files too", shown(name)));
                return Err(error.advise("rename the column or the folders"));
            }
        }
        let host = file.host()?;
        let mut names = Vec::new();
        for info in file.columns(0..file.n_columns())? {
            names.push(info.name);
        }
        names.extend(self.keys.names.iter().cloned());
        let labels = match labels {
            Some(labels) => labels(&host, &names)?,
            None => Value::Null,
        };
        let is_of_r = host.get("host").and_then(Value::as_str) == Some("r");
        join.add_columns(columns(&self.keys, n_rows, is_of_r)?, labels, monitor)?;
        Ok(join.into_file())
    }
}
