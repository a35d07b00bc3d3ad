//! The cells of an open file: looked at one by one, or read with all that they contain.

use std::ops::Range;
use std::sync::Arc;

use entasis::CellKind;
use entasis::cells::{Cell, Cells, Children};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::loaded::Loaded;
use super::read::Maker;
use super::types::Types;
use crate::errors;

/// The cells of an open file.
#[pyclass(frozen, module = "entasis._entasis")]
pub struct CellReader {
    pub cells: Arc<Cells>,
}

/// A parent and its children.
fn parent(py: Python<'_>, loaded: &mut Loaded, number: u64) -> PyResult<(CellKind, Children)> {
    match loaded.fetch(py, number)? {
        Cell::Parent(kind, children) => Ok((kind, children)),
        _ => Err(errors::new(py, "ArgumentError", "the value has no parts")),
    }
}

#[pymethods]
impl CellReader {
    /// The cells of the file's value and of its metadata.
    fn roots(&self, py: Python<'_>) -> PyResult<(Option<u64>, Option<u64>)> {
        self.cells.roots().map_err(|e| errors::raise(py, &e))
    }

    /// What a cell is: its kind, and by class a number or text, the number of its children, or `(column, start, stop, shape, is_fortran)`. A reference is followed.
    fn describe<'py>(&self, py: Python<'py>, number: u64) -> PyResult<Bound<'py, PyDict>> {
        let mut loaded = Loaded::new(Arc::clone(&self.cells), Some(1));
        let mut number = number;
        let dict = PyDict::new(py);
        if let Cell::Int(CellKind::Reference, target) = loaded.fetch(py, number)? {
            number = target.cast_unsigned();
        }
        dict.set_item("number", number)?;
        match loaded.fetch(py, number)? {
            Cell::Unit(kind) => dict.set_item("kind", kind.name())?,
            Cell::Int(kind, value) => {
                dict.set_item("kind", kind.name())?;
                dict.set_item("int", value)?;
            }
            Cell::Float(kind, _) => dict.set_item("kind", kind.name())?,
            Cell::Str(kind, text) => {
                dict.set_item("kind", kind.name())?;
                dict.set_item("text", text)?;
            }
            Cell::Bytes(kind, bytes) => {
                dict.set_item("kind", kind.name())?;
                dict.set_item("len", bytes.len())?;
            }
            Cell::Parent(kind, children) => {
                dict.set_item("kind", kind.name())?;
                dict.set_item("count", children.count)?;
                dict.set_item("first", children.first)?;
                dict.set_item("keys", children.keys)?;
                if kind == CellKind::ObjectArray {
                    dict.set_item("shape", self.shape(py, children.keys)?)?;
                }
            }
            Cell::Array { kind, pool, at, len, shape } => {
                dict.set_item("kind", kind.name())?;
                let column = self.cells.pool(pool).map_err(|e| errors::raise(py, &e))?;
                dict.set_item("column", column)?;
                let end = at.saturating_add(len);
                dict.set_item("start", at)?;
                dict.set_item("stop", end)?;
                let shape = if shape == 0 { vec![len] } else { self.shape(py, shape)? };
                dict.set_item("shape", shape)?;
                dict.set_item("fortran", kind == CellKind::FortranArray)?;
            }
        }
        Ok(dict)
    }

    /// The keys of a map.
    fn keys<'py>(
        &self,
        py: Python<'py>,
        number: u64,
        hook: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        let mut loaded = Loaded::new(Arc::clone(&self.cells), Some(1));
        let (kind, children) = parent(py, &mut loaded, number)?;
        if kind != CellKind::Map {
            return Err(errors::new(py, "ArgumentError", "the value has no keys"));
        }
        let keys = children.keys..children.keys.saturating_add(children.count);
        self.make(py, loaded, keys, children, hook)
    }

    /// Some of the children of a cell, as objects.
    #[pyo3(signature = (number, start, stop, hook, threads=None))]
    fn children<'py>(
        &self,
        py: Python<'py>,
        number: u64,
        start: u64,
        stop: u64,
        hook: &Bound<'py, PyAny>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyList>> {
        let mut loaded = Loaded::new(Arc::clone(&self.cells), threads);
        let (_, children) = parent(py, &mut loaded, number)?;
        if start > stop || stop > children.count {
            return Err(errors::new(py, "RowsOutOfRangeError", "there are no such parts"));
        }
        self.make(py, loaded, children.first + start..children.first + stop, children, hook)
    }

    /// The object of a cell.
    #[pyo3(signature = (number, hook, threads=None))]
    fn read<'py>(
        &self,
        py: Python<'py>,
        number: u64,
        hook: &Bound<'py, PyAny>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let loaded = Loaded::new(Arc::clone(&self.cells), threads);
        self.make(py, loaded, number..number.saturating_add(1), Children::default(), hook)?.get_item(0)
    }
}

impl CellReader {
    fn shape(&self, py: Python<'_>, number: u64) -> PyResult<Vec<u64>> {
        let cells = &self.cells;
        // A shape is at most 64 numbers, right behind it.
        let end = number.saturating_add(65).min(cells.n_cells());
        let shape = py.detach(|| cells.load(number..end, Some(1), &entasis::Silent)?.shape(number));
        Ok(shape.map_err(|e| errors::raise(py, &e))?.0)
    }

    /// Makes objects of neighbouring cells, which are children of a cell that ends with `of.end`.
    fn make<'py>(
        &self,
        py: Python<'py>,
        mut loaded: Loaded,
        range: Range<u64>,
        of: Children,
        hook: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        let types = Types::new(py, true)?;
        // All of them: with what is below, which stands right behind.
        let is_all = range.start == of.first && range.end - range.start == of.count && of.count > 0;
        let wanted = if is_all { of.first..of.end } else { range.clone() };
        loaded.close(py, vec![wanted])?;
        Maker::new(py, &loaded, &types, hook)?.make(range)
    }
}
