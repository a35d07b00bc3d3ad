//! The records of the columns of a new generation, with their names and details.

use entasis_format::{ColumnRecord, ColumnType, Error, Physical, Result, Runs, SectionKind, ValueTree};

use super::contents::Contents;
use super::input::Scratch;
use super::nested::ChildColumns;
use super::sections;
use super::tails::{Tails, number};
use crate::file::File;
use crate::frame::{Array, Column};
use crate::name_list::NameList;

/// The sections of columns and of their names.
pub(super) struct ColumnRecords<'a> {
    pub columns: Vec<u8>,
    /// Bytes of a column record.
    pub record_len: u32,
    pub names: Vec<u8>,
    /// The section *runs*; empty if each record is one column.
    pub runs: Vec<u8>,
    tails: Tails<'a>,
    /// For each record, the number of its first range.
    first_ranges: &'a [Option<u64>],
}

impl<'a> ColumnRecords<'a> {
    /// The records of all columns. Adds their details to `tree`. `file` is the file that changes.
    pub(super) fn of(
        contents: &Contents<'_>,
        first_ranges: &'a [Option<u64>],
        file: Option<&'a File>,
        tree: &mut ValueTree,
    ) -> Result<Self> {
        let tails = Tails::of(file, SectionKind::Columns);
        let record_len = tails.record_len;
        let (columns, names) = (Vec::with_capacity(contents.n_records() * record_len as usize), Vec::new());
        let mut records = Self { columns, record_len, names, runs: Vec::new(), tails, first_ranges };
        let n_joined = records.add_top_level(contents, file, tree)?;
        records.add_children(contents, tree)?;
        records.add_bundles(contents, tree)?;
        records.runs = contents.emit_runs(&n_joined);
        Ok(records)
    }

    /// Adds the records of the columns of frames and of no table. Returns how many more columns
    /// each stands for: a file that changes gets column runs where its columns allow them.
    fn add_top_level(
        &mut self,
        contents: &Contents<'_>,
        file: Option<&File>,
        tree: &mut ValueTree,
    ) -> Result<Vec<usize>> {
        let mut tops_found = Vec::with_capacity(contents.plan.parts.n_columns);
        let mut members = bundled_members(contents)?;
        let mut tops = contents.plan.nested.tops.iter().peekable();
        for (i, of) in contents.plan.parts.columns().enumerate() {
            let column = of.column;
            let n_values = column.array.n_total() / column.n_columns() as u64;
            let mut record = ColumnRecord::plain(contents.number(i), column.column_type, n_values);
            record.dictionary = column.dictionary.map(|d| contents.number(of.first_extra + d));
            record.detail = column.detail.as_ref().map(|detail| tree.add(detail));
            record.host_detail = column.host_detail.as_ref().map(|detail| tree.add(detail));
            record.n_missing = n_missing(contents, i, &column.column_type, &column.array);
            if let Some(member) = members.get_mut(i).and_then(Option::take) {
                record.is_bundled = true;
                record.storage = Some(contents.number(contents.first_bundle() + member.bundle));
                record.first_value = member.first_value;
                record.n_missing = member.n_missing;
            }
            if let Some((_, child_columns)) = tops.next_if(|(top, _)| *top == i) {
                link_children(&mut record, child_columns, contents);
            }
            record.first_range = self.first_ranges.get(i).copied().flatten();
            let old = self.tails.of_column(number(&column.array), &mut record, tree)?;
            tops_found.push(TopLevel { column, record, old });
        }
        let may_join = file.is_some() && self.tails.is_without();
        let runs = if may_join { joined(&tops_found) } else { vec![0; tops_found.len()] };
        let mut rest = tops_found.into_iter();
        let mut n_joined = Vec::with_capacity(runs.len());
        let mut i = 0;
        while let Some(TopLevel { column, mut record, old }) = rest.next() {
            let n = runs[i];
            record.name_at = self.names.len() as u64;
            match &column.run {
                Some(names) => names.emit(&mut self.names),
                None if n > 0 => {
                    let others = rest.by_ref().take(n).map(|other| other.column.name.as_str());
                    let mut names = NameList::with_capacity(n + 1);
                    for name in std::iter::once(column.name.as_str()).chain(others) {
                        // Longer names are not joined.
                        _ = names.push(name);
                    }
                    names.emit(&mut self.names);
                }
                None => self.names.extend_from_slice(column.name.as_bytes()),
            }
            self.end(record, old, &column.name)?;
            n_joined.push(n);
            i += n + 1;
        }
        Ok(n_joined)
    }

