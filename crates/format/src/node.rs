//! Nodes of the value tree, as records (`docs/format/values.md`).

use crate::bytes::{Reader, put};
use crate::error::{Error, Result};

codes! {
    /// The kind of a node.
    NodeKind: u8 {
        /// Nothing.
        Null = 0, "null";
        /// False.
        False = 1, "false";
        /// True.
        True = 2, "true";
        /// A signed integer.
        Integer = 3, "integer";
        /// A float.
        Float = 4, "float";
        /// Text.
        String = 5, "string";
        /// Bytes.
        Bytes = 6, "bytes";
        /// Values in order.
        List = 7, "list";
        /// Keys and values in order.
        Map = 8, "map";
        /// A column.
        Column = 9, "column";
        /// A table.
        Table = 10, "table";
        /// An unsigned integer.
        Unsigned = 11, "unsigned integer";
        /// A cell.
        Cell = 12, "cell";
    }
}

/// A node of the value tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Node {
    /// The kind.
    pub kind: NodeKind,
    /// Children of a list, keys of a map.
    pub n_children: u32,
    /// The value, the offset of its bytes, or the first child.
    pub a: u64,
    /// Length of its bytes.
    pub b: u64,
    /// Hash of a string that is a key.
    pub key_hash: u64,
}

impl Node {
    /// Bytes of the record.
    pub const LEN: usize = 32;

    /// The bytes of the record.
    pub fn emit(&self, out: &mut Vec<u8>) {
        put!(out, self.kind.code(), 0u8, 0u16, self.n_children, self.a, self.b, self.key_hash);
    }

    /// Parses the record in exactly these bytes. An unknown kind is an error of kind *unsupported*.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::exact(bytes, Self::LEN, "a node")?;
        let code = reader.u8()?;
        let Some(kind) = NodeKind::from_code(code) else {
            return Err(Error::unsupported(format!("a value has the unknown kind {code}")));
        };
        reader.reserved::<3>()?;
        let (n_children, a, b, key_hash) = (reader.u32()?, reader.u64()?, reader.u64()?, reader.u64()?);
        let node = Self { kind, n_children, a, b, key_hash };
        if node.is_possible() {
            Ok(node)
        } else {
            Err(Error::corrupt("the fields of a node contradict its kind"))
        }
    }

    /// Whether the fields that the kind does not use are zero.
    fn is_possible(&self) -> bool {
        use NodeKind as K;
        let fields = match self.kind {
            K::Null | K::False | K::True => (self.n_children, self.a, self.b) == (0, 0, 0),
            K::Integer | K::Float | K::Column | K::Table | K::Unsigned | K::Cell => {
                (self.n_children, self.b) == (0, 0)
            }
            K::String | K::Bytes => self.n_children == 0 && self.a.checked_add(self.b).is_some(),
            K::List | K::Map => self.b == 0 && (self.n_children != 0 || self.a == 0),
        };
        fields && (self.key_hash == 0 || self.kind == K::String)
    }

    /// The number of consecutive nodes that are its children.
    pub const fn children(&self) -> u64 {
        match self.kind {
            NodeKind::List => self.n_children as u64,
            NodeKind::Map => self.n_children as u64 * 2,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::error::Kind;
    use crate::testing::exact;

    #[test]
    fn records_are_exact() {
        let node = |kind, n_children, a, b, key_hash| Node { kind, n_children, a, b, key_hash };
        for node in [
            node(NodeKind::Null, 0, 0, 0, 0),
            node(NodeKind::True, 0, 0, 0, 0),
            node(NodeKind::Integer, 0, u64::MAX, 0, 0),
            node(NodeKind::String, 0, 5, 7, 9),
            node(NodeKind::Bytes, 0, 5, 7, 0),
            node(NodeKind::List, 3, 8, 0, 0),
            node(NodeKind::Map, 0, 0, 0, 0),
            node(NodeKind::Unsigned, 0, 1, 0, 0),
        ] {
            exact(&node, Node::emit, Node::parse);
        }
    }

    #[test]
    fn unknown_kinds_are_unsupported() {
        for code in 13..=u8::MAX {
            let mut bytes = [0; Node::LEN];
            bytes[0] = code;
            assert_eq!(Node::parse(&bytes).unwrap_err().kind(), Kind::Unsupported);
        }
    }

    proptest! {
        #[test]
        fn any_bytes(bytes: [u8; 32]) {
            if let Ok(node) = Node::parse(&bytes) {
                let mut out = Vec::new();
                node.emit(&mut out);
                prop_assert_eq!(out, bytes);
            }
        }
    }
}
