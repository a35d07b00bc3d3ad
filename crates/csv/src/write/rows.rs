//! The values of some rows, from a file or from a frame in memory.

use std::ops::Range;
use std::sync::Arc;

use entasis::{
    Buffer, Error, File, Frame, Loader, MissingTo, Monitor, Output, Request, Result, Rows, Text, TextLayout,
};

use super::columns::{Column, Kind};
use super::nested::Strings;
use crate::piece::buffer;

/// A table to write.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// The table of a file.
    File(&'a File),
    /// A frame, without column runs.
    Frame(&'a Frame),
}

impl<'a> From<&'a File> for Source<'a> {
    fn from(file: &'a File) -> Self {
        Self::File(file)
    }
}

impl<'a> From<&'a Frame> for Source<'a> {
    fn from(frame: &'a Frame) -> Self {
        Self::Frame(frame)
    }
}

impl Source<'_> {
    /// The number of rows.
    pub fn n_rows(&self) -> u64 {
        match self {
            Self::File(file) => file.n_rows(),
            Self::Frame(frame) => frame.n_rows,
        }
    }
}

/// A column of a frame, or one of those after the columns of the table.
pub fn column_of(frame: &Frame, number: u64) -> Result<&entasis::Column> {
    let number = usize::try_from(number).unwrap_or(usize::MAX);
    let extra = || frame.extra.get(number.checked_sub(frame.columns.len())?);
    let found = frame.columns.get(number).or_else(extra);
    found.ok_or_else(|| Error::argument("the frame has no such column"))
}

/// Reads rows of columns by one thread. Memory is used again.
pub struct Reader<'a> {
    source: Source<'a>,
    columns: &'a [Column],
    rows: &'a Rows,
    memory: Vec<Memory>,
}

/// The values of a column.
enum Memory {
    File { words: Buffer, text: Text, validity: Option<Buffer> },
    Strings(Strings),
    Frame(Box<Loader>),
}

/// The values of a column in some rows.
pub struct Values<'v> {
    /// The column.
    pub column: &'v Column,
    /// Values of fixed width.
    pub words: &'v [u8],
    /// The offsets of strings in `bytes`.
    pub offsets: Offsets<'v>,
    /// The bytes of strings.
    pub bytes: &'v [u8],
    /// One bit for each value, 0 where it is missing.
    pub validity: Option<&'v [u8]>,
}

/// Offsets of strings.
#[derive(Clone, Copy)]
pub enum Offsets<'v> {
    /// Of 32 bits.
    U32(&'v [u32]),
    /// Of 64 bits.
    I64(&'v [i64]),
}

impl<'a> Reader<'a> {
    /// A reader of columns and rows of a table. The rows of a frame are consecutive.
    pub fn new(source: Source<'a>, columns: &'a [Column], rows: &'a Rows) -> Self {
        Self { source, columns, rows, memory: Vec::new() }
    }

    /// Reads the rows at positions among all that are read. Returns their number, which may be
    /// smaller for a frame.
    ///
    /// # Errors
    /// Errors of reading, *unsupported* for strings of a frame that are not UTF-8, *out of memory*.
    pub fn read(&mut self, positions: Range<u64>, monitor: &dyn Monitor) -> Result<usize> {
        let n = usize::try_from(positions.end - positions.start).unwrap_or(usize::MAX);
        match self.source {
            Source::File(file) => {
                self.memory = of_file(file, self.columns, &rows_of(self.rows, positions), n, monitor)?;
                Ok(n)
            }
            Source::Frame(frame) => {
                self.memory.resize_with(self.columns.len(), || Memory::Frame(Box::default()));
                let (start, mut n) = (number(self.rows, positions.start), n);
                for (column, memory) in self.columns.iter().zip(&mut self.memory) {
                    if let (Memory::Frame(loader), false) = (memory, matches!(column.kind, Kind::Null)) {
                        let rows = start..start + n as u64;
                        n = loader.load(column_of(frame, column.number)?, rows)?;
                        check_utf8(loader, column)?;
                    }
                }
                Ok(n)
            }
        }
    }

    /// The values of each column in the rows that were read last.
    pub fn values(&mut self) -> impl Iterator<Item = Values<'_>> {
        self.columns.iter().zip(&mut self.memory).map(|(column, memory)| match memory {
            Memory::File { words, text, validity } => Values {
                column,
                words,
                offsets: Offsets::I64(bytemuck::cast_slice(&text.offsets)),
                bytes: text.bytes.first().map_or(&[][..], |bytes| bytes),
                validity: validity.as_deref(),
            },
            Memory::Strings(strings) => Values {
                column,
                words: &[],
                offsets: Offsets::I64(strings.offsets()),
                bytes: strings.bytes(),
                validity: Some(strings.validity()),
            },
            Memory::Frame(loader) => {
                let loaded = loader.loaded();
                Values {
                    column,
                    words: loaded.words,
                    offsets: Offsets::U32(loaded.offsets),
                    bytes: loaded.bytes,
                    validity: loaded.validity,
                }
            }
        })
    }
}

