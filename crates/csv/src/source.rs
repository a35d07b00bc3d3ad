//! Sources of text: files, bytes and streams, decompressed and converted to UTF-8.
//!
//! The bytes of a source pass these stages, from front to back:
//!
//! 1. [`raw`] reads them as they are stored.
//! 2. [`compression`] recognises their compression by content. A thread decompresses a few MiB
//!    ahead of the reader ([`ahead`]); several threads inflate BGZF ([`bgzf`]).
//! 3. [`encoding`] finds the encoding by the first MiB and converts the text to UTF-8, for files
//!    and bytes in another thread.
//! 4. [`text`] drops the byte 0x1A at the very end.
//! 5. [`spill`] keeps a copy of a stream, if a second pass may be needed.

mod ahead;
mod bgzf;
mod bzip2;
mod compression;
mod decompressed;
mod encoding;
mod fault;
mod foreign;
mod gzip;
mod raw;
mod spill;
#[cfg(test)]
mod tests;
mod text;
mod xz;
mod zstd;

use std::fmt;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use entasis::{Error, Result, default_threads};

use self::ahead::{Ahead, ahead};
use self::compression::Compression;
pub use self::decompressed::Decompressed;
use self::encoding::Charset;
pub use self::raw::SharedBytes;
use self::raw::{Raw, RawInput, Stage};
use self::spill::Spill;
use self::text::{Limited, Lookahead, Text, without_end};
use crate::input::Input;

/// Where a text comes from.
pub enum Origin {
    /// The file at a path. A pipe or a device is read as a stream.
    Path(PathBuf),
    /// Bytes in memory.
    Bytes(SharedBytes),
    /// A stream. Only the thread that calls the [`Source`] reads it.
    Stream {
        /// Its name in messages, such as "standard input".
        name: String,
        /// Its bytes. A read that a signal interrupts is tried again.
        reader: Box<dyn Read + Send>,
    },
}

/// How a source is read.
#[derive(Clone, Debug)]
pub struct SourceOptions {
    /// The encoding: a label of the Encoding Standard, or a name of Python or R. `None`: a byte
    /// order mark decides, then UTF-8 if the first MiB is UTF-8, then a guess with a warning.
    pub encoding: Option<String>,
    /// The most bytes that compressed bytes may become. Memory does not grow with them.
    pub max_bytes: Option<u64>,
    /// With 1, no thread is started.
    pub threads: usize,
    /// The most bytes of a compressed copy of a stream, which [`Source::rewind`] needs. Over 16 MiB
    /// they are in an unlinked temporary file. 0: no copy is kept.
    pub spill_limit: u64,
}

impl Default for SourceOptions {
    fn default() -> Self {
        Self { encoding: None, max_bytes: None, threads: default_threads(), spill_limit: 0 }
    }
}

/// Parts of a text, on which a sniffer decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The first bytes, then parts from the rest of the text in their order. Each may begin and end
    /// within a line, and within a character.
    pub pieces: Vec<Vec<u8>>,
    /// Whether the first piece is the whole text.
    pub whole: bool,
}

/// A text in UTF-8, decompressed, without its byte order mark, from front to back.
///
/// gzip, BGZF, bzip2, xz and Zstandard are recognised by content. The bytes of a text in UTF-8 are
/// passed on unchecked. A sequence that does not fit another encoding becomes the byte 0xFF, which
/// is not valid UTF-8 either. So one check finds both.
///
/// ```
/// use std::sync::Arc;
///
/// use entasis_csv::source::{Origin, Source, SourceOptions};
///
/// # fn main() -> entasis::Result<()> {
/// let options = SourceOptions { encoding: Some("latin1".into()), ..SourceOptions::default() };
/// let mut source = Source::open(Origin::Bytes(Arc::new(b"caf\xE9\n")), &options)?;
/// let mut text = [0; 100];
/// let n = source.read(&mut text)?;
/// assert_eq!(&text[..n], "café\n".as_bytes());
/// assert_eq!(source.read(&mut text)?, 0);
/// assert_eq!(source.encoding(), "ISO-8859-1");
/// # Ok(())
/// # }
/// ```
pub struct Source {
    name: Option<PathBuf>,
    store: Store,
    options: SourceOptions,
    compression: Option<Compression>,
    charset: Charset,
    mark_len: usize,
    warnings: Vec<String>,
    n_read: Arc<AtomicU64>,
    text: Text,
    /// Text that was read for a sample, and is read again.
    sampled: Vec<u8>,
    sampled_at: usize,
    copy: Option<Spill>,
    /// Whether the text comes from the copy.
    is_replayed: bool,
    /// Whether the copy does not grow, as no other pass follows.
    is_last_pass: bool,
    has_failed: bool,
}

