//! `entasis compact`: stores files anew without what earlier changes left.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use entasis::{Change, Error, WriteOptions};

use crate::failure::{Outcome, refuse_given};
use crate::files;
use crate::folder;
use crate::host;
use crate::limits::LimitArgs;
use crate::output::Out;
use crate::progress::Watch;
use crate::text::{count, escape, size};

const EXAMPLES: &str = "Examples:
  entasis compact prices.entasis
  entasis compact --wait 0 *.entasis
  entasis compact sales/

A file that an error or an interrupt stops is unchanged.";

/// Make files that grew as short as files that are written at once
///
/// Drops blocks that earlier changes replaced, and merges short blocks. The new file takes the
/// place of the old one as a whole. Its values are the same.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Entasis files, or folders of them, which may be on a store. The files of a folder with
    /// equal keys become one
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Seconds to wait for another writer of the same file
    #[arg(long, value_name = "SECONDS", default_value = "10")]
    wait: u32,
    /// Threads to use [default: one per processor]
    #[arg(long, value_name = "N", value_parser = crate::parse_threads)]
    threads: Option<usize>,
    /// Give an encrypted file another file key. Of its keys and passwords only the one that opens
    /// it now stays
    #[arg(long)]
    rekey: bool,
    #[command(flatten)]
    limits: LimitArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: &mut Out) -> Outcome {
    files::for_each(&args.files, out, |path, out| one(path, args, out))
}

fn one(path: &Path, args: &Args, out: &mut Out) -> Outcome {
    let name = path.to_string_lossy();
    // Objects on stores do not change in place, which the host says.
    if path.is_dir() || host::is_address(path) {
        let of_file = (args.rekey, "--rekey");
        refuse_given(&[of_file], || format!("for a file, and {} is a folder", escape(&name)))?;
        let options = [("wait".to_owned(), args.wait.into())].into_iter().collect();
        let label = format!("compacting {}", escape(&name));
        let secret = args.limits.secrets.for_host(&[])?;
        let result = folder::change("compact", path, options, secret, label)?;
        let n = |name: &str| result.get(name).and_then(serde_json::Value::as_u64).unwrap_or_default();
        let after = count(n("n_files"), "file");
        let folder = result.get("folder").and_then(serde_json::Value::as_str);
        let name = escape(folder.unwrap_or(&name));
        writeln!(out, "{name}: {after}, before {}", n("n_files_before"))?;
        return Ok(());
    }
    let options = WriteOptions {
        threads: args.threads,
        wait: Duration::from_secs(args.wait.into()),
        ..WriteOptions::default()
    };
    let before = len(path)?;
    {
        let watch = Watch::new(format!("compacting {}", escape(&name)));
        let change = args.limits.opening(|opening| Change::begin_with(path, opening, &options, &watch))?;
        match args.rekey {
            true => change.rekey(&options, &watch)?,
            false => change.compact(&options, &watch)?,
        }
    }
    let after = len(path)?;
    writeln!(out, "{}: {}, before {}", escape(&name), size(after), size(before))?;
    Ok(())
}

fn len(path: &Path) -> entasis::Result<u64> {
    Ok(std::fs::metadata(path).map_err(|e| Error::io(e, "open").in_file(path))?.len())
}
