//! bzip2, with any number of streams.

use bzip2::{Decompress, Status};
use entasis::Result;

use super::fault::{check_rest, damaged, truncated};
use super::raw::{RawInput, Stage};

const NAME: &str = "bzip2";

/// Decompresses streams one after the other.
pub(super) struct Bzip2 {
    input: RawInput,
    stream: Option<Decompress>,
}

impl Bzip2 {
    pub(super) fn new(input: RawInput) -> Self {
        Self { input, stream: Some(Decompress::new(false)) }
    }
}

impl Stage for Bzip2 {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        while let Some(stream) = &mut self.stream
            && !into.is_empty()
        {
            let at = self.input.at();
            let packed = self.input.fill()?;
            let is_last = packed.is_empty();
            let (from, to) = (stream.total_in(), stream.total_out());
            let status = stream
                .decompress(packed, into)
                .map_err(|_| damaged(NAME, "a block or its checksum is wrong", at))?;
            let (read, n) = ((stream.total_in() - from) as usize, (stream.total_out() - to) as usize);
            self.input.consume(read);
            match status {
                Status::StreamEnd => {
                    let goes_on = check_rest(&mut self.input, NAME, b"BZh")?;
                    self.stream = goes_on.then(|| Decompress::new(false));
                }
                Status::MemNeeded => {
                    return Err(entasis::Error::out_of_memory(4 << 20, "the decompressor"));
                }
                _ if is_last && n == 0 => return Err(truncated(NAME, at)),
                _ => {}
            }
            if n > 0 {
                return Ok(n);
            }
        }
        Ok(0)
    }
}
