//! Parts of a file that were verified already, as parts of a newer generation.

use std::collections::HashMap;
use std::sync::Arc;

use entasis_format::{
    BlockRecord, ColumnRecord, Error, Part, Pieces, Result, Statistics, checksum, fallible,
};

use super::PARTS;
use crate::file::ColumnInfo;

/// A range of bytes of the file, with a checksum of the records that refer to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span {
    pub from: u64,
    pub to: u64,
    pub of: u64,
}

impl Span {
    /// A range that no two generations share.
    pub(super) const fn own(from: u64, len: u64) -> Self {
        Self { from, to: from.saturating_add(len), of: 0 }
    }

    /// The stored bytes of a part of a section.
    pub(super) fn of_part(part: &Part) -> Self {
        let of = mix([part.len.into(), part.checksum, part.shuffle_len.into()]);
        Self { from: part.at, to: part.at.saturating_add(part.stored_len.into()), of }
    }

    /// Pages and directory of a block.
    pub(super) fn of_block(block: &BlockRecord, of: u64) -> [Self; 2] {
        let span = |at: u64, len: u32| Self { from: at, to: at.saturating_add(len.into()), of };
        [span(block.pages_at, block.pages_len), span(block.directory_at, block.directory_len)]
    }
}

/// A checksum of numbers.
fn mix<const N: usize>(numbers: [u64; N]) -> u64 {
    checksum(numbers.map(u64::to_le_bytes).as_flattened())
}

/// A checksum of a block's records. It depends on the block's layout.
pub(super) fn block_print(column: &ColumnRecord, block: &BlockRecord, of: Option<&Statistics>) -> u64 {
    let mut bytes = Vec::with_capacity(BlockRecord::LEN + Statistics::LEN);
    block.emit(&mut bytes);
    if let Some(statistics) = of {
        statistics.emit(&mut bytes);
    }
    let of = &column.column_type;
    mix([checksum(&bytes), of.physical.code().into(), of.value_len.into()])
}

/// For each column, a checksum of everything that determines its values. `blocks` has a checksum of
/// each column's blocks. `pieces` returns the pieces of a bundled column.
pub(super) fn column_prints(
    columns: &[ColumnInfo],
    blocks: &[u64],
    pieces: impl Fn(u64) -> Option<Arc<Pieces>>,
) -> Result<Vec<u64>> {
    let own = columns.iter().zip(blocks).map(|(column, blocks)| {
        let mut bytes = Vec::with_capacity(ColumnRecord::LEN);
        // Numbers of this generation alone.
        let record = ColumnRecord {
            id: 0,
            name_at: 0,
            name_len: 0,
            storage: None,
            parent: None,
            first_child: None,
            dictionary: None,
            detail: None,
            metadata: None,
            first_range: None,
            host_detail: None,
            ..column.record
        };
        record.emit(&mut bytes);
        if let Some(pieces) = pieces(column.index).filter(|_| record.is_bundled) {
            pieces.emit(&mut bytes);
        }
        mix([checksum(&bytes), *blocks])
    });
    let mut prints = fallible::collect(own, PARTS)?;
    // Children come after their parents.
    for column in columns.iter().rev() {
        let record = &column.record;
        let first = record.first_child.and_then(|first| usize::try_from(first).ok());
        let children = first.and_then(|first| prints.get(first..)).unwrap_or_default();
        let of_children = children.iter().take(record.n_children as usize);
        let of_storage = record.storage.and_then(|storage| prints.get(usize::try_from(storage).ok()?));
        let all = of_children.chain(of_storage).fold(0, |all, &print| mix([all, print]));
        if let Some(print) = prints.get_mut(column.index as usize).filter(|_| all != 0) {
            *print = mix([*print, all]);
        }
    }
    Ok(prints)
}

/// Parts of newer generations that the verified generation may share.
#[derive(Default)]
pub(super) struct Known {
    /// The ranges by their first byte: the end, the checksum of the use, and the newest generation
    /// with the range.
    ranges: HashMap<u64, (u64, u64, u64)>,
    /// Bytes of all ranges.
    len: u64,
    /// The end of the longest generation.
    end: u64,
    /// Whether a block is sound, keyed by the offset of its directory.
    blocks: HashMap<u64, bool>,
    /// Whether values of other checks are sound, keyed by their checksum.
    others: HashMap<u64, bool>,
}

impl Known {
    /// Adds the ranges of a generation that ends at `end`.
    ///
    /// # Errors
    /// *Corrupt* when a newer generation uses one of the ranges differently.
    pub(super) fn add(&mut self, spans: &[Span], generation: u64, end: u64) -> Result<()> {
        for span in spans {
            match self.ranges.get(&span.from) {
                Some(&(to, of, _)) if (to, of) == (span.to, span.of) => {}
                Some(_) => {
                    let message = "two generations name a part of the file in different ways";
                    return Err(Error::corrupt(message).at(span.from));
                }
                None => {
                    self.len = self.len.saturating_add(span.to - span.from);
                    fallible::insert(&mut self.ranges, span.from, (span.to, span.of, generation), PARTS)?;
                }
            }
        }
        // Overlapping parts could be checked any number of times.
        self.end = self.end.max(end);
        if self.len > self.end { Err(Error::corrupt("parts of two generations overlap")) } else { Ok(()) }
    }

    /// The generation and the offset of a range that shares bytes with another range; `None` if no
    /// ranges do.
    pub(super) fn overlap(&self) -> Result<Option<(u64, u64)>> {
        let spans = self.ranges.iter().map(|(&from, &(to, _, generation))| (from, to, generation));
        let mut spans = fallible::collect(spans, PARTS)?;
        spans.sort_unstable();
        let shares = |pair: &&[(u64, u64, u64)]| pair[0].1 > pair[1].0;
        Ok(spans.windows(2).find(shares).map(|pair| (pair[0].2.min(pair[1].2), pair[1].0)))
    }

    /// Whether the block with this directory is sound; `None` if it was not checked.
    pub(super) fn block(&self, directory_at: u64) -> Option<bool> {
        self.blocks.get(&directory_at).copied()
    }

    /// Remembers whether a block is sound.
    pub(super) fn set_block(&mut self, directory_at: u64, is_sound: bool) -> Result<()> {
        fallible::insert(&mut self.blocks, directory_at, is_sound, PARTS)
    }

    /// Whether values with this checksum are sound; `None` if they were not checked.
    pub(super) fn other(&self, print: u64) -> Option<bool> {
        self.others.get(&print).copied()
    }

    /// Remembers whether values with this checksum are sound.
    pub(super) fn set_other(&mut self, print: u64, is_sound: bool) -> Result<()> {
        fallible::insert(&mut self.others, print, is_sound, PARTS)
    }

    /// A checksum of several others.
    pub(super) fn joined(prints: impl Iterator<Item = u64>) -> u64 {
        prints.fold(0, |all, print| mix([all, print]))
    }
}
