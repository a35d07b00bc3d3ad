use std::ops::Range;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;
use crate::checksum::checksum;
use crate::error::{Error, Kind, Result};
use crate::limits::Limits;
use crate::node::{Node, NodeKind};
use crate::value::Value;

fn slice(bytes: &[u8], range: Range<u64>, record: u64) -> Result<Vec<u8>> {
    let from = usize::try_from(range.start * record).unwrap();
    let to = usize::try_from(range.end * record).unwrap();
    bytes.get(from..to).map(<[u8]>::to_vec).ok_or_else(|| Error::corrupt("outside"))
}

fn parse_bytes(node: u64, nodes: &[u8], heap: &[u8], limits: &Limits) -> Result<Value> {
    let n_nodes = nodes.len() as u64 / 32;
    parse_value(
        node,
        (n_nodes, heap.len() as u64),
        &mut |range| slice(nodes, range, 32),
        &mut |range| slice(heap, range, 1),
        limits,
    )
}

fn parse(tree: &ValueTree, node: u64) -> Result<Value> {
    parse_bytes(node, tree.nodes(), tree.heap(), &Limits::default())
}

fn emit(nodes: &[Node]) -> Vec<u8> {
    let mut out = Vec::new();
    nodes.iter().for_each(|node| node.emit(&mut out));
    out
}

fn node(kind: NodeKind, n_children: u32, a: u64) -> Node {
    Node { kind, n_children, a, b: 0, key_hash: 0 }
}

fn kind(nodes: &[Node]) -> Kind {
    parse_bytes(0, &emit(nodes), b"heap", &Limits::default()).unwrap_err().kind()
}

fn nested(depth: u32) -> Value {
    (1..depth).fold(Value::Null, |value, _| Value::List(vec![value]))
}

#[test]
fn several_values_in_one_tree() {
    let mut tree = ValueTree::new();
    let values = [
        Value::Null,
        Value::map([("host", Value::from("pandas")), ("rows", Value::Table(3)), ("", Value::List(vec![]))]),
        Value::Map(vec![
            (Value::Int(-1), Value::UInt(u64::MAX)),
            (Value::Bytes(vec![0, 255]), Value::Float(-0.0)),
        ]),
        Value::from("ümlaut"),
    ];
    let numbers: Vec<u64> = values.iter().map(|value| tree.add(value)).collect();
    for (number, value) in numbers.iter().zip(&values) {
        assert_eq!(&parse(&tree, *number).unwrap(), value);
        assert!(value.check(&Limits::default()).is_ok());
    }
    assert_eq!(values[1].get("rows").and_then(Value::as_table), Some(3));
    assert_eq!(values[1].get("host").and_then(Value::as_str), Some("pandas"));
    assert_eq!(values[1].get("none"), None);
    assert_eq!((Value::UInt(5).as_int(), Value::Int(-5).as_uint()), (Some(5), None));
    assert_ne!(Value::Float(0.0), Value::Float(-0.0));
    assert_eq!(Value::Float(f64::NAN), Value::Float(f64::NAN));
    assert!(parse(&tree, tree.n_nodes()).is_err());
    assert!(parse(&tree, u64::MAX).is_err());
}

#[test]
fn layout() {
    let mut tree = ValueTree::new();
    tree.add(&Value::map([("ab", Value::Int(7))]));
    let (nodes, heap) = tree.into_parts();
    let key = Node { b: 2, key_hash: checksum(b"ab"), ..node(NodeKind::String, 0, 0) };
    assert_eq!(nodes, emit(&[node(NodeKind::Map, 1, 1), key, node(NodeKind::Integer, 0, 7)]));
    assert_eq!(heap, b"ab");
}

#[test]
fn keys_are_kept_once() {
    let mut tree = ValueTree::new();
    let rows = vec![Value::map([("name", Value::from("x")), ("city", Value::from("y"))]); 5_000];
    let value = Value::List(rows);
    let number = tree.add(&value);
    assert_eq!(tree.heap().len(), 8 + 10_000);
    assert_eq!(parse(&tree, number).unwrap(), value);
}

