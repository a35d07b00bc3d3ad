//! Writes `tests/ratio/results.csv`, the stored sizes of fixed columns.

use std::process::ExitCode;

use entasis_testkit::ratio;

fn main() -> ExitCode {
    match std::fs::write(ratio::path(), ratio::csv()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", ratio::path().display());
            ExitCode::FAILURE
        }
    }
}
