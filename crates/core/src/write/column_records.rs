//! The records of the columns of a new generation, with their names and details.

use entasis_format::{ColumnRecord, ColumnType, Error, Physical, Result, SectionKind, ValueTree};

use super::contents::Contents;
use super::input::Scratch;
use super::nested::ChildColumns;
use super::tails::{Tails, number};
use crate::file::File;
use crate::frame::Array;

/// The sections of columns and of their names.
pub(super) struct ColumnRecords<'a> {
    pub columns: Vec<u8>,
    /// Bytes of a column record.
    pub record_len: u32,
    pub names: Vec<u8>,
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
        let mut records = Self { columns, record_len, names, tails, first_ranges };
        records.add_top_level(contents, tree)?;
        records.add_children(contents, tree)?;
        records.add_bundles(contents, tree)?;
        Ok(records)
    }

    fn add_top_level(&mut self, contents: &Contents<'_>, tree: &mut ValueTree) -> Result<()> {
        let mut members = bundled_members(contents)?;
        let mut tops = contents.plan.nested.tops.iter().peekable();
        for (i, of) in contents.plan.parts.columns().enumerate() {
            let column = of.column;
            let n_values = column.array.n_total() / column.n_columns() as u64;
            let mut record = self.record(contents.number(i), column.column_type, n_values);
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
            match &column.run {
                Some(names) => names.emit(&mut self.names),
                None => self.names.extend_from_slice(column.name.as_bytes()),
            }
            let old = self.tails.of_column(number(&column.array), &mut record, tree)?;
            self.end(i, record, old, &column.name)?;
        }
        Ok(())
    }

    fn add_children(&mut self, contents: &Contents<'_>, tree: &mut ValueTree) -> Result<()> {
        let children = &contents.plan.nested.children;
        if children.is_empty() {
            return Ok(());
        }
        let first_extra: Vec<usize> = contents.plan.parts.columns().map(|of| of.first_extra).collect();
        let first_child = contents.first_child();
        for (i, child) in (first_child..).zip(children) {
            let mut record = self.record(contents.number(i), child.column_type, child.array.n_total());
            let parent = child.parent.map_or(child.top, |parent| first_child + parent);
            record.parent = Some(contents.number(parent));
            record.dictionary = child.dictionary.map(|d| contents.number(first_extra[child.top] + d));
            record.detail = child.detail.map(|detail| tree.add(detail));
            record.host_detail = child.host_detail.map(|detail| tree.add(detail));
            record.n_missing = n_missing(contents, i, &child.column_type, &child.array);
            link_children(&mut record, &child.child_columns, contents);
            self.names.extend_from_slice(child.name.as_bytes());
            let old = self.tails.of_column(number(&child.array), &mut record, tree)?;
            self.end(i, record, old, &child.path)?;
        }
        Ok(())
    }

    fn add_bundles(&mut self, contents: &Contents<'_>, tree: &mut ValueTree) -> Result<()> {
        for (i, bundle) in (contents.first_bundle()..).zip(&contents.plan.bundles) {
            let (_, frame) = contents.plan.parts.frames[bundle.frame];
            let first = &frame.columns[bundle.members[0]];
            let mut record = self.record(contents.number(i), bundle.column_type, bundle.array.n_values());
            record.is_bundle = true;
            record.detail = first.detail.as_ref().map(|detail| tree.add(detail));
            record.host_detail = first.host_detail.as_ref().map(|detail| tree.add(detail));
            record.n_missing = contents.n_missing(i);
            self.end(i, record, None, "")?;
        }
        Ok(())
    }

    /// A record whose name begins at the current end of the names.
    fn record(&self, id: u64, column_type: ColumnType, n_values: u64) -> ColumnRecord {
        ColumnRecord {
            id,
            name_at: self.names.len() as u64,
            name_len: 0,
            column_type,
            is_bundled: false,
            is_bundle: false,
            n_values,
            storage: None,
            parent: None,
            first_value: 0,
            first_child: None,
            n_children: 0,
            dictionary: None,
            detail: None,
            n_missing: 0,
            metadata: None,
            first_range: None,
            host_detail: None,
        }
    }

    /// Adds record number `i`, whose name was added already. `old` is the number of the record from
    /// which it comes, if any. `name` is the column's name in messages.
    fn end(&mut self, i: usize, mut record: ColumnRecord, old: Option<u64>, name: &str) -> Result<()> {
        record.first_range = self.first_ranges.get(i).copied().flatten();
        let name_len = self.names.len() as u64 - record.name_at;
        record.name_len = u32::try_from(name_len).map_err(|_| too_long(name))?;
        record.emit(&mut self.columns);
        self.tails.push(old, &mut self.columns)
    }
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
            let n_missing = scratch.count_missing(array, of.column_type.layout())?;
            members[of.first + i] = Some(Member { bundle, first_value, n_missing });
            first_value += array.n_values();
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
