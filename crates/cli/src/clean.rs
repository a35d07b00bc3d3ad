//! `entasis clean`: deletes files that are not in the table of a folder any more.

use std::io::Write;
use std::path::PathBuf;

use crate::failure::Outcome;
use crate::folder;
use crate::output::Out;
use crate::secrets::SecretArgs;
use crate::text::{count, escape};

const EXAMPLES: &str = "Examples:
  entasis clean sales/
  entasis clean --older-than 12h sales/

Changes that replace or join files of a folder leave the old files, so that readers which began before can go on. \
Writers that were killed leave files too.";

/// Delete files of a folder that are not in its table any more
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A folder with a manifest, or its address on a store
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// How long files stay after they left the table: a number with s, m, h or d. Choose a time
    /// that is longer than any write and any read
    #[arg(long, value_name = "DURATION", default_value = "7d")]
    older_than: String,
    #[command(flatten)]
    secrets: SecretArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: &mut Out) -> Outcome {
    let name = args.folder.to_string_lossy();
    let options = [("older_than".to_owned(), args.older_than.clone().into())].into_iter().collect();
    let (secret, label) = (args.secrets.for_host(&[])?, format!("cleaning {}", escape(&name)));
    let result = folder::change("clean", &args.folder, options, secret, label)?;
    let removed = result.get("removed").and_then(serde_json::Value::as_array);
    for path in removed.into_iter().flatten().filter_map(serde_json::Value::as_str) {
        writeln!(out, "{}", escape(path))?;
    }
    let n = removed.map_or(0, Vec::len) as u64;
    let folder = result.get("folder").and_then(serde_json::Value::as_str);
    writeln!(out, "{}: {} deleted", escape(folder.unwrap_or(&name)), count(n, "file"))?;
    Ok(())
}
