//! Joins the host maps of a table whose columns change (`docs/format/hosts`).
//!
//! Entries of a host map that belong to a column move with it. All other entries come from the
//! file, except that the labels of columns, the index, and R attributes may come from the new
//! columns.

use entasis_format::{Error, Result, Value};

use super::joined_host::{another_host, is_plain};

/// Lists of lists that begin with the position of a column.
const OF_COLUMNS: [&str; 2] = ["missing_kinds", "field_metadata"];
/// The same, in maps of R.
const OF_COLUMNS_OF_R: [&str; 2] = ["columns", "encodings"];
/// R entries for the whole frame that may come from the new columns: the names of all columns, and
/// attributes, such as a key that names columns.
const OF_FRAME_OF_R: [&str; 2] = ["names", "attributes"];
/// Lists of lists that may begin with the number of an extra column that they describe.
const OF_EXTRA: [&str; 2] = ["categories", "encodings"];
/// How the columns were arranged in memory. The entry is dropped, because it does not fit other
/// columns.
const ARRANGEMENT: &str = "blocks";
/// A map with lists of positions.
const METADATA: &str = "dtype_metadata";
/// The labels of columns.
const LABELS: &str = "columns";
/// The labels of rows.
const INDEX: &str = "index";

/// Maps the columns of a table to their positions in the new table.
pub(super) struct Moved {
    to: Vec<Option<usize>>,
    first_extra: usize,
}

impl Moved {
    /// Maps no column yet. Among all extra columns, those of this table begin at `first_extra`.
    pub(super) fn new(n_columns: usize, first_extra: usize) -> Self {
        Self { to: vec![None; n_columns], first_extra }
    }

    /// Column `at` becomes column `to`.
    pub(super) fn put(&mut self, at: usize, to: usize) {
        if let Some(known) = self.to.get_mut(at) {
            *known = Some(to);
        }
    }

    fn position(&self, value: &Value) -> Option<usize> {
        self.to.get(usize::try_from(value.as_uint()?).ok()?).copied().flatten()
    }

    /// Renumbers the columns in a value. Fails for a column that the new table lacks.
    fn renumber(&self, value: &mut Value, n_columns: usize) -> Result<()> {
        let mut is_there = true;
        value.visit_mut(&mut |scalar| {
            let Value::Column(number) = scalar else { return };
            let index = usize::try_from(*number).unwrap_or(usize::MAX);
            let to = match self.to.get(index) {
                Some(to) => *to,
                None => Some((index - self.to.len()).saturating_add(n_columns + self.first_extra)),
            };
            match to {
                Some(to) => *number = to as u64,
                None => is_there = false,
            }
        });
        if is_there { Ok(()) } else { Err(unexpected("names a column that is dropped")) }
    }

    /// The items of a list that belong to columns of the new table, or to extra columns.
    fn items(&self, value: Option<Value>, n_columns: usize) -> Result<Vec<Value>> {
        let Some(Value::List(items)) = value else {
            return if value.is_none() { Ok(Vec::new()) } else { Err(unexpected("has no list of columns")) };
        };
        let mut found = Vec::new();
        for item in items {
            let Value::List(mut parts) = item else { return Err(unexpected("has no list for a column")) };
            let Some(first) = parts.first_mut() else { continue };
            if first.as_column().is_none() {
                let Some(position) = self.position(first) else { continue };
                *first = Value::UInt(position as u64);
            }
            let mut item = Value::List(parts);
            self.renumber(&mut item, n_columns)?;
            found.push(item);
        }
        Ok(found)
    }
}

fn unexpected(what: &str) -> Error {
    Error::unsupported(format!("the host map of the file {what}")).advise("write the file again")
}

fn take(pairs: &mut Vec<(Value, Value)>, key: &str) -> Option<Value> {
    let index = pairs.iter().position(|(name, _)| name.as_str() == Some(key))?;
    Some(pairs.remove(index).1)
}