/// The part of an origin that a second pass needs.
enum Store {
    File { file: Arc<File>, len: u64, modified: Option<SystemTime> },
    Bytes(SharedBytes),
    Stream,
}

/// The first bytes, by which the encoding is found.
const HEAD_LEN: usize = 1 << 20;
/// Shorter files are decompressed in the thread of the caller.
const LEAST_FOR_THREAD: u64 = 64 << 10;

impl Source {
    /// Opens a source, and finds its compression and encoding.
    ///
    /// # Errors
    /// A missing file, a directory, binary data, an unknown encoding, damaged bytes at the start,
    /// and errors of the system.
    pub fn open(origin: Origin, options: &SourceOptions) -> Result<Self> {
        let name = match &origin {
            Origin::Path(path) => Some(path.clone()),
            Origin::Stream { name, .. } => Some(PathBuf::from(name)),
            Origin::Bytes(_) => None,
        };
        Self::open_named(origin, options, name.clone()).map_err(|error| in_source(error, name.as_deref()))
    }

    fn open_named(origin: Origin, options: &SourceOptions, name: Option<PathBuf>) -> Result<Self> {
        let (mut store, raw) = match origin {
            Origin::Path(path) => open_path(&path)?,
            Origin::Bytes(bytes) => (Store::Bytes(Arc::clone(&bytes)), Raw::Bytes { bytes, at: 0 }),
            Origin::Stream { reader, .. } => (Store::Stream, Raw::Stream(reader)),
        };
        let n_read = Arc::new(AtomicU64::new(0));
        let mut input = RawInput::new(raw, Arc::clone(&n_read));
        let head = input.peek(Compression::HEAD_LEN)?;
        let compression = Compression::recognise(head);
        let mut bytes = decompressed(input, compression, &store, options)?;
        let (head, is_whole) = bytes.peek(HEAD_LEN)?;
        foreign::refuse(head)?;
        let found = encoding::find(head, is_whole, options.encoding.as_deref())?;
        let is_short = is_whole && compression.is_none() && matches!(store, Store::Stream);
        let short = is_short.then(|| head.to_vec());
        bytes.skip(found.mark_len);
        // A short stream is kept in memory. The system reports some files as empty that are not.
        if let Some(head) = short {
            let whole: SharedBytes = Arc::new(head);
            bytes = Lookahead::new(Box::new(Raw::Bytes { bytes: Arc::clone(&whole), at: found.mark_len }));
            store = Store::Bytes(whole);
        }
        let is_stream = matches!(store, Store::Stream);
        let text = text_of(bytes, found.charset, &store, options);
        Ok(Self {
            name,
            store,
            options: options.clone(),
            compression,
            charset: found.charset,
            mark_len: found.mark_len,
            warnings: found.warning.into_iter().collect(),
            n_read,
            text,
            sampled: Vec::new(),
            sampled_at: 0,
            copy: (is_stream && options.spill_limit > 0).then(|| Spill::new(options.spill_limit)),
            is_replayed: false,
            is_last_pass: false,
            has_failed: false,
        })
    }

