//! Reads damaged bytes and counts what happened. Panics, hangs and wrong values are failures.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use crate::frames::read;
use crate::naive;
use crate::probe::{Contents, contents, is_fit, open, verify};

/// The longest time that reading one small file may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Rules that bind writers alone (W in `docs/format/`). Only the naive decoder must check them, as
/// breaking one gives no wrong values. A file that only the naive decoder refuses, by another rule,
/// is a failure.
const WRITERS_ALONE: &[&str] = &[
    // Limits on depth and number of nodes hold without this rule.
    "a node is the child of one parent",
    // The first delta of a vector has no predecessor.
    "bits 0 of a vector of deltas are 0",
    // No value depends on them.
    "the program that wrote is UTF-8, then zeros",
    "the sort order of a table",
    "comment and unit of a column are strings",
    // Readers may skip a page whose values are all missing.
    "the start of a vector of strings",
];

/// Whether a rule of the naive decoder binds writers alone.
pub fn binds_writers_alone(rule: &str) -> bool {
    WRITERS_ALONE.contains(&rule)
}

/// How core and naive decoder judge a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Both refuse it, or both read the same values.
    Same,
    /// Only the naive decoder refuses it, by a rule that binds writers alone.
    Lenient(String),
    /// Only the core refuses it.
    Strict(String),
}

/// Reads a file with the naive decoder. `error` is the core's, from reading or from `verify`.
///
/// # Errors
/// The difference, where core and naive decoder read different values, or the core misses a rule.
pub fn compare(bytes: &[u8], error: Option<String>) -> Result<Verdict, String> {
    match (naive::verify(bytes), error) {
        (Err(wrong), None) => {
            if !binds_writers_alone(&wrong.rule) && wrong.kind != naive::Kind::Limit {
                return Err(format!("only the naive decoder refuses: {wrong}"));
            }
            Ok(Verdict::Lenient(wrong.to_string()))
        }
        (Ok(_), Some(error)) => Ok(Verdict::Strict(error)),
        (Ok(decoded), None) => {
            let file = open(bytes).map_err(|error| error.to_string())?.whole();
            for i in 0..decoded.columns.len() {
                let Ok(values) = naive::nested::values(&decoded.columns, i) else { continue };
                if read::column(&file, i as u64).ok().as_ref() != Some(&values) {
                    return Err(format!("core and naive decoder read different values of column {i}"));
                }
            }
            Ok(Verdict::Same)
        }
        (Err(_), Some(_)) => Ok(Verdict::Same),
    }
}

/// The outcomes of reading damaged files.
#[derive(Debug, Default)]
pub struct Tally {
    /// Files that were read.
    pub n: u64,
    /// Files that gave an error, from the reader or from `verify`.
    pub n_refused: u64,
    /// Files on which core and naive decoder were compared.
    pub n_compared: u64,
    /// Compared files that only the core accepts, by broken rule, with one example each.
    pub lenient: Vec<(String, String)>,
    /// Compared files that only the naive decoder accepts, likewise.
    pub strict: Vec<(String, String)>,
    /// Failures, with the case.
    pub failures: Vec<String>,
}

fn guarded<T>(case: &str, read: impl FnOnce() -> T) -> Result<T, String> {
    let started = Instant::now();
    let result = catch_unwind(AssertUnwindSafe(read)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        format!("{case}: panic: {}", text.unwrap_or_default())
    });
    if started.elapsed() > PATIENCE {
        return Err(format!("{case}: took {:?}", started.elapsed()));
    }
    result
}

impl Tally {
    fn fail(&mut self, failure: String) {
        self.failures.push(failure);
    }

