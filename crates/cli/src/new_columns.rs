//! Gives a table columns of another file: the common part of `entasis add` and `entasis replace`.

use std::collections::HashSet;
use std::path::PathBuf;

use entasis::{ColumnSource, Error, File, Kind, Operation, Value, WriteOptions};
use entasis_dataset::column_labels;

use crate::change::{self, ChangeArgs};
use crate::failure::Outcome;
use crate::names::requested_columns;
use crate::open::require_table;
use crate::output::Out;

/// The arguments of these verbs.
#[derive(clap::Args)]
pub(crate) struct NewColumns {
    /// The Entasis file to change
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// An Entasis file with the new columns, or - for the standard input
    #[arg(value_name = "COLUMNS")]
    from: PathBuf,
    /// The columns of COLUMNS to take [default: all]. A name with a comma needs a --columns of its
    /// own
    #[arg(long, value_name = "A,B")]
    columns: Vec<String>,
    /// The compression of the new columns: 0 (raw) to 100 (smallest) [default: as the last write of
    /// FILE]
    #[arg(short, long, value_name = "C", value_parser = clap::value_parser!(u8).range(0..=100))]
    compression: Option<u8>,
    /// The edition of the format: the set of encodings that may be used [default: the newest]
    #[arg(long, value_name = "N")]
    edition: Option<u8>,
    /// Threads to use [default: one per processor]
    #[arg(long, value_name = "N", value_parser = crate::parse_threads)]
    threads: Option<usize>,
    #[command(flatten)]
    change: ChangeArgs,
}

/// Returns the final columns of the table, given the file, its column names and the names of the
/// new columns.
type Sources = fn(&File, &[String], &[String]) -> entasis::Result<Vec<ColumnSource>>;

/// A verb that gives a table columns of another file.
pub(crate) struct Verb {
    /// For the progress: "adding columns".
    pub(crate) doing: &'static str,
    /// The operation of the generation.
    pub(crate) operation: Operation,
    /// Where the change is possible if the command refuses it.
    pub(crate) python: &'static str,
    pub(crate) r: &'static str,
    /// The columns that the table gets.
    pub(crate) sources: Sources,
}

/// Runs a verb.
pub(crate) fn run(args: &NewColumns, verb: &Verb, out: &mut Out) -> Outcome {
    args.change.change_and_report(&args.file, verb.doing, out, |watch| {
        let (compression, edition, threads) = (args.compression, args.edition, args.threads);
        let options = WriteOptions { compression, edition, threads, ..args.change.options() };
        let from = args.change.limits.open_input(&args.from)?;
        require_table(&from, &args.from)?;
        let change = args.change.begin_table(&args.file, &options, watch)?;
        let file = change.file();
        let hosts = [file.host()?, from.host()?];
        let refused = |error: Error| column_labels::advise(error, &hosts[0], verb.python, verb.r);
        for (host, path) in hosts.iter().zip([&args.file, &args.from]) {
            column_labels::check(host).map_err(|error| refused(error.in_file(path)))?;
        }
        let indices = requested_columns(&from, &args.from, &args.columns)?;
        let (old, all) = (change::names(file)?, change::names(&from)?);
        let new: Vec<String> = indices.iter().filter_map(|&index| all.get(index).cloned()).collect();
        let mut seen = HashSet::new();
        if let Some(name) = new.iter().find(|name| !seen.insert(*name)) {
            let error = Error::argument("two columns have this name").in_column(name);
            return Err(error.in_file(&args.from).into());
        }
        let sources = (verb.sources)(file, &old, &new).map_err(|error| error.in_file(&args.file))?;
        let of_source = |source: &ColumnSource| match *source {
            ColumnSource::Kept(index) => old.get(index),
            ColumnSource::New(index) => new.get(index),
        };
        let names: Vec<String> = sources.iter().filter_map(of_source).cloned().collect();
        let mut frame = change.columns_of(&from, &indices, watch).map_err(|error| match error.kind() {
            Kind::Argument if error.advice().is_none() => refused(error),
            _ => error,
        })?;
        // Labels that stay are those of the file.
        if names.len() > old.len()
            && let (Value::Map(pairs), Value::Map(labels)) =
                (&mut frame.host, column_labels::joined(&hosts[0], &names))
        {
            pairs.extend(labels.into_iter().filter(|(key, _)| key.as_str() == Some("columns")));
        }
        let content = change.with_columns(frame, &sources, names)?;
        change.commit(content, verb.operation, &options, watch)?;
        Ok(())
    })
}