    /// Fills `into` as far as the text goes, and returns how many bytes it got; 0 at the end.
    ///
    /// # Errors
    /// Damaged or truncated compressed bytes, the limit `max_bytes`, and errors of the system.
    /// After an error, only [`rewind`](Self::rewind) may help.
    pub fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        let n = into.len().min(self.sampled.len() - self.sampled_at);
        into[..n].copy_from_slice(&self.sampled[self.sampled_at..self.sampled_at + n]);
        self.sampled_at += n;
        if n > 0 && self.sampled_at == self.sampled.len() {
            (self.sampled, self.sampled_at) = (Vec::new(), 0);
        }
        Ok(n + self.read_on(&mut into[n..])?)
    }

    /// Reads text that no sample has.
    fn read_on(&mut self, into: &mut [u8]) -> Result<usize> {
        if self.has_failed {
            return Err(self.named(Error::argument("the source is read on after an error")));
        }
        let mut n = 0;
        while n < into.len() {
            match self.read_some(&mut into[n..]) {
                Ok(0) => break,
                Ok(read) => n += read,
                Err(error) => {
                    self.has_failed = true;
                    return Err(self.named(error));
                }
            }
        }
        Ok(n)
    }

    fn read_some(&mut self, into: &mut [u8]) -> Result<usize> {
        if let Some(copy) = &mut self.copy
            && self.is_replayed
        {
            match copy.read(into)? {
                0 => self.is_replayed = false,
                n => return Ok(n),
            }
            if self.is_last_pass {
                self.copy = None;
            }
        }
        let n = self.text.read(into)?;
        if let Some(copy) = &mut self.copy {
            copy.push(&into[..n]);
        }
        Ok(n)
    }

    /// The next `first` bytes of the text, which [`read`](Self::read) returns again. If there are
    /// more, and the source is a file or bytes in UTF-8 without compression, also `n_parts` parts
    /// of `part_len` bytes from its whole length. The last part is the end of the text.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn sample(&mut self, first: usize, n_parts: usize, part_len: usize) -> Result<Sample> {
        self.sampled.drain(..self.sampled_at);
        self.sampled_at = 0;
        let len = self.sampled.len();
        if len <= first {
            // One more byte shows whether the text ends here.
            let mut more = vec![0; first + 1 - len];
            let n = self.read_on(&mut more)?;
            self.sampled.extend_from_slice(&more[..n]);
        }
        let whole = self.sampled.len() <= first;
        let mut pieces = vec![self.sampled[..first.min(self.sampled.len())].to_vec()];
        if !whole && self.is_plain() {
            let parts = self.parts(first, n_parts, part_len);
            pieces.extend(parts.map_err(|error| self.named(error))?);
        }
        Ok(Sample { pieces, whole })
    }

    /// Parts of stored bytes after the first `first` bytes.
    fn parts(&self, first: usize, n_parts: usize, part_len: usize) -> Result<Vec<Vec<u8>>> {
        let Some(len) = self.total() else { return Ok(Vec::new()) };
        let from = (first + self.mark_len) as u64;
        let part_len = (part_len as u64).min(len.saturating_sub(from));
        let last = len - part_len;
        let mut parts = Vec::new();
        let mut end = from;
        for i in 1..=n_parts as u64 {
            let at = from + (u128::from(last.saturating_sub(from)) * u128::from(i) / n_parts as u128) as u64;
            // Where the text is short, parts would overlap.
            let at = at.max(end);
            let n = part_len.min(len - at) as usize;
            if n == 0 {
                break;
            }
            end = at + n as u64;
            let mut part = match &self.store {
                Store::File { file, .. } => part_of_file(file, at, n)?,
                Store::Bytes(bytes) => (**bytes).as_ref()[at as usize..][..n].to_vec(),
                Store::Stream => break,
            };
            if end == len {
                part.truncate(without_end(&part).len());
            }
            parts.push(part);
        }
        Ok(parts)
    }

    /// Whether the text is the bytes of the source after its byte order mark.
    fn is_plain(&self) -> bool {
        self.compression.is_none() && self.charset == Charset::Utf8
    }

    /// Keeps no copy of a stream from here on, as no other pass follows.
    pub fn forget(&mut self) {
        self.is_last_pass = true;
        if !self.is_replayed {
            self.copy = None;
        }
    }

    /// Begins the text anew, for a second pass.
    ///
    /// # Errors
    /// The file changed since it was opened; no copy of the stream was kept, or it exceeded
    /// `spill_limit`.
    pub fn rewind(&mut self) -> Result<()> {
        self.begin_anew().map_err(|error| self.named(error))
    }

    fn begin_anew(&mut self) -> Result<()> {
        let raw = match &self.store {
            Store::File { file, len, modified } => {
                let metadata = file.metadata().map_err(|error| Error::io(error, "reading again"))?;
                if (metadata.len(), metadata.modified().ok()) != (*len, *modified) {
                    let error = Error::corrupt("the file changed while it was read");
                    return Err(error.advise("read it again when no program writes to it"));
                }
                Raw::File { file: Arc::clone(file), left: *len }
            }
            Store::Bytes(bytes) => Raw::Bytes { bytes: Arc::clone(bytes), at: 0 },
            Store::Stream => {
                let Some(copy) = &mut self.copy else {
                    return Err(Error::argument("a stream can be read only once").advise(
                        "set spill_limit to keep a copy, or save the stream to a file and read that",
                    ));
                };
                copy.rewind()?;
                self.is_replayed = true;
                (self.sampled, self.sampled_at) = (Vec::new(), 0);
                return Ok(());
            }
        };
        self.has_failed = true;
        // A thread of the former pass must not move the position of the file.
        self.text = Text::default();
        if let Raw::File { file, .. } = &raw {
            (&mut &**file).seek(SeekFrom::Start(0)).map_err(|error| Error::io(error, "reading again"))?;
        }
        self.n_read.store(0, Ordering::Relaxed);
        let input = RawInput::new(raw, Arc::clone(&self.n_read));
        let mut bytes = decompressed(input, self.compression, &self.store, &self.options)?;
        bytes.peek(self.mark_len)?;
        bytes.skip(self.mark_len);
        self.text = text_of(bytes, self.charset, &self.store, &self.options);
        (self.sampled, self.sampled_at) = (Vec::new(), 0);
        self.has_failed = false;
        Ok(())
    }

    /// The whole text without a copy, if it is in memory, in UTF-8 and not compressed.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match &self.store {
            Store::Bytes(bytes) if self.is_plain() => {
                Some(without_end((**bytes).as_ref().get(self.mark_len..)?))
            }
            _ => None,
        }
    }

    /// The name of the source in messages; `None` for bytes.
    pub fn name(&self) -> Option<&Path> {
        self.name.as_deref()
    }

    /// The bytes of the source that were read in this pass, for a progress bar. With threads, some
    /// MiB more than the text that was returned.
    pub fn consumed(&self) -> u64 {
        self.n_read.load(Ordering::Relaxed)
    }

    /// The length of the source as it is stored; `None` for a compressed or long stream.
    pub fn total(&self) -> Option<u64> {
        match &self.store {
            Store::File { len, .. } => Some(*len),
            Store::Bytes(bytes) => Some((**bytes).as_ref().len() as u64),
            Store::Stream => None,
        }
    }

    /// The name of the encoding in the Encoding Standard, or `ISO-8859-1`.
    pub fn encoding(&self) -> &str {
        self.charset.name()
    }

    /// The length of the byte order mark: bytes of the decompressed source before the text.
    pub fn mark_len(&self) -> usize {
        self.mark_len
    }

    /// The name of the compression: `gzip`, `BGZF`, `bzip2`, `xz` or `zstd`.
    pub fn compression(&self) -> Option<&'static str> {
        self.compression.map(Compression::name)
    }

    /// Warnings for the caller: the encoding was guessed, or differs from the given one.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn named(&self, error: Error) -> Error {
        in_source(error, self.name.as_deref())
    }
}

