//! Decides which pieces of a table of few rows stay when rows are added, and decodes the rows of
//! the others (`docs/format/columns.md`).
//!
//! Pieces are merged as tiers are (`docs/decisions/0033-grow-by-tiers.md`): a new piece takes in
//! the last pieces once [`NEIGHBOURS`] of similar length would follow one another. So n appends
//! store each row O(log n) times, and leave O(log n) pieces.

use std::sync::Arc;

use entasis_format::{BUNDLE_ROWS, BlockRecord, Error, Pieces, Result, fallible};

use super::keep::{Keeper, VALUES, first_blocks};
use crate::file::ColumnInfo;
use crate::frame::kept::{Keep, Kept, KeptBundle};
use crate::frame::{Column, Frame};
use crate::monitor::Silent;
use crate::read::read_chunks;
use crate::write::bundled_groups;

/// A new piece takes in the last pieces, if these are at least this many less one and none of them
/// is longer.
const NEIGHBOURS: usize = 4;
/// The most pieces of a table that is written.
const MOST: usize = 24;

/// The members of a bundle of the new table, all of them kept, with the storage column in the file.
struct Kin {
    /// Indices in [`Frame::columns`].
    members: Vec<usize>,
    infos: Vec<Arc<ColumnInfo>>,
    storage: Arc<ColumnInfo>,
    /// The blocks of the storage column.
    blocks: Arc<Vec<BlockRecord>>,
}

impl Keeper<'_> {
    /// Keeps the bundles of a table, if it gets rows at most and its bundles stay the same. Returns
    /// false and changes nothing if the table has to be bundled anew.
    pub(super) fn keep_bundles(&self, frame: &mut Frame) -> Result<bool> {
        if frame.n_rows >= BUNDLE_ROWS {
            return Ok(false);
        }
        let mut bundles = Vec::new();
        let mut of_all: Option<Arc<Pieces>> = None;
        for members in bundled_groups(frame, |column| self.is_apart(column)) {
            let Some((kin, pieces)) = self.kin(frame, members)? else { return Ok(false) };
            if of_all.as_ref().is_some_and(|of_all| *of_all != pieces) {
                return Ok(false);
            }
            of_all = Some(pieces);
            fallible::push(&mut bundles, kin, VALUES)?;
        }
        let Some(pieces) = of_all else { return Ok(true) };
        let Some(n_new) = frame.n_rows.checked_sub(pieces.n_rows()) else { return Ok(false) };
        let lens: Vec<u64> = pieces.rows().map(|rows| rows.end - rows.start).collect();
        let stay = &lens[..n_kept(&lens, n_new)];
        let n_rows: u64 = stay.iter().sum();
        let begins_with_block = |kin: &Kin| {
            let first_value = n_rows * kin.members.len() as u64;
            let is_end = first_value == kin.storage.record.n_values;
            is_end || kin.blocks.binary_search_by_key(&first_value, |block| block.first_value).is_ok()
        };
        let gets = |kin: &Kin| kin.members.iter().all(|&i| frame.columns[i].array.n_values() == n_new);
        if !bundles.iter().all(|kin| begins_with_block(kin) && gets(kin)) {
            return Ok(false);
        }
        for kin in bundles {
            self.keep_bundle(frame, kin, stay, n_rows)?;
        }
        Ok(true)
    }

    /// The storage column of these columns and the pieces of their table, if the columns are all
    /// members in their order.
    fn kin(&self, frame: &Frame, members: Vec<usize>) -> Result<Option<(Kin, Arc<Pieces>)>> {
        let mut infos: Vec<Arc<ColumnInfo>> = fallible::with_capacity(members.len(), VALUES)?;
        for &i in &members {
            let Column { array, run: None, .. } = &frame.columns[i] else { return Ok(None) };
            let Some(Kept::Column(number)) = array.kept else { return Ok(None) };
            let info = self.file.column(number)?;
            if array.spans.is_some() || !info.record.is_bundled {
                return Ok(None);
            }
            infos.push(info);
        }
        let Some(first) = infos.first() else { return Ok(None) };
        let (Some(storage), n_rows) = (first.record.storage, first.record.n_values) else { return Ok(None) };
        let is_member = |(number, info): (u64, &Arc<ColumnInfo>)| {
            let record = &info.record;
            (record.storage, record.n_values) == (Some(storage), n_rows)
                && number.checked_mul(n_rows) == Some(record.first_value)
        };
        let storage = self.file.column(storage)?;
        let n_stored = n_rows.checked_mul(members.len() as u64);
        if !(0..).zip(&infos).all(is_member) || n_stored != Some(storage.record.n_values) {
            return Ok(None);
        }
        for (&i, info) in members.iter().zip(&infos) {
            let column = &frame.columns[i];
            self.check(info, (&column.column_type, &column.children))
                .map_err(|e| e.in_column(&column.name))?;
            // The place of a member is checked here.
            self.file.source(info.index)?;
        }
        let pieces = match self.file.pieces_of(first.index)? {
            Some(pieces) => pieces,
            None if n_rows > 0 => Arc::new(Pieces::new(&[n_rows])?),
            None => return Ok(None),
        };
        let blocks = self.file.blocks(storage.index)?;
        Ok(Some((Kin { members, infos, storage, blocks }, pieces)))
    }

    /// Keeps the pieces `stay` of a bundle, which have `n_rows`. Puts all other rows of its members
    /// before their new values.
    fn keep_bundle(&self, frame: &mut Frame, kin: Kin, stay: &[u64], n_rows: u64) -> Result<()> {
        let Kin { members, infos, storage, blocks } = kin;
        let n_old = infos.first().map_or(0, |info| info.record.n_values);
        let mut replaced =
            if n_rows < n_old { read_chunks(self.file, &infos, n_rows..n_old, &Silent)? } else { Vec::new() };
        let n_lost = |n_missing: u64, replaced: u64| {
            n_missing.checked_sub(replaced).ok_or_else(|| {
                Error::corrupt("a column has another number of missing values than its record")
            })
        };
        let n_values = n_rows * members.len() as u64;
        let n_blocks = blocks.partition_point(|block| block.first_value < n_values);
        let n_replaced = replaced.iter().map(|(_, n_missing)| n_missing).sum();
        let bundle = Arc::new(KeptBundle {
            keep: Keep {
                number: storage.index,
                ranges: first_blocks(self.file.block_ranges(&storage)?, n_blocks as u64),
                n_values,
                n_missing: n_lost(storage.record.n_missing, n_replaced)?,
                ..Keep::default()
            },
            pieces: stay.to_vec(),
        });
        let mut replaced = replaced.drain(..);
        for (i, info) in members.into_iter().zip(infos) {
            let (chunk, n_replaced) = replaced.next().map_or((None, 0), |(chunk, n)| (Some(chunk), n));
            let keep = Keep {
                number: info.index,
                n_values: n_rows,
                n_missing: n_lost(info.record.n_missing, n_replaced).map_err(|e| e.in_column(&info.name))?,
                bundle: Some(Arc::clone(&bundle)),
                ..Keep::default()
            };
            let array = &mut frame.columns[i].array;
            array.chunks.splice(0..0, chunk);
            array.kept = Some(Kept::Found(Box::new(keep)));
        }
        Ok(())
    }
}

