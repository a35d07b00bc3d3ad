//! Paths of values in a tree for error messages, in Python's notation: `value['a'][3].x`.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFrozenSet, PySet, PyTuple};

/// The most characters of a key that a path shows.
const KEY_LEN: usize = 60;
/// The steps that a long path shows at each end.
const STEPS: usize = 12;

/// An object whose children have cells.
pub struct Expanded {
    pub object: Py<PyAny>,
    /// The index of the parent among the expanded objects, and the position there.
    pub up: usize,
    pub position: usize,
    /// The number of its cell.
    pub number: u64,
    pub is_object: bool,
}

/// The parent of a root.
pub const ROOT: usize = usize::MAX;

/// The path of the child at `position` of the object `up`.
pub fn path(py: Python<'_>, root: &str, expanded: &[Expanded], mut up: usize, mut position: usize) -> String {
    let mut steps = Vec::new();
    while up != ROOT {
        let parent = &expanded[up];
        steps.push(step(parent.object.bind(py), parent.is_object, position));
        (up, position) = (parent.up, parent.position);
    }
    steps.reverse();
    if steps.len() > 2 * STEPS {
        let n = steps.len() - 2 * STEPS;
        steps.splice(STEPS..STEPS + n, [format!("...({n} more)...")]);
    }
    format!("{root}{}", steps.concat())
}

/// The dict or set that has a value as a key or member, if any. The flag says whether a key or
/// member further up contains the value.
pub fn holder<'py>(
    py: Python<'py>,
    expanded: &[Expanded],
    up: usize,
    position: usize,
) -> (Option<Bound<'py, PyAny>>, bool) {
    let (mut holder, mut is_inside) = (None, false);
    let (mut parent, mut child) = (up, position);
    while parent != ROOT {
        let Expanded { object, up: next, position, .. } = &expanded[parent];
        let object = object.bind(py);
        // Positions count the values first, then the keys.
        let is_key = object.cast::<PyDict>().is_ok_and(|dict| child >= dict.len());
        if is_key || object.is_instance_of::<PySet>() || object.is_instance_of::<PyFrozenSet>() {
            if parent == up { holder = Some(object.clone()) } else { is_inside = true }
        }
        (parent, child) = (*next, *position);
    }
    (holder, is_inside)
}

fn step(parent: &Bound<'_, PyAny>, is_object: bool, position: usize) -> String {
    if is_object && let Ok(parts) = parent.cast::<PyTuple>() {
        return step_of_object(parts, position);
    }
    let Ok(dict) = parent.cast::<PyDict>() else { return format!("[{position}]") };
    // Positions count the values first, then the keys.
    let n = dict.len();
    let key = dict.iter().nth(position % n.max(1)).map(|(key, _)| text(&key)).unwrap_or_default();
    if position < n { format!("[{key}]") } else { format!(" (the key {key})") }
}

/// The step to a part of an object. Fields of records have names.
fn step_of_object(parts: &Bound<'_, PyTuple>, position: usize) -> String {
    let name = || -> PyResult<String> {
        if parts.get_item(0)?.extract::<String>()? != "record" {
            return Ok(String::new());
        }
        let name: String = parts.get_item(3)?.get_item(position.wrapping_sub(4))?.extract()?;
        Ok(format!(".{name}"))
    };
    name().unwrap_or_default()
}

fn text(key: &Bound<'_, PyAny>) -> String {
    let text = key.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string());
    match text.char_indices().nth(KEY_LEN) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text,
    }
}
