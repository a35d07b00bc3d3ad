//! Builtin objects that contain others.

use entasis::CellKind;
use pyo3::prelude::*;
use pyo3::types::{
    PyComplex, PyDict, PyFrozenSet, PyInt, PyList, PyRange, PySet, PySlice, PyString, PyTuple,
};

use super::types::type_of;

/// The kind of a builtin container, and the number of its items. None for other objects.
#[inline]
pub fn container(object: &Bound<'_, PyAny>) -> Option<(CellKind, usize)> {
    if let Ok(dict) = object.cast_exact::<PyDict>() {
        Some((CellKind::Map, dict.len()))
    } else if let Ok(list) = object.cast_exact::<PyList>() {
        Some((CellKind::List, list.len()))
    } else if let Ok(tuple) = object.cast_exact::<PyTuple>() {
        Some((CellKind::Tuple, tuple.len()))
    } else if let Ok(set) = object.cast_exact::<PySet>() {
        Some((CellKind::Set, set.len()))
    } else if let Ok(set) = object.cast_exact::<PyFrozenSet>() {
        Some((CellKind::FrozenSet, set.len()))
    } else {
        None
    }
}

/// The kind and the parts of a complex number, a range or a slice. None for other objects.
pub fn parts_of<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<(CellKind, Bound<'py, PyTuple>)>> {
    let py = object.py();
    if let Ok(number) = object.cast_exact::<PyComplex>() {
        let parts = (number.getattr("real")?, number.getattr("imag")?);
        return Ok(Some((CellKind::Complex, parts.into_pyobject(py)?)));
    }
    let kind = match () {
        () if object.cast_exact::<PyRange>().is_ok() => CellKind::Range,
        () if object.cast_exact::<PySlice>().is_ok() => CellKind::Slice,
        () => return Ok(None),
    };
    let parts = (object.getattr("start")?, object.getattr("stop")?, object.getattr("step")?);
    Ok(Some((kind, parts.into_pyobject(py)?)))
}

/// The members of a set. Strings and ints are sorted, so that a file does not depend on their
/// hashes.
pub fn ordered<'py>(set: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    let py = set.py();
    let members = PyList::empty(py);
    for member in set.try_iter()? {
        members.append(member?)?;
    }
    let is_of = |kind: usize| members.iter().all(|member| type_of(&member) == kind);
    if members.iter().next().is_some_and(|first| {
        let kind = type_of(&first);
        let known = [py.get_type::<PyString>().as_ptr() as usize, py.get_type::<PyInt>().as_ptr() as usize];
        known.contains(&kind) && is_of(kind)
    }) {
        members.sort()?;
    }
    Ok(members)
}
