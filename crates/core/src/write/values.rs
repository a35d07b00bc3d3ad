//! Collects the values of a new footer. In a change of a long footer, equal values keep their
//! nodes.

use entasis_format::{Node, Result, SectionKind, Value, ValueTree};

use super::waste::is_wasteful;
use crate::file::File;

/// The nodes and the heap of a new footer.
pub(super) struct Values {
    tree: ValueTree,
    /// Whether the nodes of the old footer stay.
    keeps_nodes: bool,
    /// Nodes, and bytes of strings, that a value of the new footer has.
    n_live: usize,
    live_len: usize,
}

impl Values {
    /// No values yet. Those of `old` stay where they are, if they are added again.
    ///
    /// # Errors
    /// As for reading.
    pub(super) fn after(old: Option<&File>) -> Result<Self> {
        let tree = match old {
            None => ValueTree::new(),
            Some(file) => ValueTree::after(
                file.section_bytes(SectionKind::Nodes)?,
                file.section_bytes(SectionKind::ValueHeap)?,
            ),
        };
        Ok(Self { tree, keeps_nodes: old.is_some(), n_live: 0, live_len: 0 })
    }

    /// Whether equal values keep their nodes.
    pub(super) fn keeps_nodes(&self) -> bool {
        self.keeps_nodes
    }

    /// Adds a value, and returns the number of its node. `old` is the value in the old footer, with
    /// its node.
    pub(super) fn add(&mut self, value: &Value, old: Option<(u64, &Value)>) -> u64 {
        self.count(value);
        match old.filter(|(_, old)| self.keeps_nodes && *old == value) {
            Some((node, _)) => node,
            None => self.tree.add(value),
        }
    }

    /// Counts the nodes and the bytes of a value.
    fn count(&mut self, value: &Value) {
        self.n_live += 1;
        match value {
            Value::Str(text) => self.live_len += text.len(),
            Value::Bytes(bytes) => self.live_len += bytes.len(),
            Value::List(values) => values.iter().for_each(|value| self.count(value)),
            Value::Map(pairs) => pairs.iter().for_each(|(key, value)| {
                self.count(key);
                self.count(value);
            }),
            _ => {}
        }
    }

    /// Whether most nodes or bytes are of no value.
    pub(super) fn is_wasteful(&self) -> bool {
        is_wasteful(self.tree.nodes().len(), self.n_live * Node::LEN)
            || is_wasteful(self.tree.heap().len(), self.live_len)
    }

    /// The node records and the value heap.
    pub(super) fn into_parts(self) -> (Vec<u8>, Vec<u8>) {
        self.tree.into_parts()
    }
}
