//! Cells to objects.
//!
//! Everything below a cell is contiguous in a file and is read at once. Cells elsewhere that
//! references name are a few more slices. Objects are then made bottom-up, on an explicit stack, so
//! that nesting cannot overflow the call stack.

mod arrays;
mod dicts;
mod items;
mod objects;
mod rows;
mod strings;

use std::cell::OnceCell;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use entasis::cells::{Cell, Children, Run, Slice};
use entasis::{CellClass, CellKind};
use pyo3::prelude::*;
use pyo3::types::{
    PyByteArray, PyBytes, PyComplex, PyDict, PyEllipsis, PyFloat, PyFrozenSet, PyList, PySet, PySlice,
    PyTuple,
};

use arrays::Pool;
use items::Items;
use objects::{int, is_unit, unit};
use strings::{HitRate, Strings, Use};

use super::loaded::{Loaded, OTHER_SHAPE};
use super::types::Types;
use crate::errors;
use crate::monitor;

/// A cell whose children are being made: an entry of the stack.
struct Level<'py> {
    number: u64,
    kind: CellKind,
    children: Children,
    next: u64,
    end: u64,
    items: Items<'py>,
}

/// Makes objects from cells.
pub struct Maker<'a, 'py> {
    py: Python<'py>,
    loaded: &'a Loaded,
    types: OnceCell<Types>,
    /// The Python object with the methods `pool(column, start, stop)`, `table(number)`,
    /// `object(name, parts)`, `objects(list, shape)` and `unit(name)`.
    hook: &'a Bound<'py, PyAny>,
    /// The objects of the cells that references name; `None` until the object is complete.
    named: HashMap<u64, Option<Bound<'py, PyAny>>>,
    wanted: HashSet<u64>,
    keys: HashMap<u64, Vec<Bound<'py, PyAny>>>,
    strings: Strings<'py>,
    hit_rate: HitRate,
    /// Whether references name strings or bytes.
    are_texts_named: bool,
    pools: HashMap<u64, Pool<'py>>,
}

impl<'a, 'py> Maker<'a, 'py> {
    /// A maker for everything that was loaded. Plans the reads of all arrays in it.
    pub fn new(py: Python<'py>, loaded: &'a Loaded, hook: &'a Bound<'py, PyAny>) -> PyResult<Self> {
        let mut maker = Self {
            py,
            loaded,
            types: OnceCell::new(),
            hook,
            named: HashMap::new(),
            wanted: HashSet::new(),
            keys: HashMap::new(),
            strings: Strings::default(),
            hit_rate: HitRate::default(),
            are_texts_named: false,
            pools: HashMap::new(),
        };
        for (slice, range) in loaded.pieces() {
            let is_wanted = |kind: CellKind| kind == CellKind::Reference || kind.class() == CellClass::Array;
            for number in slice.numbers(range, is_wanted) {
                match maker.check(slice.cell(number))? {
                    Cell::Int(_, target) => {
                        let target = target.cast_unsigned();
                        maker.wanted.insert(target);
                        let named = loaded.cell(target);
                        maker.are_texts_named |= matches!(named, Ok(Cell::Str(..) | Cell::Bytes(..)));
                    }
                    Cell::Array { pool, at, len, .. } => {
                        let end = at
                            .checked_add(len)
                            .ok_or_else(|| maker.corrupt("an array ends beyond all values"))?;
                        let pool = match maker.pools.entry(pool) {
                            Entry::Occupied(known) => known.into_mut(),
                            Entry::Vacant(vacant) => {
                                let pool = Pool::of(loaded, pool).map_err(|e| errors::raise(py, &e))?;
                                vacant.insert(pool)
                            }
                        };
                        pool.want(at..end);
                    }
                    _ => {}
                }
            }
        }
        maker.pools.values_mut().for_each(Pool::plan);
        Ok(maker)
    }

    /// The types that are not builtin. Looked up on first use, as this imports modules.
    fn types(&self) -> PyResult<&Types> {
        if let Some(types) = self.types.get() {
            return Ok(types);
        }
        let types = Types::new(self.py, true)?;
        Ok(self.types.get_or_init(|| types))
    }

