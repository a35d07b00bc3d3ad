//! `entasis encrypt` and `entasis decrypt`: store a file anew, with or without encryption.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use entasis::{WriteOptions, decrypt, encrypt};

use crate::change::parse_seconds;
use crate::clobber::ClobberArgs;
use crate::failure::Outcome;
use crate::output::Out;
use crate::progress::Watch;
use crate::secrets::SecretArgs;
use crate::text::escape;

const EXAMPLES: &str = "Examples:
  entasis encrypt patients.entasis
  entasis encrypt --key-file patients.key patients.entasis
  entasis encrypt patients.entasis sealed.entasis

Nothing opens a file whose key or password is lost. `entasis keys` adds further ones.";

/// Encrypt a file
///
/// The values, names, types and metadata of the file and of its earlier generations are encrypted.
/// Without --key-file and --password-file the command asks for a password. The encrypted file takes
/// the place of the plain one, whose bytes may stay on the disk until they are overwritten.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    files: FileArgs,
}

/// Decrypt a file
///
/// The plain file takes the place of the encrypted one. It has the same generations.
#[derive(clap::Args)]
pub(crate) struct DecryptArgs {
    #[command(flatten)]
    files: FileArgs,
}

#[derive(clap::Args)]
struct FileArgs {
    /// An Entasis file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The file to write [default: FILE itself]
    #[arg(value_name = "OUT")]
    out: Option<PathBuf>,
    #[command(flatten)]
    secrets: SecretArgs,
    #[command(flatten)]
    clobber: ClobberArgs,
    /// How long to wait for another writer of the file
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = parse_seconds)]
    wait: f64,
    /// Threads to use [default: one per processor]
    #[arg(long, value_name = "N", value_parser = crate::parse_threads)]
    threads: Option<usize>,
}

impl FileArgs {
    fn options(&self) -> WriteOptions {
        WriteOptions {
            threads: self.threads,
            wait: Duration::from_secs_f64(self.wait),
            must_be_new: self.out.is_some() && self.clobber.must_be_new(),
            ..WriteOptions::default()
        }
    }

    fn report(&self, what: &str, out: &mut Out) -> Outcome {
        let path = self.out.as_ref().unwrap_or(&self.file);
        writeln!(out, "{}: {what}", escape(&path.to_string_lossy()))?;
        Ok(())
    }
}

/// Runs `entasis encrypt`.
pub(crate) fn run(args: &Args, out: &mut Out) -> Outcome {
    let args = &args.files;
    if let Some(target) = &args.out {
        args.clobber.check(target)?;
    }
    let options = WriteOptions { secret: Some(args.secrets.for_new_file()?), ..args.options() };
    {
        let watch = Watch::new(format!("encrypting {}", escape(&args.file.to_string_lossy())));
        encrypt(&args.file, args.out.as_deref(), &options, &watch)?;
    }
    args.report("encrypted", out)
}

/// Runs `entasis decrypt`.
pub(crate) fn run_decrypt(args: &DecryptArgs, out: &mut Out) -> Outcome {
    let args = &args.files;
    if let Some(target) = &args.out {
        args.clobber.check(target)?;
    }
    args.secrets.unlocking(|secret| {
        let watch = Watch::new(format!("decrypting {}", escape(&args.file.to_string_lossy())));
        decrypt(&args.file, args.out.as_deref(), &WriteOptions { secret, ..args.options() }, &watch)
    })?;
    args.report("decrypted", out)
}
