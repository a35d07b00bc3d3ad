//! Values: the tree of nodes.

use super::bytes::{Kind, Wrong, checksum, is_zero, known, range, rule, u32_at, u64_at, wrong};

/// A value of the tree.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// Null.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// The bits of a float.
    Float(u64),
    /// A string.
    Str(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A list.
    List(Vec<Tree>),
    /// A map.
    Map(Vec<(Tree, Tree)>),
    /// A column.
    Column(u64),
    /// A table.
    Table(u64),
    /// An integer without sign.
    UInt(u64),
    /// A cell.
    Cell(u64),
}

/// The nodes of a file, with the counts that bound their references.
#[derive(Debug)]
pub struct Nodes<'a> {
    /// The records.
    pub nodes: &'a [u8],
    /// The value heap.
    pub heap: &'a [u8],
    /// Number of columns.
    pub n_columns: u64,
    /// Number of tables.
    pub n_tables: u64,
    /// Which nodes were reached as a child, in the value that is being read.
    has_parent: Vec<bool>,
}

impl<'a> Nodes<'a> {
    /// The nodes of a file.
    pub fn new(nodes: &'a [u8], heap: &'a [u8], n_columns: u64, n_tables: u64) -> Self {
        Self { nodes, heap, n_columns, n_tables, has_parent: vec![false; nodes.len() / 32] }
    }

    /// The value of a node that the root, a table or a column names.
    ///
    /// # Errors
    /// *Corrupt*, *unsupported*.
    pub fn value(&mut self, node: u64) -> Result<Tree, Wrong> {
        self.has_parent.fill(false);
        self.node(node, 1, false)
    }

    fn node(&mut self, number: u64, depth: u32, is_key: bool) -> Result<Tree, Wrong> {
        rule(depth <= 64, "depth is at most 64")?;
        rule(number < self.nodes.len() as u64 / 32, "a node that is not there")?;
        let at = number as usize * 32;
        let node = &self.nodes[at..at + 32];
        let (kind, n, a, b, hash) =
            (node[0], u32_at(node, 4), u64_at(node, 8), u64_at(node, 16), u64_at(node, 24));
        if kind > 12 {
            return wrong(Kind::Unsupported, "a kind of node");
        }
        known(is_zero(&node[1..4]), "reserved bytes of a node")?;
        rule(n == 0 || kind == 7 || kind == 8, "children of a scalar")?;
        rule(b == 0 || kind == 5 || kind == 6, "b is zero where it is not used")?;
        rule(a == 0 || kind > 2, "a is zero where it is not used")?;
        let tree = match kind {
            0 => Tree::Null,
            1 | 2 => Tree::Bool(kind == 2),
            3 => Tree::Int(a as i64),
            4 => Tree::Float(a),
            5 => match String::from_utf8(range(self.heap, a, b)?.to_vec()) {
                Ok(text) => Tree::Str(text),
                Err(_) => return wrong(Kind::Corrupt, "a string of the value tree is UTF-8"),
            },
            6 => Tree::Bytes(range(self.heap, a, b)?.to_vec()),
            7 => {
                let mut items = Vec::new();
                for i in 0..u64::from(n) {
                    items.push(self.child(number, a, i, depth, false)?);
                }
                rule(n > 0 || a == 0, "a list without children has a = 0")?;
                Tree::List(items)
            }
            8 => {
                let (mut keys, mut values) = (Vec::new(), Vec::new());
                for i in 0..u64::from(n) {
                    keys.push(self.child(number, a, i, depth, true)?);
                }
                for i in u64::from(n)..2 * u64::from(n) {
                    values.push(self.child(number, a, i, depth, false)?);
                }
                rule(n > 0 || a == 0, "a map without children has a = 0")?;
                Tree::Map(keys.into_iter().zip(values).collect())
            }
            9 => {
                rule(a < self.n_columns, "a column that is not there")?;
                Tree::Column(a)
            }
            10 => {
                rule(a < self.n_tables, "a table that is not there")?;
                Tree::Table(a)
            }
            11 => Tree::UInt(a),
            _ => Tree::Cell(a),
        };
        let expected = match &tree {
            Tree::Str(text) if is_key => checksum(text.as_bytes()),
            _ => 0,
        };
        rule(hash == expected, "the key hash")?;
        Ok(tree)
    }

    fn child(&mut self, parent: u64, first: u64, i: u64, depth: u32, is_key: bool) -> Result<Tree, Wrong> {
        let number = first.checked_add(i).filter(|&number| number > parent);
        let Some(number) = number else {
            return wrong(Kind::Corrupt, "a child's number is greater than its parent's");
        };
        let fresh = self.has_parent.get_mut(number as usize).is_some_and(|has| !std::mem::replace(has, true));
        rule(fresh, "a node is the child of one parent")?;
        self.node(number, depth + 1, is_key)
    }
}
