//! The generations of a file (`docs/format/container.md`).

use std::sync::Arc;

use entasis_format::{Error, Operation, Result, Slot, fallible};

use super::{File, open};

/// A committed state of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Generation {
    /// Its number. Each change makes a greater one.
    pub number: u64,
    /// The time of the change, in nanoseconds since 1970; 0 when unknown.
    pub time: i64,
    /// The operation that made it.
    pub operation: Operation,
    /// The number of rows; none when the value is not a table.
    pub n_rows: Option<u64>,
    /// Bytes of the file up to the end of this generation.
    pub file_len: u64,
}

/// The use of memory, in messages.
const GENERATIONS: &str = "the list of generations";

impl File {
    /// The generations that the file still has, from the oldest on. Reads a footer for each.
    ///
    /// # Errors
    /// *Corrupt* when an earlier generation is damaged; *io*.
    pub fn generations(&self) -> Result<Vec<Generation>> {
        let mut found = Vec::new();
        let in_file = |error: Error| error.in_file(self.path());
        let mut state = self.view_at(*self.slot()).map_err(in_file)?;
        loop {
            if !state.is_part() {
                fallible::push(&mut found, state.describe(), GENERATIONS)?;
            }
            match state.opened.previous().map_err(in_file)? {
                Some(slot) => state = state.view_at(slot).map_err(in_file)?,
                None => break,
            }
        }
        found.reverse();
        Ok(found)
    }

    /// The file at an earlier generation.
    ///
    /// # Errors
    /// *Argument* when the file does not have it; *corrupt*; *io*.
    pub fn at_generation(&self, number: u64) -> Result<File> {
        let in_file = |error: Error| error.in_file(self.path());
        let mut state = self.view_at(*self.slot()).map_err(in_file)?;
        loop {
            let here = state.generation();
            if here == number && !state.is_part() {
                return Ok(state);
            }
            match state.opened.previous().map_err(in_file)? {
                Some(slot) if here >= number => state = state.view_at(slot).map_err(in_file)?,
                _ => {
                    let message = format!(
                        "the file has no generation {number}: its current one is {}",
                        self.generation()
                    );
                    return Err(in_file(Error::argument(message)));
                }
            }
        }
    }

    /// A view of the value at the state of a slot.
    pub(crate) fn view_at(&self, slot: Slot) -> Result<File> {
        Self::of_opened(Arc::new(self.opened.at(slot)?))
    }

    /// Opens a file with slot pages at the state of a slot that is not current yet.
    pub(crate) fn open_at(
        source: Box<dyn entasis_io::Source>,
        name: &std::path::Path,
        slot: Slot,
    ) -> Result<File> {
        let limits = entasis_format::Limits::default();
        Self::of_opened(Arc::new(open::open_at(source, name, limits, slot)?)).map_err(|e| e.in_file(name))
    }

    /// Whether this is a part of a stream, which never was the current state.
    fn is_part(&self) -> bool {
        self.opened.root.operation == Operation::Part.code()
    }

    fn describe(&self) -> Generation {
        let root = &self.opened.root;
        Generation {
            number: root.generation,
            time: root.time,
            operation: Operation::from_code(root.operation).unwrap_or(Operation::Unknown),
            n_rows: self.is_table().then(|| self.n_rows()),
            file_len: self.file_len(),
        }
    }
}