/// The host map of a table with columns of two other tables. `n_columns` counts the columns of the
/// new table.
pub(super) fn merge(
    (old, of_old): (Value, &Moved),
    (new, of_new): (Value, &Moved),
    n_columns: usize,
) -> Result<Value> {
    let Value::Map(mut old) = old else { return Ok(Value::Null) };
    let mut new = if let Value::Map(new) = new { new } else { Vec::new() };
    let host = |pairs: &[(Value, Value)]| {
        pairs.iter().find(|(key, _)| key.as_str() == Some("host")).map(|(_, host)| host.clone())
    };
    let is_r = host(&old).is_some_and(|host| host.as_str() == Some("r"));
    if host(&new).is_some_and(|host_of_new| Some(host_of_new) != host(&old)) {
        return Err(Error::argument("the new columns are of another library than the file"));
    }
    let mut joined = Vec::new();
    let lists = OF_COLUMNS.iter().chain(if is_r { &OF_COLUMNS_OF_R[..] } else { &OF_EXTRA[..1] });
    for key in lists {
        let mut items = of_old.items(take(&mut old, key), n_columns)?;
        items.extend(of_new.items(take(&mut new, key), n_columns)?);
        items.sort_by_key(first_of);
        if !items.is_empty() {
            joined.push((Value::from(*key), Value::List(items)));
        }
    }
    if let Some(mut metadata) = take(&mut old, METADATA) {
        move_metadata(&mut metadata, of_old)?;
        of_old.renumber(&mut metadata, n_columns)?;
        joined.push((Value::from(METADATA), metadata));
    }
    if take(&mut new, METADATA).is_some() {
        return Err(Error::unsupported("new columns with metadata of their dtypes cannot be added in place"));
    }
    take(&mut old, ARRANGEMENT);
    if let Some(mut labels) = take(&mut new, LABELS) {
        take(&mut old, LABELS);
        of_new.renumber(&mut labels, n_columns)?;
        joined.push((Value::from(LABELS), labels));
    }
    if let Some(mut index) = take(&mut new, INDEX) {
        of_new.renumber(&mut index, n_columns)?;
        set_index(&mut old, index);
    }
    for key in OF_FRAME_OF_R {
        if is_r && let Some(mut value) = take(&mut new, key) {
            take(&mut old, key);
            of_new.renumber(&mut value, n_columns)?;
            joined.push((Value::from(key), value));
        }
    }
    for (key, mut value) in old {
        of_old.renumber(&mut value, n_columns)?;
        joined.push((key, value));
    }
    joined.sort_by_key(|(key, _)| key.as_str() != Some("host"));
    Ok(Value::Map(joined))
}

/// Replaces the index. An index without the key `kind` replaces only the entries that it has.
fn set_index(pairs: &mut Vec<(Value, Value)>, index: Value) {
    let known = pairs.iter_mut().find(|(key, _)| key.as_str() == Some(INDEX)).map(|(_, value)| value);
    match (known, index) {
        (Some(Value::Map(known)), Value::Map(entries))
            if entries.iter().all(|(key, _)| key.as_str() != Some("kind")) =>
        {
            for (key, value) in entries {
                match known.iter_mut().find(|(name, _)| *name == key) {
                    Some((_, entry)) => *entry = value,
                    None => known.push((key, value)),
                }
            }
        }
        (Some(known), index) => *known = index,
        (None, index) => pairs.push((Value::from(INDEX), index)),
    }
}