    fn corrupt(&self, problem: &'static str) -> PyErr {
        self.loaded.corrupt(self.py, problem)
    }

    fn check<T>(&self, result: entasis::Result<T>) -> PyResult<T> {
        result.map_err(|e| self.loaded.raise(self.py, e))
    }

    /// The objects of neighbouring cells.
    pub fn make(&mut self, range: Range<u64>) -> PyResult<Bound<'py, PyList>> {
        let kind = CellKind::List;
        let children = Children { count: range.end - range.start, ..Children::default() };
        // The list for the caller has no cell, so no reference can name it.
        let mut stack = vec![Level {
            number: u64::MAX,
            kind,
            children,
            next: range.start,
            end: range.end,
            items: Items::new(self.py, kind, children.count)?,
        }];
        let mut steps = 0u32;
        loop {
            let Some(level) = stack.last_mut() else { return Err(self.corrupt("a cell has no object")) };
            if level.next < level.end {
                self.scalars(level)?;
                if level.next == level.end {
                    continue;
                }
                let number = level.next;
                level.next += 1;
                if let Some(object) = self.one(number, &mut stack)?
                    && let Some(level) = stack.last_mut()
                {
                    level.items.push(object)?;
                }
                steps = steps.wrapping_add(1);
                if steps.is_multiple_of(1 << 18) {
                    monitor::check(self.py)?;
                }
                continue;
            }
            let Some(done) = stack.pop() else { return Err(self.corrupt("a cell has no object")) };
            let Some(parent) = stack.last_mut() else {
                let Items::List(list, _) = done.items else {
                    return Err(self.corrupt("a cell has no object"));
                };
                return Ok(list);
            };
            let number = done.number;
            let object = self.finish(done)?;
            parent.items.push(object.clone())?;
            if self.wanted.contains(&number) {
                self.named.insert(number, Some(object));
            }
        }
    }

    /// Makes the next children of a cell as long as they are ints, floats, strings, booleans or
    /// None.
    fn scalars(&mut self, level: &mut Level<'py>) -> PyResult<()> {
        let (py, loaded) = (self.py, self.loaded);
        let here = |slice: &&Slice| slice.range().contains(&level.next);
        let Some(slice) = loaded.slices().iter().find(here) else { return Ok(()) };
        let end = level.end.min(slice.range().end);
        let items = &mut level.items;
        while level.next < end {
            // Signals are checked after each part.
            let part = end.min(level.next + (1 << 20));
            let n = match self.check(slice.run(level.next, part))? {
                Run::Ints(CellKind::Int, values) => {
                    items.extend(values.len(), |i| int(py, values[i]))?;
                    values.len()
                }
                Run::Floats(CellKind::Float, values) => {
                    items.extend(values.len(), |i| Ok(PyFloat::new(py, values[i]).into_any()))?;
                    values.len()
                }
                Run::Texts(CellKind::Str, texts) if !self.are_texts_named => {
                    let made = self.strings.fill(py, &mut self.hit_rate, texts, Use::Any, items);
                    made.map_err(|e| loaded.not_text(py, e))?;
                    texts.len()
                }
                Run::Units(kinds) if is_unit(kinds[0]) => {
                    let n = kinds.iter().take_while(|&&kind| is_unit(kind)).count();
                    items.extend(n, |i| Ok(unit(py, kinds[i])))?;
                    n
                }
                _ => break,
            };
            level.next += n as u64;
            if n == 1 << 20 {
                monitor::check(py)?;
            }
        }
        Ok(())
    }

    /// The object of a cell without children. For other cells, pushes an entry and returns None.
    #[inline]
    fn one(&mut self, number: u64, stack: &mut Vec<Level<'py>>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = self.py;
        let loaded = self.loaded;
        Ok(Some(match self.check(loaded.cell(number))? {
            cell @ Cell::Unit(_) => self.scalar(&cell)?,
            Cell::Parent(kind, children) => {
                // A reference may have made it already.
                return match self.named.get(&number) {
                    Some(Some(known)) => Ok(Some(known.clone())),
                    Some(None) => Err(self.corrupt("a cell contains itself")),
                    None => self.begin(number, kind, children, stack),
                };
            }
            Cell::Int(CellKind::Reference, _) => return self.reference(number, stack),
            Cell::Int(CellKind::Table, table) => {
                if let Some(Some(known)) = self.named.get(&number) {
                    return Ok(Some(known.clone()));
                }
                let made = self.hook.call_method1(pyo3::intern!(py, "table"), (table,))?;
                self.remember(number, &made);
                made
            }
            cell @ (Cell::Int(..) | Cell::Float(..)) => self.scalar(&cell)?,
            Cell::Str(..) | Cell::Bytes(..) => self.named_scalar(number)?,
            Cell::Array { kind, pool, at, len, shape } => {
                if let Some(Some(known)) = self.named.get(&number) {
                    return Ok(Some(known.clone()));
                }
                let made = self.array(kind, pool, at..at + len, shape)?;
                self.remember(number, &made);
                made
            }
        }))
    }

    fn remember(&mut self, number: u64, object: &Bound<'py, PyAny>) {
        if self.wanted.contains(&number) {
            self.named.insert(number, Some(object.clone()));
        }
    }

    /// The object of a cell without children, which references may name.
    pub(super) fn named_scalar(&mut self, number: u64) -> PyResult<Bound<'py, PyAny>> {
        if let Some(Some(known)) = self.named.get(&number) {
            return Ok(known.clone());
        }
        let cell = self.check(self.loaded.cell(number))?;
        let made = self.scalar(&cell)?;
        self.remember(number, &made);
        Ok(made)
    }

    /// The object of a cell without children.
    #[inline]
    fn scalar(&mut self, cell: &Cell<'_>) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        match *cell {
            Cell::Int(CellKind::Int, value) => int(py, value),
            Cell::Int(kind, value) => self.types()?.make_int(py, kind, value),
            Cell::Float(CellKind::Float, value) => Ok(PyFloat::new(py, value).into_any()),
            Cell::Float(kind, value) => self.types()?.make_float(py, kind, value),
            Cell::Str(CellKind::Str, text) => {
                Ok(self.strings.get(py, &mut self.hit_rate, text.as_bytes())?.into_any())
            }
            Cell::Str(kind, text) => self.types()?.make_text(py, kind, text),
            Cell::Bytes(CellKind::Bytes, bytes) => Ok(PyBytes::new(py, bytes).into_any()),
            Cell::Bytes(CellKind::ByteArray, bytes) => Ok(PyByteArray::new(py, bytes).into_any()),
            Cell::Bytes(kind, bytes) => self.types()?.make_bytes(py, kind, bytes),
            Cell::Unit(kind @ (CellKind::Null | CellKind::False | CellKind::True)) => Ok(unit(py, kind)),
            Cell::Unit(CellKind::Ellipsis) => Ok(PyEllipsis::get(py).to_owned().into_any()),
            Cell::Unit(kind @ (CellKind::NumpyFalse | CellKind::NumpyTrue)) => {
                self.types()?.make_int(py, CellKind::NumpyTrue, i64::from(kind == CellKind::NumpyTrue))
            }
            Cell::Unit(kind) => self.hook.call_method1("unit", (kind.name(),)),
            Cell::Parent(..) | Cell::Array { .. } => {
                Err(self.corrupt("a cell has parts where none are allowed"))
            }
        }
    }

    /// Pushes an entry for a cell with children, or makes the object at once if its children are
    /// scalars.
    fn begin(
        &mut self,
        number: u64,
        kind: CellKind,
        children: Children,
        stack: &mut Vec<Level<'py>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        if children.count > 0 {
            let slice = self.loaded.slice(&(children.first..children.end));
            let slice = slice.ok_or_else(|| self.corrupt("a cell has children that are not there"))?;
            self.check(slice.check_children(number, kind, &children))?;
            let made = if kind.is_rows() {
                Some(self.all_rows(slice, kind, &children)?.into_any())
            } else if children.has_own_keys(kind) {
                self.plain_dict(slice, &children)?.map(Bound::into_any)
            } else {
                None
            };
            if let Some(made) = made {
                self.remember(number, &made);
                return Ok(Some(made));
            }
        } else if kind.n_children().is_some() || kind == CellKind::Object || kind.is_rows() {
            return Err(self.corrupt("a cell has another number of children than its kind"));
        }
        if self.wanted.contains(&number) {
            self.named.insert(number, None);
        }
        let n = if children.has_own_keys(kind) { 2 * children.count } else { children.count };
        let items = Items::new(self.py, kind, n)?;
        stack.push(Level { number, kind, children, next: children.first, end: children.first + n, items });
        Ok(None)
    }

    /// The object that a reference names. If it is not made yet, makes it or pushes its entry.
    fn reference(&mut self, number: u64, stack: &mut Vec<Level<'py>>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let wrong = || self.corrupt("a reference names what it can't");
        let Cell::Int(_, target) = self.check(self.loaded.cell(number))? else { return Err(wrong()) };
        let target = u64::try_from(target).ok().filter(|&target| target < number).ok_or_else(wrong)?;
        match self.named.get(&target) {
            Some(Some(known)) => return Ok(Some(known.clone())),
            Some(None) => return Err(self.corrupt("a cell contains itself")),
            None => {}
        }
        match self.check(self.loaded.cell(target))? {
            Cell::Unit(_) | Cell::Float(..) => Err(wrong()),
            Cell::Int(kind, _) if kind != CellKind::Table => Err(wrong()),
            _ => self.one(target, stack),
        }
    }

    /// The object of a cell, from the objects of its children.
    fn finish(&mut self, level: Level<'py>) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        let Level { kind, children, items, .. } = level;
        let items = match items {
            Items::List(list, _) => return Ok(list.into_any()),
            Items::Tuple(tuple, _) => return Ok(tuple.into_any()),
            Items::Parts(items) => items,
        };
        Ok(match kind {
            CellKind::Set => {
                let set = PySet::new(py, &items)?;
                self.check_distinct(set.len() == items.len())?;
                set.into_any()
            }
            CellKind::FrozenSet => {
                let set = PyFrozenSet::new(py, &items)?;
                self.check_distinct(set.len() == items.len())?;
                set.into_any()
            }
            CellKind::Map => {
                let n = usize::try_from(children.count).unwrap_or(0);
                let dict = if items.len() > n {
                    let (values, keys) = items.split_at(n);
                    dicts::of(py, keys, values)?
                } else if n > 0 {
                    self.shared_keys(&children)?;
                    dicts::of(py, &self.keys[&children.keys], &items)?
                } else {
                    PyDict::new(py)
                };
                self.check_distinct(dict.len() == n)?;
                dict.into_any()
            }
            CellKind::Complex => {
                let part = |i: usize| items[i].extract::<f64>();
                PyComplex::from_doubles(py, part(0)?, part(1)?).into_any()
            }
            CellKind::Range => {
                py.get_type::<pyo3::types::PyRange>().call1((&items[0], &items[1], &items[2]))?
            }
            CellKind::Slice => py.get_type::<PySlice>().call1((&items[0], &items[1], &items[2]))?,
            CellKind::Fraction => self.types()?.make_fraction(py, &items)?,
            CellKind::ObjectArray => {
                let shape = self.shape(children.keys, children.count)?;
                self.hook.call_method1("objects", (PyList::new(py, items)?, PyTuple::new(py, shape)?))?
            }
            _ => self.hook.call_method1("object", (kind.name(), PyList::new(py, items)?))?,
        })
    }

    fn check_distinct(&self, are_distinct: bool) -> PyResult<()> {
        if are_distinct { Ok(()) } else { Err(self.corrupt("keys or members are equal that have to differ")) }
    }

    /// The shape of an array of `n` elements.
    fn shape(&self, number: u64, n: u64) -> PyResult<Vec<u64>> {
        let found = entasis::cells::shape(number, &|number| self.loaded.cell(number));
        let (shape, product) = self.check(found)?;
        if product == Some(n) { Ok(shape) } else { Err(self.corrupt(OTHER_SHAPE)) }
    }
}
