//! Saves the intact values of a damaged file: values of damaged blocks become missing.

mod lost;
mod overlay;

use std::path::Path;

use entasis_format::{Error, Operation, Result};
use entasis_io::Replacement;

use crate::file::File;
use crate::file_sink::FileSink;
use crate::monitor::{Monitor, Quiet, Share};
use crate::opening::Opening;
use crate::rebuild::{known_columns, start};
use crate::verify::Survey;
use crate::write::{Ground, WriteOptions, check_target, when_free};
use lost::{Lost, plan};
use overlay::overlay;

/// Writes the intact values of the file at `path` to a new file at `out`. Values of damaged blocks
/// become missing. If the file cannot be opened, for example because it was cut, this writes its
/// newest whole generation ([`File::open_whole`]). The file at `path` is not changed. A new file at
/// `out` gets its mode.
///
/// Costs about as much as verifying the file and copying it.
///
/// # Errors
/// *Corrupt* when the footer is damaged, or a block whose values cannot be missing: labels,
/// categories, cells, the structure of lists and unions. *Argument* when both paths name the same
/// file. Otherwise as [`write`](crate::write()).
pub fn repair(path: &Path, out: &Path, options: &WriteOptions, monitor: &dyn Monitor) -> Result<Survey> {
    let opening = Opening { secret: options.secret.clone(), ..Opening::default() };
    File::open_whole(path, opening)?.repair(out, options, monitor)
}

impl File {
    /// Writes the intact values of the file to `out`, as [`repair`].
    ///
    /// # Errors
    /// As [`repair`].
    pub fn repair(&self, out: &Path, options: &WriteOptions, monitor: &dyn Monitor) -> Result<Survey> {
        let here = |e: Error| e.in_file(self.path());
        if matches!((self.path().canonicalize(), out.canonicalize()), (Ok(a), Ok(b)) if a == b) {
            let message = "a file cannot be repaired in place: name another file for the result";
            return Err(here(Error::argument(message)));
        }
        check_target(out, options)?;
        // The bytes are verified, then copied.
        let len = self.slot().end;
        let share = |before| Share { monitor, before, len, total: 2 * len };
        let survey = self.survey_generation(options.threads, &share(0))?;
        let file = self.whole();
        let columns = known_columns(&file).map_err(here)?;
        let rebuild = plan(&file, &columns, &survey, Lost::Refused, options.threads).map_err(here)?;
        let start = start(&file, &columns).map_err(here)?;
        let compression = file.compression();
        let ground = Ground { operation: Operation::Write.code(), compression, ..Ground::default() };
        let on_disk = |doing| move |source| Error::io(source, doing).in_file(out);
        // With wider access rights, the copy could show the file to others.
        let create = || Replacement::create_like(out, self.path(), options.durable);
        check_target(out, options)?;
        let mut replacement = when_free(options.wait, monitor, create)?.map_err(on_disk("create"))?;
        if options.must_be_new {
            replacement.must_be_new().map_err(on_disk("create"))?;
        }
        let sink = FileSink::instead_of(replacement, self).map_err(|e| e.in_file(out))?;
        let start = sink.start(start);
        rebuild
            .execute(&sink, start, &ground, &share(len))
            .map_err(here)?
            .commit(start)
            .map_err(|e| e.in_file(out))?;
        sink.commit().map_err(on_disk("replace"))?;
        Ok(survey)
    }

    /// A view of the file in which the values of damaged blocks are missing. Blocks whose values
    /// cannot be missing stay damaged.
    ///
    /// Costs as much as verifying the file, and memory for its footer.
    ///
    /// # Errors
    /// As [`survey`](Self::survey); *corrupt* when the footer is damaged.
    pub fn without_damage(&self, threads: Option<usize>, monitor: &dyn Monitor) -> Result<(Self, Survey)> {
        let survey = self.survey_generation(threads, monitor)?;
        let file = self.whole();
        let here = |e: Error| e.in_file(self.path());
        let columns = file.all_columns(0..file.n_columns_total()).map_err(here)?;
        let rebuild = plan(&file, &columns, &survey, Lost::Damaged, threads).map_err(here)?;
        let view = overlay(&file, &rebuild, &Quiet(monitor)).map_err(here)?;
        Ok((view, survey))
    }
}
