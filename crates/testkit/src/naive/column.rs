//! Columns: their blocks, their values, and the values of bundled columns.

use super::bytes::{Kind, Room, Wrong, rule, wrong};
use super::header::Version;
use super::records::{BlockRange, BlockRecord, ColumnRecord, Statistics};
use super::types::{self, CATEGORICAL, physical};
use super::value::Tree;
use super::{Cell, segment};

/// The most values of a column that a test decodes.
const LIMIT: u64 = 1 << 24;

/// A column with its values.
#[derive(Clone, Debug)]
pub struct Column {
    /// The name.
    pub name: String,
    /// The record.
    pub record: ColumnRecord,
    /// The value of the detail node.
    pub detail: Option<Tree>,
    /// The value of the host's detail node.
    pub host_detail: Option<Tree>,
    /// The user's metadata.
    pub metadata: Option<Tree>,
    /// The ranges of its blocks.
    pub ranges: Vec<BlockRange>,
    /// Its blocks.
    pub blocks: Vec<BlockRecord>,
    /// The statistics of the blocks; empty in a file without that section.
    pub statistics: Vec<Statistics>,
    /// The values, or a nested column's structure values; `None` where missing.
    pub cells: Vec<Option<Cell>>,
    /// Whether it is the child of another.
    pub is_child: bool,
}

/// The sections that describe blocks.
#[derive(Clone, Debug, Default)]
pub struct Sections {
    /// The ranges.
    pub ranges: Vec<BlockRange>,
    /// The block records and the statistics of each tier.
    pub tiers: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Sections {
    /// Parses the section *ranges*. A tier that the root does not list has two empty sections.
    ///
    /// # Errors
    /// *Corrupt*.
    pub fn new(ranges: &[u8], tiers: Vec<(Vec<u8>, Vec<u8>)>) -> Result<Self, Wrong> {
        let ranges: Vec<BlockRange> =
            ranges.chunks_exact(24).map(BlockRange::parse).collect::<Result<_, Wrong>>()?;
        Ok(Self { ranges, tiers })
    }

    /// The ranges of a column.
    fn of(&self, column: u64, first: Option<u64>, version: Version) -> Result<&[BlockRange], Wrong> {
        if version == (0, 2) {
            rule(self.ranges.is_sorted_by_key(|range| range.column), "ranges ascend by column")?;
            let from = self.ranges.partition_point(|range| range.column < column);
            let to = self.ranges.partition_point(|range| range.column <= column);
            return Ok(&self.ranges[from..to]);
        }
        let Some(first) = first else { return Ok(&[]) };
        let is_there = first < self.ranges.len() as u64;
        rule(is_there, "the first range of a column")?;
        let rest = &self.ranges[first as usize..];
        let n = rest.iter().take_while(|range| range.column == column).count();
        rule(n > 0, "the first range of a column has its number")?;
        Ok(&rest[..n])
    }
}

impl Column {
    /// Finds the blocks of the column with this number.
    ///
    /// # Errors
    /// *Corrupt*, *unsupported*.
    pub fn find_blocks(&mut self, number: u64, of: &Sections, version: Version) -> Result<(), Wrong> {
        for range in of.of(number, self.record.first_range, version)? {
            self.ranges.push(*range);
            let Some((blocks, statistics)) = of.tiers.get(usize::from(range.tier)) else {
                return wrong(Kind::Corrupt, "the tier of a range");
            };
            let end = range.first.checked_add(u64::from(range.n_blocks));
            let is_inside = end.is_some_and(|end| end <= blocks.len() as u64 / 64);
            rule(is_inside, "the blocks of a range are there")?;
            for i in (range.first as usize..).take(range.n_blocks as usize) {
                self.blocks.push(BlockRecord::parse(&blocks[64 * i..64 * i + 64])?);
                if let Some(bytes) = statistics.get(48 * i..48 * i + 48) {
                    self.statistics.push(Statistics::parse(bytes, version)?);
                }
            }
        }
        let mut next = 0u64;
        for block in &self.blocks {
            rule(block.first_value == next, "the blocks of a column follow one another")?;
            next += u64::from(block.n_values);
            let has_first =
                [physical::LIST, physical::MAP, physical::RUN_END].contains(&self.record.of.physical);
            // Version 0.1.0 wrote the child offsets here too, when there was one type.
            let may_have = types::has_child_offsets(&self.record.of) && self.record.n_children == 2;
            rule(has_first || may_have || block.first_child == 0, "first child of a block")?;
        }
        let stored = if self.record.of.physical == physical::NULL || self.record.is_bundled {
            0
        } else {
            self.record.n_values
        };
        rule(next == stored, "the blocks of a column hold its values")
    }

