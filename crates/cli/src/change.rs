//! The options of the verbs that change a file, and their result.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use entasis::{Change, ColumnSource, Durable, Error, File, Frame, Keep, Operation, Value, WriteOptions};
use entasis_dataset::column_labels;

use crate::failure::Outcome;
use crate::host;
use crate::json::Object;
use crate::limits::LimitArgs;
use crate::open::require_table;
use crate::output::Out;
use crate::progress::Watch;
use crate::text::{count, escape, thousands};

/// How a file is changed.
#[derive(clap::Args)]
pub(crate) struct ChangeArgs {
    /// How long to wait for another writer of the file
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = parse_seconds)]
    wait: f64,
    /// Don't wait for the disk: after a power failure the change may be lost, the state before it
    /// stays
    #[arg(long)]
    no_sync: bool,
    /// Keep so many earlier generations, such as 5, or those of a time, such as 12h, 7d or 4w: now,
    /// and in later changes
    #[arg(long, value_name = "N|TIME", value_parser = parse_keep)]
    keep: Option<Keep>,
    /// Print the result as a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

impl ChangeArgs {
    /// The options of the core.
    pub(crate) fn options(&self) -> WriteOptions {
        let durable = if self.no_sync { Durable::Never } else { Durable::default() };
        let wait = Duration::from_secs_f64(self.wait);
        WriteOptions { durable, wait, keep: self.keep, ..WriteOptions::default() }
    }

    /// Takes the lock of the file at `path`, and opens it.
    pub(crate) fn begin(
        &self,
        path: &Path,
        options: &WriteOptions,
        watch: &Watch,
    ) -> entasis::Result<Change> {
        if path == Path::new("-") {
            let error = Error::argument("the standard input cannot be changed").in_file(path);
            return Err(error.advise("pass the path of a file"));
        }
        if host::is_address(path) {
            let error = Error::argument("objects on stores do not change in place");
            return Err(error.advise("a folder there takes new rows, by write_dataset in Python"));
        }
        self.limits.opening(|opening| Change::begin_with(path, opening, options, watch))
    }

    /// As [`begin`](Self::begin), for a file that holds a table.
    pub(crate) fn begin_table(
        &self,
        path: &Path,
        options: &WriteOptions,
        watch: &Watch,
    ) -> entasis::Result<Change> {
        let change = self.begin(path, options, watch)?;
        require_table(change.file(), path)?;
        Ok(change)
    }

    /// Changes a file, then prints its new state. `change` takes the lock of the file and gives it
    /// back when it ends, so that other writers do not wait for the report.
    pub(crate) fn change_and_report(
        &self,
        path: &Path,
        doing: impl Into<String>,
        out: &mut Out,
        change: impl FnOnce(&Watch) -> Outcome,
    ) -> Outcome {
        change(&Watch::new(doing))?;
        self.report(path, None, out)
    }

    /// As [`change_and_report`](Self::change_and_report). `change` returns the names of the columns
    /// that are stored anew, which are printed too.
    pub(crate) fn change_and_report_columns(
        &self,
        path: &Path,
        doing: impl Into<String>,
        out: &mut Out,
        change: impl FnOnce(&Watch) -> Outcome<Vec<String>>,
    ) -> Outcome {
        let anew = change(&Watch::new(doing))?;
        self.report(path, Some(&anew), out)
    }

    /// As [`begin_table`](Self::begin_table), for a change of columns by their names. Returns the
    /// host map of the file too. `python` and `r` say where a refused change is possible.
    pub(crate) fn begin_columns(
        &self,
        path: &Path,
        options: &WriteOptions,
        watch: &Watch,
        python: &'static str,
        r: &'static str,
    ) -> entasis::Result<(Change, Value)> {
        let change = self.begin_table(path, options, watch)?;
        let host = change.file().host()?;
        column_labels::check(&host)
            .map_err(|error| column_labels::advise(error.in_file(path), &host, python, r))?;
        Ok((change, host))
    }

    /// Prints the state of the file after a change, and the columns that are stored anew.
    fn report(&self, path: &Path, anew: Option<&[String]>, out: &mut Out) -> Outcome {
        let file = self.limits.open(path)?;
        let name = path.to_string_lossy();
        if self.json {
            let number = |n: u64| if file.is_table() { n.to_string() } else { "null".to_owned() };
            let object = Object::new()
                .text("file", &name)
                .raw("generation", file.generation())
                .raw("n_rows", number(file.n_rows()))
                .raw("n_columns", number(file.n_columns()));
            let object = match anew {
                Some(anew) => object.texts("stored_anew", anew),
                None => object,
            };
            writeln!(out, "{}", object.end())?;
            return Ok(());
        }
        let shape = match file.is_table() {
            true => format!(", {} x {}", count(file.n_rows(), "row"), count(file.n_columns(), "column")),
            false => String::new(),
        };
        writeln!(out, "{}: generation {}{shape}", escape(&name), thousands(file.generation()))?;
        if let Some(anew) = anew.filter(|anew| !anew.is_empty()) {
            let names: Vec<String> = anew.iter().map(|name| escape(name).into_owned()).collect();
            writeln!(out, "stored anew: {}", names.join(", "))?;
        }
        Ok(())
    }
}

/// The names of the table's columns.
pub(crate) fn names(file: &File) -> entasis::Result<Vec<String>> {
    let columns = file.columns(0..file.n_columns())?;
    Ok(columns.into_iter().map(|info| info.name).collect())
}

/// Makes `columns` the columns of the table: the index of each in the file's table, and its name.
/// `labels` is the host map with the new column labels, or one that keeps them all.
pub(crate) fn set_columns(
    change: Change,
    columns: Vec<(usize, String)>,
    labels: Value,
    operation: Operation,
    options: &WriteOptions,
    watch: &Watch,
) -> entasis::Result<()> {
    let nothing = Frame { n_rows: 0, columns: Vec::new(), extra: Vec::new(), host: labels };
    let (indices, names): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    let sources: Vec<ColumnSource> = indices.into_iter().map(ColumnSource::Kept).collect();
    let content = change.with_columns(nothing, &sources, names)?;
    change.commit(content, operation, options, watch)
}

/// A number of generations, or a time.
fn parse_keep(text: &str) -> Result<Keep, String> {
    let wrong = || format!("{text:?} is neither a number of generations, such as 5, nor a time, such as 7d");
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits.parse().ok().filter(|&number| number > 0).ok_or_else(wrong)?;
    let seconds = match &text[digits.len()..] {
        "" => return Ok(Keep { kind: Keep::GENERATIONS, value: number }),
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        _ => return Err(wrong()),
    };
    let nanoseconds = number.checked_mul(seconds).and_then(|seconds| seconds.checked_mul(1_000_000_000));
    Ok(Keep { kind: Keep::NANOSECONDS, value: nanoseconds.ok_or_else(wrong)? })
}

/// A time to wait, in seconds.
pub(crate) fn parse_seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("{text:?} is not a number of seconds"))?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(_) => Ok(seconds),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keep_is_a_number_or_a_time() {
        let keep = |kind, value| Ok(Keep { kind, value });
        assert_eq!(parse_keep("5"), keep(Keep::GENERATIONS, 5));
        assert_eq!(parse_keep("90s"), keep(Keep::NANOSECONDS, 90_000_000_000));
        assert_eq!(parse_keep("1w"), keep(Keep::NANOSECONDS, 604_800_000_000_000));
        for text in ["0", "0d", "", "d", "-1", "5 d", "1y", "99999999999w", "1.5h"] {
            assert!(parse_keep(text).is_err(), "{text}");
        }
    }
}
