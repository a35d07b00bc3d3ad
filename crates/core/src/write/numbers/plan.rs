//! Numbers the columns of a changed file so that few records change: old columns keep their
//! numbers, and new ones take free numbers or follow the others.

use std::ops::Range;

use entasis_format::{ColumnRecord, Result, fallible};

use super::Numbers;
use crate::file::File;
use crate::write::column_ranges::column_ranges;
use crate::write::table_of_column::TableOfColumn;
use crate::write::tails::number;
use crate::write::{Parts, Plan};

/// The use of memory, in messages.
const NUMBERS: &str = "the numbers of columns";

/// A table with more ranges is read slowly, so its columns are numbered anew.
const MOST_RANGES: usize = 64;

/// Numbers the columns. `None` if they have to be numbered anew.
pub(super) fn plan(plan: &Plan<'_>, file: &File) -> Result<Option<Numbers>> {
    if plan.parts.columns().any(|of| of.column.run.is_some()) {
        return Ok(None);
    }
    let mut planner = Planner::new(plan, file)?;
    if !planner.keep_columns() {
        return Ok(None);
    }
    planner.replace_loose()?;
    planner.replace_columns()?;
    planner.keep_children()?;
    planner.keep_bundles()?;
    planner.add_loose();
    planner.add_columns();
    planner.add_children();
    planner.add_bundles();
    planner.finish()
}

struct Planner<'a, 'p> {
    plan: &'a Plan<'p>,
    file: &'a File,
    tables: TableOfColumn,
    /// The number of each record, as far as known.
    of_records: Vec<Option<u64>>,
    /// The record of each number.
    records: Vec<Option<usize>>,
    /// No number below this one is free.
    first_free: usize,
}

impl<'a, 'p> Planner<'a, 'p> {
    fn new(plan: &'a Plan<'p>, file: &'a File) -> Result<Self> {
        let n_records = plan.parts.n_columns + plan.nested.children.len() + plan.bundles.len();
        let n_old = usize::try_from(file.n_columns_total()).unwrap_or(usize::MAX);
        Ok(Self {
            plan,
            file,
            tables: TableOfColumn::of(file)?,
            of_records: fallible::defaults(n_records, NUMBERS)?,
            records: fallible::defaults(n_old, NUMBERS)?,
            first_free: 0,
        })
    }

    /// Gives kept columns their old numbers. False if two columns have the same one.
    fn keep_columns(&mut self) -> bool {
        let kept = self.plan.parts.columns().map(|of| number(&of.column.array)).enumerate();
        for (record, number) in kept {
            if number.is_some_and(|number| !self.take(record, number)) {
                return false;
            }
        }
        true
    }

    /// Gives new columns of no table the numbers of the old ones.
    fn replace_loose(&mut self) -> Result<()> {
        let Some(cells) = self.file.cell_columns() else { return Ok(()) };
        let numbers = cells.numbers.iter().flatten().copied();
        let Some(first) = numbers.chain((cells.pools.1 > 0).then_some(cells.pools.0)).min() else {
            return Ok(());
        };
        let n_columns = self.plan.parts.n_columns;
        for (record, number) in (n_columns - self.plan.parts.loose.len()..n_columns).zip(first..) {
            if self.of_records[record].is_none() && self.is_loose(number) {
                self.take(record, number);
            }
        }
        Ok(())
    }

    fn is_loose(&self, number: u64) -> bool {
        self.file.cell_columns().is_some_and(|cells| cells.contain(number) || cells.is_pool(number))
    }

    /// Gives a new column the number of the old one that it replaces: of the one that followed the
    /// column before it, if this one has gone.
    fn replace_columns(&mut self) -> Result<()> {
        for (frame, &(first, of)) in self.plan.parts.frames.iter().enumerate() {
            let end = first + of.columns.len() + of.extra.len();
            let Some(table) = self.old_table(frame, first..end) else { continue };
            let mut next = self.tables.first_column(table);
            for record in first..end {
                let is_of_table = record < first + of.columns.len();
                if let (None, Some(number)) = (self.of_records[record], next)
                    && self.is_replaceable(number, is_of_table.then_some(table))?
                {
                    self.take(record, number);
                }
                next = self.of_records[record].and_then(|number| number.checked_add(1));
            }
        }
        Ok(())
    }

    /// The old table of the columns of a frame.
    fn old_table(&self, frame: usize, mut records: Range<usize>) -> Option<u64> {
        let of_kept = records.find_map(|record| self.tables.get(self.of_records[record]?));
        let is_same_number = self.plan.parts.frames.len() as u64 == self.file.n_tables();
        of_kept.or_else(|| is_same_number.then_some(frame as u64))
    }

    /// Whether a new column may take the number of an old column of this table, or of no table.
    fn is_replaceable(&self, number: u64, table: Option<u64>) -> Result<bool> {
        if !self.is_untaken(number) || self.tables.get(number) != table || self.is_loose(number) {
            return Ok(false);
        }
        let old = self.file.all_columns(number..number.saturating_add(1))?.pop();
        let is_plain = |record: &ColumnRecord| record.parent.is_none() && !record.is_bundle;
        Ok(old.is_some_and(|old| old.unknown.is_none() && is_plain(&old.record)))
    }

