//! What is written: columns in memory that belongs to a host.

use std::sync::Arc;

use entasis_format::{ColumnType, Error, Layout, Limits, Logical, MAX_COLUMN_DEPTH, Physical, Result, Value};
use entasis_kernels::{HostRead, HostViews};

use crate::bundle::MAX_ROWS;
use crate::write::deferred_column::Later;
use crate::write::pre_encoded::{BLOCK, EncodedBlock};
use crate::names::NameList;

/// Several tables and other columns to write, and the value that they are parts of.
#[derive(Debug)]
pub struct Document {
    /// The tables, by their numbers.
    pub frames: Vec<Frame>,
    /// Columns that belong to no table: those of cells, and of arrays.
    pub columns: Vec<Column>,
    /// What the file holds (`docs/format/values.md`). [`Value::Column`] counts `columns`.
    pub value: Value,
}

/// A table to write, with the columns that its labels and dictionaries need.
#[derive(Debug)]
pub struct Frame {
    /// The rows of every column in `columns`.
    pub n_rows: u64,
    /// The table's columns, or runs of them.
    pub columns: Vec<Column>,
    /// Labels and dictionaries: columns of any length that belong to no table.
    pub extra: Vec<Column>,
    /// What the host keeps beside the columns: a map with the key `host`, or null.
    ///
    /// [`Value::Column`] counts the table's columns first, each of a run by itself, then `extra`.
    pub host: Value,
}

/// A column to write, or a run of neighbours in a table of few rows that differ only in their names and values.
#[derive(Debug)]
pub struct Column {
    /// The name; need not be unique. Empty for a run.
    pub name: String,
    /// The names of the columns of a run, at least two. They have no dictionary, no children and no missing values.
    pub run: Option<NameList>,
    /// The type.
    pub column_type: ColumnType,
    /// What the type needs beside its codes: the time zone (a string).
    pub detail: Option<Value>,
    /// The index in [`Frame::extra`] of the categories of a categorical.
    pub dictionary: Option<usize>,
    /// The children of a nested type.
    pub children: Vec<Field>,
    /// The values; of a run those of its columns, one column behind the other.
    pub array: Array,
}

/// A child of a nested column: a column whose values stand in the chunks of its parent.
#[derive(Clone, Debug)]
pub struct Field {
    /// The name.
    pub name: String,
    /// The type.
    pub column_type: ColumnType,
    /// As of a column.
    pub detail: Option<Value>,
    /// As of a column.
    pub dictionary: Option<usize>,
    /// Its own children. Those of a union or value column are its types, without the column of begins.
    pub children: Vec<Field>,
}

/// Values in one or more pieces.
#[derive(Debug, Default)]
pub struct Array {
    /// The pieces, in order.
    pub chunks: Vec<Chunk>,
    /// Which parts of the pieces are the values, in order, when it isn't all of all pieces.
    pub(crate) spans: Option<Vec<Span>>,
}

/// Neighbouring values of a chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub chunk: usize,
    /// The first value, in the chunk.
    pub start: usize,
    /// The first value, in the array.
    pub first: u64,
    pub n: usize,
}

impl From<Vec<Chunk>> for Array {
    fn from(chunks: Vec<Chunk>) -> Self {
        Self { chunks, spans: None }
    }
}

impl Array {
    /// An array in one piece.
    pub fn new(chunk: Chunk) -> Self {
        Self::from(vec![chunk])
    }

    /// The number of values.
    pub fn n_values(&self) -> u64 {
        match &self.spans {
            None => self.chunks.iter().map(|chunk| chunk.n as u64).sum(),
            Some(spans) => spans.last().map_or(0, |span| span.first + span.n as u64),
        }
    }

    /// The block that begins with value `at`, if it is encoded already.
    pub(crate) fn encoded(&self, at: u64) -> Option<&EncodedBlock> {
        let block = usize::try_from(at / BLOCK as u64).ok().filter(|_| at.is_multiple_of(BLOCK as u64))?;
        match &self.chunks.get(block)?.values {
            HostValues::Encoded(block) => Some(block),
            _ => None,
        }
    }

