//! The records of the columns of a new generation, with their names and details.

use entasis_format::{ColumnRecord, ColumnType, Error, Physical, Result, Runs, SectionKind, Value};

use super::contents::Contents;
use super::ground::Ground;
use super::ids::ids;
use super::input::Scratch;
use super::names::Names;
use super::nested::ChildColumns;
use super::numbers::Slot;
use super::tails::{Tails, number};
use super::values::Values;
use super::{PartColumn, sections};
use crate::file::File;
use crate::frame::Array;
use crate::name_list::NameList;

/// The sections of columns and of their names.
pub(super) struct ColumnRecords<'a> {
    pub columns: Vec<u8>,
    /// Bytes of a column record.
    pub record_len: u32,
    pub names: Names<'a>,
    /// The section *runs*; empty if each record is one column.
    pub runs: Vec<u8>,
}

impl<'a> ColumnRecords<'a> {
    /// The records of all columns. Adds their details to `values`. The names of `old` stay where
    /// they are.
    pub(super) fn of(
        contents: &Contents<'_>,
        first_ranges: &[Option<u64>],
        ground: &Ground<'a>,
        old: Option<&'a File>,
        values: &mut Values,
    ) -> Result<Self> {
        let tails = Tails::of(ground.file, SectionKind::Columns);
        let record_len = tails.record_len;
        let ids = ids(contents, ground.file, ground.generation())?;
        let found = RecordMaker::new(contents, (first_ranges, &ids), old, &tails)?.all(values)?;
        let may_join = ground.file.is_some() && tails.is_without();
        let n_joined = if may_join { joined(&found) } else { vec![0; found.len()] };
        let columns = Vec::with_capacity(found.len() * record_len as usize);
        let mut records = Self { columns, record_len, names: Names::after(old)?, runs: Vec::new() };
        records.emit(&found, &n_joined, &tails)?;
        Ok(records)
    }

    /// Adds the records and their names. Each record stands for so many of the next ones too.
    fn emit(&mut self, found: &[Found<'_>], n_joined: &[usize], tails: &Tails<'_>) -> Result<()> {
        let (mut starts, mut number) = (Vec::with_capacity(8 * (found.len() + 1)), 0);
        let (mut n_records, mut bytes) = (0, Vec::new());
        let mut rest = found;
        while let Some(first) = rest.first() {
            let (same, later) = rest.split_at(1 + n_joined[found.len() - rest.len()]);
            rest = later;
            let n = first.run.map_or(same.len(), NameList::len) as u64;
            let of_same = same.iter().map(|of| of.name);
            bytes.clear();
            emit_names(first, of_same, &mut bytes);
            let name_len = u32::try_from(bytes.len()).map_err(|_| too_long(first.name))?;
            let name_at = self.names.add(&bytes, number, n);
            ColumnRecord { name_at, name_len, ..first.record }.emit(&mut self.columns);
            tails.push(first.old, &mut self.columns)?;
            starts.extend_from_slice(&number.to_le_bytes());
            (number, n_records) = (number + n, n_records + 1);
        }
        if number > n_records {
            starts.extend_from_slice(&number.to_le_bytes());
            self.runs = starts;
        }
        Ok(())
    }
}

/// Appends the names of a record, in the form of the section *names*.
fn emit_names<'a>(first: &Found<'_>, names: impl ExactSizeIterator<Item = &'a str>, out: &mut Vec<u8>) {
    if let Some(run) = first.run {
        run.emit(out);
    } else if names.len() == 1 {
        out.extend_from_slice(first.name.as_bytes());
    } else {
        let mut list = NameList::with_capacity(names.len());
        for name in names {
            // Longer names are not joined.
            _ = list.push(name);
        }
        list.emit(out);
    }
}

/// A record without its names.
struct Found<'a> {
    /// Its index, by which neighbours in a table are found; `None` for a free column.
    index: Option<usize>,
    name: &'a str,
    run: Option<&'a NameList>,
    /// Whether it is a column of a frame or of no table.
    is_top: bool,
    record: ColumnRecord,
    /// The number of the record from which it comes.
    old: Option<u64>,
}

/// Makes the records of columns.
struct RecordMaker<'a, 'c> {
    contents: &'a Contents<'c>,
    /// For each record, the number of its first range.
    first_ranges: &'a [Option<u64>],
    /// The id of each record.
    ids: &'a [u64],
    /// The file whose values stay where they are.
    old: Option<&'a File>,
    tails: &'a Tails<'a>,
    tops: Vec<PartColumn<'a>>,
    members: Vec<Option<Member>>,
}

