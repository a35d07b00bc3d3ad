//! Reads the names of columns and finds columns by name.

use std::borrow::Cow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use entasis_format::{
    Error, Kind, NameSlot, Result, RunNames, SectionKind, Thousands, build_name_index, fallible, first_slot,
    n_name_slots, name_hash,
};

use super::File;

/// The use of the memory, in messages.
const NAMES: &str = "the column names";

/// Ranges that are read together.
const BATCH: usize = 1 << 14;

/// Where the names of a record's columns are in the heap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NameRange {
    pub at: u64,
    pub len: u32,
    /// The number of columns. For several columns, the ends of their names come before the text.
    pub n: u64,
}

/// The end of the names of a record in the heap.
fn end(range: &NameRange) -> u64 {
    range.at.saturating_add(u64::from(range.len))
}

/// Where the names of columns are, in the order of the columns.
#[derive(Clone, Debug, Default)]
pub struct NameRanges(Vec<NameRange>);

impl NameRanges {
    pub(crate) fn push(&mut self, range: NameRange) -> Result<()> {
        fallible::push(&mut self.0, range, NAMES)
    }
}

/// The cache for look-ups in a table without a name index.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Whether a name was looked up before.
    is_used: AtomicBool,
    /// The index, built at the second look-up.
    index: OnceLock<Vec<u8>>,
}

/// Names in some ranges of the heap, read together if the ranges are close.
pub(super) struct NamesAt<'a> {
    file: &'a File,
    /// All bytes, with the offset of the first one; `None` if the ranges are far apart.
    all: Option<(u64, Vec<u8>)>,
}

impl<'a> NamesAt<'a> {
    pub fn new(file: &'a File, ranges: &[NameRange]) -> Result<Self> {
        // The offset of an empty name has no meaning.
        let used = || ranges.iter().filter(|range| range.len > 0);
        let from = used().map(|range| range.at).min().unwrap_or(0);
        let to = used().map(end).max().unwrap_or(0);
        let total: u64 = ranges.iter().map(|range| u64::from(range.len)).sum();
        // Neighbouring columns have neighbouring names, and equal names may be shared. Ranges that
        // are far apart are read one by one.
        let is_dense = to - from <= total.saturating_mul(2).saturating_add(1 << 16);
        let all = if is_dense { Some((from, file.records(SectionKind::Names, from..to)?)) } else { None };
        Ok(Self { file, all })
    }

    /// The bytes in one of the ranges.
    pub fn get(&self, range: &NameRange) -> Result<Cow<'_, [u8]>> {
        if range.len == 0 {
            return Ok(Cow::Borrowed(&[]));
        }
        let Some((from, all)) = &self.all else {
            return self.file.records(SectionKind::Names, range.at..end(range)).map(Cow::Owned);
        };
        let start = (range.at - from) as usize;
        let bytes = all.get(start..start + range.len as usize);
        let missing = || Error::corrupt("a column name is outside the names").in_section("names");
        bytes.map(Cow::Borrowed).ok_or_else(missing)
    }
}

impl File {
    pub(super) fn check_name(&self, name: &str) -> Result<()> {
        self.check_name_len(name.len() as u64)
    }

    fn check_name_len(&self, len: u64) -> Result<()> {
        let allowed = self.limits().name_len;
        if len > allowed {
            let asked = format!("a column name has {} bytes", Thousands(len));
            return Err(Error::over_limit("name_len", allowed, asked).in_section("names"));
        }
        Ok(())
    }

