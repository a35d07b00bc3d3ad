//! The generations of a file (`docs/format/container.md`).

use std::path::Path;
use std::sync::Arc;

use entasis_format::{Error, Limits, Operation, Result, Slot, fallible};
use entasis_io::Source;
use entasis_seal::Unlocked;

use super::chain::{Chain, Lost, is_part};
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
    /// The number of rows; `None` if the value is not a table.
    pub n_rows: Option<u64>,
    /// Bytes of the file up to the end of this generation.
    pub file_len: u64,
}

/// The use of memory, in messages.
const GENERATIONS: &str = "the list of generations";

impl File {
    /// The generations that the file still has, oldest first. Reads a footer for each.
    ///
    /// # Errors
    /// *Corrupt* when an earlier generation is damaged; *io*.
    pub fn generations(&self) -> Result<Vec<Generation>> {
        let mut found = Vec::new();
        for state in self.chain() {
            let (slot, root) = state.map_err(|lost| lost.error.in_file(self.path()))?;
            if !is_part(&root) {
                let state = self.view_at(slot).map_err(|e| e.in_file(self.path()))?;
                fallible::push(&mut found, state.describe(), GENERATIONS)?;
            }
        }
        found.reverse();
        Ok(found)
    }

    /// The file at an earlier generation.
    ///
    /// # Errors
    /// *Argument* when the file does not have the generation; *corrupt*; *io*.
    pub fn at_generation(&self, number: u64) -> Result<File> {
        self.find_generation(number).map_err(|e| e.in_file(self.path()))
    }

    fn find_generation(&self, number: u64) -> Result<File> {
        if let Some(error) = self.opened.lost.as_ref().filter(|lost| lost.generation == number) {
            return Err(error.to_error());
        }
        let mut damage = None;
        for state in self.chain() {
            match state {
                Ok((slot, root)) if slot.generation == number && !is_part(&root) => {
                    let mut opened = self.opened.at(slot)?;
                    // Surveys of a single generation do not check the slots.
                    (opened.is_earlier, opened.is_passed_over) = (true, false);
                    return Self::of_opened(Arc::new(opened));
                }
                Ok(_) => {}
                // The wanted generation may be reachable only through the damaged one.
                Err(Lost { generation, error }) if generation >= number => damage = Some(error),
                Err(_) => {}
            }
        }
        Err(damage.unwrap_or_else(|| {
            let current = self.generation();
            Error::argument(format!("the file has no generation {number}: its current one is {current}"))
        }))
    }

    /// The readable generations and the parts of streams between them, from the current one on.
    pub(crate) fn chain(&self) -> Chain<'_> {
        Chain::new(&self.opened)
    }

    /// A view of the value at the state of a slot.
    pub(crate) fn view_at(&self, slot: Slot) -> Result<File> {
        Self::of_opened(Arc::new(self.opened.at(slot)?))
    }

    /// Opens a file with slot pages at the state of a slot that is not current yet.
    pub(crate) fn open_at(
        source: Box<dyn Source>,
        unlocked: Option<&Arc<Unlocked>>,
        name: &Path,
        limits: Limits,
        slot: Slot,
    ) -> Result<File> {
        let opened = open::open_at(source, unlocked, name, limits, slot).map_err(|e| e.in_file(name))?;
        Self::of_opened(Arc::new(opened)).map_err(|e| e.in_file(name))
    }

    /// Opens files that were joined, at the state of a slot. `unlocked` has the keys of one of them
    /// that is encrypted.
    pub(crate) fn joined_at(
        source: Box<dyn Source>,
        unlocked: Option<&Arc<Unlocked>>,
        name: &Path,
        limits: Limits,
        slot: Slot,
    ) -> Result<File> {
        let here = |error: Error| error.in_file(name);
        let mut opened = open::open_at(source, None, name, limits, slot).map_err(here)?;
        opened.joined = unlocked.cloned();
        Self::of_opened(Arc::new(opened)).map_err(here)
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
