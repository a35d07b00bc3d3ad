//! The value tree: any nodes and any heap.

use std::ops::Range;

use entasis_format::{Error, Limits, Node, Result, Value, ValueTree, parse_value};

use super::file;
use super::input::Input;
use crate::compare::tree;
use crate::hostile::binds_writers_alone;
use crate::memory;
use crate::naive;
use crate::naive::value::Nodes;
use crate::probe::{is_fit, open};

/// The records of a range, as sections return them.
fn records(all: &[u8], range: Range<u64>, len: u64) -> Result<Vec<u8>> {
    let offset = |number: u64| number.checked_mul(len).and_then(|at| usize::try_from(at).ok());
    let found = offset(range.start).zip(offset(range.end)).and_then(|(from, to)| all.get(from..to));
    found.map(<[u8]>::to_vec).ok_or_else(|| Error::corrupt("a record outside of its section"))
}

fn parse(node: u64, nodes: &[u8], heap: &[u8]) -> Result<Value> {
    let n_nodes = (nodes.len() / Node::LEN) as u64;
    parse_value(
        node,
        (n_nodes, heap.len() as u64),
        &mut |range| records(nodes, range, Node::LEN as u64),
        &mut |range| records(heap, range, 1),
        &Limits::default(),
    )
}

/// Parses a value and compares it with the value of the naive decoder. An input has the number of a
/// node, the number of nodes, the nodes and the heap.
///
/// # Panics
/// When they differ.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (node, n_nodes) = (u64::from(input.u8()), usize::from(input.u16()));
    let nodes = input.take(n_nodes * Node::LEN);
    let nodes = &nodes[..nodes.len() / Node::LEN * Node::LEN];
    let heap = input.rest();
    let (result, used) = memory::peak(|| parse(node, nodes, heap));
    // Strings may share their bytes.
    let most = (1 << 20) + 128 * bytes.len() + 4 * text_len(nodes);
    assert!(used <= most, "a value of {} bytes took {used} bytes", bytes.len());
    let naive = Nodes::new(nodes, heap, u64::MAX, u64::MAX).value(node);
    match (result, naive) {
        (Ok(value), Ok(wanted)) => {
            assert_eq!(tree(&value), wanted, "the value");
            let mut again = ValueTree::new();
            let node = again.add(&value);
            let (nodes, heap) = again.into_parts();
            let again = parse(node, &nodes, &heap).map(|again| tree(&again));
            assert_eq!(again.ok(), Some(wanted), "a value that is written comes back");
        }
        (Ok(_), Err(wrong)) => {
            // The reader of the file checks column and table numbers.
            let is_elsewhere = ["a column that is not there", "a table that is not there"];
            let is_fine = binds_writers_alone(&wrong.rule)
                || wrong.kind == naive::Kind::Limit
                || is_elsewhere.contains(&wrong.rule.as_str());
            assert!(is_fine, "only the naive decoder refuses: {wrong}");
        }
        (Err(error), naive) => {
            assert!(is_fit(&error), "{:?}: {error}", error.kind());
            let is_limit = error.kind() == entasis_format::Kind::Limit;
            assert!(naive.is_err() || is_limit, "only the core refuses: {error}");
        }
    }
}

/// The bytes of all strings and byte strings, each node counted once.
fn text_len(nodes: &[u8]) -> usize {
    let nodes = nodes.chunks_exact(Node::LEN).filter_map(|node| Node::parse(node).ok());
    let len = nodes.map(|node| node.b).fold(0u64, u64::saturating_add);
    len.min(1 << 30) as usize
}

/// The values of the golden and small files.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (file, decoded) in file::decoded() {
        let Ok(file) = open(&file) else { continue };
        let hosts = (0..file.n_tables()).filter_map(|table| file.table(table).ok()?.host().ok());
        let details = decoded.columns.len() as u64;
        let details = (0..details).filter_map(|i| file.whole().column(i).ok());
        let details = details.flat_map(|info| [info.detail.clone(), info.host_detail.clone()]).flatten();
        for value in std::iter::once(file.value().clone()).chain(hosts).chain(details) {
            let mut tree = ValueTree::new();
            let node = tree.add(&value);
            let mut seed = vec![node as u8];
            seed.extend((tree.n_nodes() as u16).to_le_bytes());
            seed.extend(tree.nodes());
            seed.extend(tree.heap());
            if seed.len() < 8192 && !seeds.contains(&seed) {
                seeds.push(seed);
            }
        }
    }
    seeds
}
