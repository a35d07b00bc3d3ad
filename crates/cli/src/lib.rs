//! The `entasis` command: shows, verifies and changes Entasis files.
//!
//! A verb, or a few verbs with the same arguments, have a file. [`run`] is the entry point of the
//! program, and [`run_with`] that of the script of the Python package: it brings a [`Host`] for
//! formats that libraries of Python read. That package also takes [`NestedAsJson`] and
//! [`condition`].
#![deny(unsafe_code)]

mod add;
mod append;
mod array;
mod calendar;
mod cat;
mod cell;
mod change;
mod clean;
mod clobber;
mod compact;
mod completions;
mod convert;
mod convert_args;
mod copy;
mod csv;
mod diff;
mod drop;
mod encrypt;
mod failure;
mod files;
mod folder;
mod format;
mod found;
mod from_r;
mod fst;
mod generations;
mod head;
mod host;
mod hosted;
mod info;
mod json;
mod json_value;
mod keys;
mod labels;
mod lend;
mod level;
mod limits;
mod man;
mod metadata;
mod names;
mod nested;
mod nested_text;
mod new_columns;
mod objects;
mod open;
mod open_other;
mod output;
mod progress;
mod rename;
mod repair;
mod replace;
mod rollback;
mod row_set;
mod schema;
mod secrets;
mod select;
mod sniff;
mod table;
mod target;
mod text;
mod text_options;
mod through_host;
mod to_r;
mod to_text;
mod tree;
mod types;
mod verify;

use std::ffi::OsString;
use std::io::Write;

use clap::{CommandFactory, Parser, Subcommand};
pub use entasis_dataset::{Listed, Objects};
pub use found::condition;
pub use host::{Host, Input, Progress, Reply, Request};
pub use nested_text::NestedAsJson;
use output::Out;

const ABOUT: &str = "Look into Entasis files, check them and change them.

An Entasis file (.entasis) holds a data frame (columns of equal length, each with a name and a type), \
or a tree of frames, arrays and other values.";

const EXAMPLES: &str = "  \
  entasis schema flights.entasis              the columns and their types
  entasis head -n 20 flights.entasis          the first rows
  entasis tail flights.entasis                the last rows
  entasis select flights.entasis --where \"delay > 60\"
                                              the rows for which a condition is true
  entasis count flights.entasis --where \"delay > 60\"
                                              how many rows
  entasis sample -n 20 flights.entasis        some rows at random
  entasis cat flights.entasis more.entasis    all rows as JSON lines
  entasis schema s3://lake/sales              a file or a folder on an object store
  entasis info flights.entasis                the encoding and the size of each column
  entasis tree model.entasis                  the contents of a file of nested values
  entasis verify *.entasis                    check that every byte is unchanged
  entasis append flights.entasis new.entasis  the rows of another file
  entasis add flights.entasis more.entasis    the columns of another file
  entasis replace flights.entasis new.entasis replace columns by those of another file
  entasis rename flights.entasis from to      rename a column
  entasis drop flights.entasis delay          drop a column
  entasis metadata flights.entasis            the values that are kept with the file
  entasis generations flights.entasis         the states that can still be read
  entasis rollback flights.entasis 3          go back to one of them
  entasis compact flights.entasis             drop what changes left in the file
  entasis clean flights                       delete files that a folder does not need any more
  entasis repair bad.entasis good.entasis     save the intact values of a damaged file
  entasis encrypt flights.entasis             encrypt a file, by a password or a key
  entasis decrypt flights.entasis             store it without encryption
  entasis keys flights.entasis                the keys and passwords that open a file
  entasis sniff flights.csv                   how a text file is written
  entasis convert flights.csv out.entasis     a file of another format as an Entasis file
  entasis diff old.entasis new.parquet        the differences of two tables
  entasis completions bash                    a script for the completion of words
  entasis man                                 the manual page
  cat flights.entasis | entasis head -        a file from the standard input";

const EXIT_STATUS: &str = "0 success; 1 a file or an operation failed (the reason is on standard error); 2 wrong usage. \
    `entasis diff`: 0 equal; 1 different; 2 an error.";

const ENVIRONMENT: &str = "NO_COLOR=1 in the environment turns styles off. Encrypted files are opened by the key in the file \
    that ENTASIS_KEY_FILE names, or else by the password in ENTASIS_PASSWORD, if no other is given.";

