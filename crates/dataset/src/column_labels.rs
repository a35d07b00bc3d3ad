//! Decides whether columns can change by their names: whether the names are all that the host of a
//! file knows about its columns (`docs/format/hosts`).

use entasis::{Error, Value};

/// Attributes of an R data frame that do not depend on its columns.
const FREE_ATTRIBUTES: [&str; 4] = ["names", "class", "row.names", ".internal.selfref"];
/// Classes of frames. Tables of other classes are one column, or an index.
const FRAMES: [&str; 4] = ["Frame", "FrameGO", "FrameHE", "RecordBatch"];

/// The library or language of a host map.
fn host_of(host: &Value) -> Option<&str> {
    host.get("host").and_then(Value::as_str)
}

/// Adds where a refused change is possible: the language of the host.
pub fn advise(error: Error, host: &Value, python: &'static str, r: &'static str) -> Error {
    match host_of(host) {
        Some("r") => error.advise(r),
        Some(_) => error.advise(python),
        None => error,
    }
}

/// Refuses files whose host has labels other than the names of the columns, or values that depend
/// on the columns.
///
/// # Errors
/// *Unsupported*.
pub fn check(host: &Value) -> entasis::Result<()> {
    let refused = |what: String| Err(Error::unsupported(what));
    match host_of(host) {
        None if host.is_null() => return Ok(()),
        Some("r") => return check_r(host),
        Some("pandas" | "static_frame" | "polars" | "pyarrow" | "numpy") => {}
        _ => return refused("the file is of a host whose labels are not known here".to_owned()),
    }
    if let Some(class) = host.get("class").and_then(Value::as_str)
        && !FRAMES.contains(&class)
    {
        return refused(format!("the file holds a {class}, not a frame"));
    }
    match host.get("columns").map(|columns| columns.get("kind").and_then(Value::as_str)) {
        None | Some(Some("names")) => Ok(()),
        _ => refused("the labels of the columns are not text".to_owned()),
    }
}

fn check_r(host: &Value) -> entasis::Result<()> {
    let refused = |what: String| Err(Error::unsupported(what));
    if host.get("form").and_then(Value::as_str) != Some("data.frame") {
        return refused("the file holds a vector, not a data frame".to_owned());
    }
    if host.get("names").is_some() {
        return refused("the names of the data frame are not those of its columns in the file".to_owned());
    }
    let attributes = host.get("attributes").and_then(Value::as_list).unwrap_or_default();
    for attribute in attributes {
        let name = attribute.as_list().and_then(|parts| parts.first()).and_then(Value::as_str);
        if !name.is_some_and(|name| FREE_ATTRIBUTES.contains(&name)) {
            let name = name.unwrap_or("?");
            return refused(format!("the attribute {name:?} of the data frame may depend on its columns"));
        }
    }
    Ok(())
}

/// A host map that names only the host. It changes no labels of columns.
pub fn of_kept(host: &Value) -> Value {
    host.get("host").map_or(Value::Null, |name| Value::map([("host", name.clone())]))
}

/// The host map with the labels of renamed columns. StaticFrame keeps labels in an array with the
/// width of the longest label.
pub fn renamed(host: &Value, names: &[String]) -> Value {
    let Some(name) = host.get("host") else { return Value::Null };
    let mut pairs = vec![("host", name.clone())];
    if let Some(Value::Map(columns)) = host.get("columns")
        && columns.iter().any(|(key, _)| key.as_str() == Some("width"))
    {
        let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let mut columns = columns.clone();
        for (key, value) in &mut columns {
            if key.as_str() == Some("width") {
                *value = Value::Int(i64::try_from(longest.max(1)).unwrap_or(i64::MAX));
            }
        }
        pairs.push(("columns", Value::Map(columns)));
    }
    Value::map(pairs)
}

/// The host map with the column labels of two tables. As in pandas, text labels get the dtype
/// `str`.
pub fn joined(host: &Value, names: &[String]) -> Value {
    let mut labels = renamed(host, names);
    if host_of(host) == Some("pandas")
        && let (Value::Map(pairs), Some(Value::Map(columns))) = (&mut labels, host.get("columns"))
    {
        let mut columns = columns.clone();
        for (key, value) in &mut columns {
            if key.as_str() == Some("dtype") {
                *value = Value::from("str");
            }
        }
        pairs.push((Value::from("columns"), Value::Map(columns)));
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(name: &str, more: Vec<(&str, Value)>) -> Value {
        Value::map([("host", Value::from(name))].into_iter().chain(more))
    }

    fn of_kind(kind: &str) -> Value {
        Value::map([("kind", Value::from(kind))])
    }

    fn r(more: Vec<(&str, Value)>) -> Value {
        host("r", [("form", Value::from("data.frame"))].into_iter().chain(more).collect())
    }

    #[test]
    fn only_labels_that_are_names_change() {
        let attributes = |name: &str| {
            let attribute = Value::List(vec![Value::from(name), Value::Null]);
            vec![("attributes", Value::List(vec![attribute]))]
        };
        for fine in [
            Value::Null,
            host("pandas", vec![("columns", of_kind("names"))]),
            host("static_frame", vec![("class", Value::from("FrameGO")), ("columns", of_kind("names"))]),
            host("pyarrow", vec![("class", Value::from("RecordBatch"))]),
            host("polars", vec![]),
            r(vec![]),
            r(attributes("class")),
        ] {
            assert!(check(&fine).is_ok(), "{fine:?}");
        }
        for wrong in [
            host("other", vec![]),
            host("pandas", vec![("columns", of_kind("column"))]),
            host("pandas", vec![("columns", of_kind("range"))]),
            host("pandas", vec![("columns", of_kind("multi"))]),
            host("pandas", vec![("class", Value::from("Series"))]),
            host("static_frame", vec![("class", Value::from("IndexDate"))]),
            host("r", vec![("form", Value::from("vector"))]),
            r(vec![("names", Value::Null)]),
            r(attributes("groups")),
        ] {
            assert!(check(&wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn the_width_of_labels_is_that_of_the_longest() {
        let columns = Value::map([("kind", Value::from("names")), ("width", Value::Int(3))]);
        let before = host("static_frame", vec![("columns", columns)]);
        let width = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            renamed(&before, &names).get("columns").and_then(|columns| columns.get("width")?.as_int())
        };
        assert_eq!([width(&["a", "überlang"]), width(&["a"]), width(&[""])], [Some(8), Some(1), Some(1)]);
        assert_eq!(renamed(&host("polars", vec![]), &[]), host("polars", vec![]));
    }

    #[test]
    fn labels_of_two_tables_are_text() {
        for dtype in ["str", "object"] {
            let of = |dtype: &str| {
                let pairs = [("kind", "names"), ("dtype", dtype), ("name", "x")];
                host(
                    "pandas",
                    vec![("columns", Value::map(pairs.map(|(key, value)| (key, Value::from(value)))))],
                )
            };
            assert_eq!(joined(&of(dtype), &[]), of("str"));
        }
        assert_eq!(joined(&host("polars", vec![]), &[]), host("polars", vec![]));
    }
}
