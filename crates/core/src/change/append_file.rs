//! Adds the rows of another file to the table of a file.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use entasis_format::{Error, Logical, Physical, Result};

use super::categories::{self, Joint, most_categories};
use super::keep::decode;
use super::{joined_host, kept};
use crate::file::{ColumnInfo, File};
use crate::frame::kept::Kept;
use crate::frame::{Chunk, Column, Frame, HostValidity, HostValues};
use crate::info::type_name;
use crate::monitor::Monitor;

/// Adds the rows of the table in `rows` to the kept table of `file`. Columns are matched by name.
/// Names, types and hosts are checked before values are read.
pub(super) fn append(file: &File, frame: &mut Frame, rows: &File, monitor: &dyn Monitor) -> Result<()> {
    let mut content = kept::kept(rows).map_err(|e| e.in_file(rows.path()))?;
    let part = content.table().map_err(|e| e.in_file(rows.path()))?;
    // For each column of the file, the position of the column of the same name in the rows.
    let positions = matched(&frame.columns, &part.columns)?;
    let mut to = vec![0; positions.len()];
    for (position, &from) in positions.iter().enumerate() {
        to[from] = position;
    }
    frame.host = joined_host::join((&frame.host, frame.n_rows), (&part.host, part.n_rows), &to)?;
    frame.n_rows = frame.n_rows.checked_add(part.n_rows).ok_or_else(|| Error::argument("too many rows"))?;
    for (old, &position) in frame.columns.iter().zip(&positions) {
        let new = &part.columns[position];
        check(old, new)?;
        if let (Some(old_extra), Some(new_extra)) = (old.dictionary, new.dictionary) {
            check(extra(frame, old_extra)?, extra(part, new_extra)?).map_err(|e| e.in_column(&old.name))?;
        }
    }
    let (file, rows) = (file.whole(), rows.whole());
    let of_rows = |column: &Column| values(&rows, column, monitor).map_err(|e| e.in_file(rows.path()));
    let mut joint: HashMap<usize, Joint> = HashMap::new();
    for (at, &position) in positions.iter().enumerate() {
        let (old, new) = (&frame.columns[at], &part.columns[position]);
        let named = |e: Error| e.in_column(&old.name);
        let mut chunk = of_rows(new).map_err(named)?;
        if let (Some(old_extra), Some(new_extra)) = (old.dictionary, new.dictionary) {
            let joint = match joint.entry(old_extra) {
                Entry::Occupied(joint) => joint.into_mut(),
                Entry::Vacant(entry) => {
                    let most = most_categories(&frame.host, old.column_type.physical);
                    entry.insert(Joint::new(values(&file, extra(frame, old_extra)?, monitor)?, most))
                }
            };
            let more = of_rows(extra(part, new_extra)?).map_err(named)?;
            if let Some(codes) = joint.add(&more, &old.column_type).map_err(named)? {
                chunk = categories::recoded(chunk, &old.column_type, &codes).map_err(named)?;
            }
        }
        if chunk.n > 0 {
            frame.columns[at].array.chunks.push(chunk);
        }
    }
    for (index, joint) in joint {
        if let (Some(chunk), Some(column)) = (joint.added()?, frame.extra.get_mut(index)) {
            column.array.chunks.push(chunk);
        }
    }
    Ok(())
}

/// An extra column, by its index.
fn extra(frame: &Frame, index: usize) -> Result<&Column> {
    frame.extra.get(index).ok_or_else(|| Error::corrupt("a categorical column has no categories"))
}

/// For each column of the file, the position of the column of the same name in the rows. Names that
/// occur twice match only if all names are in the same order.
fn matched(old: &[Column], new: &[Column]) -> Result<Vec<usize>> {
    if old.len() == new.len() && old.iter().zip(new).all(|(old, new)| old.name == new.name) {
        return Ok((0..old.len()).collect());
    }
    let wrong = |message: &'static str, name: &str| {
        Err(Error::argument(message).in_column(name).advise("both tables need the same columns"))
    };
    let mut positions = HashMap::new();
    for (position, column) in new.iter().enumerate() {
        if positions.insert(column.name.as_str(), position).is_some() {
            return wrong(
                "a name occurs twice, and the columns are in another order than in the file",
                &column.name,
            );
        }
    }
    let mut found = Vec::with_capacity(old.len());
    for column in old {
        match positions.remove(column.name.as_str()) {
            Some(position) => found.push(position),
            None => return wrong("the rows to append lack a column of the file", &column.name),
        }
    }
    match positions.keys().min() {
        Some(name) => wrong("the rows to append have a column that the file lacks", name),
        None => Ok(found),
    }
}

/// The columns have one type, whose values are flat.
fn check(old: &Column, new: &Column) -> Result<()> {
    let refused = |what: String| Err(Error::argument(what).in_column(&old.name));
    let (of_old, of_new) = (&old.column_type, &new.column_type);
    if of_old != of_new
        || (&old.detail, &old.host_detail) != (&new.detail, &new.host_detail)
        || old.dictionary.is_some() != new.dictionary.is_some()
    {
        let names = [type_name(of_old, old.detail.as_ref()), type_name(of_new, new.detail.as_ref())];
        return refused(if names[0] == names[1] {
            format!("the type {} is that of another dtype or missing value in the rows to append", names[0])
        } else {
            format!("the type is {} in the file, and {} in the rows to append", names[0], names[1])
        });
    }
    check_flat(old)
}

/// Checks that the values of a column are neither nested nor objects.
pub(super) fn check_flat(column: &Column) -> Result<()> {
    let refused = |what: String| Err(Error::argument(what).in_column(&column.name));
    let of = &column.column_type;
    if of.physical.is_nested() {
        return refused(format!("nested values ({}) are not copied", of.physical.name()));
    }
    if of.logical == Logical::Object {
        return refused("objects are not copied".to_owned());
    }
    Ok(())
}

/// All values of a kept column.
pub(super) fn values(file: &File, column: &Column, monitor: &dyn Monitor) -> Result<Chunk> {
    let Some(Kept::Column(number)) = column.array.kept else {
        return Err(Error::argument("a column is not in the file"));
    };
    let info = file.column(number)?;
    if info.record.column_type.physical == Physical::Null {
        return nulls(&info);
    }
    Ok(decode(file, &info, 0, monitor)?.0)
}

pub(super) fn nulls(info: &ColumnInfo) -> Result<Chunk> {
    let n = usize::try_from(info.record.n_values).map_err(|_| Error::argument("too many rows"))?;
    Ok(Chunk { n, values: HostValues::Null, validity: HostValidity::AllValid })
}
