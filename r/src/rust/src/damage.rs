//! Damaged files: verify, repair, and the damage of a generation that cannot be opened.

use std::ffi::c_int;

use entasis::{Error, File, Survey};

use crate::build;
use crate::file::{Limit, open};
use crate::guard::{self, Failure, Interrupted, Signals, Text};
use crate::options::Options;

/// How much of a file was checked.
#[repr(C)]
pub struct Checked {
    checked_len: f64,
    n_generations: f64,
    leftover_len: f64,
}

/// Checks every byte of a file, or of one of its generations; 0 stands for all. Returns 0, or -1
/// with an error.
///
/// # Safety
/// As for `ent_open`; `checked` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_verify(
    path: Text,
    limits: *const Limit,
    n: usize,
    generation: f64,
    checked: *mut Checked,
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let signals = Signals::new(interrupted);
            let file = open(path, limits, n, true, &signals)?;
            let mut survey = if generation > 0.0 {
                file.at_generation(generation as u64)?.survey_generation(None, &signals)?
            } else {
                file.survey(None, &signals)?
            };
            if let Some(error) = survey.take_error() {
                return Err(with_damages(error, &survey));
            }
            let report = survey.report;
            checked.write(Checked {
                checked_len: report.checked_len as f64,
                n_generations: report.n_generations as f64,
                leftover_len: report.leftover_len as f64,
            });
            Ok(0)
        })
    }
}

/// Writes the intact values of a file to a new one. Returns the number of damaged places, or -1
/// with an error.
///
/// # Safety
/// As for `ent_open`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_repair(
    path: Text,
    out: Text,
    limits: *const Limit,
    n: usize,
    options: Options,
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> f64 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1.0, || {
            let signals = Signals::new(interrupted);
            let (file, out) = (open(path, limits, n, true, &signals)?, build::path(out)?);
            Ok(file.repair(&out, &options.of_core(), &signals)?.n_damages as f64)
        })
    }
}

/// Returns 1; 0 with the current generation's damage if `file` is at an earlier one instead.
///
/// # Safety
/// `ent_open` must have returned `file`; `failure` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_lost(file: *const File, failure: *mut *mut Failure) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { guard::call(failure, 0, || (*file).lost().map_or(Ok(1), Err)) }
}

/// The most damaged places that a message lists.
const LISTED: usize = 10;

/// An error whose advice lists the damaged places, if there are several. Rows count from 1.
fn with_damages(error: Error, survey: &Survey) -> Error {
    if survey.n_damages < 2 {
        return error;
    }
    let mut advice = error.advice().unwrap_or_default().to_owned();
    for damage in survey.damages.iter().take(LISTED) {
        advice += &format!("\n- {}", damage.describe(1));
    }
    if survey.n_damages > LISTED as u64 {
        advice += &format!("\n- and {} more", survey.n_damages - LISTED as u64);
    }
    error.advise(advice)
}
