//! Paths that a manifest names: relative, and below its folder.

use std::path::{Path, PathBuf};

use entasis::{Error, Result};

use crate::encode::shown;
use crate::names::is_device;

/// The path of a file that a manifest names.
///
/// # Errors
/// *Corrupt* if the path could lead out of the folder, or means a device.
pub fn below(folder: &Path, path: &str) -> Result<PathBuf> {
    check(path)?;
    Ok(path.split('/').fold(folder.to_path_buf(), |whole, part| whole.join(part)))
}

/// Checks a path that a manifest names, as [`below`].
///
/// # Errors
/// As [`below`].
pub(crate) fn check(path: &str) -> Result<()> {
    let is_odd = path.is_empty() || path.contains(['\\', '\0', ':']);
    if is_odd || path.split('/').any(|part| matches!(part, "" | "." | "..") || is_device(part)) {
        return Err(damaged(path));
    }
    Ok(())
}

/// The address of an object in a folder.
pub(crate) fn address(folder: &str, path: &str) -> PathBuf {
    PathBuf::from(format!("{}/{path}", folder.trim_end_matches('/')))
}

/// Checks that no link leads from a path below a folder to a place out of it. A missing file is
/// reported when it is opened.
///
/// # Errors
/// *Corrupt* if a link does.
pub(crate) fn check_links(folder: &Path, path: &Path) -> Result<()> {
    match (folder.canonicalize(), path.canonicalize()) {
        (Ok(root), Ok(found)) if !found.starts_with(&root) => {
            Err(damaged(&path.to_string_lossy()).in_file(path))
        }
        _ => Ok(()),
    }
}

fn damaged(path: &str) -> Error {
    Error::corrupt(format!(
        "the manifest names a path out of its folder, '{}': it is damaged or forged",
        shown(path)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_below_their_folder() {
        let folder = Path::new("sales");
        assert_eq!(below(folder, "a=1/x.entasis").unwrap(), folder.join("a=1").join("x.entasis"));
        for path in [
            "",
            "/etc/passwd",
            "a//b",
            "./a",
            "a/..",
            "../a",
            "c:/a",
            "a\\b",
            "s3://a",
            "a\0",
            "NUL",
            "con.txt",
        ] {
            assert!(below(folder, path).is_err(), "{path:?}");
        }
    }
}
