//! The vectors of cells, in columns that are called pools.

use std::collections::BTreeMap;

use entasis::cells::CellWriter;
use entasis::{CellKind, Column, HostRead, Result, Value};

use super::memory::{Memory, Planned};
use crate::r::kind::Kind;
use crate::r::missing::{NA_INTEGER, first_na_of};
use crate::r::{Data, Strings};

/// Vectors of up to this many bytes share pools; a larger one gets its own pool.
const SMALL: usize = 1 << 16;
/// Character vectors of up to this many strings share a pool.
const SMALL_TEXT: usize = 1 << 12;

/// Where the values of a pool are.
enum Values<'a> {
    Ints(Vec<i32>),
    Doubles(Vec<f64>),
    Complex(Vec<[f64; 2]>),
    Raw(Vec<u8>),
    Strings(Strings),
    /// A large vector.
    Lent(&'a Data),
}

/// Vectors that are stored as one column.
struct Pool<'a> {
    kind: Kind,
    /// Which NaN marks missing doubles; for other kinds, whether a value is missing.
    na: i32,
    values: Values<'a>,
}

/// Where a vector is in its pool.
#[derive(Clone, Copy)]
pub(super) struct Pooled {
    pool: u64,
    at: u64,
    len: u64,
}

/// The pools, and the arrays in them.
#[derive(Default)]
pub(super) struct Pools<'a> {
    pools: Vec<Pool<'a>>,
    /// The shared pool of each kind and marker of missing values.
    shared: BTreeMap<(i32, i32), usize>,
    /// Array shapes, with the arrays of each.
    shapes: BTreeMap<Vec<u64>, Vec<usize>>,
}

impl<'a> Pools<'a> {
    /// Adds an atomic vector to a pool.
    pub(super) fn add(&mut self, data: &'a Data) -> Pooled {
        let has_na = |values: &[i32]| i32::from(values.contains(&NA_INTEGER));
        let (kind, na, len) = match data {
            Data::Logical(values) => (Kind::Logical, has_na(values), 4 * values.len()),
            Data::Integer(values) => (Kind::Integer, has_na(values), 4 * values.len()),
            Data::Double(values) => (Kind::Double, first_na_of(values), 8 * values.len()),
            Data::Complex(values) => (Kind::Complex, 0, 16 * values.len()),
            Data::Strings(strings) if strings.len() > SMALL_TEXT => (Kind::String, 0, usize::MAX),
            Data::Strings(_) => (Kind::String, 0, 0),
            data => (Kind::Raw, 0, data.len()),
        };
        if len > SMALL {
            self.pools.push(Pool { kind, na, values: Values::Lent(data) });
            return Pooled { pool: self.pools.len() as u64 - 1, at: 0, len: data.len() as u64 };
        }
        let (pool, values) = self.shared(kind, na);
        let at = match (values, data) {
            (Values::Ints(to), Data::Logical(values) | Data::Integer(values)) => append(to, values),
            (Values::Doubles(to), Data::Double(values)) => append(to, values),
            (Values::Complex(to), Data::Complex(values)) => append(to, values),
            (Values::Raw(to), Data::Raw(values)) => append(to, values),
            (Values::Strings(to), Data::Strings(values)) => {
                to.extend(values);
                to.len() - values.len()
            }
            _ => 0,
        };
        Pooled { pool, at: at as u64, len: data.len() as u64 }
    }

    /// Adds bytes to the pool of raw vectors.
    pub(super) fn add_raw(&mut self, bytes: &[u8]) -> Pooled {
        let (pool, values) = self.shared(Kind::Raw, 0);
        let at = if let Values::Raw(to) = values { append(to, bytes) } else { 0 };
        Pooled { pool, at: at as u64, len: bytes.len() as u64 }
    }

