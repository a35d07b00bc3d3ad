//! Cells: trees of values of any size, stored as columns (`docs/format/values.md`).

mod cell;
mod check;
mod index;
mod json;
mod layout;
mod loaded;
mod read;
mod scalars;
mod slice;
mod write;

use entasis_format::Result;

use crate::file::File;

pub use crate::frame::pre_encoded::{BLOCK, EncodedBlock, NumberEncoder};
pub use entasis_platform::memory::ScratchVec;

pub use cell::{Cell, Children};
pub use check::{MAX_DEPTH, Reference, find_cycle, shape};
pub use index::{Found, INDEXED_FROM, Key};
pub use json::Json;
pub use loaded::Loaded;
pub use read::{Cells, threads_for};
pub use scalars::Scalars;
pub use slice::{Run, Slice, Texts};
pub use write::CellWriter;

impl File {
    /// The cells of the file; `None` if the file has no cells.
    ///
    /// # Errors
    /// *Corrupt* when the columns of the cells break a rule of the format; *io*, *unsupported*.
    pub fn cells(&self) -> Result<Option<Cells>> {
        let Some(columns) = self.cell_columns() else { return Ok(None) };
        Cells::new(self.whole(), columns).map(Some).map_err(|e| e.in_file(self.path()))
    }
}