impl Input for Source {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        Source::read(self, into)
    }

    fn rewind(&mut self) -> Result<()> {
        Source::rewind(self)
    }

    fn progress(&self) -> (u64, Option<u64>) {
        (self.consumed(), self.total())
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source")
            .field("name", &self.name)
            .field("compression", &self.compression())
            .field("encoding", &self.encoding())
            .finish_non_exhaustive()
    }
}

fn in_source(error: Error, name: Option<&Path>) -> Error {
    match name {
        Some(name) => error.in_file(name),
        None => error,
    }
}

/// Opens the file at `path`.
fn open_path(path: &Path) -> Result<(Store, Raw)> {
    let failed = |error| Error::io(error, "opening the text");
    let metadata = fs::metadata(path).map_err(failed)?;
    if metadata.is_dir() {
        return Err(failed(std::io::ErrorKind::IsADirectory.into()));
    }
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    // The system's files about processes have the length 0, whatever they contain.
    if !metadata.is_file() || metadata.len() == 0 {
        return Ok((Store::Stream, Raw::Stream(Box::new(file))));
    }
    let (file, len) = (Arc::new(file), metadata.len());
    let raw = Raw::File { file: Arc::clone(&file), left: len };
    Ok((Store::File { file, len, modified: metadata.modified().ok() }, raw))
}

