//! Turns values into nodes.

use std::collections::{HashMap, VecDeque};

use crate::bytes::{len32, len64};
use crate::checksum::checksum;
use crate::node::{Node, NodeKind};
use crate::value::Value;

/// Collects values in one array of nodes and one heap.
#[derive(Clone, Debug, Default)]
pub struct ValueTree {
    nodes: Vec<u8>,
    heap: Vec<u8>,
    /// Offset and length of keys in the heap, by hash, because lists of maps repeat their keys.
    keys: HashMap<u64, (u64, u64)>,
}

/// A list or map whose children are not written yet.
type Queue<'a> = VecDeque<(u64, &'a Value)>;

impl ValueTree {
    /// No values yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Values that follow those of these node records and this heap.
    pub fn after(nodes: Vec<u8>, heap: Vec<u8>) -> Self {
        Self { nodes, heap, keys: HashMap::new() }
    }

    /// The node records.
    pub fn nodes(&self) -> &[u8] {
        &self.nodes
    }

    /// The value heap.
    pub fn heap(&self) -> &[u8] {
        &self.heap
    }

    /// How many nodes.
    pub fn n_nodes(&self) -> u64 {
        len64(self.nodes.len() / Node::LEN)
    }

    /// The node records and the value heap.
    pub fn into_parts(self) -> (Vec<u8>, Vec<u8>) {
        (self.nodes, self.heap)
    }

    /// Adds a value and returns the number of its node. A value that [`Value::check`] refuses is
    /// added, but cannot be read.
    pub fn add(&mut self, value: &Value) -> u64 {
        // Breadth first: the children of a node are consecutive and come after it.
        let mut queue = Queue::new();
        let number = self.reserve(1);
        self.add_node(number, value, false, &mut queue);
        while let Some((number, value)) = queue.pop_front() {
            self.add_children(number, value, &mut queue);
        }
        number
    }

    /// Reserves nodes and returns the number of the first.
    fn reserve(&mut self, count: usize) -> u64 {
        let first = self.n_nodes();
        self.nodes.resize(self.nodes.len().saturating_add(count.saturating_mul(Node::LEN)), 0);
        first
    }

    fn put(&mut self, number: u64, node: Node) {
        let mut record = Vec::with_capacity(Node::LEN);
        node.emit(&mut record);
        let (nodes, _) = self.nodes.as_chunks_mut::<{ Node::LEN }>();
        let slot = usize::try_from(number).ok().and_then(|number| nodes.get_mut(number));
        if let (Some(slot), Ok(record)) = (slot, record.try_into()) {
            *slot = record;
        }
    }

    /// Writes the node of a value, and queues it if it has children.
    fn add_node<'a>(&mut self, number: u64, value: &'a Value, is_key: bool, queue: &mut Queue<'a>) {
        let node = |kind, a| Node { kind, n_children: 0, a, b: 0, key_hash: 0 };
        let node = match value {
            Value::Null => node(NodeKind::Null, 0),
            Value::Bool(false) => node(NodeKind::False, 0),
            Value::Bool(true) => node(NodeKind::True, 0),
            Value::Int(value) => node(NodeKind::Integer, value.cast_unsigned()),
            Value::UInt(value) => node(NodeKind::Unsigned, *value),
            Value::Float(value) => node(NodeKind::Float, value.to_bits()),
            Value::Column(number) => node(NodeKind::Column, *number),
            Value::Table(number) => node(NodeKind::Table, *number),
            Value::Cell(number) => node(NodeKind::Cell, *number),
            Value::Str(text) if is_key => {
                let hash = checksum(text.as_bytes());
                let (a, b) = self.add_key(text, hash);
                Node { b, key_hash: hash, ..node(NodeKind::String, a) }
            }
            Value::Str(text) => {
                let (a, b) = self.add_bytes(text.as_bytes());
                Node { b, ..node(NodeKind::String, a) }
            }
            Value::Bytes(bytes) => {
                let (a, b) = self.add_bytes(bytes);
                Node { b, ..node(NodeKind::Bytes, a) }
            }
            Value::List(_) | Value::Map(_) => {
                queue.push_back((number, value));
                return;
            }
        };
        self.put(number, node);
    }

    /// Writes the nodes of a list or map and of its children.
    fn add_children<'a>(&mut self, number: u64, value: &'a Value, queue: &mut Queue<'a>) {
        // A node has at most 2^32 - 1 children. Memory has no room for more, so the rest is left
        // out.
        let most = |len: usize| usize::try_from(len32(len)).unwrap_or(len);
        let (kind, len, room) = match value {
            Value::List(values) => (NodeKind::List, values.len(), most(values.len())),
            Value::Map(pairs) => (NodeKind::Map, pairs.len(), most(pairs.len()).saturating_mul(2)),
            _ => return,
        };
        let first = if room == 0 { 0 } else { self.reserve(room) };
        self.put(number, Node { kind, n_children: len32(len), a: first, b: 0, key_hash: 0 });
        match value {
            Value::List(values) => {
                for (child, value) in (first..).zip(values.iter().take(most(len))) {
                    self.add_node(child, value, false, queue);
                }
            }
            Value::Map(pairs) => {
                let pairs = pairs.iter().take(most(len));
                for (child, (key, _)) in (first..).zip(pairs.clone()) {
                    self.add_node(child, key, true, queue);
                }
                for (child, (_, value)) in (first.saturating_add(len64(most(len)))..).zip(pairs) {
                    self.add_node(child, value, false, queue);
                }
            }
            _ => {}
        }
    }

    fn add_bytes(&mut self, bytes: &[u8]) -> (u64, u64) {
        let at = len64(self.heap.len());
        self.heap.extend_from_slice(bytes);
        (at, len64(bytes.len()))
    }

    /// Offset and length of a key, which may be in the heap already.
    fn add_key(&mut self, key: &str, hash: u64) -> (u64, u64) {
        if let Some(&(at, len)) = self.keys.get(&hash) {
            let range =
                usize::try_from(at).ok().zip(at.checked_add(len).and_then(|end| usize::try_from(end).ok()));
            if range.and_then(|(from, to)| self.heap.get(from..to)) == Some(key.as_bytes()) {
                return (at, len);
            }
        }
        let range = self.add_bytes(key.as_bytes());
        self.keys.insert(hash, range);
        range
    }
}
