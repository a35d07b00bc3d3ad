//! Checks of a file that a conversion writes, before it is written.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use entasis::MAGIC;

use crate::failure::{Failure, Outcome};
use crate::format::{Format, Source};

/// Returns an error if two paths name one file.
pub(crate) fn differ(one: &Path, other: &Path) -> Outcome {
    if !is_same(one, other) {
        return Ok(());
    }
    Err(Failure::Other(format!("{} and {} are the same file", one.display(), other.display())))
}

/// Ends of names of formats that the command does not write, and the way to them.
const OTHERS: [(&str, &str); 2] = [
    (".rda .rdata .qs2 .qdata .fst", "read_entasis() in R reads the file, and save() or a package writes it"),
    (
        ".json .xlsx .xlsm .xls .ods .pkl .pickle .h5 .hdf5 .hdf .sqlite .sqlite3 .db .dta .sav .orc .avro",
        "no verb writes it",
    ),
];

/// The format of the file to write. Without a known end of its name, texts and files of R become
/// Entasis files, and these become texts.
///
/// # Errors
/// For names of formats that the command does not write.
pub(crate) fn format(path: &Path, given: Option<Format>, source: Source) -> Outcome<Format> {
    let found = given.or_else(|| Format::of_name(path));
    if let Some(found) = found.filter(|&found| found == Format::Rds || !found.is_of_r()) {
        return Ok(found);
    }
    if path == Path::new("-") && given.is_none() {
        return Ok(Format::Csv);
    }
    let end = match given {
        Some(given) => Some(format!(".{}", given.name())),
        None => path.extension().map(|end| format!(".{}", end.to_string_lossy().to_ascii_lowercase())),
    };
    if let Some(end) = &end
        && let Some((_, how)) = OTHERS.iter().find(|(ends, _)| ends.split(' ').any(|one| one == end))
    {
        return Err(Failure::Other(format!("{} would not be a {end} file: {how}", path.display())));
    }
    match source {
        Source::Known(Format::Entasis) => Ok(Format::Csv),
        Source::Known(source) if !source.is_of_host() => Ok(Format::Entasis),
        _ => match end {
            None => Ok(Format::Entasis),
            Some(end) => {
                Err(Failure::Other(format!("{}: no format has the end {end}: pass --to", path.display())))
            }
        },
    }
}

/// Returns an error if `path` is a file that a command without its last word would replace.
pub(crate) fn refuse_other(path: &Path, target: Format, given: Option<Format>, source: Source) -> Outcome {
    let mut start = Vec::new();
    if given.is_some()
        || !path.is_file()
        || File::open(path).and_then(|file| file.take(MAGIC.len() as u64).read_to_end(&mut start)).is_err()
        || start.is_empty()
    {
        return Ok(());
    }
    let refused =
        |what: &str, how: &str| Err(Failure::Other(format!("{} exists and {what}: {how}", path.display())));
    if target == Format::Entasis && start != MAGIC {
        return refused("is not an Entasis file", "remove it, or pass another OUT after the inputs");
    }
    if source == Source::Known(target) {
        let how = format!("pass OUT after the inputs, or --to {} to replace it", target.name());
        return refused("has the format of IN", &how);
    }
    if Source::of_file(path) == Source::Known(target) {
        return Ok(());
    }
    refused(
        &format!("is not a file of {}", target.name()),
        &format!("remove it, or pass --to {}", target.name()),
    )
}

/// Whether two paths name one file, or one place where none is.
fn is_same(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    if let (Ok(one), Ok(other)) = (std::fs::metadata(one), std::fs::metadata(other)) {
        use std::os::unix::fs::MetadataExt;
        // Devices such as /dev/null may be both.
        return one.is_file() && (one.dev(), one.ino()) == (other.dev(), other.ino());
    }
    let place = |path: &Path| {
        std::fs::canonicalize(path).or_else(|error| {
            let folder = path.parent().filter(|folder| *folder != Path::new(""));
            let folder = std::fs::canonicalize(folder.unwrap_or(Path::new(".")))?;
            path.file_name().map(|name| folder.join(name)).ok_or(error)
        })
    };
    matches!((place(one), place(other)), (Ok(one), Ok(other)) if one == other)
}
