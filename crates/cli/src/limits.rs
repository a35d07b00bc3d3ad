//! The option `--max`, and opening of files with it.

use std::ffi::OsString;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use entasis::{Error, File, Limits, MemorySource, Opening, Secret};

use crate::host;
use crate::lend;
use crate::progress::Watch;
use crate::secrets::SecretArgs;
use crate::text::escape;

/// The limits that a verb opens its files with.
#[derive(Clone, clap::Args)]
pub(crate) struct LimitArgs {
    /// Raise or lower the most that a file may ask for, such as metadata_len=256MiB. Raise a limit
    /// only for a file that you trust. May be repeated
    #[arg(long = "max", value_name = "NAME=VALUE", value_parser = parse_limit)]
    limits: Vec<(String, u64)>,
    #[command(flatten)]
    pub(crate) secrets: SecretArgs,
}

impl LimitArgs {
    /// The limits of a reader, with those of the user.
    pub(crate) fn limits(&self) -> entasis::Result<Limits> {
        let mut limits = Limits::default();
        self.limits.iter().try_for_each(|(name, value)| limits.set(name, *value))?;
        Ok(limits)
    }

    /// Opens a file in some way, with the limits and the key or password of the user. A password is
    /// asked for if the file needs one and none was given.
    pub(crate) fn opening<T>(&self, open: impl Fn(Opening) -> entasis::Result<T>) -> entasis::Result<T> {
        let limits = self.limits()?;
        self.secrets.unlocking(|secret| open(Opening { limits: limits.clone(), secret }))
    }

    /// Opens a file, of Entasis or of R, or an object on a store; `-` is the standard input, which
    /// is read into memory.
    pub(crate) fn open(&self, path: &Path) -> entasis::Result<File> {
        let standard = self.standard(path)?;
        let opened = self.opening(|opening| {
            if let Some(bytes) = &standard {
                File::from_source(Box::new(MemorySource::new(Arc::clone(bytes))), Path::new(STDIN), opening)
            } else if let Some((source, name)) = host::source(path)? {
                File::from_source(source, &name, opening)
            } else {
                let watch = Watch::of_lines(format!("reading {}", escape(&path.to_string_lossy())));
                lend::open(path, opening, &watch)
            }
        });
        opened.map_err(advised)
    }

    /// Opens a file whose rows or columns go into another one. That may be encrypted while this one
    /// is not.
    pub(crate) fn open_input(&self, path: &Path) -> entasis::Result<File> {
        if path.is_file() && entasis::is_encrypted(path).is_ok_and(|is| !is) {
            return Self { secrets: SecretArgs::default(), ..self.clone() }.open(path);
        }
        self.open(path)
    }

    /// The bytes of the standard input, if it is the file.
    fn standard(&self, path: &Path) -> entasis::Result<Option<Arc<[u8]>>> {
        (path == Path::new("-")).then(|| standard_bytes().map(Arc::from)).transpose()
    }

    /// Opens a file, or its newest whole generation if the current one is damaged.
    pub(crate) fn open_whole(&self, path: &Path) -> entasis::Result<File> {
        let standard = self.standard(path)?;
        let opened = self.opening(|opening| {
            if let Some(bytes) = &standard {
                let source = Box::new(MemorySource::new(Arc::clone(bytes)));
                File::whole_from_source(source, Path::new(STDIN), opening)
            } else if let Some((source, name)) = host::source(path)? {
                File::whole_from_source(source, &name, opening)
            } else {
                File::open_whole(path, opening)
            }
        });
        opened.map_err(advised)
    }
}

/// The error with the verbs that take a text, if the file is one.
fn advised(error: Error) -> Error {
    if error.is_of_text() {
        error.advise(
            "`entasis sniff` shows how a text is written, and `entasis convert` makes an Entasis file of it",
        )
    } else {
        error
    }
}

/// The name of the standard input in messages.
const STDIN: &str = "standard input";

/// The bytes of the standard input.
pub(crate) fn standard_bytes() -> entasis::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|e| Error::io(e, "read the standard input").in_file(Path::new("-")))?;
    Ok(bytes)
}

/// Opens an Entasis file from the standard input.
pub(crate) fn open_stdin(secret: Option<Secret>) -> entasis::Result<File> {
    let source = Box::new(MemorySource::new(standard_bytes()?));
    File::from_source(source, Path::new(STDIN), Opening { secret, ..Opening::default() })
}

/// A number of rows, the value of `--limit`.
pub(crate) fn parse_n_rows(text: &str) -> Result<u64, String> {
    if text.contains('=') {
        return Err(format!("a number of rows; use '--max {text}' for what a file may ask for"));
    }
    text.parse().map_err(|error| format!("{error}"))
}

/// Names `--max` in the error for `--limit NAME=VALUE` of a verb that has no number of rows.
pub(crate) fn advise(error: &mut clap::Error, words: &[OsString]) {
    let is_limit = |value: &ContextValue| matches!(value, ContextValue::String(name) if name == "--limit");
    let words = words.iter().map(|word| word.to_string_lossy());
    let mut option = words.skip_while(|word| !word.starts_with("--limit")).take(2);
    if error.kind() == ErrorKind::UnknownArgument
        && error.get(ContextKind::InvalidArg).is_some_and(is_limit)
        && option.any(|word| word.contains('='))
    {
        error.remove(ContextKind::SuggestedArg);
        let tip = "use '--max NAME=VALUE' for what a file may ask for";
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
}

/// A limit and its value: `n_columns=1000`, `metadata-len=256MiB`.
fn parse_limit(text: &str) -> Result<(String, u64), String> {
    let (name, value) = text.split_once('=').ok_or("a limit has the form NAME=VALUE")?;
    let name = name.replace('-', "_");
    Limits::default().set(&name, 0).map_err(|error| error.message().to_owned())?;
    Ok((name, parse_size(value)?))
}

/// A number with or without a unit of bytes, such as 256MiB. One that 64 bits do not hold is the
/// greatest that they do.
pub(crate) fn parse_size(value: &str) -> Result<u64, String> {
    let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let (digits, unit) = value.split_at(digits.len());
    let unit: u64 = match unit {
        "" | "B" => 1,
        "kB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "TiB" => 1 << 40,
        unit => return Err(format!("the unit '{unit}' is none of B, kB, MB, GB, TB, KiB, MiB, GiB, TiB")),
    };
    let n: u64 = digits.replace(['_', ','], "").parse().map_err(|error| format!("'{digits}': {error}"))?;
    Ok(n.saturating_mul(unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_have_names_and_units() {
        let limit = |name: &str, value| Ok((name.to_owned(), value));
        assert_eq!(parse_limit("metadata-len=256MiB"), limit("metadata_len", 256 << 20));
        assert_eq!(parse_limit("n_columns=20,000_000"), limit("n_columns", 20_000_000));
        assert_eq!(parse_limit("decoded_len=2TB"), limit("decoded_len", 2_000_000_000_000));
        assert_eq!(parse_limit("depth=18446744073709551615"), limit("depth", u64::MAX));
        assert_eq!(parse_limit("decoded_len=99999999TiB"), limit("decoded_len", u64::MAX));
        assert_eq!(parse_n_rows("12"), Ok(12));
        for bad in ["", "-1", "1.5", "n_columns=3"] {
            assert!(parse_n_rows(bad).is_err(), "{bad}");
        }
        for bad in ["metadata_len", "metadata=1", "depth=", "depth=-1", "depth=1.5", "depth=1XB", "=1"] {
            assert!(parse_limit(bad).is_err(), "{bad}");
        }
    }
}
