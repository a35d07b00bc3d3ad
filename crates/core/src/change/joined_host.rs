//! The host map of a table with appended rows of another file (`docs/format/hosts`).

use entasis_format::{Error, Result, Value};

/// Entries that stay those of the file.
const OF_FILE: [&str; 7] =
    ["attrs", "allows_duplicate_labels", "name", "blocks", "schema_metadata", "row_names", "attributes"];
/// Entries about single values or categories. Joining them is not supported.
const REFUSED: [&str; 5] = ["missing_kinds", "encodings", "dtype_metadata", "categories", "names"];
/// Lists of lists that begin with the position of a column; `columns` only in R.
const BY_POSITION: [&str; 2] = ["field_metadata", "columns"];
/// Attributes of R that do not depend on the rows.
const FREE_ATTRIBUTES: [&str; 4] = ["names", "class", "row.names", ".internal.selfref"];

/// The host map of the file for the joined rows. `old` is the file's map and `new` that of the
/// rows, each with its number of rows. `to` has the position in the file of each column of the
/// rows. The entries of columns at free positions may differ, and stay those of the file.
pub(super) fn join(
    (old, n_old): (&Value, u64),
    (new, n_new): (&Value, u64),
    to: &[usize],
    is_free: &dyn Fn(usize) -> bool,
) -> Result<Value> {
    let (Value::Map(pairs), Value::Map(more)) = (old, new) else {
        return if old == new { Ok(old.clone()) } else { Err(another_host(old, new)) };
    };
    if old.get("host") != new.get("host") {
        return Err(another_host(old, new));
    }
    let is_r = old.get("host").and_then(Value::as_str) == Some("r");
    let keys = pairs.iter().chain(more.iter().filter(|(key, _)| pairs.iter().all(|(known, _)| known != key)));
    let mut joined = Vec::with_capacity(pairs.len());
    for (key, _) in keys {
        let name = key.as_str().unwrap_or_default();
        let (of_file, of_rows) = (old.get(name), new.get(name));
        if REFUSED.contains(&name) {
            return Err(refused(name));
        }
        if name == "index" {
            joined.push((key.clone(), index((of_file, n_old), (of_rows, n_new))?));
            continue;
        }
        if name == "attributes" {
            check_attributes(of_file)?;
            check_attributes(of_rows)?;
        }
        if name == "class" && of_file.and_then(Value::as_str).is_some_and(|class| class.contains("Index")) {
            return Err(Error::argument("rows are not appended to an index"));
        }
        let is_list = BY_POSITION.contains(&name) && (is_r || name != "columns");
        let is_equal = match (of_file, of_rows) {
            _ if OF_FILE.contains(&name) => true,
            _ if name == "columns" && !is_r && are_names(of_file) && are_names(of_rows) => true,
            _ if is_list => are_equal(of_file, of_rows, to, is_free),
            (Some(of_file), Some(of_rows)) => of_file == of_rows && is_plain(of_file),
            _ => false,
        };
        if !is_equal {
            return Err(refused(if is_r && name == "columns" { "attributes" } else { name }));
        }
        if let Some(value) = of_file {
            joined.push((key.clone(), value.clone()));
        }
    }
    Ok(Value::Map(joined))
}

fn refused(key: &str) -> Error {
    let what = match key {
        "missing_kinds" => "missing values of several kinds are",
        "encodings" => "encodings of strings are",
        "dtype_metadata" => "metadata of dtypes are",
        "categories" => "the kind of the categories is",
        "names" => "names of another kind than those of the columns are",
        "attributes" => "attributes of columns are",
        "columns" => "labels of columns that are not text are",
        _ => {
            let message = format!("the entry {key:?} of the host map differs in the rows to append");
            return Error::argument(message);
        }
    };
    Error::argument(format!("{what} not joined with those of other rows"))
}

pub(super) fn another_host(old: &Value, new: &Value) -> Error {
    let name = |host: &Value| match host.get("host").and_then(Value::as_str) {
        Some(name) => name.to_owned(),
        None => "no library".to_owned(),
    };
    Error::argument(format!("the file is of {}, the other one of {}", name(old), name(new)))
}

