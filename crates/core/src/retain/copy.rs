//! Copies generations of a file to a new file with slot pages. Blocks that several of them share
//! are copied once.

use std::collections::HashMap;

use entasis_format::{Error, KEY_PAGES_END, Result, SLOT_PAGES_END, Slot, fallible};
use entasis_io::Sink;

use crate::file::{ColumnInfo, File, next_start};
use crate::monitor::{Monitor, Share};
use crate::rebuild::{BlockPlan, Moves, Rebuild, has_blocks, known_columns, merged};
use crate::write::{Base, Ground};

/// The use of the memory, in messages.
const BLOCKS: &str = "the blocks of the generations";

/// How the blocks of the current generation are copied.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blocks {
    /// Each as it is.
    Same,
    /// Short neighbours as one block. Then none is shared with an earlier generation.
    Merged,
}

/// Where the copy goes: a new file, and a function that opens it at a slot.
pub(crate) struct Destination<'a> {
    pub sink: &'a dyn Sink,
    pub is_sealed: bool,
    pub open: &'a dyn Fn(Slot) -> Result<File>,
}

/// Copies the `earlier` generations, oldest first, and the current one. They keep their numbers,
/// times and operations. Returns the slot of the current one. Reports progress in bytes of the
/// file, each generation as those between its end and that of the one before.
///
/// # Errors
/// As for [`compact`](crate::compact()).
pub(crate) fn copy(
    file: &File,
    earlier: &[Slot],
    blocks: Blocks,
    to: &Destination<'_>,
    threads: Option<usize>,
    monitor: &dyn Monitor,
) -> Result<Slot> {
    let mut states = fallible::with_capacity(earlier.len() + 1, BLOCKS)?;
    for slot in earlier {
        states.push((file.view_at(*slot)?, Blocks::Same));
    }
    states.push((file.view_at(*file.slot())?, blocks));
    let (mut moves, mut last): (Moves, Option<Slot>) = (HashMap::new(), None);
    let mut share = Share { monitor, before: 0, len: 0, total: file.slot().end };
    for (state, blocks) in &states {
        share.len = state.slot().end.saturating_sub(share.before);
        let whole = state.whole();
        let columns = known_columns(&whole)?;
        let mut rebuild = match blocks {
            Blocks::Merged => merged(&whole, &columns, threads)?,
            Blocks::Same => same(&whole, &columns, threads)?,
        };
        rebuild.moves = Some(&moves);
        let root = whole.root();
        let ground = Ground {
            file: Some(&whole),
            base: Some(Base::before(root, last)),
            is_in_place: false,
            is_linked: last.is_some(),
            operation: root.operation,
            compression: None,
            keep: None,
            time: root.time,
            not_synced: false,
        };
        let start = match last {
            None if to.is_sealed => KEY_PAGES_END,
            None => SLOT_PAGES_END,
            Some(slot) => next_start(to.is_sealed, slot.end),
        };
        let slot = rebuild.execute(to.sink, start, &ground, &share)?.append()?;
        share.before += share.len;
        if states.len() > 1 {
            add_moves(&whole, &columns, &(to.open)(slot)?.whole(), &mut moves)?;
        }
        last = Some(slot);
    }
    last.ok_or_else(|| Error::corrupt("the file has no generation"))
}

/// All blocks as they are.
fn same<'a>(file: &'a File, columns: &'a [ColumnInfo], threads: Option<usize>) -> Result<Rebuild<'a>> {
    let mut plans = fallible::with_capacity(columns.len(), BLOCKS)?;
    for column in columns {
        let n = if has_blocks(column) { file.blocks(column.index)?.len() } else { 0 };
        plans.push(fallible::collect((0..n).map(BlockPlan::Copied), BLOCKS)?);
    }
    let changed = HashMap::new();
    Ok(Rebuild { changed, ..Rebuild::new(file, columns, plans, threads) })
}

/// Records where the blocks of a generation are in its copy, which has the same blocks.
fn add_moves(from: &File, columns: &[ColumnInfo], to: &File, moves: &mut Moves) -> Result<()> {
    for column in columns.iter().filter(|column| has_blocks(column)) {
        let (old, new) = (from.blocks(column.index)?, to.blocks(column.index)?);
        if old.len() != new.len() {
            continue;
        }
        for (old, new) in old.iter().zip(new.iter()) {
            let place = |block: &entasis_format::BlockRecord| (block.pages_at, block.directory_at);
            fallible::insert(moves, place(old), place(new), BLOCKS)?;
        }
    }
    Ok(())
}
