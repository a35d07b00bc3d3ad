//! Compressed windows: gzip members and Zstandard frames, which follow each other in a file.

use std::io::Write;
use std::path::Path;

use entasis::{Error, Result};

use crate::piece::buffer;

/// The compression of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// None.
    #[default]
    None,
    /// gzip, of a level from 0 to 9.
    Gzip(u32),
    /// Zstandard, of a level from 1 to 22.
    Zstd(i32),
}

impl Compression {
    /// The usual levels of `gzip` and `zstd`; none for another name.
    pub fn named(name: &str) -> Self {
        match name {
            "gzip" => Self::Gzip(6),
            "zstd" => Self::Zstd(3),
            _ => Self::None,
        }
    }

    /// The compression that the end of a path names: `.gz`, `.zst` or `.zstd` in any case.
    pub fn of_path(path: &Path) -> Self {
        let name = path.to_string_lossy().to_lowercase();
        match name.rsplit_once('.') {
            Some((_, "gz")) => Self::named("gzip"),
            Some((_, "zst" | "zstd")) => Self::named("zstd"),
            _ => Self::None,
        }
    }

    /// The compression of a file by its first bytes, with a level of 0.
    pub(super) fn of_start(bytes: &[u8]) -> Self {
        match bytes {
            [0x1f, 0x8b, ..] => Self::Gzip(0),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd(0),
            _ => Self::None,
        }
    }

    /// The same with a level of 0.
    pub(super) fn without_level(self) -> Self {
        match self {
            Self::None => Self::None,
            Self::Gzip(_) => Self::Gzip(0),
            Self::Zstd(_) => Self::Zstd(0),
        }
    }

    /// Compresses a part of a text on its own.
    ///
    /// # Errors
    /// *Out of memory*.
    pub fn pack(self, text: Vec<u8>) -> Result<Vec<u8>> {
        match self {
            Self::None => Ok(text),
            Self::Gzip(level) => {
                let packed = Vec::with_capacity(text.len() / 4);
                let mut encoder =
                    flate2::write::GzEncoder::new(packed, flate2::Compression::new(level.min(9)));
                let written = encoder.write_all(&text).and_then(|()| encoder.finish());
                written.map_err(|error| Error::io(error, "compress"))
            }
            Self::Zstd(level) => {
                let mut packed = buffer(zstd_safe::compress_bound(text.len()))?;
                let done = zstd_safe::compress(&mut packed[..], &text, level.clamp(1, 22));
                let len = done.map_err(|code| {
                    Error::argument(format!("Zstandard: {}", zstd_safe::get_error_name(code)))
                })?;
                Ok(packed[..len].to_vec())
            }
        }
    }
}
