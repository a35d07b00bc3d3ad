//! Damaged bytes, read: what may happen, and what must not.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use crate::naive;
use crate::probe::{Contents, contents, is_fit, verify};

/// No single reading of a small file takes longer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Rules of the page that the naive decoder compares and the core is known to pass by: none of them can give wrong values
/// or harm. A rule that isn't here and is passed by is a failure.
const PASSED_BY: &[&str] = &[
    // What statistics say, besides the number of missing values.
    "the minimum",
    "the maximum",
    "zeros behind a minimum or maximum",
    "statistics say ascending",
    "statistics say descending",
    "statistics say whether there is a NaN",
    "ascending and descending are for values that are all there",
    // Type fields that decoding doesn't need.
    "bundled columns have the type of their bundle",
    "n_missing of a column",
    // Names of no bytes may stand anywhere.
    "a range lies outside the bytes",
    "the slots of a table are in the name index",
    // Depth and number of nodes are limited all the same.
    "a node is the child of one parent",
    "a column that is not there",
    "a table that is not there",
    // Bits that stand for nothing.
    "unused bits of a vector are zero",
    "unused bits are zero",
    "the width of a vector is at most the directory's",
    "bits 0 of a vector of deltas are 0",
    // Of pages whose values are all missing.
    "where the bytes of a vector begin",
];

/// What became of damaged files.
#[derive(Debug, Default)]
pub struct Tally {
    /// Files that were read.
    pub n: u64,
    /// Those that gave an error, by the reader or by `verify`.
    pub n_refused: u64,
    /// Those that core and naive decoder were compared on.
    pub n_compared: u64,
    /// Compared files that the core accepts and the naive decoder doesn't, by the rule, with one example each.
    pub lenient: Vec<(String, String)>,
    /// Compared files that the naive decoder accepts and the core doesn't, in the same way.
    pub strict: Vec<(String, String)>,
    /// What must not happen, with the case.
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

    /// Damage that no checksum knows of: a typed error, or the original; and `verify` has to find it, if `must_verify`.
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

    /// Damage under checksums that hold: any data or typed error. With `compare`, also what the naive decoder says:
    /// where both accept, the cells have to be equal.
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
        let naive = match guarded(&format!("{case}: naive"), || naive::verify(bytes)) {
            Err(failure) => return self.fail(failure),
            Ok(naive) => naive,
        };
        let note = |list: &mut Vec<(String, String)>, rule: String| {
            // Without places and advice.
            let rule = rule.split([';', '(']).next().unwrap_or_default().trim().to_owned();
            if !list.iter().any(|(known, _)| *known == rule) {
                list.push((rule, case.to_owned()));
            }
        };
        match (naive, error) {
            (Err(wrong), None) => {
                if !PASSED_BY.contains(&wrong.rule.as_str()) && wrong.kind != naive::Kind::Limit {
                    self.fail(format!("{case}: only the naive decoder refuses: {wrong}"));
                }
                note(&mut self.lenient, wrong.to_string());
            }
            (Ok(_), Some(error)) => note(&mut self.strict, error),
            (Ok(decoded), None) => {
                let equal = guarded(case, || {
                    let file = crate::probe::open(bytes).ok().map(|file| file.whole());
                    let cells =
                        |i: usize| file.as_ref().map(|file| crate::frames::read::column(file, i as u64));
                    (0..decoded.columns.len()).all(|i| {
                        let values = naive::nested::values(&decoded.columns, i);
                        values.is_err() || matches!((cells(i), values), (Some(Ok(a)), Ok(b)) if a == b)
                    })
                });
                if equal != Ok(true) {
                    self.fail(format!("{case}: core and naive decoder read different data ({equal:?})"));
                }
            }
            (Err(_), Some(_)) => {}
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
    /// When something happened that must not.
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

/// Whether the long tiers are asked for (`ENTASIS_TEST_LONG=1`).
pub fn is_long() -> bool {
    std::env::var_os("ENTASIS_TEST_LONG").is_some_and(|value| value != "0")
}