#[derive(Parser)]
#[command(name = "entasis", version = entasis::VERSION, about = ABOUT, max_term_width = 100)]
#[command(arg_required_else_help = true)]
#[command(after_help = format!("Examples:\n{EXAMPLES}\n\nExit status: {EXIT_STATUS}\n{ENVIRONMENT}"))]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Info(info::Args),
    Schema(schema::Args),
    Head(head::Args),
    Tail(head::TailArgs),
    Select(select::Args),
    Count(select::CountArgs),
    Sample(select::SampleArgs),
    Cat(cat::Args),
    Tree(tree::Args),
    Verify(verify::Args),
    Generations(generations::Args),
    Rollback(rollback::Args),
    Append(append::Args),
    Add(add::Args),
    Replace(replace::Args),
    Rename(rename::Args),
    Drop(drop::Args),
    Metadata(metadata::Args),
    Compact(compact::Args),
    Clean(clean::Args),
    Repair(repair::Args),
    Encrypt(encrypt::Args),
    Decrypt(encrypt::DecryptArgs),
    Keys(keys::Args),
    Sniff(sniff::Args),
    Convert(Box<convert_args::Args>),
    Diff(diff::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// Runs the command with these arguments (without the program's name) and returns its exit code: 0
/// for success, 1 if a file or an operation failed, 2 for wrong usage, 130 if the user stopped it.
/// `entasis diff` returns 1 for different tables, and 2 for all errors.
///
/// Results go to the standard output, errors and progress to the standard error.
pub fn run<I: IntoIterator<Item = OsString>>(args: I) -> i32 {
    run_with(args, None)
}

/// As [`run`], with a host for the work that needs other libraries.
pub fn run_with<I: IntoIterator<Item = OsString>>(args: I, host: Option<&'static dyn Host>) -> i32 {
    host::set(host);
    // A failure is ignored: the command then runs without the reserve.
    let _ = entasis::reserve::refill();
    let words: Vec<_> = std::iter::once(OsString::from("entasis")).chain(args).collect();
    let cli = match Cli::try_parse_from(&words) {
        Ok(cli) => cli,
        Err(mut error) => {
            limits::advise(&mut error, &words);
            // An error here cannot be reported in any other way.
            let _ = error.print();
            return error.exit_code();
        }
    };
    let mut out = Out::stdout();
    let outcome = match &cli.verb {
        Verb::Info(args) => info::run(args, &mut out),
        Verb::Schema(args) => schema::run(args, &mut out),
        Verb::Head(args) => head::run(args, &mut out),
        Verb::Tail(args) => head::run_tail(args, &mut out),
        Verb::Select(args) => select::run(args, &mut out),
        Verb::Count(args) => select::run_count(args, &mut out),
        Verb::Sample(args) => select::run_sample(args, &mut out),
        Verb::Cat(args) => cat::run(args, &mut out),
        Verb::Tree(args) => tree::run(args, &mut out),
        Verb::Verify(args) => verify::run(args, &mut out),
        Verb::Generations(args) => generations::run(args, &mut out),
        Verb::Rollback(args) => rollback::run(args, &mut out),
        Verb::Append(args) => append::run(args, &mut out),
        Verb::Add(args) => add::run(args, &mut out),
        Verb::Replace(args) => replace::run(args, &mut out),
        Verb::Rename(args) => rename::run(args, &mut out),
        Verb::Drop(args) => drop::run(args, &mut out),
        Verb::Metadata(args) => metadata::run(args, &mut out),
        Verb::Compact(args) => compact::run(args, &mut out),
        Verb::Clean(args) => clean::run(args, &mut out),
        Verb::Repair(args) => repair::run(args, &mut out),
        Verb::Encrypt(args) => encrypt::run(args, &mut out),
        Verb::Decrypt(args) => encrypt::run_decrypt(args, &mut out),
        Verb::Keys(args) => keys::run(args, &mut out),
        Verb::Sniff(args) => sniff::run(args, &mut out),
        Verb::Convert(args) => convert::run(args, &mut out),
        Verb::Diff(args) => diff::run(args, &mut out),
        Verb::Completions(args) => completions::run(args, Cli::command(), &mut out),
        Verb::Man(man::Args {}) => man::run(&Cli::command(), &mut out),
    };
    let outcome = outcome.and_then(|()| out.flush().map_err(Into::into));
    match outcome {
        Ok(()) if out.failed() => 1,
        Ok(()) => 0,
        Err(failure) => match (failure.report(), &cli.verb) {
            // The report was cut by its reader.
            (0, Verb::Diff(_)) => i32::from(out.failed()),
            (1, Verb::Diff(_)) => 2,
            (code, _) => code,
        },
    }
}

/// A number of threads, at least one.
fn parse_threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("at least one thread is needed".to_owned()),
        Ok(n) => Ok(n),
        Err(error) => Err(format!("{error}")),
    }
}
