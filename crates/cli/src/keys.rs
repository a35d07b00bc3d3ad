//! `entasis keys`: shows and changes which keys and passwords open a file.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use entasis::{Error, FileSource, KeyChange, Secret, WriteOptions, change_keys, keys};

use crate::change::parse_seconds;
use crate::failure::Outcome;
use crate::json::Object;
use crate::output::Out;
use crate::progress::Watch;
use crate::secrets::{SecretArgs, can_ask, new_password, of_files};
use crate::text::{count, escape};

const EXAMPLES: &str = "Examples:
  entasis keys patients.entasis
  entasis keys --add-password-file new.txt patients.entasis
  entasis keys --add-key-file backup.key --password-file old.txt patients.entasis
  entasis keys --remove 0 patients.entasis

Keys are numbered from 0. A copy of the file that was made before opens with the old keys; \
`entasis compact --rekey` gives the file itself another key.";

/// Show, add or remove keys and passwords of an encrypted file
///
/// A change of keys does not rewrite the values. One to eight keys and passwords open a
/// file. --key-file and --password-file are those that open it now.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// An encrypted file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Add a password, which the command asks for
    #[arg(long, group = "change")]
    add_password: bool,
    /// Add the password in the first line of this file
    #[arg(long, value_name = "FILE", group = "change")]
    add_password_file: Option<PathBuf>,
    /// Add the key in this file: 32 bytes, or 64 hexadecimal digits
    #[arg(long, value_name = "FILE", group = "change")]
    add_key_file: Option<PathBuf>,
    /// Remove the key with this number
    #[arg(long, value_name = "N", group = "change")]
    remove: Option<usize>,
    /// Print the keys as a JSON object
    #[arg(long)]
    json: bool,
    /// How long to wait for another writer of the file
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = parse_seconds)]
    wait: f64,
    #[command(flatten)]
    secrets: SecretArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: &mut Out) -> Outcome {
    if let Some(change) = change(args)? {
        args.secrets.unlocking(|secret| {
            let wait = Duration::from_secs_f64(args.wait);
            let options = WriteOptions { secret, wait, ..WriteOptions::default() };
            change_keys(&args.file, &change, &options, &Watch::new("changing keys"))
        })?;
    }
    print(&args.file, args.json, out)
}

/// The change that was asked for.
fn change(args: &Args) -> Outcome<Option<KeyChange>> {
    if let Some(number) = args.remove {
        return Ok(Some(KeyChange::Remove(Some(number))));
    }
    let new: Option<Secret> = match args.add_password {
        true if can_ask() => Some(new_password()?),
        true => {
            let error = Error::argument("there is no terminal to ask for a password");
            return Err(error.advise("pass --add-password-file FILE").into());
        }
        false => of_files(args.add_key_file.as_deref(), args.add_password_file.as_deref())?,
    };
    Ok(new.map(KeyChange::Add))
}

fn print(path: &Path, is_json: bool, out: &mut Out) -> Outcome {
    let source = FileSource::open(path).map_err(|e| Error::io(e, "open").in_file(path))?;
    let name = path.to_string_lossy();
    let found = keys(&source).map_err(|error| error.in_file(path))?;
    let Some(found) = found else {
        return Err(Error::argument("the file is not encrypted").in_file(path).into());
    };
    if is_json {
        let kinds: Vec<String> = found.kinds.iter().map(|kind| (*kind).to_owned()).collect();
        let object =
            Object::new().text("file", &name).text("cipher", found.suite.name()).texts("keys", &kinds);
        writeln!(out, "{}", object.end())?;
        return Ok(());
    }
    let n = count(found.kinds.len() as u64, "key");
    writeln!(out, "{}: {}, {n}", escape(&name), found.suite.name())?;
    for (number, kind) in found.kinds.iter().enumerate() {
        match found.costs.filter(|_| *kind == "password") {
            Some(costs) => writeln!(
                out,
                "{number}  password (Argon2id, {} MiB, {}, {})",
                costs.memory >> 10,
                count(costs.passes.into(), "round"),
                count(costs.lanes.into(), "lane")
            )?,
            None => writeln!(out, "{number}  {kind}")?,
        }
    }
    Ok(())
}
