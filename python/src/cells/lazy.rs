//! The cells of an open file. Describes a single cell, or reads one with its descendants.

use std::ops::Range;
use std::sync::Arc;

use entasis::CellKind;
use entasis::cells::{Cell, Cells, Children, Found, Key};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use super::loaded::{Loaded, OTHER_SHAPE};
use super::read::Maker;
use crate::cpython::arenas::HugeArenas;
use crate::errors;

/// The cells of an open file.
#[pyclass(frozen, module = "entasis._entasis")]
pub struct CellReader {
    pub cells: Arc<Cells>,
}

/// The kind and children of a cell, after checking that these cells exist.
fn parent(py: Python<'_>, loaded: &mut Loaded, number: u64) -> PyResult<(CellKind, Children)> {
    match loaded.fetch(py, number)? {
        Cell::Parent(kind, children) => {
            check_range(py, loaded, children.first, children.count)?;
            if kind.has_keys() {
                check_range(py, loaded, children.keys, children.count)?;
            }
            Ok((kind, children))
        }
        _ => Err(errors::new(py, "ArgumentError", "the value has no parts")),
    }
}

/// Checks that `n` cells exist from `first` on.
fn check_range(py: Python<'_>, loaded: &Loaded, first: u64, n: u64) -> PyResult<()> {
    match first.checked_add(n) {
        Some(end) if end <= loaded.cells().n_cells() => Ok(()),
        _ => Err(loaded.corrupt(py, "a cell has children that are not there")),
    }
}

/// The cells of a list of rows, a range for each key or position.
fn rows_of(py: Python<'_>, loaded: &mut Loaded, children: &Children) -> PyResult<Vec<Range<u64>>> {
    let family = children.first..children.first.saturating_add(children.count);
    loaded.fetch_all(py, family.clone())?;
    let mut lists: Vec<Range<u64>> = Vec::new();
    for number in family {
        let Cell::Parent(CellKind::List, of) = loaded.fetch(py, number)? else {
            return Err(loaded.corrupt(py, "a list of rows has no lists"));
        };
        check_range(py, loaded, of.first, of.count)?;
        if lists.first().is_some_and(|first| first.end - first.start != of.count) {
            return Err(loaded.corrupt(py, "the lists of a list of rows differ in length"));
        }
        lists.push(of.first..of.first + of.count);
    }
    Ok(lists)
}

#[pymethods]
impl CellReader {
    /// The cells of the value and of the metadata of the file.
    fn roots(&self, py: Python<'_>) -> PyResult<(Option<u64>, Option<u64>)> {
        self.cells.roots().map_err(|e| errors::raise(py, &e))
    }

    /// Describes a cell by a dict: its kind, and its value or its children. References are
    /// followed.
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
            Cell::Parent(kind, _) => {
                let (_, children) = parent(py, &mut loaded, number)?;
                dict.set_item("kind", kind.name())?;
                dict.set_item("count", children.count)?;
                dict.set_item("first", children.first)?;
                dict.set_item("keys", children.keys)?;
                if kind.is_rows() {
                    // To Python it is a list of rows. Their number is the length of each list of
                    // values.
                    let lists = rows_of(py, &mut loaded, &children)?;
                    dict.set_item("count", lists.first().map_or(0, |list| list.end - list.start))?;
                    dict.set_item("rows", if kind == CellKind::Records { "dict" } else { "tuple" })?;
                    dict.set_item("lists", lists.iter().map(|list| list.start).collect::<Vec<_>>())?;
                }
                if kind == CellKind::ObjectArray {
                    dict.set_item("shape", self.shape(py, &loaded, children.keys, children.count)?)?;
                }
            }
            Cell::Array { kind, pool, at, len, shape } => {
                dict.set_item("kind", kind.name())?;
                let column = self.cells.pool(pool).map_err(|e| loaded.raise(py, e))?;
                let found = self.cells.file().column(column).map_err(|e| loaded.raise(py, e))?;
                let end = at.checked_add(len).filter(|&end| end <= found.record.n_values);
                let end = end.ok_or_else(|| loaded.corrupt(py, "an array has values that are not there"))?;
                dict.set_item("column", column)?;
                dict.set_item("start", at)?;
                dict.set_item("stop", end)?;
                let shape = if shape == 0 { vec![len] } else { self.shape(py, &loaded, shape, len)? };
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
        if !kind.has_keys() {
            return Err(errors::new(py, "ArgumentError", "the value has no keys"));
        }
        let keys = children.keys..children.keys.saturating_add(children.count);
        self.make(py, loaded, keys, children, hook)
    }

