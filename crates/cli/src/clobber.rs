//! The option of all verbs that write a file of their own.

use std::path::Path;

use entasis::{WriteOptions, check_target};
use entasis_csv::write::Old;

/// Whether a file that exists is replaced.
#[derive(Clone, Copy, clap::Args)]
pub(crate) struct ClobberArgs {
    /// Never replace a file: one that exists is an error, also if another process makes it
    /// meanwhile
    #[arg(long)]
    no_clobber: bool,
}

impl ClobberArgs {
    /// Returns an error if the file exists and may not be replaced. Writing checks again.
    pub(crate) fn check(self, path: &Path) -> entasis::Result<()> {
        if path == Path::new("-") {
            return Ok(());
        }
        check_target(path, &WriteOptions { must_be_new: self.no_clobber, ..WriteOptions::default() })
    }

    /// Whether a file that exists is an error.
    pub(crate) fn must_be_new(self) -> bool {
        self.no_clobber
    }

    /// The rule for a text that exists.
    pub(crate) fn old_text(self) -> Old {
        if self.no_clobber { Old::Refused } else { Old::Replaced }
    }
}
