//! Trees of R values on their way into a file: cells, and the pools that their vectors are in.

use std::collections::BTreeMap;
use std::os::raw::c_void;
use std::ptr::null_mut;

use entasis::cells::CellWriter;
use entasis::{CellClass, CellKind, Column, Error, HostRead, Result, Value};

use crate::build::{Builder, NewColumn};
use crate::column::Kind;
use crate::guard::{self, Failure, Text};
use crate::missing::{NA_INTEGER, first_na_of};
use crate::strings::{Handed, Strings};

/// Values of a vector that shares a pool with others, at most; of more bytes than that it has a pool of its own.
const SMALL: usize = 1 << 16;
/// The same of a character vector.
const SMALL_TEXT: usize = 1 << 12;

/// Codes of kinds are less than this.
const KINDS: usize = 18;

/// Where the values of a pool are.
enum Memory {
    /// Copies of small vectors, behind one another.
    Own(Vec<u8>),
    /// A large vector of R.
    Lent(*const c_void, usize),
    /// A column of the strings.
    Text(usize),
}

/// Vectors that become one column.
struct Pool {
    kind: Kind,
    /// Which NA of doubles is missing; of others whether one is.
    na: i32,
    memory: Memory,
}

/// Cells in the making.
pub struct Cells {
    pub writer: CellWriter,
    pools: Vec<Pool>,
    /// Pools of small vectors, by kind and NA.
    small: [[Option<usize>; 3]; KINDS],
    text: Option<usize>,
    strings: Strings,
    /// Shapes, with the arrays that have them.
    shapes: BTreeMap<Vec<u64>, Vec<usize>>,
}

/// A vector that was put into a pool.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Pooled {
    pool: u64,
    at: u64,
    len: u64,
}

/// Strings that are not kept as most are: how, a byte each, and where they are.
#[repr(C)]
pub struct Odd {
    kept: *const u8,
    pooled: Pooled,
}

impl Cells {
    fn new() -> Self {
        Self {
            writer: CellWriter::new(),
            pools: Vec::new(),
            small: [[None; 3]; KINDS],
            text: None,
            // SAFETY: they are copied.
            strings: unsafe { Strings::new(false) },
            shapes: BTreeMap::new(),
        }
    }

    fn add_pool(&mut self, kind: Kind, na: i32, memory: Memory) -> usize {
        self.pools.push(Pool { kind, na, memory });
        self.pools.len() - 1
    }

    /// # Safety
    /// The memory must be that of `n` values of the kind, and stay as it is until the file is written.
    unsafe fn numbers(&mut self, kind: Kind, memory: *const c_void, n: usize) -> Result<Pooled> {
        let width = kind.width().ok_or_else(|| Error::argument("strings are no numbers"))?;
        // SAFETY: as the caller promises; vectors of R are aligned for their values.
        let na = unsafe {
            match kind {
                Kind::Logical | Kind::Integer => {
                    i32::from(guard::slice(memory.cast::<i32>(), n).contains(&NA_INTEGER))
                }
                Kind::Double => first_na_of(guard::slice(memory.cast::<f64>(), n)),
                _ => 0,
            }
        };
        if n * width > SMALL {
            let pool = self.add_pool(kind, na, Memory::Lent(memory, n));
            return Ok(Pooled { pool: pool as u64, at: 0, len: n as u64 });
        }
        let place = (kind.code() as usize, na as usize);
        let pool = match self.small[place.0][place.1] {
            Some(pool) => pool,
            None => {
                let pool = self.add_pool(kind, na, Memory::Own(Vec::new()));
                self.small[place.0][place.1] = Some(pool);
                pool
            }
        };
        let Memory::Own(bytes) = &mut self.pools[pool].memory else {
            return Err(Error::argument("a pool of another kind"));
        };
        let at = (bytes.len() / width) as u64;
        // SAFETY: as the caller promises.
        bytes.extend_from_slice(unsafe { guard::slice(memory.cast::<u8>(), n * width) });
        Ok(Pooled { pool: pool as u64, at, len: n as u64 })
    }

