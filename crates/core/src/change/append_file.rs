//! Adds the rows of another file to the table of a file.

use std::collections::HashMap;

use entasis_format::{Error, Operation, Result, Value};

use super::columns::drop_unused;
use super::fit_column::{AppendOptions, FitColumns, Fitted, is_same};
use super::kept_values::check_flat;
use super::{Content, host_map, joined_host, kept};
use crate::file::File;
use crate::frame::{Chunk, Column, Frame};
use crate::monitor::Monitor;

/// The value of a file with the rows of another file.
#[derive(Debug)]
pub struct Appended {
    /// The value.
    pub content: Content,
    /// The operation to commit it with.
    pub operation: Operation,
    /// The names of the columns that are stored anew.
    pub anew: Vec<String>,
}

/// Adds the rows of the table in `rows` to the kept table of `file`. Returns the operation, and the
/// names of the columns that are stored anew.
///
/// Names and hosts are checked before values are read.
pub(super) fn append(
    file: &File,
    frame: &mut Frame,
    rows: &File,
    options: &AppendOptions<'_>,
    monitor: &dyn Monitor,
) -> Result<(Operation, Vec<String>)> {
    let in_rows = |e: Error| e.in_file(rows.path());
    let mut content = kept::kept(rows).map_err(in_rows)?;
    let part = content.table().map_err(in_rows)?;
    let matched = matched(&frame.columns, &part.columns, options.fill)?;
    frame.columns.iter().chain(&part.columns).try_for_each(check_flat)?;
    frame.host = joined_host(frame, part, &matched)?;
    let n_old = frame.n_rows;
    frame.n_rows = frame.n_rows.checked_add(part.n_rows).ok_or_else(|| Error::argument("too many rows"))?;

    let mut fit = FitColumns::new(file, frame, n_old, rows, part, options, monitor)?;
    let mut fitted = Vec::with_capacity(matched.positions.len());
    for (position, from) in matched.positions.iter().enumerate() {
        let found = match from {
            Some(from) => fit.column(position, *from),
            None => fit.missing(position),
        };
        let name = frame.columns.get(position).map_or("", |column| column.name.as_str());
        fitted.push(found.map_err(|e| e.in_column(name))?);
    }
    let mut added = Vec::with_capacity(matched.added.len());
    for &from in &matched.added {
        added.push(fit.added(from)?);
    }
    let categories = fit.categories()?;
    put(frame, part, (fitted, &matched), added, categories, options)
}

/// The host map of the joined rows. Columns that change their type, and those of one file alone,
/// keep the entries of the file.
fn joined_host(frame: &Frame, part: &Frame, matched: &Matched) -> Result<Value> {
    let n_columns = frame.columns.len();
    let mut to = vec![0; part.columns.len()];
    let pairs =
        matched.positions.iter().enumerate().filter_map(|(position, from)| Some((position, (*from)?)));
    for (position, from) in pairs.chain((n_columns..).zip(matched.added.iter().copied())) {
        to[from] = position;
    }
    let is_r = frame.host.get("host").and_then(Value::as_str) == Some("r");
    let is_free = |position: usize| match matched.positions.get(position) {
        // Attributes of R may give the values a meaning.
        Some(Some(from)) => !is_r && !is_same(frame, position, part, *from),
        _ => true,
    };
    joined_host::join((&frame.host, frame.n_rows), (&part.host, part.n_rows), &to, &is_free)
}

