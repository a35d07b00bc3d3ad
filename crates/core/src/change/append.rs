//! Adds rows to the table of a file.

use entasis_format::{ColumnType, Error, Physical, Result, Value};

use super::arrange::arrange;
use super::categories::{Joint, most_categories};
use super::keep::decode;
use super::kept_values::nulls;
use super::recode::{Recodings, recode};
use crate::file::File;
use crate::frame::kept::Kept;
use crate::frame::{Array, Chunk, Column, Field, Frame};
use crate::monitor::Silent;
use crate::write::{have_equal_values, owned};

/// Adds the rows of `part` to the kept table of a file.
///
/// Values that only the dictionary of `part` has are appended to the file's dictionary. If codes
/// then differ, the codes of the rows are renumbered.
pub(super) fn append(file: &File, frame: &mut Frame, mut part: Frame, labels: &[usize]) -> Result<()> {
    let n_extra = frame.extra.len();
    if (frame.columns.len(), n_extra) != (part.columns.len(), part.extra.len()) {
        return Err(Error::argument("the rows to append have other columns than the file"));
    }
    let mut labels = labels.to_vec();
    arrange(frame, &mut part, &mut labels)?;
    let code_types = code_types(&part);
    frame.n_rows = frame.n_rows.checked_add(part.n_rows).ok_or_else(|| Error::argument("too many rows"))?;
    frame.host = part.host;
    let mut recodings = Recodings::new();
    let mut of_rows = Vec::new();
    for (i, (new, codes)) in part.extra.into_iter().zip(&code_types).enumerate() {
        let Some(old) = frame.extra.get_mut(i) else { continue };
        if labels.contains(&i) {
            of_rows.push((i, new));
        } else if let Some((codes, name)) = codes {
            let joint = |values| Joint::new(values, most_categories(&frame.host, codes.physical));
            let found = share_dictionary(file, old, new, codes, joint).map_err(|e| e.in_column(name))?;
            if let Some(found) = found {
                recodings.insert(i, found);
            }
        } else {
            share(file, old, new)?;
        }
    }
    for (old, mut new) in frame.columns.iter_mut().zip(part.columns) {
        recode(&mut new, &recodings).map_err(|e| e.in_column(&old.name))?;
        join(old, new)?;
    }
    for (i, mut new) in of_rows {
        let Some(old) = frame.extra.get_mut(i) else { continue };
        recode(&mut new, &recodings).map_err(|e| e.in_column(&old.name))?;
        join(old, new)?;
    }
    Ok(())
}

/// For each extra column that is a dictionary: the type of its codes and the name of the column
/// that uses it.
fn code_types(frame: &Frame) -> Vec<Option<(ColumnType, String)>> {
    let mut found = vec![None; frame.extra.len()];
    for column in frame.columns.iter().chain(&frame.extra) {
        let mut rest = vec![(column.dictionary, column.column_type, &*column.children)];
        while let Some((dictionary, codes, children)) = rest.pop() {
            rest.extend(children.iter().map(|child| (child.dictionary, child.column_type, &*child.children)));
            let Some(known) = dictionary.and_then(|dictionary| found.get_mut(dictionary)) else { continue };
            let width = |codes: &ColumnType| codes.physical.width();
            if known.as_ref().is_none_or(|(known, _)| width(known) > width(&codes)) {
                *known = Some((codes, column.name.clone()));
            }
        }
    }
    found
}

/// Adds the values of `new` to a kept column.
fn join(old: &mut Column, new: Column) -> Result<()> {
    check(old, &new)?;
    old.array.chunks.extend(new.array.chunks);
    Ok(())
}

fn check(old: &Column, new: &Column) -> Result<()> {
    let wrong = |what: &str| {
        let error = Error::argument(format!("a column of the rows to append has {what} than in the file"));
        // Dictionaries have no name of their own.
        Err(if old.name.is_empty() { error } else { error.in_column(&old.name) })
    };
    if new.run.is_some() || new.array.spans.is_some() || new.array.is_kept() {
        return wrong("another form");
    }
    if new.name != old.name {
        return wrong("another name");
    }
    let of_old = (&old.column_type, [&old.detail, &old.host_detail], old.dictionary, &*old.children);
    let of_new = (&new.column_type, [&new.detail, &new.host_detail], new.dictionary, &*new.children);
    if !are_equal(of_old, of_new) {
        return wrong("another type");
    }
    Ok(())
}

type Described<'a> = (&'a ColumnType, [&'a Option<Value>; 2], Option<usize>, &'a [Field]);

fn are_equal(old: Described<'_>, new: Described<'_>) -> bool {
    let are_fields_equal = |old: &Field, new: &Field| {
        old.name == new.name
            && are_equal(
                (&old.column_type, [&old.detail, &old.host_detail], old.dictionary, &old.children),
                (&new.column_type, [&new.detail, &new.host_detail], new.dictionary, &new.children),
            )
    };
    (without_ends(old.0), old.1, old.2) == (without_ends(new.0), new.1, new.2)
        && old.3.len() == new.3.len()
        && old.3.iter().zip(new.3).all(|(old, new)| are_fields_equal(old, new))
}

/// The type without the width of run ends, which does not affect stored values
/// (`docs/format/hosts/arrow.md`). The file keeps its own width.
fn without_ends(column_type: &ColumnType) -> ColumnType {
    let layout = if column_type.physical == Physical::RunEnd { 3 } else { 0 };
    ColumnType { host_variant: column_type.host_variant & !layout, ..*column_type }
}

/// Checks a column whose values belong to no row: `new` must have the name, the type and the values
/// of `old`.
fn share(file: &File, old: &mut Column, new: Column) -> Result<()> {
    check(old, &new)?;
    let Some(Kept::Column(number)) = old.array.kept else { return Ok(()) };
    let file = file.whole();
    let info = file.column(number)?;
    let n = info.record.n_values;
    let other = || {
        let message = "labels of the rows to append differ from those of the file";
        Err(Error::argument(message).in_column(&old.name))
    };
    if n != new.array.n_values() || info.record.column_type.physical.is_nested() {
        return other();
    }
    let values = Array::new(decode(&file, &info, 0, &Silent)?.0);
    if have_equal_values(&values, &new.array, new.column_type.layout(), n)? { Ok(()) } else { other() }
}

/// Adds the categories that the file lacks to a dictionary. Returns the new code of each code of
/// the rows; `None` if no code changes.
fn share_dictionary(
    file: &File,
    old: &mut Column,
    new: Column,
    codes: &ColumnType,
    joint: impl FnOnce(Chunk) -> Joint,
) -> Result<Option<Vec<u64>>> {
    check(old, &new)?;
    let Some(Kept::Column(number)) = old.array.kept else { return Ok(None) };
    let file = file.whole();
    let info = file.column(number)?;
    let (n_old, n_new) = (info.record.n_values, new.array.n_values());
    if info.record.column_type.physical.is_nested() {
        return Err(Error::argument("nested categories of the rows to append are not joined"));
    }
    let values = if info.record.column_type.physical == Physical::Null {
        nulls(&info)?
    } else {
        decode(&file, &info, 0, &Silent)?.0
    };
    let of = new.column_type.layout();
    let old_values = Array::new(values.clone());
    if have_equal_values(&old_values, &new.array, of, n_old.min(n_new))? {
        if n_new > n_old {
            old.array = new.array;
        }
        return Ok(None);
    }
    let mut joint = joint(values);
    let found = owned(&new.array, of).and_then(|new| joint.add(&new, codes))?;
    if let Some(added) = joint.added()? {
        old.array.chunks.push(added);
    }
    Ok(found)
}
