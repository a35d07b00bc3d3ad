//! Adds rows to the table of a file.

use entasis_format::{ColumnType, Error, Result, Value};

use super::keep::decode;
use crate::file::File;
use crate::frame::kept::Kept;
use crate::frame::{Array, Column, Field, Frame};
use crate::monitor::Silent;
use crate::write::have_equal_values;

/// Adds the rows of `part` to the kept table of a file.
pub(super) fn append(file: &File, frame: &mut Frame, part: Frame, labels: &[usize]) -> Result<()> {
    let n_extra = frame.extra.len();
    if (frame.columns.len(), n_extra) != (part.columns.len(), part.extra.len()) {
        return Err(Error::argument("the rows to append have other columns than the file"));
    }
    let is_dictionary = dictionaries(&part);
    frame.n_rows = frame.n_rows.checked_add(part.n_rows).ok_or_else(|| Error::argument("too many rows"))?;
    frame.host = part.host;
    for (old, new) in frame.columns.iter_mut().zip(part.columns) {
        join(old, new)?;
    }
    for (i, (old, new)) in frame.extra.iter_mut().zip(part.extra).enumerate() {
        if labels.contains(&i) {
            join(old, new)?;
        } else {
            share(file, old, new, is_dictionary.get(i) == Some(&true))?;
        }
    }
    Ok(())
}

/// Which extra columns are dictionaries.
fn dictionaries(frame: &Frame) -> Vec<bool> {
    fn of_fields(fields: &[Field], found: &mut [bool]) {
        for field in fields {
            mark(field.dictionary, found);
            of_fields(&field.children, found);
        }
    }
    fn mark(dictionary: Option<usize>, found: &mut [bool]) {
        if let Some(is_dictionary) = dictionary.and_then(|dictionary| found.get_mut(dictionary)) {
            *is_dictionary = true;
        }
    }
    let mut found = vec![false; frame.extra.len()];
    for column in frame.columns.iter().chain(&frame.extra) {
        mark(column.dictionary, &mut found);
        of_fields(&column.children, &mut found);
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
        Err(Error::argument(format!("a column of the rows to append has {what} than in the file"))
            .in_column(&old.name))
    };
    if new.run.is_some() || new.array.spans.is_some() || new.array.is_kept() {
        return wrong("another form");
    }
    if new.name != old.name {
        return wrong("another name");
    }
    let of_old = (&old.column_type, &old.detail, old.dictionary, &*old.children);
    if !are_equal(of_old, (&new.column_type, &new.detail, new.dictionary, &*new.children)) {
        return wrong("another type");
    }
    Ok(())
}

type Described<'a> = (&'a ColumnType, &'a Option<Value>, Option<usize>, &'a [Field]);

fn are_equal(old: Described<'_>, new: Described<'_>) -> bool {
    let of = |field: &'_ Field| (field.column_type, field.detail.clone(), field.dictionary);
    let are_fields_equal = |old: &Field, new: &Field| {
        (&old.name, of(old)) == (&new.name, of(new))
            && are_equal(
                (&old.column_type, &old.detail, old.dictionary, &old.children),
                (&new.column_type, &new.detail, new.dictionary, &new.children),
            )
    };
    (old.0, old.1, old.2) == (new.0, new.1, new.2)
        && old.3.len() == new.3.len()
        && old.3.iter().zip(new.3).all(|(old, new)| are_fields_equal(old, new))
}

/// A column whose values belong to no row. A dictionary is stored anew when it has more values.
/// Those that both have must be equal, because codes refer to them.
fn share(file: &File, old: &mut Column, new: Column, is_dictionary: bool) -> Result<()> {
    check(old, &new)?;
    let Some(Kept::Column(number)) = old.array.kept else { return Ok(()) };
    let file = file.whole();
    let info = file.column(number)?;
    let (n_old, n_new) = (info.record.n_values, new.array.n_values());
    let other = |what: &str| {
        let message = format!("{what} of the rows to append differ from those of the file");
        Err(Error::argument(message).in_column(&old.name))
    };
    if !is_dictionary && n_old != n_new {
        return other("labels");
    }
    if info.record.column_type.physical.is_nested() {
        return other("nested categories");
    }
    let values = Array::new(decode(&file, &info, 0, &Silent)?.0);
    if !have_equal_values(&values, &new.array, new.column_type.layout(), n_old.min(n_new))? {
        return other(if is_dictionary { "categories" } else { "labels" });
    }
    if n_new > n_old {
        old.array = new.array;
    }
    Ok(())
}
