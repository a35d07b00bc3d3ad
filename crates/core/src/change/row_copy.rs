//! Copies rows of a file's table to a new file, part by part.

use std::ops::Range;
use std::path::{Path, PathBuf};

use entasis_format::Result;

use super::rows_of_file::{CopiedRows, read};
use super::stream::Stream;
use crate::file::File;
use crate::frame::{Frame, HostValues};
use crate::monitor::Monitor;
use crate::rows::Rows;
use crate::write::{WriteOptions, check_target, write};

/// A new file with rows of another file's table. If it is dropped, the path keeps its old file or
/// none.
///
/// Copies types, labels, categories and metadata of the table. Each part needs memory for its own
/// rows and for the categories.
///
/// ```
/// use entasis::{File, RowCopy, Rows, Silent, WriteOptions};
/// # fn copy(file: &File, to: &std::path::Path) -> entasis::Result<()> {
/// let mut copy = RowCopy::new(file, vec![0, 1], None, to, WriteOptions::default());
/// copy.append(&Rows::Range(0..1000), &Silent)?;
/// copy.append(&Rows::Range(5000..6000), &Silent)?;
/// copy.finish(&Silent)
/// # }
/// ```
#[derive(Debug)]
pub struct RowCopy<'f> {
    file: &'f File,
    positions: Vec<usize>,
    consecutive: Option<Range<u64>>,
    path: PathBuf,
    options: WriteOptions,
    state: State,
}

/// The rows that were appended.
#[derive(Debug)]
enum State {
    Empty,
    /// The first part. It is written without a stream if no other part follows.
    One(CopiedRows),
    More(Box<Stream>),
}

impl<'f> RowCopy<'f> {
    /// Begins a copy of the columns at these positions.
    ///
    /// `consecutive` is the range of the rows of all parts, if they are contiguous. A range of
    /// labels then stays a range; otherwise it becomes a column.
    pub fn new(
        file: &'f File,
        positions: Vec<usize>,
        consecutive: Option<Range<u64>>,
        path: &Path,
        options: WriteOptions,
    ) -> Self {
        Self { file, positions, consecutive, path: path.to_owned(), options, state: State::Empty }
    }

    /// Adds rows. Returns the bytes of their values in memory.
    ///
    /// Parts of whole blocks (65,536 rows) are stored as they are. Other parts are encoded again
    /// with the next part.
    ///
    /// # Errors
    /// *Argument* for rows or columns that do not exist, nested columns and columns of objects;
    /// *unsupported* when the file's value is not a table, for hosts with unknown entries (R), for
    /// metadata that are objects, and for some of the columns if their labels are not their names;
    /// otherwise as for reading and for [`write`](crate::write()). After an error the copy cannot
    /// continue.
    pub fn append(&mut self, rows: &Rows, monitor: &dyn Monitor) -> Result<u64> {
        if matches!(self.state, State::Empty) {
            check_target(&self.path, &self.options)?;
        }
        self.state = match std::mem::replace(&mut self.state, State::Empty) {
            State::One(first) => {
                let mut stream = Stream::create(&self.path, &self.options, monitor)?;
                stream.append(first.frame, &[], &self.options, monitor)?;
                State::More(Box::new(stream))
            }
            state => state,
        };
        let part = self.read(rows, monitor)?;
        let len = memory_len(&part.frame);
        match &mut self.state {
            State::More(stream) => stream.append(part.frame, &part.labels, &self.options, monitor)?,
            state => *state = State::One(part),
        }
        Ok(len)
    }

    /// Makes the file visible. A file without parts has no rows.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub fn finish(mut self, monitor: &dyn Monitor) -> Result<()> {
        if matches!(self.state, State::Empty) {
            self.append(&Rows::Range(0..0), monitor)?;
        }
        match self.state {
            State::One(part) => write(&self.path, &part.frame, &self.options, monitor),
            State::More(stream) => stream.finish(),
            State::Empty => Ok(()),
        }
    }

    fn read(&self, rows: &Rows, monitor: &dyn Monitor) -> Result<CopiedRows> {
        let consecutive = self.consecutive.as_ref();
        read(self.file, &self.positions, rows, consecutive, self.options.threads, monitor)
            .map_err(|e| e.in_file(self.file.path()))
    }
}

/// The bytes of the values of a frame that was read.
fn memory_len(frame: &Frame) -> u64 {
    let chunks = frame.columns.iter().chain(&frame.extra).flat_map(|column| &column.array.chunks);
    let owned = chunks.filter_map(|chunk| match &chunk.values {
        HostValues::Owned(values) => Some(values.memory_len()),
        _ => None,
    });
    owned.sum()
}
