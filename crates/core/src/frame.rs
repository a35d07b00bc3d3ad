//! The columns to write, in memory that belongs to a host.

pub(crate) mod deferred_column;
pub(crate) mod kept;
pub(crate) mod owned;
pub(crate) mod pre_encoded;

use std::sync::Arc;

use entasis_format::{ColumnType, Value};
use entasis_platform::{HostRead, HostViews};

use crate::name_list::NameList;
pub use deferred_column::DeferredColumn;
use kept::{Keep, Kept};
pub use owned::OwnedValues;
use pre_encoded::BLOCK;
pub use pre_encoded::EncodedBlock;

/// The value to write, with the tables and other columns in it.
#[derive(Debug)]
pub struct Document {
    /// The tables, by their numbers.
    pub frames: Vec<Frame>,
    /// Columns of no table: columns of cells and of arrays.
    pub columns: Vec<Column>,
    /// The file's value (`docs/format/values.md`). Its [`Value::Column`] numbers count `columns`.
    pub value: Value,
}

/// A table to write, with the columns that hold its labels and dictionaries.
#[derive(Debug)]
pub struct Frame {
    /// The number of rows of every column in `columns`.
    pub n_rows: u64,
    /// The table's columns, or runs of them.
    pub columns: Vec<Column>,
    /// Labels and dictionaries: columns of any length that are not part of the table.
    pub extra: Vec<Column>,
    /// The host map: a map with the key `host`, or null.
    ///
    /// Its [`Value::Column`] numbers count the table's columns first (each column of a run counts),
    /// then `extra`.
    pub host: Value,
}

/// A column to write, or a column run: neighbours in a table of few rows that differ only in name
/// and values.
#[derive(Debug)]
pub struct Column {
    /// The name, which need not be unique. Empty for a run.
    pub name: String,
    /// The names of a run, at least two. Its columns have no dictionary, no children and no missing
    /// values.
    pub run: Option<NameList>,
    /// The type.
    pub column_type: ColumnType,
    /// The parameters of the type, for example the time zone.
    pub detail: Option<Value>,
    /// The host's own description.
    pub host_detail: Option<Value>,
    /// The index in [`Frame::extra`] of a categorical's categories.
    pub dictionary: Option<usize>,
    /// The children of a nested type.
    pub children: Vec<Field>,
    /// The values. A run stores the values of one column after the other.
    pub array: Array,
}

impl Frame {
    /// A frame of the same columns without rows. Its columns form no runs.
    pub fn without_rows(&self) -> Self {
        let empty = |columns: &[Column]| columns.iter().map(Column::without_values).collect();
        Self { n_rows: 0, columns: empty(&self.columns), extra: empty(&self.extra), host: self.host.clone() }
    }
}

impl Column {
    fn without_values(&self) -> Self {
        Self {
            name: self.name.clone(),
            run: None,
            column_type: self.column_type,
            detail: self.detail.clone(),
            host_detail: self.host_detail.clone(),
            dictionary: self.dictionary,
            children: self.children.clone(),
            array: Array::default(),
        }
    }
}

/// A child of a nested column. Its values are in the chunks of its parent.
#[derive(Clone, Debug)]
pub struct Field {
    /// The name.
    pub name: String,
    /// The type.
    pub column_type: ColumnType,
    /// See [`Column::detail`].
    pub detail: Option<Value>,
    /// See [`Column::host_detail`].
    pub host_detail: Option<Value>,
    /// See [`Column::dictionary`].
    pub dictionary: Option<usize>,
    /// Its own children. The children of a union or value column are its types, without the child
    /// offsets.
    pub children: Vec<Field>,
}

/// Values in one or more chunks.
#[derive(Debug, Default)]
pub struct Array {
    /// The chunks, in order.
    pub chunks: Vec<Chunk>,
    /// The parts of the chunks that hold the values, in order; `None` if all chunks are used as a
    /// whole.
    pub(crate) spans: Option<Vec<Span>>,
    /// Values that are already in the file. They come before the values of the chunks.
    pub(crate) kept: Option<Kept>,
}