    /// Looks up a string or an int in the key index that large maps have. Returns whether there is
    /// an index, and the position of the key.
    fn find(&self, py: Python<'_>, number: u64, key: &Bound<'_, PyAny>) -> PyResult<(bool, Option<u64>)> {
        let mut loaded = Loaded::new(Arc::clone(&self.cells), Some(1));
        let (kind, children) = parent(py, &mut loaded, number)?;
        let found = if let Ok(text) = key.cast_exact::<PyString>() {
            // The index contains no string with lone surrogates.
            let Ok(text) = text.to_str() else { return Ok((false, None)) };
            self.cells.find_key(kind, &children, Key::Str(text))
        } else {
            let Ok(value) = key.extract::<i64>() else { return Ok((false, None)) };
            self.cells.find_key(kind, &children, Key::Int(value))
        };
        Ok(match found.map_err(|e| loaded.raise(py, e))? {
            Found::NotIndexed => (false, None),
            Found::Absent => (true, None),
            Found::At(position) => (true, Some(position)),
        })
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
        let (kind, children) = parent(py, &mut loaded, number)?;
        let lists = if kind.is_rows() { rows_of(py, &mut loaded, &children)? } else { Vec::new() };
        let n = lists.first().map_or(children.count, |list| list.end - list.start);
        if start > stop || stop > n {
            return Err(errors::new(py, "RowsOutOfRangeError", "there are no such parts"));
        }
        if kind.is_rows() {
            let lists = lists.iter().map(|list| list.start + start..list.start + stop).collect();
            return self.make_rows(py, loaded, kind, children, lists, hook);
        }
        self.make(py, loaded, children.first + start..children.first + stop, children, hook)
    }

    /// The children of a cell in several ranges, one after the other. A cell that is shared between
    /// ranges becomes one object.
    #[pyo3(signature = (number, ranges, hook, threads=None))]
    fn children_at<'py>(
        &self,
        py: Python<'py>,
        number: u64,
        ranges: Vec<(u64, u64)>,
        hook: &Bound<'py, PyAny>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyList>> {
        let mut loaded = Loaded::new(Arc::clone(&self.cells), threads);
        let (kind, children) = parent(py, &mut loaded, number)?;
        let out = PyList::empty(py);
        let extend = |part: Bound<'py, PyList>| out.call_method1("extend", (part,)).map(|_| ());
        if kind.is_rows() {
            // The values of rows are scalars, so nothing is shared.
            for (start, stop) in ranges {
                extend(self.children(py, number, start, stop, hook, threads)?)?;
            }
            return Ok(out);
        }
        if ranges.iter().any(|&(start, stop)| start > stop || stop > children.count) {
            return Err(errors::new(py, "RowsOutOfRangeError", "there are no such parts"));
        }
        let ranges: Vec<Range<u64>> =
            ranges.iter().map(|&(start, stop)| children.first + start..children.first + stop).collect();
        loaded.close(py, ranges.clone())?;
        let _arenas = HugeArenas::new(py, loaded.n_needed());
        let mut maker = Maker::new(py, &loaded, hook)?;
        for range in ranges {
            extend(maker.make(range)?)?;
        }
        Ok(out)
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
    /// The shape of an array of `n` elements.
    fn shape(&self, py: Python<'_>, loaded: &Loaded, number: u64, n: u64) -> PyResult<Vec<u64>> {
        let cells = &self.cells;
        // The cells of a shape are at most 64 numbers, directly after it.
        let end = number.saturating_add(65).min(cells.n_cells());
        let found = py.detach(|| cells.load(number..end, Some(1), &entasis::Silent)?.shape(number));
        let (shape, product) = found.map_err(|e| loaded.raise(py, e))?;
        if product == Some(n) { Ok(shape) } else { Err(loaded.corrupt(py, OTHER_SHAPE)) }
    }

    /// Makes rows of a list of rows from the cells in these ranges.
    fn make_rows<'py>(
        &self,
        py: Python<'py>,
        mut loaded: Loaded,
        kind: CellKind,
        children: Children,
        lists: Vec<Range<u64>>,
        hook: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        let n = lists.first().map_or(0, |list| list.end - list.start);
        let mut wanted = lists.clone();
        if kind == CellKind::Records {
            wanted.push(children.keys..children.keys.saturating_add(children.count));
        }
        loaded.close(py, wanted)?;
        let _arenas = HugeArenas::new(py, loaded.n_needed());
        let damage = || loaded.corrupt(py, "a list of rows has values that are not there");
        let find = |range: Range<u64>| Some((loaded.slice(&range)?, range));
        let lists = lists.into_iter().map(|list| find(list).ok_or_else(damage)).collect::<PyResult<_>>();
        Maker::new(py, &loaded, hook)?.rows(kind, &children, if n == 0 { Vec::new() } else { lists? }, n)
    }

    /// Makes objects of neighbouring cells, which are some of the children `of` a cell.
    fn make<'py>(
        &self,
        py: Python<'py>,
        mut loaded: Loaded,
        range: Range<u64>,
        of: Children,
        hook: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        // If all children are wanted, everything below them follows directly, and one read loads
        // it.
        let is_all = range.start == of.first && range.end - range.start == of.count && of.count > 0;
        let wanted = if is_all { of.first..of.end } else { range.clone() };
        loaded.close(py, vec![wanted])?;
        let _arenas = HugeArenas::new(py, loaded.n_needed());
        Maker::new(py, &loaded, hook)?.make(range)
    }
}