/// The number of pieces that stay when `n_new` rows follow.
fn n_kept(lens: &[u64], n_new: u64) -> usize {
    let (mut stay, mut n) = (lens.len(), n_new);
    while n > 0 {
        let n_short = lens[..stay].iter().rev().take_while(|&&len| len <= n).count();
        let n_taken = if n_short + 1 >= NEIGHBOURS { n_short } else { (stay + 1).saturating_sub(MOST) };
        if n_taken == 0 {
            break;
        }
        n = lens[stay - n_taken..stay].iter().fold(n, |n, len| n.saturating_add(*len));
        stay -= n_taken;
    }
    stay
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds batches of rows. Returns the pieces, the most pieces at any time, and how often each
    /// row was written on average.
    fn grow(first: u64, batches: impl Iterator<Item = u64>) -> (Vec<u64>, usize, f64) {
        let (mut lens, mut most, mut n_written, mut n_new) = (vec![first], 1, 0, 0);
        for batch in batches {
            let stay = n_kept(&lens, batch);
            let n = batch + lens[stay..].iter().sum::<u64>();
            lens.truncate(stay);
            lens.push(n);
            (n_written, n_new, most) = (n_written + n, n_new + batch, most.max(lens.len()));
        }
        (lens, most, n_written as f64 / n_new as f64)
    }

    #[test]
    fn rows_are_written_few_times() {
        let one = std::iter::repeat(1);
        for (n, times) in [(200, 4.0), (1000, 5.0), (7000, 6.0)] {
            let (_, most, written) = grow(1000, one.clone().take(n));
            assert!(most <= MOST && written <= times, "{n}: {most} pieces, {written} times");
        }
        let (lens, most, _) = grow(300, std::iter::repeat_n(100, 70));
        assert!(most <= 10, "{most}: {lens:?}");
        // Each batch is shorter than the one before it.
        let (lens, most, written) = grow(300, (1..120).rev());
        assert!(most <= MOST && written < 20.0, "{most}, {written}: {lens:?}");
    }

    #[test]
    fn pieces_stay_without_new_rows() {
        assert_eq!(n_kept(&[5, 1, 1, 1, 1, 1], 0), 6);
        assert_eq!(n_kept(&[1; 40], 0), 40);
        let lens: Vec<u64> = (100..124).rev().collect();
        assert_eq!(n_kept(&lens, 1), 23);
        assert_eq!(n_kept(&[9; 40], 1), 0);
        assert_eq!(n_kept(&[100, 1, 1], 1), 3);
        assert_eq!(n_kept(&[100, 1, 1, 1], 1), 1);
        assert_eq!(n_kept(&[3, 1, 1, 1], 100), 0);
    }
}
