//! Finds similar small vectors in a list, which C builds in one step.

use entasis::cells::{Cell, Loaded as Cells, Slice};
use entasis::{CellKind, Result};

use super::{Loaded, damage};

/// The range of a vector's values in its pool.
#[repr(C)]
#[derive(Clone, Copy, PartialEq)]
pub struct Span {
    at: u64,
    len: u64,
}

/// Neighbouring vectors of one pool in a list.
#[repr(C)]
pub struct SmallVectors {
    /// The position of the pool among the needed ones; -1 for scalar doubles, whose bits are in
    /// `at`.
    pool: i64,
    spans: *const Span,
    pub(super) n: usize,
}

/// The properties that similar vectors share.
#[derive(Clone, Copy, PartialEq)]
struct VectorOf {
    /// `None` for a scalar double.
    pool: Option<u64>,
    /// The cell of the attributes of an object.
    attributes: Option<i64>,
}

/// Most vectors in one result: their spans then fit in the processor's cache.
const MOST_VECTORS: u64 = 1 << 11;

impl Loaded {
    /// The similar vectors from cell `number` to before `end`: arrays of one pool without a shape,
    /// or objects of such arrays with one length and shared attributes. Stops at a cell that
    /// references name.
    pub(super) fn small_vectors(&mut self, number: u64, end: u64) -> Result<SmallVectors> {
        let next = self.targets.partition_point(|&target| target < number);
        let end = end.min(number.saturating_add(MOST_VECTORS));
        let end = self.targets.get(next).map_or(end, |&target| end.min(target));
        self.spans.clear();
        // A reference names this cell, so it is built alone.
        if end <= number {
            return Ok(SmallVectors { pool: -1, spans: self.spans.as_ptr(), n: 0 });
        }
        let mut first = None;
        if let Some(slice) = self.cells.slice(&(number..end)) {
            if let Some([pools, starts, lens, shapes]) = slice.arrays(number, end) {
                let of = VectorOf { pool: Some(pools[0]), attributes: None };
                let same =
                    pools.iter().zip(shapes).take_while(|&(&pool, &shape)| pool == pools[0] && shape == 0);
                let n = same.count();
                if n > 0 {
                    first = Some((of, lens[0]));
                }
                self.spans.extend(starts.iter().zip(lens).take(n).map(|(&at, &len)| Span { at, len }));
            }
            for number in number + self.spans.len() as u64..end {
                let Some((of, span)) = vector_of(slice, &self.cells, number)? else { break };
                let known = *first.get_or_insert((of, span.len));
                if known.0 != of || (of.attributes.is_some() && known.1 != span.len) {
                    break;
                }
                self.spans.push(span);
            }
        }
        let pool = match first {
            Some((VectorOf { pool: Some(pool), .. }, _)) => {
                let i = self.pools.partition_point(|known| known.pool < pool);
                let found = self.pools.get(i).filter(|known| known.pool == pool);
                let found = found.ok_or_else(|| damage("an array without a pool"))?;
                let room = found.end - found.start;
                // No early exit, so that the loop vectorises.
                let mut are_inside = true;
                for span in &mut self.spans {
                    let at = span.at.wrapping_sub(found.start);
                    are_inside &= span.at >= found.start && at <= room && span.len <= room.wrapping_sub(at);
                    span.at = at;
                }
                if !are_inside {
                    return Err(damage("an array extends beyond its pool"));
                }
                i as i64
            }
            _ => -1,
        };
        Ok(SmallVectors { pool, spans: self.spans.as_ptr(), n: self.spans.len() })
    }
}

