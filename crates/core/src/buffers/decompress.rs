//! Decompresses blocks on several threads, each straight into place.

use entasis_encodings::Codecs;
use entasis_format::{Error, Kind, Limits, Result, checksum, fallible};
use entasis_platform::Buffer;

use super::container::{Entry, Header, damaged};
use super::{Input, worthwhile};
use crate::monitor::{Control, Monitor};
use crate::threads::run;

/// Decoded bytes for each additional thread. LZ4 decodes them in about a millisecond.
const LEN_EACH: usize = 2 << 20;
/// Bytes of a huge page.
const HUGE_PAGE: usize = 2 << 20;

/// A compressed buffer whose header and block table were checked.
#[derive(Clone, Debug)]
pub struct Container<'a> {
    input: Input<'a>,
    header: Header,
    entries: Vec<Entry>,
    decoded_len: usize,
}

impl<'a> Container<'a> {
    /// Checks header and block table. Accepts at most `max_len` decoded bytes. The default is 4 GiB
    /// or 1,000 times the input's length, whichever is more.
    ///
    /// # Errors
    /// *Not Entasis*, *newer*, *corrupt*, *unsupported*; *limit* for more bytes than `max_len`;
    /// *out of memory*.
    pub fn open(input: Input<'a>, max_len: Option<u64>) -> Result<Self> {
        let (header, table_sum) = Header::parse(input)?;
        let max_len = max_len.unwrap_or_else(|| Limits::default().decoded_len_of(input.len() as u64));
        if max_len < header.decoded_len {
            let message = format!(
                "the data have {} bytes after decompression, max_len is {max_len}",
                header.decoded_len
            );
            return Err(Error::limit(message).at(16).advise("raise max_len if you trust the data"));
        }
        let entries = header.parse_table(input, table_sum)?;
        let decoded_len =
            usize::try_from(header.decoded_len).ok().filter(|&len| isize::try_from(len).is_ok());
        let decoded_len = decoded_len.ok_or_else(|| too_large(header.decoded_len))?;
        Ok(Self { input, header, entries, decoded_len })
    }

    /// Decoded bytes.
    pub fn decoded_len(&self) -> usize {
        self.decoded_len
    }

    /// Decodes into `out`, which must have the decoded length. Overwrites all of it unless there is
    /// an error.
    ///
    /// # Errors
    /// *Corrupt*, *interrupted*; *argument* for memory of another length.
    pub fn read(&self, out: &mut [u8], threads: Option<usize>, monitor: &dyn Monitor) -> Result<()> {
        if out.len() != self.decoded_len {
            return Err(Error::argument("the memory does not have the length of the decoded bytes"));
        }
        let control = Control::new(monitor, self.header.decoded_len);
        let block_len = self.header.block_len as usize;
        // A task is a whole huge page. Threads that share a new huge page wait for each other, or
        // each of them clears a page.
        let blocks_each = (HUGE_PAGE / block_len).max(1);
        let parts = out.chunks_mut(blocks_each * block_len);
        run(
            fallible::collect(self.entries.chunks(blocks_each).zip(parts).enumerate(), "the block table")?,
            worthwhile(threads, self.decoded_len, LEN_EACH),
            &control,
            || (Codecs::new(), Vec::new()),
            |(codecs, scratch), (task, (entries, parts))| {
                for (i, (entry, part)) in entries.iter().zip(parts.chunks_mut(block_len)).enumerate() {
                    control.check()?;
                    let block = (task * blocks_each + i) as u64;
                    let decoded = self.decode(entry, part, codecs, scratch);
                    decoded.map_err(|error| error.in_block(block).at(entry.at as u64))?;
                    control.advance(part.len() as u64);
                }
                Ok(())
            },
        )
    }

    fn decode(
        &self,
        entry: &Entry,
        out: &mut [u8],
        codecs: &mut Codecs,
        scratch: &mut Vec<u8>,
    ) -> Result<()> {
        let other = || damaged("the checksum of a block does not match");
        if entry.stored_len == out.len() {
            if !self.input.copy_to(entry.at, out) {
                return Err(damaged("the input became shorter"));
            }
            return if checksum(out) == entry.checksum { Ok(()) } else { Err(other()) };
        }
        let stored = self.input.part(entry.at, entry.stored_len, scratch)?;
        if checksum(stored) != entry.checksum {
            return Err(other());
        }
        codecs.restore_into(self.header.codec, stored, out).map_err(|error| match error.kind() {
            Kind::Corrupt => damaged("the codec cannot restore a block"),
            _ => error,
        })
    }
}

#[cold]
fn too_large(decoded_len: u64) -> Error {
    let len = usize::try_from(decoded_len).unwrap_or(usize::MAX);
    Error::out_of_memory(len, "decompressed bytes").advise("free some memory")
}

/// Decompresses the result of [`compress`](super::compress()). Accepts at most `max_len` decoded
/// bytes. The default is 4 GiB or 1,000 times the input's length, whichever is more.
///
/// # Errors
/// *Not Entasis*, *newer*, *corrupt*, *unsupported*, *interrupted*; *limit* for more bytes than
/// `max_len`; *out of memory*.
pub fn decompress(
    input: Input<'_>,
    max_len: Option<u64>,
    threads: Option<usize>,
    monitor: &dyn Monitor,
) -> Result<Buffer> {
    let container = Container::open(input, max_len)?;
    let mut out =
        Buffer::zeroed(container.decoded_len).ok_or_else(|| too_large(container.header.decoded_len))?;
    container.read(&mut out, threads, monitor)?;
    Ok(out)
}