    fn add_children(&mut self, contents: &Contents<'_>, tree: &mut ValueTree) -> Result<()> {
        let children = &contents.plan.nested.children;
        if children.is_empty() {
            return Ok(());
        }
        let first_extra: Vec<usize> = contents.plan.parts.columns().map(|of| of.first_extra).collect();
        let first_child = contents.first_child();
        for (i, child) in (first_child..).zip(children) {
            let mut record =
                ColumnRecord::plain(contents.number(i), child.column_type, child.array.n_total());
            record.name_at = self.names.len() as u64;
            record.first_range = self.first_ranges.get(i).copied().flatten();
            let parent = child.parent.map_or(child.top, |parent| first_child + parent);
            record.parent = Some(contents.number(parent));
            record.dictionary = child.dictionary.map(|d| contents.number(first_extra[child.top] + d));
            record.detail = child.detail.map(|detail| tree.add(detail));
            record.host_detail = child.host_detail.map(|detail| tree.add(detail));
            record.n_missing = n_missing(contents, i, &child.column_type, &child.array);
            link_children(&mut record, &child.child_columns, contents);
            self.names.extend_from_slice(child.name.as_bytes());
            let old = self.tails.of_column(number(&child.array), &mut record, tree)?;
            self.end(record, old, &child.path)?;
        }
        Ok(())
    }

    fn add_bundles(&mut self, contents: &Contents<'_>, tree: &mut ValueTree) -> Result<()> {
        for (i, bundle) in (contents.first_bundle()..).zip(&contents.plan.bundles) {
            let (_, frame) = contents.plan.parts.frames[bundle.frame];
            let first = &frame.columns[bundle.members[0]];
            let mut record =
                ColumnRecord::plain(contents.number(i), bundle.column_type, bundle.array.n_total());
            record.name_at = self.names.len() as u64;
            record.first_range = self.first_ranges.get(i).copied().flatten();
            record.is_bundle = true;
            record.detail = first.detail.as_ref().map(|detail| tree.add(detail));
            record.host_detail = first.host_detail.as_ref().map(|detail| tree.add(detail));
            let n_kept = bundle.array.keep().map_or(0, |keep| keep.n_missing);
            record.n_missing = n_kept + contents.n_missing(i);
            self.end(record, None, "")?;
        }
        Ok(())
    }

    /// Adds a record, whose name was added already. `old` is the number of the record from which it
    /// comes, if any. `name` is the column's name in messages.
    fn end(&mut self, mut record: ColumnRecord, old: Option<u64>, name: &str) -> Result<()> {
        let name_len = self.names.len() as u64 - record.name_at;
        record.name_len = u32::try_from(name_len).map_err(|_| too_long(name))?;
        record.emit(&mut self.columns);
        self.tails.push(old, &mut self.columns)
    }
}

/// A column of a frame or of no table, with its record.
struct TopLevel<'a> {
    column: &'a Column,
    record: ColumnRecord,
    /// The number of the record from which it comes.
    old: Option<u64>,
}

/// Bytes of a column record in a long section, which is compressed, about.
const COMPRESSED: usize = 6;

/// For each column, how many of the following ones its record can stand for too. They differ only
/// in id, name and first value. All 0 if that would save no bytes.
fn joined(columns: &[TopLevel<'_>]) -> Vec<usize> {
    let mut joined = vec![0; columns.len()];
    let (mut first, mut n_records, mut names_len) = (0, 0, 0);
    for (i, column) in columns.iter().enumerate() {
        let n = i - first;
        let of_first = &columns[first];
        names_len += column.column.name.len() + size_of::<u32>();
        let is_alike = n > 0
            && column.column.run.is_none()
            && of_first.column.run.is_none()
            && names_len < u32::MAX as usize
            && of_first.record.is_bundled
            && of_first.record.member(n as u64).is_ok_and(|member| member == column.record);
        if is_alike {
            joined[first] = n;
        } else {
            (first, n_records, names_len) = (i, n_records + 1, column.column.name.len());
        }
    }
    let is_long = columns.len() * ColumnRecord::LEN >= sections::MIN_LEN;
    let len = if is_long { COMPRESSED } else { ColumnRecord::LEN - size_of::<u32>() };
    let saved = (columns.len() - n_records) * len;
    if saved > (n_records + 1) * Runs::LEN { joined } else { vec![0; columns.len()] }
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
        let first_child = contents.number(contents.first_child());
        record.first_child = Some(first_child + child_columns.children.start as u64);
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
