//! Reads the records of columns, also the records of column runs (`docs/format/columns.md`).

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use entasis_format::{
    BlockRange, BlockRecord, ColumnRecord, ColumnType, Error, Kind, Physical, Result, RunNames, SectionKind,
    Unknown, Value, Version, fallible,
};

use super::details;
use super::names::{NameRange, NamesAt};
use super::{BLOCKS, File, lock};

/// For at least this many wanted columns, one read covers all their records, with unwanted ones
/// between them.
const PREFETCH: u64 = 16;

/// Records that are read together.
const BATCH: u64 = 1 << 14;

/// The use of the memory, in messages.
const COLUMNS: &str = "the column records";

/// A column of an open file.
#[derive(Clone, Debug)]
pub struct ColumnInfo {
    /// The number of the column in this view.
    pub index: u64,
    /// The name.
    pub name: String,
    /// The record.
    pub record: ColumnRecord,
    /// The parameters of the type, for example the time zone.
    pub detail: Option<Value>,
    /// The host's own description, for example the width of NumPy's strings.
    pub host_detail: Option<Value>,
    /// The unknown type code or flag, if any. The record then has the physical type null. Only
    /// [`File::all_columns`] returns such columns.
    pub unknown: Option<Unknown>,
}

impl ColumnInfo {
    /// Refuses a column whose type this release does not know.
    pub(crate) fn require_known(&self) -> Result<()> {
        self.unknown.map_or(Ok(()), |unknown| Err(unknown.error().in_column(&self.name)))
    }
}

/// Consecutive columns of one record: the wanted columns of a column run, or a single column.
pub(crate) struct ColumnRun {
    /// The record of the run's first column. If the type is unknown, only its name and the numbers
    /// of values and of missing values are known.
    pub record: ColumnRecord,
    /// The type code or flag that this release does not know.
    pub unknown: Option<Unknown>,
    /// The numbers of the wanted columns in the view.
    pub columns: Range<u64>,
    /// How many columns of the run come before the first wanted one.
    pub skip: u64,
    /// How many columns the run has.
    pub n: u64,
}

impl ColumnRun {
    /// The record of one column, by its number in the view.
    pub fn member(&self, column: u64) -> Result<ColumnRecord> {
        if let Some(unknown) = self.unknown {
            return Err(unknown.error());
        }
        self.record.member(self.skip + (column - self.columns.start))
    }

    /// Where the names of the whole run are.
    pub fn names(&self) -> NameRange {
        NameRange { at: self.record.name_at, len: self.record.name_len, n: self.n }
    }
}

impl File {
    /// A column by its number. The table's columns come first. O(1).
    ///
    /// # Errors
    /// *Unsupported* for a type that this release does not know; *corrupt*, *io*.
    pub fn column(&self, index: u64) -> Result<Arc<ColumnInfo>> {
        if let Some(column) = lock(&self.columns).get(&index) {
            return Ok(Arc::clone(column));
        }
        let column = Arc::new(self.read_column(index).map_err(|e| e.in_file(self.path()))?);
        fallible::insert(&mut lock(&self.columns), index, Arc::clone(&column), COLUMNS)?;
        Ok(column)
    }

    fn read_column(&self, index: u64) -> Result<ColumnInfo> {
        let mut found = None;
        self.visit_runs(index..index.saturating_add(1), |run| {
            self.prefetch_for(&run);
            let name = self.one_name(run.names(), run.skip)?;
            let record = run.member(index).map_err(|e| e.in_section("columns").in_column(&name))?;
            let info = self.column_of(index, record, name)?;
            if is_null(&info) && !self.block_ranges(&info)?.is_empty() {
                return Err(null_with_blocks(&info));
            }
            found = Some(info);
            Ok(())
        })?;
        found.ok_or_else(|| Error::corrupt("a column number is out of range").in_section("columns"))
    }

    /// If the name of a single column has to be read, reads in the same round what a read of its
    /// values needs next: other column records, and its ranges or else its block records.
    fn prefetch_for(&self, run: &ColumnRun) {
        let record = &run.record;
        let name =
            (SectionKind::Names, 0, record.name_at..record.name_at.saturating_add(record.name_len.into()));
        if run.n > 1 || self.opened.has(&name) {
            return;
        }
        let index = run.columns.start;
        let mut wanted = vec![name];
        for column in [record.storage, record.dictionary].into_iter().flatten() {
            let number = self.opened.runs.record_of(self.numbering.in_file(column));
            wanted.push((SectionKind::Columns, 0, number..number.saturating_add(1)));
        }
        let ranges = (SectionKind::Ranges, 0, self.near_ranges(index, record));
        if !self.opened.has(&ranges) {
            wanted.push(ranges);
        } else if let Ok(ranges) = self.ranges_of_record(index, record) {
            let blocks =
                |range: &BlockRange| (SectionKind::Blocks, range.tier, range.first_block..range.end_block());
            wanted.extend(ranges.iter().map(blocks));
        }
        self.opened.prefetch(&wanted);
    }