    /// Decodes the values of a column that is not bundled.
    ///
    /// # Errors
    /// *Corrupt*, *limit*.
    pub fn decode(&mut self, room: Room<'_>) -> Result<(), Wrong> {
        if self.record.n_values > LIMIT {
            return wrong(Kind::Limit, "more values than a test may decode");
        }
        if self.record.of.physical == physical::NULL {
            self.cells = vec![None; self.record.n_values as usize];
        }
        for block in &self.blocks {
            self.cells.extend(segment::block(room, block, &types::structure(&self.record.of))?);
        }
        Ok(())
    }

    /// The values of a bundled column, from its storage column. `pieces` has the numbers of rows of
    /// the pieces of its table.
    ///
    /// # Errors
    /// *Corrupt*.
    pub fn cells_of(&self, storage: &Column, pieces: Option<&[u64]>) -> Result<Vec<Option<Cell>>, Wrong> {
        rule(storage.record.is_bundle, "a storage column is a bundle")?;
        rule(storage.record.of == self.record.of, "bundled columns have the type of their bundle")?;
        rule(self.record.n_values < 8192, "bundles are for tables of fewer than 8,192 rows")?;
        let end = self.record.first_value.checked_add(self.record.n_values);
        let inside = end.is_some_and(|end| end <= storage.record.n_values);
        rule(inside, "a bundled column lies inside its bundle")?;
        let (from, n_rows) = (self.record.first_value as usize, self.record.n_values as usize);
        let Some(pieces) = pieces else { return Ok(storage.cells[from..from + n_rows].to_vec()) };
        let n_stored = storage.record.n_values as usize;
        rule(pieces.iter().sum::<u64>() == n_rows as u64, "the pieces of a bundled column have its rows")?;
        rule(
            from.is_multiple_of(n_rows) && n_stored.is_multiple_of(n_rows),
            "all members of a bundle have the rows of its pieces",
        )?;
        let (k, i) = (n_stored / n_rows, from / n_rows);
        let (mut cells, mut begin) = (Vec::new(), 0);
        for n in pieces.iter().map(|&n| n as usize) {
            cells.extend((begin..begin + n).map(|r| storage.cells[begin * k + i * n + (r - begin)].clone()));
            begin += n;
        }
        Ok(cells)
    }

    /// Codes are below the number of categories; the number of missing values is the record's.
    ///
    /// # Errors
    /// *Corrupt*.
    pub fn check_values(&self, n_categories: u64) -> Result<(), Wrong> {
        let n_missing = self.cells.iter().filter(|cell| cell.is_none()).count() as u64;
        rule(n_missing == self.record.n_missing, "n_missing of a column")?;
        if self.record.of.logical != CATEGORICAL {
            return Ok(());
        }
        let is_signed = self.record.of.physical <= physical::I64;
        for code in self.cells.iter().flatten() {
            let negative = is_signed && code.last().is_some_and(|&byte| byte >= 128);
            let mut wide = [0; 8];
            wide[..code.len()].copy_from_slice(code);
            let inside = !negative && u64::from_le_bytes(wide) < n_categories;
            rule(inside, "a code is a category")?;
        }
        Ok(())
    }
}
