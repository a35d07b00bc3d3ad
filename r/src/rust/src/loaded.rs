//! Trees of a file on their way to R: cells in memory, checked before C makes values of them.

use std::collections::BTreeMap;
use std::os::raw::c_void;
use std::ptr::{null, null_mut};
use std::sync::Arc;

use entasis::cells::{Cell, Loaded as Cells, Slice, threads_for};
use entasis::{Buffer, CellKind, ColumnType, Error, File, Logical, Physical, Result, Rows, Silent, Value};

use crate::build::FLAVOUR_QUIET;
use crate::column::Kind;
use crate::guard::{self, Failure, Interrupted, Signals, Text};
use crate::read::{self, Want};

/// Cells in memory.
pub struct Loaded {
    cells: Cells,
    /// The cells that references mean, ascending.
    targets: Vec<u64>,
    pools: Vec<PoolUse>,
    /// The values of pools that many arrays are cut from.
    memory: Vec<Buffer>,
    alike: Vec<Place>,
}

/// Where the values of a vector are in its pool.
#[repr(C)]
#[derive(Clone, Copy, PartialEq)]
pub struct Place {
    at: u64,
    len: u64,
}

/// Vectors of one pool that stand together in a list.
#[repr(C)]
pub struct Alike {
    /// The place of the pool among those that are needed; of doubles that are cells themselves none, -1: their bits are `at`.
    pool: i64,
    places: *const Place,
    n: usize,
}

/// What is needed of a pool.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PoolUse {
    pool: u64,
    /// Its column, among all of the file.
    column: u64,
    /// The first value that is needed, and the one behind the last.
    start: u64,
    end: u64,
    /// Arrays that have values of it.
    n: u64,
    /// What is needed of it, as vectors of this kind have it; null where C makes a vector of it, which may be the value itself.
    values: *const c_void,
    kind: i32,
}

/// A cell; which fields count is told by its kind.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CellParts {
    kind: i32,
    class: i32,
    integer: i64,
    float: f64,
    /// Text, bytes, or the name of the kind.
    text: Text,
    /// First, end, count and keys of a parent; pool, at, len and shape of an array.
    numbers: [u64; 4],
}

/// What is needed of pools, and how many values the arrays of each have together.
#[derive(Default)]
struct Uses {
    all: BTreeMap<u64, (PoolUse, u64)>,
    /// Neighbours have mostly the same pool.
    last: Option<(PoolUse, u64)>,
}

impl Uses {
    /// Adds neighbouring arrays. One that ends nowhere ends behind all that a pool can have.
    fn add(&mut self, mut pools: &[u64], mut places: &[u64], mut lens: &[u64]) {
        while let (Some(&pool), Some(&at)) = (pools.first(), places.first()) {
            let n = pools.iter().take_while(|&&other| other == pool).count();
            let of_pool;
            (of_pool, places) = places.split_at(n);
            let so_long;
            (so_long, lens) = lens.split_at(n);
            pools = &pools[n..];
            if self.last.as_ref().is_none_or(|(last, _)| last.pool != pool) {
                self.all.extend(self.last.take().map(|last| (last.0.pool, last)));
                let fresh = PoolUse { pool, column: 0, start: at, end: at, n: 0, values: null(), kind: 0 };
                self.last = Some(self.all.get(&pool).copied().unwrap_or((fresh, 0)));
            }
            if let Some((last, sum)) = &mut self.last {
                for (&at, &len) in of_pool.iter().zip(so_long) {
                    last.start = last.start.min(at);
                    last.end = last.end.max(at.saturating_add(len));
                    *sum = sum.saturating_add(len);
                }
                last.n += n as u64;
            }
        }
    }

    fn end(mut self) -> impl Iterator<Item = (PoolUse, u64)> {
        self.all.extend(self.last.map(|last| (last.0.pool, last)));
        self.all.into_values()
    }
}