    /// Consecutive columns, read together.
    ///
    /// # Errors
    /// As [`column`](Self::column).
    pub fn columns(&self, range: Range<u64>) -> Result<Vec<ColumnInfo>> {
        let columns = self.all_columns(range)?;
        match columns.iter().find_map(|column| column.require_known().err()) {
            None => Ok(columns),
            Some(error) => Err(error.in_section("columns").in_file(self.path())),
        }
    }

    /// Consecutive columns. Columns of a type that this release does not know are included: they
    /// can be listed, but not read.
    ///
    /// # Errors
    /// *Corrupt*, *io*, *limit*.
    pub fn all_columns(&self, range: Range<u64>) -> Result<Vec<ColumnInfo>> {
        let mut columns = Vec::new();
        // Reads in batches, so that any number of columns stays below the limits on metadata.
        for start in range.clone().step_by(BATCH as usize) {
            let batch = start..range.end.min(start + BATCH);
            self.add_columns(batch, &mut columns).map_err(|e| e.in_file(self.path()))?;
        }
        Ok(columns)
    }

    fn add_columns(&self, range: Range<u64>, columns: &mut Vec<ColumnInfo>) -> Result<()> {
        let first = columns.len();
        let mut runs = Vec::new();
        self.visit_runs(range.clone(), |run| fallible::push(&mut runs, run, COLUMNS))?;
        let ranges = fallible::collect(runs.iter().map(ColumnRun::names), COLUMNS)?;
        let names = NamesAt::new(self, &ranges)?;
        for (run, range) in runs.iter().zip(&ranges) {
            let bytes = names.get(range)?;
            let mut add = |column: u64, name: &str| {
                let record = match run.unknown {
                    Some(_) => {
                        let k = run.skip + (column - run.columns.start);
                        ColumnRecord { id: run.record.id.saturating_add(k), ..run.record }
                    }
                    None => run.member(column).map_err(|e| e.in_section("columns").in_column(name))?,
                };
                let info = self.column_of(column, record, fallible::owned(name, COLUMNS)?)?;
                fallible::push(columns, ColumnInfo { unknown: run.unknown, ..info }, COLUMNS)
            };
            if run.n == 1 {
                add(run.columns.start, self.single_name(&bytes)?)?;
                continue;
            }
            let names = RunNames::parse(&bytes, run.n)?;
            for (k, column) in (run.skip as usize..).zip(run.columns.clone()) {
                add(column, names.name(k))?;
            }
        }
        self.check_nulls(range, &columns[first..])
    }

    /// Checks that the columns of type null in `range` have no blocks.
    fn check_nulls(&self, range: Range<u64>, columns: &[ColumnInfo]) -> Result<()> {
        let mut nulls = columns.iter().filter(|info| is_null(info));
        if !self.has_sorted_ranges() {
            return match nulls.find(|info| info.record.first_range.is_some()) {
                None => Ok(()),
                Some(info) => Err(null_with_blocks(info)),
            };
        }
        if nulls.next().is_none() {
            return Ok(());
        }
        // A table of version 0.2 has consecutive columns.
        let wanted = self.numbering.in_file(range.start)..self.numbering.in_file(range.end);
        for found in self.ranges_of(wanted)? {
            let at = columns.binary_search_by_key(&found.column, |info| self.numbering.in_file(info.index));
            if let Some(info) = at.ok().and_then(|at| columns.get(at)).filter(|info| is_null(info)) {
                return Err(null_with_blocks(info));
            }
        }
        Ok(())
    }

