//! Recognises and reads a file of R, whatever its format.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek};
use std::ops::Range;
use std::sync::Arc;

use entasis::{Error, FileSource, Monitor, Result, default_threads};
use entasis_csv::source::Decompressed;

use crate::bytes::Bytes;
use crate::input::{Decoder, Input};
use crate::r::Values;
use crate::{fst, qs, rds};

/// A format of files with values of R.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One value: `saveRDS`. Compressed or not.
    Rds,
    /// Named values: `save`. Compressed or not.
    RData,
    /// The format of `qs2::qs_save`, and the one of `qs::qsave`, which is refused.
    Qs2,
    /// The format of `qs2::qd_save`.
    Qdata,
    /// A data frame: `fst::write_fst`. Also the format before 0.8, which is refused.
    Fst,
}

/// How a file is read.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// The most threads.
    pub threads: usize,
    /// The most bytes that compressed bytes may become, and that compact sequences may take.
    /// `None`: no limit for the first, 1 GiB for the second.
    pub max_bytes: Option<u64>,
    /// The columns of a data frame in fst format; `None` for all. Other formats ignore it.
    pub columns: Option<Vec<String>>,
    /// The rows of a data frame in fst format, from 0; `None` for all. Other formats ignore it.
    pub rows: Option<Range<u64>>,
    /// The rows of a data frame in fst format that are converted at once; `None` for as many as
    /// take about 32 MiB. Reading ignores it.
    pub window: Option<u64>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { threads: default_threads(), max_bytes: None, columns: None, rows: None, window: None }
    }
}

/// The first bytes of decompressed content by which it is recognised.
const HEAD_LEN: usize = 16;

/// The most stored bytes that are decompressed for these.
const MOST_START: usize = 1 << 20;

/// The format of a file that begins with these bytes. Compressed content is decompressed as far as
/// these bytes go, so some thousand bytes are needed (a million for bzip2).
///
/// ```
/// use entasis_convert::{Format, recognise};
///
/// assert_eq!(recognise(b"X\n\0\0\0\x03"), Some(Format::Rds));
/// assert_eq!(recognise(b"RDX3\nX\n"), Some(Format::RData));
/// assert_eq!(recognise(b"x,y\n1,2\n"), None);
/// ```
pub fn recognise(start: &[u8]) -> Option<Format> {
    if let Some(format) = plain(start) {
        return Some(format);
    }
    if !Decompressed::is_compressed(start) {
        return None;
    }
    let mut head = [0; HEAD_LEN];
    let mut n = 0;
    let mut content =
        Decompressed::open(Arc::new(start[..start.len().min(MOST_START)].to_vec()), None, 1).ok()??;
    while n < HEAD_LEN {
        // The bytes may be the beginning of a longer file.
        match content.read(&mut head[n..]) {
            Ok(0) | Err(_) => break,
            Ok(read) => n += read,
        }
    }
    stream(&head[..n])
}

/// The format of bytes that are not compressed as a whole.
fn plain(start: &[u8]) -> Option<Format> {
    let magic = start.get(fst::MAGIC_AT..fst::MAGIC_AT + fst::MAGIC.len());
    if magic == Some(&fst::MAGIC) || start.starts_with(&fst::LEGACY) {
        return Some(Format::Fst);
    }
    match start.first_chunk()? {
        &qs::QDATA => Some(Format::Qdata),
        &qs::QS2 | &qs::LEGACY => Some(Format::Qs2),
        _ => stream(start),
    }
}

/// The format of a stream of R.
fn stream(start: &[u8]) -> Option<Format> {
    match start {
        [b'R', b'D', b'X' | b'A' | b'B', b'1'..=b'9', b'\n', ..] => Some(Format::RData),
        // The first byte of a version in XDR is 0, the last one of a little-endian one.
        [b'X', b'\n', 0, 0, 0, _, ..] | [b'B', b'\n', _, 0, 0, 0, ..] => Some(Format::Rds),
        [b'A', b'\n', b'1'..=b'9', b'\n', b'0'..=b'9', ..] => Some(Format::Rds),
        _ => None,
    }
}

