//! The arguments of the verbs that report on files, and the same work for each file.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::failure::Outcome;
use crate::output::Out;
use crate::text::escape;

/// The files of a verb that reports on them, and the form of the report.
#[derive(clap::Args)]
pub(crate) struct FilesArgs {
    /// Entasis files, or folders of them; also their addresses on a store
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print one JSON object per file, on a line of its own
    #[arg(long)]
    pub(crate) json: bool,
}

impl FilesArgs {
    /// Reports on each file, as [`for_each`].
    pub(crate) fn for_each(&self, out: &mut Out, work: impl FnMut(&Path, &mut Out) -> Outcome) -> Outcome {
        for_each(&self.files, out, work)
    }

    /// Prints a table of one file. With several files, the name of the file comes before it and an
    /// empty line after it.
    pub(crate) fn print(
        &self,
        path: &Path,
        out: &mut Out,
        table: impl FnOnce(&mut Out) -> Outcome,
    ) -> Outcome {
        if self.files.len() < 2 {
            return table(out);
        }
        writeln!(out, "{}", out.style().bold(&escape(&path.to_string_lossy())))?;
        table(out)?;
        writeln!(out)?;
        Ok(())
    }
}

/// Calls `work` for each file. Reports a file that fails, then goes on with the next.
pub(crate) fn for_each(
    files: &[PathBuf],
    out: &mut Out,
    mut work: impl FnMut(&Path, &mut Out) -> Outcome,
) -> Outcome {
    for file in files {
        match work(file, out) {
            Err(failure) if !failure.is_final() => {
                out.flush()?;
                failure.report();
                out.set_failed();
            }
            outcome => outcome?,
        }
    }
    Ok(())
}
