//! The process that a change of a file belongs to.

use std::io;

use entasis_platform::Process;

/// The process that began a change. A forked child copies all handles, but files, locks and
/// temporary names stay the parent's: the child leaves them alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner(Process);

impl Owner {
    /// The process that makes the call.
    pub(crate) fn this_process() -> Self {
        Self(Process::current())
    }

    /// Whether the owner makes the call.
    pub(crate) fn is_here(self) -> bool {
        self.0.is_current()
    }

    /// Returns an error in a forked child.
    pub(crate) fn check(self) -> io::Result<()> {
        if self.is_here() {
            return Ok(());
        }
        Err(io::Error::other(format!(
            "this process is a fork of process {}, which is writing the file: only that one can go on, so \
             begin anew here",
            self.0.id()
        )))
    }
}
