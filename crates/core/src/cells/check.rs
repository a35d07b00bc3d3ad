//! Checks cells before a reader builds values from them.

use std::collections::HashMap;
use std::ops::Range;

use entasis_format::{CellClass, CellKind, Result, Value, fallible};

use super::cell::{Cell, Children, damage};
use super::layout::CELLS;
use super::read::Cells;
use super::slice::Slice;
use crate::monitor::{Monitor, Silent};

/// The maximum depth of a cell; a scalar has depth 1.
pub const MAX_DEPTH: usize = 1000;

impl Children {
    /// Whether a map has its own keys instead of another map's keys.
    pub fn has_own_keys(&self, kind: CellKind) -> bool {
        kind.has_keys() && self.count > 0 && self.first.checked_add(self.count) == Some(self.keys)
    }
}

impl Slice {
    /// Checks the children of the cell `number`, which are all in this slice. They must come after
    /// the cell, and their descendants follow without a gap. So cells form trees, and a reader
    /// visits each cell once.
    ///
    /// # Errors
    /// *Corrupt*.
    pub fn check_children(&self, number: u64, kind: CellKind, children: &Children) -> Result<()> {
        let &Children { first, end, count, keys } = children;
        if kind.n_children().is_some_and(|n| n != count)
            || (count == 0 && (kind == CellKind::Object || kind.is_rows()))
        {
            return Err(damage("a cell has a number of children that its kind does not allow"));
        }
        if count == 0 {
            let has_keys = keys != 0 && kind != CellKind::ObjectArray;
            return if first == 0 && end == 0 && !has_keys {
                Ok(())
            } else {
                Err(damage("a cell without children has a range of children"))
            };
        }
        if keys != 0 && !kind.has_keys() && kind != CellKind::ObjectArray {
            return Err(damage("a cell has keys, but its kind has none"));
        }
        let has_own_keys = children.has_own_keys(kind);
        let n = if has_own_keys { count.checked_mul(2) } else { Some(count) };
        let below = n.and_then(|n| first.checked_add(n));
        let Some(family_end) =
            below.filter(|&below| first > number && below <= end && end <= self.range().end)
        else {
            return Err(damage("the children of a cell are not after it"));
        };
        let mut next = family_end;
        for child in self.numbers(first..family_end, |kind| kind.class() == CellClass::Parent) {
            if let Cell::Parent(_, of) = self.cell(child)?
                && of.count > 0
            {
                if of.first != next || of.end < next {
                    return Err(damage("the descendants of neighbouring cells are not consecutive"));
                }
                next = of.end;
            }
        }
        if next != end {
            return Err(damage("the end of a cell is not the end of its descendants"));
        }
        if kind.is_rows() { self.check_rows(children, family_end) } else { Ok(()) }
    }

    /// Checks that the children of a list of rows are lists of equal length whose values have no
    /// parts.
    fn check_rows(&self, children: &Children, below: u64) -> Result<()> {
        let n = self.n_rows(children)?;
        for child in children.first..children.first + children.count {
            match self.cell(child)? {
                Cell::Parent(CellKind::List, of) if of.count == n => {}
                _ => return Err(damage("the lists of a list of rows differ in length")),
            }
        }
        if self.are_all(below..children.end, CellKind::is_scalar) {
            Ok(())
        } else {
            Err(damage("a list of rows has a value with parts"))
        }
    }

    /// The number of rows of a list of rows: the length of its first list.
    ///
    /// # Errors
    /// *Corrupt* when it has none.
    pub fn n_rows(&self, children: &Children) -> Result<u64> {
        match self.cell(children.first)? {
            Cell::Parent(CellKind::List, of) if of.count > 0 => Ok(of.count),
            _ => Err(damage("a list of rows has no rows")),
        }
    }
}

impl Cells {
    /// The list of the values of an object column.
    ///
    /// # Errors
    /// *Corrupt* when the cell is not a list of this length.
    pub fn objects(&self, cell: &Value, n_values: u64) -> Result<Children> {
        let wrong = || damage("an object column has no list of its values");
        let number = cell.as_cell().ok_or_else(wrong)?;
        let end = number.checked_add(1).ok_or_else(wrong)?;
        match self.load(number..end, Some(1), &Silent)?.cell(number)? {
            Cell::Parent(CellKind::List, children) if children.count == n_values => Ok(children),
            _ => Err(wrong()),
        }
    }