    /// Checks the bytes of a name.
    pub(super) fn single_name<'b>(&self, bytes: &'b [u8]) -> Result<&'b str> {
        self.check_name_len(bytes.len() as u64)?;
        let damage = |_| Error::corrupt("a column name is not UTF-8").in_section("names");
        std::str::from_utf8(bytes).map_err(damage)
    }

    /// The name of column `k` of a range. Reads no other names.
    pub(super) fn one_name(&self, range: NameRange, k: u64) -> Result<String> {
        let read = |from: u64, to: u64| self.records(SectionKind::Names, from..to);
        let (mut start, mut end) = (0, u64::from(range.len));
        let mut text_at = range.at;
        if range.n > 1 {
            // The caller checked that the range has room for the ends.
            text_at = range.at.saturating_add(4 * range.n);
            let before = k.min(1);
            let ends = read(range.at + 4 * (k - before), range.at + 4 * (k + 1))?;
            let (ends, _) = ends.as_chunks::<4>();
            let mut ends = ends.iter().map(|end| u64::from(u32::from_le_bytes(*end)));
            start = if before == 1 { ends.next().unwrap_or(0) } else { 0 };
            end = ends.next().unwrap_or(0);
            if start > end || end > u64::from(range.len) - 4 * range.n {
                let message = "the ends of the names of a column run do not fit their text";
                return Err(Error::corrupt(message).in_section("names"));
            }
        }
        // A name outside of the file is damage, whatever its length.
        if text_at.saturating_add(end) <= self.n_records(SectionKind::Names) {
            self.check_name_len(end - start)?;
        }
        let bytes = read(text_at.saturating_add(start), text_at.saturating_add(end))?;
        fallible::owned(self.single_name(&bytes)?, NAMES)
    }

    /// Visits the names in these ranges, in order.
    ///
    /// # Errors
    /// *Corrupt*, *io*, *limit*, and any error of `visit`.
    pub fn visit_names(&self, ranges: &NameRanges, mut visit: impl FnMut(&str) -> Result<()>) -> Result<()> {
        self.visit_name_groups(ranges, |names| match names {
            NameGroup::One(name) => visit(name),
            NameGroup::Run(names) => (0..names.ends().len()).try_for_each(|k| visit(names.name(k))),
        })
    }

    /// Visits the names in these ranges, in order. The names of a column run are visited together.
    ///
    /// # Errors
    /// As [`visit_names`](Self::visit_names).
    pub fn visit_name_groups(
        &self,
        ranges: &NameRanges,
        mut visit: impl FnMut(NameGroup<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut visit_batch = |ranges: &[NameRange]| -> Result<()> {
            let names = NamesAt::new(self, ranges)?;
            for range in ranges {
                let bytes = names.get(range)?;
                if range.n == 1 {
                    visit(NameGroup::One(self.single_name(&bytes)?))?;
                    continue;
                }
                let names = RunNames::parse(&bytes, range.n)?;
                let mut start = 0;
                let lens = names.ends().map(|end| end - std::mem::replace(&mut start, end));
                self.check_name_len(lens.max().unwrap_or(0).into())?;
                visit(NameGroup::Run(names))?;
            }
            Ok(())
        };
        ranges.0.chunks(BATCH).try_for_each(|batch| visit_batch(batch).map_err(|e| e.in_file(self.path())))
    }

    /// The number of the table's column with this name. O(1) with a name index; otherwise one pass
    /// over the names.
    ///
    /// # Errors
    /// *Argument* when there is none, or more than one.
    pub fn find(&self, name: &str) -> Result<u64> {
        let found = self.find_all(name).map_err(|e| e.in_file(self.path()))?;
        match found[..] {
            [column] => Ok(column),
            [] => Err(Error::argument("there is no such column").in_column(name).in_file(self.path())),
            _ => {
                let message =
                    format!("the name stands for {} columns: select by position instead", found.len());
                Err(Error::argument(message).in_column(name).in_file(self.path()))
            }
        }
    }

    /// The numbers of all columns of the table with this name, ascending.
    ///
    /// # Errors
    /// *Corrupt*, *io*.
    pub fn find_all(&self, name: &str) -> Result<Vec<u64>> {
        let n_slots = self.table.n_slots;
        if n_slots > 0 {
            return self.probe(name, n_slots, |slots| {
                let first = self.table.first_slot.saturating_add(slots.start);
                let records = first..first.saturating_add(slots.end - slots.start);
                self.records(SectionKind::NameIndex, records).map(Cow::Owned)
            });
        }
        if !self.names.is_used.swap(true, Ordering::Relaxed) {
            return self.scan_names(name);
        }
        // A second look-up builds an index.
        let index = match self.names.index.get() {
            Some(index) => index,
            None => {
                let mut names = Vec::new();
                self.visit_names(&self.name_ranges()?, |name| {
                    fallible::push(&mut names, fallible::owned(name, NAMES)?, NAMES)
                })?;
                let index = build_name_index(&names)?;
                self.names.index.get_or_init(|| index)
            }
        };
        self.probe(name, n_name_slots(self.n_columns()), |slots| {
            let at = |slot: u64| slot as usize * NameSlot::LEN;
            Ok(Cow::Borrowed(index.get(at(slots.start)..at(slots.end)).unwrap_or_default()))
        })
    }

    fn name_ranges(&self) -> Result<NameRanges> {
        let mut ranges = NameRanges::default();
        self.visit_table(|run| ranges.push(run.names()))?;
        Ok(ranges)
    }

    fn scan_names(&self, name: &str) -> Result<Vec<u64>> {
        let (mut found, mut column) = (Vec::new(), 0);
        self.visit_names(&self.name_ranges()?, |other| {
            if other == name {
                found.push(column);
            }
            column += 1;
            Ok(())
        })?;
        Ok(found)
    }

    /// Looks up a name in an index with `n_slots` slots. `read` returns some slots.
    fn probe<'s>(
        &self,
        name: &str,
        n_slots: u64,
        read: impl Fn(std::ops::Range<u64>) -> Result<Cow<'s, [u8]>>,
    ) -> Result<Vec<u64>> {
        let mut found = Vec::new();
        if n_slots == 0 {
            return Ok(found);
        }
        let hash = name_hash(name);
        let mut slot = first_slot(hash, n_slots);
        let mut probed = 0;
        while probed < n_slots {
            let n = 64.min(n_slots - slot).min(n_slots - probed);
            for bytes in read(slot..slot + n)?.chunks_exact(NameSlot::LEN) {
                let entry = NameSlot::parse(bytes)?;
                let Some(position) = entry.position else { return Ok(found) };
                if position >= self.table.n_columns {
                    return Err(Error::corrupt("the name index names a column that the table does not have")
                        .in_section("name index"));
                }
                if entry.hash == hash && self.is_named(position, name)? {
                    found.push(position);
                }
            }
            probed += n;
            slot = (slot + n) % n_slots;
        }
        Ok(found)
    }

    fn is_named(&self, column: u64, name: &str) -> Result<bool> {
        match self.column(column) {
            // A column of an unknown type has a name too.
            Err(error) if error.kind() == Kind::Unsupported => {
                Ok(self.all_columns(column..column + 1)?.iter().any(|column| column.name == name))
            }
            column => Ok(column?.name == name),
        }
    }
}

/// The name of a column, or the names of a column run.
#[derive(Clone, Copy, Debug)]
pub enum NameGroup<'a> {
    /// The name of one column.
    One(&'a str),
    /// The names of a column run.
    Run(RunNames<'a>),
}