/// The rows at positions among `rows`.
fn rows_of(rows: &Rows, positions: Range<u64>) -> Rows {
    match rows {
        Rows::Indices(rows) => {
            Rows::Indices(Arc::new(rows[positions.start as usize..positions.end as usize].to_vec()))
        }
        &Rows::Step { step, .. } => {
            let n = positions.end.saturating_sub(positions.start);
            Rows::Step { start: number(rows, positions.start), n, step }
        }
        Rows::Range(_) | Rows::All => Rows::Range(number(rows, positions.start)..number(rows, positions.end)),
    }
}

/// The number in the table of the row at a position among `rows`.
pub fn number(rows: &Rows, position: u64) -> u64 {
    match rows {
        Rows::Indices(rows) => rows[position as usize],
        Rows::Range(rows) => rows.start + position,
        &Rows::Step { start, step, .. } => {
            start.wrapping_add_signed(step.wrapping_mul(position.cast_signed()))
        }
        Rows::All => position,
    }
}

fn of_file(
    file: &File,
    columns: &[Column],
    rows: &Rows,
    n: usize,
    monitor: &dyn Monitor,
) -> Result<Vec<Memory>> {
    let mut memory = Vec::with_capacity(columns.len());
    for column in columns {
        if let Kind::Nested(nested) = &column.kind {
            let mut strings = Strings::default();
            nested.append(file, column.number, rows, &mut strings)?;
            if strings.offsets().len() != n + 1 {
                return Err(Error::argument("a string was not made of each value").in_column(&column.name));
            }
            memory.push(Memory::Strings(strings));
            continue;
        }
        let has_bits = column.has_missing && !matches!(column.kind, Kind::Null);
        let validity = if has_bits { Some(buffer(n.div_ceil(8))?) } else { None };
        let words = buffer(n.saturating_mul(column.kind.width()))?;
        memory.push(Memory::File { words, text: Text::new(TextLayout::Large), validity });
    }
    let requests = columns.iter().zip(&mut memory).filter_map(|(column, memory)| {
        let Memory::File { words, text, validity } = memory else { return None };
        let output = match column.kind {
            Kind::Null => return None,
            Kind::Bool => Output::Bools(words),
            Kind::Strings => Output::Text(text),
            _ => Output::Words(words),
        };
        let missing = validity.as_deref_mut().map_or(MissingTo::Ignore, MissingTo::Bits);
        Some(Request { column: column.number, rows: rows.clone(), output, missing })
    });
    let requests = requests.collect();
    file.read(requests, Some(1), monitor)?;
    Ok(memory)
}

/// Refuses strings of a host that are not UTF-8.
fn check_utf8(loader: &mut Loader, column: &Column) -> Result<()> {
    let loaded = loader.loaded();
    // A string may end inside of a character that the next one ends.
    let splits = |&offset: &u32| loaded.bytes.get(offset as usize).is_some_and(|byte| byte >> 6 == 0b10);
    let is_text = loaded.bytes.is_ascii()
        || (simdutf8::basic::from_utf8(loaded.bytes).is_ok() && !loaded.offsets.iter().any(splits));
    if is_text { Ok(()) } else { Err(Error::unsupported("a string is not UTF-8").in_column(&column.name)) }
}
