//! Zstandard (RFC 8878), with any number of frames.

use entasis::{Error, Result};
use zstd_safe::{DCtx, InBuffer, OutBuffer, get_error_name};

use super::fault::{damaged, truncated};
use super::raw::{RawInput, Stage};

const NAME: &str = "zstd";

/// Decompresses frames one after the other.
pub(super) struct Zstd {
    input: RawInput,
    context: DCtx<'static>,
    /// 0 between frames.
    hint: usize,
}

impl Zstd {
    pub(super) fn new(input: RawInput) -> Result<Self> {
        let context = DCtx::try_create().ok_or_else(|| Error::out_of_memory(1 << 17, "the decompressor"))?;
        Ok(Self { input, context, hint: 0 })
    }
}

impl Stage for Zstd {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        while !into.is_empty() {
            let at = self.input.at();
            let packed = self.input.fill()?;
            let is_last = packed.is_empty();
            if is_last && self.hint == 0 {
                return Ok(0);
            }
            let (mut from, mut to) = (InBuffer::around(packed), OutBuffer::around(&mut *into));
            let result = self.context.decompress_stream(&mut to, &mut from);
            let (read, n) = (from.pos(), to.pos());
            self.hint = result.map_err(|code| failed(get_error_name(code), self.hint == 0, at))?;
            self.input.consume(read);
            if n > 0 {
                return Ok(n);
            }
            if is_last && self.hint != 0 {
                return Err(truncated(NAME, at));
            }
        }
        Ok(0)
    }
}

/// The error of the library. Its names are part of its stable interface.
#[cold]
fn failed(name: &str, is_between: bool, at: u64) -> Error {
    match name {
        "Frame requires too much memory for decoding" => {
            Error::unsupported("the zstd data needs a window of more than 128 MiB")
                .at(at)
                .advise("decompress it with `zstd -d --long=31` and read the result")
        }
        "Allocation error : not enough memory" => Error::out_of_memory(128 << 20, "the decompressor"),
        "Unknown frame descriptor" if is_between => {
            Error::corrupt("other bytes follow after the end of the zstd data")
                .at(at)
                .advise("if they do not belong to the text, decompress it with `zstd -d` and read the result")
        }
        "Dictionary mismatch" => Error::unsupported("the zstd data needs a dictionary")
            .at(at)
            .advise("decompress it with `zstd -d -D DICTIONARY` and read the result"),
        _ => damaged(NAME, name, at),
    }
}
