//! What is written: columns in memory that belongs to a host.

use entasis_format::{ColumnType, Error, Limits, Result, Value};
use entasis_kernels::HostRead;

/// Several tables and other columns to write, and the value that they are parts of.
#[derive(Debug)]
pub struct Document {
    /// The tables, by their numbers.
    pub frames: Vec<Frame>,
    /// Columns that belong to no table: those of cells, and of arrays.
    pub columns: Vec<Column>,
    /// What the file holds (format, section 5.1). [`Value::Column`] counts `columns`.
    pub value: Value,
}

/// A table to write, with the columns that its labels and dictionaries need.
#[derive(Debug)]
pub struct Frame {
    /// The rows of every column in `columns`.
    pub n_rows: u64,
    /// The table's columns.
    pub columns: Vec<Column>,
    /// Labels and dictionaries: columns of any length that belong to no table.
    pub extra: Vec<Column>,
    /// What the host keeps beside the columns: a map with the key `host`, or null.
    ///
    /// [`Value::Column`] counts `columns` first, then `extra`.
    pub host: Value,
}

/// A column to write.
#[derive(Debug)]
pub struct Column {
    /// The name; need not be unique.
    pub name: String,
    /// The type.
    pub column_type: ColumnType,
    /// What the type needs beside its codes: the time zone (a string).
    pub detail: Option<Value>,
    /// The index in [`Frame::extra`] of the categories of a categorical.
    pub dictionary: Option<usize>,
    /// The values.
    pub array: Array,
}

/// Values in one or more pieces.
#[derive(Debug, Default)]
pub struct Array {
    /// The pieces, in order.
    pub chunks: Vec<Chunk>,
}

impl Array {
    /// An array in one piece.
    pub fn new(chunk: Chunk) -> Self {
        Self { chunks: vec![chunk] }
    }

    /// The number of values.
    pub fn n_values(&self) -> u64 {
        self.chunks.iter().map(|chunk| chunk.n as u64).sum()
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
    /// Signed integers of more bytes than the physical type has (i32, i64 or i128); each has to be one of that type.
    Wide {
        /// The memory of all values.
        memory: HostRead,
        /// Bytes of a value: 8, 16 or 32.
        width: usize,
        /// Bytes from one value to the next.
        stride: isize,
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
    /// Checks that the type is possible and the dictionary there.
    fn check(&self, n_extra: usize, limits: &Limits) -> Result<()> {
        if self.name.len() > limits.name_len as usize {
            let message =
                format!("a column name of {} bytes, the most are {}", self.name.len(), limits.name_len);
            return Err(Error::unsupported(message));
        }
        self.column_type.check().map_err(|e| e.in_column(&self.name))?;
        let is_categorical = self.column_type.logical == entasis_format::Logical::Categorical;
        if self.dictionary.is_some_and(|d| d >= n_extra) || is_categorical != self.dictionary.is_some() {
            return Err(Error::argument("a categorical needs its dictionary among the extra columns")
                .in_column(&self.name));
        }
        Ok(())
    }
}

impl Document {
    /// Checks what a reader's default limits would refuse, and each frame.
    ///
    /// # Errors
    /// *Argument* or *Unsupported*, with the column's name.
    pub(crate) fn check(&self) -> Result<()> {
        let limits = Limits::default();
        self.value.check(&limits)?;
        self.columns.iter().try_for_each(|column| column.check(0, &limits))?;
        self.frames.iter().try_for_each(Frame::check)
    }
}

impl Frame {
    /// Checks that columns are as long as the table, types possible, and dictionaries there.
    ///
    /// # Errors
    /// *Argument* or *Unsupported*, with the column's name.
    pub(crate) fn check(&self) -> Result<()> {
        for column in &self.columns {
            if column.array.n_values() != self.n_rows {
                let message = format!(
                    "the column has {} values, the table {} rows",
                    column.array.n_values(),
                    self.n_rows
                );
                return Err(Error::argument(message).in_column(&column.name));
            }
        }
        // What a reader's default limits refuse is not written.
        let limits = Limits::default();
        self.host.check(&limits)?;
        self.columns.iter().chain(&self.extra).try_for_each(|column| column.check(self.extra.len(), &limits))
    }
}
