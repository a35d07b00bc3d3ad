//! Nested columns: values as cells (`docs/testing.md`), memory in all forms that the core takes,
//! and what the core reads.

use std::ops::Range;
use std::sync::Arc;

use entasis::{
    Array, Chunk, ColumnInfo, Field, File, Form, HostRead, HostValidity, HostValues, Nested, NestedValues,
    Physical, Result, Rows, Silent, TextLayout,
};

use super::chunk_memory::{ChunkMemory, lend};
use super::models::Model;
use crate::naive::Cell;
use crate::naive::nested::put;

/// The items of a cell of a list, struct or fixed-size list, from byte `at` on.
fn items(bytes: &[u8], mut at: usize) -> Vec<Option<Cell>> {
    let mut items = Vec::new();
    while at < bytes.len() {
        if bytes[at] == 0 {
            items.push(None);
            at += 1;
        } else {
            let len = u32::from_le_bytes(bytes[at + 1..at + 5].try_into().expect("four bytes")) as usize;
            items.push(Some(bytes[at + 5..at + 5 + len].to_vec()));
            at += 5 + len;
        }
    }
    items
}

/// A cell of a list or map.
pub fn list(items: &[Option<Cell>]) -> Option<Cell> {
    let mut cell = (items.len() as u32).to_le_bytes().to_vec();
    items.iter().for_each(|item| put(&mut cell, item));
    Some(cell)
}

/// A cell of a struct or fixed-size list.
pub fn record(items: &[Option<Cell>]) -> Option<Cell> {
    let mut cell = Vec::new();
    items.iter().for_each(|item| put(&mut cell, item));
    Some(cell)
}

/// A cell of a union or value column.
pub fn typed(k: u8, item: &Option<Cell>) -> Option<Cell> {
    let mut cell = vec![k];
    put(&mut cell, item);
    Some(cell)
}

/// The children of a model, as the core takes them.
pub fn fields(models: &[Model]) -> Vec<Field> {
    let field = |model: &Model| Field {
        name: model.name.clone(),
        column_type: model.of,
        detail: model.detail.clone(),
        host_detail: model.host_detail.clone(),
        dictionary: model.dictionary,
        children: fields(&model.children),
    };
    models.iter().map(field).collect()
}

/// Memory of one chunk of a nested column, with its children's.
#[derive(Debug)]
pub(super) struct NestedMemory {
    n: usize,
    physical: Physical,
    form: usize,
    offsets: Vec<u8>,
    sizes: Vec<u8>,
    codes: Vec<u8>,
    validity: Option<Vec<u8>>,
    children: Vec<AnyMemory>,
    /// For runs: unused values at the start of the child, and the bytes of an end.
    first: u64,
    width: usize,
}

#[derive(Debug)]
enum AnyMemory {
    Plain(ChunkMemory),
    Nested(NestedMemory),
}

impl AnyMemory {
    fn new(model: &Model, cells: &[Option<Cell>], form: usize) -> Self {
        if model.of.physical.is_nested() {
            Self::Nested(NestedMemory::new(model, cells, form))
        } else {
            let model = Model { cells: cells.to_vec(), ..model.clone() };
            Self::Plain(ChunkMemory::new(&model, 0..cells.len(), form))
        }
    }

    fn chunk(&self) -> Chunk {
        match self {
            Self::Plain(memory) => memory.chunk(),
            Self::Nested(memory) => memory.chunk(),
        }
    }
}

impl NestedMemory {
    pub(super) fn new(model: &Model, cells: &[Option<Cell>], form: usize) -> Self {
        let (n, of) = (cells.len(), model.of);
        let mut memory = Self {
            n,
            physical: of.physical,
            form,
            offsets: Vec::new(),
            sizes: Vec::new(),
            codes: Vec::new(),
            validity: None,
            children: Vec::new(),
            first: 0,
            width: [4, 8, 2][form % 3].max(if n > 30_000 { 4 } else { 2 }),
        };
        let has_validity = !matches!(of.physical, Physical::Union | Physical::RunEnd);
        if has_validity && cells.iter().any(Option::is_none) {
            let mask = cells.iter().map(|cell| u8::from(cell.is_none())).collect();
            memory.validity = Some(mask);
        }
        let made: Vec<Vec<Option<Cell>>> = match of.physical {
            Physical::List | Physical::Map => vec![memory.lists(cells)],
            Physical::FixedSizeList | Physical::Struct => {
                let n_items = if of.physical == Physical::Struct {
                    model.children.len()
                } else {
                    of.value_len as usize
                };
                let mut columns = vec![Vec::new(); if of.physical == Physical::Struct { n_items } else { 1 }];
                for cell in cells {
                    // The children of a missing value are missing.
                    let items = cell.as_ref().map_or(vec![None; n_items], |bytes| items(bytes, 0));
                    for (i, item) in items.into_iter().enumerate() {
                        let column = if of.physical == Physical::Struct { i } else { 0 };
                        columns[column].push(item);
                    }
                }
                columns
            }
            Physical::RunEnd => vec![memory.runs(cells)],
            _ => memory.union(cells, model.children.len(), of.is_sparse()),
        };
        let children = model.children.iter().zip(made).enumerate();
        memory.children =
            children.map(|(k, (model, cells))| AnyMemory::new(model, &cells, form + k + 1)).collect();
        memory
    }

