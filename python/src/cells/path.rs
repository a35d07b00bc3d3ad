//! Where in a tree a value stands, as people write it: `value['a'][3].x`.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFrozenSet, PySet, PyTuple};

/// The longest text of a key.
const KEY_LEN: usize = 60;
/// Steps that are shown at both ends of a long path.
const STEPS: usize = 12;

/// An object whose children were looked at.
pub struct Expanded {
    pub object: Py<PyAny>,
    /// Which of those it is a child of, and at which place there.
    pub up: usize,
    pub position: usize,
    /// Its cell.
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

/// The dict or set that a value is a key or member of, and whether it is a part of such a key or member further up.
pub fn holder<'py>(
    py: Python<'py>,
    expanded: &[Expanded],
    up: usize,
    position: usize,
) -> (Option<Bound<'py, PyAny>>, bool) {
    let (mut holder, mut is_inside) = (None, false);
    let (mut parent, mut place) = (up, position);
    while parent != ROOT {
        let Expanded { object, up: next, position, .. } = &expanded[parent];
        let object = object.bind(py);
        // Keys are counted after the values.
        let is_key = object.cast::<PyDict>().is_ok_and(|dict| place >= dict.len());
        if is_key || object.is_instance_of::<PySet>() || object.is_instance_of::<PyFrozenSet>() {
            if parent == up { holder = Some(object.clone()) } else { is_inside = true }
        }
        (parent, place) = (*next, *position);
    }
    (holder, is_inside)
}

fn step(parent: &Bound<'_, PyAny>, is_object: bool, position: usize) -> String {
    if is_object && let Ok(parts) = parent.cast::<PyTuple>() {
        return step_of_object(parts, position);
    }
    let Ok(dict) = parent.cast::<PyDict>() else { return format!("[{position}]") };
    // Keys are counted after the values.
    let n = dict.len();
    let key = dict.iter().nth(position % n.max(1)).map(|(key, _)| text(&key)).unwrap_or_default();
    if position < n { format!("[{key}]") } else { format!(" (the key {key})") }
}

/// Parts of a record have names.
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