impl Loaded {
    /// Looks at what was read: which cells are named, and what is needed of pools.
    fn look(&mut self) -> Result<()> {
        let mut uses = Uses::default();
        self.targets.clear();
        for (slice, range) in self.cells.pieces() {
            let mut number = range.start;
            while number < range.end {
                if let Some([pools, places, lens, _]) = slice.arrays(number, range.end) {
                    uses.add(pools, places, lens);
                    number += pools.len() as u64;
                    continue;
                }
                match slice.cell(number)? {
                    Cell::Int(CellKind::Reference, target) => {
                        let target = target.cast_unsigned();
                        // Neighbours name mostly the same cell.
                        if self.targets.last() != Some(&target) {
                            self.targets.push(target);
                        }
                    }
                    Cell::Array { pool, at, len, .. } => uses.add(&[pool], &[at], &[len]),
                    _ => {}
                }
                number += 1;
            }
        }
        self.targets.sort_unstable();
        self.targets.dedup();
        self.pools.clear();
        for (mut found, sum) in uses.end() {
            found.column = self.cells.cells().pool(found.pool)?;
            let n_values = self.cells.cells().file().column(found.column)?.record.n_values;
            if found.end > n_values {
                return Err(damage("an array has values that its pool has not"));
            }
            // Vectors of R are copies: what few values make many of is no file that was written.
            if sum > n_values {
                return Err(Error::limit("arrays share their values, which R can't"));
            }
            self.pools.push(found);
        }
        Ok(())
    }

    /// Reads the pools that R itself filled with numbers, and that several arrays are cut from. In memory of R's they would be garbage as
    /// soon as the arrays are made.
    fn read_pools(&mut self, interrupted: Option<Interrupted>) -> Result<()> {
        let file = self.cells.cells().file();
        let (mut memory, mut found) = (Vec::new(), Vec::new());
        if is_own(file) {
            for (i, pool) in self.pools.iter().enumerate().filter(|(_, pool)| pool.n > 1) {
                let of = file.column(pool.column)?.record.column_type;
                let Some((kind, width)) = pooled_kind(&of).and_then(|kind| Some((kind, kind.width()?)))
                else {
                    continue;
                };
                let len = usize::try_from(pool.end - pool.start).ok().and_then(|n| n.checked_mul(width));
                let buffer = len.and_then(Buffer::brief);
                memory.push(buffer.ok_or_else(|| Error::limit("not enough memory for the vectors"))?);
                found.push((i, kind, width, i32::from(of.flavour) & FLAVOUR_QUIET != 0));
            }
        }
        if found.is_empty() {
            return Ok(());
        }
        let len = memory.iter().map(|memory| memory.len() as u64).sum();
        let wants = found.iter().zip(&mut memory).map(|(&(i, kind, width, quiet), memory)| {
            let n = memory.len() / width;
            Want::own(self.pools[i].column, kind, memory, n, quiet)
        });
        let wants: Vec<Want> = wants.collect();
        let rows = |i: usize| {
            let pool = &self.pools[found[i].0];
            Rows::Range(pool.start..pool.end)
        };
        // SAFETY: the buffers are as long as the values, aligned for any of them, and used by nothing else.
        unsafe { read::read(file, &wants, rows, threads_for(len, None), interrupted) }?;
        for (&(i, kind, ..), memory) in found.iter().zip(&memory) {
            (self.pools[i].values, self.pools[i].kind) = (memory.as_ptr().cast(), kind.code());
        }
        self.memory = memory;
        Ok(())
    }

    /// A cell whose children, if it has some, were read too.
    #[inline]
    fn fill(&self, number: u64, out: &mut CellParts) -> Result<()> {
        let cell = self.cells.cell(number)?;
        if let Cell::Parent(kind, children) = cell {
            if children.count > 0 {
                let slice = self.cells.slice(&(children.first..children.end.max(children.first)));
                let slice = slice.ok_or_else(|| damage("a cell has children that are not there"))?;
                slice.check_children(number, kind, &children)?;
            } else if kind.n_children().is_some() || kind == CellKind::Object {
                return Err(damage("a cell has another number of children than its kind"));
            }
        }
        out.set(cell);
        Ok(())
    }

