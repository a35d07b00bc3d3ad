//! Rewrites a file without leftovers of earlier changes: replaced blocks, old footers, short
//! blocks.

use std::path::Path;

use entasis_format::{Error, Operation, Result, SectionKind, Version};

use crate::change::{Change, ground};
use crate::file::File;
use crate::file_sink::FileSink;
use crate::monitor::Monitor;
use crate::rebuild::{BlockPlan, known_columns, merged, start};
use crate::write::{Ground, WriteOptions};

/// Rewrites the value of the file at `path` to a new file that replaces it. Drops replaced blocks,
/// old footers, and bytes of an interrupted change. Merges short blocks, and copies all others as
/// they are stored.
///
/// Costs about as much as copying the file, and a few blocks of memory per thread.
///
/// # Errors
/// *Unsupported* when a column has a type that this release does not know; *corrupt* when a block
/// is damaged; otherwise as [`Change::begin`] and [`write`](crate::write()). After an error the
/// file is unchanged.
pub fn compact(path: &Path, options: &WriteOptions, monitor: &dyn Monitor) -> Result<()> {
    Change::begin(path, options, monitor)?.compact(options, monitor)
}

impl Change {
    /// Stores the value of the file anew, as [`compact`].
    ///
    /// # Errors
    /// As [`compact`].
    pub fn compact(self, options: &WriteOptions, monitor: &dyn Monitor) -> Result<()> {
        self.store_anew(false, options, monitor)
    }

    /// As [`compact`](Self::compact), with another file key for an encrypted file. Only the key or
    /// password that opened it opens the new file, and keys that were removed do not open it, even
    /// with an old copy of the key pages.
    ///
    /// # Errors
    /// *Argument* for a plain file; otherwise as [`compact`].
    pub fn rekey(self, options: &WriteOptions, monitor: &dyn Monitor) -> Result<()> {
        if self.file().unlocked().is_none() {
            let error = Error::argument("the file is not encrypted, so it has no key");
            return Err(error.in_file(self.file().path()));
        }
        self.store_anew(true, options, monitor)
    }

    fn store_anew(self, is_rekeyed: bool, options: &WriteOptions, monitor: &dyn Monitor) -> Result<()> {
        let (in_place, file) = self.into_parts();
        let path = file.path().to_path_buf();
        let work = || {
            options.check()?;
            let whole = file.whole();
            let columns = known_columns(&whole)?;
            let mut rebuild = merged(&whole, &columns, options.threads)?;
            rebuild.is_tidied = true;
            if !is_rekeyed
                && options.keep.is_none()
                && rebuild.changed.is_empty()
                && is_compact(&whole, &rebuild.plans)
            {
                return Ok(());
            }
            let ground = Ground {
                is_in_place: false,
                is_linked: false,
                ..ground(&whole, Operation::Compact, options)
            };
            let start = start(&whole, &columns)?;
            let replacement = in_place.replace(options.durable).map_err(|e| Error::io(e, "compact"))?;
            let sink = match whole.unlocked().filter(|_| is_rekeyed) {
                Some(unlocked) => FileSink::new(replacement, Some(unlocked.rekeyed()?))?,
                None => FileSink::instead_of(replacement, &whole)?,
            };
            let start = sink.start(start);
            rebuild.execute(&sink, start, &ground, monitor)?.commit(start)?;
            sink.commit().map_err(|e| Error::io(e, "replace"))
        };
        work().map_err(|e: Error| e.in_file(&path))
    }
}

/// Whether a file has nothing to drop and no blocks to merge.
fn is_compact(file: &File, plans: &[Vec<BlockPlan>]) -> bool {
    file.root().version() > Version::OLDEST
        && file.root().previous.is_none()
        && file.n_records(SectionKind::ColumnRanges) == 0
        && file.source_len() == file.slot().end
        && plans.iter().flatten().all(|plan| matches!(plan, BlockPlan::Copied(_)))
}
