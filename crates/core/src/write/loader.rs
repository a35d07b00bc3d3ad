//! Copies values of a frame, for writers of other formats.

use std::ops::Range;

use entasis_format::{Error, Layout, Result};

use super::input::Scratch;
use crate::frame::{Array, Column};

/// Copies values of columns of frames, a block at a time.
///
/// The host may change its memory during a call, so each value is copied once.
#[derive(Default)]
pub struct Loader {
    scratch: Scratch,
    of: Option<Layout>,
    n: usize,
}

/// Values that a [`Loader`] has copied.
#[derive(Clone, Copy, Debug)]
pub struct Loaded<'a> {
    /// Values of fixed width, aligned for their type; booleans have one byte each.
    pub words: &'a [u8],
    /// One more offset than strings, ascending from 0. Missing strings are empty.
    pub offsets: &'a [u32],
    /// The bytes of all strings, whose encoding is not checked.
    pub bytes: &'a [u8],
    /// One bit for each value, 0 where it is missing; `None` if all are present.
    pub validity: Option<&'a [u8]>,
}

impl Loader {
    /// Copies the values in `range` of a column, at most a block. Returns their number, which is
    /// smaller if more values would exceed a block.
    ///
    /// # Errors
    /// *Argument* for a range beyond the values, for a column run, and for memory of another form
    /// than the type; *unsupported* for values that do not fit the type.
    pub fn load(&mut self, column: &Column, range: Range<u64>) -> Result<usize> {
        let (array, of): (&Array, _) = (&column.array, column.column_type.layout());
        if column.run.is_some() || range.end > array.n_values() || range.start > range.end {
            return Err(Error::argument("the rows are not those of one column"));
        }
        self.n = self.scratch.load(array, of, range).map_err(|error| error.in_column(&column.name))?;
        self.of = Some(of);
        Ok(self.n)
    }

    /// The values that were copied last.
    pub fn loaded(&mut self) -> Loaded<'_> {
        use entasis_encodings::Values;

        let none = Loaded { words: &[], offsets: &[], bytes: &[], validity: None };
        let Some(of) = self.of else { return none };
        let (values, validity) = self.scratch.values(of, self.n);
        let fixed = |words| Loaded { words, validity, ..none };
        match values {
            Values::Strings { offsets, bytes } => Loaded { offsets, bytes, validity, ..none },
            Values::Bool(bytes) | Values::W8(bytes) | Values::Fixed { bytes, .. } => fixed(bytes),
            Values::W16(words) => fixed(bytemuck::cast_slice(words)),
            Values::W32(words) => fixed(bytemuck::cast_slice(words)),
            Values::W64(words) => fixed(bytemuck::cast_slice(words)),
            Values::W128(words) => fixed(bytemuck::cast_slice(words)),
        }
    }
}
