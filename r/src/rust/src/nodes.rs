//! Host maps and other value trees as a flat array of nodes, each before its children.

use entasis::{Error, Limits, Result, Value};

use crate::guard::Text;

/// A node. Its kind (`docs/format/values.md`) decides which fields are set.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Node {
    kind: i32,
    /// Items of a list, keys of a map.
    n: i32,
    /// An integer, or the number of a column, table or cell. While a frame is built, the number of
    /// an extra column.
    integer: i64,
    float: f64,
    text: Text,
}

const NULL: i32 = 0;
const FALSE: i32 = 1;
const TRUE: i32 = 2;
const INTEGER: i32 = 3;
const FLOAT: i32 = 4;
const STRING: i32 = 5;
const BYTES: i32 = 6;
const LIST: i32 = 7;
const MAP: i32 = 8;
const COLUMN: i32 = 9;
const TABLE: i32 = 10;
const CELL: i32 = 12;

/// The greatest depth that every reader accepts.
fn max_depth() -> u64 {
    Limits::default().depth
}

/// Parses nodes into a value. Adds `n_columns` to the numbers of columns.
///
/// # Safety
/// The texts of the nodes must be valid.
pub unsafe fn parse(nodes: &[Node], n_columns: u64) -> Result<Value> {
    let mut rest = nodes;
    // SAFETY: as the caller promises.
    let value = unsafe { next(&mut rest, n_columns, 0) }?;
    if rest.is_empty() { Ok(value) } else { Err(misshapen()) }
}

fn misshapen() -> Error {
    Error::argument("nodes do not form a value")
}

/// # Safety
/// As for [`parse`].
unsafe fn next(rest: &mut &[Node], n_columns: u64, depth: u32) -> Result<Value> {
    if u64::from(depth) >= max_depth() {
        let what = "attributes of the frame or vector, or of its columns, are nested too deeply";
        return Err(Error::unsupported(what).advise("write it in a list, as list(x)"));
    }
    let (node, after) = rest.split_first().ok_or_else(misshapen)?;
    *rest = after;
    let n = usize::try_from(node.n).map_err(|_| misshapen())?;
    // SAFETY: as the caller promises.
    let child = |rest: &mut &[Node]| unsafe { next(rest, n_columns, depth + 1) };
    Ok(match node.kind {
        NULL => Value::Null,
        FALSE | TRUE => Value::Bool(node.kind == TRUE),
        INTEGER => Value::Int(node.integer),
        FLOAT => Value::Float(node.float),
        // SAFETY: as the caller promises.
        STRING => Value::Str(unsafe { node.text.text() }?.to_owned()),
        // SAFETY: as the caller promises.
        BYTES => Value::Bytes(unsafe { node.text.bytes() }.to_vec()),
        LIST => Value::List((0..n).map(|_| child(rest)).collect::<Result<_>>()?),
        MAP => {
            let pair = |_| Ok((child(rest)?, child(rest)?));
            Value::Map((0..n).map(pair).collect::<Result<_>>()?)
        }
        COLUMN => Value::Column(n_columns + u64::try_from(node.integer).map_err(|_| misshapen())?),
        CELL => Value::Cell(u64::try_from(node.integer).map_err(|_| misshapen())?),
        _ => return Err(misshapen()),
    })
}

/// A value and its nodes.
pub struct Tree {
    nodes: Vec<Node>,
    // Owns the texts of the nodes.
    _value: Box<Value>,
}

impl Tree {
    /// Converts a value to nodes.
    pub fn new(value: Value) -> Result<Self> {
        let value = Box::new(value);
        let mut nodes = Vec::new();
        emit(&value, &mut nodes)?;
        Ok(Self { nodes, _value: value })
    }
}

fn emit(value: &Value, nodes: &mut Vec<Node>) -> Result<()> {
    let many = || Error::limit("a value has more parts than R can count");
    let node = |kind| Node { kind, n: 0, integer: 0, float: 0.0, text: Text::none() };
    let integer = |kind, number: u64| {
        let integer = i64::try_from(number).map_err(|_| many())?;
        Ok::<_, Error>(Node { integer, ..node(kind) })
    };
    let count = |n: usize| i32::try_from(n).map_err(|_| many());
    nodes.push(match value {
        Value::Null => node(NULL),
        Value::Cell(number) => integer(CELL, *number)?,
        Value::Bool(value) => node(if *value { TRUE } else { FALSE }),
        Value::Int(integer) => Node { integer: *integer, ..node(INTEGER) },
        // R has no such integers; doubles keep 15 digits.
        Value::UInt(value) => match i64::try_from(*value) {
            Ok(integer) => Node { integer, ..node(INTEGER) },
            Err(_) => Node { float: *value as f64, ..node(FLOAT) },
        },
        Value::Float(float) => Node { float: *float, ..node(FLOAT) },
        Value::Str(text) => Node { text: Text::lend(text), ..node(STRING) },
        Value::Bytes(value) => Node { text: Text::lend_bytes(value), ..node(BYTES) },
        Value::Column(number) => integer(COLUMN, *number)?,
        Value::Table(number) => integer(TABLE, *number)?,
        Value::List(items) => {
            nodes.push(Node { n: count(items.len())?, ..node(LIST) });
            return items.iter().try_for_each(|item| emit(item, nodes));
        }
        Value::Map(pairs) => {
            nodes.push(Node { n: count(pairs.len())?, ..node(MAP) });
            return pairs.iter().try_for_each(|(key, value)| {
                emit(key, nodes)?;
                emit(value, nodes)
            });
        }
    });
    Ok(())
}

/// The nodes of a tree, valid until it is freed; stores their number in `n`.
///
/// # Safety
/// A call must have returned `tree`; `n` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_tree_nodes(tree: *const Tree, n: *mut usize) -> *const Node {
    // SAFETY: as the caller promises.
    unsafe {
        *n = (*tree).nodes.len();
        (*tree).nodes.as_ptr()
    }
}

/// Frees a tree.
///
/// # Safety
/// A call must have returned `tree`, which is invalid afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_tree_free(tree: *mut Tree) {
    // SAFETY: `Box::into_raw` made it, and the caller gives it up.
    drop(unsafe { Box::from_raw(tree) });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_go_there_and_back() {
        let value = Value::map([
            ("host", Value::from("r")),
            ("empty", Value::List(vec![])),
            (
                "list",
                Value::List(vec![Value::Null, Value::Bool(true), Value::Int(-3), Value::Float(f64::NAN)]),
            ),
            ("bytes", Value::Bytes(vec![0, 255])),
            ("map", Value::map([("ref", Value::Column(4))])),
        ]);
        let tree = Tree::new(value.clone()).unwrap();
        // SAFETY: the tree owns the texts.
        let parsed = unsafe { parse(&tree.nodes, 0) }.unwrap();
        assert_eq!(parsed, value);
        // SAFETY: as above.
        assert!(unsafe { parse(&tree.nodes[..5], 0) }.is_err());
        // SAFETY: as above.
        assert!(unsafe { parse(&[tree.nodes[0], tree.nodes[0]], 0) }.is_err());
    }

    #[test]
    fn depth_has_its_end() {
        let mut value = Value::Null;
        for _ in 0..100 {
            value = Value::List(vec![value]);
        }
        let tree = Tree::new(value).unwrap();
        // SAFETY: the tree owns the texts.
        assert!(unsafe { parse(&tree.nodes, 0) }.is_err());
    }
}
