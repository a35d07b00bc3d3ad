//! The files below a folder.

use std::fs;
use std::path::Path;

use entasis::{Error, Result};

use crate::encode::shown;

/// The end of the names of files.
const SUFFIX: &str = ".entasis";
/// The deepest folder below the first one. A circle of links ends here.
const DEEPEST: usize = 64;

/// The paths of the files below a folder, relative to it and with `/`, in the order of their bytes.
///
/// Names that begin with `_` or `.` are left out, as other readers leave them out.
///
/// # Errors
/// *Io* if a folder can't be read; *argument* if a name is not UTF-8, or folders are nested deeper
/// than 64.
pub fn list(folder: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    below(folder, "", 0, &mut found)?;
    found.sort_unstable_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
    Ok(found)
}

/// Whether a path below a folder is that of one of its files.
pub(crate) fn is_of_table(path: &str) -> bool {
    path.ends_with(SUFFIX) && !path.split('/').any(|part| part.starts_with(['_', '.']))
}

fn below(folder: &Path, prefix: &str, depth: usize, found: &mut Vec<String>) -> Result<()> {
    if depth > DEEPEST {
        return Err(Error::argument(format!(
            "folders are nested deeper than {DEEPEST}, or in a circle of links"
        ))
        .in_file(folder));
    }
    let failed = |error| Error::io(error, "read the folder").in_file(folder);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else {
            return Err(Error::argument(format!(
                "the name {} is not UTF-8: rename it",
                shown(&name.to_string_lossy())
            ))
            .in_file(folder));
        };
        if name.starts_with(['_', '.']) {
            continue;
        }
        let path = entry.path();
        // Follows links.
        let kind = match fs::metadata(&path) {
            Ok(found) => found.file_type(),
            // A link to nothing, or a file that was removed meanwhile.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(Error::io(error, "read the folder").in_file(&path)),
        };
        if kind.is_dir() {
            below(&path, &format!("{prefix}{name}/"), depth + 1, found)?;
        } else if kind.is_file() && name.ends_with(SUFFIX) {
            found.push(format!("{prefix}{name}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use entasis::Kind;

    use super::*;

    fn touch(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, b"").unwrap();
    }

    #[test]
    fn files_come_in_the_order_of_their_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let names = [
            "b.entasis",
            "a/z.entasis",
            "a.entasis",
            "B.entasis",
            "k=1/x.entasis",
            "k=10/x.entasis",
            "k=9/x.entasis",
        ];
        for name in names.iter().chain(&[
            "_x.entasis",
            ".y.entasis",
            "_entasis/0.entasis",
            "c.parquet",
            "k=1/.t/q.entasis",
        ]) {
            touch(&folder.path().join(name));
        }
        let mut expected = names.map(str::to_owned).to_vec();
        expected.sort();
        assert_eq!(list(folder.path()).unwrap(), expected);
    }

    #[test]
    fn a_missing_folder_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let error = list(&folder.path().join("none")).unwrap_err();
        assert!(matches!(error.kind(), Kind::Io(_)));
    }

    #[cfg(unix)]
    #[test]
    fn circles_of_links_end() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(folder.path(), folder.path().join("again")).unwrap();
        touch(&folder.path().join("a.entasis"));
        let error = list(folder.path()).unwrap_err();
        assert!(
            error.to_string().contains("circle of links") || matches!(error.kind(), Kind::Io(_)),
            "{error}"
        );
    }
}
