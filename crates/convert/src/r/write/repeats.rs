//! Values that a tree has already: equal symbols, calls, attributes and sets of names are stored
//! once.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::r::{Data, Value};

/// Levels of a value that its hash sees.
const DEPTH: u32 = 3;
/// Items of a value that its hash sees.
const WIDTH: usize = 16;
/// Values of one hash that are compared.
const MOST: usize = 16;

/// The cells of values, by value.
#[derive(Default)]
pub(super) struct Repeats<'a> {
    values: HashMap<u64, Vec<(&'a Value, u64)>>,
    attributes: HashMap<u64, Vec<(&'a Value, u64)>>,
    names: HashMap<u64, Vec<(Vec<&'a str>, u64)>>,
}

impl<'a> Repeats<'a> {
    /// The cell of an equal value. Without one, `number` will be the cell of this one.
    pub(super) fn value(&mut self, value: &'a Value, number: u64) -> Option<u64> {
        let known = self.values.entry(hash_of(value)).or_default();
        find(known, value, number, |a, b| a == b)
    }

    /// The cell of equal attributes.
    pub(super) fn attributes(&mut self, value: &'a Value, number: u64) -> Option<u64> {
        let mut hasher = DefaultHasher::new();
        hash_attributes(value, &mut hasher, DEPTH);
        let known = self.attributes.entry(hasher.finish()).or_default();
        find(known, value, number, |a, b| a.attributes == b.attributes)
    }

    /// The first cell of equal names.
    pub(super) fn names(&mut self, names: Vec<&'a str>, number: u64) -> Option<u64> {
        let mut hasher = DefaultHasher::new();
        names.hash(&mut hasher);
        let known = self.names.entry(hasher.finish()).or_default();
        if let Some((_, number)) = known.iter().find(|(other, _)| *other == names) {
            return Some(*number);
        }
        known.push((names, number));
        None
    }
}

fn find<'a>(
    known: &mut Vec<(&'a Value, u64)>,
    value: &'a Value,
    number: u64,
    are_equal: impl Fn(&Value, &Value) -> bool,
) -> Option<u64> {
    if let Some((_, number)) = known.iter().find(|(other, _)| are_equal(other, value)) {
        return Some(*number);
    }
    if known.len() < MOST {
        known.push((value, number));
    }
    None
}

fn hash_of(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    hash(value, &mut hasher, DEPTH);
    hasher.finish()
}

fn hash_attributes(value: &Value, hasher: &mut DefaultHasher, depth: u32) {
    for (name, value) in value.attributes().iter().take(WIDTH) {
        name.hash(hasher);
        hash(value, hasher, depth - 1);
    }
}

/// A hash of the first parts of a value. Equal values have equal hashes.
fn hash(value: &Value, hasher: &mut DefaultHasher, depth: u32) {
    std::mem::discriminant(&value.data).hash(hasher);
    value.attributes().len().hash(hasher);
    if depth == 0 {
        return;
    }
    hash_attributes(value, hasher, depth);
    match &value.data {
        Data::Logical(values) | Data::Integer(values) => values[..values.len().min(WIDTH)].hash(hasher),
        Data::Double(values) => values.iter().take(WIDTH).for_each(|value| value.to_bits().hash(hasher)),
        Data::Raw(values) => values[..values.len().min(WIDTH)].hash(hasher),
        Data::Strings(strings) => strings.iter().take(WIDTH).for_each(|text| text.hash(hasher)),
        Data::Symbol(name) | Data::Primitive(name) => name.hash(hasher),
        Data::Call(items) | Data::Pairlist(items) | Data::Dots(items) => {
            for item in items.iter().take(WIDTH) {
                item.tag.hash(hasher);
                hash(&item.value, hasher, depth - 1);
            }
        }
        Data::List(items) | Data::Expression(items) => {
            items.iter().take(WIDTH).for_each(|item| hash(item, hasher, depth - 1));
        }
        _ => (),
    }
}