impl<'a, 'c> RecordMaker<'a, 'c> {
    fn new(
        contents: &'a Contents<'c>,
        (first_ranges, ids): (&'a [Option<u64>], &'a [u64]),
        old: Option<&'a File>,
        tails: &'a Tails<'a>,
    ) -> Result<Self> {
        let tops = contents.plan.parts.columns().collect();
        let members = bundled_members(contents)?;
        Ok(Self { contents, first_ranges, ids, old, tails, tops, members })
    }

    /// The records of all columns, ascending by number.
    fn all(&self, values: &mut Values) -> Result<Vec<Found<'a>>> {
        let (first_child, first_bundle) = (self.contents.first_child(), self.contents.first_bundle());
        let mut found = Vec::with_capacity(self.contents.n_records());
        for slot in self.contents.slots() {
            found.push(match slot {
                Slot::Record(i) if i < first_child => self.top(i, values)?,
                Slot::Record(i) if i < first_bundle => self.child(i, values)?,
                Slot::Record(i) => self.bundle(i, values)?,
                Slot::Free(number) => self.free(number)?,
            });
        }
        Ok(found)
    }

    /// The record of a column of a frame or of no table.
    fn top(&self, i: usize, values: &mut Values) -> Result<Found<'a>> {
        let contents = self.contents;
        let of = &self.tops[i];
        let column = of.column;
        let n_values = column.array.n_total() / column.n_columns() as u64;
        let mut record = self.record(i, column.column_type, n_values);
        record.dictionary = column.dictionary.map(|d| contents.number(of.first_extra + d));
        self.add_details((i, &mut record), [column.detail.as_ref(), column.host_detail.as_ref()], values)?;
        record.n_missing = n_missing(contents, i, &column.column_type, &column.array);
        if let Some(Some(member)) = self.members.get(i) {
            record.is_bundled = true;
            record.storage = Some(contents.number(contents.first_bundle() + member.bundle));
            record.first_value = member.first_value;
            record.n_missing = member.n_missing;
        }
        let tops = &contents.plan.nested.tops;
        if let Ok(top) = tops.binary_search_by_key(&i, |(top, _)| *top) {
            link_children(&mut record, &tops[top].1, contents);
        }
        let old = self.tails.of_column(number(&column.array), &mut record, values)?;
        Ok(Found { index: Some(i), name: &column.name, run: column.run.as_ref(), is_top: true, record, old })
    }

    fn child(&self, i: usize, values: &mut Values) -> Result<Found<'a>> {
        let contents = self.contents;
        let first_child = contents.first_child();
        let child = &contents.plan.nested.children[i - first_child];
        let mut record = self.record(i, child.column_type, child.array.n_total());
        let parent = child.parent.map_or(child.top, |parent| first_child + parent);
        record.parent = Some(contents.number(parent));
        let first_extra = self.tops[child.top].first_extra;
        record.dictionary = child.dictionary.map(|d| contents.number(first_extra + d));
        self.add_details((i, &mut record), [child.detail, child.host_detail], values)?;
        record.n_missing = n_missing(contents, i, &child.column_type, &child.array);
        link_children(&mut record, &child.child_columns, contents);
        let old = self.tails.of_column(number(&child.array), &mut record, values)?;
        Ok(Found { index: Some(i), name: child.name, run: None, is_top: false, record, old })
    }

    fn bundle(&self, i: usize, values: &mut Values) -> Result<Found<'a>> {
        let bundle = &self.contents.plan.bundles[i - self.contents.first_bundle()];
        let (_, frame) = self.contents.plan.parts.frames[bundle.frame];
        let first = &frame.columns[bundle.members[0]];
        let mut record = self.record(i, bundle.column_type, bundle.array.n_total());
        record.is_bundle = true;
        self.add_details((i, &mut record), [first.detail.as_ref(), first.host_detail.as_ref()], values)?;
        let n_kept = bundle.array.keep().map_or(0, |keep| keep.n_missing);
        record.n_missing = n_kept + self.contents.n_missing(i);
        let old = number(&bundle.array).and_then(|storage| self.tails.number_of_record(storage));
        Ok(Found { index: Some(i), name: "", run: None, is_top: false, record, old })
    }

    /// The record of a free column, with the id of the column that had its number.
    fn free(&self, number: u64) -> Result<Found<'a>> {
        let old = self.old.map(|old| old.all_columns(number..number.saturating_add(1))).transpose()?;
        let id = old.and_then(|mut old| old.pop()).map_or(number, |old| old.record.id);
        let record = ColumnRecord::plain(id, ColumnType::plain(Physical::Null), 0);
        Ok(Found { index: None, name: "", run: None, is_top: false, record, old: None })
    }

    /// A record with its id and its ranges.
    fn record(&self, i: usize, column_type: ColumnType, n_values: u64) -> ColumnRecord {
        let first_range = self.first_ranges.get(i).copied().flatten();
        ColumnRecord { first_range, ..ColumnRecord::plain(self.ids[i], column_type, n_values) }
    }

    /// Adds detail and host detail of the column of a record.
    fn add_details(
        &self,
        (i, record): (usize, &mut ColumnRecord),
        details: [Option<&Value>; 2],
        values: &mut Values,
    ) -> Result<()> {
        let number = self.contents.number(i);
        let is_old = |file: &&File| number < file.n_columns_total() && details.iter().any(Option::is_some);
        let old = self.old.filter(is_old).map(|file| file.column(number)).transpose()?;
        let old = old.as_ref();
        let of_detail = old.and_then(|old| old.record.detail.zip(old.detail.as_ref()));
        let of_host_detail = old.and_then(|old| old.record.host_detail.zip(old.host_detail.as_ref()));
        let [detail, host_detail] = details;
        record.detail = detail.map(|detail| values.add(detail, of_detail));
        record.host_detail = host_detail.map(|detail| values.add(detail, of_host_detail));
        Ok(())
    }
}

