//! Turns nodes into values.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::bytes::{len64, to_usize};
use crate::checksum::checksum;
use crate::error::{Error, Result, Thousands};
use crate::fallible;
use crate::limits::{Limits, MAX_DEPTH};
use crate::node::{Node, NodeKind};
use crate::tree::keys::Keys;
use crate::value::Value;

/// Reads records of a section: nodes, or bytes of the heap.
type Read<'a> = dyn FnMut(Range<u64>) -> Result<Vec<u8>> + 'a;

/// Nodes that are read together: a leaf of the section.
const WINDOW: u64 = 2_048;
/// The longest range of the heap that is read for many strings together.
const TOGETHER: u64 = 256 << 10;
/// Bytes of a long string that are read at once.
const AT_ONCE: u64 = 16 << 20;
/// The use of the memory, in messages.
const VALUES: &str = "the parts of a value";

/// The value of a node. `nodes` reads node records and `heap` reads bytes of the value heap, both
/// by number; `n_nodes` and `heap_len` are the numbers of node records and of bytes.
pub fn parse_value(
    node: u64,
    (n_nodes, heap_len): (u64, u64),
    nodes: &mut dyn FnMut(Range<u64>) -> Result<Vec<u8>>,
    heap: &mut dyn FnMut(Range<u64>) -> Result<Vec<u8>>,
    limits: &Limits,
) -> Result<Value> {
    let mut parser = Parser {
        n_nodes,
        heap_len,
        nodes,
        heap,
        limits,
        windows: BTreeMap::new(),
        kept: Vec::new(),
        kept_len: 0,
        keys: Keys::default(),
        n_visited: 0,
        value_len: 0,
    };
    parser.value(node, 1, false)
}

struct Parser<'a, 'n, 'h> {
    n_nodes: u64,
    heap_len: u64,
    nodes: &'a mut Read<'n>,
    heap: &'a mut Read<'h>,
    limits: &'a Limits,
    /// Node records by the number of their window. Each window is read once.
    windows: BTreeMap<u64, Vec<u8>>,
    /// The bytes of the heap read last at each depth, for values and for keys. Strings of one depth
    /// are often neighbours.
    kept: Vec<[HeapBytes; 2]>,
    /// Bytes read for `kept` so far.
    kept_len: u64,
    keys: Keys,
    n_visited: u64,
    value_len: u64,
}

/// Bytes of the heap, and their offset.
#[derive(Default)]
struct HeapBytes {
    at: u64,
    bytes: Vec<u8>,
}

impl HeapBytes {
    fn get(&self, at: u64, len: u64) -> Option<&[u8]> {
        let from = usize::try_from(at.checked_sub(self.at)?).ok()?;
        self.bytes.get(from..from.checked_add(usize::try_from(len).ok()?)?)
    }
}