/// Reads the value of a file. RData gives a list with names.
///
/// Nothing that the file holds is evaluated: functions, environments, promises and objects of S4
/// are data.
///
/// # Errors
/// *Argument* for bytes of another format, *damaged* for bytes that no writer writes, *not
/// supported* for versions and values that are not read, with the path of the value, and *limit*.
///
/// ```
/// use entasis_convert::r::Data;
/// use entasis_convert::{ReadOptions, read_r};
///
/// # fn main() -> entasis::Result<()> {
/// let bytes = b"A\n2\n262658\n131840\n13\n3\n1\n2\nNA\n";
/// let values = read_r(bytes, &ReadOptions::default(), &entasis::Silent)?;
/// assert_eq!(values.value.data, Data::Integer(vec![1, 2, i32::MIN]));
/// # Ok(())
/// # }
/// ```
pub fn read_r(bytes: &[u8], options: &ReadOptions, monitor: &dyn Monitor) -> Result<Values> {
    let format = recognise(bytes).ok_or_else(|| {
        Error::argument("the bytes are not of RDS, RData, qs2, qdata or fst")
            .advise("name a file that R wrote with saveRDS, save, qs2 or fst")
    })?;
    match format {
        Format::Rds | Format::RData => {
            let input = input(bytes, options, monitor)?;
            rds::read(input, format == Format::RData, options.max_bytes)
        }
        _ => read_blocks(format, Bytes::Memory(bytes), options, monitor),
    }
}

/// Reads the value of a format of its own, whose parts are read by their positions.
fn read_blocks(
    format: Format,
    bytes: Bytes<'_>,
    options: &ReadOptions,
    monitor: &dyn Monitor,
) -> Result<Values> {
    if format != Format::Fst {
        return qs::read(bytes, options.threads, options.max_bytes, monitor);
    }
    let selection = fst::Selection {
        columns: options.columns.clone(),
        rows: options.rows.clone(),
        max_bytes: options.max_bytes,
    };
    let value = fst::Table::of_bytes(bytes)?.read(&selection, options.threads, monitor)?;
    Ok(Values { value, environments: Vec::new() })
}

/// Reads the value of a file whose first bytes are these. Only RDS and RData that are compressed
/// are whole in memory.
///
/// # Errors
/// As [`read_r`], and *io*.
pub(crate) fn read_file(
    mut file: File,
    start: &[u8],
    options: &ReadOptions,
    monitor: &dyn Monitor,
) -> Result<Values> {
    let refused = |error| Error::io(error, "read");
    file.rewind().map_err(refused)?;
    if let Some(format @ (Format::Fst | Format::Qs2 | Format::Qdata)) = plain(start) {
        let source = FileSource::of(file).map_err(refused)?;
        return read_blocks(format, Bytes::Source(&source), options, monitor);
    }
    match stream(start) {
        Some(format) if !Decompressed::is_compressed(start) => {
            let input = Input::of_decoder(Box::new(Stored(file)), monitor);
            rds::read(input, format == Format::RData, options.max_bytes)
        }
        _ => {
            let len = file.metadata().map_err(refused)?.len();
            let mut input = Input::of_decoder(Box::new(Stored(file)), monitor);
            let bytes = input.vector(len, |[byte]: [u8; 1]| byte)?;
            read_r(&bytes, options, monitor)
        }
    }
}

/// A file whose bytes are the content.
struct Stored(File);

impl Decoder for Stored {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        loop {
            match self.0.read(into) {
                Err(error) if error.kind() == ErrorKind::Interrupted => (),
                read => return read.map_err(|error| Error::io(error, "read")),
            }
        }
    }

    fn file(&mut self) -> Option<&mut File> {
        Some(&mut self.0)
    }
}

/// The content of bytes, decompressed.
fn input<'a>(bytes: &'a [u8], options: &ReadOptions, monitor: &'a dyn Monitor) -> Result<Input<'a>> {
    if !Decompressed::is_compressed(bytes) {
        return Ok(Input::of_bytes(bytes, monitor));
    }
    // A thread that decompresses owns its bytes.
    let mut owned = Vec::new();
    let refused = |_| Error::out_of_memory(bytes.len(), "the compressed bytes");
    owned.try_reserve_exact(bytes.len()).map_err(refused)?;
    owned.extend_from_slice(bytes);
    Ok(match Decompressed::open(Arc::new(owned), options.max_bytes, options.threads)? {
        Some(content) => Input::of_decoder(Box::new(content), monitor),
        None => Input::of_bytes(bytes, monitor),
    })
}

impl Decoder for Decompressed {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        Decompressed::read(self, into)
    }
}
