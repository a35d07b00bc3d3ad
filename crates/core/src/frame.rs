//! What is written: columns in memory that belongs to a host.

use std::sync::Arc;

use entasis_format::{ColumnType, Value};
use entasis_kernels::{HostRead, HostViews};

use crate::write::deferred_column::DeferredColumn;
use crate::write::pre_encoded::{BLOCK, EncodedBlock};
use crate::name_list::NameList;

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
    Deferred(DeferredColumn),
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
}

impl Frame {
    /// The number of the table's columns.
    pub fn n_columns(&self) -> usize {
        self.columns.iter().map(Column::n_columns).sum()
    }
}
