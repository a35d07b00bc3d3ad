//! A compressed and encrypted copy of a text that can be read only once.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use entasis::{Error, Result, TemporaryKey};

/// Bytes of text that are compressed together.
const BLOCK_LEN: usize = 256 << 10;
/// A copy of up to this length stays in memory.
const MEMORY_LEN: u64 = 16 << 20;

/// Blocks of LZ4 in memory, or in a file without a name. They are encrypted by a key that is never
/// stored: the values may be secret, and the file may outlive the process on the medium.
pub(super) struct Spill {
    limit: u64,
    /// The compressed blocks: position, compressed length, and length.
    blocks: Vec<(u64, u32, u32)>,
    /// Length of all compressed blocks.
    len: u64,
    memory: Vec<u8>,
    file: Option<File>,
    /// Text that is not compressed yet.
    tail: Vec<u8>,
    packed: Vec<u8>,
    key: Option<TemporaryKey>,
    /// The copy was dropped, for this reason.
    dropped: Option<Error>,
    /// The block that is being read again, and its text.
    block: usize,
    text: Vec<u8>,
    at: usize,
}

impl Spill {
    /// A copy of at most `limit` compressed bytes.
    pub(super) fn new(limit: u64) -> Self {
        Self {
            limit,
            blocks: Vec::new(),
            len: 0,
            memory: Vec::new(),
            file: None,
            tail: Vec::new(),
            packed: Vec::new(),
            key: None,
            dropped: None,
            block: 0,
            text: Vec::new(),
            at: 0,
        }
    }

    /// Adds text. Over the limit, or without room for the file, drops the copy.
    pub(super) fn push(&mut self, mut text: &[u8]) {
        while !text.is_empty() && self.dropped.is_none() {
            let n = text.len().min(BLOCK_LEN - self.tail.len());
            self.tail.extend_from_slice(&text[..n]);
            text = &text[n..];
            if self.tail.len() == BLOCK_LEN
                && let Err(error) = self.end_block()
            {
                let limit = self.limit;
                *self = Self::new(limit);
                self.dropped = Some(error);
            }
        }
    }

    fn end_block(&mut self) -> Result<()> {
        self.packed.resize(lz4_flex::block::get_maximum_output_size(BLOCK_LEN), 0);
        let n = lz4_flex::block::compress_into(&self.tail, &mut self.packed)
            .map_err(|error| Error::io(io::Error::other(error), "compressing the copy of the source"))?;
        self.packed.truncate(n);
        let key = match &self.key {
            Some(key) => key,
            None => self.key.insert(TemporaryKey::new()?),
        };
        key.seal(self.blocks.len() as u64, &mut self.packed)?;
        let n = self.packed.len();
        if self.len + n as u64 > self.limit {
            return Err(Error::limit(format!(
                "the copy of the source for a second pass is longer than spill_limit allows ({} bytes)",
                self.limit
            ))
            .advise("raise spill_limit, or save the source to a file and read that"));
        }
        if self.file.is_none() && self.len + n as u64 > MEMORY_LEN {
            let mut file = nameless_file().map_err(failed)?;
            file.write_all(&self.memory).map_err(failed)?;
            self.memory = Vec::new();
            self.file = Some(file);
        }
        match &mut self.file {
            Some(file) => file.write_all(&self.packed[..n]).map_err(failed)?,
            None => self.memory.extend_from_slice(&self.packed[..n]),
        }
        self.blocks.push((self.len, n as u32, self.tail.len() as u32));
        self.len += n as u64;
        self.tail.clear();
        Ok(())
    }

    /// Begins to read at the start.
    ///
    /// # Errors
    /// The reason why the copy was dropped; once.
    pub(super) fn rewind(&mut self) -> Result<()> {
        if let Some(error) = self.dropped.take() {
            self.dropped = Some(Error::limit("the copy of the source was dropped"));
            return Err(error);
        }
        (self.block, self.at) = (0, 0);
        self.text.clear();
        Ok(())
    }

    /// Reads some of the text; 0 at the end of the copy.
    pub(super) fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        while self.at == self.text.len() && self.block < self.blocks.len() {
            self.load_block()?;
        }
        if self.at < self.text.len() {
            let n = into.len().min(self.text.len() - self.at);
            into[..n].copy_from_slice(&self.text[self.at..self.at + n]);
            self.at += n;
            return Ok(n);
        }
        // The tail is the block after the last one.
        let at = self.at - self.text.len();
        let n = into.len().min(self.tail.len() - at);
        into[..n].copy_from_slice(&self.tail[at..at + n]);
        self.at += n;
        Ok(n)
    }

    fn load_block(&mut self) -> Result<()> {
        let (at, packed_len, len) = self.blocks[self.block];
        let packed_len = packed_len as usize;
        self.text.resize(len as usize, 0);
        self.packed.resize(packed_len, 0);
        let packed = &mut self.packed[..];
        match &mut self.file {
            Some(file) => {
                // New blocks are written at the end again.
                let read = file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(packed));
                read.and_then(|()| file.seek(SeekFrom::End(0))).map_err(failed)?;
            }
            None => packed.copy_from_slice(&self.memory[at as usize..][..packed_len]),
        }
        let opened = self.key.as_ref().and_then(|key| key.open(self.block as u64, packed));
        let n = opened.and_then(|packed| lz4_flex::block::decompress_into(packed, &mut self.text).ok());
        if n != Some(len as usize) {
            return Err(Error::corrupt("the temporary copy of the source was changed"));
        }
        self.block += 1;
        self.at = 0;
        Ok(())
    }
}

#[cold]
fn failed(error: io::Error) -> Error {
    Error::io(error, "keeping a copy of the source in a temporary file").advise(
        "free some space there, set TMPDIR to another folder, or save the source to a file and read that",
    )
}

/// A file in the folder for temporary files that the system removes once it is closed.
fn nameless_file() -> io::Result<File> {
    static N_FILES: AtomicU64 = AtomicU64::new(0);
    let folder = std::env::temp_dir();
    loop {
        let n = N_FILES.fetch_add(1, Ordering::Relaxed);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
        let path = folder.join(format!("entasis-{}-{n}-{now:x}.tmp", std::process::id()));
        match create_nameless(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            result => return result,
        }
    }
}

#[cfg(unix)]
fn create_nameless(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)?;
    std::fs::remove_file(path)?;
    Ok(file)
}

#[cfg(windows)]
fn create_nameless(path: &Path) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt;
    const TEMPORARY: u32 = 0x100;
    const DELETE_ON_CLOSE: u32 = 0x0400_0000;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    options.share_mode(0).attributes(TEMPORARY).custom_flags(DELETE_ON_CLOSE).open(path)
}