    /// The vectors from cell `number` to before `end` that are alike: arrays of one pool without a shape, or such of one length that share
    /// their attributes, the cells of which are objects. Cells that references mean are left out.
    fn alike(&mut self, number: u64, end: u64) -> Result<Alike> {
        let next = self.targets.partition_point(|&target| target < number);
        let end = end.min(number.saturating_add(MOST_ALIKE));
        let end = self.targets.get(next).map_or(end, |&target| end.min(target));
        self.alike.clear();
        let mut first = None;
        if let Some(slice) = self.cells.slice(&(number..end.max(number))) {
            if let Some([pools, places, lens, shapes]) = slice.arrays(number, end) {
                let of = VectorOf { pool: Some(pools[0]), attributes: None };
                let same =
                    pools.iter().zip(shapes).take_while(|&(&pool, &shape)| pool == pools[0] && shape == 0);
                let n = same.count();
                if n > 0 {
                    first = Some((of, lens[0]));
                }
                self.alike.extend(places.iter().zip(lens).take(n).map(|(&at, &len)| Place { at, len }));
            }
            for number in number + self.alike.len() as u64..end {
                let Some((of, place)) = vector_of(slice, &self.cells, number)? else { break };
                let known = *first.get_or_insert((of, place.len));
                if known.0 != of || (of.attributes.is_some() && known.1 != place.len) {
                    break;
                }
                self.alike.push(place);
            }
        }
        let pool = match first {
            Some((VectorOf { pool: Some(pool), .. }, _)) => {
                let i = self.pools.partition_point(|known| known.pool < pool);
                let found = self.pools.get(i).filter(|known| known.pool == pool);
                let found = found.ok_or_else(|| damage("an array without a pool"))?;
                let room = found.end - found.start;
                // Without a way out of the loop.
                let mut are_inside = true;
                for place in &mut self.alike {
                    let at = place.at.wrapping_sub(found.start);
                    are_inside &= place.at >= found.start && at <= room && place.len <= room.wrapping_sub(at);
                    place.at = at;
                }
                if !are_inside {
                    return Err(damage("an array outside of its pool"));
                }
                i as i64
            }
            _ => -1,
        };
        Ok(Alike { pool, places: self.alike.as_ptr(), n: self.alike.len() })
    }

    /// The shape of `n` values.
    fn shape(&self, number: u64, n: u64) -> Result<Vec<u64>> {
        let (shape, product) = entasis::cells::shape(number, &|number| self.cells.cell(number))?;
        if product == Some(n) {
            Ok(shape)
        } else {
            Err(damage("the shape of an array is not that of its values"))
        }
    }
}

/// What vectors that are alike have in common.
#[derive(Clone, Copy, PartialEq)]
struct VectorOf {
    /// None for a double that is a cell itself.
    pool: Option<u64>,
    /// The cell of the attributes, of an object.
    attributes: Option<i64>,
}

/// Vectors that are told together, at most: their places stay in the processor's cache.
const MOST_ALIKE: u64 = 1 << 11;

/// The vector of a cell: an array, or an object of a vector and shared attributes; none when it is something else.
#[inline]
fn vector_of(slice: &Slice, cells: &Cells, number: u64) -> Result<Option<(VectorOf, Place)>> {
    match slice.cell(number)? {
        Cell::Array { kind: CellKind::Array, pool, at, len, shape: 0 } => {
            Ok(Some((VectorOf { pool: Some(pool), attributes: None }, Place { at, len })))
        }
        Cell::Parent(CellKind::Object, children) if children.count == 3 => {
            let Some(slice) = cells.slice(&(children.first..children.end.max(children.first))) else {
                return Err(damage("a cell has children that are not there"));
            };
            slice.check_children(number, CellKind::Object, &children)?;
            if !matches!(slice.cell(children.first)?, Cell::Str(CellKind::Str, "r.vector")) {
                return Ok(None);
            }
            let (pool, place) = match slice.cell(children.first + 1)? {
                Cell::Array { kind: CellKind::Array, pool, at, len, shape: 0 } => {
                    (Some(pool), Place { at, len })
                }
                Cell::Float(CellKind::Float, value) => (None, Place { at: value.to_bits(), len: 1 }),
                _ => return Ok(None),
            };
            let Cell::Int(CellKind::Reference, target) = slice.cell(children.first + 2)? else {
                return Ok(None);
            };
            Ok(Some((VectorOf { pool, attributes: Some(target) }, place)))
        }
        _ => Ok(None),
    }
}

