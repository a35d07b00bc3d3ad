//! The compression of a stream.

use std::io::{self, Write};

use entasis::{Error, Result};
use lzma_rust2::{XzOptions, XzWriter};

use super::Put;
use super::gzip::Gzip;

/// The preset of xz that `saveRDS` uses.
const PRESET: u32 = 6;

/// How an RDS file is compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Packing {
    /// Not at all.
    None,
    /// gzip, as `saveRDS` does it.
    #[default]
    Gzip,
    /// xz: smaller and slower.
    Xz,
}

impl Packing {
    /// The compression of a name: "none", "gzip" or "xz".
    ///
    /// # Errors
    /// *Argument* for another name.
    pub fn named(name: &str) -> Result<Self> {
        Ok(match name {
            "none" => Self::None,
            "gzip" => Self::Gzip,
            "xz" => Self::Xz,
            _ => {
                return Err(Error::argument(format!(
                    "compression {name:?}: an RDS file has \"gzip\", \"none\" or \"xz\""
                )));
            }
        })
    }
}

/// A stream that is being compressed.
pub(super) enum Packed {
    None,
    Gzip(Gzip),
    Xz(Box<XzWriter<Vec<u8>>>),
}

impl Packed {
    pub(super) fn new(packing: Packing, threads: usize) -> Result<Self> {
        Ok(match packing {
            Packing::None => Self::None,
            Packing::Gzip => Self::Gzip(Gzip::new(threads)),
            Packing::Xz => {
                let writer = XzWriter::new(Vec::new(), XzOptions::with_preset(PRESET)).map_err(failed)?;
                Self::Xz(Box::new(writer))
            }
        })
    }

    /// Adds bytes.
    pub(super) fn write(&mut self, bytes: &[u8], put: &mut Put<'_>) -> Result<()> {
        match self {
            Self::None => put(bytes),
            Self::Gzip(gzip) => gzip.write(bytes, put),
            Self::Xz(writer) => {
                writer.write_all(bytes).map_err(failed)?;
                let packed = std::mem::take(writer.inner_mut());
                if packed.is_empty() { Ok(()) } else { put(&packed) }
            }
        }
    }

    /// Ends the stream.
    pub(super) fn end(self, put: &mut Put<'_>) -> Result<()> {
        match self {
            Self::None => Ok(()),
            Self::Gzip(gzip) => gzip.end(put),
            Self::Xz(writer) => put(&writer.finish().map_err(failed)?),
        }
    }
}

fn failed(error: io::Error) -> Error {
    Error::io(error, "compress")
}