#[test]
fn parts_of_a_long_value_are_read_once() {
    let mut tree = ValueTree::new();
    let row = |n: u64| Value::map([("name", Value::from(format!("row {n}"))), ("n", Value::UInt(n))]);
    let value = Value::List((0..20_000).map(row).collect());
    let number = tree.add(&value);
    let (mut node_reads, mut heap_reads) = (0, 0);
    let mut nodes = |range: Range<u64>| {
        node_reads += 1;
        slice(tree.nodes(), range, 32)
    };
    let mut heap = |range: Range<u64>| {
        heap_reads += 1;
        slice(tree.heap(), range, 1)
    };
    let lens = (tree.n_nodes(), tree.heap().len() as u64);
    let read = parse_value(number, lens, &mut nodes, &mut heap, &Limits::default()).unwrap();
    assert_eq!(read, value);
    assert_eq!(node_reads, tree.n_nodes().div_ceil(2_048));
    assert!(heap_reads < 200, "{heap_reads}");
}

#[test]
fn small_reads_for_small_limits() {
    let mut tree = ValueTree::new();
    let value = Value::List(vec![Value::from("a string of some length"), Value::Bytes(vec![7; 1_000])]);
    let number = tree.add(&value);
    let limits = Limits { metadata_len: 10, ..Limits::default() };
    let mut heap = |range: Range<u64>| {
        assert!(range.end - range.start <= 10);
        slice(tree.heap(), range, 1)
    };
    let mut nodes = |range: Range<u64>| slice(tree.nodes(), range, 32);
    let lens = (tree.n_nodes(), tree.heap().len() as u64);
    assert_eq!(parse_value(number, lens, &mut nodes, &mut heap, &limits).unwrap(), value);
}

#[test]
fn damage_nearby_is_no_damage_here() {
    let here = Node { b: 2, ..node(NodeKind::String, 0, 1) };
    let there = Node { b: 3, ..node(NodeKind::String, 0, 2) };
    assert_eq!(
        parse_bytes(0, &emit(&[here, there]), b"heap", &Limits::default()).unwrap(),
        Value::from("ea")
    );
}

#[test]
fn depth() {
    let mut tree = ValueTree::new();
    let good = tree.add(&nested(64));
    let bad = tree.add(&nested(65));
    assert_eq!(parse(&tree, good).unwrap(), nested(64));
    assert_eq!(parse(&tree, bad).unwrap_err().kind(), Kind::Corrupt);
    assert!(nested(64).check(&Limits::default()).is_ok());
    assert_eq!(nested(65).check(&Limits::default()).unwrap_err().kind(), Kind::Argument);
    let limits = Limits { depth: 63, ..Limits::default() };
    assert_eq!(parse_bytes(good, tree.nodes(), &[], &limits).unwrap_err().kind(), Kind::Limit);
    // A limit above the bound of the format does not lift that bound.
    let limits = Limits { depth: u64::MAX, ..Limits::default() };
    assert_eq!(parse_bytes(bad, tree.nodes(), &[], &limits).unwrap_err().kind(), Kind::Corrupt);
    // Deeper than the stack allows.
    tree.add(&nested(5_000));
    assert!(nested(5_000).check(&Limits::default()).is_err());
}

#[test]
fn children_before_or_beyond() {
    assert_eq!(kind(&[node(NodeKind::List, 1, 0)]), Kind::Corrupt);
    assert_eq!(kind(&[node(NodeKind::List, 1, 1)]), Kind::Corrupt);
    assert_eq!(kind(&[node(NodeKind::List, 1, 1), node(NodeKind::List, 1, 0)]), Kind::Corrupt);
    assert_eq!(kind(&[node(NodeKind::List, 1, u64::MAX)]), Kind::Corrupt);
    assert_eq!(kind(&[node(NodeKind::Map, 1, 1), node(NodeKind::Null, 0, 0)]), Kind::Corrupt);
    assert_eq!(kind(&[node(NodeKind::List, 0, 1), node(NodeKind::Null, 0, 0)]), Kind::Corrupt);
}

#[test]
fn shared_children_do_not_multiply() {
    let start = Instant::now();
    // Every list has the next two nodes as children: without a bound, 2^60 visits.
    let mut nodes: Vec<Node> = (0..60).map(|number| node(NodeKind::List, 2, number + 1)).collect();
    nodes.extend([node(NodeKind::Null, 0, 0); 2]);
    assert_eq!(kind(&nodes), Kind::Corrupt);
    assert!(start.elapsed() < Duration::from_secs(1));
}