impl CellParts {
    /// Nothing that counts.
    fn none() -> Self {
        Self { kind: 0, class: 0, integer: 0, float: 0.0, text: Text::none(), numbers: [0; 4] }
    }

    /// Sets what counts of a cell. They are many, so what doesn't count is left as it was.
    #[inline]
    fn set(&mut self, cell: Cell<'_>) {
        let (kind, text) = match cell {
            Cell::Unit(kind) => (kind, Text::lend(kind.name())),
            Cell::Int(kind, integer) => {
                self.integer = integer;
                (kind, Text::lend(kind.name()))
            }
            Cell::Float(kind, float) => {
                self.float = float;
                (kind, Text::lend(kind.name()))
            }
            Cell::Str(kind, text) => (kind, Text::lend(text)),
            Cell::Bytes(kind, bytes) => (kind, Text::lend_bytes(bytes)),
            Cell::Parent(kind, of) => {
                self.numbers = [of.first, of.end, of.count, of.keys];
                (kind, Text::lend(kind.name()))
            }
            Cell::Array { kind, pool, at, len, shape } => {
                self.numbers = [pool, at, len, shape];
                (kind, Text::none())
            }
        };
        self.text = text;
        self.kind = i32::from(kind.code());
        self.class = kind.class() as i32;
    }
}

/// A cell by itself: what a reference means, where it is one.
fn look(file: &File, number: u64) -> Result<(u64, CellParts)> {
    let cells = file.cells()?.ok_or_else(|| damage("the file names cells and has none"))?;
    let load = |number: u64| {
        let end = number.checked_add(1).ok_or_else(|| damage("a cell is named that is not there"))?;
        cells.load(number..end, Some(1), &Silent)
    };
    let mut number = number;
    let mut slice = load(number)?;
    if let Cell::Int(CellKind::Reference, target) = slice.cell(number)? {
        let target = u64::try_from(target).ok().filter(|&target| target < number);
        number = target.ok_or_else(|| damage("a reference names what it can't"))?;
        slice = load(number)?;
    }
    // A text is lent by the slice, which goes: who looks asks for none.
    let text = Text::none();
    let mut found = CellParts::none();
    found.set(slice.cell(number)?);
    Ok((number, CellParts { text, ..found }))
}

fn damage(problem: &'static str) -> Error {
    Error::corrupt(problem).in_section("cells")
}

/// Whether R wrote what is in cells.
pub fn is_own(file: &File) -> bool {
    file.value().get("host").and_then(Value::as_str) == Some("r")
}

/// What vectors of R a column of numbers that R wrote, and that have no attributes, is of; none when it is another column.
fn pooled_kind(of: &ColumnType) -> Option<Kind> {
    match of.physical {
        _ if of.logical != Logical::Plain => None,
        Physical::Bool => Some(Kind::Logical),
        Physical::I8 | Physical::I16 | Physical::I32 => Some(Kind::Integer),
        Physical::U8 => Some(Kind::Raw),
        Physical::F64 => Some(Kind::Double),
        Physical::Complex128 => Some(Kind::Complex),
        _ => None,
    }
}

/// The cell of the values of a file under a key, or -1.
pub fn root(file: &File, key: &str) -> f64 {
    match file.value().get(key) {
        Some(Value::Cell(number)) => *number as f64,
        _ => -1.0,
    }
}

/// A cell by itself, without text: what a reference means, where it is one. Its number, or -1 with an error.
///
/// # Safety
/// `file` must be what `ent_open` gave, `cell` writable, `failure` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_look(
    file: *const File,
    number: u64,
    cell: *mut CellParts,
    failure: *mut *mut Failure,
) -> f64 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1.0, || {
            let file = &*file;
            let (number, found) = look(file, number).map_err(|e| e.in_file(file.path()))?;
            *cell = found;
            Ok(number as f64)
        })
    }
}