impl Parser<'_, '_, '_> {
    /// Recursive, at most 64 deep.
    fn value(&mut self, number: u64, depth: u32, is_key: bool) -> Result<Value> {
        if depth > MAX_DEPTH {
            return Err(damage("a value is nested too deep"));
        }
        if u64::from(depth) > self.limits.depth {
            return Err(limit("depth", self.limits.depth, format!("a value is nested {depth} deep or more")));
        }
        // A tree visits each node once. Shared children could multiply without end.
        self.n_visited = self.n_visited.saturating_add(1);
        if self.n_visited > self.n_nodes {
            return Err(damage("a value has shared nodes"));
        }
        if self.n_visited > self.limits.n_nodes {
            let asked = format!("a value has {} nodes or more", Thousands(self.n_visited));
            return Err(limit("n_nodes", self.limits.n_nodes, asked));
        }
        let node = self.node(number)?;
        if node.key_hash != 0 && !is_key {
            return Err(damage("a node has a key hash, but is not a key"));
        }
        Ok(match node.kind {
            NodeKind::Null => Value::Null,
            NodeKind::False => Value::Bool(false),
            NodeKind::True => Value::Bool(true),
            NodeKind::Integer => Value::Int(node.a.cast_signed()),
            NodeKind::Float => Value::Float(f64::from_bits(node.a)),
            NodeKind::Unsigned => Value::UInt(node.a),
            NodeKind::Column => Value::Column(node.a),
            NodeKind::Table => Value::Table(node.a),
            NodeKind::Cell => Value::Cell(node.a),
            NodeKind::Bytes => Value::Bytes(self.bytes(&node, number, depth, is_key)?),
            NodeKind::String if is_key => Value::Str(self.key(&node, number, depth)?),
            NodeKind::String => Value::Str(text(self.bytes(&node, number, depth, is_key)?)?),
            NodeKind::List => Value::List(self.children(number, &node, 0, depth, false)?),
            NodeKind::Map => {
                let keys = self.children(number, &node, 0, depth, true)?;
                let values = self.children(number, &node, node.n_children.into(), depth, false)?;
                Value::Map(fallible::collect(keys.into_iter().zip(values), VALUES)?)
            }
        })
    }

    /// The text of a key. Maps of a list mostly have the same keys.
    fn key(&mut self, node: &Node, number: u64, depth: u32) -> Result<String> {
        if let Some(known) = self.keys.get(node).map(str::to_owned) {
            self.count_bytes(node)?;
            return Ok(known);
        }
        let bytes = self.bytes(node, number, depth, true)?;
        if checksum(&bytes) != node.key_hash {
            return Err(damage("the hash of a key does not match its string"));
        }
        let text = text(bytes)?;
        self.keys.keep(node, &text)?;
        Ok(text)
    }

    /// `n_children` values, from this child on.
    fn children(
        &mut self,
        parent: u64,
        node: &Node,
        from: u64,
        depth: u32,
        are_keys: bool,
    ) -> Result<Vec<Value>> {
        if node.n_children == 0 {
            return Ok(Vec::new());
        }
        let end = node.a.checked_add(node.children());
        if node.a <= parent || end.is_none_or(|end| end > self.n_nodes) {
            return Err(damage("the children of a node are not after it"));
        }
        let first = node.a.saturating_add(from);
        // The claimed number may be false: memory grows as children are read.
        let room = to_usize(u64::from(node.n_children).min(WINDOW), VALUES)?;
        let mut values = fallible::with_capacity(room, VALUES)?;
        for number in first..first.saturating_add(node.n_children.into()) {
            fallible::push(&mut values, self.value(number, depth.saturating_add(1), are_keys)?, VALUES)?;
        }
        Ok(values)
    }

    /// The window of a node: its number and its nodes.
    fn window_of(&self, number: u64) -> (u64, Range<u64>) {
        let len = (self.limits.metadata_len / Node::LEN as u64).clamp(1, WINDOW);
        let window = number / len;
        let first = window.saturating_mul(len);
        (window, first..first.saturating_add(len).min(self.n_nodes))
    }

    fn node(&mut self, number: u64) -> Result<Node> {
        if number >= self.n_nodes {
            return Err(damage("a node number is out of range"));
        }
        let (window, range) = self.window_of(number);
        let first = range.start;
        if !self.windows.contains_key(&window) {
            let expected = range.end.saturating_sub(first).saturating_mul(Node::LEN as u64);
            let bytes = (self.nodes)(range)?;
            if len64(bytes.len()) != expected {
                return Err(damage("some nodes of a value are missing"));
            }
            self.windows.insert(window, bytes);
        }
        let records = self.windows.get(&window).map_or(&[][..], |bytes| bytes.as_chunks::<{ Node::LEN }>().0);
        let record =
            usize::try_from(number.saturating_sub(first)).ok().and_then(|offset| records.get(offset));
        match record {
            Some(record) => Node::parse(record).map_err(|error| error.in_section("nodes")),
            None => Err(damage("some nodes of a value are missing")),
        }
    }

    /// Counts the bytes of a string against the limit of a value. A string that is not in the heap
    /// is damage, however long it claims to be.
    fn count_bytes(&mut self, node: &Node) -> Result<()> {
        if node.b > 0 && node.a.checked_add(node.b).is_none_or(|end| end > self.heap_len) {
            return Err(damage("a string is outside of the value heap"));
        }
        self.value_len = self.value_len.saturating_add(node.b);
        if self.value_len > self.limits.value_len {
            let asked = format!("a value has {} bytes or more", Thousands(self.value_len));
            return Err(limit("value_len", self.limits.value_len, asked));
        }
        Ok(())
    }

    /// The bytes of a string or bytes node.
    fn bytes(&mut self, node: &Node, number: u64, depth: u32, is_key: bool) -> Result<Vec<u8>> {
        self.count_bytes(node)?;
        if node.b == 0 {
            return Ok(Vec::new());
        }
        // Do not read the neighbours of a string at the root of a value: a table may have one such
        // value for each column.
        if depth == 1 {
            return self.exact_bytes(node.a, node.b);
        }
        let slot = usize::try_from(depth).unwrap_or(usize::MAX);
        if let Some(bytes) = self.kept(slot, is_key).and_then(|kept| kept.get(node.a, node.b)) {
            return fallible::copied(bytes, VALUES);
        }
        if let Some(range) = self.range_around(node, number, is_key) {
            self.kept_len = self.kept_len.saturating_add(range.end.saturating_sub(range.start));
            let at = range.start;
            // Neighbouring nodes may belong to other values and be damaged. Then only these bytes
            // are read.
            if let Ok(bytes) = (self.heap)(range) {
                let read = HeapBytes { at, bytes };
                let found = read.get(node.a, node.b).map(|bytes| fallible::copied(bytes, VALUES));
                self.keep(slot, is_key, read);
                if let Some(bytes) = found {
                    return bytes;
                }
            }
        }
        self.exact_bytes(node.a, node.b)
    }

    fn kept(&self, slot: usize, is_key: bool) -> Option<&HeapBytes> {
        self.kept.get(slot).map(|[values, keys]| if is_key { keys } else { values })
    }

    fn keep(&mut self, slot: usize, is_key: bool, read: HeapBytes) {
        if self.kept.len() <= slot {
            self.kept.resize_with(slot.saturating_add(1), Default::default);
        }
        if let Some([values, keys]) = self.kept.get_mut(slot) {
            *(if is_key { keys } else { values }) = read;
        }
    }

    /// The part of the heap with the strings of the neighbouring nodes, if one read of it pays.
    fn range_around(&self, node: &Node, number: u64, is_key: bool) -> Option<Range<u64>> {
        // Strings that are scattered in the heap make every such read useless.
        if self.kept_len > self.value_len.saturating_mul(8).saturating_add(AT_ONCE) || node.b > TOGETHER {
            return None;
        }
        let (window, _) = self.window_of(number);
        let (records, _) = self.windows.get(&window)?.as_chunks::<{ Node::LEN }>();
        let (mut from, mut to, mut sum) = (node.a, node.a.checked_add(node.b)?, 0u64);
        for record in records {
            let Ok(near) = Node::parse(record) else { continue };
            let is_text = matches!(near.kind, NodeKind::String | NodeKind::Bytes);
            if is_text && (near.key_hash != 0) == is_key && near.b <= TOGETHER {
                from = from.min(near.a);
                to = to.max(near.a.saturating_add(near.b));
                sum = sum.saturating_add(near.b);
            }
        }
        let len = to.saturating_sub(from);
        let most = TOGETHER.min(self.limits.metadata_len);
        (len <= most && len <= sum.saturating_mul(2)).then_some(from..to)
    }

    /// Reads bytes of the heap in steps, so that a false length fails before it takes memory.
    fn exact_bytes(&mut self, at: u64, len: u64) -> Result<Vec<u8>> {
        let most = self.limits.metadata_len.clamp(1, AT_ONCE);
        let end = at.checked_add(len).ok_or_else(|| damage("a string is longer than the heap"))?;
        let mut out = Vec::new();
        let mut from = at;
        while from < end {
            let to = from.saturating_add(most).min(end);
            let bytes = (self.heap)(from..to)?;
            if len64(bytes.len()) != to.saturating_sub(from) {
                return Err(Error::corrupt("some bytes of a value are missing").in_section("value heap"));
            }
            if from == at && to == end {
                return Ok(bytes);
            }
            fallible::reserve(&mut out, bytes.len(), VALUES)?;
            out.extend_from_slice(&bytes);
            from = to;
        }
        Ok(out)
    }
}

fn text(bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|_| damage("a string is not UTF-8"))
}

#[cold]
fn damage(problem: &'static str) -> Error {
    Error::corrupt(problem).in_section("nodes")
}

#[cold]
fn limit(name: &'static str, allowed: u64, asked: String) -> Error {
    Error::over_limit(name, allowed, asked).in_section("nodes")
}
