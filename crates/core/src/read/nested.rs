//! Reads nested columns level by level.
//!
//! Structure values determine the wanted values of children, so the reader knows all sizes before
//! it allocates. Columns without children are read last, on all threads, like any other column.

mod arrow_buffers;
mod selection;
mod structure;
mod values;

use std::ops::Range;
use std::sync::Arc;

use entasis_format::{Error, MAX_COLUMN_DEPTH, Physical, Result, fallible};
use entasis_platform::Buffer;

use super::alloc::{COLUMNS, too_many, zeroed};
use super::decoded_len::DecodedLen;
use super::layout::Text;
use super::request::{MissingTo, Output, Request};
use crate::file::{ColumnInfo, File};
use crate::monitor::Monitor;
use crate::rows::Rows;
use structure::NestedStructure;
pub use values::{Form, Nested, NestedValues};

/// A column that is being read.
struct Node {
    info: Arc<ColumnInfo>,
    /// The values wanted, as a range or by number.
    rows: Rows,
    n: usize,
    depth: u32,
    validity: Option<Buffer>,
    values: NestedValues,
    children: Range<usize>,
}

impl File {
    /// Reads columns, nested or not, with all their children, into new memory.
    ///
    /// `form` sets the layout of each column, including children. Costs one read per level of
    /// nesting. Rows by number also read the structure values before them in their block.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_nested(
        &self,
        columns: &[(u64, Rows)],
        form: &dyn Fn(&ColumnInfo) -> Form,
        threads: Option<usize>,
        monitor: &dyn Monitor,
    ) -> Result<Vec<Nested>> {
        self.read_levels(columns, form, threads, monitor).map_err(|e| e.in_file(self.path()))
    }

    fn read_levels(
        &self,
        columns: &[(u64, Rows)],
        form: &dyn Fn(&ColumnInfo) -> Form,
        threads: Option<usize>,
        monitor: &dyn Monitor,
    ) -> Result<Vec<Nested>> {
        let mut nodes = Vec::new();
        for (column, rows) in columns {
            let info = self.column(*column)?;
            rows.check(info.record.n_values).map_err(|e| e.in_column(&info.name))?;
            let n = usize::try_from(rows.n(info.record.n_values)).map_err(|_| too_many())?;
            let rows = match rows {
                Rows::All => Rows::Range(0..info.record.n_values),
                Rows::Step { start, n, step } => Rows::Indices(Rows::numbers(*start, *n, *step)?),
                rows => rows.clone(),
            };
            fallible::push(&mut nodes, Node::new(info, rows, n, 1), COLUMNS)?;
        }
        let mut done = 0;
        let decoded_len = DecodedLen::new(self);
        while done < nodes.len() {
            let level = done..nodes.len();
            done = level.end;
            let mut nested = fallible::with_capacity(level.len(), COLUMNS)?;
            nested.extend(level.filter(|&i| nodes[i].info.record.column_type.physical.is_nested()));
            let mut structures = fallible::with_capacity(nested.len(), COLUMNS)?;
            for &i in &nested {
                let node = &nodes[i];
                let named = |e: Error| e.in_column(&node.info.name);
                // Structure values, and the offsets made from them.
                let len =
                    node.info.record.column_type.memory_len(node.n as u64).saturating_add(8 * node.n as u64);
                decoded_len.add(len).map_err(named)?;
                if node.depth >= MAX_COLUMN_DEPTH && node.info.record.first_child.is_some() {
                    return Err(named(Error::corrupt("a column is nested too deep")));
                }
                let children = self.children(&node.info)?;
                structures.push(
                    NestedStructure::new(self, &node.info, children, &node.rows, node.n).map_err(named)?,
                );
            }
            let mut requests = Vec::new();
            for request in structures.iter_mut().flat_map(NestedStructure::requests) {
                fallible::push(&mut requests, request, COLUMNS)?;
            }
            self.read(requests, threads, monitor)?;
            for (i, structure) in nested.into_iter().zip(structures) {
                let node = &mut nodes[i];
                let small = form(&node.info).is_small;
                let (info, depth) = (Arc::clone(&node.info), node.depth + 1);
                let found =
                    structure.finish(&node.rows, node.n, small).map_err(|e| e.in_column(&info.name))?;
                if found.validity.is_some() && info.record.n_missing == 0 {
                    let error = Error::corrupt("values are missing in a column without missing values");
                    return Err(error.in_column(&info.name));
                }
                node.validity = found.validity;
                node.values = found.values;
                let first = nodes.len();
                let children = found.children.into_iter();
                let children = children.map(|(info, rows, n)| Node::new(info, rows, n, depth));
                fallible::extend(&mut nodes, children, COLUMNS)?;
                nodes[i].children = first..nodes.len();
            }
        }
        self.read_leaves(&mut nodes, &decoded_len, form, threads, monitor)?;
        assemble(nodes, columns.len())
    }

    fn read_leaves(
        &self,
        nodes: &mut [Node],
        decoded_len: &DecodedLen<'_>,
        form: &dyn Fn(&ColumnInfo) -> Form,
        threads: Option<usize>,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        let mut requests = Vec::new();
        for node in nodes {
            let of = node.info.record.column_type;
            if of.physical.is_nested() {
                continue;
            }
            decoded_len.add(of.memory_len(node.n as u64)).map_err(|e| e.in_column(&node.info.name))?;
            if of.physical == Physical::Null {
                continue;
            }
            let (n, form) = (node.n, form(&node.info));
            let width = of.layout().width();
            let wide = form.width.filter(|wide| width.is_some_and(|width| width < *wide));
            node.values = match of.physical {
                Physical::Bool => NestedValues::Bits(zeroed(n.div_ceil(8), 1)?),
                physical if physical.is_var() => NestedValues::Text(Text::new(form.text)),
                _ => NestedValues::Words(zeroed(n, wide.or(width).unwrap_or(0))?),
            };
            if node.info.record.n_missing > 0 {
                node.validity = Some(zeroed(n.div_ceil(8), 1)?);
            }
            let output = match (&mut node.values, wide) {
                (NestedValues::Words(words), Some(width)) => Output::Wide { memory: words, width },
                (NestedValues::Words(words), None) => Output::Words(words),
                (NestedValues::Bits(bits), _) => Output::Bits(bits),
                (NestedValues::Text(text), _) => Output::Text(text),
                _ => continue,
            };
            let missing = node.validity.as_deref_mut().map_or(MissingTo::Ignore, MissingTo::Bits);
            let request = Request { column: node.info.index, rows: node.rows.clone(), output, missing };
            fallible::push(&mut requests, request, COLUMNS)?;
        }
        self.read(requests, threads, monitor)
    }
}

impl Node {
    fn new(info: Arc<ColumnInfo>, rows: Rows, n: usize, depth: u32) -> Self {
        Self { info, rows, n, depth, validity: None, values: NestedValues::None, children: 0..0 }
    }
}

/// Assigns each column its children, which come after it in `nodes`.
fn assemble(nodes: Vec<Node>, n_columns: usize) -> Result<Vec<Nested>> {
    let mut made: Vec<Option<Nested>> = fallible::with_capacity(nodes.len(), COLUMNS)?;
    made.resize_with(nodes.len(), || None);
    for (i, node) in nodes.into_iter().enumerate().rev() {
        let Node { info, n, validity, values, children, .. } = node;
        let mut of_node = fallible::with_capacity(children.len(), COLUMNS)?;
        of_node.extend(made[children].iter_mut().filter_map(Option::take));
        made[i] = Some(Nested { info, n, validity, values, children: of_node });
    }
    let mut columns = fallible::with_capacity(n_columns, COLUMNS)?;
    columns.extend(made.into_iter().take(n_columns).flatten());
    Ok(columns)
}