    /// The strings that `n` more are to be added to, and the pool.
    fn strings(&mut self, n: usize) -> Result<(usize, &mut Strings)> {
        let known = self.text.filter(|_| n <= SMALL_TEXT);
        let Some(pool) = known else {
            let column = self.strings.begin(n)?;
            let pool = self.add_pool(Kind::String, 0, Memory::Text(column));
            if n <= SMALL_TEXT {
                self.text = Some(pool);
            }
            return Ok((pool, &mut self.strings));
        };
        let Memory::Text(column) = self.pools[pool].memory else {
            return Err(Error::argument("a pool of another kind"));
        };
        self.strings.resume(column, n)?;
        Ok((pool, &mut self.strings))
    }

    /// Ends with the shapes of arrays.
    pub fn finish(&mut self) {
        for (shape, users) in std::mem::take(&mut self.shapes) {
            let number = self.writer.n_cells();
            let place = self.writer.parent(CellKind::Tuple);
            shape.iter().for_each(|&n| self.writer.int(CellKind::Int, n as i64));
            self.writer.set_children(place, number + 1, shape.len() as u64, 0);
            self.writer.end(place);
            users.into_iter().for_each(|user| self.writer.set_shape(user, number));
        }
    }

    /// The columns of pools and cells, and the map that names them.
    ///
    /// # Safety
    /// The cells and all memory that was lent to them stay as they are as long as the columns are used.
    pub unsafe fn columns(&self) -> Result<(Vec<Column>, Value)> {
        let mut builder = Builder::new(0);
        for pool in &self.pools {
            let (values, n) = match &pool.memory {
                Memory::Own(bytes) => {
                    (bytes.as_ptr().cast::<c_void>(), bytes.len() / pool.kind.width().unwrap_or(1))
                }
                Memory::Lent(memory, n) => (*memory, *n),
                Memory::Text(column) => {
                    // SAFETY: the strings stay as long as the cells, as the caller promises.
                    builder.add_text(unsafe { self.strings.lend(*column) }?);
                    continue;
                }
            };
            let column = NewColumn::plain(pool.kind, values, n, pool.na);
            // SAFETY: as the caller promises.
            unsafe { builder.add(&column, true) }?;
        }
        let mut columns = builder.take_extra()?;
        let n_pools = columns.len() as u64;
        // SAFETY: as the caller promises.
        let lend = |bytes: &[u8]| unsafe { HostRead::new(bytes.as_ptr(), bytes.len()) };
        let (of_cells, mut names) = self.writer.columns(n_pools, &lend);
        columns.extend(of_cells);
        if n_pools > 0 {
            names.push((Value::from("pools"), Value::Column(0)));
            names.push((Value::from("n_pools"), Value::UInt(n_pools)));
        }
        Ok((columns, Value::Map(names)))
    }
}

fn kind_of(code: i32, class: CellClass) -> Result<CellKind> {
    let kind = u8::try_from(code).ok().and_then(CellKind::of).filter(|kind| kind.class() == class);
    kind.ok_or_else(|| Error::argument("no such kind of cell"))
}

/// No cells yet.
///
/// # Safety
/// `failure` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_cells_new(failure: *mut *mut Failure) -> *mut Cells {
    // SAFETY: as the caller promises.
    unsafe { guard::call(failure, null_mut(), || Ok(Box::into_raw(Box::new(Cells::new())))) }
}

/// Frees cells.
///
/// # Safety
/// `cells` must be what [`ent_cells_new`] gave, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_cells_free(cells: *mut Cells) {
    // SAFETY: made by `Box::into_raw`, as the caller promises.
    drop(unsafe { Box::from_raw(cells) });
}

/// How many cells there are: the number of the next one.
///
/// # Safety
/// `cells` must be what [`ent_cells_new`] gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_cells_n(cells: *const Cells) -> u64 {
    // SAFETY: as the caller promises.
    unsafe { (*cells).writer.n_cells() }
}

/// Adds a cell that is a scalar: of a kind that says all, an integer, or a float. 0, or -1 with an error.
///
/// # Safety
/// As for [`ent_cells_n`], used by this thread alone; `failure` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_cells_scalar(
    cells: *mut Cells,
    code: i32,
    integer: i64,
    float: f64,
    failure: *mut *mut Failure,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let writer = &mut (*cells).writer;
            match u8::try_from(code).ok().and_then(CellKind::of) {
                Some(kind) if kind.class() == CellClass::Unit => writer.unit(kind),
                Some(kind) if kind.class() == CellClass::Int => writer.int(kind, integer),
                Some(kind) if kind.class() == CellClass::Float => writer.float(kind, float),
                _ => return Err(Error::argument("no such kind of cell")),
            }
            Ok(0)
        })
    }
}

