//! Keys of maps that a value repeats, kept while it is parsed.

use std::collections::HashMap;

use crate::error::Result;
use crate::fallible;
use crate::node::Node;

/// Keys that are kept at most.
const MOST: usize = 1_024;
/// Longest key that is kept.
const LONGEST: u64 = 256;

/// Texts of keys by offset in the heap, length and hash. A writer stores equal keys once, often far
/// from the other strings of the maps that have them.
#[derive(Default)]
pub(super) struct Keys {
    known: HashMap<(u64, u64, u64), String>,
}

impl Keys {
    /// The text of a key node, if a node with the same fields was kept.
    pub(super) fn get(&self, node: &Node) -> Option<&str> {
        self.known.get(&(node.a, node.b, node.key_hash)).map(String::as_str)
    }

    /// Keeps the text of a key node whose hash was checked, while there is room.
    pub(super) fn keep(&mut self, node: &Node, text: &str) -> Result<()> {
        if self.known.len() < MOST && node.b <= LONGEST {
            let key = (node.a, node.b, node.key_hash);
            fallible::insert(&mut self.known, key, text.to_owned(), "the keys of maps")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::NodeKind;

    fn node(a: u64, b: u64) -> Node {
        Node { kind: NodeKind::String, n_children: 0, a, b, key_hash: 7 }
    }

    #[test]
    fn nodes_with_other_fields_are_unknown() {
        let mut keys = Keys::default();
        keys.keep(&node(3, 5), "class").unwrap();
        assert_eq!(keys.get(&node(3, 5)), Some("class"));
        assert_eq!(keys.get(&node(4, 5)), None);
        assert_eq!(keys.get(&node(3, 4)), None);
        assert_eq!(keys.get(&Node { key_hash: 8, ..node(3, 5) }), None);
    }

    #[test]
    fn memory_is_bounded() {
        let mut keys = Keys::default();
        keys.keep(&node(0, LONGEST + 1), &"k".repeat(257)).unwrap();
        assert_eq!(keys.known.len(), 0);
        for at in 0..2 * MOST as u64 {
            keys.keep(&node(at, 1), "k").unwrap();
        }
        assert_eq!(keys.known.len(), MOST);
    }
}