    /// Checks that blocks that are encoded already are whole blocks of this layout, in their places.
    fn check_encoded(&self, of: Layout) -> Result<()> {
        let is_encoded = |chunk: &&Chunk| matches!(chunk.values, HostValues::Encoded(_));
        let n = self.chunks.iter().take_while(is_encoded).count();
        let (first, others) = self.chunks.split_at(n);
        let is_whole = |chunk: &Chunk| match &chunk.values {
            HostValues::Encoded(block) => {
                chunk.n == BLOCK
                    && block.of() == of
                    && matches!(chunk.validity, HostValidity::AllValid)
                    && self.spans.is_none()
            }
            _ => false,
        };
        if first.iter().all(is_whole) && !others.iter().any(|chunk| is_encoded(&chunk)) {
            Ok(())
        } else {
            Err(Error::argument("a block is encoded that can't be where it is"))
        }
    }

    /// The parts, in order, from the one with value `from` on.
    pub(crate) fn spans(&self, from: u64) -> impl Iterator<Item = Span> {
        let (mut i, mut first) = match &self.spans {
            None => (0, 0),
            Some(spans) => (spans.partition_point(|span| span.first + span.n as u64 <= from), 0),
        };
        std::iter::from_fn(move || {
            let span = match &self.spans {
                None => Span { chunk: i, start: 0, first, n: self.chunks.get(i)?.n },
                Some(spans) => *spans.get(i)?,
            };
            i += 1;
            first += span.n as u64;
            Some(span)
        })
    }
}

/// Values that stand together in the memory of a host.
///
/// The memory may change while it is read: each value is copied once, and all that is stored comes from the copy.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// The number of values.
    pub n: usize,
    /// The values.
    pub values: HostValues,
    /// Which of them are there.
    pub validity: HostValidity,
}

/// Where the values of a chunk are.
#[derive(Clone, Debug)]
pub enum HostValues {
    /// Nowhere: all values are null (physical type null).
    Null,
    /// Words of the physical type's width, `stride` bytes apart (may be negative: then `memory` begins at the last value).
    Words {
        /// The memory of all values.
        memory: HostRead,
        /// Bytes from one value to the next.
        stride: isize,
    },
    /// Words of the physical type's width (a byte for a boolean), of columns of equal length, one column behind the other.
    Matrix {
        /// The memory of all values.
        memory: HostRead,
        /// Where the first value of the first column is in the memory.
        first: usize,
        /// Bytes from one value of a column to the next.
        row_stride: isize,
        /// Bytes from one column to the next.
        column_stride: isize,
        /// Values of a column.
        n_rows: usize,
    },
    /// Signed integers of more bytes than the physical type has (i32, i64 or i128); each has to be one of that type.
    Wide {
        /// The memory of all values.
        memory: HostRead,
        /// Bytes of a value: 8, 16 or 32.
        width: usize,
        /// Bytes from one value to the next.
        stride: isize,
    },
    /// Signed integers of 32 bits, stored as booleans or as integers of at most as many: each less `first`, and then below `n`.
    /// [`HostValidity::Mark`] is one of those in memory, and needs not be below.
    Int32 {
        /// The values, one after the other.
        memory: HostRead,
        /// What is taken from each: codes may count from 1.
        first: i32,
        /// How many values there are from `first` on.
        n: u32,
    },
    /// Booleans of one byte, zero or not.
    Bools {
        /// The memory of all values.
        memory: HostRead,
        /// Bytes from one value to the next.
        stride: isize,
    },
    /// Booleans of one bit, least significant first.
    Bits {
        /// The bits.
        memory: HostRead,
        /// Where value 0 is.
        first_bit: usize,
    },
    /// Strings by `n + 1` offsets `i32` into their bytes.
    Offsets32 {
        /// The offsets.
        offsets: HostRead,
        /// The bytes.
        bytes: HostRead,
    },
    /// Strings by `n + 1` offsets `i64` into their bytes.
    Offsets64 {
        /// The offsets.
        offsets: HostRead,
        /// The bytes.
        bytes: HostRead,
    },
    /// Strings of up to `width` bytes each, zeros at their end being padding.
    Padded {
        /// The memory of all values.
        memory: HostRead,
        /// Bytes of each.
        width: usize,
        /// Bytes from one value to the next.
        stride: isize,
    },
    /// The same with a code point of four bytes per character; stored as UTF-8.
    Ucs4 {
        /// The memory of all values.
        memory: HostRead,
        /// Bytes of each, a multiple of 4.
        width: usize,
        /// Bytes from one value to the next.
        stride: isize,
    },
    /// Strings by views of 16 bytes, as in the Arrow format.
    Views {
        /// The views.
        views: HostRead,
        /// The buffers of long strings.
        buffers: Vec<HostRead>,
    },
    /// Strings by views of 16 bytes that have the addresses of long ones.
    Anywhere(HostViews),
    /// Lists or maps by `n + 1` offsets into a child. Those of missing lists need not be equal.
    Lists {
        /// The offsets, i32 or i64.
        offsets: HostRead,
        /// Whether they have 64 bits.
        is_large: bool,
        /// The values of all lists.
        child: Arc<Chunk>,
    },
    /// Lists by offset and size, in any order. Those of missing lists may be anything.
    ListViews {
        /// The offsets, i32 or i64.
        offsets: HostRead,
        /// The sizes, as wide.
        sizes: HostRead,
        /// Whether they have 64 bits.
        is_large: bool,
        /// The values of all lists.
        child: Arc<Chunk>,
    },
    /// Structs, with as many values of each child (or more); fixed-size lists, with so many times as many of the one child.
    Children(Arc<[Chunk]>),
    /// Unions and value columns.
    Union {
        /// The code of each value's type, a byte each.
        codes: HostRead,
        /// The child of each code; 255 for codes that there aren't.
        types: Arc<[u8; 256]>,
        /// The place of each value in its child, i32. Without them values of a type stand one after the other in their child, in
        /// a sparse union beside the codes.
        offsets: Option<HostRead>,
        /// The values of each type.
        children: Arc<[Chunk]>,
    },
    /// Runs by their ends.
    Runs {
        /// Where each run ends, i16, i32 or i64, counted from a value `first` before the first one of the chunk.
        ends: HostRead,
        /// Bytes of an end: 2, 4 or 8.
        width: usize,
        /// Values before the first one of the chunk.
        first: u64,
        /// The value of each run.
        child: Arc<Chunk>,
    },
    /// Numbers that the writer found (u64).
    Counted(Arc<[u64]>),
    /// Numbers that are found when the writer comes to them (u32).
    Later(Later),
    /// A whole block that is encoded already. In a column such blocks come first.
    Encoded(EncodedBlock),
}

