//! Values of JSON as cells.

use entasis_format::CellKind;

use super::write::CellWriter;

/// A value of JSON. Keys are in the order of the text.
#[derive(Clone, PartialEq, Debug)]
pub enum Json {
    /// null.
    Null,
    /// true or false.
    Bool(bool),
    /// A number without a point or an exponent.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Self>),
    /// An object.
    Map(Vec<(String, Self)>),
}

impl Json {
    /// Adds the value to cells.
    pub fn write(&self, cells: &mut CellWriter) {
        let parent = self.write_head(cells);
        self.write_parts(parent, cells);
    }

    /// Adds the cell of the value. Returns its number among cells that may have children, else 0.
    fn write_head(&self, cells: &mut CellWriter) -> usize {
        match self {
            Self::Null => cells.unit(CellKind::Null),
            Self::Bool(false) => cells.unit(CellKind::False),
            Self::Bool(true) => cells.unit(CellKind::True),
            Self::Int(value) => cells.int(CellKind::Int, *value),
            Self::Float(value) => cells.float(CellKind::Float, *value),
            Self::Text(text) => cells.text(CellKind::Str, text),
            Self::List(_) => return cells.parent(CellKind::List),
            Self::Map(_) => return cells.parent(CellKind::Map),
        }
        0
    }

    /// Adds the children of a value together, then the descendants of each.
    fn write_parts(&self, parent: usize, cells: &mut CellWriter) {
        let first = cells.n_cells();
        let children: Vec<&Self> = match self {
            Self::List(items) => items.iter().collect(),
            Self::Map(pairs) => pairs.iter().map(|(_, value)| value).collect(),
            _ => return,
        };
        let parents: Vec<usize> = children.iter().map(|child| child.write_head(cells)).collect();
        let n = children.len() as u64;
        let mut keys = 0;
        if let Self::Map(pairs) = self
            && n > 0
        {
            keys = cells.n_cells();
            pairs.iter().for_each(|(key, _)| cells.text(CellKind::Str, key));
            cells.index_keys(pairs.len());
        }
        cells.set_children(parent, first, n, keys);
        for (child, parent) in children.iter().zip(parents) {
            child.write_parts(parent, cells);
        }
        cells.end(parent);
    }
}