    fn column_of(&self, index: u64, record: ColumnRecord, name: String) -> Result<ColumnInfo> {
        self.check_name(&name).map_err(|e| e.in_column(&format!("#{index}")))?;
        if index < self.n_columns() && record.n_values != self.n_rows() {
            let message =
                format!("a column has {} values, its table {} rows", record.n_values, self.n_rows());
            return Err(Error::corrupt(message).in_column(&name));
        }
        let value = |node: Option<u64>| {
            node.map(|node| self.table_value(node)).transpose().map_err(|e| e.in_column(&name))
        };
        let (mut detail, mut host_detail) = (value(record.detail)?, value(record.host_detail)?);
        if self.root().version() == Version::OLDEST {
            (detail, host_detail) = detail.map_or((None, None), |d| details::split(&record.column_type, d));
        }
        Ok(ColumnInfo { index, name, record, detail, host_detail, unknown: None })
    }

    /// Parses a record and converts its column numbers to this view. Also returns the type code or
    /// flag that this release does not know, if any.
    fn parse_record(&self, index: u64, bytes: &[u8]) -> Result<(ColumnRecord, Option<Unknown>)> {
        let here = |e: Error| e.in_section("columns").in_column(&format!("#{index}"));
        let mut record = match ColumnRecord::parse(bytes) {
            Err(error) if error.kind() == Kind::Unsupported => {
                let unknown = ColumnRecord::parse_unknown(bytes).map_err(here)?;
                let (record, unknown) = unknown.ok_or(error).map_err(here)?;
                return Ok((record, Some(unknown)));
            }
            record => record.map_err(here)?,
        };
        record.column_type = self.upgraded(record.column_type);
        if !self.numbering.is_of_file() {
            let ColumnRecord { storage, dictionary, first_child, parent, .. } = &mut record;
            for named in [storage, dictionary, first_child, parent] {
                *named = named.map(|column| self.numbering.in_view(column)).transpose().map_err(here)?;
            }
        }
        Ok((record, None))
    }

    /// The type of a column, from its record.
    pub(crate) fn upgraded(&self, column_type: ColumnType) -> ColumnType {
        if self.is_before_0_3() { column_type.upgraded_from_0_2() } else { column_type }
    }

    /// Visits columns by their records, in order. Costs time per record, not per column.
    pub(crate) fn visit_runs(
        &self,
        range: Range<u64>,
        mut visit: impl FnMut(ColumnRun) -> Result<()>,
    ) -> Result<()> {
        let numbering = &self.numbering;
        numbering.visit(range, &mut |group, first| self.visit_group(group, first, &mut visit))
    }

    /// Visits consecutive columns whose first one has the number `first` in the file.
    fn visit_group(
        &self,
        group: Range<u64>,
        first: u64,
        visit: &mut dyn FnMut(ColumnRun) -> Result<()>,
    ) -> Result<()> {
        let wanted = first..first.saturating_add(group.end - group.start);
        let in_view = |column: u64| column - wanted.start + group.start;
        let runs = &self.opened.runs;
        if wanted.end > self.opened.n_columns() {
            let message = format!("the file has fewer than {} columns", wanted.end);
            return Err(Error::corrupt(message).in_section("columns"));
        }
        let (first, last) = (runs.record_of(wanted.start), runs.record_of(wanted.end - 1));
        for start in (first..=last).step_by(BATCH as usize) {
            let batch = start..(last + 1).min(start + BATCH);
            let records = self.records(SectionKind::Columns, batch.clone())?;
            for (number, bytes) in batch.zip(records.chunks_exact(ColumnRecord::LEN)) {
                let of = runs.columns_of(number);
                let from = of.start.max(wanted.start);
                let columns = in_view(from)..in_view(of.end.min(wanted.end));
                let (record, unknown) = self.parse_record(columns.start, bytes)?;
                let n = of.end - of.start;
                // Check a run before memory is allocated for each of its columns.
                if unknown.is_none() {
                    record.member(n - 1).map_err(|e| e.in_section("columns"))?;
                }
                if n > 1 && u64::from(record.name_len) / 4 < n {
                    return Err(Error::corrupt("a run has more columns than names").in_section("columns"));
                }
                visit(ColumnRun { record, unknown, columns, skip: from - of.start, n })?;
            }
        }
        Ok(())
    }

    /// Visits the table's columns by their records.
    pub(crate) fn visit_table(&self, mut visit: impl FnMut(ColumnRun) -> Result<()>) -> Result<()> {
        let n_rows = self.n_rows();
        self.visit_runs(0..self.n_columns(), |run| {
            let n_values = run.record.n_values;
            if n_values != n_rows {
                let message = format!("a column has {n_values} values, its table {n_rows} rows");
                return Err(Error::corrupt(message).in_column(&format!("#{}", run.columns.start)));
            }
            if run.columns.end - run.columns.start != run.n {
                return Err(Error::corrupt("a column run extends beyond its table").in_section("runs"));
            }
            visit(run)
        })
    }