/// The vector of a cell: an array, or an object of a vector and shared attributes. `None` for
/// others.
#[inline]
fn vector_of(slice: &Slice, cells: &Cells, number: u64) -> Result<Option<(VectorOf, Span)>> {
    match slice.cell(number)? {
        Cell::Array { kind: CellKind::Array, pool, at, len, shape: 0 } => {
            Ok(Some((VectorOf { pool: Some(pool), attributes: None }, Span { at, len })))
        }
        Cell::Parent(CellKind::Object, children) if children.count == 3 => {
            let Some(slice) = cells.slice(&(children.first..children.end.max(children.first))) else {
                return Err(damage("a cell has children that do not exist"));
            };
            slice.check_children(number, CellKind::Object, &children)?;
            if !matches!(slice.cell(children.first)?, Cell::Str(CellKind::Str, "r.vector")) {
                return Ok(None);
            }
            let (pool, span) = match slice.cell(children.first + 1)? {
                Cell::Array { kind: CellKind::Array, pool, at, len, shape: 0 } => {
                    (Some(pool), Span { at, len })
                }
                Cell::Float(CellKind::Float, value) => (None, Span { at: value.to_bits(), len: 1 }),
                _ => return Ok(None),
            };
            let Cell::Int(CellKind::Reference, target) = slice.cell(children.first + 2)? else {
                return Ok(None);
            };
            Ok(Some((VectorOf { pool, attributes: Some(target) }, span)))
        }
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use entasis::cells::CellWriter;
    use entasis::{
        Array, Chunk, Column, ColumnType, Document, File, HostRead, HostValidity, HostValues, Physical,
        Silent, Value, WriteOptions,
    };

    use super::*;

    /// The list `[x, y, x, x, y]`: two arrays of one pool, then references to them.
    fn shared() -> Loaded {
        let mut writer = CellWriter::new();
        let list = writer.parent(CellKind::List);
        writer.set_children(list, 1, 5, 0);
        writer.array(CellKind::Array, 0, 0, 3);
        writer.array(CellKind::Array, 0, 3, 2);
        for target in [1, 1, 2] {
            writer.int(CellKind::Reference, target);
        }
        writer.end(list);
        let numbers: Vec<f64> = (0..5).map(f64::from).collect();
        // SAFETY: the writer and the numbers outlive the document, and do not change.
        let lend = |bytes: &[u8]| unsafe { HostRead::new(bytes.as_ptr(), bytes.len()) };
        let values = HostValues::Words { memory: lend(bytemuck::cast_slice(&numbers)), stride: 8 };
        let pool = Column {
            run: None,
            name: String::new(),
            column_type: ColumnType::plain(Physical::F64),
            detail: None,
            host_detail: None,
            dictionary: None,
            array: Array::new(Chunk { n: numbers.len(), values, validity: HostValidity::AllValid }),
            children: Vec::new(),
        };
        let (of_cells, mut names) = writer.columns(1, &lend);
        names.push((Value::from("pools"), Value::Column(0)));
        names.push((Value::from("n_pools"), Value::UInt(1)));
        let pairs = vec![
            (Value::from("value"), Value::Cell(0)),
            (Value::from("host"), Value::from("r")),
            (Value::from("cells"), Value::Map(names)),
        ];
        let columns = std::iter::once(pool).chain(of_cells).collect();
        let document = Document { frames: Vec::new(), columns, value: Value::Map(pairs) };
        let path = std::env::temp_dir().join(format!("entasis-alike-{}.entasis", std::process::id()));
        entasis::write_document(&path, &document, &WriteOptions::default(), &Silent).unwrap();
        let file = File::open(&path).unwrap();
        let mut loaded = Loaded {
            cells: Cells::new(Arc::new(file.cells().unwrap().unwrap()), None),
            targets: Vec::new(),
            pools: Vec::new(),
            memory: Vec::new(),
            spans: Vec::new(),
        };
        loaded.cells.close(std::iter::once(0..6).collect(), &Silent).unwrap();
        loaded.look().unwrap();
        std::fs::remove_file(&path).unwrap();
        loaded
    }

    #[test]
    fn cells_that_references_mean_are_left_out() {
        let mut loaded = shared();
        assert_eq!(loaded.targets, [1, 2]);
        for number in 1..3 {
            assert_eq!(loaded.small_vectors(number, 6).unwrap().n, 0, "{number}");
        }
        loaded.targets = vec![2];
        assert_eq!(loaded.small_vectors(1, 6).unwrap().n, 1);
        loaded.targets.clear();
        assert_eq!(loaded.small_vectors(1, 6).unwrap().n, 2);
        assert_eq!(loaded.small_vectors(1, 1).unwrap().n, 0);
    }
}