/// The entries of a host map that belong to columns, for a table with the host map `host`. Checks
/// that both maps have the same host, and that the index of the new columns is the file's or 0, 1,
/// 2 ...
pub(super) fn of_columns(host: &Value, new: Value) -> Result<Value> {
    let name = host.get("host").and_then(Value::as_str);
    if name != new.get("host").and_then(Value::as_str) || host.is_null() != new.is_null() {
        return Err(another_host(host, &new));
    }
    if host.get("empty_schema").is_some() {
        return Err(Error::argument("columns are not added to a table without columns"));
    }
    let is_r = name == Some("r");
    // Row names of R are ignored, as the R package ignores them.
    if !is_r && !is_index_of(host.get("index"), new.get("index")) {
        let what =
            "the index (labels of rows) of the new columns is neither that of the file nor 0, 1, 2 ...";
        return Err(Error::argument(what));
    }
    if new.get(METADATA).is_some() {
        return Err(Error::argument("metadata of dtypes are not copied"));
    }
    let Value::Map(mut pairs) = new else { return Ok(Value::Null) };
    let of_host: &[&str] = if is_r { &OF_COLUMNS_OF_R } else { &OF_EXTRA[..1] };
    pairs.retain(|(key, _)| {
        key.as_str().is_some_and(|key| key == "host" || OF_COLUMNS.contains(&key) || of_host.contains(&key))
    });
    Ok(Value::Map(pairs))
}

/// Moves the numbers of extra columns, as `n_added` columns follow those of the table.
pub(super) fn make_room(host: &mut Value, n_columns: usize, n_added: usize) {
    host.visit_mut(&mut |value| {
        if let Value::Column(number) = value
            && *number >= n_columns as u64
        {
            *number = number.saturating_add(n_added as u64);
        }
    });
}

/// Gives the column at `position` the entries that the column at `from` has in another host map.
pub(super) fn take_entries(host: &mut Value, position: usize, other: &Value, from: usize) -> Result<()> {
    let is_r = host.get("host").and_then(Value::as_str) == Some("r");
    let key = if is_r { OF_COLUMNS_OF_R[0] } else { OF_COLUMNS[1] };
    let Value::Map(pairs) = host else { return Ok(()) };
    let is_at = |item: &Value, at: usize| {
        let first = item.as_list().and_then(<[Value]>::first);
        first.and_then(Value::as_uint) == Some(at as u64)
    };
    let mut items = match take(pairs, key) {
        Some(Value::List(items)) => items,
        _ => Vec::new(),
    };
    items.retain(|item| !is_at(item, position));
    let of_other = other.get(key).and_then(Value::as_list).unwrap_or_default();
    if let Some(item) = of_other.iter().find(|item| is_at(item, from)) {
        let mut parts = item.as_list().unwrap_or_default().to_vec();
        if !parts.iter().all(is_plain) {
            return Err(Error::argument("attributes of columns that refer to other columns are not copied"));
        }
        if let Some(first) = parts.first_mut() {
            *first = Value::UInt(position as u64);
        }
        items.push(Value::List(parts));
        items.sort_by_key(first_of);
    }
    if !items.is_empty() {
        pairs.push((Value::from(key), Value::List(items)));
    }
    Ok(())
}

/// Replaces the labels of columns by those of another host map, if it has any.
pub(super) fn set_labels(host: &mut Value, other: Value) {
    if let (Value::Map(pairs), Value::Map(mut other)) = (host, other)
        && let Some(labels) = take(&mut other, LABELS)
    {
        take(pairs, LABELS);
        pairs.push((Value::from(LABELS), labels));
    }
}

/// Forgets how the columns were arranged in memory.
pub(super) fn drop_arrangement(host: &mut Value) {
    if let Value::Map(pairs) = host {
        take(pairs, ARRANGEMENT);
    }
}

/// Whether the index of new columns is absent, 0, 1, 2 ..., or the range of the file.
fn is_index_of(old: Option<&Value>, new: Option<&Value>) -> bool {
    let range = |index: Option<&Value>| {
        let index = index.filter(|index| index.get("kind").and_then(Value::as_str) == Some("range"))?;
        let number = |key: &str| index.get(key).and_then(Value::as_int);
        Some((number("start")?, number("step")?))
    };
    new.is_none() || range(new).is_some_and(|of_new| of_new == (0, 1) || range(old) == Some(of_new))
}