    /// Adds strings that are made for the file, such as names.
    pub(super) fn add_names<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) -> Pooled {
        let (pool, values) = self.shared(Kind::String, 0);
        let (mut at, mut len) = (0, 0);
        if let Values::Strings(to) = values {
            at = to.len();
            names.into_iter().for_each(|name| to.push_plain(name));
            len = to.len() - at;
        }
        Pooled { pool, at: at as u64, len: len as u64 }
    }

    fn shared(&mut self, kind: Kind, na: i32) -> (u64, &mut Values<'a>) {
        let pools = &mut self.pools;
        let number = *self.shared.entry((kind.code(), na)).or_insert_with(|| {
            let values = match kind {
                Kind::Logical | Kind::Integer => Values::Ints(Vec::new()),
                Kind::Double => Values::Doubles(Vec::new()),
                Kind::Complex => Values::Complex(Vec::new()),
                Kind::String => Values::Strings(Strings::default()),
                _ => Values::Raw(Vec::new()),
            };
            pools.push(Pool { kind, na, values });
            pools.len() - 1
        });
        (number as u64, &mut pools[number].values)
    }

    /// Adds the cell of an array, with dimensions or none.
    pub(super) fn array(&mut self, writer: &mut CellWriter, pooled: Pooled, dim: Option<&[i32]>) {
        let kind = if dim.is_some() { CellKind::FortranArray } else { CellKind::Array };
        let array = writer.array(kind, pooled.pool, pooled.at, pooled.len);
        if let Some(dim) = dim {
            let shape = dim.iter().map(|&n| u64::try_from(n).unwrap_or(0)).collect();
            self.shapes.entry(shape).or_default().push(array);
        }
    }

    /// Adds the cells of the array shapes, which completes the cells.
    pub(super) fn finish(&mut self, writer: &mut CellWriter) {
        for (shape, users) in std::mem::take(&mut self.shapes) {
            let number = writer.n_cells();
            let parent = writer.parent(CellKind::Tuple);
            shape.iter().for_each(|&n| writer.int(CellKind::Int, n as i64));
            writer.set_children(parent, number + 1, shape.len() as u64, 0);
            writer.end(parent);
            users.into_iter().for_each(|user| writer.set_shape(user, number));
        }
    }

    /// The columns of the pools and cells, and the map that names them.
    pub(super) fn columns(
        &self,
        writer: &CellWriter,
        lend: &dyn Fn(&[u8]) -> HostRead,
    ) -> Result<(Vec<Column>, Value)> {
        let mut columns = Vec::with_capacity(self.pools.len());
        for Pool { kind, na, values } in &self.pools {
            let memory = match values {
                Values::Ints(values) => Memory::Ints(values),
                Values::Doubles(values) => Memory::Doubles(values),
                Values::Complex(values) => Memory::Complex(values),
                Values::Raw(values) => Memory::Raw(values),
                Values::Strings(strings) => Memory::Strings(strings, 0..strings.len()),
                Values::Lent(data) => memory_of(data),
            };
            columns.push(Planned::plain(*kind, len(&memory), memory).with_na(*na).column(lend)?);
        }
        let n_pools = columns.len() as u64;
        let (of_cells, mut names) = writer.columns(n_pools, lend);
        columns.extend(of_cells);
        if n_pools > 0 {
            names.push((Value::from("pools"), Value::Column(0)));
            names.push((Value::from("n_pools"), Value::UInt(n_pools)));
        }
        Ok((columns, Value::Map(names)))
    }
}

/// The memory of an atomic vector.
pub(super) fn memory_of(data: &Data) -> Memory<'_> {
    match data {
        Data::Logical(values) | Data::Integer(values) => Memory::Ints(values),
        Data::Double(values) => Memory::Doubles(values),
        Data::Complex(values) => Memory::Complex(values),
        Data::Raw(values) => Memory::Raw(values),
        Data::Strings(strings) => Memory::Strings(strings, 0..strings.len()),
        _ => Memory::Cells,
    }
}

fn len(memory: &Memory<'_>) -> usize {
    match memory {
        Memory::Ints(values) => values.len(),
        Memory::Doubles(values) => values.len(),
        Memory::Complex(values) => values.len(),
        Memory::Raw(values) => values.len(),
        Memory::Strings(_, range) => range.len(),
        Memory::Cells | Memory::Counts(_) | Memory::Days(_) => 0,
    }
}

/// Appends values, and returns where they begin.
fn append<T: Copy>(to: &mut Vec<T>, values: &[T]) -> usize {
    to.extend_from_slice(values);
    to.len() - values.len()
}