/// Bytes of a column record in a long section, which is compressed, about.
const COMPRESSED: usize = 6;

/// For each record, how many of the following ones it can stand for too. They belong to columns
/// that follow one another, and differ only in id, name and first value. All 0 if that would save
/// no bytes.
fn joined(records: &[Found<'_>]) -> Vec<usize> {
    let mut joined = vec![0; records.len()];
    let (mut first, mut n_records, mut names_len) = (0, 0, 0);
    let n_tops = records.iter().filter(|record| record.is_top).count();
    for (i, record) in records.iter().enumerate() {
        let n = i - first;
        let of_first = &records[first];
        names_len += record.name.len() + size_of::<u32>();
        let is_alike = n > 0
            && record.run.is_none()
            && of_first.run.is_none()
            && names_len < u32::MAX as usize
            && of_first.record.is_bundled
            && record.index == of_first.index.map(|index| index + n)
            && of_first.record.member(n as u64).is_ok_and(|member| member == record.record);
        if is_alike {
            joined[first] = n;
        } else {
            n_records += usize::from(record.is_top);
            (first, names_len) = (i, record.name.len());
        }
    }
    let is_long = n_tops * ColumnRecord::LEN >= sections::MIN_LEN;
    let len = if is_long { COMPRESSED } else { ColumnRecord::LEN - size_of::<u32>() };
    let saved = (n_tops - n_records) * len;
    if saved > (n_records + 1) * Runs::LEN { joined } else { vec![0; records.len()] }
}

/// Where the values of a bundled column are.
struct Member {
    /// The index of the bundle.
    bundle: usize,
    first_value: u64,
    n_missing: u64,
}

/// For each record, its place in a bundle, if any; empty without bundles.
fn bundled_members(contents: &Contents<'_>) -> Result<Vec<Option<Member>>> {
    let (parts, bundles) = (&contents.plan.parts, &contents.plan.bundles);
    let mut scratch = Scratch::default();
    let mut members: Vec<Option<Member>> = Vec::new();
    members.resize_with(if bundles.is_empty() { 0 } else { parts.n_columns }, || None);
    for (bundle, of) in bundles.iter().enumerate() {
        let (_, frame) = parts.frames[of.frame];
        let mut first_value = 0;
        for &i in &of.members {
            let array = &frame.columns[i].array;
            let n_kept = array.keep().map_or(0, |keep| keep.n_missing);
            let n_missing = n_kept + scratch.count_missing(array, of.column_type.layout())?;
            members[of.first + i] = Some(Member { bundle, first_value, n_missing });
            first_value += array.n_total();
        }
    }
    Ok(members)
}

/// Enters the children of a column in its record.
fn link_children(record: &mut ColumnRecord, child_columns: &ChildColumns, contents: &Contents<'_>) {
    if !child_columns.children.is_empty() {
        let first = contents.first_child() + child_columns.children.start;
        record.first_child = Some(contents.number(first));
        record.n_children = child_columns.children.len() as u32;
    }
}

/// The number of missing values of a column that is not bundled.
fn n_missing(contents: &Contents<'_>, record: usize, of: &ColumnType, array: &Array) -> u64 {
    if of.physical == Physical::Null {
        array.n_total()
    } else {
        array.keep().map_or(0, |keep| keep.n_missing) + contents.n_missing(record)
    }
}

/// The error shows the start of the name.
fn too_long(name: &str) -> Error {
    let shown: String = name.chars().take(64).collect();
    Error::argument("a column name of 4 GiB or more").in_column(&shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_too_long_is_cut_between_characters() {
        for (name, shown) in [("short", "short".to_owned()), (&"a€".repeat(99), "a€".repeat(32))] {
            assert_eq!(too_long(name).location().column, Some(shown));
        }
    }
}
