//! Predicates that are bound to the columns of a file.

use std::sync::Arc;

use entasis::{ColumnBlocks, Layout};

use crate::test::Test;

/// A bound predicate. Negations are in the tests.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Constant(bool),
    Leaf(Leaf),
    And(Vec<Self>),
    Or(Vec<Self>),
}

/// A test of one column.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    /// The number of the column, to find tests of the same one.
    pub number: u64,
    pub column: Arc<ColumnBlocks>,
    pub test: Test,
    /// The answer for missing values.
    pub missing: bool,
}

impl Leaf {
    /// How the values of the column are stored.
    pub fn layout(&self) -> Layout {
        self.column.layout()
    }
}

impl Node {
    /// Joins nodes. Tests of the same column become one where they can, and constants go.
    pub fn join(parts: Vec<Self>, is_and: bool) -> Self {
        let mut joined: Vec<Self> = Vec::with_capacity(parts.len());
        for part in parts {
            let nested = match part {
                Self::Constant(value) if value == is_and => continue,
                Self::Constant(value) => return Self::Constant(value),
                Self::And(parts) if is_and => parts,
                Self::Or(parts) if !is_and => parts,
                part => vec![part],
            };
            for part in nested {
                let merged = joined.iter_mut().any(|before| merge(before, &part, is_and));
                if !merged {
                    joined.push(part);
                }
            }
        }
        match joined.len() {
            0 => Self::Constant(is_and),
            1 => joined.swap_remove(0),
            _ if is_and => Self::And(joined),
            _ => Self::Or(joined),
        }
    }
}

/// Joins a test to another one of the same column.
fn merge(before: &mut Node, part: &Node, is_and: bool) -> bool {
    let (Node::Leaf(a), Node::Leaf(b)) = (before, part) else { return false };
    if a.number != b.number {
        return false;
    }
    let Some(test) = a.test.combined(&b.test, is_and) else { return false };
    a.test = test;
    a.missing = if is_and { a.missing && b.missing } else { a.missing || b.missing };
    true
}