    fn push(&mut self, value: usize, is_size: bool) {
        let out = if is_size { &mut self.sizes } else { &mut self.offsets };
        if self.form.is_multiple_of(2) {
            out.extend((value as i32).to_le_bytes());
        } else {
            out.extend((value as i64).to_le_bytes());
        }
    }

    /// Memory of lists. Some forms have unused values in the child, or lists in another order.
    fn lists(&mut self, cells: &[Option<Cell>]) -> Vec<Option<Cell>> {
        let mut child = Vec::new();
        let is_view = self.physical == Physical::List && self.form % 3 == 2;
        let mut order: Vec<usize> = (0..cells.len()).collect();
        if is_view {
            order.reverse();
        }
        let mut ranges = vec![(0, 0); cells.len()];
        for i in order {
            // In some forms, a missing list spans a value of the child that is not its own.
            let items = match &cells[i] {
                Some(bytes) => items(bytes, 4),
                None => vec![None; self.form % 2],
            };
            ranges[i] = (child.len(), items.len());
            child.extend(items);
        }
        if is_view {
            for (start, n) in ranges {
                self.push(start, false);
                self.push(n, true);
            }
        } else {
            ranges.iter().for_each(|&(start, _)| self.push(start, false));
            self.push(child.len(), false);
        }
        child
    }

    fn runs(&mut self, cells: &[Option<Cell>]) -> Vec<Option<Cell>> {
        // Two unused values, in the first run or a run before it.
        self.first = 2;
        let mut child: Vec<Option<Cell>> = Vec::new();
        let mut ends: Vec<usize> = Vec::new();
        if self.form.is_multiple_of(2) {
            child.push(None);
            ends.push(2);
        }
        for (i, cell) in cells.iter().enumerate() {
            if ends.last() == Some(&(i + 2)) && child.last() == Some(cell) && i > 0 {
                ends.pop();
            } else {
                child.push(cell.clone());
            }
            ends.push(i + 3);
        }
        for end in ends {
            self.offsets.extend(&(end as i64).to_le_bytes()[..self.width]);
        }
        child
    }

    /// The type codes are the numbers of the types plus three.
    fn union(&mut self, cells: &[Option<Cell>], n_types: usize, is_sparse: bool) -> Vec<Vec<Option<Cell>>> {
        let mut children = vec![Vec::new(); n_types];
        for cell in cells {
            let (k, item) = match cell {
                Some(bytes) => (usize::from(bytes[0]), items(bytes, 1).remove(0)),
                None => (0, None),
            };
            if is_sparse {
                for (other, child) in children.iter_mut().enumerate() {
                    child.push(if other == k { item.clone() } else { None });
                }
            } else if cell.is_some() {
                self.offsets.extend((children[k].len() as i32).to_le_bytes());
                children[k].push(item);
            } else {
                self.offsets.extend((-7i32).to_le_bytes());
            }
            self.codes.push(if cell.is_some() { code(k) } else { 2 });
        }
        children
    }

    pub(super) fn chunk(&self) -> Chunk {
        let offsets = lend(&self.offsets);
        let children: Vec<Chunk> = self.children.iter().map(AnyMemory::chunk).collect();
        let is_large = !self.form.is_multiple_of(2);
        let child = || Arc::new(children[0].clone());
        let values = match self.physical {
            Physical::List | Physical::Map if self.sizes.is_empty() && !self.offsets.is_empty() => {
                HostValues::Lists { offsets, is_large, child: child() }
            }
            Physical::List | Physical::Map => {
                HostValues::ListViews { offsets, sizes: lend(&self.sizes), is_large, child: child() }
            }
            Physical::FixedSizeList | Physical::Struct => HostValues::Children(children.into()),
            Physical::RunEnd => {
                HostValues::Runs { ends: offsets, width: self.width, first: self.first, child: child() }
            }
            _ => HostValues::Union {
                codes: lend(&self.codes),
                types: types(children.len()),
                offsets: (!self.offsets.is_empty() && self.form.is_multiple_of(2)).then_some(offsets),
                children: children.into(),
            },
        };
        let validity = match &self.validity {
            None => HostValidity::AllValid,
            Some(mask) => HostValidity::Mask { memory: lend(mask), stride: 1 },
        };
        Chunk { n: self.n, values, validity }
    }
}

fn code(k: usize) -> u8 {
    (k as u8).wrapping_add(3)
}