    /// The first and the last column, if one read of all records between them costs less than one
    /// read per column.
    fn dense_range(&self, columns: impl Iterator<Item = u64> + Clone) -> Option<(u64, u64)> {
        let (first, last) = (columns.clone().min()?, columns.clone().max()?);
        let n = columns.count() as u64;
        let is_dense = if n < PREFETCH { n > 1 && last - first < n } else { (last - first) / 8 <= n };
        (is_dense && last < self.n_columns_total()).then_some((first, last))
    }

    /// Reads the records of many columns together; with `with_blocks`, also their block records.
    /// Ignores errors: a later call for the damaged column reports them.
    pub(crate) fn prefetch(&self, columns: impl Iterator<Item = u64> + Clone, with_blocks: bool) {
        let Some((first, last)) = self.dense_range(columns.clone()) else { return };
        if !are_known(&lock(&self.columns), columns.clone())
            && let Ok(infos) = self.columns(first..last + 1)
        {
            let mut columns = lock(&self.columns);
            for info in infos {
                _ = fallible::insert(&mut columns, info.index, Arc::new(info), COLUMNS);
            }
        }
        if !with_blocks || are_known(&lock(&self.blocks), columns) {
            return;
        }
        for start in (first..=last).step_by(1 << 10) {
            // The damage may be in an unwanted column, so wanted columns are then read one by one.
            _ = self.prefetch_blocks(start..last.saturating_add(1).min(start + (1 << 10)));
        }
    }

    /// Reads the block records of columns.
    fn prefetch_blocks(&self, columns: Range<u64>) -> Result<()> {
        let ranges = if self.has_sorted_ranges() {
            self.ranges_of(self.numbering.in_file(columns.start)..self.numbering.in_file(columns.end))?
        } else {
            let mut infos = Vec::new();
            for column in columns {
                fallible::push(&mut infos, self.column(column)?, COLUMNS)?;
            }
            self.ranges_of_all(&infos)?
        };
        let n_blocks: u64 = ranges.iter().map(|range| u64::from(range.n_blocks)).sum();
        // Columns with many blocks gain nothing from this.
        if ranges.is_empty() || n_blocks > 1 << 14 {
            return Ok(());
        }
        let mut found = fallible::with_capacity(ranges.len(), BLOCKS)?;
        let mut rest = ranges.as_slice();
        while let Some(first) = rest.first() {
            // Consecutive ranges of a tier are read together.
            let next = rest.windows(2).take_while(|pair| {
                pair[0].tier == pair[1].tier && pair[0].end_block() == pair[1].first_block
            });
            let (joined, later) = rest.split_at(next.count() + 1);
            rest = later;
            let n = joined.iter().map(|range| u64::from(range.n_blocks)).sum::<u64>();
            let end = first.first_block.saturating_add(n);
            let records =
                self.opened.tier_records(SectionKind::Blocks, first.tier, first.first_block..end)?;
            for range in joined {
                let at = |block: u64| (block - first.first_block) as usize * BlockRecord::LEN;
                let column = self.numbering.in_view(range.column)?;
                let bytes = &records[at(range.first_block)..at(range.end_block())];
                // The blocks of a column with several ranges are read on demand.
                if let Ok(info) = self.column(column)
                    && let Ok(blocks) = self.blocks_of(&info, bytes)
                {
                    found.push((column, blocks));
                }
            }
        }
        let mut blocks = lock(&self.blocks);
        found.into_iter().try_for_each(|(column, of)| fallible::insert(&mut blocks, column, of, BLOCKS))
    }
}

fn is_null(info: &ColumnInfo) -> bool {
    info.record.column_type.physical == Physical::Null && info.unknown.is_none()
}

/// The error for a column of type null with blocks. Its type is damaged, because null columns have
/// no blocks. Reading it as null would make all its values missing.
#[cold]
fn null_with_blocks(info: &ColumnInfo) -> Error {
    Error::corrupt("a column of type null has blocks").in_section("ranges").in_column(&info.name)
}

/// Whether `kept` has all of these columns.
fn are_known<T>(kept: &HashMap<u64, T>, mut columns: impl Iterator<Item = u64>) -> bool {
    columns.all(|column| kept.contains_key(&column))
}
