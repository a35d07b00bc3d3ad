//! Predicates that are bound to the columns of a file.

use std::sync::Arc;

use entasis::{ColumnBlocks, Layout};

use crate::conjunction::Conjunction;
use crate::test::Test;

/// A bound predicate. The tests contain the negations.
#[derive(Debug)]
pub(crate) enum Node {
    Constant(bool),
    Leaf(Leaf),
    And(Conjunction<Self>),
    Or(Vec<Self>),
}

/// A test of one column.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    /// The column's number. Leaves with equal numbers test the same column.
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
    /// The approximate work of testing a value.
    pub fn cost(&self) -> u64 {
        /// A string takes more time than a word, because its length is decoded too.
        const STRING: u64 = 8;
        /// A part of a string takes more time than a comparison.
        const SEARCH: u64 = 16;
        match self {
            Self::Constant(_) => 0,
            Self::Leaf(leaf) => match (&leaf.test, leaf.layout().width()) {
                (Test::Keys(_) | Test::Constant(_), _) | (_, Some(0..=8)) => 1,
                (Test::Strings(_), _) => STRING,
                _ => SEARCH,
            },
            Self::And(parts) => parts.nodes().map(Self::cost).sum(),
            Self::Or(parts) => parts.iter().map(Self::cost).sum(),
        }
    }

    /// Adds the columns of all tests.
    pub fn add_columns<'n>(&'n self, found: &mut Vec<&'n ColumnBlocks>) {
        match self {
            Self::Constant(_) => {}
            Self::Leaf(leaf) => found.push(&leaf.column),
            Self::And(parts) => parts.nodes().for_each(|part| part.add_columns(found)),
            Self::Or(parts) => parts.iter().for_each(|part| part.add_columns(found)),
        }
    }

    /// Joins nodes. Merges tests of the same column where possible, and removes constants.
    pub fn join(parts: Vec<Self>, is_and: bool) -> Self {
        let mut joined: Vec<Self> = Vec::with_capacity(parts.len());
        for part in parts {
            let nested = match part {
                Self::Constant(value) if value == is_and => continue,
                Self::Constant(value) => return Self::Constant(value),
                Self::And(parts) if is_and => parts.into_nodes(),
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
            _ if is_and => Self::And(Conjunction::new(joined, Self::cost)),
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
