//! Cells of a file in memory, checked before C builds values of R from them.

mod calls;
mod pools;
mod small_vectors;

use entasis::cells::{Cell, Loaded as Cells};
use entasis::{Buffer, CellKind, Error, File, Result, Silent, Value};

use crate::guard::Text;
use pools::{PoolUse, Uses};
use small_vectors::Span;

/// Cells in memory.
pub struct Loaded {
    cells: Cells,
    /// The cells that references name, ascending.
    targets: Vec<u64>,
    pools: Vec<PoolUse>,
    /// The values of pools that several arrays share.
    memory: Vec<Buffer>,
    spans: Vec<Span>,
}

/// A cell. Its kind decides which fields are set.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CellParts {
    kind: i32,
    class: i32,
    integer: i64,
    float: f64,
    /// Text, bytes, or the name of the kind.
    text: Text,
    /// First, end, count and keys of a parent; pool, at, length and shape of an array.
    numbers: [u64; 4],
}

impl Loaded {
    /// Collects the cells that references name, and the needed range of each pool.
    fn look(&mut self) -> Result<()> {
        let mut uses = Uses::default();
        self.targets.clear();
        for (slice, range) in self.cells.pieces() {
            let mut number = range.start;
            while number < range.end {
                if let Some([pools, starts, lens, _]) = slice.arrays(number, range.end) {
                    uses.add(pools, starts, lens);
                    number += pools.len() as u64;
                    continue;
                }
                match slice.cell(number)? {
                    Cell::Int(CellKind::Reference, target) => {
                        let target = target.cast_unsigned();
                        // Neighbouring references mostly name the same cell.
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
                return Err(damage("an array extends beyond its pool"));
            }
            // Vectors of R are copies, so arrays that share a small pool could fill any memory. No
            // writer makes such arrays.
            if sum > n_values {
                return Err(Error::limit("arrays share their values, which vectors of R can't"));
            }
            self.pools.push(found);
        }
        Ok(())
    }

    /// A cell, and its children, if any, were read.
    #[inline]
    fn fill(&self, number: u64, out: &mut CellParts) -> Result<()> {
        let cell = self.cells.cell(number)?;
        if let Cell::Parent(kind, children) = cell {
            if children.count > 0 {
                let slice = self.cells.slice(&(children.first..children.end.max(children.first)));
                let slice = slice.ok_or_else(|| damage("a cell has children that do not exist"))?;
                slice.check_children(number, kind, &children)?;
            } else if kind.n_children().is_some() || kind == CellKind::Object {
                return Err(damage("a cell has the wrong number of children for its kind"));
            }
        }
        out.set(cell);
        Ok(())
    }

    /// The shape of `n` values.
    fn shape(&self, number: u64, n: u64) -> Result<Vec<u64>> {
        let (shape, product) = entasis::cells::shape(number, &|number| self.cells.cell(number))?;
        if product == Some(n) {
            Ok(shape)
        } else {
            Err(damage("the shape of an array does not match its values"))
        }
    }
}

impl CellParts {
    /// A cell without set fields.
    fn none() -> Self {
        Self { kind: 0, class: 0, integer: 0, float: 0.0, text: Text::none(), numbers: [0; 4] }
    }

    /// Sets the fields of a cell's kind. There are many cells, so it leaves the other fields
    /// unchanged.
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

/// A single cell; for a reference, the cell that it names.
fn look(file: &File, number: u64) -> Result<(u64, CellParts)> {
    let cells = file.cells()?.ok_or_else(|| damage("the file refers to cells and has none"))?;
    let load = |number: u64| {
        let end = number.checked_add(1).ok_or_else(|| damage("a reference to a cell that does not exist"))?;
        cells.load(number..end, Some(1), &Silent)
    };
    let mut number = number;
    let mut slice = load(number)?;
    if let Cell::Int(CellKind::Reference, target) = slice.cell(number)? {
        let target = u64::try_from(target).ok().filter(|&target| target < number);
        number = target.ok_or_else(|| damage("an invalid reference"))?;
        slice = load(number)?;
    }
    // A text would borrow from the slice, which is dropped here. Callers need no text.
    let text = Text::none();
    let mut found = CellParts::none();
    let cell = slice.cell(number)?;
    if let Cell::Parent(_, children) = &cell {
        // The length of the lazy list, before its parts are read and checked.
        let end = children.first.checked_add(children.count);
        if end.is_none_or(|end| end > cells.n_cells()) {
            return Err(damage("a cell has children that do not exist"));
        }
    }
    found.set(cell);
    Ok((number, CellParts { text, ..found }))
}

fn damage(problem: &'static str) -> Error {
    Error::corrupt(problem).in_section("cells")
}

/// Whether R wrote the cells.
pub fn is_own(file: &File) -> bool {
    file.value().get("host").and_then(Value::as_str) == Some("r")
}

/// The cell of the values of a file under a key, or -1.
pub fn root(file: &File, key: &str) -> f64 {
    match file.value().get(key) {
        Some(Value::Cell(number)) => *number as f64,
        _ => -1.0,
    }
}