fn types(n: usize) -> Arc<[u8; 256]> {
    let mut types = [u8::MAX; 256];
    (0..n).for_each(|k| types[usize::from(code(k))] = k as u8);
    Arc::new(types)
}

/// The array of a nested model in chunks.
pub(super) fn chunks(model: &Model, ranges: &[Range<usize>], form: usize) -> Vec<NestedMemory> {
    ranges.iter().map(|range| NestedMemory::new(model, &model.cells[range.clone()], form)).collect()
}

pub(super) fn array(memories: &[NestedMemory]) -> Array {
    memories.iter().map(NestedMemory::chunk).collect::<Vec<_>>().into()
}

/// Absent memory.
#[must_use]
pub fn nothing() -> HostRead {
    lend(&[])
}

/// Reads some rows of a nested column, with their parts.
///
/// # Errors
/// As the core.
///
/// # Panics
/// When the values are very many.
pub fn read(file: &File, column: u64, rows: Rows) -> Result<Vec<Option<Cell>>> {
    Ok(read_some(file, column, rows, 1 << 28)?.expect("not so many values"))
}

/// Reads some rows of a nested column; `None` if these have over `most` values in total.
///
/// # Errors
/// As the core.
pub fn read_some(file: &File, column: u64, rows: Rows, most: usize) -> Result<Option<Vec<Option<Cell>>>> {
    let layouts = [TextLayout::Large, TextLayout::Small, TextLayout::Views];
    let form = |info: &ColumnInfo| Form {
        text: layouts[info.index as usize % 3],
        width: None,
        is_small: info.index.is_multiple_of(2),
    };
    let read = file.read_nested(&[(column, rows)], &form, Some(1), &Silent)?;
    Ok((total(&read[0]) <= most).then(|| cells(&read[0])))
}

fn total(nested: &Nested) -> usize {
    nested.children.iter().map(total).fold(nested.n, usize::saturating_add)
}

fn valid(nested: &Nested, i: usize) -> bool {
    nested.validity.as_ref().is_none_or(|bits| bits[i / 8] >> (i % 8) & 1 == 1)
}

/// The cells of values that the core read.
///
/// # Panics
/// When a result breaks a rule that holds for any result.
pub fn cells(nested: &Nested) -> Vec<Option<Cell>> {
    let children: Vec<Vec<Option<Cell>>> = nested.children.iter().map(cells).collect();
    let number = |buffer: &[u8], i: usize, len: usize| {
        let mut wide = [0; 8];
        wide[..len].copy_from_slice(&buffer[i * len..(i + 1) * len]);
        u64::from_le_bytes(wide) as usize
    };
    let n = nested.n;
    let width = nested.info.record.column_type.layout().width().unwrap_or(0);
    let mut run = 0;
    let item = |i: usize| -> Option<Cell> {
        if !valid(nested, i) {
            return None;
        }
        Some(match &nested.values {
            NestedValues::Words(words) => words[i * width..(i + 1) * width].to_vec(),
            NestedValues::Bits(bits) => vec![bits[i / 8] >> (i % 8) & 1],
            NestedValues::Text(text) => {
                let bytes = text.get(i).expect("a string of each row");
                if nested.info.record.column_type.physical == Physical::Utf8 {
                    assert!(std::str::from_utf8(bytes).is_ok(), "utf8 values are UTF-8");
                }
                bytes.to_vec()
            }
            NestedValues::Offsets { offsets, is_large } => {
                let len = if *is_large { 8 } else { 4 };
                let (from, to) = (number(offsets, i, len), number(offsets, i + 1, len));
                assert!(from <= to, "offsets ascend");
                return list(&children[0][from..to]);
            }
            NestedValues::Types { types, offsets } => {
                let at = offsets.as_ref().map_or(i, |offsets| number(offsets, i, 4));
                return typed(types[i], &children[usize::from(types[i])][at]);
            }
            NestedValues::Ends(ends) => {
                while number(ends, run, 8) <= i {
                    run += 1;
                }
                return children[0][run].clone();
            }
            NestedValues::None => match nested.info.record.column_type.physical {
                Physical::Null => return None,
                Physical::Struct => {
                    return record(&children.iter().map(|c| c[i].clone()).collect::<Vec<_>>());
                }
                _ => {
                    let len = nested.info.record.column_type.value_len as usize;
                    return record(&children[0][i * len..(i + 1) * len]);
                }
            },
        })
    };
    if let NestedValues::Offsets { offsets, is_large } = &nested.values {
        let len = if *is_large { 8 } else { 4 };
        assert_eq!(offsets.len(), (n + 1) * len, "n + 1 offsets");
        assert_eq!((number(offsets, 0, len), number(offsets, n, len)), (0, children[0].len()), "all items");
    }
    if nested.info.record.column_type.physical == Physical::Null {
        return vec![None; n];
    }
    (0..n).map(item).collect()
}
