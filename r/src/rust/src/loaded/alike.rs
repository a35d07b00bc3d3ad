//! Vectors of a list that are alike, which C makes many of in one step.

use entasis::cells::{Cell, Loaded as Cells, Slice};
use entasis::{CellKind, Result};

use super::{Loaded, damage};

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
    pub(super) n: usize,
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

impl Loaded {
    /// The vectors from cell `number` to before `end` that are alike: arrays of one pool without a shape, or such of one length that share
    /// their attributes, the cells of which are objects. Cells that references mean are left out.
    pub(super) fn alike(&mut self, number: u64, end: u64) -> Result<Alike> {
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
}

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