#[test]
fn huge_claims_fail_at_once() {
    let start = Instant::now();
    assert_eq!(kind(&[node(NodeKind::List, u32::MAX, 1), node(NodeKind::Null, 0, 0)]), Kind::Corrupt);
    assert_eq!(kind(&[node(NodeKind::Map, u32::MAX, 1)]), Kind::Corrupt);
    // The number of nodes is a false claim, too.
    let bytes = emit(&[node(NodeKind::List, u32::MAX, 1)]);
    let mut nodes = |range: Range<u64>| slice(&bytes, range.start..range.end.min(1), 32);
    let mut heap = |_: Range<u64>| Ok(Vec::new());
    assert!(parse_value(0, (u64::MAX, 0), &mut nodes, &mut heap, &Limits::default()).is_err());
    let long = |b| Node { b, ..node(NodeKind::Bytes, 0, 1) };
    assert_eq!(kind(&[long(1 << 29)]), Kind::Corrupt);
    assert_eq!(kind(&[long(1 << 40)]), Kind::Corrupt);
    assert_eq!(kind(&[long(u64::MAX - 1)]), Kind::Corrupt);
    assert_eq!(kind(&[long(u64::MAX)]), Kind::Corrupt);
    assert!(start.elapsed() < Duration::from_secs(1));
}

#[test]
fn limits_of_a_value() {
    let mut tree = ValueTree::new();
    let number = tree.add(&Value::List(vec![Value::from("abc"); 9]));
    let limits = Limits { n_nodes: 9, ..Limits::default() };
    assert_eq!(parse_bytes(number, tree.nodes(), tree.heap(), &limits).unwrap_err().kind(), Kind::Limit);
    let limits = Limits { value_len: 26, ..Limits::default() };
    assert_eq!(parse_bytes(number, tree.nodes(), tree.heap(), &limits).unwrap_err().kind(), Kind::Limit);
    let limits = Limits { value_len: 27, n_nodes: 10, ..Limits::default() };
    assert!(parse_bytes(number, tree.nodes(), tree.heap(), &limits).is_ok());
}

#[test]
fn keys_and_text_are_checked() {
    let map = node(NodeKind::Map, 1, 1);
    let null = node(NodeKind::Null, 0, 0);
    let text = |key_hash| Node { b: 4, key_hash, ..node(NodeKind::String, 0, 0) };
    let nodes = emit(&[map, text(checksum(b"heap")), null]);
    assert!(parse_bytes(0, &nodes, b"heap", &Limits::default()).is_ok());
    assert!(parse_bytes(0, &nodes, b"help", &Limits::default()).is_err());
    assert_eq!(kind(&[map, text(0), null]), Kind::Corrupt);
    assert_eq!(kind(&[text(checksum(b"heap"))]), Kind::Corrupt);
    assert!(parse_bytes(0, &emit(&[text(0)]), b"\xff\xff\xff\xff", &Limits::default()).is_err());
    let mut unknown = emit(&[null]);
    unknown[0] = 13;
    assert_eq!(parse_bytes(0, &unknown, b"", &Limits::default()).unwrap_err().kind(), Kind::Unsupported);
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        any::<u64>().prop_map(Value::UInt),
        any::<u64>().prop_map(|bits| Value::Float(f64::from_bits(bits))),
        ".{0,12}".prop_map(Value::Str),
        prop::collection::vec(any::<u8>(), 0..20).prop_map(Value::Bytes),
        any::<u64>().prop_map(Value::Column),
        any::<u64>().prop_map(Value::Table),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::List),
            prop::collection::vec((inner.clone(), inner), 0..5).prop_map(Value::Map),
        ]
    })
}

proptest! {
    #[test]
    fn round_trip(values in prop::collection::vec(any_value(), 1..4), metadata_len in 1u64..2_000) {
        let mut tree = ValueTree::new();
        let numbers: Vec<u64> = values.iter().map(|value| tree.add(value)).collect();
        let limits = Limits { metadata_len, ..Limits::default() };
        for (number, value) in numbers.into_iter().zip(&values) {
            prop_assert_eq!(&parse_bytes(number, tree.nodes(), tree.heap(), &limits).unwrap(), value);
        }
    }

    #[test]
    fn any_damage(value in any_value(), hits in prop::collection::vec((any::<usize>(), any::<u8>()), 1..5)) {
        let mut tree = ValueTree::new();
        tree.add(&value);
        let (mut nodes, heap) = tree.into_parts();
        for (at, byte) in hits {
            let len = nodes.len();
            nodes[at % len] = byte;
        }
        let _ = parse_bytes(0, &nodes, &heap, &Limits::default());
    }
}
