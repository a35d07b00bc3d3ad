//! The files of a folder as one table.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use entasis::{
    AppendOptions, Error, File, Join, Kind, Monitor, Opening, Result, Secret, Source, Value, sealed_len,
};

use crate::column_labels;
use crate::columns::columns;
use crate::encode::shown;
use crate::in_turn::InTurn;
use crate::keys::{Keys, Wanted};
use crate::list::{is_of_table, list};
use crate::manifest::{self, Manifest, Pin, newest};
use crate::objects::{Listed, Objects};
use crate::paths::{address, below, check_links};

/// Files of a store that are opened at the same time.
const AT_ONCE: usize = 10;
/// Objects that a host may read whole when it opens them have at most this length.
const SHORT: u64 = 1 << 20;
/// The most bytes of short objects that are kept in memory.
const MOST_WHOLE: u64 = 256 << 20;

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
    /// The folder on a store; `None` on the disk.
    store: Option<OnStore>,
}

/// A folder on a store, and what is known about the objects that are its files.
#[derive(Debug)]
struct OnStore {
    objects: Arc<dyn Objects>,
    files: Vec<Listed>,
    manifest: Option<Listed>,
    /// Whether short objects are read whole when they are opened.
    is_whole: bool,
}

/// A file of a folder in all its states.
#[derive(Debug)]
pub struct Whole {
    /// The newest state, or the newest one that is not damaged.
    pub file: File,
    /// Whether the file was changed alone after the manifest named it.
    pub is_later: bool,
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
            store: None,
        };
        if let Some(number) = newest(folder) {
            let found = Manifest::open(folder, number, opening.clone())?;
            let Manifest { path, names, pins, keys, secret } = found;
            opening.secret = secret.or(opening.secret);
            let files = names.iter().map(|name| below(folder, name)).collect::<Result<_>>()?;
            return Ok(of(files, Some(pins), keys, Some(path), opening));
        }
        let names = list(folder)?;
        if names.is_empty() {
            let error = io::Error::from(ErrorKind::NotFound);
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

    /// As [`open`](Self::open), for a folder on a store.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn on_store(objects: Arc<dyn Objects>, opening: impl Into<Opening>) -> Result<Self> {
        let mut opening = opening.into();
        let folder = PathBuf::from(objects.name());
        let prefix = format!("{}/", manifest::FOLDER);
        let numbered = objects
            .list(&prefix)?
            .into_iter()
            .filter_map(|listed| Some((manifest::number(listed.path.strip_prefix(&prefix)?)?, listed)));
        let newest = numbered.max_by_key(|(number, _)| *number).map(|(_, listed)| listed);
        let (listed, pins, keys) = match &newest {
            Some(newest) => {
                let source = objects.open(&newest.path, Some(newest))?;
                let path = address(objects.name(), &newest.path);
                let Manifest { names, pins, keys, secret, .. } =
                    Manifest::of(&File::from_source(source, &path, opening.clone())?)?;
                let len = |pin: &Pin| if secret.is_some() { sealed_len(pin.length) } else { pin.length };
                let of =
                    |(path, pin): (String, &Pin)| Listed { path, len: len(pin), identity: String::new() };
                opening.secret = secret.clone().or(opening.secret);
                (names.into_iter().zip(&pins).map(of).collect(), Some(pins), keys)
            }
            None => {
                let found = objects.list("")?.into_iter();
                let listed: Vec<Listed> = found.filter(|listed| is_of_table(&listed.path)).collect();
                if listed.is_empty() {
                    let error = "no object below this address has a name that ends in .entasis";
                    let error = Error::io(io::Error::new(ErrorKind::NotFound, error), "open the folder");
                    return Err(error.in_file(&folder));
                }
                let names: Vec<String> = listed.iter().map(|listed| listed.path.clone()).collect();
                let keys = Keys::of(&names, &Wanted::default()).map_err(|e| e.in_file(&folder))?;
                (listed, None, keys)
            }
        };
        let files = listed.iter().map(|listed| address(objects.name(), &listed.path)).collect();
        let manifest = newest.as_ref().map(|newest| address(objects.name(), &newest.path));
        let short = listed.iter().map(|listed| listed.len).filter(|len| *len <= SHORT);
        let is_whole = short.fold(0, u64::saturating_add) <= MOST_WHOLE;
        let store = Some(OnStore { objects, files: listed, manifest: newest, is_whole });
        Ok(Self { folder, files, pins, keys, opening, manifest, store })
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
        Self { folder: folder.to_path_buf(), files, pins, keys, opening, manifest: None, store: None }
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

    /// The path of the folder, or its address.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether the folder is on a store.
    pub fn is_on_store(&self) -> bool {
        self.store.is_some()
    }

    /// The length of a file in bytes. On a store it is that of the manifest or of the list.
    ///
    /// # Errors
    /// *Io*.
    ///
    /// # Panics
    /// If the number is too great.
    pub fn file_len(&self, number: usize) -> Result<u64> {
        if let Some(store) = &self.store {
            return Ok(store.files[number].len);
        }
        let path = &self.files[number];
        Ok(std::fs::metadata(path).map_err(|e| Error::io(e, "open").in_file(path))?.len())
    }

    /// Opens a file, in the state that the manifest has.
    ///
    /// # Errors
    /// *Corrupt* if the file was changed since and that state is gone; otherwise as [`File::open`].
    ///
    /// # Panics
    /// If the number is too great.
    pub fn file(&self, number: usize) -> Result<File> {
        let file = self.newest(number, File::open_with::<Opening>, File::from_source::<Opening>)?;
        Ok(self.earlier(&file, number)?.unwrap_or(file))
    }

    /// The files in all their states, in their order, and after them the manifest. Files that are
    /// damaged, are missing or lack the state that the manifest has are errors.
    pub fn whole(&self) -> impl Iterator<Item = Result<Whole>> {
        let n = self.files.len() + usize::from(self.manifest.is_some());
        self.in_turn(n, |number| self.whole_file(number))
    }

    fn whole_file(&self, number: usize) -> Result<Whole> {
        if number == self.files.len() {
            let path = self.manifest.as_deref().unwrap_or_else(|| Path::new(""));
            let store = self.store.as_ref().and_then(|store| Some((store, store.manifest.as_ref()?)));
            let file = match store {
                Some((store, listed)) => File::whole_from_source(
                    store.objects.open(&listed.path, Some(listed))?,
                    path,
                    self.opening.clone(),
                )?,
                None => File::open_whole(path, self.opening.clone())?,
            };
            return Ok(Whole { file, is_later: false });
        }
        let file = self.newest(number, File::open_whole::<Opening>, File::whole_from_source::<Opening>)?;
        // Its check reports the damage.
        if self.pins.is_none() || file.lost().is_some() {
            return Ok(Whole { file, is_later: false });
        }
        let earlier = self.earlier(&file, number)?;
        let pinned = earlier.as_ref().unwrap_or(&file);
        if self.n_rows_of(number).is_some_and(|n| n != pinned.n_rows()) {
            let message = "the file has another number of rows than the manifest says";
            return Err(Error::corrupt(message).in_file(&self.files[number]));
        }
        let is_later = pinned.file_len() != file.source_len();
        Ok(Whole { file, is_later })
    }

    /// Calls `open` for the numbers below `n`, in their order. On a store several calls are made at
    /// the same time.
    fn in_turn<T: Send>(
        &self,
        n: usize,
        open: impl Fn(usize) -> Result<T> + Sync,
    ) -> impl ExactSizeIterator<Item = Result<T>> {
        InTurn::new(n, if self.store.is_some() { AT_ONCE } else { 1 }, open)
    }

    /// Opens a file by its path, or by the source that a store has.
    fn newest(
        &self,
        number: usize,
        of_path: impl Fn(&Path, Opening) -> Result<File>,
        of_source: impl Fn(Box<dyn Source>, &Path, Opening) -> Result<File>,
    ) -> Result<File> {
        let (path, opening) = (&self.files[number], self.opening.clone());
        let opened = match &self.store {
            Some(store) => {
                let listed = &store.files[number];
                let source = store.objects.open(&listed.path, store.is_whole.then_some(listed));
                source.and_then(|source| of_source(source, path, opening))
            }
            None => {
                if self.pins.is_some() {
                    check_links(&self.folder, path)?;
                }
                of_path(path, opening)
            }
        };
        opened.map_err(|error| match error.kind() {
            Kind::Io(ErrorKind::NotFound) if self.pins.is_some() => {
                error.advise("the manifest of its folder names it")
            }
            _ => error,
        })
    }

    /// The state of a file that the manifest has; `None` if that is the newest one.
    fn earlier(&self, file: &File, number: usize) -> Result<Option<File>> {
        let Some(pin) = self.pins.as_ref().map(|pins| &pins[number]) else { return Ok(None) };
        let (at, end) = file.fingerprint();
        if end == pin.end && at.checked_add(end.len() as u64) == Some(pin.length) {
            return Ok(None);
        }
        // Rows that were appended to the file alone are not in the table.
        let is_pinned = |of: &entasis::Generation| of.number == pin.generation && of.file_len == pin.length;
        if file.generations()?.iter().any(is_pinned) {
            return file.at_generation(pin.generation).map(Some);
        }
        let message =
            "the file was changed after the manifest of its folder named it, and its earlier state is gone";
        Err(Error::corrupt(message).in_file(&self.files[number]))
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
        if let Some(pins) = &self.pins {
            return Ok(pins.iter().map(|pin| pin.n_rows).fold(0, u64::saturating_add));
        }
        let mut counts = self.in_turn(self.files.len(), |number| Ok(self.file(number)?.n_rows()));
        counts.try_fold(0u64, |sum, n| Ok(sum.saturating_add(n?)))
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
        let files = self.counted(&mut n_rows);
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
        let files = self.counted(&mut n_rows);
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

    /// Opens the files, which hold tables, and adds the numbers of their rows to a list.
    fn counted(&self, n_rows: &mut Vec<u64>) -> impl ExactSizeIterator<Item = Result<File>> {
        self.in_turn(self.files.len(), |number| self.file(number)).map(|file| {
            let file = file?;
            if !file.is_table() {
                let error = Error::argument("the file holds no table, so the folder is not one");
                return Err(error.in_file(file.path()));
            }
            n_rows.push(file.n_rows());
            Ok(file)
        })
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