/// Puts the columns into the frame.
fn put(
    frame: &mut Frame,
    part: &Frame,
    (fitted, matched): (Vec<Fitted>, &Matched),
    added: Vec<Fitted>,
    categories: Vec<(usize, Chunk)>,
    options: &AppendOptions<'_>,
) -> Result<(Operation, Vec<String>)> {
    for (index, chunk) in categories {
        if let Some(column) = frame.extra.get_mut(index) {
            column.array.chunks.push(chunk);
        }
    }
    let (n_columns, n_added) = (frame.columns.len(), added.len());
    let is_anew = |fitted: &Fitted| matches!(fitted, Fitted::Anew(_));
    if n_added > 0 || fitted.iter().any(is_anew) {
        [&frame.host, &part.host].into_iter().try_for_each(host_map::check_flat)?;
    }
    if n_added > 0 {
        host_map::make_room(&mut frame.host, n_columns, n_added);
    }
    // The dictionaries of the rows that the file gets.
    let mut dictionaries: HashMap<usize, usize> = HashMap::new();
    let mut anew = Vec::new();
    let of_rows = matched.positions.iter().copied().chain(matched.added.iter().map(|&from| Some(from)));
    for (position, (fitted, from)) in fitted.into_iter().chain(added).zip(of_rows).enumerate() {
        let (mut column, dictionary, is_of_rows) = match fitted {
            Fitted::InPlace(chunk) => {
                if let Some(column) = frame.columns.get_mut(position).filter(|_| chunk.n > 0) {
                    column.array.chunks.push(chunk);
                }
                continue;
            }
            Fitted::Anew(anew) => (anew.column, anew.dictionary, anew.is_of_rows),
        };
        if let Some((of_part, values)) = dictionary {
            let index = *dictionaries.entry(of_part).or_insert(frame.extra.len());
            if index == frame.extra.len() {
                frame.extra.push(values);
            }
            column.dictionary = Some(index);
        }
        if let (true, Some(from)) = (is_of_rows, from) {
            host_map::take_entries(&mut frame.host, position, &part.host, from)?;
        }
        match frame.columns.get_mut(position) {
            Some(old) => {
                anew.push(column.name.clone());
                *old = column;
            }
            None => frame.columns.push(column),
        }
    }
    if n_added > 0
        && let Some(labels) = options.labels
    {
        let names: Vec<String> = frame.columns.iter().map(|column| column.name.clone()).collect();
        let labels = labels(&frame.host, &names)?;
        host_map::set_labels(&mut frame.host, labels);
    }
    if n_added > 0 || !anew.is_empty() {
        host_map::drop_arrangement(&mut frame.host);
        drop_unused(frame);
    }
    let operation = match (anew.is_empty(), n_added) {
        (false, _) => Operation::ReplaceColumns,
        (true, 0) => Operation::Append,
        (true, _) => Operation::AddColumns,
    };
    Ok((operation, anew))
}

/// The columns of the rows for those of a file.
struct Matched {
    /// For each column of the file, the position of the column of the same name in the rows.
    positions: Vec<Option<usize>>,
    /// The positions in the rows of columns that the file lacks.
    added: Vec<usize>,
}

/// Matches columns by name. Names that occur twice match only if all names are in the same order.
fn matched(old: &[Column], new: &[Column], fill: bool) -> Result<Matched> {
    if old.len() == new.len() && old.iter().zip(new).all(|(old, new)| old.name == new.name) {
        return Ok(Matched { positions: (0..old.len()).map(Some).collect(), added: Vec::new() });
    }
    let wrong = |message: &'static str, name: &str, advice: &'static str| {
        Err(Error::argument(message).in_column(name).advise(advice))
    };
    let mut known = HashMap::new();
    for (position, column) in new.iter().enumerate() {
        if known.insert(column.name.as_str(), position).is_some() {
            let message = "a name occurs twice, and the columns are in another order than in the file";
            return wrong(message, &column.name, "both tables need the same columns");
        }
    }
    let mut positions = Vec::with_capacity(old.len());
    for column in old {
        let position = known.remove(column.name.as_str());
        if position.is_none() && !fill {
            let message = "the rows to append lack a column of the file";
            return wrong(message, &column.name, "`fill` makes it missing");
        }
        positions.push(position);
    }
    let mut added: Vec<usize> = known.into_values().collect();
    added.sort_unstable();
    match added.first().and_then(|&first| new.get(first)) {
        Some(column) if !fill => {
            let message = "the rows to append have a column that the file lacks";
            wrong(message, &column.name, "`fill` adds it to the file")
        }
        _ => Ok(Matched { positions, added }),
    }
}