/// Which values of a chunk are there.
#[derive(Clone, Debug)]
pub enum HostValidity {
    /// All.
    AllValid,
    /// One bit per value, least significant first, 1 = valid.
    Bits {
        /// The bits.
        memory: HostRead,
        /// Where value 0 is.
        first_bit: usize,
    },
    /// One byte per value, nonzero = missing.
    Mask {
        /// The bytes.
        memory: HostRead,
        /// Bytes from one to the next.
        stride: isize,
    },
    /// Words equal to this one (in the low bytes) are missing: NaT, code -1.
    Mark(u64),
}

impl Column {
    /// How many columns it is.
    pub fn n_columns(&self) -> usize {
        self.run.as_ref().map_or(1, NameList::len)
    }

    /// The names of the columns that it is.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let names = self.run.as_ref();
        let one = if names.is_none() { Some(self.name.as_str()) } else { None };
        one.into_iter().chain(names.into_iter().flat_map(NameList::iter))
    }

    /// Checks that the columns of a run can be one.
    fn check_run(&self, names: &NameList, n_rows: u64, limits: &Limits) -> Result<()> {
        let wrong =
            |message: &'static str| Err(Error::argument(message).in_column(names.get(0).unwrap_or_default()));
        let is_whole = |chunk: &Chunk| matches!(chunk.validity, HostValidity::AllValid);
        if names.len() < 2 || n_rows == 0 || n_rows >= MAX_ROWS || !crate::bundle::is_bundled(self) {
            return wrong("these columns can't be a run");
        }
        if !self.array.chunks.iter().all(is_whole) {
            return wrong("columns of a run have no missing values");
        }
        names.iter().try_for_each(|name| check_name(name, limits))
    }

    /// Checks that the type is possible and the dictionary there.
    fn check(&self, n_extra: usize, limits: &Limits) -> Result<()> {
        check_name(&self.name, limits)?;
        self.array.check_encoded(self.column_type.layout()).map_err(|e| e.in_column(&self.name))?;
        check_type(n_extra, (&self.column_type, self.dictionary, &self.children), &self.name, 1)
    }
}