    /// Reads damage under unrepaired checksums. The outcome is a typed error or the original
    /// values. With `must_verify`, `verify` has to find the damage.
    pub fn raw(&mut self, case: &str, bytes: &[u8], original: &Contents, must_verify: bool) {
        self.n += 1;
        match guarded(case, || (contents(bytes), verify(bytes))) {
            Err(failure) => self.fail(failure),
            Ok((read, verified)) => {
                match read {
                    Ok(read) if read == *original => {}
                    Ok(_) => self.fail(format!("{case}: other data was read")),
                    Err(error) if is_fit(&error) => self.n_refused += 1,
                    Err(error) => self.fail(format!("{case}: {:?}: {error}", error.kind())),
                }
                match verified {
                    Ok(()) if must_verify => self.fail(format!("{case}: verify finds nothing")),
                    Err(error) if !is_fit(&error) => self.fail(format!("{case}: verify: {error}")),
                    _ => {}
                }
            }
        }
    }

    /// Reads damage under repaired checksums. The outcome is any data or a typed error. With
    /// `compare`, the naive decoder reads the file too: when both accept it, the cells have to be
    /// equal.
    pub fn repaired(&mut self, case: &str, bytes: &[u8], compare: bool) {
        self.n += 1;
        let (read, verified) = match guarded(case, || (contents(bytes), verify(bytes))) {
            Err(failure) => return self.fail(failure),
            Ok(both) => both,
        };
        for error in [read.as_ref().err(), verified.as_ref().err()].into_iter().flatten() {
            if !is_fit(error) {
                self.fail(format!("{case}: {:?}: {error}", error.kind()));
            }
        }
        let error = read.as_ref().err().or(verified.as_ref().err()).map(ToString::to_string);
        self.n_refused += u64::from(error.is_some());
        if compare {
            self.compare(case, bytes, error);
        }
    }

    fn compare(&mut self, case: &str, bytes: &[u8], error: Option<String>) {
        self.n_compared += 1;
        let note = |list: &mut Vec<(String, String)>, rule: String| {
            // Without places and advice.
            let rule = rule.split([';', '(']).next().unwrap_or_default().trim().to_owned();
            if !list.iter().any(|(known, _)| *known == rule) {
                list.push((rule, case.to_owned()));
            }
        };
        match guarded(case, || compare(bytes, error)).and_then(|verdict| verdict) {
            Ok(Verdict::Same) => {}
            Ok(Verdict::Lenient(rule)) => note(&mut self.lenient, rule),
            Ok(Verdict::Strict(rule)) => note(&mut self.strict, rule),
            Err(failure) => self.fail(format!("{case}: {failure}")),
        }
    }

    /// Adds another tally.
    pub fn add(&mut self, other: Tally) {
        self.n += other.n;
        self.n_refused += other.n_refused;
        self.n_compared += other.n_compared;
        for (mine, theirs) in [(&mut self.lenient, other.lenient), (&mut self.strict, other.strict)] {
            for note in theirs {
                if !mine.iter().any(|known| known.0 == note.0) {
                    mine.push(note);
                }
            }
        }
        self.failures.extend(other.failures);
    }

    /// Prints the counts and differences.
    ///
    /// # Panics
    /// When there are failures.
    pub fn assert(&self, what: &str) {
        println!("{what}: {} files read, {} refused, {} compared", self.n, self.n_refused, self.n_compared);
        for (rule, case) in &self.lenient {
            println!("  only the naive decoder refuses: {rule} ({case})");
        }
        for (rule, case) in &self.strict {
            println!("  only the core refuses: {rule} ({case})");
        }
        let shown: Vec<&String> = self.failures.iter().take(40).collect();
        assert!(shown.is_empty(), "{what}: {} failures: {shown:#?}", self.failures.len());
    }
}

/// Whether the long tests are enabled (`ENTASIS_TEST_LONG=1`).
pub fn is_long() -> bool {
    is_set("ENTASIS_TEST_LONG")
}

/// Whether the cases that `make test-release` adds are enabled (`ENTASIS_TEST_RELEASE=1`). The long
/// tests include them.
pub fn is_release() -> bool {
    is_set("ENTASIS_TEST_RELEASE") || is_long()
}

/// The first value in the tests of a change, the second in those of a release, the third in the
/// long tests.
pub fn by_tier<T>(change: T, release: T, long: T) -> T {
    match (is_long(), is_release()) {
        (true, _) => long,
        (_, true) => release,
        _ => change,
    }
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| value != "0")
}
