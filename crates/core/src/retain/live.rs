//! Counts the bytes that generations use.

use std::collections::HashMap;

use entasis_format::{Kind, Result, Slot, TRAILER_LEN, fallible, visit_part_entries};

use crate::file::File;
use crate::rebuild::has_blocks;

/// The use of the memory, in messages.
const PARTS: &str = "the parts of the generations";

/// Bytes that the current generation and the `kept` ones use, without padding. `None` if they are
/// more than `most`.
pub(super) fn live_len(file: &File, kept: &[Slot], most: u64) -> Result<Option<u64>> {
    let mut live = Live { len: file.room().start, most, known: HashMap::new() };
    if !live.add(file)? {
        return Ok(None);
    }
    for slot in kept {
        if !live.add(&file.view_at(*slot)?)? {
            return Ok(None);
        }
    }
    Ok(Some(live.len))
}

struct Live {
    len: u64,
    most: u64,
    /// The offsets of counted parts.
    known: HashMap<u64, ()>,
}

impl Live {
    /// Counts a generation. False if there are too many bytes.
    fn add(&mut self, file: &File) -> Result<bool> {
        let whole = file.whole();
        self.len += u64::from(file.slot().root_len) + TRAILER_LEN as u64;
        // Nothing says how a later version stores a section of an unknown kind.
        for section in whole.sections().iter().filter(|section| section.is_known()) {
            let mut parts = Vec::new();
            visit_part_entries(section, whole.room(), &mut |part| whole.fetch(part), &mut |part| {
                fallible::push(&mut parts, (part.at, part.stored_len), PARTS)
            })?;
            for (at, len) in parts {
                self.count(at, len)?;
            }
        }
        for number in 0..whole.n_columns_total() {
            if self.len > self.most {
                return Ok(false);
            }
            let column = match whole.column(number) {
                Err(error) if error.kind() == Kind::Unsupported => continue,
                column => column?,
            };
            if !has_blocks(&column) {
                continue;
            }
            for block in whole.blocks(number)?.iter() {
                self.count(block.pages_at, block.pages_len)?;
                self.count(block.directory_at, block.directory_len)?;
            }
        }
        Ok(self.len <= self.most)
    }

    /// Counts the bytes at an offset once.
    fn count(&mut self, at: u64, len: u32) -> Result<()> {
        if len > 0 && !self.known.contains_key(&at) {
            fallible::insert(&mut self.known, at, (), PARTS)?;
            self.len = self.len.saturating_add(len.into());
        }
        Ok(())
    }
}