/// Adds cells of one kind: floats, or integers of 32 bits. 0, or -1 with an error.
///
/// # Safety
/// As for [`ent_cells_scalar`]; `n` numbers are there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_cells_scalars(
    cells: *mut Cells,
    code: i32,
    numbers: *const f64,
    n: usize,
    failure: *mut *mut Failure,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let writer = &mut (*cells).writer;
            let numbers = guard::slice(numbers, n);
            match u8::try_from(code).ok().and_then(CellKind::of) {
                Some(kind) if kind.class() == CellClass::Int => {
                    numbers.iter().for_each(|&number| writer.int(kind, number as i64));
                }
                Some(kind) if kind.class() == CellClass::Float => writer.floats(kind, numbers, 0),
                _ => return Err(Error::argument("no such kind of cell")),
            }
            Ok(0)
        })
    }
}

/// Adds a string. 1; 0 when it is not UTF-8, and nothing is added; -1 with an error.
///
/// # Safety
/// As for [`ent_cells_scalar`]; the text must be there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_cells_text(cells: *mut Cells, text: Text, failure: *mut *mut Failure) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            Ok(match std::str::from_utf8(text.bytes()) {
                Ok(text) => {
                    (*cells).writer.text(CellKind::Str, text);
                    1
                }
                Err(_) => 0,
            })
        })
    }
}

/// Adds cells that may have children; the place of the first among those, which the others follow, or -1 with an error.
///
/// # Safety
/// As for [`ent_cells_scalar`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_cells_parents(
    cells: *mut Cells,
    code: i32,
    n: usize,
    failure: *mut *mut Failure,
) -> isize {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let (writer, kind) = (&mut (*cells).writer, kind_of(code, CellClass::Parent)?);
            let first = writer.n_parents();
            for _ in 0..n {
                writer.parent(kind);
            }
            Ok(first.cast_signed())
        })
    }
}

/// Says where the children of a parent are.
///
/// # Safety
/// As for [`ent_cells_scalar`]; the place must be one that [`ent_cells_parents`] gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_cells_children(
    cells: *mut Cells,
    place: usize,
    first: u64,
    count: u64,
    keys: u64,
) {
    // SAFETY: as the caller promises.
    unsafe { (*cells).writer.set_children(place, first, count, keys) }
}

/// Says that all that is below a parent is there.
///
/// # Safety
/// As for [`ent_cells_children`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_cells_end(cells: *mut Cells, place: usize) {
    // SAFETY: as the caller promises.
    unsafe { (*cells).writer.end(place) }
}

/// Puts a vector of numbers into a pool. 0, or -1 with an error.
///
/// # Safety
/// As for [`ent_cells_scalar`]; the memory must be that of `n` values of the kind, and stay as it is until the cells are freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_cells_numbers(
    cells: *mut Cells,
    kind: i32,
    memory: *const c_void,
    n: usize,
    pooled: *mut Pooled,
    failure: *mut *mut Failure,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            *pooled = (*cells).numbers(Kind::of(kind)?, memory, n)?;
            Ok(0)
        })
    }
}

/// The strings that `n` more are to be added to, and where those will be; null with an error.
///
/// # Safety
/// As for [`ent_cells_scalar`]. The strings are used before anything else is added.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_cells_strings(
    cells: *mut Cells,
    n: usize,
    pooled: *mut Pooled,
    failure: *mut *mut Failure,
) -> *mut Strings {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, null_mut(), || {
            let cells = &mut *cells;
            let (pool, strings) = cells.strings(n)?;
            *pooled = Pooled { pool: pool as u64, at: strings.len(strings.column()) as u64, len: n as u64 };
            Ok(&raw mut *strings)
        })
    }
}