/// Checks that readers take a name. The error shows how it begins.
fn check_name(name: &str, limits: &Limits) -> Result<()> {
    if name.len() <= limits.name_len as usize {
        return Ok(());
    }
    let message = format!("a column name of {} bytes, the most are {}", name.len(), limits.name_len);
    Err(Error::unsupported(message).in_column(name).advise("shorten it"))
}

/// Checks a type with all that is in it; `path` names it in errors.
fn check_type(
    n_extra: usize,
    (of, dictionary, children): (&ColumnType, Option<usize>, &[Field]),
    path: &str,
    depth: u32,
) -> Result<()> {
    of.check().map_err(|e| e.in_column(path))?;
    let is_categorical = of.logical == Logical::Categorical;
    if dictionary.is_some_and(|d| d >= n_extra) || is_categorical != dictionary.is_some() {
        return Err(
            Error::argument("a categorical needs its dictionary among the extra columns").in_column(path)
        );
    }
    if depth > MAX_COLUMN_DEPTH {
        return Err(Error::unsupported(format!("types nested more than {MAX_COLUMN_DEPTH} deep"))
            .in_column(path)
            .advise("take the values apart"));
    }
    let n_children = u32::try_from(children.len() + usize::from(of.has_begins())).unwrap_or(u32::MAX);
    of.check_children(n_children).map_err(|e| e.in_column(path))?;
    let is_map = of.physical == Physical::Map;
    if is_map
        && !children
            .iter()
            .all(|entry| entry.column_type.physical == Physical::Struct && entry.children.len() == 2)
    {
        return Err(Error::argument("the entries of a map are a struct of two").in_column(path));
    }
    for child in children {
        if child.name.len() > Limits::default().name_len as usize {
            return Err(Error::unsupported("the name of a field is too long").in_column(path));
        }
        let of = (&child.column_type, child.dictionary, &child.children[..]);
        check_type(n_extra, of, &format!("{path}.{}", child.name), depth + 1)?;
    }
    Ok(())
}

impl Document {
    /// Checks what a reader's default limits would refuse, and each frame.
    ///
    /// # Errors
    /// *Argument* or *Unsupported*, with the column's name.
    pub(crate) fn check(&self) -> Result<()> {
        let limits = Limits::default();
        self.value.check(&limits)?;
        if self.columns.iter().any(|column| column.run.is_some()) {
            return Err(Error::argument("a run stands in no table"));
        }
        self.columns.iter().try_for_each(|column| column.check(0, &limits))?;
        self.frames.iter().try_for_each(Frame::check)
    }
}

impl Frame {
    /// The number of the table's columns.
    pub fn n_columns(&self) -> usize {
        self.columns.iter().map(Column::n_columns).sum()
    }

    /// Checks that columns are as long as the table, types possible, and dictionaries there.
    ///
    /// # Errors
    /// *Argument* or *Unsupported*, with the column's name.
    pub(crate) fn check(&self) -> Result<()> {
        // What a reader's default limits refuse is not written.
        let limits = Limits::default();
        for column in &self.columns {
            if Some(column.array.n_values()) != self.n_rows.checked_mul(column.n_columns() as u64) {
                let message = format!(
                    "the column has {} values, the table {} rows",
                    column.array.n_values() / column.n_columns().max(1) as u64,
                    self.n_rows
                );
                return Err(Error::argument(message).in_column(column.names().next().unwrap_or_default()));
            }
            if let Some(names) = &column.run {
                column.check_run(names, self.n_rows, &limits)?;
            }
        }
        if let Some(column) = self.extra.iter().find(|column| column.run.is_some()) {
            return Err(Error::argument("a run stands beside a table")
                .in_column(column.names().next().unwrap_or_default()));
        }
        self.host.check(&limits)?;
        self.columns.iter().chain(&self.extra).try_for_each(|column| column.check(self.extra.len(), &limits))
    }
}
