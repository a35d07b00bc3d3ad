//! The manifest of a folder: the files that are its table, as a file of Entasis
//! (`docs/decisions/0051-manifests.md`).

use std::fs;
use std::path::{Path, PathBuf};

use entasis::{
    Error, File, MissingTo, Opening, Output, Request, Result, Rows, Secret, Silent, Text, TextLayout,
};

use crate::keys::{KeyType, Keys};
use crate::metadata;
use crate::paths::check;

/// The folder of manifests.
pub(crate) const FOLDER: &str = "_entasis";
/// Digits of the number in a name.
const DIGITS: usize = 20;
/// The newest version of manifests that is known.
pub(crate) const VERSION: i64 = 1;

/// The state of a file that is part of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// The bytes of the file.
    pub length: u64,
    /// Its last bytes.
    pub end: Vec<u8>,
    /// Its generation.
    pub generation: u64,
    /// Its number of rows.
    pub n_rows: u64,
}

/// An open manifest.
#[derive(Debug)]
pub(crate) struct Manifest {
    pub path: PathBuf,
    /// The paths of the files in the folder, with `/`. None leads out of it.
    pub names: Vec<String>,
    pub pins: Vec<Pin>,
    pub keys: Keys,
    /// The key that opened it, if it is encrypted. It was derived from a password once.
    pub secret: Option<Secret>,
}

/// The number of the newest manifest of a folder; `None` if it has none.
pub(crate) fn newest(folder: &Path) -> Option<u64> {
    let entries = fs::read_dir(folder.join(FOLDER)).ok()?;
    entries.filter_map(|entry| number(entry.ok()?.file_name().to_str()?)).max()
}

/// The path of a manifest.
pub(crate) fn path_of(folder: &Path, number: u64) -> PathBuf {
    folder.join(FOLDER).join(format!("{number:0DIGITS$}.entasis"))
}

/// The number in the name of a manifest.
pub(crate) fn number(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(".entasis")?;
    let is_number = digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number)
}

impl Manifest {
    /// Opens the manifest of a folder with this number.
    ///
    /// # Errors
    /// *Corrupt* if it is not a manifest, or names paths out of its folder; *newer*; otherwise as
    /// for reading.
    pub(crate) fn open(folder: &Path, number: u64, opening: Opening) -> Result<Self> {
        let path = path_of(folder, number);
        Self::of(&File::open_with(&path, opening)?)
    }

    /// As [`open`](Self::open), for an open file.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub(crate) fn of(file: &File) -> Result<Self> {
        Self::read(file).map_err(|e| e.in_file(file.path()))
    }

    fn read(file: &File) -> Result<Self> {
        let metadata = metadata::of(file)?;
        if metadata.version > VERSION {
            let error = Error::unsupported(format!("the manifest has version {}", metadata.version));
            return Err(error.advise("update Entasis"));
        }
        let wrong = || Error::corrupt("a row of the manifest lacks a value");
        let mut names = Vec::new();
        for path in texts(file, "path")? {
            let path = String::from_utf8(path.ok_or_else(wrong)?).map_err(|_| wrong())?;
            check(&path)?;
            names.push(path);
        }
        let (lengths, generations) = (counts(file, "length")?, counts(file, "generation")?);
        let (n_rows, ends) = (counts(file, "n_rows")?, texts(file, "end")?);
        let mut pins = Vec::with_capacity(names.len());
        for (((length, generation), n_rows), end) in
            lengths.into_iter().zip(generations).zip(n_rows).zip(ends)
        {
            pins.push(Pin { length, end: end.ok_or_else(wrong)?, generation, n_rows });
        }
        let mut keys = Keys::default();
        for (name, kind) in metadata.keys {
            let values = texts(file, &format!("key/{name}"))?;
            let text = |value: Option<Vec<u8>>| value.map(String::from_utf8).transpose().map_err(|_| wrong());
            keys.types.push(KeyType::of_name(&kind).ok_or_else(wrong)?);
            keys.values.push(values.into_iter().map(text).collect::<Result<_>>()?);
            keys.names.push(name);
        }
        keys.check()?;
        let secret = file.unlocked().map(|unlocked| Secret::Key(unlocked.key().clone()));
        Ok(Self { path: file.path().to_path_buf(), names, pins, keys, secret })
    }
}

/// A column of whole numbers.
fn counts(file: &File, name: &str) -> Result<Vec<u64>> {
    let n = n_rows(file, 8)?;
    let (mut words, mut mask) = (vec![0u64; n], vec![0u8; n]);
    let output = Output::Words(bytes_of(&mut words));
    let missing = MissingTo::Mask(&mut mask);
    let request = Request { column: file.find(name)?, rows: Rows::All, output, missing };
    file.read(vec![request], Some(1), &Silent)?;
    let is_wrong = mask.contains(&1) || words.iter().any(|&word| i64::try_from(word).is_err());
    if is_wrong { Err(Error::corrupt("a number is impossible").in_column(name)) } else { Ok(words) }
}

fn bytes_of(words: &mut [u64]) -> &mut [u8] {
    bytemuck::cast_slice_mut(words)
}

/// A column of strings or bytes. `None` is missing.
fn texts(file: &File, name: &str) -> Result<Vec<Option<Vec<u8>>>> {
    let n = n_rows(file, 32)?;
    let (mut text, mut mask) = (Text::new(TextLayout::Large), vec![0u8; n]);
    let (output, missing) = (Output::Text(&mut text), MissingTo::Mask(&mut mask));
    let request = Request { column: file.find(name)?, rows: Rows::All, output, missing };
    file.read(vec![request], Some(1), &Silent)?;
    let value = |(i, &is_missing): (usize, &u8)| {
        if is_missing != 0 { None } else { Some(text.get(i).unwrap_or_default().to_vec()) }
    };
    Ok(mask.iter().enumerate().map(value).collect())
}

/// The number of rows, if values of `width` bytes of them may be read.
fn n_rows(file: &File, width: u64) -> Result<usize> {
    file.check_decoded_len(file.n_rows().saturating_mul(width))?;
    usize::try_from(file.n_rows()).map_err(|_| Error::corrupt("the manifest has too many rows"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_manifests_have_numbers() {
        assert_eq!(number("00000000000000000042.entasis"), Some(42));
        for name in [
            "42.entasis",
            "00000000000000000042",
            "99999999999999999999.entasis",
            "+0000000000000000042.entasis",
        ] {
            assert_eq!(number(name), None, "{name}");
        }
    }
}
