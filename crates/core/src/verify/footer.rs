//! Checks rules between records of the footer that a reader need not check.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use entasis_format::{
    BUNDLE_ROWS, BlockRange, Error, NameSlot, Physical, Result, SectionKind, Value, Version, fallible,
    name_hash,
};

use super::PARTS;
use super::damage::Found;
use crate::file::{ColumnInfo, File};

/// Slots of the name index that are read together.
const SLOTS: u64 = 1 << 16;
/// Ranges that are read together.
const RANGES: u64 = 1 << 16;

impl File {
    /// Checks the numbers of all columns together: ids, counts of missing values, bundles, blocks.
    ///
    /// # Errors
    /// *Corrupt*, *io*, *limit*.
    pub(super) fn verify_columns(&self, columns: &[ColumnInfo]) -> Result<()> {
        let mut ids = fallible::collect(columns.iter().map(|column| column.record.id), PARTS)?;
        ids.sort_unstable();
        if ids.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(Error::corrupt("two columns have the same id").in_section("columns"));
        }
        for column in columns {
            let record = &column.record;
            let is_null = record.column_type.physical == Physical::Null && column.unknown.is_none();
            if is_null && record.n_missing != record.n_values {
                let message = "a column of type null has values, by its number of missing ones";
                return Err(Error::corrupt(message).in_column(&column.name));
            }
        }
        verify_bundles(columns)?;
        self.verify_ranges(columns)
    }

    fn all_ranges(&self) -> Result<Vec<BlockRange>> {
        let n = self.n_records(SectionKind::Ranges);
        let mut ranges = Vec::new();
        for from in (0..n).step_by(RANGES as usize) {
            let bytes = self.records(SectionKind::Ranges, from..n.min(from + RANGES))?;
            let some = BlockRange::parse_all(&bytes).map_err(|e| e.in_section("ranges"))?;
            fallible::extend(&mut ranges, some.into_iter(), PARTS)?;
        }
        Ok(ranges)
    }

    /// Checks that each range of a column lies in its tier, that ranges do not overlap, and that
    /// the numbers of statistics and blocks are equal. In the first generation of a file the ranges
    /// cover all blocks, and each belongs to a column.
    fn verify_ranges(&self, columns: &[ColumnInfo]) -> Result<()> {
        let damage = |message: &'static str| Err(Error::corrupt(message).in_section("ranges"));
        let ranges = self.all_ranges()?;
        let is_old = self.root().version() == Version::OLDEST;
        if is_old && !ranges.is_sorted_by(|a, b| (a.column, a.tier) < (b.column, b.tier)) {
            return damage("the ranges are out of order");
        }
        let mut spans: Vec<(u16, u64, u64)> = Vec::new();
        for column in columns {
            let record = &column.record;
            let own = own_ranges(&ranges, column, is_old);
            let is_null = record.column_type.physical == Physical::Null && column.unknown.is_none();
            if (record.is_bundled || is_null) && !own.is_empty() {
                return damage("a column without blocks of its own has a range");
            }
            let own = own.iter().map(|range| (range.tier, range.first_block, range.end_block()));
            fallible::extend(&mut spans, own, PARTS)?;
        }
        if spans.len() < ranges.len() && (is_old || self.root().previous.is_none()) {
            return damage("a range is that of no column");
        }
        spans.sort_unstable();
        if spans.windows(2).any(|pair| pair[0].0 == pair[1].0 && pair[0].2 > pair[1].1) {
            return damage("two ranges overlap");
        }
        // Statistics may have a tier that blocks lack.
        let mut n_listed = 0;
        for tier in 0..self.root().n_tiers() {
            let n = |kind| self.root().section(kind, tier).map_or(0, |section| section.n_records);
            let n_blocks = n(SectionKind::Blocks);
            if n(SectionKind::Statistics) != n_blocks {
                let message = "there are not as many statistics as blocks";
                return Err(Error::corrupt(message).in_section("statistics"));
            }
            n_listed += n_blocks;
        }
        let n_named: u64 = spans.iter().map(|&(_, from, to)| to - from).sum();
        if self.root().previous.is_none() && n_named != n_listed {
            return damage("the ranges do not cover all blocks");
        }
        Ok(())
    }

    /// Checks that the pieces of a table have all rows, that each bundle begins each piece with a
    /// block, and that no other table has members in these bundles.
    pub(super) fn verify_pieces(&self, table: u64, columns: &[ColumnInfo], found: &Found<'_>) -> Result<()> {
        let table = self.table(table)?;
        let Some(pieces) = table.pieces()? else { return Ok(()) };
        let is_of_table = |column: &ColumnInfo| table.position(column.index).is_some();
        let mut storages: HashSet<u64> = HashSet::new();
        let storage = |column: &ColumnInfo| column.record.storage.filter(|storage| !found.is_bad(*storage));
        for column in columns.iter().filter(|column| is_of_table(column)) {
            let Some(storage) = storage(column) else { continue };
            storages.try_reserve(1).map_err(|_| Error::out_of_memory(size_of::<u64>(), PARTS))?;
            if !storages.insert(storage) || found.is_bad(column.index) {
                continue;
            }
            let n_members = self.column(storage)?.record.n_values / pieces.n_rows();
            let blocks = self.blocks(storage)?;
            for rows in pieces.rows() {
                let first_value = rows.start * n_members;
                if blocks.binary_search_by_key(&first_value, |block| block.first_value).is_err() {
                    let message = "a piece of a table does not begin with a block";
                    return Err(Error::corrupt(message).in_column(&column.name));
                }
            }
        }
        let is_of_other = |column: &&ColumnInfo| {
            storage(column).is_some_and(|storage| storages.contains(&storage)) && !is_of_table(column)
        };
        match columns.iter().find(is_of_other) {
            Some(column) => {
                let message = "a bundle of a table in pieces has a column of another table";
                Err(Error::corrupt(message).in_column(&column.name))
            }
            None => Ok(()),
        }
    }

    /// Checks that each column of the table has one slot with its hash in the name index, and that
    /// a search for its name finds it.
    ///
    /// # Errors
    /// *Corrupt*, *io*, *limit*.
    pub(super) fn verify_names(&self) -> Result<()> {
        let damage = |message: &'static str| Err(Error::corrupt(message).in_section("name index"));
        let columns = self.all_columns(0..self.n_columns())?;
        let (first, n_slots) = self.name_slots();
        let mut n_occupied = 0u64;
        for from in (0..n_slots).step_by(SLOTS as usize) {
            let slots = first.saturating_add(from)..first.saturating_add(n_slots.min(from + SLOTS));
            for bytes in self.records(SectionKind::NameIndex, slots)?.chunks_exact(NameSlot::LEN) {
                let slot = NameSlot::parse(bytes)?;
                let Some(position) = slot.position else { continue };
                let column = usize::try_from(position).ok().and_then(|position| columns.get(position));
                if column.is_none_or(|column| name_hash(&column.name) != slot.hash) {
                    return damage("a slot of the name index is not that of a column");
                }
                n_occupied += 1;
            }
        }
        if n_slots > 0 && n_occupied != self.n_columns() {
            return damage("the name index does not have one slot for each column");
        }
        // Each name is searched once, because a table may have a million columns of one name.
        let mut expected: HashMap<&str, Vec<u64>> = HashMap::new();
        for column in &columns {
            let positions = entry(&mut expected, &*column.name)?;
            fallible::push(positions, column.index, PARTS)?;
        }
        for (name, columns) in expected {
            if self.find_all(name)? != columns {
                return damage("the name of a column is not in the name index, or out of order");
            }
        }
        Ok(())
    }

    /// Checks that no map in a value of this view has a string key twice, that the columns and
    /// tables in it exist, and that its cells have numbers below `n_cells`.
    ///
    /// # Errors
    /// *Corrupt*; *out of memory*.
    pub(super) fn verify_nodes(&self, value: &mut Value, n_cells: u64) -> Result<()> {
        check_keys(value)?;
        let mut problem = None;
        let (n_columns, n_tables) = (self.n_columns_total(), self.n_tables());
        value.visit_mut(&mut |scalar| {
            let (what, is_there) = match scalar {
                Value::Column(column) => ("a column", *column < n_columns),
                Value::Table(table) => ("a table", *table < n_tables),
                Value::Cell(cell) => ("a cell", *cell < n_cells),
                _ => return,
            };
            if !is_there {
                problem = Some(format!("{what} number is out of range"));
            }
        });
        problem.map_or(Ok(()), |problem| Err(Error::corrupt(problem).in_section("nodes")))
    }
}