/// The number of threads for a source.
fn n_threads(store: &Store, options: &SourceOptions) -> usize {
    let len = match store {
        Store::File { len, .. } => *len,
        Store::Bytes(bytes) => (**bytes).as_ref().len() as u64,
        Store::Stream => u64::MAX,
    };
    if len < LEAST_FOR_THREAD { 1 } else { options.threads }
}

/// The text of decompressed bytes without byte order mark. Only the thread of the caller may read a
/// stream, so no other thread converts it.
fn text_of(bytes: Lookahead, charset: Charset, store: &Store, options: &SourceOptions) -> Text {
    let has_thread = !matches!(store, Store::Stream) && n_threads(store, options) > 1;
    Text::new(bytes, charset, has_thread)
}

/// The decompressed bytes of a source from its start, in a thread of their own where it pays.
fn decompressed(
    mut input: RawInput,
    compression: Option<Compression>,
    store: &Store,
    options: &SourceOptions,
) -> Result<Lookahead> {
    let Some(compression) = compression else { return Ok(Lookahead::new(Box::new(input))) };
    let threads = n_threads(store, options);
    let has_thread = threads > 1 && compression != Compression::Bgzf;
    let mut stage: Box<dyn Stage> = if has_thread && matches!(store, Store::Stream) {
        let stream = input.replace(Raw::empty());
        let mut failure = None;
        let started = Ahead::start_fed(stream, |fed| {
            input.replace(fed);
            compression.decoder(input, threads).unwrap_or_else(|error| {
                failure = Some(error);
                Box::new(Raw::empty())
            })
        });
        if let Some(error) = failure {
            return Err(error);
        }
        Box::new(started?)
    } else {
        let stage = compression.decoder(input, threads)?;
        if has_thread { ahead(stage) } else { stage }
    };
    if let Some(limit) = options.max_bytes {
        stage = Box::new(Limited::new(stage, limit));
    }
    Ok(Lookahead::new(stage))
}

/// Bytes of a file in its middle. The position stays.
fn part_of_file(file: &File, at: u64, len: usize) -> Result<Vec<u8>> {
    let mut file = file;
    let mut part = vec![0; len];
    let mut read = || {
        let position = file.stream_position()?;
        file.seek(SeekFrom::Start(at))?;
        let result = file.read_exact(&mut part);
        file.seek(SeekFrom::Start(position))?;
        result
    };
    read().map_err(|error| Error::io(error, "reading a sample of the text"))?;
    Ok(part)
}