/// Refuses vectors of R that take several columns.
pub(super) fn check_flat(host: &Value) -> Result<()> {
    let is_r = host.get("host").and_then(Value::as_str) == Some("r");
    for item in host.get(LABELS).filter(|_| is_r).and_then(Value::as_list).unwrap_or_default() {
        let description = item.as_list().and_then(|parts| parts.get(1));
        if ["matrix", "parts"].iter().any(|key| description.is_some_and(|of| of.get(key).is_some())) {
            return Err(Error::argument("matrices and frames as columns are not copied"));
        }
    }
    Ok(())
}

/// The sort key of an item: positions come before numbers of extra columns.
fn first_of(item: &Value) -> (bool, u64) {
    let first = item.as_list().and_then(|parts| parts.first());
    let column = first.and_then(Value::as_column);
    (column.is_some(), column.or_else(|| first.and_then(Value::as_uint)).unwrap_or(u64::MAX))
}

fn move_metadata(metadata: &mut Value, moved: &Moved) -> Result<()> {
    let Value::Map(pairs) = metadata else { return Err(unexpected("has impossible metadata of dtypes")) };
    for (key, value) in pairs {
        let (true, Value::List(groups)) = (key.as_str() == Some("columns"), value) else { continue };
        for group in groups {
            let Value::List(positions) = group else { return Err(unexpected("has no list of columns")) };
            let found: Vec<_> = positions.iter().filter_map(|position| moved.position(position)).collect();
            *positions = found.into_iter().map(|position| Value::UInt(position as u64)).collect();
        }
    }
    Ok(())
}

/// Marks the extra columns that a host map refers to. An entry that describes an extra column
/// counts only if that column is marked.
pub(super) fn mark_extra(host: &Value, n_columns: usize, is_used: &mut [bool]) {
    for (key, value) in host.as_map().unwrap_or_default() {
        let is_described = key.as_str().is_some_and(|key| OF_EXTRA.contains(&key));
        match value.as_list().filter(|_| is_described) {
            Some(items) => {
                for item in items {
                    if is_of_used(item, n_columns, is_used) {
                        mark(item, n_columns, is_used);
                    }
                }
            }
            None => mark(value, n_columns, is_used),
        }
    }
}

fn extra_of(value: &Value, n_columns: usize) -> Option<usize> {
    usize::try_from(value.as_column()?).ok()?.checked_sub(n_columns)
}

fn is_of_used(item: &Value, n_columns: usize, is_used: &[bool]) -> bool {
    let first = item.as_list().and_then(|parts| parts.first());
    let index = first.and_then(|first| extra_of(first, n_columns));
    index.is_none_or(|index| is_used.get(index) == Some(&true))
}

fn mark(value: &Value, n_columns: usize, is_used: &mut [bool]) {
    match value {
        Value::List(values) => values.iter().for_each(|value| mark(value, n_columns, is_used)),
        Value::Map(pairs) => pairs.iter().for_each(|(_, value)| mark(value, n_columns, is_used)),
        scalar => {
            if let Some(used) = extra_of(scalar, n_columns).and_then(|index| is_used.get_mut(index)) {
                *used = true;
            }
        }
    }
}

/// Drops the entries that describe unused extra columns.
pub(super) fn drop_entries(host: &mut Value, n_columns: usize, is_used: &[bool]) {
    let Value::Map(pairs) = host else { return };
    for (key, value) in pairs.iter_mut() {
        if let (true, Value::List(items)) = (key.as_str().is_some_and(|key| OF_EXTRA.contains(&key)), value) {
            items.retain(|item| is_of_used(item, n_columns, is_used));
        }
    }
    let is_empty = |(key, value): &(Value, Value)| {
        key.as_str().is_some_and(|key| OF_EXTRA.contains(&key))
            && value.as_list().is_some_and(<[_]>::is_empty)
    };
    pairs.retain(|pair| !is_empty(pair));
}
