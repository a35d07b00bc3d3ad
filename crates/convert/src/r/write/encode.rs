//! Values such as attributes in the host map. Atomic vectors and lists of them, each with its
//! attributes, become maps whose key is their type. Long vectors among these are columns, which
//! have attributes too.

use entasis::{Result, Value as Node};

use super::frames::Table;
use super::path::{Path, Step};
use super::{Planner, attributes, columns};
use crate::r::missing::NA_INTEGER;
use crate::r::{Data, Value};

/// Vectors of up to this many values are stored in the host map, longer ones in columns.
const INLINE: usize = 32;
/// The deepest list in a host map.
const DEEPEST: u32 = 4;

impl<'a> Planner<'a> {
    /// A value for the host map of a table.
    pub(super) fn encode(&mut self, table: &mut Table<'a>, value: &'a Value, path: Path) -> Result<Node> {
        if value.data == Data::Null {
            return Ok(Node::map([("null", Node::Null)]));
        }
        if !is_inline_tree(value, 0) {
            let cell = self.walker.walk(value, path)?;
            return Ok(Node::map([("cell", Node::Cell(cell))]));
        }
        let (key, items) = match &value.data {
            Data::List(items) => {
                let mut nodes = Vec::with_capacity(items.len());
                for (i, item) in items.iter().enumerate() {
                    let path = self.walker.paths.add(path, Step::Item(i));
                    nodes.push(self.encode(table, item, path)?);
                }
                ("list", nodes)
            }
            data if is_short(data) => (data.type_name(), scalars(data)),
            _ => {
                let vector = self.vector(table, true, value, &[String::new()], path)?;
                let mut pairs = vec![("column", Node::Column(vector.first as u64))];
                pairs.extend(vector.description.map(|description| ("of", description)));
                return Ok(Node::map(pairs));
            }
        };
        let mut pairs = vec![(key, Node::List(items))];
        if attributes(value).next().is_some() {
            pairs.push(("attributes", self.encode_attributes(table, value, &[], path)?));
        }
        if value.is_s4 {
            pairs.push(("s4", Node::Bool(true)));
        }
        Ok(Node::map(pairs))
    }

    /// Attributes as pairs of a name and a value, in order. The value is null for attributes that
    /// the column records.
    pub(super) fn encode_attributes(
        &mut self,
        table: &mut Table<'a>,
        value: &'a Value,
        skipped: &[&str],
        path: Path,
    ) -> Result<Node> {
        let mut pairs = Vec::new();
        for (name, attribute) in attributes(value) {
            let node = if skipped.contains(&name) {
                Node::Null
            } else {
                let path = self.walker.paths.add(path, Step::Attribute(name.to_owned()));
                self.encode(table, attribute, path)?
            };
            pairs.push(Node::List(vec![Node::from(name), node]));
        }
        Ok(Node::List(pairs))
    }
}

/// Whether a value can be stored in the host map: an atomic vector, or a short list of atomic
/// vectors. Other values become cells.
fn is_inline_tree(value: &Value, depth: u32) -> bool {
    let is_inline = match &value.data {
        Data::Null => true,
        Data::List(items) => {
            items.len() <= INLINE
                && depth <= DEEPEST
                && items.iter().all(|item| is_inline_tree(item, depth + 1))
        }
        data => columns::is_atomic(data),
    };
    is_inline && depth <= 2 * DEEPEST && attributes(value).all(|(_, value)| is_inline_tree(value, depth + 1))
}

/// Whether a vector is short, and nodes represent its values exactly.
fn is_short(data: &Data) -> bool {
    data.len() <= INLINE
        && match data {
            Data::Strings(strings) => strings.is_utf8(),
            data => matches!(data, Data::Logical(_) | Data::Integer(_) | Data::Double(_)),
        }
}

fn scalars(data: &Data) -> Vec<Node> {
    let known = |value: i32, node: Node| if value == NA_INTEGER { Node::Null } else { node };
    match data {
        Data::Logical(values) => values.iter().map(|&value| known(value, Node::Bool(value != 0))).collect(),
        Data::Integer(values) => values.iter().map(|&value| known(value, Node::Int(value.into()))).collect(),
        Data::Double(values) => values.iter().map(|&value| Node::Float(value)).collect(),
        Data::Strings(strings) => strings.iter().map(|text| text.map_or(Node::Null, Node::from)).collect(),
        _ => Vec::new(),
    }
}