    /// Verifies that all cells form trees, and that references form no cycle.
    ///
    /// # Errors
    /// *Corrupt*, *unsupported*, *io*, *limit*, *interrupted*.
    pub fn verify(&self, threads: Option<usize>, monitor: &dyn Monitor) -> Result<()> {
        let all = self.load(0..self.n_cells(), threads, monitor)?;
        self.verify_slice(&all, threads, monitor).map_err(|e| e.in_file(self.file().path()))
    }

    fn verify_slice(&self, all: &Slice, threads: Option<usize>, monitor: &dyn Monitor) -> Result<()> {
        self.roots()?;
        // First key and number of keys of each map.
        let mut maps = Vec::new();
        let mut references = false;
        // A cell comes after its parent, so the parent's depth is known before it is used.
        let mut depths = Vec::new();
        fallible::resize(&mut depths, all.kinds().len(), 1u16, CELLS)?;
        for (number, &kind) in (0u64..).zip(all.kinds()) {
            match all.cell(number)? {
                Cell::Parent(kind, children) => {
                    all.check_children(number, kind, &children)?;
                    all.check_keys(kind, &children)?;
                    if kind == CellKind::Map && children.has_own_keys(kind) {
                        fallible::push(&mut maps, (children.keys, children.count), CELLS)?;
                    }
                    let below = depths[number as usize] + 1;
                    let n = if children.has_own_keys(kind) { 2 * children.count } else { children.count };
                    if n > 0 && usize::from(below) > MAX_DEPTH {
                        return Err(damage("cells are nested too deep"));
                    }
                    depths[children.first as usize..][..n as usize].fill(below);
                }
                Cell::Int(CellKind::Reference, _) => references = true,
                Cell::Int(CellKind::Table, table) => {
                    if u64::try_from(table).is_ok_and(|table| table < self.file().n_tables()) {
                        continue;
                    }
                    return Err(damage("a cell names a table that does not exist"));
                }
                Cell::Array { pool, at, len, shape, .. } => {
                    let values = self.file().column(self.pool(pool)?)?.record.n_values;
                    if at.checked_add(len).is_none_or(|end| end > values) {
                        return Err(damage("an array has values outside of its pool"));
                    }
                    if shape != 0 && all.shape(shape)?.1 != Some(len) {
                        return Err(damage("the shape of an array does not match its values"));
                    }
                }
                _ => debug_assert!(kind.class() != CellClass::Parent),
            }
        }
        maps.sort_unstable();
        self.verify_index(all, &maps, threads, monitor)?;
        if references { all.check_references() } else { Ok(()) }
    }
}

impl Slice {
    /// Checks that shared keys are strings, and that an array of objects has the shape of its
    /// elements.
    pub fn check_keys(&self, kind: CellKind, children: &Children) -> Result<()> {
        if kind == CellKind::ObjectArray {
            let fits = self.shape(children.keys)?.1 == Some(children.count);
            return if fits {
                Ok(())
            } else {
                Err(damage("the shape of an array does not match its elements"))
            };
        }
        let may_be_any = children.has_own_keys(kind) && kind == CellKind::Map;
        if !kind.has_keys() || children.count == 0 || may_be_any {
            return Ok(());
        }
        let end = children.keys.checked_add(children.count).filter(|&end| end <= self.range().end);
        let Some(end) = end else { return Err(damage("the keys of a map are out of range")) };
        for key in children.keys..end {
            if !matches!(self.cell(key)?, Cell::Str(CellKind::Str, _)) {
                return Err(damage("shared keys of maps are not strings"));
            }
        }
        Ok(())
    }

    /// The shape in a cell of this slice, and the product of its lengths; see [`shape`].
    ///
    /// # Errors
    /// *Corrupt* when the cell is not a shape.
    pub fn shape(&self, number: u64) -> Result<(Vec<u64>, Option<u64>)> {
        shape(number, &|number| self.cell(number))
    }

    /// Checks the targets of all references, and that references form no cycle. The slice must hold
    /// all cells.
    ///
    /// # Errors
    /// *Corrupt*.
    pub fn check_references(&self) -> Result<()> {
        let mut references = Vec::new();
        for (number, &kind) in (self.range().start..).zip(self.kinds()) {
            if kind == CellKind::Reference {
                let target = self.target(number)?;
                let below = match self.cell(target)? {
                    Cell::Parent(_, children) => children.first..children.end,
                    _ => 0..0,
                };
                fallible::push(&mut references, Reference { number, target, below }, CELLS)?;
            }
        }
        find_cycle(&references)?.map_or(Ok(()), |_| Err(damage("a cell contains itself")))
    }

