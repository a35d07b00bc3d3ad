//! Builds a table from columns of the file and new ones.

use entasis_format::{Error, Result, Value};

use super::host_map::{self, Moved};
use crate::file::File;
use crate::frame::kept::Kept;
use crate::frame::{Column, Field, Frame};

/// A column of the new table, by its position in the file's table or in the frame of new columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ColumnSource {
    /// A column of the file's table.
    Kept(usize),
    /// A column of the frame that brings new ones.
    New(usize),
}

/// The columns of a table after a change.
#[derive(Debug)]
pub struct NewColumns<'a> {
    /// Where each column comes from.
    pub sources: &'a [ColumnSource],
    /// Their names.
    pub names: Vec<String>,
    /// Columns that hold index levels: their numbers in the file, and new names.
    pub levels: Vec<(usize, String)>,
}

/// Changes the columns of the kept table of a file.
pub(super) fn change(file: &File, frame: &mut Frame, new: Frame, columns: NewColumns<'_>) -> Result<()> {
    let NewColumns { sources, names, levels } = columns;
    let levels =
        levels.into_iter().map(|(number, name)| (file.number_in_file(number as u64), name)).collect();
    let nothing = Frame { n_rows: 0, columns: Vec::new(), extra: Vec::new(), host: Value::Null };
    let old = std::mem::replace(frame, nothing);
    *frame = combine(old, new, sources, names, levels)?;
    Ok(())
}

/// The table of `sources`, with these names. Unused extra columns are dropped. `levels` are new
/// names of extra columns of `old`, by their numbers in the file.
pub(super) fn combine(
    mut old: Frame,
    new: Frame,
    sources: &[ColumnSource],
    names: Vec<String>,
    levels: Vec<(u64, String)>,
) -> Result<Frame> {
    if sources.len() != names.len() {
        return Err(Error::argument("the table has another number of columns than names"));
    }
    if !new.columns.is_empty() && old.n_rows != new.n_rows {
        let message = format!("the new columns have {} rows, the file {}", new.n_rows, old.n_rows);
        return Err(Error::argument(message));
    }
    for (number, name) in levels {
        let is_level =
            |column: &&mut Column| matches!(column.array.kept, Some(Kept::Column(of)) if of == number);
        let level = old.extra.iter_mut().find(is_level);
        level.ok_or_else(|| Error::argument("a level of the index is not there"))?.name = name;
    }
    let (n_old, n_new, n_old_extra) = (old.columns.len(), new.columns.len(), old.extra.len());
    let (mut of_old, mut of_new) = (Moved::new(n_old, 0), Moved::new(n_new, n_old_extra));
    let mut from_old: Vec<_> = old.columns.into_iter().map(Some).collect();
    let mut from_new: Vec<_> =
        new.columns.into_iter().map(|column| Some(shifted(column, n_old_extra))).collect();
    let mut columns = Vec::with_capacity(sources.len());
    for (to, (source, name)) in sources.iter().zip(names).enumerate() {
        let (from, moved, at) = match source {
            ColumnSource::Kept(at) => (&mut from_old, &mut of_old, *at),
            ColumnSource::New(at) => (&mut from_new, &mut of_new, *at),
        };
        let column = from.get_mut(at).and_then(Option::take);
        let column =
            column.ok_or_else(|| Error::argument("a column of the table is taken twice, or is not there"))?;
        moved.put(at, to);
        columns.push(Column { name, ..column });
    }
    let extra = old.extra.into_iter().chain(new.extra.into_iter().map(|column| shifted(column, n_old_extra)));
    let host = host_map::merge((old.host, &of_old), (new.host, &of_new), columns.len())?;
    let mut frame = Frame { n_rows: old.n_rows, columns, extra: extra.collect(), host };
    drop_unused(&mut frame);
    Ok(frame)
}

/// A column whose dictionaries come `by` columns later.
fn shifted(mut column: Column, by: usize) -> Column {
    fn shift(fields: &mut [Field], by: usize) {
        for field in fields {
            field.dictionary = field.dictionary.map(|index| index + by);
            shift(&mut field.children, by);
        }
    }
    column.dictionary = column.dictionary.map(|index| index + by);
    shift(&mut column.children, by);
    column
}

/// Drops extra columns that neither a column nor the host map refers to.
pub(super) fn drop_unused(frame: &mut Frame) {
    let n_columns = frame.columns.len();
    let mut is_used = vec![false; frame.extra.len()];
    for column in &frame.columns {
        mark(column, &mut is_used);
    }
    loop {
        let before = is_used.iter().filter(|used| **used).count();
        host_map::mark_extra(&frame.host, n_columns, &mut is_used);
        for (i, column) in frame.extra.iter().enumerate() {
            if is_used[i] {
                mark(column, &mut is_used);
            }
        }
        if is_used.iter().filter(|used| **used).count() == before {
            break;
        }
    }
    host_map::drop_entries(&mut frame.host, n_columns, &is_used);
    let mut indices = Vec::with_capacity(is_used.len());
    let mut n = 0;
    for used in &is_used {
        indices.push(n);
        n += usize::from(*used);
    }
    let mut used = is_used.iter();
    frame.extra.retain(|_| used.next() == Some(&true));
    for column in frame.columns.iter_mut().chain(&mut frame.extra) {
        renumber(&mut column.dictionary, &mut column.children, &indices);
    }
    frame.host.visit_mut(&mut |value| {
        if let Value::Column(number) = value
            && let Some(index) = number
                .checked_sub(n_columns as u64)
                .and_then(|index| indices.get(usize::try_from(index).ok()?))
        {
            *number = (n_columns + index) as u64;
        }
    });
}

fn mark(column: &Column, is_used: &mut [bool]) {
    fn of_fields(fields: &[Field], is_used: &mut [bool]) {
        for field in fields {
            set(field.dictionary, is_used);
            of_fields(&field.children, is_used);
        }
    }
    fn set(dictionary: Option<usize>, is_used: &mut [bool]) {
        if let Some(used) = dictionary.and_then(|dictionary| is_used.get_mut(dictionary)) {
            *used = true;
        }
    }
    set(column.dictionary, is_used);
    of_fields(&column.children, is_used);
}

/// Replaces the index of each dictionary by its new index in `indices`.
pub(super) fn renumber(dictionary: &mut Option<usize>, fields: &mut [Field], indices: &[usize]) {
    *dictionary = dictionary.map(|index| indices.get(index).copied().unwrap_or(index));
    for field in fields {
        renumber(&mut field.dictionary, &mut field.children, indices);
    }
}