/// Adds the cell of a vector that was put into a pool; with dimensions, that many. 0, or -1 with an error.
///
/// # Safety
/// As for [`ent_cells_scalar`]; `n_dim` dimensions are there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_cells_array(
    cells: *mut Cells,
    pooled: Pooled,
    dim: *const i32,
    n_dim: usize,
    failure: *mut *mut Failure,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let cells = &mut *cells;
            let kind = if n_dim > 0 { CellKind::FortranArray } else { CellKind::Array };
            let place = cells.writer.array(kind, pooled.pool, pooled.at, pooled.len);
            if n_dim > 0 {
                let axis = |&n: &i32| u64::try_from(n).map_err(|_| Error::argument("a negative dimension"));
                let shape = guard::slice(dim, n_dim).iter().map(axis).collect::<Result<_>>()?;
                cells.shapes.entry(shape).or_default().push(place);
            }
            Ok(0)
        })
    }
}

/// Adds the cells of vectors of numbers of one kind. 0, or -1 with an error.
///
/// # Safety
/// As for [`ent_cells_numbers`], for each of `n` vectors and lengths.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_cells_arrays(
    cells: *mut Cells,
    kind: i32,
    memory: *const *const c_void,
    lens: *const usize,
    n: usize,
    failure: *mut *mut Failure,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let (cells, kind) = (&mut *cells, Kind::of(kind)?);
            for (&memory, &len) in guard::slice(memory, n).iter().zip(guard::slice(lens, n)) {
                let pooled = cells.numbers(kind, memory, len)?;
                cells.writer.array(CellKind::Array, pooled.pool, pooled.at, pooled.len);
            }
            Ok(0)
        })
    }
}

/// Adds the cells of character vectors of so many strings each. How many were added, or -1 with an error: of the one after those the
/// strings are in the pool, but not kept as most are; `odd` says where and how, until others are added.
///
/// # Safety
/// As for [`ent_cells_scalar`]; `n` lengths, as many strings as those say, and their bytes are there. `odd` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_cells_texts(
    cells: *mut Cells,
    handed: *const Handed,
    lens: *const usize,
    n: usize,
    missing: usize,
    odd: *mut Odd,
    failure: *mut *mut Failure,
) -> isize {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let cells = &mut *cells;
            let lens = guard::slice(lens, n);
            let mut handed = guard::slice(handed, lens.iter().sum());
            for (done, &len) in lens.iter().enumerate() {
                let (now, later) = handed.split_at(len);
                handed = later;
                let (pool, strings) = cells.strings(len)?;
                let at = strings.len(strings.column());
                strings.add_all(now, missing)?;
                if let Some(kept) = strings.odd(at) {
                    let pooled = Pooled { pool: pool as u64, at: at as u64, len: len as u64 };
                    *odd = Odd { kept: kept.as_ptr(), pooled };
                    return Ok(done.cast_signed());
                }
                cells.writer.array(CellKind::Array, pool as u64, at as u64, len as u64);
            }
            Ok(n.cast_signed())
        })
    }
}

/// Adds what is below the objects from this place on: to each a vector of numbers whose attributes are those of a cell that is there. A double
/// by itself is no array. 0, or -1 with an error.
///
/// # Safety
/// As for [`ent_cells_arrays`]; the place is one that [`ent_cells_parents`] gave, with as many behind it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_cells_like(
    cells: *mut Cells,
    place: usize,
    kind: i32,
    memory: *const *const c_void,
    lens: *const usize,
    n: usize,
    attributes: u64,
    failure: *mut *mut Failure,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let cells = &mut *cells;
            let kind = Kind::of(kind)?;
            let vectors = guard::slice(memory, n).iter().zip(guard::slice(lens, n));
            for (place, (&memory, &len)) in (place..).zip(vectors) {
                let first = cells.writer.n_cells();
                cells.writer.text(CellKind::Str, "r.vector");
                if kind == Kind::Double && len == 1 {
                    cells.writer.float(CellKind::Float, *memory.cast::<f64>());
                } else {
                    let pooled = cells.numbers(kind, memory, len)?;
                    cells.writer.array(CellKind::Array, pooled.pool, pooled.at, pooled.len);
                }
                cells.writer.int(CellKind::Reference, attributes.cast_signed());
                cells.writer.set_children(place, first, 3, 0);
                cells.writer.end(place);
            }
            Ok(0)
        })
    }
}