/// The cells of a file, none of which are read yet; null with an error.
///
/// # Safety
/// `file` must be what `ent_open` gave, `failure` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_loaded_new(
    file: *const File,
    n_cells: *mut u64,
    failure: *mut *mut Failure,
) -> *mut Loaded {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, null_mut(), || {
            let found = (*file).cells()?;
            let found = found.ok_or_else(|| damage("the file names cells and has none"))?;
            *n_cells = found.n_cells();
            let cells = Cells::new(Arc::new(found), None);
            Ok(Box::into_raw(Box::new(Loaded {
                cells,
                targets: Vec::new(),
                pools: Vec::new(),
                memory: Vec::new(),
                alike: Vec::new(),
            })))
        })
    }
}

/// Frees cells.
///
/// # Safety
/// `loaded` must be what [`ent_loaded_new`] gave, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_loaded_free(loaded: *mut Loaded) {
    // SAFETY: made by `Box::into_raw`, as the caller promises.
    drop(unsafe { Box::from_raw(loaded) });
}

/// Reads neighbouring cells and all that they name, and pools of numbers that several arrays are cut from. 0, or -1 with an error.
///
/// # Safety
/// `loaded` must be what [`ent_loaded_new`] gave, used by this thread alone; `failure` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_loaded_close(
    loaded: *mut Loaded,
    start: u64,
    end: u64,
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let loaded = &mut *loaded;
            let done = loaded
                .cells
                .close(std::iter::once(start..end).collect(), &Signals::new(interrupted))
                .and_then(|()| loaded.look())
                .and_then(|()| loaded.read_pools(interrupted));
            done.map(|()| 0).map_err(|e| e.in_file(loaded.cells.cells().file().path()))
        })
    }
}

/// A cell that was read; what doesn't count is left as it was. Its text is lent until the next cells are read. 0, or -1 with an error.
///
/// # Safety
/// As for [`ent_loaded_close`]; `cell` writable and initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_loaded_cell(
    loaded: *const Loaded,
    number: u64,
    cell: *mut CellParts,
    failure: *mut *mut Failure,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let loaded = &*loaded;
            let found = loaded.fill(number, &mut *cell);
            found.map(|()| 0).map_err(|e| e.in_file(loaded.cells.cells().file().path()))
        })
    }
}

/// The vectors from a cell on, to before `end`, that are alike: how many, or -1 with an error. An object is the first of such when its
/// attributes are shared. What is told is lent until the next call.
///
/// # Safety
/// As for [`ent_loaded_close`]; `alike` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_loaded_alike(
    loaded: *mut Loaded,
    number: u64,
    end: u64,
    alike: *mut Alike,
    failure: *mut *mut Failure,
) -> isize {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let loaded = &mut *loaded;
            let found = loaded.alike(number, end);
            let found = found.map_err(|e| e.in_file(loaded.cells.cells().file().path()))?;
            let n = found.n.cast_signed();
            *alike = found;
            Ok(n)
        })
    }
}

/// The shape of an array of `n` values, at most 64 axes; how many those are, or -1 with an error.
///
/// # Safety
/// As for [`ent_loaded_close`]; 64 numbers are writable at `shape`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_loaded_shape(
    loaded: *const Loaded,
    number: u64,
    n: u64,
    shape: *mut f64,
    failure: *mut *mut Failure,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let found = (*loaded).shape(number, n)?;
            let out = guard::slice_mut(shape, 64);
            if found.len() > out.len() {
                return Err(damage("an array has more than 64 dimensions"));
            }
            out.iter_mut().zip(&found).for_each(|(out, &n)| *out = n as f64);
            Ok(found.len() as i32)
        })
    }
}

/// The cells that references mean, ascending, and how many.
///
/// # Safety
/// As for [`ent_loaded_close`]; `n` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_loaded_targets(loaded: *const Loaded, n: *mut usize) -> *const u64 {
    // SAFETY: as the caller promises.
    unsafe {
        let loaded = &*loaded;
        *n = loaded.targets.len();
        loaded.targets.as_ptr()
    }
}

/// What is needed of pools, and of how many.
///
/// # Safety
/// As for [`ent_loaded_targets`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_loaded_pools(loaded: *const Loaded, n: *mut usize) -> *const PoolUse {
    // SAFETY: as the caller promises.
    unsafe {
        let loaded = &*loaded;
        *n = loaded.pools.len();
        loaded.pools.as_ptr()
    }
}