/// Checks that no map in the value has a string key twice.
fn check_keys(value: &Value) -> Result<()> {
    let mut rest = vec![value];
    while let Some(value) = rest.pop() {
        match value {
            Value::List(values) => fallible::extend(&mut rest, values.iter(), PARTS)?,
            Value::Map(pairs) => {
                if let Some(key) = value.repeated_key()? {
                    let message = format!("a map has the key \"{key}\" twice");
                    return Err(Error::corrupt(message).in_section("nodes"));
                }
                fallible::extend(&mut rest, pairs.iter().map(|(key, _)| key), PARTS)?;
                fallible::extend(&mut rest, pairs.iter().map(|(_, value)| value), PARTS)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// The ranges of a column. In files of 0.2 they are found by the number of the column.
fn own_ranges<'r>(ranges: &'r [BlockRange], column: &ColumnInfo, is_old: bool) -> &'r [BlockRange] {
    let is_own = |range: &&BlockRange| range.column == column.index;
    let first = match column.record.first_range {
        _ if is_old => ranges.partition_point(|range| range.column < column.index),
        Some(first) => usize::try_from(first).unwrap_or(usize::MAX),
        None => ranges.len(),
    };
    let rest = ranges.get(first..).unwrap_or_default();
    rest.get(..rest.iter().take_while(is_own).count()).unwrap_or_default()
}

/// The value of a key, or an empty one.
fn entry<K: Eq + Hash, V: Default>(map: &mut HashMap<K, V>, key: K) -> Result<&mut V> {
    fallible::reserve_map(map, PARTS)?;
    Ok(map.entry(key).or_default())
}

/// Checks that the members of each storage column have its type and cover it without gap or
/// overlap.
///
/// A gap may have the values of a member of an unknown type.
fn verify_bundles(columns: &[ColumnInfo]) -> Result<()> {
    let may_have_gaps = columns.iter().any(|column| column.unknown.is_some());
    let mut members: HashMap<u64, Vec<&ColumnInfo>> = HashMap::new();
    for column in columns {
        if let Some(storage) = column.record.storage {
            fallible::push(entry(&mut members, storage)?, column, PARTS)?;
        }
    }
    for storage in columns.iter().filter(|column| column.record.is_bundle) {
        let mut members = members.remove(&storage.index).unwrap_or_default();
        members.sort_unstable_by_key(|member| (member.record.first_value, member.record.n_values));
        let mut next = 0u64;
        for member in members {
            let damage = |message: &'static str| Err(Error::corrupt(message).in_column(&member.name));
            if member.record.column_type != storage.record.column_type {
                return damage("a bundled column has another type than its storage column");
            }
            if member.record.n_values >= BUNDLE_ROWS {
                return damage("a bundled column has too many values");
            }
            let is_apart = member.record.first_value >= next;
            if member.record.first_value != next && !(may_have_gaps && is_apart) {
                return damage("bundled columns do not follow one another in their storage column");
            }
            next = member.record.first_value.saturating_add(member.record.n_values);
        }
        if next != storage.record.n_values && !(may_have_gaps && next < storage.record.n_values) {
            return Err(Error::corrupt("bundled columns do not cover their storage column"));
        }
    }
    // Only storage columns were removed.
    match members.values().flatten().next() {
        // The storage column may be one of an unknown type.
        Some(member) if !may_have_gaps => {
            Err(Error::corrupt("a bundled column has no storage column").in_column(&member.name))
        }
        _ => Ok(()),
    }
}