/// Consecutive values of a chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub chunk: usize,
    /// The index of the first value in the chunk.
    pub start: usize,
    /// The index of the first value in the array.
    pub first: u64,
    pub n: usize,
}

impl From<Vec<Chunk>> for Array {
    fn from(chunks: Vec<Chunk>) -> Self {
        Self { chunks, spans: None, kept: None }
    }
}

impl Array {
    /// An array with one chunk.
    pub fn new(chunk: Chunk) -> Self {
        Self::from(vec![chunk])
    }

    /// All values of a column of the file to change ([`Change`](crate::Change)). `column` is its
    /// number among all columns of the file. Chunks may follow.
    pub fn kept(column: u64) -> Self {
        Self { kept: Some(Kept::Column(column)), ..Self::default() }
    }

    /// The stored values that a changed column keeps.
    pub(crate) fn keep(&self) -> Option<&Keep> {
        match &self.kept {
            Some(Kept::Found(keep)) => Some(keep),
            _ => None,
        }
    }

    /// The number of values, with those before the chunks.
    pub(crate) fn n_total(&self) -> u64 {
        self.keep().map_or(0, |keep| keep.n_values).saturating_add(self.n_values())
    }

    /// The number of values in the chunks.
    pub fn n_values(&self) -> u64 {
        match &self.spans {
            None => self.chunks.iter().map(|chunk| chunk.n as u64).sum(),
            Some(spans) => spans.last().map_or(0, |span| span.first + span.n as u64),
        }
    }

    /// The pre-encoded block that begins with value `at`, if any.
    pub(crate) fn encoded(&self, at: u64) -> Option<&EncodedBlock> {
        let block = usize::try_from(at / BLOCK as u64).ok().filter(|_| at.is_multiple_of(BLOCK as u64))?;
        match &self.chunks.get(block)?.values {
            HostValues::Encoded(block) => Some(block),
            _ => None,
        }
    }

    /// The spans, in order. An array with spans begins with the one that contains value `from`,
    /// another array with its first chunk.
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

/// Values that are stored together in a host's memory.
///
/// The host may change this memory during the call. The writer copies each value once and stores
/// only the copy.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// The number of values.
    pub n: usize,
    /// The values.
    pub values: HostValues,
    /// Which values are present.
    pub validity: HostValidity,
}