/// The index of the file for the joined rows.
fn index((old, n_old): (Option<&Value>, u64), (new, n_new): (Option<&Value>, u64)) -> Result<Value> {
    let refused =
        |what: &str| Error::argument(format!("the index (labels of rows) of {what} is not 0, 1, 2 ..."));
    let starts = |index: Option<&Value>| {
        let number = |key: &str| index?.get(key)?.as_int();
        let is_range = index?.get("kind")?.as_str() == Some("range") && number("step") == Some(1);
        number("start").filter(|_| is_range)
    };
    if old.is_some() && starts(old) != Some(0) {
        return Err(refused("the file"));
    }
    let goes_on = |start: i64| start == 0 || u64::try_from(start) == Ok(n_old);
    if old.is_none() || !starts(new).is_some_and(goes_on) {
        return Err(refused("the rows to append"));
    }
    if old.and_then(|index| index.get("name")) != new.and_then(|index| index.get("name")) {
        return Err(Error::argument("the index has another name in the rows to append"));
    }
    let stop = n_old.checked_add(n_new).and_then(|stop| i64::try_from(stop).ok());
    let stop = stop.ok_or_else(|| Error::argument("too many rows"))?;
    let mut index = old.cloned().unwrap_or(Value::Null);
    if let Value::Map(pairs) = &mut index {
        for (key, value) in pairs {
            if key.as_str() == Some("stop") {
                *value = Value::Int(stop);
            }
        }
    }
    Ok(index)
}

/// Whether the labels of columns are their names.
fn are_names(columns: Option<&Value>) -> bool {
    columns.and_then(|columns| columns.get("kind")?.as_str()) == Some("names")
}

/// Attributes of R, for example groups, may depend on the rows.
fn check_attributes(attributes: Option<&Value>) -> Result<()> {
    for attribute in attributes.and_then(Value::as_list).unwrap_or_default() {
        let name = attribute.as_list().and_then(|parts| parts.first()).and_then(Value::as_str);
        if !name.is_some_and(|name| FREE_ATTRIBUTES.contains(&name)) {
            let name = name.unwrap_or("?");
            return Err(Error::argument(format!("the attribute {name:?} may depend on the rows")));
        }
    }
    Ok(())
}

/// Whether two lists by position have equal entries, except at free positions.
fn are_equal(
    of_file: Option<&Value>,
    of_rows: Option<&Value>,
    to: &[usize],
    is_free: &dyn Fn(usize) -> bool,
) -> bool {
    let of_file = entries(of_file, &Some, is_free);
    let is_plain =
        |entries: &Vec<(usize, &[Value])>| entries.iter().all(|(_, rest)| rest.iter().all(is_plain));
    of_file.as_ref().is_some_and(is_plain)
        && of_file == entries(of_rows, &|position| to.get(position).copied(), is_free)
}

/// The entries of a list by position that are at positions of the file which are not free.
fn entries<'a>(
    list: Option<&'a Value>,
    to: &dyn Fn(usize) -> Option<usize>,
    is_free: &dyn Fn(usize) -> bool,
) -> Option<Vec<(usize, &'a [Value])>> {
    let mut found = Vec::new();
    for item in list.map_or(Some(&[][..]), Value::as_list)? {
        let (first, rest) = item.as_list()?.split_first()?;
        let position = to(usize::try_from(first.as_uint()?).ok()?)?;
        if !is_free(position) {
            found.push((position, rest));
        }
    }
    found.sort_by_key(|(position, _)| *position);
    Some(found)
}

/// Whether a value refers to no column, table or cell of its file.
pub(super) fn is_plain(value: &Value) -> bool {
    match value {
        Value::Column(_) | Value::Table(_) | Value::Cell(_) => false,
        Value::List(values) => values.iter().all(is_plain),
        Value::Map(pairs) => pairs.iter().all(|(key, value)| is_plain(key) && is_plain(value)),
        _ => true,
    }
}
