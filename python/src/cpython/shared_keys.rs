//! Dicts that share one table of keys.
//!
//! CPython stores the attributes of all instances of a class in dicts that share a table of keys
//! ([PEP 412](https://peps.python.org/pep-0412/)), and a copy of such a dict shares it too. So a
//! list of records takes half the memory if its dicts are copies of one instance's `__dict__`. Such
//! a dict behaves like any other, and gets a table of its own when a key is added.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};

use super::feature::Feature;

/// The most keys that instances share. CPython reserves this many slots in a new class, and one
/// less after each instance.
const MAX_KEYS: usize = 30;

/// A dict equal to `dict` whose copies share its keys. None if a key cannot name an
/// attribute, or if there are too many keys.
pub fn sharing<'py>(dict: &Bound<'py, PyDict>) -> Option<Bound<'py, PyDict>> {
    if dict.len() > MAX_KEYS || !Feature::SharedKeys.is_enabled() {
        return None;
    }
    let made = attributes_of_instance(dict).ok()?;
    let are_same =
        made.len() == dict.len() && made.iter().zip(dict).all(|((a, _), (b, _))| a.eq(b).unwrap_or(false));
    are_same.then_some(made)
}

/// The `__dict__` of an instance that has the items of `dict` as attributes.
fn attributes_of_instance<'py>(dict: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyDict>> {
    let py = dict.py();
    let class = py.get_type::<PyType>().call1(("Row", PyTuple::empty(py), PyDict::new(py)))?;
    let mut object = class.call0()?;
    let set = |object: &Bound<'py, PyAny>, (key, value): (Bound<'py, PyAny>, Bound<'py, PyAny>)| {
        object.setattr(key.cast_into::<PyString>()?, value)
    };
    // Each instance uses up one reserved slot, so after `MAX_KEYS` instances the table has room for
    // one key more than it holds. The last key is set on the last instance alone, and fills it.
    let last = dict.len().saturating_sub(1);
    for _ in 0..MAX_KEYS {
        object = class.call0()?;
        dict.iter().take(last).try_for_each(|pair| set(&object, pair))?;
    }
    dict.iter().skip(last).try_for_each(|pair| set(&object, pair))?;
    Ok(object.getattr(pyo3::intern!(py, "__dict__"))?.cast_into_exact::<PyDict>()?)
}