/// The form and the memory of a chunk's values.
#[derive(Clone, Debug)]
pub enum HostValues {
    /// No memory: all values are null (physical type null).
    Null,
    /// Words of the physical type's width, `stride` bytes apart. With a negative stride, `memory`
    /// begins at the last value.
    Words {
        /// The memory of all values.
        memory: HostRead,
        /// Bytes from one value to the next.
        stride: isize,
    },
    /// Words of the physical type's width (one byte for a boolean) of several columns of equal
    /// length, column after column.
    Matrix {
        /// The memory of all values.
        memory: HostRead,
        /// The offset of the first column's first value in the memory.
        first: usize,
        /// Bytes from one value of a column to the next.
        row_stride: isize,
        /// Bytes from one column to the next.
        column_stride: isize,
        /// The number of values of a column.
        n_rows: usize,
    },
    /// Signed integers that are wider than the physical type (i32, i64 or i128). Each value must
    /// fit the physical type.
    Wide {
        /// The memory of all values.
        memory: HostRead,
        /// Bytes of a value: 8, 16 or 32.
        width: usize,
        /// Bytes from one value to the next.
        stride: isize,
    },
    /// Signed integers of 32 bits, stored as booleans or as integers of at most 32 bits. The stored
    /// value is the integer minus `first`, and must be below `n`. [`HostValidity::Sentinel`] is
    /// compared with this memory and may have any value.
    Int32 {
        /// The values, contiguous.
        memory: HostRead,
        /// Subtracted from each value: hosts may count codes from 1.
        first: i32,
        /// The number of possible values from `first` on.
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
        /// The bit of value 0.
        first_bit: usize,
    },
    /// Strings with `n + 1` offsets `i32` into their bytes.
    Offsets32 {
        /// The offsets.
        offsets: HostRead,
        /// The bytes.
        bytes: HostRead,
    },
    /// Strings with `n + 1` offsets `i64` into their bytes.
    Offsets64 {
        /// The offsets.
        offsets: HostRead,
        /// The bytes.
        bytes: HostRead,
    },
    /// Strings of up to `width` bytes each, padded with zeros.
    Padded {
        /// The memory of all values.
        memory: HostRead,
        /// Bytes of each string.
        width: usize,
        /// Bytes from one string to the next.
        stride: isize,
    },
    /// Padded strings with four bytes per character, stored as UTF-8.
    Ucs4 {
        /// The memory of all values.
        memory: HostRead,
        /// Bytes of each string, a multiple of 4.
        width: usize,
        /// Bytes from one string to the next.
        stride: isize,
    },
    /// Strings with views of 16 bytes, as in Arrow.
    Views {
        /// The views.
        views: HostRead,
        /// The buffers of long strings.
        buffers: Vec<HostRead>,
    },
    /// Strings with views of 16 bytes. Views of long strings hold addresses.
    Anywhere(HostViews),
    /// Lists or maps with `n + 1` offsets into a child. A missing list may have a length other than
    /// 0.
    Lists {
        /// The offsets, i32 or i64.
        offsets: HostRead,
        /// Whether they have 64 bits.
        is_large: bool,
        /// The values of all lists.
        child: Arc<Chunk>,
    },
    /// Lists with an offset and a size each, in any order. Offsets and sizes of missing lists are
    /// ignored.
    ListViews {
        /// The offsets, i32 or i64.
        offsets: HostRead,
        /// The sizes, of the same width.
        sizes: HostRead,
        /// Whether they have 64 bits.
        is_large: bool,
        /// The values of all lists.
        child: Arc<Chunk>,
    },
    /// Structs, with at least as many values in each child; fixed-size lists, with at least
    /// `value_len` times as many values in the only child.
    Children(Arc<[Chunk]>),
    /// Unions and value columns.
    Union {
        /// The type code of each value, one byte each.
        codes: HostRead,
        /// The child of each code; 255 for unused codes.
        types: Arc<[u8; 256]>,
        /// The index of each value in its child, i32. Without offsets, the values of a type are
        /// consecutive in its child; in a sparse union, value `i` has index `i`.
        offsets: Option<HostRead>,
        /// The values of each type.
        children: Arc<[Chunk]>,
    },
    /// Runs of equal values, given by their ends.
    Runs {
        /// The end of each run, i16, i32 or i64. Ends count from `first` values before the chunk.
        ends: HostRead,
        /// Bytes of an end: 2, 4 or 8.
        width: usize,
        /// The number of values before the chunk that the ends include.
        first: u64,
        /// The value of each run.
        child: Arc<Chunk>,
    },
    /// Child offsets, computed by the writer (u64).
    Counted(Arc<[u64]>),
    /// Numbers (u32) that are computed when the writer needs them.
    Deferred(DeferredColumn),
    /// A whole pre-encoded block. Such blocks come first in a column.
    Encoded(EncodedBlock),
    /// Values that the writer decoded; for a nested column, its structure values.
    Owned(OwnedValues),
}

/// Which values of a chunk are present.
#[derive(Clone, Debug)]
pub enum HostValidity {
    /// All values.
    AllValid,
    /// One bit per value, least significant first, 1 = valid.
    Bits {
        /// The bits.
        memory: HostRead,
        /// The bit of value 0.
        first_bit: usize,
    },
    /// One byte per value, nonzero = missing.
    Mask {
        /// The bytes.
        memory: HostRead,
        /// Bytes from one to the next.
        stride: isize,
    },
    /// Values equal to the low bytes of this sentinel are missing, for example NaT or code -1.
    Sentinel(u64),
    /// One byte per value, nonzero = missing, in memory of the writer.
    Owned(Arc<[u8]>),
}

impl Column {
    /// The number of columns: of a run, or 1.
    pub fn n_columns(&self) -> usize {
        self.run.as_ref().map_or(1, NameList::len)
    }

    /// The names of the columns.
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
