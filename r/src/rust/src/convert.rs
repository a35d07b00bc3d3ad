//! Files of R as files of Entasis.

use std::os::raw::c_int;

use entasis_convert::r::PlanOptions;
use entasis_convert::{ReadOptions, Source, convert};

use crate::build;
use crate::file::lend;
use crate::guard::{self, Failure, Interrupted, Signals, Text};
use crate::options::Options;

/// Writes the value of a file of R into a file. Returns 0, or -1 with an error.
///
/// # Safety
/// The texts must be valid, `failure` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_convert(
    source: Text,
    path: Text,
    functions: c_int,
    options: Options,
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let signals = Signals::new(interrupted);
            let (source, path) = (build::path(source)?, build::path(path)?);
            let (reading, plan) = (ReadOptions::default(), PlanOptions { functions: functions != 0 });
            let source = Source::Path(&source);
            convert(source, &path, &reading, plan, &options.of_core(), &lend, &signals)?;
            Ok(0)
        })
    }
}