    /// Gives children the numbers of the old children of their parent, if there are as many.
    fn keep_children(&mut self) -> Result<()> {
        for (parent, children) in self.groups() {
            let Some(number) = self.of_records[parent].filter(|&number| self.is_old(number)) else {
                continue;
            };
            let old = &self.file.column(number)?.record;
            let Some(first) = old.first_child.filter(|_| old.n_children as usize == children.len()) else {
                continue;
            };
            let numbers = first..first.saturating_add(old.n_children.into());
            if first > number && numbers.clone().all(|number| self.is_untaken(number)) {
                children.zip(numbers).for_each(|(record, number)| _ = self.take(record, number));
            }
        }
        Ok(())
    }

    /// The records of nested columns and of their children, parents first.
    fn groups(&self) -> Vec<(usize, Range<usize>)> {
        let nested = &self.plan.nested;
        let first = self.plan.parts.n_columns;
        let tops = nested.tops.iter().map(|(top, of)| (*top, &of.children));
        let children =
            (first..).zip(&nested.children).map(|(record, of)| (record, &of.child_columns.children));
        let groups = tops.chain(children).filter(|(_, children)| !children.is_empty());
        groups.map(|(parent, of)| (parent, first + of.start..first + of.end)).collect()
    }

    /// Gives each bundle the number of the old storage column of one of its members.
    fn keep_bundles(&mut self) -> Result<()> {
        let first = self.first_bundle();
        for (record, bundle) in (first..).zip(&self.plan.bundles) {
            for &member in &bundle.members {
                let number = self.of_records[bundle.first + member].filter(|&number| self.is_old(number));
                let Some(number) = number else { continue };
                let storage = self.file.column(number)?.record.storage;
                if storage.is_some_and(|storage| self.take(record, storage)) {
                    break;
                }
            }
        }
        Ok(())
    }

    fn first_bundle(&self) -> usize {
        self.plan.parts.n_columns + self.plan.nested.children.len()
    }

    /// Numbers the columns of no table, if the file has none. They are consecutive.
    fn add_loose(&mut self) {
        let loose = self.plan.parts.n_columns - self.plan.parts.loose.len()..self.plan.parts.n_columns;
        self.add_consecutive(loose);
    }

    /// Numbers the other columns. Neighbours get neighbouring numbers, so that tables have few
    /// ranges.
    fn add_columns(&mut self) {
        for record in 0..self.plan.parts.n_columns {
            if self.of_records[record].is_some() {
                continue;
            }
            let before = record.checked_sub(1).and_then(|before| self.of_records[before]);
            let next = before.map_or(0, |number| number + 1);
            if next < self.records.len() as u64 && self.take(record, next) {
                continue;
            }
            self.add(record);
        }
    }

    /// Numbers the other children. They are consecutive and follow all columns so far.
    fn add_children(&mut self) {
        for (_, children) in self.groups() {
            self.add_consecutive(children);
        }
    }

    /// Gives records without numbers the next new ones.
    fn add_consecutive(&mut self, records: Range<usize>) {
        if records.clone().all(|record| self.of_records[record].is_none()) {
            for record in records {
                self.of_records[record] = Some(self.records.len() as u64);
                self.records.push(Some(record));
            }
        }
    }

    /// Numbers the other bundles.
    fn add_bundles(&mut self) {
        for record in self.first_bundle()..self.of_records.len() {
            if self.of_records[record].is_none() {
                self.add(record);
            }
        }
    }

    /// Gives a record the first free number, or the next new one.
    fn add(&mut self, record: usize) {
        let taken = self.records[self.first_free..].iter().take_while(|record| record.is_some()).count();
        self.first_free += taken;
        if self.first_free == self.records.len() {
            self.records.push(None);
        }
        self.take(record, self.first_free as u64);
    }

    /// Gives a record a number, if no other record has it.
    fn take(&mut self, record: usize, number: u64) -> bool {
        let is_untaken = self.is_untaken(number);
        if is_untaken {
            self.records[number as usize] = Some(record);
            self.of_records[record] = Some(number);
        }
        is_untaken
    }

    fn is_untaken(&self, number: u64) -> bool {
        usize::try_from(number).ok().and_then(|number| self.records.get(number)) == Some(&None)
    }

    fn is_old(&self, number: u64) -> bool {
        number < self.file.n_columns_total()
    }

    fn finish(mut self) -> Result<Option<Numbers>> {
        while self.records.last() == Some(&None) {
            self.records.pop();
        }
        let n_free = self.records.iter().filter(|record| record.is_none()).count();
        // Children are numbered in groups, so a damaged file may leave one without a number.
        let are_known = self.of_records.iter().all(Option::is_some);
        let number = |number: &Option<u64>| number.unwrap_or(u64::MAX);
        let of_records = fallible::collect(self.of_records.iter().map(number), NUMBERS)?;
        let is_sound =
            are_known && n_free <= of_records.len() && is_loose_consecutive(&self.plan.parts, &of_records);
        let numbers = Numbers::Kept { of_records, records: self.records };
        let mut frames = self.plan.parts.frames.iter();
        let has_few = frames.all(|&(first, frame)| {
            let records = first..first + frame.columns.len();
            column_ranges(records.map(|record| numbers.of_record(record))).len() <= MOST_RANGES
        });
        Ok((is_sound && has_few).then_some(numbers))
    }
}

/// Whether the columns of no table follow one another: pools of arrays have to.
fn is_loose_consecutive(parts: &Parts<'_>, of_records: &[u64]) -> bool {
    let loose = &of_records[parts.n_columns - parts.loose.len()..parts.n_columns];
    loose.windows(2).all(|pair| pair[0] + 1 == pair[1])
}
