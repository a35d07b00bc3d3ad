//! Collects the cells of a tree of R values, and the pools with their vectors, to be written.

mod calls;

use std::collections::BTreeMap;
use std::os::raw::c_void;

use entasis::cells::CellWriter;
use entasis::{CellKind, Column, Error, HostRead, Result, Value};

use crate::build::{Builder, NewColumn};
use crate::column::Kind;
use crate::guard;
use crate::missing::{NA_INTEGER, first_na_of};
use crate::strings::Strings;

/// Vectors of up to this many bytes share pools; a larger one gets its own pool.
const SMALL: usize = 1 << 16;
/// Character vectors of up to this many strings share a pool.
const SMALL_TEXT: usize = 1 << 12;

/// One more than the greatest code of a kind.
const KINDS: usize = 18;

/// Where the values of a pool are.
enum Memory {
    /// Copies of small vectors, one after the other.
    Own(Vec<u8>),
    /// A large vector of R.
    Lent(*const c_void, usize),
    /// A column of strings.
    Text(usize),
}

/// Vectors that are stored as one column.
struct Pool {
    kind: Kind,
    /// Which NaN marks missing doubles; for other kinds, whether a value is missing.
    na: i32,
    memory: Memory,
}

/// Cells that are being collected.
pub struct Cells {
    pub writer: CellWriter,
    pools: Vec<Pool>,
    /// The shared pool of small vectors for each kind and marker of missing values.
    small: [[Option<usize>; 3]; KINDS],
    text: Option<usize>,
    strings: Strings,
    /// Array shapes, with the arrays of each.
    shapes: BTreeMap<Vec<u64>, Vec<usize>>,
}

/// Where a vector is in its pool.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Pooled {
    pool: u64,
    at: u64,
    len: u64,
}

/// Strings with other encodings than UTF-8: the encoding of each, and where they are in the pool.
#[repr(C)]
pub struct Encoded {
    encodings: *const u8,
    pooled: Pooled,
}

impl Cells {
    fn new() -> Self {
        Self {
            writer: CellWriter::new(),
            pools: Vec::new(),
            small: [[None; 3]; KINDS],
            text: None,
            // SAFETY: the strings are copied.
            strings: unsafe { Strings::new(false) },
            shapes: BTreeMap::new(),
        }
    }

    fn add_pool(&mut self, kind: Kind, na: i32, memory: Memory) -> usize {
        self.pools.push(Pool { kind, na, memory });
        self.pools.len() - 1
    }

    /// # Safety
    /// The memory must hold `n` values of the kind, and stay unchanged until the file is written.
    unsafe fn numbers(&mut self, kind: Kind, memory: *const c_void, n: usize) -> Result<Pooled> {
        let width = kind.width().ok_or_else(|| Error::argument("strings are not numbers"))?;
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
        let (kind_at, na_at) = (kind.code() as usize, na as usize);
        let pool = match self.small[kind_at][na_at] {
            Some(pool) => pool,
            None => {
                let pool = self.add_pool(kind, na, Memory::Own(Vec::new()));
                self.small[kind_at][na_at] = Some(pool);
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

    /// The pool for a vector of `n` strings, and the collector to add them to.
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

    /// Adds the cells of the array shapes, which completes the cells.
    pub fn finish(&mut self) {
        for (shape, users) in std::mem::take(&mut self.shapes) {
            let number = self.writer.n_cells();
            let parent = self.writer.parent(CellKind::Tuple);
            shape.iter().for_each(|&n| self.writer.int(CellKind::Int, n as i64));
            self.writer.set_children(parent, number + 1, shape.len() as u64, 0);
            self.writer.end(parent);
            users.into_iter().for_each(|user| self.writer.set_shape(user, number));
        }
    }

    /// The columns of the pools and cells, and the map that names them.
    ///
    /// # Safety
    /// The cells and all memory lent to them must stay unchanged while the columns are used.
    pub unsafe fn columns(&self) -> Result<(Vec<Column>, Value)> {
        let mut builder = Builder::new(0);
        for pool in &self.pools {
            let (values, n) = match &pool.memory {
                Memory::Own(bytes) => {
                    (bytes.as_ptr().cast::<c_void>(), bytes.len() / pool.kind.width().unwrap_or(1))
                }
                Memory::Lent(memory, n) => (*memory, *n),
                Memory::Text(column) => {
                    // SAFETY: the strings live as long as the cells, as the caller promises.
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
