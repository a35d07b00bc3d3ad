//! Opening of files that a verb shows: the options `--generation` and `--max`.

use std::path::Path;

use entasis::{Error, File};
use entasis_convert::Parts;
use entasis_dataset::Dataset;

use crate::folder;
use crate::host;
use crate::limits::LimitArgs;
use crate::open_other;

/// The state of a file that a verb shows, and the limits that it opens the file with.
#[derive(Clone, clap::Args)]
pub(crate) struct OpenArgs {
    /// Show an earlier generation of the file; `entasis generations` lists them
    #[arg(long, value_name = "N")]
    generation: Option<u64>,
    #[command(flatten)]
    limits: LimitArgs,
}

impl OpenArgs {
    /// Opens a file; `-` is the standard input, which is read into memory. Files of other formats
    /// are read into memory by the host.
    pub(crate) fn open(&self, path: &Path) -> entasis::Result<File> {
        self.open_from(path, None).map(|(file, _)| file)
    }

    fn open_from(&self, path: &Path, n: Option<u64>) -> entasis::Result<(File, Option<u64>)> {
        match self.open_own(path) {
            Ok(file) => {
                let n_rows = file.n_rows();
                Ok((file, Some(n_rows)))
            }
            Err(error) => open_other::open(path, error, n, self.limits.limits()?),
        }
    }

    /// Opens a file of Entasis or of R, or the table of a folder.
    pub(crate) fn open_own(&self, path: &Path) -> entasis::Result<File> {
        if let Some(found) = self.folder(path)? {
            return folder::table(&found, &folder::watch("reading", found.folder()));
        }
        match self.generation {
            Some(number) => at_generation(&self.limits.open_whole(path)?, number),
            None => self.limits.open(path),
        }
    }

    /// The files of a folder, on the disk or on a store; `None` if the path is none.
    pub(crate) fn folder(&self, path: &Path) -> entasis::Result<Option<Dataset>> {
        folder::open(path, self.generation, &self.limits)
    }

    /// Opens a table, of other formats only the first `n` rows. Also returns the number of all
    /// rows, if it is known.
    pub(crate) fn open_first(&self, path: &Path, n: u64) -> entasis::Result<(File, Option<u64>)> {
        let (file, n_rows) = self.open_from(path, Some(n))?;
        require_table(&file, path)?;
        Ok((file, n_rows))
    }

    /// Opens a file of fst, to read parts of it; `None` for other files.
    pub(crate) fn open_fst(&self, path: &Path) -> entasis::Result<Option<Parts>> {
        if self.generation.is_some() || path == Path::new("-") || host::is_address(path) || path.is_dir() {
            return Ok(None);
        }
        Parts::open(path, self.limits.limits()?)
    }

    /// Opens a file that holds a table.
    pub(crate) fn open_table(&self, path: &Path) -> entasis::Result<File> {
        let file = self.open(path)?;
        require_table(&file, path)?;
        Ok(file)
    }
}

/// Refuses a file that holds a tree of values.
pub(crate) fn require_table(file: &File, path: &Path) -> entasis::Result<()> {
    if file.is_table() {
        return Ok(());
    }
    let error = Error::argument("the file holds a tree of values, not a table").in_file(path);
    Err(error.advise("`entasis tree` shows it"))
}

/// The file at an earlier generation.
pub(crate) fn at_generation(file: &File, number: u64) -> entasis::Result<File> {
    let listed = |error: Error| match error.kind() {
        entasis::Kind::Argument => error.advise("`entasis generations` lists those that the file has"),
        _ => error,
    };
    file.at_generation(number).map_err(listed)
}