    /// The cell that a reference refers to.
    ///
    /// # Errors
    /// *Corrupt* for an impossible target.
    pub fn target(&self, reference: u64) -> Result<u64> {
        let wrong = || damage("a reference has an impossible target");
        let Cell::Int(CellKind::Reference, target) = self.cell(reference)? else { return Err(wrong()) };
        let target = u64::try_from(target).ok().filter(|&target| target < reference).ok_or_else(wrong)?;
        match self.cell(target)? {
            Cell::Parent(_, children) if children.first <= reference && reference < children.end => {
                Err(damage("a cell contains itself"))
            }
            Cell::Str(..) | Cell::Bytes(..) | Cell::Parent(..) | Cell::Array { .. } => Ok(target),
            Cell::Int(CellKind::Table, _) => Ok(target),
            _ => Err(wrong()),
        }
    }
}

/// The shape in a cell, and the product of its lengths; `None` if the product is too large. `cell`
/// returns a cell by its number.
///
/// # Errors
/// *Corrupt* when the cell is not a shape.
pub fn shape<'a>(number: u64, cell: &dyn Fn(u64) -> Result<Cell<'a>>) -> Result<(Vec<u64>, Option<u64>)> {
    let wrong = || damage("the shape of an array is not a tuple of integers");
    let Cell::Parent(CellKind::Tuple, children) = cell(number)? else { return Err(wrong()) };
    if children.count > 64 {
        return Err(damage("an array has more than 64 dimensions"));
    }
    let mut shape = Vec::new();
    for child in 0..children.count {
        let number = children.first.checked_add(child).ok_or_else(wrong)?;
        let Cell::Int(CellKind::Int, n) = cell(number)? else { return Err(wrong()) };
        shape.push(u64::try_from(n).map_err(|_| wrong())?);
    }
    // If one length is 0, the other lengths may have any size.
    let product = if shape.contains(&0) {
        Some(0)
    } else {
        shape.iter().try_fold(1u64, |product, &n| product.checked_mul(n))
    };
    Ok((shape, product))
}

/// A reference from one cell to another.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The number of the referring cell.
    pub number: u64,
    /// The cell that it refers to.
    pub target: u64,
    /// All descendants of that cell.
    pub below: Range<u64>,
}

/// Finds a reference that leads back to itself, directly or through others. The references must
/// ascend by number.
///
/// # Errors
/// *Out of memory*.
pub fn find_cycle(references: &[Reference]) -> Result<Option<usize>> {
    // A depth-first search: a target contains the references below it. A target maps to `false`
    // while it is on the current path, and to `true` once it is known to have no cycle.
    let mut done: HashMap<u64, bool> = HashMap::new();
    let index = |number: u64| references.partition_point(|reference| reference.number < number);
    for first in 0..references.len() {
        let mut stack: Vec<(u64, Range<usize>)> = Vec::new();
        let mut next = Some(first);
        loop {
            if let Some(at) = next.take() {
                let reference = &references[at];
                match done.get(&reference.target) {
                    Some(true) => {}
                    Some(false) => return Ok(Some(at)),
                    None => {
                        fallible::insert(&mut done, reference.target, false, CELLS)?;
                        let below = index(reference.below.start)..index(reference.below.end);
                        fallible::push(&mut stack, (reference.target, below), CELLS)?;
                    }
                }
            }
            let Some((target, below)) = stack.last_mut() else { break };
            next = below.next();
            if next.is_none() {
                done.insert(*target, true);
                stack.pop();
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(number: u64, target: u64, below: Range<u64>) -> Reference {
        Reference { number, target, below }
    }

    #[test]
    fn cycles_over_several_references() {
        // [X, Y] with X = [ref Y], Y = [ref X].
        assert!(find_cycle(&[reference(3, 2, 4..5), reference(4, 1, 3..4)]).unwrap().is_some());
        // X = [ref Y], Y = [1].
        assert!(find_cycle(&[reference(3, 2, 4..5)]).unwrap().is_none());
        // Two ways to the same cell.
        let two = [reference(5, 1, 3..5), reference(6, 1, 3..5), reference(7, 2, 6..7)];
        assert!(find_cycle(&two).unwrap().is_none());
        // A cell below itself.
        assert!(find_cycle(&[reference(3, 1, 2..4)]).unwrap().is_some());
    }
}
