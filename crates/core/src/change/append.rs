//! Builds the value of a file with more rows.

use entasis_format::{ColumnType, Error, Result, Value};

use super::keep::decode;
use crate::file::{ColumnInfo, File};
use crate::frame::kept::Kept;
use crate::frame::{Array, Column, Field, Frame};
use crate::write::have_equal_values;

/// Whether the file's value is a single table without cells.
pub(super) fn is_single_table(file: &File) -> bool {
    file.is_table() && file.value() == &Value::Table(0) && file.n_tables() == 1
}

/// The file's table, with all its columns kept.
pub(super) fn kept(file: &File) -> Result<Frame> {
    if !is_single_table(file) {
        return Err(Error::unsupported("the file's value is not a single table without other values"));
    }
    let infos = file.columns(0..file.n_columns_total())?;
    let n = file.n_columns() as usize;
    let is_own = |info: &&ColumnInfo| info.record.parent.is_none() && !info.record.is_bundle;
    let (of_table, others) = infos.split_at(n.min(infos.len()));
    let columns = of_table.iter().map(|info| column(file, &infos, info)).collect::<Result<_>>()?;
    let extra = others.iter().filter(is_own).map(|info| column(file, &infos, info)).collect::<Result<_>>()?;
    Ok(Frame { n_rows: file.n_rows(), columns, extra, host: file.host()? })
}

/// A kept column.
fn column(file: &File, infos: &[ColumnInfo], info: &ColumnInfo) -> Result<Column> {
    Ok(Column {
        name: info.name.clone(),
        run: None,
        column_type: info.record.column_type,
        detail: info.detail.clone(),
        dictionary: dictionary(file, info),
        children: fields(file, infos, info)?,
        array: Array::kept(info.index),
    })
}

/// The index of a column's dictionary among the extra columns, which follow the table's.
fn dictionary(file: &File, info: &ColumnInfo) -> Option<usize> {
    info.record.dictionary.and_then(|number| usize::try_from(number.checked_sub(file.n_columns())?).ok())
}

fn fields(file: &File, infos: &[ColumnInfo], info: &ColumnInfo) -> Result<Vec<Field>> {
    let record = &info.record;
    let n = u64::from(record.n_children) - u64::from(record.column_type.has_child_offsets());
    let first = record.first_child.unwrap_or(0);
    let field = |number: u64| {
        let child = usize::try_from(number).ok().and_then(|number| infos.get(number));
        // Children come after their parents, so this ends.
        let child = child.filter(|child| child.index > info.index);
        let child = child.ok_or_else(|| Error::corrupt("a column has a child that is not in the file"))?;
        Ok(Field {
            name: child.name.clone(),
            column_type: child.record.column_type,
            detail: child.detail.clone(),
            dictionary: dictionary(file, child),
            children: fields(file, infos, child)?,
        })
    };
    (first..first.saturating_add(n)).map(field).collect()
}

/// The file's table with the rows of `part` after its own.
pub(super) fn append(file: &File, part: Frame, labels: &[usize]) -> Result<Frame> {
    let mut frame = kept(file)?;
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
    Ok(frame)
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

/// A column whose values belong to no row. A dictionary is stored anew when it has more values. Those
/// that both have must be equal, because codes refer to them.
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
    let values = Array::new(decode(&file, &info, 0)?.0);
    if !have_equal_values(&values, &new.array, new.column_type.layout(), n_old.min(n_new))? {
        return other(if is_dictionary { "categories" } else { "labels" });
    }
    if n_new > n_old {
        old.array = new.array;
    }
    Ok(())
}
