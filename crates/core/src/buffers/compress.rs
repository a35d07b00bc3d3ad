//! Compresses blocks on several threads, then puts header and block table before them.

use entasis_encodings::Codecs;
use entasis_format::{Codec, Error, Result, checksum, fallible};

use super::container::{ENTRY_LEN, HEADER_LEN, Header, MAX_BLOCK_LEN};
use super::{Input, worthwhile};
use crate::monitor::{Control, Monitor};
use crate::threads::run;

/// Bytes that justify one more thread. LZ4 takes about a millisecond for them.
const LEN_EACH: usize = 512 << 10;
/// Bytes that justify one more thread for copying blocks together.
const COPIED_EACH: usize = 8 << 20;

/// How to compress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The codec; [`Codec::None`] is refused.
    pub codec: Codec,
    /// The level of Zstandard: 1 to 22, or negative for speed. The default is 3. LZ4 has no levels.
    pub level: Option<i32>,
    /// Bytes of a block, at most [`MAX_BLOCK_LEN`]. The default is 256 KiB for LZ4, 1 MiB for
    /// Zstandard.
    pub block_len: Option<u32>,
}

impl Options {
    /// The default settings of a codec.
    pub const fn new(codec: Codec) -> Self {
        Self { codec, level: None, block_len: None }
    }

    /// The level and the length of blocks.
    fn resolve(&self) -> Result<(i32, u32)> {
        let (level, block_len) = match (self.codec, self.level) {
            (Codec::Lz4, None) => (0, 256 << 10),
            (Codec::Zstd, None) => (3, 1 << 20),
            (Codec::Zstd, Some(level @ (-131_072..=-1 | 1..=22))) => (level, 1 << 20),
            (Codec::Zstd, Some(level)) => {
                let message = format!("level {level} of zstd: 1 to 22, or -131072 to -1 for speed");
                return Err(Error::argument(message));
            }
            (Codec::Lz4, Some(_)) => return Err(Error::argument("lz4 has no levels")),
            (Codec::None, _) => return Err(Error::argument("a codec is needed: lz4 or zstd")),
        };
        match self.block_len {
            None => Ok((level, block_len)),
            Some(block_len @ 1..=MAX_BLOCK_LEN) => Ok((level, block_len)),
            Some(block_len) => {
                Err(Error::argument(format!("a block has 1 to {MAX_BLOCK_LEN} bytes, not {block_len}")))
            }
        }
    }
}

/// Names the block table in messages about memory.
const TABLE: &str = "the block table";

/// A compressed container in several buffers.
#[derive(Debug)]
pub struct Compressed {
    /// Header and block table.
    front: Vec<u8>,
    blocks: Vec<Vec<u8>>,
    len: usize,
}

/// Compresses bytes. The result does not depend on the number of threads.
///
/// # Errors
/// *Argument* for an impossible level or length, *interrupted*.
pub fn compress(
    input: Input<'_>,
    options: &Options,
    threads: Option<usize>,
    monitor: &dyn Monitor,
) -> Result<Compressed> {
    let (level, block_len) = options.resolve()?;
    let header = Header { codec: options.codec, block_len, decoded_len: input.len() as u64 };
    let n_blocks = input.len().div_ceil(block_len as usize);
    let mut stored: Vec<(Vec<u8>, u64)> = fallible::with_capacity(n_blocks, TABLE)?;
    stored.resize_with(n_blocks, Default::default);
    let control = Control::new(monitor, input.len() as u64);
    run(
        fallible::collect(stored.iter_mut().enumerate(), TABLE)?,
        worthwhile(threads, input.len(), LEN_EACH),
        &control,
        || (Codecs::new(), Vec::new()),
        |(codecs, scratch), (block, (bytes, sum))| {
            let at = block * block_len as usize;
            let len = (input.len() - at).min(block_len as usize);
            let payload = input.part(at, len, scratch)?;
            codecs.store(options.codec, level, payload, bytes);
            *sum = checksum(bytes);
            control.advance(len as u64);
            Ok(())
        },
    )?;
    let mut front = fallible::with_capacity(HEADER_LEN + n_blocks * ENTRY_LEN, TABLE)?;
    header.emit(stored.iter().map(|(bytes, sum)| (bytes.len(), *sum)), &mut front);
    let len = front.len() + stored.iter().map(|(bytes, _)| bytes.len()).sum::<usize>();
    let blocks = fallible::collect(stored.into_iter().map(|(bytes, _)| bytes), TABLE)?;
    Ok(Compressed { front, blocks, len })
}

impl Compressed {
    /// Bytes of the container.
    #[allow(clippy::len_without_is_empty, reason = "a container has a header at least")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Writes the container to `out`, whose length must be the container's length.
    ///
    /// # Errors
    /// *Argument* for memory of another length, *interrupted*.
    pub fn write(self, out: &mut [u8], threads: Option<usize>, monitor: &dyn Monitor) -> Result<()> {
        if out.len() != self.len {
            return Err(Error::argument("the memory does not have the length of the container"));
        }
        let (front, mut rest) = out.split_at_mut(self.front.len());
        front.copy_from_slice(&self.front);
        let mut tasks = fallible::with_capacity(self.blocks.len(), TABLE)?;
        for block in self.blocks {
            let (head, tail) = rest.split_at_mut(block.len());
            rest = tail;
            tasks.push((block, head));
        }
        let threads = worthwhile(threads, self.len, COPIED_EACH);
        let control = Control::new(monitor, self.len as u64);
        run(
            tasks,
            threads,
            &control,
            || (),
            |(), (block, head)| {
                head.copy_from_slice(&block);
                Ok(())
            },
        )
    }

    /// The container in one vector.
    ///
    /// # Errors
    /// *Out of memory*, *interrupted*.
    pub fn into_vec(self, threads: Option<usize>, monitor: &dyn Monitor) -> Result<Vec<u8>> {
        let mut out = fallible::defaults(self.len, "compressed bytes")?;
        self.write(&mut out, threads, monitor)?;
        Ok(out)
    }
}
