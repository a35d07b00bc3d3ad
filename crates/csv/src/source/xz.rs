//! xz, with any number of streams.

use std::io::{self, ErrorKind, Read};

use entasis::{Error, Result};
use lzma_rust2::XzReader;

use super::fault::{damaged, truncated};
use super::raw::{RawInput, Stage, read_full};

const NAME: &str = "xz";

/// The most memory of a decoder, in KiB. `xz -9` needs 65 MiB.
const MEMORY: u32 = 300 << 10;

/// Decompresses streams one after the other.
pub(super) struct Xz(XzReader<Packed>);

/// The input, as the decoder reads it.
struct Packed(RawInput);

impl Xz {
    pub(super) fn new(input: RawInput) -> Self {
        Self(XzReader::new_mem_limit(Packed(input), true, MEMORY))
    }
}

impl Read for Packed {
    /// Fills `into`: the decoder takes a short read within a header for the end.
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        // A long read would pass the buffer, and the decoder reads few bytes at a time.
        self.0.fill().map_err(io::Error::other)?;
        read_full(&mut self.0, into).map_err(io::Error::other)
    }
}

impl Stage for Xz {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        self.0.read(into).map_err(|error| {
            let at = self.0.inner().0.at();
            match error.downcast::<Error>() {
                Ok(error) => error,
                Err(error) => failed(&error, at),
            }
        })
    }
}

#[cold]
fn failed(error: &io::Error, at: u64) -> Error {
    match error.kind() {
        ErrorKind::UnexpectedEof => truncated(NAME, at),
        ErrorKind::OutOfMemory => Error::unsupported("the xz data needs more than 300 MiB to decompress")
            .at(at)
            .advise("decompress it with `xz -d` and read the result"),
        ErrorKind::Unsupported => Error::unsupported(format!("the xz data uses a rare feature: {error}"))
            .at(at)
            .advise("decompress it with `xz -d` and read the result"),
        _ => damaged(NAME, &error.to_string(), at),
    }
}
